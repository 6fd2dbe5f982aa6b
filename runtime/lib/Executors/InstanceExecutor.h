//===- InstanceExecutor.h - Runs single instances ---------------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_RUNTIME_LIB_EXECUTORS_INSTANCEEXECUTOR_H
#define BATCH_RUNTIME_LIB_EXECUTORS_INSTANCEEXECUTOR_H

#include "Executor.h"

namespace batchrt {

/// Common base of executors of single instances. They read arguments and write
/// results in the same way as unbatched code: scalars in cells, tensors at the
/// addresses in cells.
class InstanceExecutor : public Executor {
public:
  explicit InstanceExecutor(MiniBatch &batch)
      : Executor(batch), info(*descriptor().replicate) {}

  const char *tensor(const Type &, int64_t cell) const override {
    return reinterpret_cast<const char *>(cell);
  }
  std::string failure(int64_t instance) const override;
  void addMemory(MemoryUse &use) const override;

protected:
  /// Prepares a run: reserves rows for results that are tensors, and space for
  /// the nodes that a run creates.
  void prepareInstances();
  /// Raises an error if an instance has no results, unless partial results are
  /// requested.
  void checkEnds() const;
  /// Adds the counts of a unit to `counters`. Tasks that all units share are
  /// counted only if `isFirst` is true.
  static void addCounts(RunCounters &counters, const BatchUnit &unit,
                        bool isFirst);

  const ReplicateInfo &info;
  std::vector<int64_t> ends; ///< indexed by instance

private:
  std::vector<Buffer> results;
};

} // namespace batchrt

#endif // BATCH_RUNTIME_LIB_EXECUTORS_INSTANCEEXECUTOR_H
