//===- InsertRows.h - Inserts in unbatched code -----------------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_CONVERSION_BATCHTOLLVM_INSERTROWS_H
#define BATCH_CONVERSION_BATCHTOLLVM_INSERTROWS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::batch {

/// Marks the invocations of `function` that insert into the rows of their
/// operands. The mark is an array that contains, for each result, the number of
/// the operand whose row stores it, or -1. Emits a remark for each insert, with
/// the reason for each copy. `function` has a context but is not otherwise
/// converted. Call this before releaseRows().
void placeInserts(func::FuncOp function);

} // namespace mlir::batch

#endif // BATCH_CONVERSION_BATCHTOLLVM_INSERTROWS_H
