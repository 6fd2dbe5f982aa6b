//===- Lockstep.h - Memory of lockstep programs -----------------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_RUNTIME_LIB_EXECUTORS_LOCKSTEP_H
#define BATCH_RUNTIME_LIB_EXECUTORS_LOCKSTEP_H

#include "LaneMemory.h"
#include "batch-runtime/Session.h"

namespace batchrt {

/// What it costs to run each block on a lane, in parts of a meeting of workers.
std::vector<int64_t> costsOfBlocks(const Descriptor &descriptor);

/// What the workers of a lockstep program work on. Each has lanes of its own,
/// which take instances from a common counter.
class Lockstep {
public:
  Lockstep(const Descriptor &descriptor, const LockstepOptions &options);

  /// Gets ready for a run of `numInstances` instances on `workers` workers; 0
  /// for a run on a device, which has memory of its own.
  void prepare(int64_t numInstances, int64_t workers);
  /// Makes the choice of blocks the learned one, by a machine that is numbered
  /// as the program's blocks are.
  void setPolicy(const StateMachine &machine);
  const Descriptor &getDescriptor() const { return descriptor; }
  const LockstepOptions &getOptions() const { return options; }
  /// Says how lanes are to be run. Their number has been set.
  void applyOptions(BatchLanes &lanes) const;
  const std::vector<int64_t> &blockCosts() const { return costs; }
  /// What a learned choice reads: cells of slots (BlockPolicy.h).
  const std::vector<int64_t> &stateTable() const { return states; }
  /// For the context: by worker.
  BatchLanes **lanes() const { return memory.lanes(buffer.data()); }
  /// Rows for result `r` of the entry, a tensor with `rowBytes`.
  char *resultRows(size_t r, int64_t rowBytes);
  /// The most bytes of `workerScratch` that a worker needs.
  int64_t workerScratch() const;

  int64_t instances() const { return numInstances; }
  /// The memory says at `staging` how the run ended, until the next one.
  void setOutcome(const LaneMemory &memory, char *staging);
  /// How an instance ended: empty if well.
  std::string describeEnd(int64_t instance) const;
  /// Counts of the last run.
  LockstepCounters counters() const;
  /// The blocks that the first worker ran, if they are recorded.
  std::vector<int32_t> path() const;
  size_t bytes() const;

private:
  const Descriptor &descriptor;
  const LockstepInfo &info;
  LockstepOptions options;
  const std::vector<int64_t> costs; ///< of blocks
  std::vector<int64_t> states;
  int64_t numInstances = 0;
  LaneMemory memory; ///< of the host's workers
  Buffer buffer;
  bool written = false; ///< what stays there from run to run
  const LaneMemory *outcome = nullptr;
  char *outcomeAt = nullptr;
  std::vector<Buffer> results;
};

} // namespace batchrt

#endif // BATCH_RUNTIME_LIB_EXECUTORS_LOCKSTEP_H
