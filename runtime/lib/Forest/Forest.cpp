//===- Forest.cpp - Size of a mini-batch ----------------------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "batch-runtime/Forest.h"

using namespace batchrt;

template <class T>
static size_t reserved(const std::vector<T> &vector) {
  return vector.capacity() * sizeof(T);
}

template <class T>
static size_t reserved(const std::vector<std::vector<T>> &vectors) {
  size_t sum = 0;
  for (const std::vector<T> &vector : vectors)
    sum += reserved(vector);
  return sum;
}

size_t Forest::inputBytes() const {
  size_t cellCount = numNodes * cells.size() + listSize;
  for (const std::vector<int64_t> &column : arguments)
    cellCount += column.size();
  return numNodes + cellCount * sizeof(int64_t) +
         (instanceNodes.size() + lines.size()) * sizeof(int64_t) +
         tensors.size() * sizeof(TensorCell);
}

size_t Forest::bytes() const {
  return reserved(variants) + reserved(cells) + reserved(listPool) +
         reserved(arguments) + reserved(instanceNodes) + reserved(lines) +
         reserved(tensors);
}
