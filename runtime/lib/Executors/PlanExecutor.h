//===- PlanExecutor.h - Runs plans of recorded tasks ------------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_RUNTIME_LIB_EXECUTORS_PLANEXECUTOR_H
#define BATCH_RUNTIME_LIB_EXECUTORS_PLANEXECUTOR_H

#include "../Inspector/Inspector.h"
#include "Executor.h"
#include "batch-runtime/Plan.h"

namespace batchrt {

/// Common base of executors of plans: the inspector, the tables of the run, and
/// its plan.
class PlanExecutor : public Executor {
public:
  explicit PlanExecutor(MiniBatch &batch);

  void inspect() override;
  void prepare() override;
  const char *tensor(const Type &type, int64_t cell) const override;
  std::string failure(int64_t instance) const override {
    return inspector.failure(instance);
  }
  RunCounters counters() const override { return counted; }
  const std::vector<KernelCounts> &kernelCounts() const override {
    return kernelCounted;
  }
  void addMemory(MemoryUse &use) const override;
  void setPolicy(Policy policy, StateMachine stateMachine) override;
  void watch(RunWatcher *newWatcher) override { watcher = newWatcher; }
  const Plan *plan() const override { return &runPlan; }

protected:
  /// Returns the number of groups of units that run separate plans.
  virtual int64_t groups() { return 1; }
  /// Plans the tasks that were recorded since the last plan of the run. If
  /// `last` is true, no further plan follows.
  virtual void makePlan(bool last);
  /// Resets the counts and announces a run to the watcher.
  void beginRun();
  /// Shows the plan to the watcher.
  void showPlan(bool deferred = false);
  void endRun();

  Inspector inspector;
  Tables tables;
  Plan runPlan;
  /// Counts of the run so far: sums over its plans.
  RunCounters counted;
  std::vector<KernelCounts> kernelCounted;

private:
  RunView view(bool deferred) const;

  RunWatcher *watcher = nullptr;
};

} // namespace batchrt

#endif // BATCH_RUNTIME_LIB_EXECUTORS_PLANEXECUTOR_H
