//===- RunWatcher.h - What looks at the plans of a run ----------*- C++ -*-===//
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

/// A tensor that control has read: a handle, and the table of results with its
/// type.
struct ReadTensor {
  int64_t handle;
  int table;
};

/// How far a run has come.
struct RunView {
  const Descriptor &descriptor;
  /// One per part. The first has the steps of the plan, and the results of
  /// instances that have ended.
  const std::vector<BatchContext *> &contexts;
  const Tables &tables;
  int64_t numInstances;
  int64_t flush = 0;     ///< from 0; a flush may have two plans
  bool deferred = false; ///< the plan has the tasks that no wait depends on
  /// What control has read since the last plan, where it waits for tensors.
  std::vector<ReadTensor> reads;
};

/// Looks at the plans of runs, as they come: one for a mini-batch, or where
/// control waits for tensors, one or two for each flush.
class RunWatcher {
public:
  virtual ~RunWatcher() = default;
  /// A run begins. One of a mini-batch that read out of range may begin anew.
  virtual void begin() = 0;
  /// A plan is ready, and runs next. Tasks of earlier plans have run.
  virtual void look(const RunView &run, const Plan &plan) = 0;
  /// There are no more plans, and all results are known.
  virtual void end(const RunView &run) = 0;
};

} // namespace batchrt

#endif // BATCH_RUNTIME_RUNWATCHER_H
