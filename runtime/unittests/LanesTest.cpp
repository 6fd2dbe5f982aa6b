//===- LanesTest.cpp - Tests of the memory of lanes -----------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Allocations.h"
#include "Trial.h"

using namespace batchrt;
using namespace batchrt::test;

/// Returns instances i = 0, 1, ... with n = i mod 7.
static std::string lines(int64_t count) {
  std::string text;
  for (int64_t i = 0; i < count; ++i)
    text += concat(i % 7, "\n");
  return text;
}

static int64_t sumOf(int64_t i) { return i % 7 * (i % 7 + 1) / 2; }

static std::unique_ptr<Session> makeSession(const Trial &trial, int64_t lanes,
                                            int threads = 1,
                                            LockstepOptions given = {}) {
  SessionOptions options;
  options.threads = threads;
  options.lockstep = given;
  options.lockstep.lanes = lanes;
  options.emulator.blocks = threads;
  return std::make_unique<Session>(trial.object, *trial.parameters,
                                   trial.inputs->tensors, options);
}

static void checkResults(const Trial &trial, const Session &session) {
  OutputCollector collector(trial.object.descriptor());
  const Forest &forest = session.forest();
  for (int64_t i = 0; i < forest.numInstances; ++i)
    collector.collect(session, i);
  const Output &sums = named(collector.outputs(), "sum");
  const Output &rows = named(collector.outputs(), "row");
  for (int64_t i = 0; i < forest.numInstances; ++i) {
    int64_t wanted = sumOf(forest.firstInstance + i);
    EXPECT_EQ(loadInteger(DType::I64, sums.data.data(), i), wanted);
    EXPECT_EQ(at(rows, i, 0), wanted);
    EXPECT_EQ(at(rows, i, 1), 2 * wanted);
  }
}

// A session that uses fewer workers in later runs divides the lanes anew.
TEST(Lanes, RunsUseFewerThreads) {
  Trial trial("lanes", lines(40));
  auto session = makeSession(trial, 10, WorkerPool(1).cores() + 6);
  for (int run = 0; run < 60; ++run) {
    session->run(*trial.inputs->batches.front());
    checkResults(trial, *session);
  }
}

// The program checks its memory before it runs. The host and devices use the
// same description of this memory.
TEST(Lanes, MemoryIsAsUnitsExpect) {
  for (const char *kind : {"lanes", "lanes_device"}) {
    Trial trial(kind, lines(23));
    for (int64_t lanes : {0, 1, 3, 10, 64})
      for (int units : {1, 2, 5}) {
        SCOPED_TRACE(concat(kind, ", ", lanes, " lanes, ", units, " units"));
        auto session = makeSession(trial, lanes, units);
        session->run(*trial.inputs->batches.front());
        checkResults(trial, *session);
        LockstepCounters counters = session->lockstepCounters();
        EXPECT_EQ(counters.lanes,
                  lanes == 0 ? 23 : std::min<int64_t>(lanes, 23));
        EXPECT_EQ(counters.laneRuns, 2 * 23);
        EXPECT_EQ(counters.blocks[1].laneRuns, 23);
      }
  }
}

// Lanes move when their number changes or when the number of instances grows.
// Old memory contents must not become values of variables.
TEST(Lanes, MiniBatchesOfAllSizes) {
  for (const char *kind : {"lanes", "lanes_device"})
    for (int64_t lanes : {0, 4}) {
      SCOPED_TRACE(concat(kind, ", ", lanes, " lanes"));
      Trial trial(kind, lines(25), 1, size_t(16) << 20, 10);
      auto session = makeSession(trial, lanes, 2);
      ASSERT_EQ(trial.inputs->batches.size(), 3u);
      for (int batch : {2, 0, 2, 1, 0, 1}) {
        session->run(*trial.inputs->batches[batch]);
        checkResults(trial, *session);
      }
    }
}

TEST(Lanes, LaterRunsAllocateNothing) {
  for (const char *kind : {"lanes", "lanes_device"})
    for (int64_t lanes : {0, 4}) {
      SCOPED_TRACE(concat(kind, ", ", lanes, " lanes"));
      Trial trial(kind, lines(20));
      auto session = makeSession(trial, lanes, 3);
      session->run(*trial.inputs->batches.front());
      size_t bytes = session->memory().total();
      int64_t before = countAllocations();
      for (int i = 0; i < 3; ++i) {
        session->inspect();
        session->schedule();
        session->execute();
      }
      // Runs on the emulator do allocate memory: stacks for its threads.
      if (!trial.object.descriptor().launch) {
        EXPECT_EQ(countAllocations(), before);
      }
      EXPECT_EQ(session->memory().total(), bytes);
      checkResults(trial, *session);
    }
}

// On the host, lanes do not move if the number of instances shrinks but the
// number of lanes stays the same.
TEST(Lanes, MemoryStaysWhereTheNumberOfLanesDoes) {
  Trial trial("lanes", lines(25), 1, size_t(16) << 20, 10);
  auto session = makeSession(trial, 4);
  session->run(*trial.inputs->batches[0]);
  const BatchLanes *first = *session->context().lanes;
  const char *tops = first->variables->tops;
  for (int batch : {2, 1}) {
    session->run(*trial.inputs->batches[batch]);
    EXPECT_EQ(*session->context().lanes, first);
    EXPECT_EQ(first->variables->tops, tops);
    EXPECT_EQ(first->numInstances, batch == 2 ? 5 : 10);
  }
}

TEST(Lanes, EndsOfInstances) {
  for (const char *kind : {"lanes", "lanes_device"}) {
    SCOPED_TRACE(kind);
    Trial trial(kind, lines(16));
    LockstepOptions options;
    options.stackDepth = 4;
    options.partialResults = true;
    auto session = makeSession(trial, 3, 2, options);
    session->run(*trial.inputs->batches.front());
    OutputCollector collector(trial.object.descriptor());
    for (int64_t i = 0; i < 16; ++i) {
      collector.collect(*session, i);
      bool deep = i % 7 > 4;
      EXPECT_EQ(session->failure(i).empty(), !deep);
      EXPECT_EQ(at(named(collector.outputs(), "row"), i, 0),
                deep ? 0 : sumOf(i));
      if (deep) {
        EXPECT_EQ(session->failure(i),
                  "the recursion is deeper than 4 calls, in block main.0; "
                  "allow more with --stack-depth=N");
      }
    }
  }
}

// A run that ended with an error has no results to copy.
TEST(Lanes, FailedRunsAreNotCollected) {
  Trial trial("lanes_device", lines(5));
  LockstepOptions options;
  options.stackDepth = 2;
  auto session = makeSession(trial, 0, 1, options);
  session->load(*trial.inputs->batches.front());
  session->inspect();
  session->schedule();
  EXPECT_MESSAGE("the recursion is deeper than 2 calls",
                 session->execute(ResultCopies::WhenCollected));
  const int64_t copies = session->counters().copies;
  session->collect();
  EXPECT_EQ(session->counters().copies, copies);
}

TEST(Lanes, WhatLanesDoNotDo) {
  Trial trial("lanes", lines(5));
  EXPECT_MESSAGE("cannot set a policy, because this object does not run plans "
                 "of tasks",
                 trial.session->setPolicy(Policy::Greedy));
  trial.session->load(*trial.inputs->batches.front());
  EXPECT_MESSAGE("the object has no unbatched code, because it was compiled "
                 "from a module whose instance functions had been removed",
                 trial.session->runUnbatched(0));
  Trial device("lanes_device", lines(5));
  device.session->run(*device.inputs->batches.front());
  EXPECT_MESSAGE("tracing is not supported on devices; omit --trace or use "
                 "--device=cpu",
                 device.session->executeTraced());
}

TEST(Lanes, Paths) {
  Trial trial("lanes", lines(5));
  LockstepOptions options;
  options.recordPath = true;
  options.maxSteps = 100;
  auto session = makeSession(trial, 2, 1, options);
  for (int run = 0; run < 2; ++run) {
    session->run(*trial.inputs->batches.front());
    EXPECT_EQ(session->blockPath(), (std::vector<int32_t>{0, 1, 0, 1, 0, 1}));
  }
}

TEST(Lanes, TooMuchMemoryIsAnError) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers end the program";
#endif
  // The stacks need more addresses than exist.
  Trial trial("lanes", lines(2000));
  LockstepOptions options;
  options.stackDepth = INT32_MAX;
  auto session = makeSession(trial, 0, 1, options);
  for (int run = 0; run < 2; ++run)
    EXPECT_MESSAGE("for stacks of lanes (--stack-depth); use a smaller batch",
                   session->run(*trial.inputs->batches.front()));
}
