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

void WaitWord::waitWhile(uint32_t old, int spins) {
  for (int i = 0; i < spins; ++i) {
    if (word.load(std::memory_order_acquire) != old)
      return;
    // Yield at times, because the awaited thread may need this core to run.
    if (i % 64 == 63)
      std::this_thread::yield();
    else
      relax();
  }
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
// milliseconds to separate two threads that wait for each other. If there are
// enough cores, each worker therefore has its own core. The caller of run()
// moves to another core if it is on one of these cores.

#ifdef __linux__
/// Returns a core for each worker except worker 0. None of them is this
/// thread's core. Returns no cores if there are too few.
static std::vector<int> chooseCores(int count) {
  std::vector<int> cores;
  cpu_set_t allowed;
  if (::sched_getaffinity(0, sizeof(allowed), &allowed) != 0 ||
      CPU_COUNT(&allowed) < count)
    return cores;
  int own = ::sched_getcpu();
  for (int core = 0; core < CPU_SETSIZE; ++core)
    if (core != own && CPU_ISSET(core, &allowed) &&
        static_cast<int>(cores.size()) < count - 1)
      cores.push_back(core);
  return cores;
}

static void pinTo(int core) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(core, &set);
  ::sched_setaffinity(0, sizeof(set), &set);
}

static void stepAside(const std::vector<int> &taken) {
  int own = ::sched_getcpu();
  if (std::find(taken.begin(), taken.end(), own) == taken.end())
    return;
  cpu_set_t allowed;
  if (::sched_getaffinity(0, sizeof(allowed), &allowed) != 0)
    return;
  cpu_set_t free = allowed;
  for (int core : taken)
    CPU_CLR(core, &free);
  if (CPU_COUNT(&free) == 0)
    return;
  ::sched_setaffinity(0, sizeof(free), &free);
  ::sched_setaffinity(0, sizeof(allowed), &allowed);
}
#else
static std::vector<int> chooseCores(int) { return {}; }
static void pinTo(int) {}
static void stepAside(const std::vector<int> &) {}
#endif

/// Number of forks that led to this process.
static std::atomic<unsigned> forks{0};

static unsigned countForks() {
  static const int registered = ::pthread_atfork(
      nullptr, nullptr, [] { forks.fetch_add(1, std::memory_order_relaxed); });
  (void)registered;
  return forks.load(std::memory_order_relaxed);
}

WorkerPool::WorkerPool(int workers)
    : count(std::max(workers, 1)), forksBefore(countForks()) {
  if (count > mostWorkers)
    raise("at most ", mostWorkers, " threads are supported (--threads)");
  // With more workers than cores, spinning only prevents other workers from
  // running.
  int cores = static_cast<int>(std::thread::hardware_concurrency());
  spins = count <= std::max(cores, 1) ? 4000 : 50;
  startThreads();
}

void WorkerPool::startThreads() {
  try {
    workerCores = chooseCores(count);
    for (int worker = 1; worker < count; ++worker) {
      int core = workerCores.empty() ? -1 : workerCores[worker - 1];
      threads.emplace_back([this, worker, core] {
        if (core >= 0)
          pinTo(core);
        loop(worker);
      });
    }
  } catch (const std::system_error &error) {
    int started = static_cast<int>(threads.size()) + 1;
    stop = true;
    start.advance();
    for (std::thread &thread : threads)
      thread.join();
    threads.clear();
    raise("cannot start ", count, " threads (", error.what(),
          ", after starting ", started, "); use fewer threads (--threads)");
  }
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
  start.reset();
  startThreads();
  forksBefore = countForks();
}

WorkerPool::~WorkerPool() {
  if (forksBefore != countForks())
    abandon(threads);
  stop = true;
  start.advance();
  for (std::thread &thread : threads)
    thread.join();
}

void WorkerPool::run(void (*newJob)(void *, int), void *newArgument,
                     bool shared) {
  job = newJob;
  argument = newArgument;
  isSerial = !shared;
  hasLeft.store(false, std::memory_order_relaxed);
  if (count == 1 || isSerial)
    return work(0);
  if (forksBefore != countForks())
    restartThreads();
  stepAside(workerCores);
  start.advance();
  work(0);
  waitForEnd();
}

double WorkerPool::runTimed(void (*newJob)(void *, int), void *newArgument,
                            bool shared) {
  times.assign(count, {});
  timed = true;
  run(newJob, newArgument, shared);
  timed = false;
  double sum = 0;
  for (const WorkTime &time : times)
    sum += time.busy;
  return shared ? sum / count : sum;
}

using Clock = std::chrono::steady_clock;

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
  times[worker].busy += microsecondsSince(begin);
}

bool WorkerPool::waitTimed(int worker) {
  Clock::time_point begin = Clock::now();
  const bool mayContinue = waitForAll(continues);
  times[worker].busy -= microsecondsSince(begin);
  return mayContinue;
}

void WorkerPool::loop(int worker) {
  for (uint32_t seen = 0;; ++seen) {
    start.waitWhile(seen, spins);
    if (stop)
      return;
    work(worker);
    waitForEnd();
  }
}

/// Waits until all workers have finished. A worker that leaves its job early
/// finishes while other workers may still reach a barrier. It must wait at that
/// barrier with the others, and then all of them must leave their jobs.
void WorkerPool::waitForEnd() {
  do
    waitForAll(ends);
  while (!allEnd);
}

/// Waits for all workers. Returns false if all must leave their jobs.
bool WorkerPool::waitForAll(int arrival) {
  uint32_t now = generation.load();
  const int all =
      arrived.fetch_add(arrival, std::memory_order_acq_rel) + arrival;
  if (all % (1 << 16) == count) {
    arrived.store(0, std::memory_order_relaxed);
    const int ended = all >> 16;
    allEnd = ended == count;
    allLeave = ended > 0 || mayLeave();
    generation.advance();
  } else {
    generation.waitWhile(now, spins);
  }
  return !allLeave;
}
