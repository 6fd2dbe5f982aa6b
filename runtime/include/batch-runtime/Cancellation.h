//===- Cancellation.h - Ending a run early ----------------------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_RUNTIME_CANCELLATION_H
#define BATCH_RUNTIME_CANCELLATION_H

#include "batch-runtime/Error.h"

#include <atomic>
#include <cstdint>

namespace batchrt {

/// A request to end runs early: runs that are in progress, and runs that begin
/// before reset(). Compiled code checks it between batches, and in inspectors
/// at loops and calls.
class Cancellation {
public:
  /// Any thread and any signal handler may call this at any time.
  void request() { word.store(1, std::memory_order_relaxed); }
  void reset() { word.store(0, std::memory_order_relaxed); }
  bool isRequested() const { return word.load(std::memory_order_relaxed) != 0; }
  /// Returns the address of the word that compiled code reads.
  const uint32_t *address() const {
    return reinterpret_cast<const uint32_t *>(&word);
  }

private:
  std::atomic<uint32_t> word{0};
  static_assert(sizeof(word) == sizeof(uint32_t) &&
                    std::atomic<uint32_t>::is_always_lock_free,
                "compiled code reads the number itself");
};

/// The error that a run raises when it is cancelled.
class Cancelled : public Error {
public:
  Cancelled() : Error("the run was cancelled") {}
};

} // namespace batchrt

#endif // BATCH_RUNTIME_CANCELLATION_H
