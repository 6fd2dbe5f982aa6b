//===- Plan.h - A schedule of tasks, laid out in memory ---------*- C++ -*-===//
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

/// Options of Plan::build().
struct PlanOptions {
  /// Makes a separate plan for each part. The plans share no rows, so they can
  /// run concurrently.
  bool separatePlans = false;
  /// Rows needed by later plans of the run or by its results; null if this is
  /// the last plan.
  const LiveOutRows *later = nullptr;
};

/// Turns the tasks that have been recorded since the last plan of a run into
/// the steps that an executor runs. A plan has four components, each of which
/// depends only on earlier ones: the order of tasks, the rows that they write,
/// the rows that they read, and the steps. The next plan reuses all memory.
class Plan {
public:
  /// `depthsOfRecords`: see TaskOrder.
  explicit Plan(const Descriptor &descriptor, bool depthsOfRecords = false);
  void setPolicy(Policy policy, StateMachine stateMachine) {
    taskOrder.setPolicy(policy, std::move(stateMachine));
  }

  /// Fills in steps and numSteps of the first context from the queues of all
  /// contexts, one per part. `tables` are the tables of the run.
  void build(const std::vector<BatchContext *> &contexts, int64_t numInstances,
             Tables &tables, WorkerPool &workers, PlanOptions options = {});

  const TaskOrder &order() const { return taskOrder; }
  const DepthScheduler &schedule() const { return taskOrder.schedule(); }
  /// Returns one plan for all parts, or one plan for each part.
  const std::vector<BatchPlan> &plans() const { return planSteps.plans(); }
  /// Returns the graph of the plan's tasks, whose types are the kernels.
  /// `contexts` are the arguments of build(), unchanged since then. The graph
  /// excludes tasks of earlier plans.
  TaskGraph taskGraph(const std::vector<BatchContext *> &contexts) const;
  PlanSteps &steps() { return planSteps; }
  const PlanSteps &steps() const { return planSteps; }

  /// Adds the memory that the steps refer to, except tables.
  void addRegions(std::vector<ImageRegion> &regions) const;
  /// Returns the number of bytes reserved for everything except intermediates.
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
