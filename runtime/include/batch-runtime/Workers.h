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
#include <chrono>
#include <cstdint>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace batchrt {

/// A word that threads wait on until it changes. A waiting thread spins for
/// microseconds and then sleeps, so that the thread that it waits for can run
/// on its core.
class WaitWord {
public:
  uint32_t load() const { return word.load(std::memory_order_acquire); }
  /// Returns once the word is no longer `old`. Returns the time spent waiting,
  /// or 0 if it was less than about a microsecond. The thread sleeps after
  /// `spinning`.
  std::chrono::nanoseconds waitWhile(uint32_t old,
                                     std::chrono::nanoseconds spinning);
  /// Changes the word and wakes sleeping threads.
  void advance();
  /// Restores the initial value of the word. No thread may be waiting.
  void reset();

private:
  alignas(64) std::atomic<uint32_t> word{0};
  std::atomic<uint32_t> asleep{0};
};

/// Workers; the calling thread is worker 0. The other workers sleep between
/// runs. After a fork, the child process starts them again, unless the fork was
/// during a run.
///
/// Workers are not pinned to cores, because several processes would pin their
/// workers to the same cores. A worker that finds itself on the core of another
/// worker moves to a core without workers, and may move again later.
class WorkerPool {
public:
  explicit WorkerPool(int workers);
  ~WorkerPool();
  WorkerPool(const WorkerPool &) = delete;
  WorkerPool &operator=(const WorkerPool &) = delete;

  /// Returns the number of workers that run jobs.
  int size() const { return active; }
  /// Returns the number of workers that can run jobs.
  int mostWorkers() const { return count; }
  /// Returns the number of cores that the process could use when the pool was
  /// created.
  int cores() const { return numCores; }
  /// Makes the first `size` workers run later jobs. The other workers sleep.
  /// The number is at most that of the constructor.
  void resize(int size);
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
    if (active == 1)
      return !mayLeave();
    return timed ? waitTimed(worker) : waitForAll(worker, continues);
  }
  /// Returns the number of barriers of shared jobs since the pool was created.
  int64_t barriers() const { return barrierCount; }
  /// Time of shared jobs of several workers, and time that worker 0 waited for
  /// other workers in these jobs.
  struct SharedTime {
    std::chrono::nanoseconds total{0}, waited{0};
  };
  /// Returns the times since the last call.
  SharedTime takeSharedTime() { return std::exchange(sharedTime, {}); }

private:
  /// Values that a worker adds to `arrived` when it waits for all workers: 1
  /// for its arrival, plus 1 in the high half at the end of its job.
  static constexpr int continues = 1, ends = 1 + (1 << 16);
  static constexpr int limit = 1 << 14;

  void startThreads();
  void stopThreads();
  void restartThreads();
  bool mayLeave() const { return cancellation && cancellation->isRequested(); }
  void loop(int worker);
  void moveToOwnCore(int worker);
  void work(int worker);
  bool waitForAll(int worker, int arrival);
  bool waitTimed(int worker);
  void waitForEnd(int worker);
  /// Times for which workers spin before they sleep, if there are enough cores.
  /// At a barrier, this is a few times as long as it takes to wake a thread.
  /// Between jobs, it is longer, because calls may follow each other.
  static constexpr std::chrono::microseconds atBarrier{20}, betweenJobs{200};
  std::chrono::nanoseconds spinning(std::chrono::nanoseconds time) const {
    return spins.load(std::memory_order_relaxed)
               ? time
               : std::chrono::nanoseconds::zero();
  }

  /// State of a worker. No two states share a cache line.
  struct alignas(64) Worker {
    WaitWord start;         ///< counts the jobs that the worker has to run
    WaitWord end;           ///< counts the jobs that it has run
    uint32_t numStarts = 0; ///< value of `start`
    double busy = 0; ///< time in microseconds spent in a timed job, excluding
                     ///< waits
  };

  const int count; ///< number of workers, including those that sleep
  int active;      ///< number of workers that run jobs
  int numCores;
  std::atomic<bool> spins{false};
  std::vector<Worker> workers;
  /// Core of each worker when it began its last job, or -1.
  std::vector<std::atomic<int>> coreOf;
  // The barrier. Arrivals and generation are on separate cache lines so that
  // arrivals do not disturb waiting threads. The generation is not reset
  // between runs.
  alignas(64) std::atomic<int> arrived{0};
  WaitWord generation;
  /// State of the last barrier: true if all workers have ended the job, and
  /// true if all have to leave. The last worker to arrive writes both.
  bool allEnd = false, allLeave = false;
  alignas(64) int64_t barrierCount = 0;
  SharedTime sharedTime;
  void (*job)(void *, int) = nullptr;
  void *argument = nullptr;
  bool stop = false;
  bool timed = false;
  bool isSerial = false; ///< true if only worker 0 runs the job
  const Cancellation *cancellation = nullptr;
  std::atomic<bool> hasLeft{false};
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
  Parts job{body, parts, active, {}, parts, nullptr};
  run(Parts::run, &job);
  if (job.error)
    std::rethrow_exception(job.error);
}

} // namespace batchrt

#endif // BATCH_RUNTIME_WORKERS_H
