//===- RandomInputs.cpp - Random instances --------------------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RandomInputs.h"
#include "batch-runtime/Error.h"

#include <algorithm>

using namespace batchrt;

RandomInputs::RandomInputs(const Descriptor &descriptor, uint64_t seed)
    : descriptor(descriptor), generator(seed), ends(descriptor.adts.size()),
      inner(descriptor.adts.size()) {
  // Rank of a variant: the minimum number of levels below it. A list of nodes
  // counts as one level, although it may be empty, so that variants without
  // such lists are preferred as leaves.
  constexpr int never = 1 << 30;
  std::vector<int> rank(descriptor.adts.size(), never);
  auto rankOf = [&](const Variant &variant) {
    int most = 0;
    for (const Field &field : variant.fields)
      if (field.type.kind == Type::Adt)
        most = std::max(most, rank[field.type.adt] == never
                                  ? never
                                  : rank[field.type.adt] + 1);
      else if (field.type.holdsNodes())
        most = std::max(most, 1);
    return most;
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t i = 0; i < rank.size(); ++i)
      for (const Variant &variant : descriptor.adts[i].variants)
        if (rankOf(variant) < rank[i]) {
          rank[i] = rankOf(variant);
          changed = true;
        }
  }
  for (size_t i = 0; i < rank.size(); ++i)
    for (const Variant &variant : descriptor.adts[i].variants) {
      bool holds = std::any_of(
          variant.fields.begin(), variant.fields.end(),
          [](const Field &field) { return field.type.holdsNodes(); });
      if (rank[i] != never && rankOf(variant) == rank[i])
        ends[i].push_back(&variant);
      if (holds && rankOf(variant) != never)
        inner[i].push_back(&variant);
    }
}

const Variant &RandomInputs::choose(int adt, int64_t leaves) {
  const auto &from = leaves > 1 && !inner[adt].empty() ? inner[adt] : ends[adt];
  if (from.empty())
    raise("cannot generate random inputs of ADT ", descriptor.adts[adt].name,
          ", because it has no finite value");
  return *from[below(from.size())];
}

int64_t RandomInputs::addNode(int adt, int64_t leaves, ValueBuilder &builder) {
  const Variant &variant = choose(adt, leaves);
  std::vector<int64_t> cells(variant.fields.size(), 0);
  int64_t node = builder.addUnlinked(variant, cells.data());
  work.push_back({node, leaves});
  return node;
}

int64_t RandomInputs::tree(int adt, int64_t leaves, ValueBuilder &builder,
                           InputTensors &tensors) {
  int64_t root = addNode(adt, leaves, builder);
  while (!work.empty()) {
    Pending next = work.back();
    work.pop_back();
    fill(next, builder, tensors);
  }
  return root;
}

/// Creates the fields of a node, and distributes its leaves among its children.
void RandomInputs::fill(Pending parent, ValueBuilder &builder,
                        InputTensors &tensors) {
  const Variant &variant = builder.variant(parent.node);
  std::vector<int64_t> lengths;
  int64_t slots = 0;
  // Number of children that the node's lists may contain, counting only nodes
  // of its own ADT.
  int64_t childrenLeft = descriptor.adts[variant.adt].arity;
  for (const Field &field : variant.fields)
    childrenLeft -=
        field.type.kind == Type::Adt && field.type.adt == variant.adt;
  bool limited = descriptor.adts[variant.adt].arity >= 0;
  for (const Field &field : variant.fields) {
    int64_t length = 0;
    if (field.type.kind == Type::Adt)
      length = 1;
    else if (field.type.holdsNodes() && parent.leaves > 1)
      length = 2 + below(std::min<int64_t>(3, parent.leaves - 1));
    if (limited && field.type.kind == Type::List &&
        field.type.element().kind == Type::Adt &&
        field.type.element().adt == variant.adt) {
      length = std::min(length, childrenLeft);
      childrenLeft -= length;
    }
    lengths.push_back(length);
    slots += length;
  }
  std::vector<int64_t> shares(slots, 1);
  if (slots == 1)
    shares[0] = parent.leaves - 1;
  else if (slots > 1)
    for (int64_t left = parent.leaves - slots; left > 0; --left)
      ++shares[below(slots)];

  size_t slot = 0;
  for (size_t i = 0; i < variant.fields.size(); ++i) {
    const Type &type = variant.fields[i].type;
    int64_t cell;
    if (type.kind == Type::Adt) {
      cell = addNode(type.adt, shares[slot++], builder);
    } else if (type.holdsNodes()) {
      if (type.element().kind != Type::Adt)
        raise("random inputs do not support lists of lists of ADT values");
      std::vector<int64_t> entries;
      for (int64_t j = 0; j < lengths[i]; ++j)
        entries.push_back(addNode(type.element().adt, shares[slot++], builder));
      cell = builder.addList(entries.data(), lengths[i]);
    } else {
      cell = value(type, builder, tensors);
    }
    builder.cells(parent.node)[i] = cell;
  }
  builder.links(parent.node);
}

int64_t RandomInputs::value(const Type &type, ValueBuilder &builder,
                            InputTensors &tensors) {
  if (type.kind == Type::Adt)
    return tree(type.adt, 10 + below(21), builder, tensors);
  if (type.kind == Type::Tensor)
    return tensor(type, tensors);
  if (type.kind != Type::List)
    return scalar(type, builder);
  std::vector<int64_t> entries(10 + below(21));
  for (int64_t &entry : entries)
    entry = value(type.element(), builder, tensors);
  return builder.addList(entries.data(), static_cast<int64_t>(entries.size()));
}

int64_t RandomInputs::scalar(const Type &type, ValueBuilder &builder) {
  int64_t cell = 0;
  if (type.kind == Type::Float) {
    storeFloat(type.dtype, uniform(), reinterpret_cast<char *>(&cell), 0);
    return cell;
  }
  if (type.kind == Type::Integer)
    return below(type.dtype == DType::I1 ? 2 : 10);
  cell = below(1000);
  builder.largestIndex = std::max(builder.largestIndex, cell);
  return cell;
}

int64_t RandomInputs::tensor(const Type &type, InputTensors &tensors) {
  int64_t count = elementCount(type.shape);
  std::vector<char> dense(count * byteSize(type.dtype));
  for (int64_t i = 0; i < count; ++i) {
    double value = uniform();
    if (isFloat(type.dtype))
      storeFloat(type.dtype, value, dense.data(), i);
    else
      storeInteger(type.dtype, below(type.dtype == DType::I1 ? 2 : 10),
                   dense.data(), i);
  }
  return sourceHandle(type.source, tensors.addRow(type, dense.data()));
}
