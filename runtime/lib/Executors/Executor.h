//===- Executor.h - What runs a mini-batch ----------------------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_RUNTIME_LIB_EXECUTORS_EXECUTOR_H
#define BATCH_RUNTIME_LIB_EXECUTORS_EXECUTOR_H

#include "../Inspector/MiniBatch.h"

namespace batchrt {

/// Runs the mini-batch that is loaded: plans of tasks, or lanes in lock step,
/// on the workers of the host or on a device. Calls come in the order in which
/// they are listed here; each may be repeated, those after it then have to be.
class Executor {
public:
  explicit Executor(MiniBatch &batch) : batch(batch) {}
  virtual ~Executor() = default;
  Executor(const Executor &) = delete;
  Executor &operator=(const Executor &) = delete;

  /// Finds out what there is to run.
  virtual void inspect() {}
  /// Gets ready for run().
  virtual void prepare() = 0;
  /// Runs the whole mini-batch.
  virtual void run(ResultCopies copies) = 0;
  /// Copies results to host memory, if they are not there.
  void collect() {
    if (uncollected)
      copyResults();
    uncollected = false;
  }
  /// Nobody wants the results of the last run any more.
  void forget() { uncollected = false; }

  /// As run(); the microseconds that a worker spends in kernels.
  virtual double runTimed() = 0;
  /// As run(), step by step.
  virtual std::vector<StepTime> runTraced() = 0;
  /// Where a tensor of the last run lies in host memory.
  virtual const char *tensor(const Type &type, int64_t cell) const = 0;
  /// Why an instance has no results; empty if it has.
  virtual std::string failure(int64_t /*instance*/) const { return ""; }
  /// Of the last run, but for nodes.
  virtual RunCounters counters() const = 0;
  virtual void addMemory(MemoryUse &use) const = 0;

  // What only plans of tasks have.
  virtual void setPolicy(Policy policy, StateMachine machine);
  virtual TaskGraph taskGraph() const;
  virtual const Plan *plan() const { return nullptr; }
  virtual GatherCounts countGathers() const { return {}; }
  virtual size_t liveResults() const { return 0; }

  // What only lanes have.
  virtual void setBlockPolicy(StateMachine machine);
  virtual LockstepCounters lockstepCounters() const { return {}; }
  virtual std::vector<int32_t> blockPath() const { return {}; }

protected:
  virtual void copyResults() {}
  const Descriptor &descriptor() const { return batch.descriptor(); }

  MiniBatch &batch;
  bool uncollected = false; ///< results lie on a device only
};

/// The executor for the object of a mini-batch. A device is opened only when
/// there is something to run.
std::unique_ptr<Executor> makeExecutor(MiniBatch &batch,
                                       const BoundParameters &parameters);

// One for each kind; the list in Executor.cpp says which is for which object.
std::unique_ptr<Executor> makeWorkerPlans(MiniBatch &, const BoundParameters &);
std::unique_ptr<Executor> makeWorkerLanes(MiniBatch &, const BoundParameters &);
std::unique_ptr<Executor> makeDevicePlans(MiniBatch &, const BoundParameters &);
std::unique_ptr<Executor> makeDeviceLanes(MiniBatch &, const BoundParameters &);

} // namespace batchrt

#endif // BATCH_RUNTIME_LIB_EXECUTORS_EXECUTOR_H
