//===- Watchdog.h - Kernels that do not end ---------------------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_RUNTIME_WATCHDOG_H
#define BATCH_RUNTIME_WATCHDOG_H

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

namespace batchrt {

/// When to give up on a kernel that does not end. Without control words the
/// limit is on the whole run.
struct Watchdog {
  double seconds = 0;   ///< limit on one barrier wait; 0: wait for ever
  double margin = 2;    ///< seconds that the kernel has to notice it itself
  uint64_t control = 0; ///< device address of the kernel's control words
  int64_t blocks = 0;
  /// Describes a step for messages: "kernel 'cell', 340 tasks". May be empty.
  std::function<std::string(int64_t step)> describeStep;

  /// What the kernel takes.
  uint64_t nanoseconds() const { return static_cast<uint64_t>(seconds * 1e9); }
};

/// The size of a kernel's control words, a BatchDeviceControl.
size_t controlBytes(int64_t blocks);

/// Raises an Error if the kernel's own watchdog has ended it; `control` is a
/// copy of its control words.
void checkControl(const char *control, const Watchdog &watchdog);

} // namespace batchrt

#endif // BATCH_RUNTIME_WATCHDOG_H
