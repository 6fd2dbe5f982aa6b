//===- Grid.cpp - Scheduling of emulated threads --------------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Grid.h"

#include <algorithm>

using namespace batchrt;
using namespace batchrt::emulator;

/// The virtual time that a switch takes.
static constexpr uint64_t switchTime = 10;
/// A kernel counts as deadlocked after this virtual time without a change, if
/// all runnable threads poll and some of them read the clock.
static constexpr uint64_t longTime = uint64_t(3600) * 1'000'000'000;
/// A thread counts as polling after this many returns to the same atomic load.
/// Barriers of all blocks read the clock in every 16th iteration, so they read
/// it before their threads count as polling.
static constexpr int returnsOfPoll = 16;

Grid::Grid(GlobalMemory &memory, EmulatorCounters &counters,
           const EmulatedLaunch &launch,
           std::vector<std::unique_ptr<FiberStack>> &stacks, char *shared,
           size_t sharedStride, size_t clockBlocks, uint32_t startTime)
    : memory(memory), counters(counters), launch(launch), shared(shared),
      sharedStride(sharedStride), blocks(launch.blocks),
      clusters(launch.blocks / launch.clusterBlocks),
      generator(launch.seed * 0xd1342543de82ef95 + 1) {
  threads.reserve(launch.blocks * launch.threads);
  ready.reserve(launch.blocks * launch.threads);
  Clock start(clockBlocks, startTime);
  for (Cluster &cluster : clusters) {
    cluster.sum = start;
    cluster.live = launch.clusterBlocks * launch.threads;
  }
  for (int64_t b = 0; b < launch.blocks; ++b) {
    Block &block = blocks[b];
    block.number = b;
    block.cluster = &clusters[b / launch.clusterBlocks];
    block.cluster->blocks.push_back(&block);
    block.numThreads = block.live = launch.threads;
    block.threads = threads.data() + threads.size();
    block.clock = {start, startTime + 1};
    block.warps.resize((launch.threads + warpSize - 1) / warpSize);
    if (launch.sharedBytes)
      block.shared = std::make_unique<Region>(
          reinterpret_cast<uintptr_t>(shared + b * sharedStride),
          launch.sharedBytes, "shared memory of block " + std::to_string(b),
          RegionUse::ReadWrite);
    for (int64_t t = 0; t < launch.threads; ++t) {
      ++block.warps[t / warpSize].size;
      Thread &thread = threads.emplace_back(*stacks[threads.size()]);
      thread.grid = this;
      thread.inBlock = &block;
      thread.functions = &emulator::functions;
      thread.BatchEmulatorThread::shared = shared + b * sharedStride;
      thread.thread = t;
      thread.threads = launch.threads;
      thread.block = b;
      thread.blocks = launch.blocks;
      thread.cluster = b / launch.clusterBlocks;
      thread.clusters = launch.blocks / launch.clusterBlocks;
      thread.clusterBlock = b % launch.clusterBlocks;
      thread.clusterBlocks = launch.clusterBlocks;
      thread.clock.start(ThreadId(b, t), block.clock);
      ready.push_back(&thread);
    }
  }
  drawQuantum();
}

//===----------------------------------------------------------------------===//
// The scheduler
//===----------------------------------------------------------------------===//

uint64_t Grid::random(uint64_t bound) {
  return static_cast<uint64_t>(
      (static_cast<unsigned __int128>(generator.next()) * bound) >> 64);
}

void Grid::drawQuantum() {
  quantum = launch.accessPeriod
                ? 1 + static_cast<int64_t>(random(2 * launch.accessPeriod - 1))
                : INT64_MAX;
}

void Grid::run() {
  ++counters.launches;
  while (!ready.empty()) {
    if (spinning == ready.size())
      passTime();
    if (!failure && switches++ == launch.maxSwitches)
      failure = concat("it has not finished after ", launch.maxSwitches,
                       " switches between threads; ", describeThreads());
    if (!failure)
      resume(random(ready.size()));
    if (failure)
      raise("kernel '", launch.kernel, "': ", *failure);
    clock += switchTime;
  }
  counters.switches += switches;
  for (const Thread &thread : threads)
    if (thread.state != ThreadState::Ended)
      raise("kernel '", launch.kernel, "': deadlock: ", describeThreads());
}

void Grid::resume(size_t position) {
  Thread &thread = *ready[position];
  running = &thread;
  bool returned;
  if (thread.started) {
    returned = thread.fiber.resume();
  } else {
    thread.started = true;
    returned = thread.fiber.run(
        [](void *argument) {
          Thread &thread = *static_cast<Thread *>(argument);
          const EmulatedLaunch &launch = thread.grid->launch;
          launch.entry(&thread, launch.arguments);
        },
        &thread);
  }
  if (returned)
    ended(thread);
  if (thread.state != ThreadState::Ready) {
    // Threads that became ready in the meantime were appended, so `position` is
    // still correct.
    ready[position] = ready.back();
    ready.pop_back();
  }
}

void Grid::ended(Thread &thread) {
  progress();
  thread.state = ThreadState::Ended;
  --thread.inBlock->live;
  Cluster &cluster = *thread.inBlock->cluster;
  if (thread.arrival == Arrival::Arrived)
    --cluster.arrived;
  if (--cluster.live && cluster.arrived == cluster.live)
    endClusterPhase(cluster);
}

void Grid::wait(Thread &thread, ThreadState state, const char *where) {
  thread.state = state;
  thread.where = where;
  thread.fiber.suspend();
}

void Grid::makeReady(Thread &thread) {
  thread.state = ThreadState::Ready;
  ready.push_back(&thread);
}

uint32_t Grid::endTime() const {
  uint32_t time = 0;
  for (const Block &block : blocks)
    time = std::max(time, block.clock.time);
  return time;
}

//===----------------------------------------------------------------------===//
// Polling
//===----------------------------------------------------------------------===//

// A thread polls if it has returned to an atomic load several times while
// nothing changed: no memory was written, and no thread has reached a barrier
// or a warp operation, or exited. Once all runnable threads poll, only the
// clock can change any more. The
// load whose returns are counted is chosen anew after 1, 2, 4, ... loads, so it
// is eventually a load in the polling loop (Brent's cycle detection).

void Grid::poll(Thread &thread, const void *address, const char *where) {
  if (thread.polledAt != changes) {
    thread.polledAt = changes;
    thread.polls = 0;
    thread.readsTimer = false;
  }
  ++thread.polls;
  if ((thread.polls & (thread.polls - 1)) == 0) {
    thread.polled = address;
    thread.polledWhere = where;
    thread.returns = 0;
  } else if (thread.polled == address && thread.polledWhere == where &&
             ++thread.returns == returnsOfPoll && thread.spinsAt != changes) {
    thread.spinsAt = changes;
    ++spinning;
  }
}

void Grid::stopPolling(Thread &thread) {
  thread.polledAt = 0;
  if (thread.spinsAt == changes) {
    thread.spinsAt = 0;
    --spinning;
  }
}

void Grid::passTime() {
  bool timed = std::any_of(ready.begin(), ready.end(),
                           [](Thread *thread) { return thread->readsTimer; });
  if (!timed || clock - changedAt > longTime) {
    failure = "deadlock: " + describeThreads();
    return;
  }
  // Each call doubles the time since the last change, until a time limit in the
  // kernel itself is reached.
  clock += std::max<uint64_t>(1000, clock - changedAt);
  ++changes;
  spinning = 0;
}

int64_t Grid::timer(Thread &thread, const char *where) {
  thread.where = where;
  yield(thread);
  poll(thread, nullptr, where);
  thread.readsTimer = true;
  return static_cast<int64_t>(clock);
}

void Grid::exit(Thread &thread, const char *where) {
  thread.where = where;
  ended(thread);
  thread.fiber.leave();
}

//===----------------------------------------------------------------------===//
// Messages
//===----------------------------------------------------------------------===//

void Grid::fail(Thread &thread, const char *where, std::string text) {
  failure = concat("block ", thread.block, ", thread ", thread.thread, ", at ",
                   where, ": ", text);
  // Free `text` now: this frame is abandoned, so its destructor never runs.
  std::string().swap(text);
  running->fiber.leave();
}

std::string Grid::describe(const Thread &thread) const {
  switch (thread.state) {
  case ThreadState::Ended:
    return "ended";
  case ThreadState::AtBarrier:
    return concat("at the block barrier, ", thread.where);
  case ThreadState::AtClusterBarrier:
    return concat("at the cluster barrier, ", thread.where);
  case ThreadState::AtWarpOperation:
    return concat("waiting for the other lanes, ", thread.where);
  case ThreadState::Ready:
    break;
  }
  if (thread.spinsAt == changes)
    return concat("spinning on an atomic load, ", thread.where);
  return concat("running, last seen at ", thread.where);
}

std::string Grid::describeBlock(const Block &block) const {
  std::string text;
  for (int64_t begin = 0, end; begin < block.numThreads; begin = end) {
    std::string what = describe(block.threads[begin]);
    end = begin + 1;
    while (end < block.numThreads && describe(block.threads[end]) == what)
      ++end;
    text += text.empty() ? "" : "; ";
    text += end == begin + 1 ? concat("thread ", begin)
                             : concat("threads ", begin, "-", end - 1);
    text += ": " + what;
  }
  return text;
}

std::string Grid::describeThreads() const {
  std::string text;
  int lines = 0;
  for (size_t begin = 0, end; begin < blocks.size(); begin = end) {
    std::string what = describeBlock(blocks[begin]);
    end = begin + 1;
    while (end < blocks.size() && describeBlock(blocks[end]) == what)
      ++end;
    if (++lines > 16)
      return text + "\n  and more";
    text += end == begin + 1 ? concat("\n  block ", begin)
                             : concat("\n  blocks ", begin, "-", end - 1);
    text += ": " + what;
  }
  return text;
}

//===----------------------------------------------------------------------===//
// The functions that kernels call
//===----------------------------------------------------------------------===//

namespace {
Thread &of(BatchEmulatorThread *thread) {
  return *static_cast<Thread *>(thread);
}

template <auto Function>
struct Forward;
template <class Result, class... Arguments,
          Result (Grid::*Function)(Thread &, Arguments...)>
struct Forward<Function> {
  static Result call(BatchEmulatorThread *thread, Arguments... arguments) {
    Thread &self = of(thread);
    return (self.grid->*Function)(self, arguments...);
  }
};

template <bool Writes>
void plain(BatchEmulatorThread *thread, const void *address, int64_t bytes,
           int64_t alignment, int64_t space, const char *where) {
  of(thread).grid->access(of(thread), reinterpret_cast<uintptr_t>(address),
                          bytes, alignment, space,
                          {!Writes, Writes, false, where});
}

template <bool Writes>
void masked(BatchEmulatorThread *thread, const void *address,
            int64_t elementBytes, int64_t mask, int64_t alignment,
            int64_t space, const char *where) {
  auto base = reinterpret_cast<uintptr_t>(address);
  auto bits = static_cast<uint64_t>(mask);
  for (; bits; bits &= bits - 1)
    of(thread).grid->access(of(thread),
                            base + __builtin_ctzll(bits) * elementBytes,
                            elementBytes, std::min(alignment, elementBytes),
                            space, {!Writes, Writes, false, where});
}

void write(BatchEmulatorThread *thread, void *address, int64_t bytes,
           int64_t alignment, int64_t space, const char *where) {
  plain<true>(thread, address, bytes, alignment, space, where);
}

void writeMasked(BatchEmulatorThread *thread, void *address,
                 int64_t elementBytes, int64_t mask, int64_t alignment,
                 int64_t space, const char *where) {
  masked<true>(thread, address, elementBytes, mask, alignment, space, where);
}
} // namespace

static constexpr BatchEmulatorFunctions listFunctions() {
  BatchEmulatorFunctions list = {};
  list.read = plain<false>;
  list.write = write;
  list.readMasked = masked<false>;
  list.writeMasked = writeMasked;
  list.atomicLoad = Forward<&Grid::atomicLoad>::call;
  list.atomicStore = Forward<&Grid::atomicStore>::call;
  list.atomicUpdate = Forward<&Grid::atomicUpdate>::call;
  list.compareExchange = Forward<&Grid::compareExchange>::call;
  list.fence = Forward<&Grid::fence>::call;
  list.barrier = Forward<&Grid::barrier>::call;
  list.clusterArrive = Forward<&Grid::clusterArrive>::call;
  list.clusterWait = Forward<&Grid::clusterWait>::call;
  list.mapShared = Forward<&Grid::mapShared>::call;
  list.shuffle = Forward<&Grid::shuffle>::call;
  list.multiply = Forward<&Grid::multiply>::call;
  list.copyAsync = Forward<&Grid::copyAsync>::call;
  list.commitCopies = Forward<&Grid::commitCopies>::call;
  list.waitCopies = Forward<&Grid::waitCopies>::call;
  list.timer = Forward<&Grid::timer>::call;
  list.exit = Forward<&Grid::exit>::call;
  return list;
}

const BatchEmulatorFunctions emulator::functions = listFunctions();
