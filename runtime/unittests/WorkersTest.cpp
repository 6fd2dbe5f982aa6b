//===- WorkersTest.cpp - Workers that leave, and forked processes ---------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "batch-runtime/Workers.h"

#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>

using namespace batchrt;

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
