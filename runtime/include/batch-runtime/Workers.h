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

/// A word that threads wait on until it changes. A waiting thread spins for a
/// while and then sleeps.
class WaitWord {
public:
  uint32_t load() const { return word.load(std::memory_order_acquire); }
  /// Returns once the word is no longer `old`.
  void waitWhile(uint32_t old, int spins);
  /// Changes the word and wakes sleeping threads.
  void advance();
  /// Restores the initial value of the word. No thread may be waiting.
  void reset();

private:
  alignas(64) std::atomic<uint32_t> word{0};
  std::atomic<uint32_t> asleep{0};
};

/// A fixed number of workers; the calling thread is worker 0. The other workers
/// sleep between runs. After a fork, the child process starts them again,
/// unless the fork was during a run.
class WorkerPool {
public:
  explicit WorkerPool(int workers);
  ~WorkerPool();
  WorkerPool(const WorkerPool &) = delete;
  WorkerPool &operator=(const WorkerPool &) = delete;

  int size() const { return count; }
  /// Allows workers to leave the jobs of later runs early once
  /// `newCancellation` is requested. A worker must leave if barrier() returns
  /// false, and may also leave earlier. If `newCancellation` is null, no worker
  /// leaves.
  void allowLeaving(const Cancellation *newCancellation) {
    cancellation = newCancellation;
  }
  /// Notes that a worker is about to end its job early.
  void markLeaving() { hasLeft.store(true, std::memory_order_relaxed); }
  /// Returns true if a worker has left the last job early.
  bool wasLeft() const { return hasLeft.load(std::memory_order_relaxed); }
  /// Calls `job(argument, worker)` once on every worker and waits for all. A
  /// job that is not shared runs on worker 0 only, without waits at barriers.
  void run(void (*job)(void *, int), void *argument, bool shared = true);
  /// Like run(). Returns the mean time in microseconds that a worker spent in
  /// the job, excluding waits at barriers. The mean is over the workers that
  /// run the job.
  double runTimed(void (*job)(void *, int), void *argument, bool shared = true);
  /// Calls `body(part)` for the parts 0 ... parts-1 and waits for all. Worker w
  /// runs parts w, w + size(), and so on. If several parts throw, the exception
  /// of the lowest-numbered one is rethrown. A single part runs on the calling
  /// thread.
  template <class Body>
  void forEachPart(int64_t parts, const Body &body);
  /// Waits at a barrier of all workers; writes before it are visible to all
  /// after it. May be called only in a job. All workers must call this the same
  /// number of times, unless one leaves. Returns false if all workers have to
  /// leave.
  bool barrier(int worker) {
    if (isSerial)
      return !mayLeave();
    if (worker == 0)
      ++barrierCount;
    if (count == 1)
      return !mayLeave();
    return timed ? waitTimed(worker) : waitForAll(continues);
  }
  /// Returns the number of barriers of shared jobs since the pool was created.
  int64_t barriers() const { return barrierCount; }

private:
  /// Values that a worker adds to `arrived` when it waits for all workers: 1
  /// for its arrival, plus 1 in the high half at the end of its job.
  static constexpr int continues = 1, ends = 1 + (1 << 16);
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
  // The barrier. Arrivals and generation are on separate cache lines so that
  // arrivals do not disturb waiting threads. The generation is not reset
  // between runs.
  alignas(64) std::atomic<int> arrived{0};
  WaitWord generation;
  WaitWord start;
  /// State of the last barrier: true if all workers have ended the job, and
  /// true if all have to leave. The last worker to arrive writes both.
  bool allEnd = false, allLeave = false;
  alignas(64) int64_t barrierCount = 0;
  void (*job)(void *, int) = nullptr;
  void *argument = nullptr;
  bool stop = false;
  bool timed = false;
  bool isSerial = false; ///< true if only worker 0 runs the job
  const Cancellation *cancellation = nullptr;
  std::atomic<bool> hasLeft{false};
  /// Time in microseconds that one worker has spent in a job, excluding waits.
  /// Each time is on a separate cache line.
  struct alignas(64) WorkTime {
    double busy = 0;
  };
  std::vector<WorkTime> times;
  /// Core of each worker except worker 0; empty if there are too few cores.
  std::vector<int> workerCores;
  std::vector<std::thread> threads;
  unsigned forksBefore; ///< number of forks of the process before the threads
                        ///< started
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
