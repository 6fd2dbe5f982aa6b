//===- WaitsTest.cpp - Tests of sessions that wait for tensors ------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Allocations.h"
#include "Trial.h"
#include "batch-runtime/RowCounts.h"
#include "batch-runtime/TaskPicture.h"

#include <thread>

using namespace batchrt;
using namespace batchrt::test;

namespace {
/// A session of the object `waits`, with instances for it.
struct Waiting : Trial {
  explicit Waiting(const std::string &text, int threads = 1,
                   int64_t nodesPerWorker = 1024)
      : Trial("waits", text, threads, size_t(256) << 20, /*batch=*/0,
              "random:1", "", nodesPerWorker) {}

  Forest &forest() { return *inputs->batches.front(); }
  std::vector<Output> collected() {
    OutputCollector collector(object.descriptor());
    for (int64_t i = 0; i < forest().numInstances; ++i)
      collector.collect(*session, i);
    return collector.outputs();
  }
  std::string compare() {
    std::vector<Output> found = collected();
    return compareOutputs(found, unbatched(), std::nullopt).first.value_or("");
  }
};

/// Log with a line for the beginning, each plan and the end of a run.
struct Log : RunWatcher {
  void begin() override { text = "begin\n"; }
  void look(const RunView &run, const Plan &plan) override {
    const TaskGraph graph = plan.taskGraph(run.contexts);
    text += concat("flush ", run.flush, run.deferred ? " deferred" : "", ": ",
                   graph.size(), " tasks read ", graph.operands.size(),
                   ", control read ", run.reads.size(), graph.check(), "\n");
  }
  void end(const RunView &run) override {
    text += concat("end: control read ", run.reads.size(), "\n");
  }
  std::string text;
};

// Input 1 finishes in its first round, input 5 in its third, and input 40 in
// its fourth.
const char *const three = "1\n5\n40\n";
} // namespace

TEST(Waits, RunsUseFewerThreads) {
  std::string text;
  for (int i = 0; i < 40; ++i)
    text += concat(i, "\n");
  Waiting trial(text, WorkerPool(1).cores() + 6, /*nodesPerWorker=*/1);
  for (int run = 0; run < 60; ++run) {
    trial.session->run(trial.forest());
    EXPECT_EQ(trial.compare(), "");
  }
}

TEST(Waits, InspectIsAnError) {
  Waiting trial(three);
  trial.session->load(trial.forest());
  EXPECT_MESSAGE(
      "the control flow of this object waits for tensors, so inspection and "
      "execution alternate; call Session::run(), executeTraced() or "
      "executeTimed()",
      trial.session->inspect());
}

TEST(Waits, ScheduleIsAnError) {
  Waiting trial(three);
  trial.session->load(trial.forest());
  EXPECT_MESSAGE("alternate; call Session::run(), executeTraced() or "
                 "executeTimed()",
                 trial.session->schedule());
}

TEST(Waits, ExecuteIsAnError) {
  Waiting trial(three);
  trial.session->load(trial.forest());
  EXPECT_MESSAGE("alternate; call Session::run(), executeTraced() or "
                 "executeTimed()",
                 trial.session->execute());
}

TEST(Waits, PlanIsAnError) {
  Waiting trial(three);
  trial.session->run(trial.forest());
  EXPECT_MESSAGE("the control flow of this object waits for tensors, so each "
                 "flush has its own plan; use Session::watch()",
                 trial.session->plan());
}

TEST(Waits, NothingRunsInLockStep) {
  Waiting trial(three);
  trial.session->run(trial.forest());
  EXPECT_MESSAGE("cannot set a block policy",
                 trial.session->setBlockPolicy({}));
  EXPECT_EQ(trial.session->lockstepCounters().steps, 0);
  EXPECT_TRUE(trial.session->blockPath().empty());
  EXPECT_TRUE(trial.session->blockCosts().empty());
}

TEST(Waits, AllRunsComputeTheSame) {
  for (int threads : {1, 3}) {
    Waiting trial(three, threads);
    Session &session = *trial.session;
    session.load(trial.forest());
    session.run();
    EXPECT_EQ(trial.compare(), "");
    session.load(trial.forest());
    EXPECT_GE(session.executeTimed(), 0);
    EXPECT_EQ(trial.compare(), "");
    session.load(trial.forest());
    session.executeTraced();
    session.collect();
    EXPECT_EQ(trial.compare(), "");
  }
}

TEST(Waits, TracedStepsAreTheCounts) {
  Waiting trial(three);
  trial.session->load(trial.forest());
  const std::vector<StepTime> times = trial.session->executeTraced();
  const RunCounters counters = trial.session->counters();
  EXPECT_EQ(static_cast<int64_t>(times.size()), counters.batches);
  int64_t tasks = 0, flush = 0;
  for (const StepTime &step : times) {
    tasks += step.count;
    EXPECT_TRUE(step.flush == flush || step.flush == flush + 1);
    flush = step.flush;
  }
  EXPECT_EQ(tasks, counters.tasks);
  EXPECT_EQ(flush + 1, counters.flushes);
}

// Tasks of earlier flushes are not in the graph of a plan.
TEST(Waits, EachPlanIsWatched) {
  Waiting trial(three);
  Log log;
  trial.session->watch(&log);
  for (int i = 0; i < 2; ++i) {
    trial.session->run(trial.forest());
    EXPECT_EQ(log.text, "begin\n"
                        "flush 0: 12 tasks read 9, control read 0\n"
                        "flush 1: 6 tasks read 2, control read 3\n"
                        "flush 2: 6 tasks read 2, control read 2\n"
                        "flush 3: 3 tasks read 1, control read 2\n"
                        "flush 4 deferred: 3 tasks read 0, control read 1\n"
                        "end: control read 0\n");
  }
  EXPECT_EQ(trial.session->counters().flushes, 5);
  trial.session->watch(nullptr);
  log.text.clear();
  trial.session->run(trial.forest());
  EXPECT_EQ(log.text, "");
}

// Rows have 64 bytes. An instance that finishes has four rows: its row from the
// last flush, the row that control flow reads after the flush, and two rows
// that nothing needs. One of these two has just been read.
TEST(Waits, RowsAreCountedOverFlushes) {
  Waiting one("5\n");
  RowCounts counts;
  one.session->watch(&counts);
  for (int i = 0; i < 2; ++i) {
    one.session->run(one.forest());
    EXPECT_EQ(counts.liveResults(), 4 * 64);
    EXPECT_EQ(counts.gatheredRows(), 3 * 3 + 1);
  }
  // After the first flush, each instance has three rows, and the instance that
  // finishes has one more.
  Waiting all(three);
  all.session->watch(&counts);
  all.session->run(all.forest());
  EXPECT_EQ(counts.liveResults(), (1 + 3 * 3) * 64);
  EXPECT_EQ(counts.gatheredRows(), (3 + 2 + 2 + 1) * 3 + 3);
}

TEST(Waits, PictureHasAClusterForEachFlush) {
  Waiting trial(three);
  TaskPicture picture;
  trial.session->watch(&picture);
  std::string first;
  for (int i = 0; i < 2; ++i) {
    trial.session->run(trial.forest());
    picture.write(trial.folder.file("dot"), trial.object.descriptor());
    const std::string text = readTextFile(trial.folder.file("dot"));
    auto count = [&](const std::string &what) {
      int64_t found = 0;
      for (size_t at = 0; (at = text.find(what, at)) != std::string::npos; ++at)
        ++found;
      return found;
    };
    EXPECT_EQ(count("subgraph cluster_"), 5);
    EXPECT_EQ(count("label=\"flush 4, deferred\""), 1);
    EXPECT_EQ(count("[label="), 12 + 6 + 6 + 3 + 3);
    EXPECT_EQ(count(" -> "), (3 + 2 + 2 + 1) * 3 + 3);
    EXPECT_EQ(count("peripheries=2]"), 3 + 2 + 2 + 1);
    // A task of the second flush reads the result of a task of the first flush.
    EXPECT_EQ(count("  t10 -> t12;\n"), 1);
  }
}

// Instances that reach a limit end; the work of the other instances is counted.
TEST(Waits, LimitsOfInstances) {
  Waiting trial("1\n1000000\n5\n");
  SessionOptions options;
  options.lockstep.maxSteps = 3;
  Session strict(trial.object, *trial.parameters, trial.inputs->tensors,
                 options);
  EXPECT_MESSAGE("instance 1: exceeded the limit of 3 steps, the last one in "
                 "the loop; allow more with --max-steps=N, or write",
                 strict.run(trial.forest()));
  // The failure does not affect the next mini-batch.
  Waiting good("5\n");
  strict.run(good.forest());
  EXPECT_EQ(strict.counters().flushes, 4);
  options.lockstep.partialResults = true;
  Session session(trial.object, *trial.parameters, trial.inputs->tensors,
                  options);
  RowCounts counts;
  Log log;
  session.watch(&counts);
  session.run(trial.forest());
  EXPECT_EQ(session.failure(0), "");
  EXPECT_NE(session.failure(1), "");
  EXPECT_EQ(session.failure(2), "");
  EXPECT_EQ(counts.gatheredRows(), (3 + 2 + 2) * 3 + 2);
  EXPECT_EQ(counts.liveResults(), (1 + 3 * 3) * 64);
  session.watch(&log);
  session.run(trial.forest());
  EXPECT_NE(log.text.find("deferred: 2 tasks"), std::string::npos);
}

// If any buffer cannot be allocated, the run ends with an out-of-memory error,
// and the next run succeeds.
TEST(Waits, OutOfMemory) {
  for (int threads : {1, 3}) {
    std::string message;
    int64_t good = 0;
    for (; message != "no error"; ++good) {
      Waiting trial(three, threads);
      failBuffers(good);
      message = messageOf([&] { trial.session->run(trial.forest()); });
      failBuffers(-1);
      EXPECT_TRUE(message == "no error" ||
                  message.find("out of memory: ") != std::string::npos)
          << message;
      trial.session->run(trial.forest());
      EXPECT_EQ(trial.compare(), "") << message;
    }
    EXPECT_GT(good, 15);
  }
}

// As in a server, sessions of several threads share an object.
TEST(Waits, ThreadsShareAnObject) {
  Waiting trial(three);
  std::vector<std::string> texts(4);
  std::vector<std::thread> threads;
  for (size_t t = 0; t < texts.size(); ++t)
    threads.emplace_back([&, t] {
      InputTensors tensors(trial.object.descriptor());
      Session session(trial.object, *trial.parameters, tensors, {});
      InputReader reader(trial.object.descriptor());
      for (int64_t run = 0; run < 20; ++run) {
        Forest forest(trial.object.descriptor());
        for (int64_t i = 0; i <= run % 5; ++i)
          reader.read(concat(i * 7 + run), "request", i + 1, tensors, forest);
        session.run(forest);
        OutputCollector collector(trial.object.descriptor());
        for (int64_t i = 0; i <= run % 5; ++i)
          collector.collect(session, i);
        for (int64_t i = 0; i <= run % 5; ++i)
          texts[t] += toJson(collector.outputs(), i) + "\n";
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  for (const std::string &text : texts)
    EXPECT_EQ(text, texts.front());
  EXPECT_NE(texts.front().find("\"count\":"), std::string::npos);
}
