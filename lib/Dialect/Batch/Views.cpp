//===- Views.cpp - Rows of parameters that are never copied ---------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Batch/Dialect/Batch/Views.h"

using namespace mlir;

bool mlir::batch::isRowView(tensor::ExtractSliceOp slice) {
  RankedTensorType source = slice.getSourceType();
  if (source.getRank() < 2 || !slice.hasUnitStride())
    return false;
  for (int64_t dim = 0; dim < source.getRank(); ++dim) {
    if (dim == 0) {
      if (slice.getStaticSizes()[0] != 1)
        return false;
      continue;
    }
    if (source.isDynamicDim(dim) || slice.getStaticOffsets()[dim] != 0 ||
        slice.getStaticSizes()[dim] != source.getDimSize(dim))
      return false;
  }
  return true;
}

OpFoldResult mlir::batch::getRowIndex(tensor::ExtractSliceOp slice) {
  return slice.getMixedOffsets()[0];
}
