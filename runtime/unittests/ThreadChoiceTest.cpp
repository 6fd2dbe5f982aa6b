//===- ThreadChoiceTest.cpp - Tests of the number of workers --------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "batch-runtime/ThreadChoice.h"

#include <gtest/gtest.h>

#include <functional>
#include <map>

using namespace batchrt;

namespace {
/// Returns a run of a mini-batch of size 1 with some number of workers.
using Host = std::function<ThreadChoice::Run(int threads)>;

/// Runs on a host.
struct Runs {
  std::map<int, int> counts; ///< number of runs by number of workers
  double time = 0;
};

/// Adds `count` runs on a host to a choice.
Runs add(ThreadChoice &choice, int count, const Host &host) {
  Runs runs;
  for (int i = 0; i < count; ++i) {
    const ThreadChoice::Run run = host(choice.threads());
    ++runs.counts[choice.threads()];
    runs.time += run.time;
    choice.add(run);
  }
  return runs;
}

/// Nothing else runs: N workers take 1/N of the time.
ThreadChoice::Run onQuietHost(int threads) {
  const double time = 960.0 / threads;
  return {time, 1, threads > 1 ? time : 0, threads > 1 ? time / 10 : 0};
}

/// Another program has all cores except one. Worker 0 waits most of the time.
ThreadChoice::Run onBusyHost(int threads) {
  if (threads == 1)
    return {960, 1, 0, 0};
  return {4000, 1, 4000, 3900};
}
} // namespace

TEST(ThreadChoice, AllWorkersIfTheyHelp) {
  for (int most : {1, 2, 5, 16}) {
    ThreadChoice choice(most, 16);
    Runs runs = add(choice, 10000, onQuietHost);
    EXPECT_GT(runs.counts[most], 9900);
    EXPECT_LT(runs.time, 1.01 * 10000 * 960 / most);
  }
}

TEST(ThreadChoice, OneWorkerIfOthersDoNotHelp) {
  for (int most : {2, 4, 16}) {
    ThreadChoice choice(most, 16);
    add(choice, 50, onBusyHost);
    EXPECT_EQ(choice.threads(), 1);
    // Trials cost little.
    Runs runs = add(choice, 10000, onBusyHost);
    EXPECT_GT(runs.counts[1], 9900);
    EXPECT_LT(runs.time, 1.05 * 10000 * 960);
  }
  // Half of 50 calls are as fast as with one worker.
  ThreadChoice choice(4, 4);
  EXPECT_GE(add(choice, 50, onBusyHost).counts[1], 25);
}

TEST(ThreadChoice, AllWorkersAgainOnceTheyHelp) {
  for (int most : {2, 3, 16}) {
    ThreadChoice choice(most, 16);
    add(choice, 1000, onBusyHost);
    add(choice, 1000, onQuietHost);
    EXPECT_EQ(choice.threads(), most);
  }
}

// One worker has most of the work, so waits alone do not decide.
TEST(ThreadChoice, LongWaitsOfUnequalWorkers) {
  ThreadChoice choice(2, 2);
  Runs runs = add(choice, 10000, [](int threads) -> ThreadChoice::Run {
    if (threads == 1)
      return {1000, 1, 0, 0};
    return {800, 1, 800, 600};
  });
  EXPECT_GT(runs.counts[2], 9500);
  EXPECT_LT(runs.time, 1.02 * 10000 * 800);
}

TEST(ThreadChoice, NoMoreWorkersThanCores) {
  ThreadChoice choice(8, 2);
  add(choice, 50, [](int threads) -> ThreadChoice::Run {
    const double time = threads == 1 ? 100 : threads == 2 ? 60 : 90;
    return {time, 1, time, 0};
  });
  EXPECT_EQ(choice.threads(), 2);
}

// A single slow run does not change the number of workers.
TEST(ThreadChoice, RareDisturbances) {
  ThreadChoice choice(2, 2);
  int number = 0;
  Runs runs = add(choice, 1000, [&](int threads) -> ThreadChoice::Run {
    if (++number % 50 == 0 && threads > 1)
      return {4000, 1, 4000, 3900};
    return onQuietHost(threads);
  });
  EXPECT_GT(runs.counts[2], 980);
}

// Worker 0 does not wait, but one worker is faster.
TEST(ThreadChoice, SlowWorkersThatDoNotWait) {
  ThreadChoice choice(2, 2);
  Runs runs = add(choice, 1000, [](int threads) -> ThreadChoice::Run {
    if (threads == 1)
      return {115, 1, 0, 0};
    return {200, 1, 200, 5};
  });
  EXPECT_GT(runs.counts[1], 900);
}

// The speed of a run is relative to the size of its mini-batch.
TEST(ThreadChoice, SizesOfMiniBatches) {
  ThreadChoice choice(2, 2);
  int number = 0;
  const auto host = [&](int threads) -> ThreadChoice::Run {
    ThreadChoice::Run run = onBusyHost(threads);
    run.size = 1 + number++ % 7 * 10;
    run.time *= run.size;
    run.shared *= run.size;
    run.waited *= run.size;
    return run;
  };
  add(choice, 50, host);
  EXPECT_EQ(choice.threads(), 1);
}
