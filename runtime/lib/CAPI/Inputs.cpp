//===- Inputs.cpp - A mini-batch from arrays of the caller ----------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Inputs.h"
#include "../Formats/StridedCopy.h"
#include "Handles.h"

#include <algorithm>

using namespace batchrt;

namespace {
/// A use of a node: as a child of another node, or as the value of an argument.
struct NodeUse {
  int64_t instance;
  int64_t parent; ///< -1: an argument
};

/// Fills a forest.
class InputReading {
public:
  InputReading(const Descriptor &descriptor, const BatchInputs &inputs,
               Forest &forest, InputTensors &tensors)
      : descriptor(descriptor), inputs(inputs), forest(forest),
        tensors(tensors) {}

  void read() {
    begin();
    readNodes();
    for (size_t a = 0; a < descriptor.arguments.size(); ++a)
      readArgument(a);
    checkUses();
  }

private:
  void begin();
  void readNodes();
  void readFields(int number, const std::vector<int64_t> &nodes);
  void readArgument(size_t number);
  void checkUses() const;
  void countArity(const Variant &variant, int64_t node) const;
  int64_t countParts(const Type &type, int64_t cell, int adt) const;

  const Descriptor &descriptor;
  const BatchInputs &inputs;
  Forest &forest;
  InputTensors &tensors;
  std::vector<int64_t> instanceOf; ///< indexed by node
  std::vector<uint8_t> isChild;    ///< by node: 1 for a child of a node
  std::vector<uint8_t> isRoot;     ///< by node: 1 for the value of an argument

  friend class ValueReader;
};

/// Reads the values of one argument or field.
class ValueReader {
public:
  /// `count` is the number of values. `what` begins messages: "argument 'x'".
  ValueReader(InputReading &inputs, const Type &type, const BatchValues &values,
              int64_t count, std::string what);

  /// Returns the cell of a value. For a tensor, `place` is the location of the
  /// cell.
  int64_t cell(int64_t number, const NodeUse &use, const TensorCell &place) {
    if (lists == 0)
      return element(address(number), use, place);
    return list(0, number, use);
  }

  /// Sets the cells of all values of an argument.
  void cells(int64_t column, std::vector<int64_t> &result);

  /// Writes a tensor into the row that its cell points to, or a scalar into its
  /// cell.
  void write(int64_t number, int64_t &cell) const;

private:
  void checkOffsets(int64_t count);
  void checkShape(int64_t count);
  const char *address(int64_t number) const {
    return static_cast<const char *>(values.elements.data) +
           number * strides[0];
  }
  int64_t list(size_t level, int64_t number, const NodeUse &use);
  int64_t element(const char *data, const NodeUse &use,
                  const TensorCell &place);
  int64_t scalar(const char *data) const;
  int64_t tensor(const char *data, TensorCell place);
  void copyTensor(const char *data, char *row) const {
    copyStrided(inner.shape.size(), inner.shape.data(), elementBytes, data,
                strides.data() + (strides.size() - inner.shape.size()), row,
                rowStrides.data());
  }
  int64_t node(int64_t number, const NodeUse &use);
  int64_t index(int64_t value) const;

  InputReading &inputs;
  const Type &inner;
  const BatchValues &values;
  const std::string what;
  size_t lists = 0;
  int64_t length = -1; ///< length of each list, if there are no offsets
  const DType dtype;
  const int64_t elementBytes;
  std::vector<int64_t> strides, rowStrides;
};
} // namespace

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

ValueReader::ValueReader(InputReading &inputs, const Type &type,
                         const BatchValues &values, int64_t count,
                         std::string what)
    : inputs(inputs), inner(innermost(type)), values(values),
      what(std::move(what)), dtype(elementType(values.elements.type)),
      elementBytes(byteSize(dtype)) {
  for (const Type *list = &type; list != &inner; list = &list->element())
    ++lists;
  const bool isCell = inner.kind == Type::Index || inner.kind == Type::Adt;
  const bool fits = inner.kind == Type::Index ? !isFloat(dtype)
                    : inner.kind == Type::Adt ? dtype == DType::I64
                                              : dtype == inner.dtype;
  if (!fits)
    raiseInvalid(this->what, " has elements of type ", typeName(dtype),
                 ", but the model expects ",
                 inner.kind == Type::Index ? "an integer type"
                 : isCell                  ? "node numbers of type i64"
                                           : typeName(inner.dtype));
  if (lists > 0 && values.offsets)
    checkOffsets(count);
  checkShape(count);
  if (inner.kind == Type::Tensor)
    rowStrides = paddedStrides(inner.shape, inner.dtype);
}

void ValueReader::checkOffsets(int64_t count) {
  for (size_t level = 0; level < lists; ++level) {
    const int64_t *offsets = values.offsets[level];
    if (!offsets)
      raiseInvalid(what, ": offsets[", level, "] is null");
    if (offsets[0] != 0)
      raiseInvalid(what, ": offsets[", level, "] begins with ", offsets[0],
                   ", not with 0");
    for (int64_t i = 0; i < count; ++i)
      if (offsets[i + 1] < offsets[i])
        raiseInvalid(what, ": offsets[", level, "][", i + 1, "] is ",
                     offsets[i + 1], ", less than the previous offset ",
                     offsets[i]);
    count = offsets[count];
  }
}

void ValueReader::checkShape(int64_t count) {
  const BatchArray &array = values.elements;
  const bool isEven = lists == 1 && !values.offsets;
  if (lists > 1 && !values.offsets)
    raiseInvalid(what, " contains lists of lists, so it requires offsets");
  if (lists > 0 && values.offsets)
    for (size_t level = 0; level < lists; ++level)
      count = values.offsets[level][count];
  std::vector<int64_t> wanted{count};
  if (isEven)
    wanted.push_back(-1);
  if (inner.kind == Type::Tensor)
    wanted.insert(wanted.end(), inner.shape.begin(), inner.shape.end());
  std::vector<int64_t> shape;
  if (array.rank > 0) {
    if (!array.shape)
      raiseInvalid(what, ": the shape is null");
    shape.assign(array.shape, array.shape + array.rank);
  }
  bool fits = shape.size() == wanted.size();
  for (size_t d = 0; fits && d < shape.size(); ++d)
    fits = wanted[d] < 0 ? shape[d] >= 0 : shape[d] == wanted[d];
  if (!fits)
    raiseInvalid(what, " has shape ", shapeName(shape), "; expected ",
                 shapeName(wanted));
  if (isEven)
    length = shape[1];
  if (!array.data && elementCount(shape) > 0)
    raiseInvalid(what, ": the data is null");
  if (array.strides)
    strides.assign(array.strides, array.strides + array.rank);
  else
    strides = denseStrides(shape, elementBytes);
}

int64_t ValueReader::index(int64_t value) const {
  if (value < 0 || value > INT32_MAX)
    raiseInvalid(what, ": index ", value,
                 " is out of range; expected 0 to 2147483647");
  return value;
}

int64_t ValueReader::node(int64_t number, const NodeUse &use) {
  const Forest &forest = inputs.forest;
  const int64_t first = forest.instanceNodes[use.instance];
  const int64_t end =
      use.parent < 0 ? forest.instanceNodes[use.instance + 1] : use.parent;
  if (first == end)
    raiseInvalid(what, ": node ", number, " is out of range, because instance ",
                 use.instance, " has no nodes",
                 use.parent < 0 ? "" : " before the parent of this node");
  if (number < first || number >= end)
    raiseInvalid(what, ": node ", number, " is out of range; expected ", first,
                 " to ", end - 1, ", the nodes",
                 use.parent < 0 ? " of instance "
                                : " before its parent in instance ",
                 use.instance);
  const Variant &variant =
      *inputs.descriptor.variantByNumber(forest.variants[number]);
  if (variant.adt != inner.adt)
    raiseInvalid(what, ": node ", number, " is of ADT ",
                 inputs.descriptor.adts[variant.adt].name, "; expected ADT ",
                 inputs.descriptor.adts[inner.adt].name);
  if (use.parent < 0) {
    inputs.isRoot[number] = 1;
    return number;
  }
  const AdtInfo &adt = inputs.descriptor.adts[inner.adt];
  if (inputs.isChild[number] && adt.isUnshared())
    raiseInvalid("node ", number,
                 " is a child of two nodes, but the model declares ", adt.name,
                 " as 'kind ", adt.kind,
                 "'; declare it 'kind dag', or copy the node");
  inputs.isChild[number] = 1;
  return number;
}

int64_t ValueReader::tensor(const char *data, TensorCell place) {
  copyTensor(data, inputs.tensors.addRow(inner));
  place.handle =
      sourceHandle(inner.source, inputs.tensors.count(inner.source) - 1);
  inputs.forest.tensors.push_back(place);
  return place.handle;
}

void ValueReader::write(int64_t number, int64_t &cell) const {
  const char *data = address(number);
  if (inner.kind == Type::Tensor)
    copyTensor(data, reinterpret_cast<char *>(cell));
  else
    cell = scalar(data);
}

void ValueReader::cells(int64_t column, std::vector<int64_t> &result) {
  const auto count = static_cast<int64_t>(result.size());
  if (lists > 0 || inner.kind != Type::Tensor) {
    for (int64_t i = 0; i < count; ++i)
      result[i] = cell(i, {i, -1}, {TensorCell::Argument, column, i, 0});
    return;
  }
  char *rows = inputs.tensors.addRows(inner, count);
  const int64_t first = inputs.tensors.count(inner.source) - count;
  const int64_t rowBytes = RowLayout(inner.shape, inner.dtype).rowBytes();
  for (int64_t i = 0; i < count; ++i) {
    copyTensor(address(i), rows + i * rowBytes);
    result[i] = sourceHandle(inner.source, first + i);
    inputs.forest.tensors.push_back(
        {TensorCell::Argument, column, i, result[i]});
  }
}

int64_t ValueReader::scalar(const char *data) const {
  switch (inner.kind) {
  case Type::Float: {
    int64_t bits = 0;
    std::memcpy(&bits, data, elementBytes);
    return bits;
  }
  case Type::Index:
    return index(loadInteger(dtype, data, 0));
  default:
    return loadInteger(dtype, data, 0);
  }
}

int64_t ValueReader::element(const char *data, const NodeUse &use,
                             const TensorCell &place) {
  switch (inner.kind) {
  case Type::Tensor:
    return tensor(data, place);
  case Type::Adt:
    return node(loadInteger(dtype, data, 0), use);
  default:
    return scalar(data);
  }
}

int64_t ValueReader::list(size_t level, int64_t number, const NodeUse &use) {
  Forest &forest = inputs.forest;
  const bool isEven = length >= 0;
  const int64_t begin = isEven ? 0 : values.offsets[level][number];
  const int64_t end = isEven ? length : values.offsets[level][number + 1];
  const int64_t first = forest.listSize;
  forest.listSize += end - begin;
  if (forest.listSize > INT32_MAX)
    raiseInvalid("the lists of the mini-batch have 2^31 or more entries; run "
                 "fewer instances at a time");
  if (forest.listPool.size() < static_cast<size_t>(forest.listSize))
    forest.listPool.resize(forest.listSize);
  for (int64_t i = begin; i < end; ++i) {
    const int64_t entry = first + i - begin;
    int64_t cell;
    if (level + 1 < lists)
      cell = list(level + 1, i, use);
    else
      cell = element(isEven ? address(number) + i * strides[1] : address(i),
                     use, {TensorCell::List, 0, entry, 0});
    forest.listPool[entry] = cell;
  }
  return listCell(first, end - begin);
}

//===----------------------------------------------------------------------===//
// The forest
//===----------------------------------------------------------------------===//

void InputReading::begin() {
  const int64_t count = inputs.instances;
  if (count < 0 || count > INT32_MAX)
    raiseInvalid("the number of instances ", count,
                 " is out of range; expected 0 to 2147483647");
  if (!descriptor.arguments.empty() && !inputs.arguments)
    raiseInvalid("the arguments are null");
  tensors.clear();
  forest.numInstances = count;
  forest.numNodes = forest.listSize = 0;
  forest.tensors.clear();
  forest.lines.assign(count, 0);
  forest.instanceNodes.assign(count + 1, 0);
  for (std::vector<int64_t> &column : forest.arguments)
    column.assign(count, 0);
}

void InputReading::readNodes() {
  const BatchNodes *nodes = inputs.nodes;
  if (!nodes || nodes->count == 0)
    return;
  const int64_t count = nodes->count;
  if (count < 0 || count > INT32_MAX)
    raiseInvalid("the number of nodes ", count,
                 " is out of range; expected 0 to 2147483647");
  if (!nodes->instances || !nodes->variants || !nodes->fields)
    raiseInvalid("the instances, variants or fields of the nodes are null");
  for (int64_t i = 0; i <= inputs.instances; ++i) {
    const int64_t place = nodes->instances[i];
    const int64_t least = i == 0 ? 0 : forest.instanceNodes[i - 1];
    const bool isEnd = i == inputs.instances;
    if (place < least || place > count || (i == 0 && place != 0) ||
        (isEnd && place != count))
      raiseInvalid("the nodes of instance ", i, " begin at ", place,
                   "; expected non-decreasing numbers from 0 to ", count,
                   ", the number of nodes");
    forest.instanceNodes[i] = place;
  }
  forest.numNodes = count;
  if (forest.variants.size() < static_cast<size_t>(count))
    forest.variants.resize(count);
  for (std::vector<int64_t> &column : forest.cells)
    if (column.size() < static_cast<size_t>(count))
      column.resize(count);
  instanceOf.resize(count);
  isChild.assign(count, 0);
  isRoot.assign(count, 0);
  for (int64_t i = 0; i < inputs.instances; ++i)
    std::fill(instanceOf.begin() + forest.instanceNodes[i],
              instanceOf.begin() + forest.instanceNodes[i + 1], i);
  std::vector<std::vector<int64_t>> byVariant(256);
  for (int64_t n = 0; n < count; ++n) {
    const int32_t number = nodes->variants[n];
    if (number < 0 || number > 255 || !descriptor.variantByNumber(number))
      raiseInvalid("node ", n, " has unknown variant ", number);
    forest.variants[n] = static_cast<uint8_t>(number);
    byVariant[number].push_back(n);
  }
  for (int number = 0; number < 256; ++number)
    if (!byVariant[number].empty())
      readFields(number, byVariant[number]);
}

void InputReading::readFields(int number, const std::vector<int64_t> &nodes) {
  const Variant &variant = *descriptor.variantByNumber(number);
  const BatchValues *fields = inputs.nodes->fields[number];
  if (!fields && !variant.fields.empty())
    raiseInvalid("the fields of variant '", variant.name, "' are null");
  for (size_t f = 0; f < variant.fields.size(); ++f) {
    const Field &field = variant.fields[f];
    ValueReader reader(*this, field.type, fields[f],
                       static_cast<int64_t>(nodes.size()),
                       concat("field '", variant.name, ".", field.name, "'"));
    const auto column = static_cast<int64_t>(f);
    for (size_t i = 0; i < nodes.size(); ++i)
      forest.cells[f][nodes[i]] =
          reader.cell(static_cast<int64_t>(i), {instanceOf[nodes[i]], nodes[i]},
                      {TensorCell::Field, column, nodes[i], 0});
  }
  if (descriptor.adts[variant.adt].arity >= 0)
    for (int64_t node : nodes)
      countArity(variant, node);
}

/// Returns the number of values of ADT `adt` that a cell of the type contains.
int64_t InputReading::countParts(const Type &type, int64_t cell,
                                 int adt) const {
  if (type.kind != Type::List)
    return type.kind == Type::Adt && type.adt == adt;
  int64_t parts = 0;
  // The depth of the recursion depends on the type, not on the data.
  for (int64_t i = 0; type.holdsNodes() && i < listLength(cell); ++i)
    parts +=
        countParts(type.element(), forest.listPool[listFirst(cell) + i], adt);
  return parts;
}

void InputReading::countArity(const Variant &variant, int64_t node) const {
  const AdtInfo &adt = descriptor.adts[variant.adt];
  int64_t parts = 0;
  for (size_t f = 0; f < variant.fields.size(); ++f)
    parts +=
        countParts(variant.fields[f].type, forest.cells[f][node], variant.adt);
  if (parts > adt.arity)
    raiseInvalid("node ", node, " has ", parts, " children of ", adt.name,
                 ", but the model declares arity ", adt.arity);
}

void InputReading::readArgument(size_t number) {
  const Field &argument = descriptor.arguments[number];
  ValueReader reader(*this, argument.type, inputs.arguments[number],
                     inputs.instances, "argument '" + argument.name + "'");
  reader.cells(static_cast<int64_t>(number), forest.arguments[number]);
}

/// Checks that each node belongs to an argument. Any other node would be
/// computed but never used.
void InputReading::checkUses() const {
  for (int64_t n = 0; n < forest.numNodes; ++n)
    if (!isChild[n] && !isRoot[n])
      raiseInvalid("node ", n, " of instance ", instanceOf[n],
                   " is not part of any argument");
}

void batchrt::readInputs(const Descriptor &descriptor,
                         const BatchInputs &inputs, Forest &forest,
                         InputTensors &tensors) {
  InputReading(descriptor, inputs, forest, tensors).read();
}

void batchrt::writeArguments(const Descriptor &descriptor,
                             const BatchInputs &inputs,
                             const std::vector<int64_t> &positions,
                             Forest &forest, InputTensors &tensors) {
  InputReading reading(descriptor, inputs, forest, tensors);
  for (size_t a = 0; a < descriptor.arguments.size(); ++a) {
    const Field &argument = descriptor.arguments[a];
    const ValueReader reader(reading, argument.type, inputs.arguments[a],
                             static_cast<int64_t>(positions.size()),
                             "argument '" + argument.name + "'");
    for (size_t i = 0; i < positions.size(); ++i)
      reader.write(static_cast<int64_t>(i), forest.arguments[a][positions[i]]);
  }
}
