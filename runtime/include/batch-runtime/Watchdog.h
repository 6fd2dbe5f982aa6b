//===- Watchdog.h - Kernels that do not end ---------------------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_RUNTIME_WATCHDOG_H
#define BATCH_RUNTIME_WATCHDOG_H

#include "batch-runtime/ABI.h"
#include "batch-runtime/Descriptor.h"
#include "batch-runtime/Device.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace batchrt {

/// The limits for a kernel that might not finish. Without control words, the
/// limits apply to the whole run.
struct Watchdog {
  /// The default for GPUs, in seconds.
  static constexpr double defaultSeconds = 10;

  double seconds = 0;   ///< limit for the time without progress; 0: no limit
  double margin = 2;    ///< extra seconds for the kernel to detect the hang
                        ///< itself
  uint64_t control = 0; ///< device address of the kernel's control words
  int64_t blocks = 0;
  /// The control words belong to the run once this event has occurred. Without
  /// an event, they always belong to the run.
  std::optional<DeviceEvent> begin;
  std::string executor; ///< its name for messages; may be empty
  OptionNames names = OptionNames::Tools; ///< spelling in messages
  /// Describes a block's BatchBlockControl::progress: "step 3 (kernel 'cell',
  /// 340 tasks)".
  std::function<std::string(int64_t progress)> describe;

  /// Returns the limit in nanoseconds, for the kernel.
  uint64_t nanoseconds() const {
    return static_cast<uint64_t>(std::min(seconds, 9e9) * 1e9);
  }
};

/// Convert between a BatchBlockControl::progress and its two halves.
inline int64_t makeProgress(int64_t high, int64_t low) {
  return high << 32 | low;
}
inline int64_t highOf(int64_t progress) {
  return static_cast<uint64_t>(progress) >> 32;
}
inline int64_t lowOf(int64_t progress) {
  return static_cast<uint32_t>(progress);
}

/// Describe the progress of a block that runs one of these plans, or that runs
/// lanes.
std::string describeStep(const std::vector<BatchPlan> &plans,
                         const std::vector<KernelInfo> &kernels,
                         int64_t progress);
std::string describeLanes(const LockstepInfo &info, int64_t progress);

/// Returns the size in bytes of a kernel's control words (BatchDeviceControl).
size_t controlBytes(int64_t blocks);
/// Returns the words of each block, from a copy of the control words.
std::vector<BatchBlockControl> readBlocks(const char *control, int64_t blocks);

/// Raises an Error if the kernel's own watchdog ended it; `control` is a copy
/// of its control words.
void checkControl(const char *control, const Watchdog &watchdog);

/// Returns the last progress that a block of a group reports. `groups` groups
/// share the plans.
int64_t lastProgress(const std::vector<BatchPlan> &plans, int64_t groups,
                     int64_t group);
/// Raises an Error unless every block has reported the progress that `progress`
/// returns, and then its end. If the low half of this progress is `anyLow`,
/// only the high halves are compared. Used on devices that test kernels: if a
/// kernel does not report its progress, the watchdog cannot detect a hang.
void checkEnded(const char *control, int64_t blocks,
                const std::function<int64_t(int64_t block)> &progress);
inline constexpr int64_t anyLow = UINT32_MAX;

} // namespace batchrt

#endif // BATCH_RUNTIME_WATCHDOG_H
