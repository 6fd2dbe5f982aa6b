//===- InputTensors.cpp - Rows of input tensors ---------------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "batch-runtime/Error.h"
#include "batch-runtime/Forest.h"

#include <cstring>

using namespace batchrt;

InputTensors::Pool &InputTensors::pool(const Type &type) {
  if (type.source < 0 ||
      type.source >= static_cast<int>(descriptor.sources.size()) ||
      !descriptor.sources[type.source].input)
    raise("the model was compiled without input tensors of type ",
          describe(descriptor, type));
  return pools[type.source];
}

char *InputTensors::addRows(const Type &type, int64_t count) {
  Pool &target = pool(type);
  const size_t bytes = count * RowLayout(type.shape, type.dtype).rowBytes();
  char *row =
      target.data.grow(target.bytes + bytes, target.bytes, "input tensors") +
      target.bytes;
  if (bytes > 0)
    std::memset(row, 0, bytes);
  target.bytes += bytes;
  target.rows += count;
  return row;
}

int64_t InputTensors::addRow(const Type &type, const char *dense) {
  char *row = addRow(type);
  const RowLayout layout(type.shape, type.dtype);
  if (layout.rowBytes() > 0)
    layout.pad(dense, row);
  return count(type.source) - 1;
}

void InputTensors::truncate(const std::vector<int64_t> &counts) {
  for (size_t source = 0; source < pools.size(); ++source) {
    Pool &pool = pools[source];
    if (pool.rows == counts[source])
      continue;
    pool.bytes = pool.bytes / pool.rows * counts[source];
    pool.rows = counts[source];
    for (auto it = pool.known.begin(); it != pool.known.end();)
      it = it->second.first + it->second.second > pool.rows
               ? pool.known.erase(it)
               : std::next(it);
  }
}

std::vector<int64_t> InputTensors::counts() const {
  std::vector<int64_t> result;
  for (const Pool &pool : pools)
    result.push_back(pool.rows);
  return result;
}

size_t InputTensors::bytes() const {
  size_t sum = 0;
  for (const Pool &pool : pools)
    sum += pool.bytes;
  return sum;
}

std::pair<int64_t, int64_t>
InputTensors::rows(const Type &type, const std::string &name, bool list) {
  Pool &target = pool(type);
  auto known = target.known.find((list ? "*" : "=") + name);
  if (known != target.known.end())
    return known->second;
  if (!file)
    raise("tensor '", name,
          "' requires a file of input tensors, but none is given; add "
          "--input-tensors=FILE.safetensors");
  const TensorView *view = file->find(name);
  if (!view)
    raise("'", file->path(), "' has no tensor '", name, "'");
  std::vector<int64_t> wanted = type.shape;
  int64_t count = 1;
  if (list) {
    wanted.insert(wanted.begin(), -1);
    if (view->shape.size() == wanted.size())
      wanted[0] = count = view->shape[0];
  }
  if (view->shape != wanted)
    raise("tensor '", name, "' of '", file->path(), "' has shape ",
          shapeName(view->shape), ", but the model expects ", shapeName(wanted),
          " here");
  if (!canConvert(view->type, type.dtype))
    raise("tensor '", name, "' of '", file->path(), "' has type ",
          fileName(view->type), ", but the model expects ",
          fileName(type.dtype), " here");
  int64_t elements = elementCount(type.shape);
  std::vector<char> dense(elements * byteSize(type.dtype));
  int64_t first = target.rows;
  for (int64_t i = 0; i < count; ++i) {
    if (!convertElements(view->type,
                         view->data + i * elements * byteSize(view->type),
                         type.dtype, dense.data(), elements))
      raise("tensor '", name, "' of '", file->path(),
            "' has values that do not fit in ", typeName(type.dtype));
    addRow(type, dense.data());
  }
  return target.known[(list ? "*" : "=") + name] = {first, count};
}
