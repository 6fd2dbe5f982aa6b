//===- Inspector.h - Runs the inspectors of a mini-batch --------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_RUNTIME_LIB_INSPECTOR_INSPECTOR_H
#define BATCH_RUNTIME_LIB_INSPECTOR_INSPECTOR_H

#include "Rooms.h"
#include "Strands.h"
#include "batch-runtime/HeldRows.h"

#include <deque>

namespace batchrt {

/// Cuts a mini-batch into parts of consecutive instances, which workers inspect
/// at the same time: compiled code walks their data and records tasks.
class Inspector {
public:
  explicit Inspector(MiniBatch &batch) : batch(batch), rooms(batch) {}

  /// Inspects all instances: in parts for `groups` separate plans, or for one
  /// group in a part per worker if the mini-batch is large enough. Raises the
  /// error of the first instance that fails.
  void run(int64_t groups);

  /// The same in rounds, for inspectors that wait for tasks; begins anew.
  void begin();
  /// Lets each instance go on until it waits or ends, in parts if there is
  /// enough to inspect. False if all have ended. The tasks recorded meanwhile
  /// must run before the next round. The error of the first instance that fails
  /// is raised.
  bool runRound();
  /// The tasks recorded that have not run: of deferred kernels, or of others.
  int64_t numTasks(bool deferred) const;
  /// Shows a plan these tasks only, until hideTasks().
  void showTasks(bool deferred);
  void hideTasks();
  /// The tasks of kernels that are not deferred have run.
  void endFlush(Tables &tables);
  /// What is needed after the tasks that are recorded have run, if there is
  /// anything to `find`: what instances in progress keep, and what their
  /// results and tasks of deferred kernels read.
  const KeptRows &keepRows(bool find);
  /// Since begin(): waits, and the most fibers that there have been behind a
  /// round.
  int64_t waits() const;
  int64_t mostFibers() const { return most; }
  /// Instances that have ended.
  int64_t numEnded() const;
  /// Why an instance has no results; or empty.
  std::string failure(int64_t instance) const;

  /// The workers that have inspected parts of a mini-batch at the same time.
  int64_t numInspectors() const { return inspectors; }
  /// Those that plan what is shown: one alone if that is little.
  WorkerPool &planners() {
    return numWorkers(planned) > 1 ? batch.workers : caller;
  }

  /// The contexts of all parts, in order.
  const std::vector<BatchContext *> &contexts() const { return list; }
  int64_t numParts() const { return static_cast<int64_t>(list.size()); }
  /// True if each part is for a plan of its own.
  bool plansApart() const { return apart; }

private:
  int64_t sizeOf(int64_t instance) const;
  int64_t size() const;
  int64_t numWorkers(int64_t work) const;
  void split(int64_t wanted);
  /// Empties what a part records.
  void clear(Part &part);
  void inspect(Part &part);
  int64_t firstDeferred(const Part &part) const;
  void shareConstant(size_t kernel, Tables &tables);
  void pinDeferred(const Part &part);

  MiniBatch &batch;
  Rooms rooms;
  std::vector<Part *> inspected; ///< has instances
  /// These, and where control waits, a part for the deferred tasks of each.
  std::vector<BatchContext *> list;
  bool apart = false;
  std::deque<Strands> strands; ///< by part
  int64_t inspectors = 1, most = 0;
  int64_t planned = 0; ///< tasks that plans see
  WorkerPool caller{1};
  bool hasBegun = false;
  std::vector<std::vector<BatchQueue>> shown; ///< that plans see, by part
  KeptRows keptRows;
  /// By part and kernel: the cells of a queue whose operands are pinned.
  std::vector<std::vector<int64_t>> pinnedCells;
};

} // namespace batchrt

#endif // BATCH_RUNTIME_LIB_INSPECTOR_INSPECTOR_H
