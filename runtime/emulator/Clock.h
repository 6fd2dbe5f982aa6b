//===- Clock.h - Clocks of emulated threads ---------------------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Vector clocks for many threads that mostly synchronize in blocks. Every block
// has its own time. The time advances at a barrier of the block's threads, when
// one of them publishes its accesses, and when one arrives at the cluster
// barrier. The stamp of an access contains its thread and the time. One number
// therefore represents all accesses of a block's threads up to a time. A clock
// needs one number per block, and separate entries only for threads that have
// published something since the last barrier of their block.
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_RUNTIME_EMULATOR_CLOCK_H
#define BATCH_RUNTIME_EMULATOR_CLOCK_H

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace batchrt::emulator {

/// A thread of the grid: its block, and its number in the block.
class ThreadId {
public:
  ThreadId() = default;
  ThreadId(int64_t block, int64_t thread)
      : bits(static_cast<uint32_t>(block << 11 | thread)) {}
  /// Returns an identifier that represents several threads of a block.
  static ThreadId several(int64_t block) { return ThreadId(block, 0x7ff); }

  int64_t block() const { return bits >> 11; }
  int64_t thread() const { return bits & 0x7ff; }
  bool isSeveral() const { return thread() == 0x7ff; }
  bool operator==(ThreadId other) const { return bits == other.bits; }
  bool operator<(ThreadId other) const { return bits < other.bits; }

  static constexpr int64_t maxBlocks = 1 << 20;

private:
  friend class Stamp;
  uint32_t bits = 0;
};

/// The thread and the time of an access, and whether the access is atomic.
/// Converts to false if there is no access. All writes of the host have the
/// same stamp.
class Stamp {
public:
  Stamp() = default;
  Stamp(ThreadId id, uint32_t time, bool atomic)
      : bits(uint64_t(time) << 32 | uint64_t(atomic) << 31 | id.bits) {}

  ThreadId id() const {
    ThreadId id;
    id.bits = bits & 0x7fffffff;
    return id;
  }
  uint32_t time() const { return bits >> 32; }
  bool atomic() const { return bits >> 31 & 1; }
  explicit operator bool() const { return bits != 0; }
  bool operator==(Stamp other) const { return bits == other.bits; }

  /// Returns a special value that is neither a stamp nor "no access".
  static Stamp mark() {
    Stamp stamp;
    stamp.bits = ~uint64_t(0);
    return stamp;
  }

private:
  uint64_t bits = 0;
};

/// The set of accesses that are known to have happened.
class Clock {
public:
  Clock() = default;
  Clock(size_t blocks, uint32_t time) : blocks(blocks, time) {}

  /// Returns true if the clock includes an access with this stamp.
  bool covers(Stamp stamp) const {
    return stamp.time() <= blocks[stamp.id().block()] ||
           (!threads.empty() && coversThread(stamp));
  }
  void setBlockTime(int64_t block, uint32_t time) { blocks[block] = time; }
  /// Adds the accesses of one thread up to a time.
  void add(ThreadId id, uint32_t time);
  void join(const Clock &other);

private:
  bool coversThread(Stamp stamp) const;

  std::vector<uint32_t> blocks;
  std::vector<std::pair<ThreadId, uint32_t>> threads; ///< sorted by thread
};

using SharedClock = std::shared_ptr<const Clock>;

/// The time of a block, and the accesses that are known to all its threads.
struct BlockClock {
  Clock known;
  uint32_t time;
};

/// The accesses that are known to one thread: accesses known to its block, and
/// accesses that the thread has acquired itself.
class ThreadClock {
public:
  void start(ThreadId thread, BlockClock &clock) {
    *this = ThreadClock();
    id = thread, block = &clock, now = clock.time;
  }

  Stamp stamp(bool atomic) const { return Stamp(id, now, atomic); }
  ThreadId thread() const { return id; }
  uint32_t time() const { return now; }
  /// Returns true if an access with this stamp is known to have happened
  /// before.
  bool covers(Stamp stamp) const {
    return stamp.id() == id || block->known.covers(stamp) ||
           (!acquired.empty() && coversAcquired(stamp));
  }
  /// Acquires the clock that another thread has published.
  void acquire(const SharedClock &clock);
  /// Publishes the accesses that are known to the thread, and its own accesses.
  SharedClock release();
  /// Returns the clocks that the thread has acquired since its block's last
  /// barrier.
  const std::vector<SharedClock> &learned() const { return acquired; }
  /// Called at a barrier of the block, after the block's clock has joined the
  /// clocks that its threads acquired.
  void passBarrier() { acquired.clear(), now = block->time; }
  /// Continues at `time`, a later time of the thread's block.
  void advance(uint32_t time) { now = time; }

private:
  bool coversAcquired(Stamp stamp) const;

  ThreadId id;
  uint32_t now = 0;
  BlockClock *block = nullptr;
  std::vector<SharedClock> acquired; ///< since the block's last barrier
};

} // namespace batchrt::emulator

#endif // BATCH_RUNTIME_EMULATOR_CLOCK_H
