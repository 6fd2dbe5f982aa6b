//===- Lockstep.h - Memory of lockstep programs -----------------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_RUNTIME_LIB_EXECUTORS_LOCKSTEP_H
#define BATCH_RUNTIME_LIB_EXECUTORS_LOCKSTEP_H

#include "../Inspector/MiniBatch.h"
#include "LaneMemory.h"

namespace batchrt {

/// Returns the cost of running each block on a lane. A barrier of workers costs
/// 2^16.
std::vector<int64_t> costsOfBlocks(const Descriptor &descriptor);

/// Lanes of a lockstep program. Each worker has its own lanes, which take
/// instances from a common counter.
class Lockstep {
public:
  Lockstep(const Descriptor &descriptor, const LockstepOptions &options);

  /// Prepares a run of `numInstances` instances on `workers` workers.
  /// `workers` is 0 for a run on a device, which has its own memory.
  void prepare(int64_t numInstances, int64_t workers);
  /// Sets the state machine that picks the next block. Its types are the
  /// program's blocks.
  void setPolicy(const StateMachine &stateMachine);
  const Descriptor &getDescriptor() const { return descriptor; }
  const LockstepOptions &getOptions() const { return options; }
  /// Sets the options of lanes, whose number must already be set.
  void applyOptions(BatchLanes &lanes, bool onDevice) const;
  const std::vector<int64_t> &blockCosts() const { return costs; }
  /// Returns the hash table that a learned policy reads (makeStateTable() in
  /// BlockPolicy.h).
  const std::vector<int64_t> &stateTable() const { return states; }
  /// Returns the lanes of each worker, for the context.
  BatchLanes **lanes() const { return memory.lanes(buffer.data()); }
  /// Returns memory for the rows of result `r` of the entry. This result is a
  /// tensor with `rowBytes` bytes per row.
  char *resultRows(size_t r, int64_t rowBytes);
  /// Returns the number of bytes that a worker needs for `workerScratch`: the
  /// maximum over all kernels.
  int64_t workerScratch() const;

  int64_t instances() const { return numInstances; }
  /// Sets the outcome of a run, which stays in `staging` until the next run.
  void setOutcome(const LaneMemory &memory, char *staging);
  /// Returns a description of an instance's failure, or an empty string if the
  /// instance succeeded.
  std::string describeEnd(int64_t instance) const;
  /// Returns the text of describeEnd() and marks the instance as successful.
  std::string takeEnd(int64_t instance);
  /// Empties the lanes of the host so that they take instances from a stream.
  /// `ready` counts the instances that wait for a lane.
  void followStream(const int64_t *ready);
  /// Returns the counts of the last run.
  LockstepCounters counters() const;
  int64_t copiedBytes(const BlockInfo &block) const;
  /// Sets whether later runs of the host's workers are traced. Runs are also
  /// traced if the path of the first worker is recorded.
  void setTraced(bool traced) { isTraced = traced; }
  /// Returns the steps that the lanes of each worker have run.
  const std::vector<UnitTrace> &traces() const { return traceList; }
  /// Returns the trace of a worker, or null if runs are not traced.
  void *traceOf(int64_t unit) const {
    return traceList.empty() ? nullptr : &traceList[unit];
  }
  /// Returns the blocks that the first worker ran, if they are recorded.
  std::vector<int32_t> path() const;
  size_t bytes() const;

private:
  const Descriptor &descriptor;
  const LockstepInfo &info;
  LockstepOptions options;
  const std::vector<int64_t> costs; ///< costs of blocks
  std::vector<int64_t> states;
  int64_t numInstances = 0;
  LaneMemory memory; ///< of the host's workers
  Buffer buffer;
  bool written = false; ///< true if the persistent contents are in `buffer`
  const LaneMemory *outcome = nullptr;
  char *outcomeAt = nullptr;
  std::vector<Buffer> results;
  bool isTraced = false;
  mutable std::vector<UnitTrace> traceList;
};

} // namespace batchrt

#endif // BATCH_RUNTIME_LIB_EXECUTORS_LOCKSTEP_H
