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

/// The common base of executors of plans: the inspector, the tables of the run,
/// and its plan.
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
  TaskGraph taskGraph() const override;
  const Plan *plan() const override { return &runPlan; }
  GatherCounts countGathers() const override;
  size_t liveResults() const override;

protected:
  /// The number of groups of units that run separate plans.
  virtual int64_t groups() { return 1; }
  /// Plans what has been recorded since the last plan of the run. With `last`,
  /// no plan follows.
  virtual void makePlan(bool last);
  /// Begins to count.
  void resetCounters();

  Inspector inspector;
  Tables tables;
  Plan runPlan;
  /// Counts of the run so far: sums over its plans.
  RunCounters counted;
  std::vector<KernelCounts> kernelCounted;
};

} // namespace batchrt

#endif // BATCH_RUNTIME_LIB_EXECUTORS_PLANEXECUTOR_H
