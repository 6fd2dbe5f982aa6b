//===- Elements.h - Elements that control flow reads ------------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_CONVERSION_BATCHTOLLVM_ELEMENTS_H
#define BATCH_CONVERSION_BATCHTOLLVM_ELEMENTS_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/BuiltinTypes.h"

namespace mlir::batch {

/// Adds error messages to the module's `uprog.indices`: one for each index of
/// each `tensor.extract` in a function, of each `batch.extract` and of each
/// `batch.await`. The attribute `kIndexPlaceAttr` of each op is the position of
/// its first message in this list, counted from 1.
void numberIndices(ModuleOp module);
inline constexpr llvm::StringLiteral kIndexPlaceAttr = "batch.index_place";

/// Loads the number of elements of a vector parameter that is stored at the
/// address `row`. The address and the result are i64.
Value loadExtent(OpBuilder &builder, Location loc, Value row);

/// Loads the tensor element that `op` reads. The row of the tensor is at the
/// address `row`, an i64. The tensor has a static type or is a vector
/// parameter. An index out of range ends the run with an error.
Value loadElement(OpBuilder &builder, Operation *op, RankedTensorType type,
                  Value row, ValueRange indices);

} // namespace mlir::batch

#endif // BATCH_CONVERSION_BATCHTOLLVM_ELEMENTS_H
