//===- Workers.cpp - Worker threads that run the executor -----------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "batch-runtime/Workers.h"
#include "batch-runtime/Error.h"

#include <algorithm>
#include <chrono>
#include <pthread.h>
#include <system_error>

#ifdef __linux__
#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

using namespace batchrt;

using Clock = std::chrono::steady_clock;

static void relax() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

#ifdef __linux__
static void futex(std::atomic<uint32_t> &word, int operation, uint32_t value) {
  static_assert(sizeof(word) == 4, "a futex is 32 bits");
  ::syscall(SYS_futex, reinterpret_cast<uint32_t *>(&word), operation, value,
            nullptr, nullptr, 0);
}
#endif

std::chrono::nanoseconds
WaitWord::waitWhile(uint32_t old, std::chrono::nanoseconds spinning) {
  auto spinsUntilChange = [&](int times) {
    for (int i = 0; i < times; ++i) {
      if (word.load(std::memory_order_acquire) != old)
        return true;
      relax();
    }
    return false;
  };
  // Most waits at barriers are so short that they do not pay for a clock.
  if (spinsUntilChange(spinning.count() ? 64 : 1))
    return {};
  const Clock::time_point begin = Clock::now();
  // A thread that yields instead may lose its core for milliseconds to another
  // program. If it sleeps, it gets the core back when it wakes up.
  while (Clock::now() - begin < spinning)
    if (spinsUntilChange(16))
      return Clock::now() - begin;
  // Sequentially consistent with advance(): either advance() sees the sleeper,
  // or the sleeper sees the new word.
  asleep.fetch_add(1);
  while (word.load() == old) {
#ifdef __linux__
    futex(word, FUTEX_WAIT_PRIVATE, old);
#else
    std::this_thread::yield();
#endif
  }
  asleep.fetch_sub(1);
  return Clock::now() - begin;
}

void WaitWord::reset() {
  word.store(0);
  asleep.store(0);
}

void WaitWord::advance() {
  word.fetch_add(1);
#ifdef __linux__
  if (asleep.load() != 0)
    futex(word, FUTEX_WAKE_PRIVATE, INT32_MAX);
#endif
}

// The scheduler tends to wake a thread near the thread that wakes it, and takes
// milliseconds to separate two threads that wait for each other. Workers
// therefore separate themselves.

#ifdef __linux__
static int currentCore() { return ::sched_getcpu(); }

/// Returns the number of cores that this thread may use.
static int countCores() {
  cpu_set_t allowed;
  if (::sched_getaffinity(0, sizeof(allowed), &allowed) != 0)
    return std::max<int>(std::thread::hardware_concurrency(), 1);
  return CPU_COUNT(&allowed);
}

/// Moves this thread to a core that is not in `taken`. The thread may run on
/// the same cores as before, so that the scheduler can move it again. Does
/// nothing if all these cores are taken.
static void moveFrom(const std::vector<std::atomic<int>> &taken, int numTaken,
                     int worker) {
  cpu_set_t allowed;
  if (::sched_getaffinity(0, sizeof(allowed), &allowed) != 0)
    return;
  cpu_set_t free = allowed;
  for (int other = 0; other < numTaken; ++other) {
    const int core = taken[other].load(std::memory_order_relaxed);
    if (other != worker && core >= 0)
      CPU_CLR(core, &free);
  }
  if (CPU_COUNT(&free) == 0)
    return;
  ::sched_setaffinity(0, sizeof(free), &free);
  ::sched_setaffinity(0, sizeof(allowed), &allowed);
}
#else
static int currentCore() { return -1; }
static int countCores() {
  return std::max<int>(std::thread::hardware_concurrency(), 1);
}
static void moveFrom(const std::vector<std::atomic<int>> &, int, int) {}
#endif

void WorkerPool::moveToOwnCore(int worker) {
  int core = currentCore();
  const bool isShared =
      active <= numCores &&
      std::any_of(coreOf.begin(), coreOf.begin() + worker,
                  [&](const std::atomic<int> &other) {
                    return core >= 0 &&
                           other.load(std::memory_order_relaxed) == core;
                  });
  if (isShared) {
    moveFrom(coreOf, active, worker);
    core = currentCore();
  }
  // The cores rarely change, so the other workers keep the cache line.
  if (coreOf[worker].load(std::memory_order_relaxed) != core)
    coreOf[worker].store(core, std::memory_order_relaxed);
}

/// Number of forks that led to this process.
static std::atomic<unsigned> forks{0};

static unsigned countForks() {
  static const int registered = ::pthread_atfork(
      nullptr, nullptr, [] { forks.fetch_add(1, std::memory_order_relaxed); });
  (void)registered;
  return forks.load(std::memory_order_relaxed);
}

static int checkCount(int count, int most) {
  if (count > most)
    raise("at most ", most, " threads are supported (--threads)");
  return std::max(count, 1);
}

WorkerPool::WorkerPool(int numWorkers)
    : count(checkCount(numWorkers, limit)), active(0), numCores(countCores()),
      workers(count), coreOf(count), forksBefore(countForks()) {
  for (std::atomic<int> &core : coreOf)
    core = -1;
  resize(count);
  startThreads();
}

void WorkerPool::startThreads() {
  try {
    for (int worker = 1; worker < count; ++worker)
      threads.emplace_back([this, worker] { loop(worker); });
  } catch (const std::system_error &error) {
    int started = static_cast<int>(threads.size()) + 1;
    stopThreads();
    raise("cannot start ", count, " threads (", error.what(),
          ", after starting ", started, "); use fewer threads (--threads)");
  }
}

void WorkerPool::stopThreads() {
  stop = true;
  for (Worker &worker : workers)
    worker.start.advance();
  for (std::thread &thread : threads)
    thread.join();
  threads.clear();
}

void WorkerPool::resize(int size) {
  if (size == active)
    return;
  // A worker that is still leaving the last barrier reads its state, which a
  // job without this worker would change. In a forked process, there are no
  // such workers.
  if (forksBefore == countForks())
    for (Worker &worker : workers)
      for (uint32_t ended; (ended = worker.end.load()) != worker.numStarts;)
        worker.end.waitWhile(ended, spinning(atBarrier));
  active = std::clamp(size, 1, count);
  // With more workers than cores, a worker that spins prevents others from
  // running.
  spins.store(active <= numCores, std::memory_order_relaxed);
}

/// Abandons the threads of the process that this one was forked from. They do
/// not exist here and cannot be joined.
static void abandon(std::vector<std::thread> &threads) {
  static std::atomic<std::vector<std::thread> *> last;
  last = new std::vector<std::thread>(std::move(threads)); // leaked on purpose
  threads.clear();
}

void WorkerPool::restartThreads() {
  abandon(threads);
  stop = false;
  arrived = 0;
  generation.reset();
  for (Worker &worker : workers) {
    worker.start.reset();
    worker.end.reset();
    worker.numStarts = 0;
  }
  startThreads();
  forksBefore = countForks();
}

WorkerPool::~WorkerPool() {
  if (forksBefore != countForks())
    abandon(threads);
  stopThreads();
}

void WorkerPool::run(void (*newJob)(void *, int), void *newArgument,
                     bool shared) {
  job = newJob;
  argument = newArgument;
  isSerial = !shared;
  hasLeft.store(false, std::memory_order_relaxed);
  if (active == 1 || isSerial)
    return work(0);
  if (forksBefore != countForks())
    restartThreads();
  const Clock::time_point begin = Clock::now();
  moveToOwnCore(0);
  for (int worker = 1; worker < active; ++worker) {
    ++workers[worker].numStarts;
    workers[worker].start.advance();
  }
  work(0);
  waitForEnd(0);
  sharedTime.total += Clock::now() - begin;
}

double WorkerPool::runTimed(void (*newJob)(void *, int), void *newArgument,
                            bool shared) {
  for (Worker &worker : workers)
    worker.busy = 0;
  timed = true;
  run(newJob, newArgument, shared);
  timed = false;
  double sum = 0;
  for (const Worker &worker : workers)
    sum += worker.busy;
  return shared ? sum / active : sum;
}

static double microsecondsSince(Clock::time_point begin) {
  return std::chrono::duration<double, std::micro>(Clock::now() - begin)
      .count();
}

void WorkerPool::work(int worker) {
  if (!timed) {
    job(argument, worker);
    return;
  }
  Clock::time_point begin = Clock::now();
  job(argument, worker);
  workers[worker].busy += microsecondsSince(begin);
}

bool WorkerPool::waitTimed(int worker) {
  Clock::time_point begin = Clock::now();
  const bool mayContinue = waitForAll(worker, continues);
  workers[worker].busy -= microsecondsSince(begin);
  return mayContinue;
}

void WorkerPool::loop(int worker) {
  for (uint32_t seen = 0;; ++seen) {
    workers[worker].start.waitWhile(seen, spinning(betweenJobs));
    if (stop)
      return;
    moveToOwnCore(worker);
    work(worker);
    waitForEnd(worker);
    workers[worker].end.advance();
  }
}

/// Waits until all workers have finished. A worker that leaves its job early
/// finishes while other workers may still reach a barrier. It must wait at that
/// barrier with the others, and then all of them must leave their jobs.
void WorkerPool::waitForEnd(int worker) {
  do
    waitForAll(worker, ends);
  while (!allEnd);
}

/// Waits for all workers. Returns false if all must leave their jobs.
bool WorkerPool::waitForAll(int worker, int arrival) {
  uint32_t now = generation.load();
  const int all =
      arrived.fetch_add(arrival, std::memory_order_acq_rel) + arrival;
  if (all % (1 << 16) == active) {
    arrived.store(0, std::memory_order_relaxed);
    const int ended = all >> 16;
    allEnd = ended == active;
    allLeave = ended > 0 || mayLeave();
    generation.advance();
  } else {
    const std::chrono::nanoseconds time =
        generation.waitWhile(now, spinning(atBarrier));
    if (worker == 0)
      sharedTime.waited += time;
  }
  return !allLeave;
}
