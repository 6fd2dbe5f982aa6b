//===- Views.h - Rows of parameters that are never copied -------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_DIALECT_BATCH_VIEWS_H
#define BATCH_DIALECT_BATCH_VIEWS_H

#include "Batch/Dialect/Batch/Batch.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mlir::batch {

/// True if `slice` is one whole row of its source: one index in the first
/// dimension, everything in the others, as in
/// `tensor.extract_slice %E[%w, 0] [1, 256] [1, 1]`. A row of a parameter is
/// read in place.
bool isRowView(tensor::ExtractSliceOp slice);

/// The row index of a row view.
OpFoldResult getRowIndex(tensor::ExtractSliceOp slice);

/// The type of the rows that `dim` counts, if it asks for the first extent of a
/// tensor whose rows are static; that of the tensor if it is a vector. Null for
/// every other extent.
RankedTensorType getCountedRow(tensor::DimOp dim);

/// The row of parameter `tensor` of which control can read an element: all of
/// it if its shape is static or it is a vector, a row of the first dimension if
/// only the extent of that is dynamic. Null for every other shape.
RankedTensorType getReadRow(RankedTensorType tensor);

/// The name of parameter `parameter` of the entry; empty if there is none.
StringRef getParameterName(ModuleOp module, int64_t parameter);

/// " at model.mlir:10:5" where the file of `loc` is known, else empty. It has
/// no folder: an object does not depend on the one that it is made in.
std::string describePlace(Location loc);

/// What an index is of, in words: dimension `dim` of a tensor of type `type`,
/// which is "read" or "written" (`verb`) at `loc`; of parameter `parameter`,
/// unless that is empty.
std::string describeDimension(int64_t dim, StringRef parameter, Type type,
                              Location loc, StringRef verb = "read");

/// The error message for an index of `what` that is out of range. The runtime
/// replaces "{}" with the index.
std::string describeIndexError(const Twine &what);

/// The `batch.source` of rows of type `row` of `parameter` (-1: of input
/// tensors), created at the start of the module if there is none.
SourceOp getOrCreateSource(ModuleOp module, SymbolTable &symbols,
                           RankedTensorType row, int64_t parameter);

} // namespace mlir::batch

#endif // BATCH_DIALECT_BATCH_VIEWS_H
