//===- StridedCopy.h - Copies of arrays with any strides --------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_RUNTIME_LIB_FORMATS_STRIDEDCOPY_H
#define BATCH_RUNTIME_LIB_FORMATS_STRIDEDCOPY_H

#include "batch-runtime/Tensors.h"

#include <cstdint>
#include <cstring>
#include <vector>

namespace batchrt {

/// Returns the strides, in bytes, of a row-major array without gaps.
inline std::vector<int64_t> denseStrides(const std::vector<int64_t> &shape,
                                         int64_t elementBytes) {
  std::vector<int64_t> strides(shape.size(), elementBytes);
  for (size_t d = shape.size(); d-- > 1;)
    strides[d - 1] = strides[d] * shape[d];
  return strides;
}

/// Returns the strides of a tensor's row in the ABI. The last dimension of such
/// a row is padded.
inline std::vector<int64_t> paddedStrides(const std::vector<int64_t> &shape,
                                          DType type) {
  std::vector<int64_t> strides = denseStrides(shape, byteSize(type));
  int64_t stride = RowLayout(shape, type).lineStride;
  for (size_t d = shape.size(); d-- > 1; stride *= shape[d - 1])
    strides[d - 1] = stride;
  return strides;
}

/// Copies the elements of an array of `rank` dimensions. Strides are in bytes.
inline void copyStrided(size_t rank, const int64_t *shape, int64_t elementBytes,
                        const char *from, const int64_t *fromStrides, char *to,
                        const int64_t *toStrides) {
  if (rank == 0) {
    std::memcpy(to, from, elementBytes);
    return;
  }
  if (rank == 1 && fromStrides[0] == elementBytes &&
      toStrides[0] == elementBytes) {
    std::memcpy(to, from, shape[0] * elementBytes);
    return;
  }
  for (int64_t i = 0; i < shape[0]; ++i)
    copyStrided(rank - 1, shape + 1, elementBytes, from + i * fromStrides[0],
                fromStrides + 1, to + i * toStrides[0], toStrides + 1);
}

} // namespace batchrt

#endif // BATCH_RUNTIME_LIB_FORMATS_STRIDEDCOPY_H
