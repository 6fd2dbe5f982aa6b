//===- Trim.h - Removal of unnecessary batches ------------------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_RUNTIME_SCHEDULE_TRIM_H
#define BATCH_RUNTIME_SCHEDULE_TRIM_H

#include "batch-runtime/Schedule/Frontier.h"

namespace batchrt {

/// Drops batches whose tasks can all run in later batches. Policies run a ready
/// task as soon as they pick its type, although many tasks could wait for a
/// later batch of the type. A sweep from the last batch to the first runs every
/// task as late as possible and drops batches that no task needs. Takes linear
/// time. Allocates nothing once its arrays are large enough for the largest
/// graph.
class Trimmer {
public:
  /// Trims a schedule of the plan's graph. A batch may consist of all ready
  /// tasks of its type, or of some of them.
  void run(const FrontierPlan &plan, Schedule &schedule);
  /// Returns the size in bytes of all arrays.
  size_t bytes() const;

private:
  std::vector<int32_t> due;       ///< for each task: its batch in the schedule
  std::vector<int32_t> dueCounts; ///< for each batch: number of its tasks that
                                  ///< have not run
  std::vector<int32_t> readers;   ///< for each task: number of its readers that
                                  ///< have not run
  /// `order` contains the tasks sorted by type. The sweep fills the range of
  /// each type from its end. The tasks in [ran, end of the type) have run, and
  /// the tasks in [next, ran) can run next.
  std::vector<int32_t> order, ran, next;
  std::vector<Batch> kept;
};

} // namespace batchrt

#endif // BATCH_RUNTIME_SCHEDULE_TRIM_H
