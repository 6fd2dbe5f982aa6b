//===- Inspector.h - Runs the inspectors of a mini-batch --------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_RUNTIME_LIB_INSPECTOR_INSPECTOR_H
#define BATCH_RUNTIME_LIB_INSPECTOR_INSPECTOR_H

#include "Strands.h"
#include "batch-runtime/HeldRows.h"

namespace batchrt {

/// Cuts a mini-batch into parts of consecutive instances, which workers inspect
/// at the same time: compiled code walks their data and records tasks.
class Inspector {
public:
  explicit Inspector(MiniBatch &batch)
      : batch(batch), strands(batch.context()) {}

  /// Inspects all instances: in parts for `groups` separate plans, or for one
  /// group in a part per worker if the mini-batch is large enough.
  void run(int64_t groups);

  /// The same in rounds, for inspectors that wait for tasks; begins anew.
  void begin();
  /// Lets each instance, in order, go on until it waits or ends. False if all
  /// have ended. The tasks recorded meanwhile must run before the next round.
  bool runRound() { return strands.runRound(); }
  /// True if tasks have been recorded that have not run: of deferred kernels,
  /// or of others.
  bool hasTasks(bool deferred) const;
  /// Shows a plan these tasks only, until hideTasks().
  void showTasks(bool deferred);
  void hideTasks();
  /// The tasks of kernels that are not deferred have run.
  void endFlush();
  /// What is needed after the tasks that are recorded have run, if there is
  /// anything to `find`: what instances in progress keep, and what their results
  /// and tasks of deferred kernels read.
  const KeptRows &keepRows(bool find);
  /// Since begin(): waits, and the most fibers that there have been.
  int64_t waits() const { return batch.context().waits; }
  /// Why an instance has no results; or empty.
  std::string failure(int64_t instance) const {
    return strands.failure(instance);
  }
  int64_t mostFibers() const { return strands.mostFibers(); }

  /// The contexts of all parts, in order.
  const std::vector<BatchContext *> &contexts() const { return list; }
  int64_t numParts() const { return static_cast<int64_t>(list.size()); }
  /// True if each part is for a plan of its own.
  bool plansApart() const { return apart; }

private:
  void split(int64_t groups);
  void makeRoom();
  /// Empties what a part records.
  void clear(Part &part, int64_t number);
  void inspect(Part &part, int64_t number);
  std::string nameInstance(const Part &failed);

  MiniBatch &batch;
  std::vector<BatchContext *> list;
  bool apart = false;
  Strands strands;
  /// The queues that plans see: of the part that is inspected, and of one that
  /// has the tasks of deferred kernels.
  std::vector<BatchQueue> shown[2];
  BatchQueue *recorded = nullptr; ///< those that compiled code sees
  KeptRows keptRows;
  std::vector<int64_t> pinnedCells; ///< of a queue, whose operands are pinned
};

} // namespace batchrt

#endif // BATCH_RUNTIME_LIB_INSPECTOR_INSPECTOR_H
