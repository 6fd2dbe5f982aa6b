//===- Sharing.h - Sharing of a batch's tasks among workers -----*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_CODEGEN_CPU_SHARING_H
#define BATCH_CODEGEN_CPU_SHARING_H

#include "../Stages/StagePlan.h"
#include "TileFunctions.h"

namespace mlir::uprog {

/// Division of a launch's tasks among a pool of workers. By rows: each worker
/// takes some tasks, reads all parameters and does not wait for other workers.
/// By columns: each worker takes some columns of all tasks and waits at
/// barriers between stages. It reads only its share of the parameters, and this
/// share stays in its cache from launch to launch. Tiles of rows stay full.
struct Sharing {
  /// A launch with at least this many tasks per worker is divided by rows.
  int64_t rowSplit;
  /// A worker runs all stages on this many tasks before it takes more tasks, so
  /// their data stays in its cache. 0 means all tasks.
  int64_t stageRows;
  /// A launch with fewer tasks than this does not justify a barrier of workers.
  /// A single worker runs it, unless other tasks run at the same time.
  int64_t shareTasks;

  // Quantities that determine the limits above.
  int64_t weightBytes = 0; ///< bytes of parameters that contractions read
  int64_t taskFlops = 0;   ///< FLOPs of contractions; a ragged row counts like
                           ///< a task
  int64_t taskBytes = 0;   ///< operands, results and intermediates of a task
};

Sharing chooseSharing(const StagePlan &plan, const RegisterTiles &registers);

} // namespace mlir::uprog

#endif // BATCH_CODEGEN_CPU_SHARING_H
