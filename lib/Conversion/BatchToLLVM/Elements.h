//===- Elements.h - Elements of tensors that control reads ------*- C++ -*-===//
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

/// Lists in the module's `uprog.indices` what the indices of each
/// `tensor.extract` of functions and each `batch.extract` are of. The op's
/// attribute `kIndexPlaceAttr` is the number of its first one there, from 1.
void numberIndices(ModuleOp module);
inline constexpr llvm::StringLiteral kIndexPlaceAttr = "batch.index_place";

/// The number of elements of a parameter that is a vector and lies at the
/// address `row`; both are i64.
Value loadExtent(OpBuilder &builder, Location loc, Value row);

/// Loads an element of a tensor, whose row lies at the address `row`, an i64;
/// `op` is what reads it. Its type is static, or it is a parameter that is a
/// vector. An index out of range ends the run with an error.
Value loadElement(OpBuilder &builder, Operation *op, RankedTensorType type,
                  Value row, ValueRange indices);

} // namespace mlir::batch

#endif // BATCH_CONVERSION_BATCHTOLLVM_ELEMENTS_H
