//===- Executor.h - Executors of mini-batches -------------------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_RUNTIME_LIB_EXECUTORS_EXECUTOR_H
#define BATCH_RUNTIME_LIB_EXECUTORS_EXECUTOR_H

#include "../Inspector/MiniBatch.h"

namespace batchrt {

/// Runs the loaded mini-batch: plans of tasks, lanes in lockstep, or single
/// instances, on the workers of the host or on a device. The functions are
/// called in the order listed here. If a function is repeated, later functions
/// must also be repeated. If control flow waits for tensors, run(), runTimed()
/// and runTraced() do all the work; inspect() and prepare() are not called.
class Executor {
public:
  explicit Executor(MiniBatch &batch) : batch(batch) {}
  virtual ~Executor() = default;
  Executor(const Executor &) = delete;
  Executor &operator=(const Executor &) = delete;

  /// Records the tasks to run, if the object has tasks.
  virtual void inspect() {}
  /// Prepares run().
  virtual void prepare() = 0;
  /// Runs the whole mini-batch.
  virtual void run(ResultCopies copies) = 0;
  /// Copies results to host memory if they are not there yet.
  void collect() {
    if (uncollected)
      copyResults();
    uncollected = false;
  }
  /// Drops the results of the last run.
  void forget() { uncollected = false; }

  /// Prepares runStream(). The mini-batch has one instance for each position.
  virtual void prepareStream(InstanceStream &stream);
  /// Runs the instances of the stream until it is closed.
  virtual void runStream() {}
  /// Returns failure() of the instance at a position of the stream, and clears
  /// it.
  virtual std::string takeFailure(int64_t /*position*/) { return ""; }

  /// Like run(), but returns the time spent in kernels, in microseconds. If
  /// kernels alternate with control flow, this time includes both.
  virtual double runTimed() = 0;
  /// Like run(), but returns the times of the steps. Plans run their steps one
  /// by one.
  virtual std::vector<StepTime> runTraced() = 0;
  /// Returns the address in host memory of a tensor of the last run.
  virtual const char *tensor(const Type &type, int64_t cell) const = 0;
  /// Returns the reason why an instance has no results, or an empty string if
  /// it has results.
  virtual std::string failure(int64_t /*instance*/) const { return ""; }
  /// Returns the counts of the last run, except the number of nodes.
  virtual RunCounters counters() const = 0;
  /// Returns the counts of each kernel; only for plans of tasks.
  virtual const std::vector<KernelCounts> &kernelCounts() const;
  /// Returns the times of the last run if control flow waited for tensors.
  virtual RunTimes times() const { return {}; }
  virtual void addMemory(MemoryUse &use) const = 0;

  // Functions for plans of tasks only.
  virtual void setPolicy(Policy policy, StateMachine stateMachine);
  virtual void watch(RunWatcher * /*watcher*/) {}
  virtual const Plan *plan() const { return nullptr; }

  // Functions for lanes only.
  virtual void setBlockPolicy(StateMachine stateMachine);
  virtual LockstepCounters lockstepCounters() const { return {}; }
  virtual std::vector<int32_t> blockPath() const { return {}; }

protected:
  virtual void copyResults() {}
  /// Raises an error because the object runs on a device, which cannot trace.
  /// `why` continues the sentence.
  [[noreturn]] void raiseNoTrace(const char *why) const;
  const Descriptor &descriptor() const { return batch.descriptor(); }

  MiniBatch &batch;
  bool uncollected = false; ///< results are only on a device
};

/// Creates the executor for the object of a mini-batch. The executor opens a
/// device only when there is something to run.
std::unique_ptr<Executor> makeExecutor(MiniBatch &batch,
                                       const BoundParameters &parameters);

// Create the executors, one for each kind of object that Executor.cpp lists.
std::unique_ptr<Executor> makeWorkerPlans(MiniBatch &, const BoundParameters &);
std::unique_ptr<Executor> makeWorkerLanes(MiniBatch &, const BoundParameters &);
std::unique_ptr<Executor> makeWorkerInstances(MiniBatch &,
                                              const BoundParameters &);
std::unique_ptr<Executor> makeDevicePlans(MiniBatch &, const BoundParameters &);
std::unique_ptr<Executor> makeDeviceLanes(MiniBatch &, const BoundParameters &);
std::unique_ptr<Executor> makeDeviceInstances(MiniBatch &,
                                              const BoundParameters &);

} // namespace batchrt

#endif // BATCH_RUNTIME_LIB_EXECUTORS_EXECUTOR_H
