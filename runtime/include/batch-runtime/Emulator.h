//===- Emulator.h - Runs GPU kernels on the host ----------------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// docs/explanation/emulator.md describes the checks and the scheduling of the
// emulator.
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_RUNTIME_EMULATOR_H
#define BATCH_RUNTIME_EMULATOR_H

#include "batch-runtime/EmulatorABI.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace batchrt {

/// The numbers of bytes that launches access, summed over their threads.
struct AccessCounts {
  /// The range of a block's shared memory in which writes are counted.
  int64_t begin = 0, end = 0;
  std::vector<std::vector<int64_t>> writes; ///< bytes that each warp of each
                                            ///< block writes
  std::map<std::string, int64_t> reads;     ///< bytes read from each global
                                            ///< region
};

/// One launch of a kernel. All blocks are resident at once.
struct EmulatedLaunch {
  std::string kernel; ///< name of the kernel, for messages
  BatchEmulatedKernel entry = nullptr;
  void *const *arguments = nullptr;
  int64_t blocks = 1;
  int64_t threads = 1; ///< threads of a block, at most 1024
  int64_t clusterBlocks = 1;
  int64_t sharedBytes = 0; ///< shared memory of each block
  uint64_t seed = 0;       ///< seed for the order in which threads run
  /// Mean number of plain accesses until another thread runs; 0 means no limit.
  int64_t accessPeriod = 256;
  AccessCounts *counts = nullptr; ///< the launch adds to these counts; may be
                                  ///< null
  /// Maximum number of switches between threads. A kernel that needs more
  /// raises an error.
  int64_t maxSwitches = 1'000'000'000;
};

/// Counts of all launches together.
struct EmulatorCounters {
  int64_t launches = 0;
  int64_t switches = 0;        ///< switches between threads
  int64_t accesses = 0;        ///< plain accesses
  int64_t atomics = 0;         ///< atomic operations
  int64_t blockBarriers = 0;   ///< over all blocks
  int64_t clusterBarriers = 0; ///< over all clusters
  int64_t shuffles = 0;        ///< over all warps
};

enum class RegionUse { ReadWrite, ReadOnly };

/// An emulated GPU that checks the operations of kernels. Not thread-safe.
class Emulator {
public:
  Emulator();
  ~Emulator();
  Emulator(const Emulator &) = delete;
  Emulator &operator=(const Emulator &) = delete;

  /// Declares a region of global memory, which is initially unwritten. Its
  /// address must be a multiple of 4, and regions must not overlap.
  void addRegion(void *base, size_t bytes, std::string name,
                 RegionUse use = RegionUse::ReadWrite);
  void removeRegion(void *base);
  /// Records that the host has written these bytes, which are in one region.
  void markWritten(const void *address, size_t bytes);
  /// Checks bytes that the host is about to read: throws an Error if some were
  /// not written.
  void checkWritten(const void *address, size_t bytes) const;

  /// Runs a kernel to completion. If a check fails, throws an Error with the
  /// cause, the location and the thread. Writes before the failure remain.
  void launch(const EmulatedLaunch &launch);

  const EmulatorCounters &counters() const;

private:
  struct State;
  std::unique_ptr<State> state;
};

} // namespace batchrt

#endif // BATCH_RUNTIME_EMULATOR_H
