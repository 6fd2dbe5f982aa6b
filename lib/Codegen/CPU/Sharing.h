//===- Sharing.h - How workers share the tasks of a batch -------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_LIB_CODEGEN_CPU_SHARING_H
#define BATCH_LIB_CODEGEN_CPU_SHARING_H

#include "../Stages/StagePlan.h"
#include "MicroKernels.h"

namespace mlir::uprog {

/// How a pool of workers shares the tasks of one launch. By rows: each worker
/// takes some tasks, reads all weights and waits for nobody. By columns: each
/// worker takes some columns of all tasks, so that it reads its own part of the
/// weights only, which stays in its cache from launch to launch, and tiles of
/// rows stay full; it waits after every stage.
struct Sharing {
  /// From this many tasks per worker on a launch is shared by rows.
  int64_t rowSplit;
  /// A worker runs all stages on this many tasks before it takes the next ones,
  /// so that what the stages read and write stays in its cache; 0: on all.
  int64_t rowBlock;
  /// So many tasks are worth a meeting of workers; one worker alone runs fewer,
  /// unless others run at the same time.
  int64_t shareTasks;

  // What they follow from.
  int64_t weightBytes = 0; ///< of parameters that contractions read
  int64_t taskFlops = 0;   ///< of contractions; a ragged row counts like a task
  int64_t taskBytes = 0;   ///< operands, results and intermediates of a task
};

Sharing chooseSharing(const StagePlan &plan, const RegisterTiles &registers);

} // namespace mlir::uprog

#endif // BATCH_LIB_CODEGEN_CPU_SHARING_H
