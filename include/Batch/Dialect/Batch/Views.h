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

/// Returns true if `slice` is one whole row of its source: one index in the
/// first dimension and all indices in the other dimensions, as in
/// `tensor.extract_slice %E[%w, 0] [1, 256] [1, 1]`. A row of a parameter is
/// read in place.
bool isRowView(tensor::ExtractSliceOp slice);

/// Returns the row index of a row view.
OpFoldResult getRowIndex(tensor::ExtractSliceOp slice);

/// If `dim` is the first extent of a tensor with static rows, returns the type
/// of these rows. If `dim` is the extent of a vector, returns the type of the
/// vector. Returns null for every other extent.
RankedTensorType getCountedRow(tensor::DimOp dim);

/// Returns the type of the rows that represent a parameter of type `tensor` if
/// control flow reads its elements. The whole tensor is one row if its shape is
/// static or it is a vector. If only the first extent is dynamic, each slice
/// along the first dimension is a row. Returns null for every other shape.
RankedTensorType getReadRow(RankedTensorType tensor);

/// Returns the name of parameter number `parameter` of the entry, or an empty
/// string if there is no such parameter.
StringRef getParameterName(ModuleOp module, int64_t parameter);

/// Returns " at model.mlir:10:5" if the file of `loc` is known, and an empty
/// string otherwise. The file name has no directory, so an object does not
/// depend on the directory in which it is compiled.
std::string describePlace(Location loc);

/// Returns a description of dimension `dim` of a tensor, for an error about an
/// index. The tensor has type `type` and is "read" or "written" (`verb`) at
/// `loc`. The description contains the parameter name `parameter` unless the
/// name is empty.
std::string describeDimension(int64_t dim, StringRef parameter, Type type,
                              Location loc, StringRef verb = "read");

/// Returns the error message for an out-of-range index of `what`. The runtime
/// replaces "{}" with the index.
std::string describeIndexError(const Twine &what);

/// Returns the `batch.source` that provides parameter number `parameter` as
/// rows of type `row`. If `parameter` is -1, the source provides input tensors
/// instead. If there is no such source, creates it after the last source, or at
/// the start of the module.
SourceOp getOrCreateSource(ModuleOp module, SymbolTable &symbols,
                           RankedTensorType row, int64_t parameter);

} // namespace mlir::batch

#endif // BATCH_DIALECT_BATCH_VIEWS_H
