//===- Trim.h - Batches that a schedule can do without ----------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_SCHEDULE_TRIM_H
#define BATCH_SCHEDULE_TRIM_H

#include "Batch/Schedule/Frontier.h"

namespace batchrt {

/// Drops batches whose tasks can all run in other batches. Policies run tasks
/// as soon as their type is due; many of them could wait for a later batch of
/// the type. One sweep from the last batch to the first runs every task as late
/// as it can, and drops batches that no task needs; one from the first to the
/// last, as early as it can, drops those that are left over then. Linear, and
/// without allocation once its arrays are as large as the largest graph needs.
class Trimmer {
public:
  /// `schedule` is one of the plan's graph, in which a batch is all tasks of
  /// its type that are ready, or some of them.
  void run(const FrontierPlan &plan, Schedule &schedule);
  /// Bytes of all arrays.
  size_t bytes() const;

private:
  void runLate(const FrontierPlan &plan, const Schedule &schedule);

  Frontier frontier;
  /// By task, the batch in which it has to run: at first that of the schedule,
  /// then the last in which it can, counted from the last batch.
  std::vector<int32_t> due;
  std::vector<int32_t> dueCounts; ///< tasks that are due, by batch
  std::vector<int32_t> kept;      ///< types of batches, the last first
  std::vector<int32_t> readers;   ///< tasks that read a task and have not run
  std::vector<int32_t> order, head, tail;
};

} // namespace batchrt

#endif // BATCH_SCHEDULE_TRIM_H
