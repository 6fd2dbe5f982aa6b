//===- Interrupts.h - Interrupts that end runs ------------------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_PYTHON_INTERRUPTS_H
#define BATCH_PYTHON_INTERRUPTS_H

#include "batch-runtime/CAPI.h"

#include <atomic>

namespace batch::python {
/// Installs a signal handler that requests the end of runs and then calls
/// Python's handler. It remains installed. Returns false if an interrupt ends
/// the process or has no effect. Any thread may call this.
bool catchInterrupts();

/// The run of the main thread, which an interrupt ends, or null.
extern std::atomic<BatchCancellation *> runOfMainThread;

/// Cancellation that every interrupt requests. Interrupts that arrive while no
/// run uses the cancellation have no effect, because begin() resets it.
class InterruptCancellation {
public:
  /// Throws std::bad_alloc if there is no memory.
  InterruptCancellation();
  ~InterruptCancellation();
  InterruptCancellation(const InterruptCancellation &) = delete;
  InterruptCancellation &operator=(const InterruptCancellation &) = delete;

  /// Returns the cancellation for a new run.
  const BatchCancellation *begin();

private:
  struct Entry *entry;
};
} // namespace batch::python

#endif // BATCH_PYTHON_INTERRUPTS_H
