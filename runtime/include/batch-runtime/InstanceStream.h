//===- InstanceStream.h - Instances that arrive during a run ----*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A run whose instances arrive while it is in progress. It has positions, each
// with memory for the arguments and the results of an instance:
//
//   free -> acquire() -> submit() -> a lane runs it -> take() -> release()
//
// Lanes without an instance look for one after each step of their worker. A
// worker without any instance waits.
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_RUNTIME_INSTANCESTREAM_H
#define BATCH_RUNTIME_INSTANCESTREAM_H

#include "batch-runtime/Cancellation.h"

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <vector>

namespace batchrt {

class InstanceStream {
public:
  explicit InstanceStream(int64_t capacity);

  // Functions for the thread that submits instances and takes results.

  /// Returns a position whose arguments may be written, or -1 if none is free.
  int64_t acquire();
  void submit(int64_t position);
  /// Waits until an instance has finished and returns its position. The caller
  /// may then read its results. Returns kClosed if the run ends first, and
  /// kWoken after wake(). `cancellation` may be null. Once it is requested,
  /// throws Cancelled; the stream stays usable.
  int64_t take(const Cancellation *cancellation);
  static constexpr int64_t kClosed = -1, kWoken = -2;
  /// Returns the number of instances that take() would return without waiting.
  int64_t ended();
  void release(int64_t position);

  // Functions for lanes, on any worker.

  /// Returns the address of the number of instances that wait for a lane.
  /// Compiled code reads this number.
  const int64_t *ready() const {
    return reinterpret_cast<const int64_t *>(&waiting);
  }

  /// Records that the results of position `ended` have been written, unless
  /// `ended` is negative. Returns a position with an instance that has not run,
  /// or -1.
  int64_t exchange(int64_t ended);
  /// Waits until exchange() can return a position. Returns false if the run
  /// ends.
  bool waitForMore();

  // Functions that any thread may call.

  /// Ends the call of take() that is waiting, or else the next call that would
  /// wait.
  void wake();
  /// Marks the end of the run: nothing runs afterwards.
  void close();

private:
  /// A queue that can hold all positions.
  class Queue {
  public:
    explicit Queue(int64_t capacity) : positions(capacity) {}
    int64_t size() const { return count; }
    void push(int64_t position) {
      positions[(first + count++) % positions.size()] = position;
    }
    int64_t pop() {
      --count;
      const int64_t position = positions[first];
      first = (first + 1) % positions.size();
      return position;
    }

  private:
    std::vector<int64_t> positions;
    size_t first = 0;
    int64_t count = 0;
  };

  std::mutex lock;
  std::condition_variable forLanes, forCaller;
  std::vector<int64_t> idle; ///< positions that are free
  Queue submitted, done;
  std::atomic<int64_t> waiting{0}; ///< size of `submitted`
  bool isClosed = false, isWoken = false;
};

} // namespace batchrt

#endif // BATCH_RUNTIME_INSTANCESTREAM_H
