//===- Nodes.cpp - Nodes of the data structures of a mini-batch -----------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Traverses objects, numbers every node after its children, and adds its fields
// to the columns of its variant. The traversal owns references to the objects,
// because the Python code that it calls may change anything.
//
//===----------------------------------------------------------------------===//

#include "Columns.h"
#include "Handles.h"
#include "Parts.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <structmember.h>

#include <deque>
#include <unordered_map>
#include <unordered_set>

namespace nb = nanobind;
using namespace batch::python;

/// Maximum depth of nested nodes. A limit is necessary because views can create
/// nodes without end.
static constexpr size_t mostOpen = 1 << 22;
/// Maximum number of nodes per instance that have types without sharing. Memory
/// suffices for more, but a few objects with many paths through them would make
/// the traversal too slow.
static constexpr size_t mostUnshared = 1 << 24;
/// Maximum number of views that are applied to an object.
static constexpr int mostViews = 100;
/// Number of steps that a message shows at each end of a path.
static constexpr size_t shownSteps = 8;

namespace {
/// Hash table of keys, cleared after each instance.
template <class Key>
class Numbers {
public:
  /// Removes all keys in constant time.
  void clear() {
    used = 0;
    if (++stamp == 0) {
      slots.clear();
      stamp = 1;
    }
  }

  /// Returns the key for which `equal` returns true, or null. The pointer is
  /// valid until the next call.
  template <class Equal>
  Key *find(uint64_t hash, const Equal &equal) {
    if (slots.empty())
      return nullptr;
    for (size_t i = hash & (slots.size() - 1); slots[i].stamp == stamp;
         i = (i + 1) & (slots.size() - 1))
      if (slots[i].hash == hash && equal(slots[i].key))
        return &slots[i].key;
    return nullptr;
  }

  void insert(uint64_t hash, const Key &key) {
    if (2 * ++used > slots.size()) {
      std::vector<Slot> old(std::max<size_t>(64, 2 * slots.size()));
      old.swap(slots);
      for (const Slot &slot : old)
        if (slot.stamp == stamp)
          put(slot);
    }
    put({hash, stamp, key});
  }

private:
  struct Slot {
    uint64_t hash = 0;
    uint32_t stamp = 0; ///< slots with an old stamp are empty
    Key key = {};
  };

  void put(const Slot &slot) {
    size_t i = slot.hash & (slots.size() - 1);
    while (slots[i].stamp == stamp)
      i = (i + 1) & (slots.size() - 1);
    slots[i] = slot;
  }

  std::vector<Slot> slots;
  size_t used = 0;
  uint32_t stamp = 1;
};

/// Reads objects of a class as nodes of a data type.
struct Reader {
  enum Form { None, Tuple, Fields, View };

  /// Reads an attribute: at an offset if the class has a slot for it, otherwise
  /// by name.
  struct Getter {
    nb::object name;
    Py_ssize_t place = -1;
  };

  Form form = None;
  int variant = -1;
  std::vector<Getter> getters;
  nb::object function; ///< function of a view
  nb::object cls;      ///< keeps the address of the class valid
};

struct DataType {
  std::string name;
  bool isShared = true;
  int64_t arity = -1; ///< maximum number of children of this type; -1: any
  std::vector<int> variants = {};
  std::unordered_map<PyTypeObject *, Reader> readers = {};
  PyTypeObject *last = nullptr; ///< class that `lastReader` reads
  const Reader *lastReader = nullptr;
};

struct NodeField {
  std::string name;
  int dataType; ///< -1: no nodes
  Column column;
};

struct NodeVariant {
  nb::str name;
  std::string described; ///< names and types of the fields
  int dataType;
  bool hasChildren = false;
  int64_t rows = 0;
  std::vector<NodeField> fields;
};

struct Argument {
  /// Location of a value in messages. "{}" is replaced by the number of the
  /// instance, and "{64}" by that number plus 64.
  std::string where;
  int dataType;
  bool merges; ///< equal nodes become one node
  Column roots;
};

/// List, or node whose children are not complete.
struct Open {
  PyObject *object; ///< owned: a node, or the elements of a list
  int dataType;     ///< data type of the node, or of the elements
  int variant;      ///< -1: a list
  int lists;        ///< levels of lists below this one
  int64_t next;     ///< next field or element
  size_t values;    ///< position of the node's first field
  size_t results;   ///< position of the number of the node's first child
};

class NodeWalk final : public ColumnUser {
public:
  NodeWalk(const std::vector<Variant> &given, const nb::list &described,
           const nb::dict &declared, nb::object reading,
           const nb::list &arguments);
  ~NodeWalk() override;

  nb::tuple read(const nb::list &values, int64_t instances);

  nb::object convert(nb::handle value, bool isList,
                     const std::string &where) override;
  std::string where() const override {
    return path(writtenAt, "." + variants[written].fields[writtenField].name);
  }

private:
  struct KnownObject {
    PyObject *object;
    int32_t dataType, number;
  };
  struct KnownRow {
    int32_t variant, number;
    int64_t row;
  };

  int dataTypeOf(const std::string &name);
  void walk(nb::handle root, Argument &argument);
  void visit(PyObject *value, int dataType, int lists);
  void open(PyObject *value, int dataType);
  void close();
  void finish(PyObject *value, int dataType, int variant, size_t fields,
              size_t children, size_t at);
  int64_t addRow(int variant, size_t fields, size_t children, size_t at);
  int readTuple(PyObject *value, const DataType &type);
  void readFields(PyObject *value, const Reader &reader);
  const Reader &readerOf(PyTypeObject *cls, DataType &type);
  Reader makeReader(PyTypeObject *cls, DataType &type);
  void push(const Open &open);
  void pop();
  void drop(size_t fields);
  void checkCycle();
  void pause();
  std::string path(size_t count, const std::string &last = "") const;
  [[noreturn]] void refuse(PyObject *value, const DataType &type) const;
  void addNote(nb::python_error &error) const;
  static uint64_t hashOf(PyObject *object, int dataType) {
    uint64_t bits = reinterpret_cast<uintptr_t>(object);
    bits = (bits ^ static_cast<uint64_t>(dataType) << 56) * 0x9e3779b97f4a7c15;
    return bits ^ bits >> 32;
  }

  std::deque<DataType> types;
  std::deque<NodeVariant> variants;
  std::deque<Argument> arguments;
  nb::object reading;
  bool readsClasses;

  std::vector<int32_t> numbers; ///< numbers of the variants, indexed by node
  std::vector<int64_t> begins;
  int64_t instance = 0;
  const Argument *argument = nullptr;

  std::vector<Open> stack;
  std::vector<PyObject *> fields; ///< fields of open nodes; owned
  /// Numbers of nodes; the length of a list precedes its elements.
  std::vector<int64_t> results;
  size_t checkAt = 0;   ///< depth of the next check for cycles
  uint32_t visited = 0; ///< number of nodes
  size_t unshared = 0;  ///< nodes of the instance in types without sharing
  /// Variant (or -1) and field of the value that is being added to a column.
  /// `writtenAt` is the length of the stack that leads to its node.
  int written = -1, writtenField = 0;
  size_t writtenAt = 0;

  Numbers<KnownObject> known;
  std::vector<PyObject *> owned; ///< owned: keeps the objects in `known` alive
  Numbers<KnownRow> rows;
};
} // namespace

//===----------------------------------------------------------------------===//
// Data types
//===----------------------------------------------------------------------===//

int NodeWalk::dataTypeOf(const std::string &name) {
  for (size_t i = 0; i < types.size(); ++i)
    if (types[i].name == name)
      return static_cast<int>(i);
  types.push_back({name});
  return static_cast<int>(types.size()) - 1;
}

NodeWalk::NodeWalk(const std::vector<Variant> &given, const nb::list &described,
                   const nb::dict &declared, nb::object reading,
                   const nb::list &arguments)
    : reading(std::move(reading)) {
  for (size_t v = 0; v < given.size(); ++v) {
    const Variant &variant = given[v];
    const int type = dataTypeOf(variant.dataType);
    types[type].variants.push_back(static_cast<int>(v));
    NodeVariant &own = variants.emplace_back();
    own.name = nb::str(variant.name.c_str());
    own.dataType = type;
    auto texts =
        as<nb::list>(described[v], "a list of the fields of a variant");
    for (size_t f = 0; f < variant.fields.size(); ++f) {
      const Field &field = variant.fields[f];
      auto [dtype, text] =
          nb::cast<std::tuple<std::string, std::string>>(texts[f]);
      const int child = field.dataType ? dataTypeOf(*field.dataType) : -1;
      own.hasChildren |= child >= 0;
      own.described += (f ? ", " : "") + field.name + ": " + text;
      Element element = Element::of(dtype, field.isIndex, child >= 0);
      element.isSignedThere = field.dtype[0] != 'u';
      own.fields.push_back(
          {field.name, child, Column(element, field.shape, field.lists, text)});
    }
  }
  for (DataType &type : types) {
    auto [isUnshared, arity] = nb::cast<std::tuple<bool, int64_t>>(
        declared[nb::str(type.name.c_str())]);
    type.isShared = !isUnshared;
    type.arity = arity;
  }
  for (nb::handle each : arguments) {
    auto [where, type, lists, merges] =
        nb::cast<std::tuple<std::string, std::string, int, bool>>(each);
    this->arguments.push_back(
        {where, dataTypeOf(type), merges,
         Column(Element::of("", false, true), {}, lists, type)});
  }
  readsClasses = !this->reading.attr("reader").is_none();
  begins.push_back(0);
}

NodeWalk::~NodeWalk() {
  while (!stack.empty())
    pop();
  drop(0);
  for (PyObject *object : owned)
    Py_DECREF(object);
}

nb::tuple NodeWalk::read(const nb::list &values, int64_t instances) {
  std::vector<nb::object> columns;
  for (nb::handle list : values)
    columns.push_back(elementsOf(list));
  try {
    for (; instance < instances; ++instance) {
      for (size_t a = 0; a < arguments.size(); ++a)
        walk(PyTuple_GET_ITEM(columns[a].ptr(), instance), arguments[a]);
      begins.push_back(static_cast<int64_t>(numbers.size()));
      known.clear();
      rows.clear();
      unshared = 0;
      while (!owned.empty()) {
        PyObject *object = owned.back();
        owned.pop_back();
        Py_DECREF(object);
      }
    }
  } catch (nb::python_error &error) {
    addNote(error);
    throw;
  }
  nb::list roots, all;
  for (Argument &each : arguments)
    roots.append(each.roots.take());
  for (NodeVariant &variant : variants) {
    nb::list own;
    for (NodeField &field : variant.fields)
      own.append(field.column.take());
    all.append(own);
  }
  return nb::make_tuple(roots,
                        nb::make_tuple(asArray(std::move(begins)),
                                       asArray(std::move(numbers)), all));
}

//===----------------------------------------------------------------------===//
// The walk
//===----------------------------------------------------------------------===//

void NodeWalk::push(const Open &open) {
  // The reference is counted after the reallocation, which can fail.
  stack.push_back(open);
  Py_INCREF(open.object);
  if (stack.size() >= checkAt)
    checkCycle();
}

void NodeWalk::pop() {
  PyObject *object = stack.back().object;
  stack.pop_back();
  Py_DECREF(object);
}

void NodeWalk::drop(size_t count) {
  while (fields.size() > count) {
    PyObject *field = fields.back();
    fields.pop_back();
    Py_DECREF(field);
  }
}

void NodeWalk::walk(nb::handle root, Argument &own) {
  const nb::object held = nb::borrow(root);
  argument = &own;
  checkAt = 256;
  results.clear();
  visit(held.ptr(), own.dataType, own.roots.lists());
  while (!stack.empty()) {
    Open &top = stack.back();
    if (top.variant < 0) {
      if (top.next < PyTuple_GET_SIZE(top.object))
        visit(PyTuple_GET_ITEM(top.object, top.next++), top.dataType,
              top.lists);
      else
        pop();
      continue;
    }
    const std::vector<NodeField> &all = variants[top.variant].fields;
    const auto count = static_cast<int64_t>(all.size());
    while (top.next < count && all[top.next].dataType < 0)
      ++top.next;
    if (top.next == count) {
      close();
      continue;
    }
    const NodeField &field = all[top.next];
    PyObject *value = fields[top.values + top.next++];
    visit(value, field.dataType, field.column.lists());
  }
  own.roots.addNodes(results.data());
}

/// Starts to read a value. The caller holds a reference to it.
void NodeWalk::visit(PyObject *value, int dataType, int lists) {
  if (lists == 0) {
    open(value, dataType);
    return;
  }
  if (!isList(value)) {
    const std::string found = shown(value);
    throw nb::type_error(
        (path(stack.size()) + ": expected a list, got " + found).c_str());
  }
  const nb::object elements = elementsOf(value);
  results.push_back(PyTuple_GET_SIZE(elements.ptr()));
  push({elements.ptr(), dataType, -1, lists - 1, 0, 0, 0});
}

void NodeWalk::open(PyObject *value, int dataType) {
  DataType &type = types[dataType];
  if ((++visited & 0x3fff) == 0)
    pause();
  if (type.isShared)
    if (const KnownObject *found =
            known.find(hashOf(value, dataType), [&](const KnownObject &key) {
              return key.object == value && key.dataType == dataType;
            })) {
      results.push_back(found->number);
      return;
    }
  if (!type.isShared && ++unshared > mostUnshared)
    throw nb::value_error(
        (path(stack.size()) + ": more than " + std::to_string(mostUnshared) +
         " nodes; " + type.name +
         " is declared as a tree or a sequence, where each reference to an "
         "object is a separate node; declare it with kind='dag' to share "
         "objects")
            .c_str());
  const size_t begin = fields.size();
  int variant = -1;
  nb::object viewed = nb::borrow(value);
  for (int views = 0; variant < 0; ++views) {
    PyObject *node = viewed.ptr();
    if (PyTuple_CheckExact(node)) {
      variant = readTuple(node, type);
      break;
    }
    const Reader &reader = readerOf(Py_TYPE(node), type);
    switch (reader.form) {
    case Reader::None:
      refuse(node, type);
    case Reader::Tuple:
      variant = readTuple(node, type);
      break;
    case Reader::Fields:
      variant = reader.variant;
      readFields(node, reader);
      break;
    case Reader::View:
      if (views == mostViews)
        throw nb::type_error((path(stack.size()) + ": no node after " +
                              std::to_string(mostViews) +
                              " views in sequence; the last object is " +
                              shown(node))
                                 .c_str());
      nb::object made =
          nb::steal(PyObject_CallOneArg(reader.function.ptr(), node));
      if (!made.is_valid())
        throw nb::python_error();
      if (made.ptr() == node)
        refuse(node, type);
      viewed = std::move(made);
      break;
    }
  }
  if (variants[variant].hasChildren)
    push({value, dataType, variant, 0, 0, begin, results.size()});
  else
    finish(value, dataType, variant, begin, results.size(), stack.size());
}

void NodeWalk::close() {
  const Open top = stack.back();
  finish(top.object, top.dataType, top.variant, top.values, top.results,
         stack.size() - 1);
  pop();
}

/// Numbers a node. `at`: length of the stack that leads to it.
void NodeWalk::finish(PyObject *value, int dataType, int variant, size_t begin,
                      size_t children, size_t at) {
  const int64_t number = addRow(variant, begin, children, at);
  drop(begin);
  results.resize(children);
  results.push_back(number);
  if (types[dataType].isShared) {
    owned.push_back(value);
    Py_INCREF(value);
    known.insert(hashOf(value, dataType),
                 {value, dataType, static_cast<int32_t>(number)});
  }
}

int64_t NodeWalk::addRow(int number, size_t begin, size_t children, size_t at) {
  NodeVariant &variant = variants[number];
  const DataType &type = types[variant.dataType];
  const int64_t *child = results.data() + children;
  int64_t parts = 0;
  for (size_t f = 0; f < variant.fields.size(); ++f) {
    NodeField &field = variant.fields[f];
    if (field.dataType >= 0) {
      const bool counts = type.arity >= 0 && field.dataType == variant.dataType;
      if (counts)
        parts -= field.column.elements();
      child = field.column.addNodes(child);
      if (counts)
        parts += field.column.elements();
      continue;
    }
    written = number, writtenField = static_cast<int>(f), writtenAt = at;
    field.column.add(fields[begin + f], *this);
    written = -1;
  }
  if (parts > type.arity && type.arity >= 0)
    throw nb::value_error((path(at) + ": '" + variant.name.c_str() + "' has " +
                           tooMany(parts, type.name, type.arity))
                              .c_str());
  const int64_t row = variant.rows++;
  const auto node = static_cast<int64_t>(numbers.size());
  if (argument->merges) {
    auto hash = static_cast<uint64_t>(number);
    for (const NodeField &field : variant.fields)
      hash = hash * 31 + field.column.hash(row);
    const KnownRow *equal = rows.find(hash, [&](const KnownRow &other) {
      if (other.variant != number)
        return false;
      for (const NodeField &field : variant.fields)
        if (!field.column.areEqual(other.row, row))
          return false;
      return true;
    });
    if (equal) {
      for (NodeField &field : variant.fields)
        field.column.keep(row);
      --variant.rows;
      return equal->number;
    }
    rows.insert(hash, {number, static_cast<int32_t>(node), row});
  }
  if (node == INT32_MAX)
    throw nb::value_error(
        "the mini-batch has 2^31 or more nodes; use smaller mini-batches");
  numbers.push_back(number);
  return node;
}

/// Lets other threads run, and throws the exception of a signal handler.
void NodeWalk::pause() {
  if ((visited & 0x1ffff) == 0) {
    nb::gil_scoped_release release;
  }
  if (PyErr_CheckSignals() != 0)
    throw nb::python_error();
}

/// Throws an error if a node contains itself, or if the stack is too deep. Runs
/// whenever the depth of the stack has doubled, because the traversal of a
/// cycle would never end.
void NodeWalk::checkCycle() {
  checkAt = 2 * stack.size();
  struct Hash {
    size_t operator()(const std::pair<PyObject *, int> &key) const {
      return hashOf(key.first, key.second);
    }
  };
  std::unordered_set<std::pair<PyObject *, int>, Hash> above;
  for (size_t i = 0; i < stack.size(); ++i)
    if (stack[i].variant >= 0 &&
        !above.emplace(stack[i].object, stack[i].dataType).second)
      throw nb::value_error(
          (path(i) + ": a node contains itself; cycles are not supported")
              .c_str());
  if (stack.size() >= mostOpen)
    throw nb::value_error((path(stack.size()) +
                           ": nodes are nested more than " +
                           std::to_string(mostOpen) +
                           " levels deep; check for views that create nodes "
                           "without end")
                              .c_str());
}

//===----------------------------------------------------------------------===//
// Objects
//===----------------------------------------------------------------------===//

/// Returns the variant of a tuple, and adds its fields to those of open nodes.
int NodeWalk::readTuple(PyObject *value, const DataType &type) {
  const Py_ssize_t size = PyTuple_GET_SIZE(value);
  PyObject *name = size ? PyTuple_GET_ITEM(value, 0) : nullptr;
  if (!name || !PyUnicode_Check(name))
    refuse(value, type);
  int found = -1;
  for (int v : type.variants)
    if (variants[v].name.ptr() == name ||
        PyUnicode_Compare(variants[v].name.ptr(), name) == 0) {
      found = v;
      break;
    }
  if (found < 0)
    refuse(value, type);
  const NodeVariant &variant = variants[found];
  const size_t count = variant.fields.size();
  if (static_cast<size_t>(size) != count + 1)
    throw nb::type_error((path(stack.size()) + ": '" + variant.name.c_str() +
                          "' has " + std::to_string(count) +
                          (count == 1 ? " field" : " fields") +
                          (count ? " (" + variant.described + ")" : "") +
                          "; got " + std::to_string(size - 1))
                             .c_str());
  for (size_t f = 0; f < count; ++f) {
    PyObject *field = PyTuple_GET_ITEM(value, f + 1);
    fields.push_back(field);
    Py_INCREF(field);
  }
  return found;
}

void NodeWalk::readFields(PyObject *value, const Reader &reader) {
  for (const Reader::Getter &getter : reader.getters) {
    PyObject *field = nullptr;
    if (getter.place >= 0) {
      field = *reinterpret_cast<PyObject **>(reinterpret_cast<char *>(value) +
                                             getter.place);
      Py_XINCREF(field);
    }
    // For a deleted attribute, this call raises the AttributeError.
    if (!field)
      field = PyObject_GetAttr(value, getter.name.ptr());
    if (!field)
      throw nb::python_error();
    nb::object held = nb::steal(field);
    fields.push_back(field);
    held.release();
  }
}

const Reader &NodeWalk::readerOf(PyTypeObject *cls, DataType &type) {
  if (cls == type.last)
    return *type.lastReader;
  auto found = type.readers.find(cls);
  if (found == type.readers.end())
    found = type.readers.emplace(cls, makeReader(cls, type)).first;
  type.last = cls;
  type.lastReader = &found->second;
  return found->second;
}

Reader NodeWalk::makeReader(PyTypeObject *cls, DataType &type) {
  Reader result;
  result.cls = nb::borrow(reinterpret_cast<PyObject *>(cls));
  nb::object made = nb::none();
  if (readsClasses)
    made = reading.attr("reader")(type.name, result.cls);
  if (made.is_none()) {
    result.form =
        PyType_IsSubtype(cls, &PyTuple_Type) ? Reader::Tuple : Reader::None;
    return result;
  }
  if (!PyTuple_CheckExact(made.ptr())) {
    result.form = Reader::View;
    result.function = std::move(made);
    return result;
  }
  // `made` contains the variant's name, and the name and class attribute of
  // each field.
  result.form = Reader::Fields;
  for (int v : type.variants)
    if (variants[v].name.equal(made[0]))
      result.variant = v;
  nb::list getters = nb::cast<nb::list>(made[1]);
  if (result.variant < 0 ||
      variants[result.variant].fields.size() != getters.size())
    throw nb::type_error(
        ("the fields of a view do not match data type " + type.name).c_str());
  for (nb::handle each : getters) {
    Reader::Getter &getter = result.getters.emplace_back();
    getter.name = each[0];
    nb::object member = each[1];
    if (Py_TYPE(member.ptr()) != &PyMemberDescr_Type)
      continue;
    auto *descriptor = reinterpret_cast<PyMemberDescrObject *>(member.ptr());
    if (descriptor->d_member->type == T_OBJECT_EX &&
        descriptor->d_member->flags == 0 &&
        PyType_IsSubtype(cls, descriptor->d_common.d_type))
      getter.place = descriptor->d_member->offset;
  }
  return result;
}

nb::object NodeWalk::convert(nb::handle value, bool isList,
                             const std::string &where) {
  return reading.attr("convert")(written, writtenField, where, value, isList);
}

//===----------------------------------------------------------------------===//
// Messages
//===----------------------------------------------------------------------===//

std::string NodeWalk::path(size_t count, const std::string &last) const {
  std::string result = argument->where;
  const size_t begin = result.find('{'), end = result.find('}', begin);
  const int64_t first = std::atoll(result.c_str() + begin + 1);
  result.replace(begin, end + 1 - begin, std::to_string(first + instance));
  std::string steps;
  for (size_t i = 0; i < count; ++i) {
    if (count > 2 * shownSteps + 1 && i == shownSteps) {
      const size_t left = count - 2 * shownSteps;
      steps += " ... " + std::to_string(left) + " more ... ";
      i += left;
    }
    const Open &open = stack[i];
    if (open.next == 0) // no field was visited
      break;
    steps += open.variant < 0
                 ? "[" + std::to_string(open.next - 1) + "]"
                 : "." + variants[open.variant].fields[open.next - 1].name;
  }
  steps += last;
  if (!steps.empty() && result.back() != ']')
    result += ", ";
  return result + steps;
}

void NodeWalk::refuse(PyObject *value, const DataType &type) const {
  std::string classes, names;
  for (size_t i = 0; i < type.variants.size(); ++i) {
    const char *name = variants[type.variants[i]].name.c_str();
    classes += (i ? " or " : "") + type.name + "." + name;
    names += (i ? " or '" : "'") + std::string(name) + "'";
  }
  const std::string found = shown(value);
  throw nb::type_error((path(stack.size()) + ": expected a " + type.name +
                        " (" + (readsClasses ? classes + ", or " : "") +
                        "a tuple that begins with " + names + "), got " + found)
                           .c_str());
}

/// Adds the location of the node to an exception that the user's code raised.
void NodeWalk::addNote(nb::python_error &error) const {
  if (!argument || !error.matches(PyExc_Exception))
    return;
  const std::string place = written >= 0 ? where() : path(stack.size());
  try {
    nb::object value = nb::borrow(error.value());
    if (nb::cast<std::string>(nb::str(value)).find(place) == std::string::npos)
      value.attr("add_note")("in " + place);
  } catch (nb::python_error &) { // the exception does not support notes
  } catch (const std::exception &) {
  }
}

static nb::tuple readNodes(const std::vector<Variant> &variants,
                           const nb::list &described, const nb::dict &declared,
                           nb::object reading, const nb::list &arguments,
                           const nb::list &values, int64_t instances) {
  return NodeWalk(variants, described, declared, std::move(reading), arguments)
      .read(values, instances);
}

void batch::python::defineNodes(nb::module_ &module) {
  module.def("shown", shown);
  module.def("read_nodes", readNodes, nb::arg("variants"), nb::arg("described"),
             nb::arg("declared"), nb::arg("reading"), nb::arg("arguments"),
             nb::arg("values"), nb::arg("instances"));
}
