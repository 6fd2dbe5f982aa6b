//===- Plan.h - A schedule of recorded tasks, laid out in memory -*- C++
//-*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_RUNTIME_PLAN_H
#define BATCH_RUNTIME_PLAN_H

#include "batch-runtime/IndexArrays.h"
#include "batch-runtime/PlanRows.h"
#include "batch-runtime/PlanSteps.h"
#include "batch-runtime/Tables.h"
#include "batch-runtime/TaskOrder.h"

namespace batchrt {

/// What operands of the steps read.
struct GatherCounts {
  int64_t rows = 0;
  int64_t runs = 0; ///< pieces of rows that lie one behind the other
};

/// How a plan is made.
struct PlanOptions {
  /// Every part is a plan of its own, which reads and writes no rows of
  /// another: they may run at the same time.
  bool apart = false;
  /// No plan of the run follows: rows that no task of this one and no result
  /// reads may be used again.
  bool last = true;
};

/// Turns the tasks that have been recorded since the last plan of a run into
/// the steps that an executor runs, in layers that each know only those before:
/// the order of tasks, the rows that they write, the rows that they read, and
/// the steps. All memory is kept for the next plan.
class Plan {
public:
  explicit Plan(const Descriptor &descriptor);

  /// See TaskOrder.
  void setPolicy(Policy policy, StateMachine machine) {
    taskOrder.setPolicy(policy, std::move(machine));
  }

  /// Fills in steps and numSteps of the first context from the queues of all,
  /// one of each part. The tables are those of the run.
  void build(const std::vector<BatchContext *> &contexts, int64_t numInstances,
             Tables &tables, WorkerPool &workers, PlanOptions options = {});

  const TaskOrder &order() const { return taskOrder; }
  const DepthScheduler &schedule() const { return taskOrder.schedule(); }
  /// One for all parts, or one for each.
  const std::vector<BatchPlan> &plans() const { return planSteps.plans(); }
  PlanSteps &steps() { return planSteps; }
  const PlanSteps &steps() const { return planSteps; }

  /// The memory that the steps name besides tables.
  void addRegions(std::vector<ImageRegion> &regions) const;
  GatherCounts countGathers(const Tables &tables) const;
  /// Bytes reserved for all but intermediates.
  size_t bytes() const;

private:
  const Descriptor &descriptor;
  TaskOrder taskOrder;
  PlanRows rows;
  IndexArrays indexArrays;
  PlanSteps planSteps;
};

} // namespace batchrt

#endif // BATCH_RUNTIME_PLAN_H
