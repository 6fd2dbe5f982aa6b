//===- RunWatcher.h - Observers of the plans of a run -----------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_RUNTIME_RUNWATCHER_H
#define BATCH_RUNTIME_RUNWATCHER_H

#include "batch-runtime/Plan.h"

#include <cstdint>
#include <vector>

namespace batchrt {

/// A tensor that control flow has read: its handle, and the table of results of
/// its type.
struct ReadTensor {
  int64_t handle;
  int table;
};

/// The state of a run for watchers.
struct RunView {
  const Descriptor &descriptor;
  /// One context per part. The first has the steps of the plan, and the results
  /// of finished instances.
  const std::vector<BatchContext *> &contexts;
  const Tables &tables;
  int64_t numInstances;
  int64_t flush = 0;     ///< number of the flush, from 0; a flush may have two
                         ///< plans
  bool deferred = false; ///< true if the plan has the tasks that no wait
                         ///< depends on
  /// Tensors that control flow has read since the last plan, if control flow
  /// waits for tensors.
  std::vector<ReadTensor> reads;
};

/// Observer of the plans of runs: one plan for each mini-batch, or, if control
/// flow waits for tensors, one or two plans for each flush.
class RunWatcher {
public:
  virtual ~RunWatcher() = default;
  /// Called when a run begins. A run with an out-of-range read may begin again.
  virtual void begin() = 0;
  /// Called when a plan is ready to run. Tasks of earlier plans have run.
  virtual void look(const RunView &run, const Plan &plan) = 0;
  /// Called after the last plan, when all results are known.
  virtual void end(const RunView &run) = 0;
};

} // namespace batchrt

#endif // BATCH_RUNTIME_RUNWATCHER_H
