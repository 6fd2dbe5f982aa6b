//===- Workers.h - Worker threads that run the executor ---------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_RUNTIME_WORKERS_H
#define BATCH_RUNTIME_WORKERS_H

#include "batch-runtime/Cancellation.h"

#include <atomic>
#include <cstdint>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace batchrt {

/// A word that threads wait for: they spin for a while, then sleep until it
/// changes.
class WaitWord {
public:
  uint32_t load() const { return word.load(std::memory_order_acquire); }
  /// Returns once the word is no longer `old`.
  void waitWhile(uint32_t old, int spins);
  /// Changes the word and wakes sleeping threads.
  void advance();
  /// Nobody waits, and the word is as at first.
  void reset();

private:
  alignas(64) std::atomic<uint32_t> word{0};
  std::atomic<uint32_t> asleep{0};
};

/// A fixed number of workers, the calling thread being worker 0. Between runs
/// the others sleep. In a process that has been forked since they were started
/// they are started again, unless that was during a run.
class WorkerPool {
public:
  explicit WorkerPool(int workers);
  ~WorkerPool();
  WorkerPool(const WorkerPool &) = delete;
  WorkerPool &operator=(const WorkerPool &) = delete;

  int size() const { return count; }
  /// Workers may leave the jobs of the next runs early: one that barrier()
  /// tells so must, others may, once `newCancellation` is requested. Null: none
  /// does.
  void allowLeaving(const Cancellation *newCancellation) {
    cancellation = newCancellation;
  }
  /// A worker is about to end its job early.
  void noteLeaving() { hasLeft.store(true, std::memory_order_relaxed); }
  /// True if a worker has left the last job early.
  bool wasLeft() const { return hasLeft.load(std::memory_order_relaxed); }
  /// Calls `job(argument, worker)` once on every worker and waits for all; if
  /// it is not shared, on worker 0 alone, for which barriers do nothing.
  void run(void (*job)(void *, int), void *argument, bool shared = true);
  /// The same; returns the microseconds that a worker spent in the job without
  /// waiting at barriers, the mean over the workers that run it.
  double runTimed(void (*job)(void *, int), void *argument, bool shared = true);
  /// Calls `body(part)` for the parts 0 ... parts-1 and waits for all: worker w
  /// takes w, w + size(), .... If parts throw, the first part's exception is
  /// rethrown. A single part runs on the calling thread.
  template <class Body>
  void forEachPart(int64_t parts, const Body &body);
  /// A barrier of all workers; writes before it are visible to all after it.
  /// Only within a job, and every worker must call it equally often, unless one
  /// leaves. False if all have to leave.
  bool barrier(int worker) {
    if (alone)
      return !mayLeave();
    if (worker == 0)
      ++barrierCount;
    if (count == 1)
      return !mayLeave();
    return timed ? waitTimed(worker) : waitForAll(goesOn);
  }
  /// Barriers since the pool was made.
  int64_t barriers() const { return barrierCount; }

private:
  /// What a worker says where it waits for all, added to what others say: that
  /// it has come, and in the high half, that it has come to the end of its job.
  static constexpr int goesOn = 1, ends = 1 + (1 << 16);
  static constexpr int mostWorkers = 1 << 14;

  void startThreads();
  void restartThreads();
  bool mayLeave() const { return cancellation && cancellation->isRequested(); }
  void loop(int worker);
  void work(int worker);
  bool waitForAll(int arrival);
  bool waitTimed(int worker);
  void waitForEnd();

  const int count;
  int spins;
  // The barrier: arrivals and generation on cache lines of their own, so that
  // arriving does not disturb waiting threads. The generation never resets.
  alignas(64) std::atomic<int> arrived{0};
  WaitWord generation;
  WaitWord start;
  /// Of the last barrier: whether all have come to their end, and whether all
  /// have to leave. Written by the last to arrive.
  bool allEnd = false, allLeave = false;
  alignas(64) int64_t barrierCount = 0;
  void (*job)(void *, int) = nullptr;
  void *argument = nullptr;
  bool stop = false;
  bool timed = false;
  bool alone = false; ///< worker 0 is
  const Cancellation *cancellation = nullptr;
  std::atomic<bool> hasLeft{false};
  /// Microseconds of one worker, without waits, on a cache line of its own.
  struct alignas(64) WorkTime {
    double busy = 0;
  };
  std::vector<WorkTime> times;
  /// Core of each worker but worker 0; empty if there are too few cores.
  std::vector<int> workerCores;
  std::vector<std::thread> threads;
  unsigned forksBefore; ///< of the process, when the threads were started
};

template <class Body>
void WorkerPool::forEachPart(int64_t parts, const Body &body) {
  if (parts == 1)
    return body(0);
  struct Parts {
    const Body &body;
    int64_t count, workers;
    std::mutex lock;
    int64_t failed;
    std::exception_ptr error;

    static void run(void *argument, int worker) {
      Parts &parts = *static_cast<Parts *>(argument);
      for (int64_t part = worker; part < parts.count; part += parts.workers)
        parts.runPart(part);
    }
    void runPart(int64_t part) {
      try {
        body(part);
      } catch (...) {
        std::lock_guard<std::mutex> guard(lock);
        if (part < failed) {
          failed = part;
          error = std::current_exception();
        }
      }
    }
  };
  Parts job{body, parts, count, {}, parts, nullptr};
  run(Parts::run, &job);
  if (job.error)
    std::rethrow_exception(job.error);
}

} // namespace batchrt

#endif // BATCH_RUNTIME_WORKERS_H
