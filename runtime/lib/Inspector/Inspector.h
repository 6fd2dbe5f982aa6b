//===- Inspector.h - Runs the inspectors of a mini-batch --------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_RUNTIME_LIB_INSPECTOR_INSPECTOR_H
#define BATCH_RUNTIME_LIB_INSPECTOR_INSPECTOR_H

#include "ArenaRanges.h"
#include "InstanceFibers.h"
#include "batch-runtime/HeldRows.h"

#include <deque>

namespace batchrt {

/// Splits a mini-batch into parts of consecutive instances, which workers
/// inspect concurrently. Compiled code traverses their data and records tasks.
class Inspector {
public:
  explicit Inspector(MiniBatch &batch) : batch(batch), ranges(batch) {}

  /// Inspects all instances. If `groups` is more than 1 and the object allows
  /// it, each group gets one part, with its own plan. Otherwise, the number of
  /// parts grows with the mini-batch, up to one per worker. Raises the error of
  /// the first instance that fails.
  void run(int64_t groups);

  /// Begins an inspection in rounds, for inspectors that wait for tasks.
  void begin();
  /// Runs each instance until it waits or finishes, on several workers if there
  /// is enough to inspect. Returns false if all instances have finished. The
  /// tasks that this round records must run before the next round. Raises the
  /// error of the first instance that fails.
  bool runRound();
  /// Returns the number of recorded tasks that have not run: those of deferred
  /// kernels if `deferred` is true, else those of other kernels.
  int64_t numTasks(bool deferred) const;
  /// Until hideTasks(), plans see only the tasks that numTasks(deferred)
  /// counts.
  void showTasks(bool deferred);
  void hideTasks();
  /// Ends a flush: the tasks of kernels that are not deferred have run.
  void endFlush(Tables &tables);
  /// If `find` is set, returns the rows that are needed after the recorded
  /// tasks have run: rows that instances in progress keep, and rows that are
  /// read by results or by tasks of deferred kernels.
  const LiveOutRows &findLiveOutRows(bool find);
  /// Returns the number of waits since begin(). mostFibers() returns the
  /// maximum number of fibers after a round.
  int64_t waits() const;
  int64_t mostFibers() const { return most; }
  /// Returns the number of finished instances.
  int64_t numEnded() const;
  /// Returns the reason why an instance has no results, or an empty string if
  /// it has results.
  std::string failure(int64_t instance) const;

  /// Returns the number of workers that inspected parts concurrently.
  int64_t numInspectors() const { return inspectors; }
  /// Returns the workers that plan the visible tasks: only the caller if there
  /// are few tasks, or if instances share calls.
  WorkerPool &planners() {
    return numWorkers(planned) > 1 ? batch.workers : caller;
  }

  /// Returns the contexts of all parts, in order.
  const std::vector<BatchContext *> &contexts() const { return list; }
  int64_t numParts() const { return static_cast<int64_t>(list.size()); }
  /// Returns true if each part gets its own plan.
  bool hasSeparatePlans() const { return separatePlans; }

private:
  int64_t sizeOf(int64_t instance) const;
  int64_t size() const;
  int64_t numWorkers(int64_t work) const;
  int64_t maxBranches() const;
  void split(int64_t wanted);
  /// Clears the records of a part.
  void clear(Part &part);
  void inspect(Part &part);
  int64_t firstDeferred(const Part &part) const;
  void shareConstant(size_t kernel, Tables &tables);
  void pinDeferred(const Part &part);

  MiniBatch &batch;
  ArenaRanges ranges;
  std::vector<Part *> inspected; ///< parts with instances
  /// The contexts of these parts. If an inspection in rounds has deferred
  /// kernels, they are followed by one context per part, for its deferred
  /// tasks.
  std::vector<BatchContext *> list;
  bool separatePlans = false;
  std::deque<InstanceFibers> fibers; ///< indexed by part
  int64_t inspectors = 1, most = 0;
  int64_t planned = 0; ///< number of visible tasks
  WorkerPool caller{1};
  bool hasBegun = false;
  std::vector<std::vector<BatchQueue>> shown; ///< queues for plans, by part
  LiveOutRows liveOutRows;
  /// For each part and kernel: the number of queue cells whose operands are
  /// pinned.
  std::vector<std::vector<int64_t>> pinnedCells;
};

} // namespace batchrt

#endif // BATCH_RUNTIME_LIB_INSPECTOR_INSPECTOR_H
