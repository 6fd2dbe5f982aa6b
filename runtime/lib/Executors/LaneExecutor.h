//===- LaneExecutor.h - Runs lanes in lockstep ------------------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_RUNTIME_LIB_EXECUTORS_LANEEXECUTOR_H
#define BATCH_RUNTIME_LIB_EXECUTORS_LANEEXECUTOR_H

#include "Executor.h"
#include "Lockstep.h"

namespace batchrt {

/// Common base of executors of lanes. Lanes read arguments and write results in
/// the same way as unbatched code: scalars in cells, tensors at the addresses
/// in cells.
class LaneExecutor : public Executor {
public:
  explicit LaneExecutor(MiniBatch &batch)
      : Executor(batch), lanes(descriptor(), batch.options.lockstep) {}

  const char *tensor(const Type &, int64_t cell) const override {
    return reinterpret_cast<const char *>(cell);
  }
  std::string failure(int64_t instance) const override {
    return lanes.describeEnd(instance);
  }
  std::string takeFailure(int64_t position) override {
    return lanes.takeEnd(position);
  }
  RunCounters counters() const override;
  void addMemory(MemoryUse &use) const override {
    use.scratch += lanes.bytes();
  }
  std::vector<StepTime> runTraced() override;
  void setBlockPolicy(StateMachine stateMachine) override;
  LockstepCounters lockstepCounters() const override {
    return lanes.counters();
  }
  std::vector<int32_t> blockPath() const override { return lanes.path(); }

protected:
  /// Prepares a run on `workers` workers of the host, or on a device if
  /// `workers` is 0.
  void prepareLanes(int64_t workers);
  /// Raises an error if an instance has no results, unless partial results are
  /// requested.
  void checkEnds() const;

  Lockstep lanes;
};

} // namespace batchrt

#endif // BATCH_RUNTIME_LIB_EXECUTORS_LANEEXECUTOR_H
