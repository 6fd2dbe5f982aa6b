//===- ReleaseRows.h - Free the tensors of unbatched code ------*- C++ -*-===//
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

/// True if no row of `functions`, the instance program, outlives a call or a
/// round of a loop but in what it returns: no node, list or table holds it.
bool ownsItsRows(ModuleOp module, ArrayRef<func::FuncOp> functions);

/// Has `function`, which has a context and is not converted otherwise, free the
/// rows that rounds of its loops and its calls do not return. So a loop needs
/// as much memory however long it runs.
void releaseRows(func::FuncOp function);

} // namespace mlir::batch

#endif // BATCH_CONVERSION_BATCHTOLLVM_RELEASEROWS_H
