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

/// Returns true if only the rows of results outlive the calls and loop
/// iterations of `functions`, the instance program. This requires that no node,
/// list or table refers to a row.
bool ownsItsRows(ModuleOp module, ArrayRef<func::FuncOp> functions);

/// Makes `function` free the rows that its calls and the iterations of its
/// loops do not return. The memory of a loop then does not grow with its trip
/// count. `function` has a context but is not otherwise converted.
void releaseRows(func::FuncOp function);

} // namespace mlir::batch

#endif // BATCH_CONVERSION_BATCHTOLLVM_RELEASEROWS_H
