//===- NodeOrder.cpp - Post-order of nodes in arrays ----------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Columns.h"
#include "Handles.h"

#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

namespace nb = nanobind;
using namespace batch::python;

namespace {
template <class T>
using Array = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

/// Field whose values are nodes; one row for each node of its variant.
struct ChildField {
  std::string name;
  int dataType;
  const int64_t *values;
  const int64_t *begins; ///< beginnings of lists; null: one value for each row
};

struct OrderedVariant {
  std::string name;
  int dataType;
  std::vector<ChildField> fields;
};

struct OrderedType {
  std::string name, kind;
  int64_t arity; ///< maximum number of children of this type; -1: any
  bool isUnshared() const { return kind == "tree" || kind == "sequence"; }
};

class NodeOrder {
public:
  NodeOrder(const int32_t *variantOf, int64_t count,
            std::vector<OrderedVariant> variants,
            std::vector<OrderedType> types);

  /// Adds a root and the nodes below it.
  void add(int64_t root, int64_t instance);
  void checkAll() const;

  std::vector<int64_t> order;

private:
  /// Node whose children are not complete, with the remaining values of a
  /// field.
  struct Open {
    int64_t node;
    size_t field;
    const int64_t *next, *end;
  };
  static constexpr int32_t isNew = -2, isOpen = -1;

  void push(int64_t node);
  void enter(Open &top);
  void check(const ChildField &field, int64_t parent, int64_t child);
  void checkArity(int64_t node) const;

  const int32_t *variantOf;
  int64_t count;
  std::vector<OrderedVariant> variants;
  std::vector<OrderedType> types;
  std::vector<int64_t> rows;   ///< row of each node in its variant's fields
  std::vector<int32_t> states; ///< isNew, isOpen, or the instance of the node
  std::vector<bool> isChild;
  std::vector<Open> stack;
};
} // namespace

std::string batch::python::tooMany(int64_t children, const std::string &type,
                                   int64_t arity) {
  return std::to_string(children) + " children of type " + type +
         ", which is declared with arity " + std::to_string(arity);
}

static std::string nodeName(int64_t node) {
  return "node " + std::to_string(node);
}

static std::string outOfRange(int64_t node, int64_t count) {
  return nodeName(node) + ", which is out of range for " +
         std::to_string(count) + " nodes";
}

NodeOrder::NodeOrder(const int32_t *variantOf, int64_t count,
                     std::vector<OrderedVariant> given,
                     std::vector<OrderedType> types)
    : variantOf(variantOf), count(count), variants(std::move(given)),
      types(std::move(types)), rows(count), states(count, isNew),
      isChild(count) {
  std::vector<int64_t> counts(variants.size());
  for (int64_t n = 0; n < count; ++n)
    rows[n] = counts[variantOf[n]]++;
  order.reserve(count);
}

/// Sets the remaining values of `top` to all values of its current field.
void NodeOrder::enter(Open &top) {
  const std::vector<ChildField> &fields = variants[variantOf[top.node]].fields;
  if (top.field == fields.size())
    return;
  const ChildField &field = fields[top.field];
  const int64_t row = rows[top.node];
  top.next = field.values + (field.begins ? field.begins[row] : row);
  top.end = field.values + (field.begins ? field.begins[row + 1] : row + 1);
}

void NodeOrder::push(int64_t node) {
  states[node] = isOpen;
  stack.push_back({node, 0, nullptr, nullptr});
  enter(stack.back());
}

void NodeOrder::check(const ChildField &field, int64_t parent, int64_t child) {
  const OrderedVariant &variant = variants[variantOf[parent]];
  const std::string what = "field '" + field.name + "' of " + nodeName(parent) +
                           ", a " + variant.name + ", ";
  if (child < 0 || child >= count)
    throw nb::value_error((what + "is " + outOfRange(child, count)).c_str());
  const OrderedVariant &found = variants[variantOf[child]];
  if (found.dataType != field.dataType)
    throw nb::value_error((what + "is " + nodeName(child) + ", a " +
                           found.name + "; expected a " +
                           types[field.dataType].name)
                              .c_str());
  if (states[child] == isOpen)
    throw nb::value_error(
        (nodeName(child) + " contains itself; cycles are not supported")
            .c_str());
  if (isChild[child] && types[field.dataType].isUnshared())
    throw nb::value_error((nodeName(child) + " is a child of two nodes, but " +
                           types[field.dataType].name + " is declared as a " +
                           types[field.dataType].kind +
                           "; declare it with kind='dag', or copy the node")
                              .c_str());
}

void NodeOrder::checkArity(int64_t node) const {
  const OrderedVariant &variant = variants[variantOf[node]];
  const OrderedType &type = types[variant.dataType];
  if (type.arity < 0)
    return;
  int64_t children = 0;
  for (const ChildField &field : variant.fields)
    if (field.dataType == variant.dataType)
      children += field.begins
                      ? field.begins[rows[node] + 1] - field.begins[rows[node]]
                      : 1;
  if (children > type.arity)
    throw nb::value_error((nodeName(node) + ", a " + variant.name + ", has " +
                           tooMany(children, type.name, type.arity))
                              .c_str());
}

void NodeOrder::add(int64_t root, int64_t instance) {
  const auto number = static_cast<int32_t>(instance);
  auto needsVisit = [&](int64_t node) {
    if (states[node] == isNew)
      return true;
    if (states[node] != number)
      throw nb::value_error((nodeName(node) + " belongs to instances " +
                             std::to_string(states[node]) + " and " +
                             std::to_string(instance) +
                             "; copy it, because instances cannot share nodes")
                                .c_str());
    return false;
  };
  if (!needsVisit(root))
    return;
  push(root);
  while (!stack.empty()) {
    Open &top = stack.back();
    const std::vector<ChildField> &fields =
        variants[variantOf[top.node]].fields;
    if (top.field == fields.size()) {
      checkArity(top.node);
      states[top.node] = number;
      order.push_back(top.node);
      stack.pop_back();
      continue;
    }
    if (top.next == top.end) {
      ++top.field;
      enter(top);
      continue;
    }
    const ChildField &field = fields[top.field];
    const int64_t child = *top.next++;
    if (child < 0 || child >= count || states[child] == isOpen ||
        isChild[child] || variants[variantOf[child]].dataType != field.dataType)
      check(field, top.node, child);
    isChild[child] = true;
    if (needsVisit(child))
      push(child);
  }
}

void NodeOrder::checkAll() const {
  for (int64_t n = 0; n < count; ++n)
    if (states[n] == isNew)
      throw nb::value_error((nodeName(n) + " is not below the root of an "
                                           "instance; remove the node")
                                .c_str());
}

/// Returns the numbers of nodes in post-order, and the positions where the
/// instances begin.
static nb::tuple orderNodes(
    const Array<int32_t> &variants,
    const std::vector<std::tuple<std::string, int>> &names,
    const std::vector<std::tuple<std::string, std::string, int64_t>> &types,
    const std::vector<std::vector<std::tuple<std::string, int, Array<int64_t>,
                                             std::optional<Array<int64_t>>>>>
        &fields,
    const Array<int64_t> &roots, int rootType, const Array<int64_t> &begins) {
  std::vector<OrderedVariant> own;
  for (size_t v = 0; v < names.size(); ++v) {
    auto [name, type] = names[v];
    OrderedVariant &variant = own.emplace_back(OrderedVariant{name, type, {}});
    for (const auto &[field, child, values, lists] : fields[v])
      variant.fields.push_back(
          {field, child, values.data(), lists ? lists->data() : nullptr});
  }
  std::vector<OrderedType> all;
  for (const auto &[name, kind, arity] : types)
    all.push_back({name, kind, arity});
  const auto count = static_cast<int64_t>(variants.shape(0));
  const int32_t *variantOf = variants.data();
  NodeOrder order(variantOf, count, own, all);
  std::vector<int64_t> places{0};
  for (size_t i = 0; i + 1 < begins.shape(0); ++i) {
    for (int64_t r = begins.data()[i]; r < begins.data()[i + 1]; ++r) {
      const int64_t root = roots.data()[r];
      const std::string what =
          "the root of instance " + std::to_string(i) + " is ";
      if (root < 0 || root >= count)
        throw nb::value_error((what + outOfRange(root, count)).c_str());
      if (own[variantOf[root]].dataType != rootType)
        throw nb::value_error((what + nodeName(root) + ", a " +
                               own[variantOf[root]].name + "; expected a " +
                               all[rootType].name)
                                  .c_str());
      order.add(root, static_cast<int64_t>(i));
    }
    places.push_back(static_cast<int64_t>(order.order.size()));
  }
  order.checkAll();
  return nb::make_tuple(asArray(std::move(order.order)),
                        asArray(std::move(places)));
}

void batch::python::defineNodeOrder(nb::module_ &module) {
  module.def("order_nodes", orderNodes);
}
