//===- WorkersTest.cpp - Waits, sizes and cores of workers ----------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "batch-runtime/Workers.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <ctime>
#include <linux/futex.h>
#include <random>
#include <sched.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace batchrt;
using namespace std::chrono_literals;

namespace {
/// Workers that pass two barriers in each round.
struct BarrierJob {
  WorkerPool *pool;
  std::vector<int64_t> values;
  int rounds;
  std::atomic<int> errors{0};

  static void run(void *argument, int worker) {
    auto &job = *static_cast<BarrierJob *>(argument);
    for (int round = 1; round <= job.rounds; ++round) {
      job.values[worker] = round;
      job.pool->barrier(worker);
      for (int64_t value : job.values)
        if (value != round)
          ++job.errors;
      job.pool->barrier(worker);
    }
  }
};

/// Workers wait for each other until one worker requests that all leave. They
/// leave at a barrier, or some of them leave between barriers.
struct LeavingJob {
  WorkerPool *pool;
  Cancellation *cancellation;
  int asker, round; ///< the worker and the round of the request
  bool atBarriersOnly;
  std::atomic<int> left{0};

  static void run(void *argument, int worker) {
    auto &job = *static_cast<LeavingJob *>(argument);
    for (int round = 0;; ++round) {
      if (worker == job.asker && round == job.round)
        job.cancellation->request();
      const bool asks = !job.atBarriersOnly && worker % 2 == 0 &&
                        job.cancellation->isRequested();
      if (!asks && job.pool->barrier(worker))
        continue;
      job.pool->markLeaving();
      ++job.left;
      return;
    }
  }
};
} // namespace

TEST(Workers, LeaveEarly) {
  for (int count : {1, 2, 3, 8}) {
    WorkerPool pool(count);
    for (int run = 0; run < 40; ++run) {
      Cancellation cancellation;
      pool.allowLeaving(&cancellation);
      LeavingJob job{&pool, &cancellation, run % count, run % 5, run % 3 == 0};
      pool.run(LeavingJob::run, &job);
      EXPECT_EQ(job.left, count);
      EXPECT_TRUE(pool.wasLeft());
      pool.allowLeaving(nullptr);
      BarrierJob whole{&pool, std::vector<int64_t>(count), 3};
      pool.run(BarrierJob::run, &whole);
      EXPECT_EQ(whole.errors, 0);
      EXPECT_FALSE(pool.wasLeft());
    }
  }
}

// A single worker also leaves at a barrier.
TEST(Workers, OneWorkerLeaves) {
  WorkerPool pool(3);
  Cancellation cancellation;
  pool.allowLeaving(&cancellation);
  LeavingJob job{&pool, &cancellation, 0, 2, true};
  pool.run(LeavingJob::run, &job, /*shared=*/false);
  EXPECT_EQ(job.left, 1);
}

// A forked process has the handles of the pool's threads, but not the threads.
TEST(Workers, StartAgainInForkedProcesses) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "ThreadSanitizer knows no threads of forked processes";
#endif
  for (int count : {1, 3}) {
    WorkerPool pool(count);
    auto runsWell = [&] {
      BarrierJob job{&pool, std::vector<int64_t>(count), 50};
      pool.run(BarrierJob::run, &job);
      return job.errors == 0;
    };
    EXPECT_TRUE(runsWell());
    const pid_t child = ::fork();
    if (child == 0) {
      ::alarm(60);
      const pid_t grandchild = runsWell() ? ::fork() : -1;
      if (grandchild == 0)
        ::_exit(runsWell() ? 0 : 1);
      int status = 1;
      ::waitpid(grandchild, &status, 0);
      ::_exit(status == 0 && runsWell() ? 0 : 1);
    }
    int status = 1;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
    EXPECT_TRUE(runsWell());
  }
}

//===----------------------------------------------------------------------===//
// Waits
//===----------------------------------------------------------------------===//

namespace {
/// A WaitWord with a planted error: advance() looks for sleepers before it
/// changes the word, so it does not wake a thread that falls asleep in between.
class ForgetfulWord {
public:
  void waitWhile(uint32_t old, std::chrono::nanoseconds) {
    asleep.fetch_add(1);
    while (word.load() == old)
      ::syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, old, nullptr, nullptr, 0);
    asleep.fetch_sub(1);
  }
  void advance() {
    const bool hasSleepers = asleep.load() != 0;
    std::this_thread::sleep_for(100us);
    word.fetch_add(1);
    if (hasSleepers)
      ::syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, INT32_MAX, nullptr,
                nullptr, 0);
  }

private:
  std::atomic<uint32_t> word{0}, asleep{0};
};

/// Spins for a random time of less than `most` microseconds.
void delay(int most) {
  static thread_local std::minstd_rand random(
      std::hash<std::thread::id>()(std::this_thread::get_id()));
  const auto time = std::chrono::nanoseconds(random() % (1000 * most));
  const auto begin = std::chrono::steady_clock::now();
  while (std::chrono::steady_clock::now() - begin < time)
    ;
}

/// Two threads wake each other in turn, and begin to wait while the other one
/// wakes them. Each of them sleeps while it waits, or spins before it sleeps.
template <class Word>
void wakeInTurn(int rounds, int mostDelay, std::chrono::nanoseconds spinning) {
  Word words[2];
  auto play = [&](int side) {
    for (int round = 0; round < rounds; ++round) {
      if (side == 0)
        words[1].advance();
      delay(mostDelay);
      words[side].waitWhile(round, spinning);
      if (side == 1)
        words[0].advance();
    }
  };
  std::thread other(play, 1);
  play(0);
  other.join();
}

/// Returns true if a process in which threads wake each other in turn does not
/// end.
template <class Word>
bool losesWakeup(int rounds) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(3);
    wakeInTurn<Word>(rounds, 200, 0ns);
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM;
}

/// Returns the CPU time of the calling thread in microseconds.
double cpuTime() {
  timespec time;
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return time.tv_sec * 1e6 + time.tv_nsec * 1e-3;
}
} // namespace

TEST(WorkerWaits, NoWakeupIsLost) {
  for (auto spinning : {0ns, 1ns, 1000ns, 20000ns})
    wakeInTurn<WaitWord>(10000, 10, spinning);
}

// The test above detects a lost wake-up.
TEST(WorkerWaits, LostWakeupIsFound) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "ThreadSanitizer knows no threads of forked processes";
#endif
  EXPECT_FALSE(losesWakeup<WaitWord>(1000));
  EXPECT_TRUE(losesWakeup<ForgetfulWord>(1000));
}

// Worker 1 waits for worker 0, which sleeps, and leaves its core to others.
TEST(WorkerWaits, WorkersSleep) {
  struct Job {
    WorkerPool *pool;
    int rounds;
    double waiting = 0;
    static void run(void *argument, int worker) {
      auto &job = *static_cast<Job *>(argument);
      const double begin = cpuTime();
      for (int round = 0; round < job.rounds; ++round) {
        if (worker == 0)
          std::this_thread::sleep_for(2ms);
        job.pool->barrier(worker);
      }
      if (worker == 1)
        job.waiting = cpuTime() - begin;
    }
  };
  WorkerPool pool(2);
  Job job{&pool, 50};
  pool.run(Job::run, &job);
  EXPECT_LT(job.waiting, job.rounds * 100);
}

//===----------------------------------------------------------------------===//
// Sizes and cores
//===----------------------------------------------------------------------===//

TEST(Workers, Resize) {
  WorkerPool pool(8);
  EXPECT_EQ(pool.size(), 8);
  int64_t barriers = 0;
  for (int run = 0; run < 300; ++run) {
    const int size = 1 + run * 5 % 8;
    pool.resize(size);
    EXPECT_EQ(pool.size(), size);
    BarrierJob job{&pool, std::vector<int64_t>(size), 3};
    pool.run(BarrierJob::run, &job);
    EXPECT_EQ(job.errors, 0);
    EXPECT_EQ(job.values, std::vector<int64_t>(size, 3));
    barriers += 2 * 3;
    std::vector<int> runs(20);
    pool.forEachPart(20, [&](int64_t part) { ++runs[part]; });
    EXPECT_EQ(runs, std::vector<int>(20, 1));
  }
  EXPECT_EQ(pool.barriers(), barriers);
  pool.resize(100);
  EXPECT_EQ(pool.size(), 8);
  EXPECT_EQ(pool.mostWorkers(), 8);
}

TEST(Workers, ResizeInForkedProcesses) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "ThreadSanitizer knows no threads of forked processes";
#endif
  WorkerPool pool(4);
  auto runsWell = [&](int size) {
    pool.resize(size);
    BarrierJob job{&pool, std::vector<int64_t>(size), 50};
    pool.run(BarrierJob::run, &job);
    return job.errors == 0;
  };
  EXPECT_TRUE(runsWell(4));
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(60);
    ::_exit(runsWell(2) && runsWell(4) && runsWell(1) ? 0 : 1);
  }
  int status = 1;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(runsWell(3));
}

// Other processes also have workers, so none is pinned to a core.
TEST(Workers, MayUseAllCores) {
  struct Job {
    std::vector<cpu_set_t> allowed;
    static void run(void *argument, int worker) {
      auto &job = *static_cast<Job *>(argument);
      ::sched_getaffinity(0, sizeof(cpu_set_t), &job.allowed[worker]);
    }
  };
  cpu_set_t allowed;
  ::sched_getaffinity(0, sizeof(allowed), &allowed);
  for (int size = 1; size <= CPU_COUNT(&allowed) + 1; ++size) {
    WorkerPool pool(size);
    Job job{std::vector<cpu_set_t>(size)};
    for (int run = 0; run < 100; ++run) {
      pool.run(Job::run, &job);
      for (const cpu_set_t &own : job.allowed)
        EXPECT_TRUE(CPU_EQUAL(&own, &allowed));
    }
  }
}

TEST(Workers, SharedTime) {
  WorkerPool pool(2);
  auto job = [](void *, int worker) {
    if (worker == 1)
      std::this_thread::sleep_for(5ms);
  };
  pool.run(job, nullptr);
  const WorkerPool::SharedTime time = pool.takeSharedTime();
  EXPECT_GE(time.waited, 4ms);
  EXPECT_GE(time.total, time.waited);
  pool.run(job, nullptr, /*shared=*/false);
  EXPECT_EQ(pool.takeSharedTime().total, 0ns);
}

namespace {
/// Steps of 5 and 25 us with a barrier after each, so that workers wait.
struct ShortSteps {
  WorkerPool *pool;
  static void run(void *argument, int worker) {
    auto &job = *static_cast<ShortSteps *>(argument);
    for (int step = 0; step < 40; ++step) {
      const double begin = cpuTime(), time = (step + worker) % 2 ? 25 : 5;
      while (cpuTime() - begin < time)
        ;
      job.pool->barrier(worker);
    }
  }
};

/// Returns the median time of 50 jobs in microseconds.
double medianTime(WorkerPool &pool) {
  ShortSteps job{&pool};
  std::vector<double> times;
  for (int run = 0; run < 50; ++run) {
    const auto begin = std::chrono::steady_clock::now();
    pool.run(ShortSteps::run, &job);
    times.push_back(std::chrono::duration<double, std::micro>(
                        std::chrono::steady_clock::now() - begin)
                        .count());
  }
  std::nth_element(times.begin(), times.begin() + 25, times.end());
  return times[25];
}
} // namespace

// A step is short compared with the time slice of another program. If a waiting
// worker lost its core for a time slice, the ratio would be above 100.
TEST(Workers, BusyHost) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "ThreadSanitizer changes the times";
#endif
  const int cores = WorkerPool(1).cores();
  if (cores < 2)
    GTEST_SKIP() << "there is only one core";
  for (int busy : {1, 2}) {
    std::atomic<bool> ends{false};
    std::vector<std::thread> others;
    for (int other = 0; other < busy * cores / 2; ++other)
      others.emplace_back([&] {
        while (!ends)
          ;
      });
    WorkerPool one(1), several(cores);
    EXPECT_LT(medianTime(several), 20 * medianTime(one));
    ends = true;
    for (std::thread &other : others)
      other.join();
  }
}
