//===- ReleaseRows.h - Free the tensors of unbatched code -------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_CONVERSION_BATCHTOLLVM_RELEASEROWS_H
#define BATCH_CONVERSION_BATCHTOLLVM_RELEASEROWS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace mlir::batch {

/// True if no row of `functions`, the instance program, outlives a call or an
/// iteration of a loop except in its results: no node, list or table holds it.
bool ownsItsRows(ModuleOp module, ArrayRef<func::FuncOp> functions);

/// Lets `function`, which has a context and is not converted otherwise, free
/// the rows that iterations of its loops and its calls do not return. So the
/// memory of a loop does not grow with its trip count.
void releaseRows(func::FuncOp function);

} // namespace mlir::batch

#endif // BATCH_CONVERSION_BATCHTOLLVM_RELEASEROWS_H
