//===- Grid.h - One launch of an emulated kernel ----------------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_RUNTIME_EMULATOR_GRID_H
#define BATCH_RUNTIME_EMULATOR_GRID_H

#include "Memory.h"
#include "batch-runtime/Emulator.h"
#include "batch-runtime/Error.h"
#include "batch-runtime/Memory.h"
#include "batch-runtime/Schedule/Random.h"

#include <array>
#include <deque>
#include <optional>
#include <unordered_map>

namespace batchrt::emulator {

class Grid;
struct Block;
struct Cluster;

inline constexpr int64_t warpSize = 32;

enum class ThreadState {
  Ready,
  AtBarrier,
  AtClusterBarrier,
  AtWarpOperation,
  Ended,
};

/// A clock that a thread has published, and the threads to which it is
/// published.
struct Publication {
  SharedClock clock;
  int64_t scope = BATCH_SCOPE_DEVICE, block = 0;
};

/// A copy from global to shared memory that the thread has not waited for.
struct Copy {
  void *to;
  const void *from;
  int64_t bytes;
  const char *where;
  std::array<char, 16> before; ///< contents of the source when the copy began
};

/// Progress of a thread through the cluster barrier.
enum class Arrival { None, Arrived, Complete };

/// One GPU thread: a fiber.
struct Thread : BatchEmulatorThread {
  explicit Thread(FiberStack &stack) : fiber(stack) {}

  Grid *grid;
  Block *inBlock;
  Fiber fiber;
  bool started = false;
  ThreadState state = ThreadState::Ready;
  const char *where = "the start"; ///< location of its last operation
  ThreadClock clock;
  Region *region = nullptr; ///< region of its last global access
  // A relaxed store publishes the clock of the last release fence. An acquire
  // fence acquires the clocks that relaxed loads have seen.
  Publication fenced;
  std::vector<Publication> seen;
  Arrival arrival = Arrival::None;
  SharedClock clusterClock; ///< valid once the arrival is complete
  // The thread's input to the operation of its warp, and the result.
  int64_t lane[3];
  const uint32_t *fragments[2];
  const float *addend;
  float *product;
  // Copies in progress: in committed groups, and in the next group.
  std::deque<std::vector<Copy>> copyGroups;
  std::vector<Copy> copies;
  // Polling: the number of loads since change number `polledAt`, and the number
  // of returns to one of these loads. See Grid::poll().
  uint64_t polledAt = 0, spinsAt = 0;
  uint64_t polls = 0;
  const void *polled = nullptr;
  const char *polledWhere = nullptr;
  int returns = 0;
  bool readsTimer = false;
};

struct Warp {
  int64_t size = 0, waiting = 0;
};

struct Block {
  int64_t number;
  Cluster *cluster;
  Thread *threads; ///< the first of `numThreads`
  int64_t numThreads;
  std::vector<Warp> warps;
  std::unique_ptr<Region> shared;
  BlockClock clock;
  int64_t waiting = 0; ///< number of threads that wait at the barrier
  int64_t live;
  // The current phase of the cluster barrier.
  bool arrived = false;
  uint32_t arrivalTime = 0; ///< time of accesses before the first arrival
};

struct Cluster {
  std::vector<Block *> blocks;
  int64_t arrived = 0, live = 0;
  Clock sum; ///< clocks of the threads that have arrived
};

/// Runs one launch: schedules threads and handles their calls.
class Grid {
public:
  Grid(GlobalMemory &memory, EmulatorCounters &counters,
       const EmulatedLaunch &launch,
       std::vector<std::unique_ptr<FiberStack>> &stacks, char *shared,
       size_t sharedStride, size_t clockBlocks, uint32_t startTime);

  /// Runs all threads of the launch. Throws an Error if a check fails.
  void run();
  /// Returns the latest time of all blocks.
  uint32_t endTime() const;

  // Functions that the kernel calls.
  void access(Thread &thread, uintptr_t address, int64_t bytes,
              int64_t alignment, int64_t space, Access access);
  int64_t atomicLoad(Thread &thread, const void *address, int64_t bytes,
                     int64_t order, int64_t scope, int64_t space,
                     const char *where);
  void atomicStore(Thread &thread, void *address, int64_t value, int64_t bytes,
                   int64_t order, int64_t scope, int64_t space,
                   const char *where);
  int64_t atomicUpdate(Thread &thread, int64_t update, void *address,
                       int64_t value, int64_t bytes, int64_t scope,
                       int64_t space, const char *where);
  int64_t compareExchange(Thread &thread, void *address, int64_t expected,
                          int64_t desired, int64_t bytes, int64_t success,
                          int64_t failure, int64_t scope, int64_t space,
                          const char *where);
  void fence(Thread &thread, int64_t order, int64_t scope, const char *where);
  void barrier(Thread &thread, const char *where);
  void clusterArrive(Thread &thread, const char *where);
  void clusterWait(Thread &thread, const char *where);
  void *mapShared(Thread &thread, void *address, int64_t rank,
                  const char *where);
  int64_t shuffle(Thread &thread, int64_t mode, int64_t value, int64_t offset,
                  int64_t width, const char *where);
  void multiply(Thread &thread, int64_t elementBits, int64_t k,
                const uint32_t *a, const uint32_t *b, const float *c, float *d,
                const char *where);
  void copyAsync(Thread &thread, void *to, const void *from, int64_t bytes,
                 const char *where);
  void commitCopies(Thread &thread, const char *where);
  void waitCopies(Thread &thread, int64_t groups, const char *where);
  int64_t timer(Thread &thread, const char *where);
  void exit(Thread &thread, const char *where);

private:
  // Scheduling.
  void resume(size_t position);
  void ended(Thread &thread);
  /// Suspends the thread until the scheduler picks it again.
  void yield(Thread &thread) { thread.fiber.suspend(); }
  /// Suspends the thread until another thread makes it ready.
  void wait(Thread &thread, ThreadState state, const char *where);
  void makeReady(Thread &thread);
  uint64_t random(uint64_t bound);
  void drawQuantum();
  /// Called after a change that a thread may be waiting for.
  void progress() { ++changes, spinning = 0, changedAt = clock; }
  /// Called when the thread has loaded a value or the time and changed nothing.
  void poll(Thread &thread, const void *address, const char *where);
  void stopPolling(Thread &thread);
  /// Called when all runnable threads poll: advances the clock if some of them
  /// read it, and reports a deadlock otherwise.
  void passTime();

  // Memory.
  Region &locate(Thread &thread, uintptr_t address, int64_t bytes,
                 int64_t space, const Access &access);
  void note(Thread &thread, uintptr_t address, int64_t bytes, int64_t alignment,
            int64_t space, const Access &access);
  void count(const Thread &thread, uintptr_t address, int64_t bytes,
             const Region &region, const Access &access);
  uint64_t beginAtomic(Thread &thread, const void *address, int64_t bytes,
                       int64_t space, const Access &access);
  void acquire(Thread &thread, const void *address, int64_t order,
               int64_t scope);
  void publish(Thread &thread, const void *address, int64_t order,
               int64_t scope, bool continues);

  // Barriers and warp operations.
  void checkConverged(Thread *lanes, int64_t size);
  void endClusterPhase(Cluster &cluster);
  /// Waits for all lanes of the warp; the last lane performs `operation` for
  /// all.
  template <class Operation>
  void runWarp(Thread &thread, const char *where, Operation operation);

  // Messages.
  /// Ends the launch because of an error of `thread`.
  [[noreturn]] void fail(Thread &thread, const char *where, std::string text);
  std::string describe(const Thread &thread) const;
  std::string describeThreads() const;
  std::string describeBlock(const Block &block) const;

  GlobalMemory &memory;
  EmulatorCounters &counters;
  const EmulatedLaunch &launch;
  char *shared;
  size_t sharedStride;

  // Threads, blocks and clusters point to one another, so these vectors must
  // not grow.
  std::vector<Thread> threads;
  std::vector<Block> blocks;
  std::vector<Cluster> clusters;
  std::vector<Thread *> ready;
  Thread *running = nullptr;
  std::unordered_map<const void *, Publication> published;
  Random generator;
  int64_t quantum = 0; ///< plain accesses until the next switch
  int64_t switches = 0;
  uint64_t clock = 0;   ///< virtual nanoseconds
  uint64_t changes = 1; ///< counts calls of progress()
  uint64_t changedAt = 0;
  size_t spinning = 0; ///< number of threads found polling since the last
                       ///< change
  std::optional<std::string> failure;
};

/// The functions that kernels call.
extern const BatchEmulatorFunctions functions;

} // namespace batchrt::emulator

#endif // BATCH_RUNTIME_EMULATOR_GRID_H
