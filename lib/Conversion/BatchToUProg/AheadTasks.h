//===- AheadTasks.h - Tasks of a loop that can run ahead --------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_CONVERSION_BATCHTOUPROG_AHEADTASKS_H
#define BATCH_CONVERSION_BATCHTOUPROG_AHEADTASKS_H

#include "Batch/Analysis/Sharedness.h"
#include "Batch/Dialect/Batch/Batch.h"
#include "InsertedRows.h"

namespace mlir::batch {

/// A task of a loop's body that depends on nothing but the number of the round,
/// so that those of many rounds can run together before them.
struct AheadTask {
  InvokeOp invoke;
  /// What computes its operands in the body, in order.
  SmallVector<Operation *> operandCode;
};

/// Finds the tasks in `body`, of a loop that knows its number of rounds, that
/// are worth it: their kernels multiply. `rounds` are the arguments of the body
/// that follow from the number of the round; others are handed on.
SmallVector<AheadTask> findAheadTasks(Block &body, ValueRange rounds,
                                      const Sharedness &sharedness,
                                      const InsertedRows &inserted);

} // namespace mlir::batch

#endif // BATCH_CONVERSION_BATCHTOUPROG_AHEADTASKS_H
