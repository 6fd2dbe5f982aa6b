//===- RunExplanationTest.cpp - Tests of explanations of runs -------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "batch-runtime/RunExplanation.h"
#include "Trial.h"

using namespace batchrt;
using namespace batchrt::test;

namespace {
std::unique_ptr<Session> makeLanes(const Trial &trial, int64_t lanes,
                                   int threads) {
  SessionOptions options;
  options.threads = threads;
  options.lockstep.lanes = lanes;
  return std::make_unique<Session>(trial.object, *trial.parameters,
                                   trial.inputs->tensors, options);
}

const RunExplanation::Block &find(const RunExplanation &explanation,
                                  int64_t number) {
  for (const RunExplanation::Block &block : explanation.blocks())
    if (block.number == number)
      return block;
  throw Error("unknown block " + std::to_string(number));
}

/// Returns a step that takes a microsecond: a step of a kernel, or a barrier if
/// `kernel` is -1.
StepTime step(int64_t kernel, int64_t count, int64_t capacity) {
  StepTime time = {kernel, count, 0, 1};
  time.capacity = capacity;
  return time;
}

bool contains(const std::string &text, const std::string &part) {
  return text.find(part) != std::string::npos;
}
} // namespace

// Four lanes run four instances in two steps, and then the fifth instance.
TEST(RunExplanation, Lanes) {
  Trial trial("lanes", "0\n1\n2\n3\n4\n");
  auto session = makeLanes(trial, 4, 1);
  session->load(*trial.inputs->batches.front());
  const RunExplanation explanation = session->explain();
  ASSERT_EQ(explanation.blocks().size(), 2u);
  for (int64_t number : {0, 1}) {
    const RunExplanation::Block &block = find(explanation, number);
    EXPECT_EQ(block.batches, 2);
    EXPECT_EQ(block.tasks, 5);
    EXPECT_EQ(block.capacity, 8);
    EXPECT_EQ(block.sizes, (std::map<int64_t, int64_t>{{1, 1}, {4, 1}}));
  }
  const std::string text = explanation.text();
  EXPECT_TRUE(contains(text, "how it ran: 5 instances on 4 lanes of 1 worker, "
                             "strategy 'lockstep'\n"))
      << text;
  EXPECT_TRUE(contains(text, ": 2 batches of 1 to 4 lanes, 5 in total, 2.5 on "
                             "average; "))
      << text;
  EXPECT_TRUE(contains(
      text, "utilization with masks: 63 %: if each of these batches ran on "
            "all lanes, 10 of 16 results would be useful\n"))
      << text;
}

// Workers have their own lanes, and a trace has the steps of all workers.
TEST(RunExplanation, LanesOfWorkers) {
  Trial trial("lanes", "0\n1\n2\n3\n4\n");
  auto session = makeLanes(trial, 4, 2);
  session->load(*trial.inputs->batches.front());
  const RunExplanation explanation = session->explain();
  int64_t tasks = 0;
  for (const StepTime &step : explanation.batches()) {
    tasks += step.count;
    EXPECT_EQ(step.capacity, 2);
    EXPECT_LE(step.begin, step.end);
  }
  EXPECT_EQ(tasks, 2 * 5);
  // Runs that are not explained are not traced.
  session->run(*trial.inputs->batches.front());
  EXPECT_TRUE(session->blockPath().empty());
}

// In plans, a batch may have several tasks of an instance, so it has no
// capacity.
TEST(RunExplanation, Plans) {
  Trial trial("lanes", "0\n1\n");
  const Descriptor &descriptor = trial.object.descriptor();
  RunExplanation withCapacity(descriptor, 2, 1, {step(0, 1, 2), step(0, 2, 2)},
                              {});
  EXPECT_TRUE(withCapacity.blocks().front().fitsCapacity);
  RunExplanation full(descriptor, 2, 1, {step(0, 1, 2), step(0, 3, 2)}, {});
  EXPECT_FALSE(full.blocks().front().fitsCapacity);
  EXPECT_FALSE(contains(full.text(), "utilization"));
  EXPECT_TRUE(contains(full.json(), "\"capacity\":null"));
}

// Steps that all workers share count once, as do barriers.
TEST(RunExplanation, SharedSteps) {
  Trial trial("lanes", "0\n1\n");
  std::vector<StepTime> steps;
  for (int64_t worker : {0, 1})
    for (int64_t kernel : {0, -1}) {
      steps.push_back(step(kernel, kernel < 0 ? 0 : 2, 2));
      steps.back().isShared = true;
      steps.back().worker = worker;
    }
  RunExplanation explanation(trial.object.descriptor(), 2, 2, steps, {});
  EXPECT_EQ(explanation.batches().size(), 1u);
  EXPECT_EQ(explanation.blocks().front().batches, 1);
  EXPECT_TRUE(contains(explanation.text(), "at barriers: 50 % of the time"));
}

// The text states how control flow ran.
TEST(RunExplanation, ControlFlow) {
  const Descriptor single(R"({"kernels": [{"name": "k"}],
    "replicate": {"bytes": 0, "tasks": 1, "capacity": 4, "loops": []}})");
  StepTime shared = step(0, 2, 2);
  shared.isShared = true;
  const std::string several =
      RunExplanation(single, 3, 2, {shared, step(0, 1, 1)}, {}).text();
  EXPECT_TRUE(contains(several,
                       "all workers ran instances together, up to 3 at once\n"))
      << several;
  EXPECT_TRUE(contains(
      several, "each worker ran its own instances, one after another\n"));
  EXPECT_TRUE(
      contains(RunExplanation(single, 1, 2, {shared}, {}).text(),
               "all workers ran each instance together, one after another\n"));
  const Descriptor waits(R"({"kernels": [{"name": "k"}], "waits": true})");
  RunCounters counters;
  counters.tasks = 2;
  counters.flushes = 1;
  counters.waits = 3;
  EXPECT_TRUE(contains(
      RunExplanation(waits, 3, 1, {step(0, 2, 3)}, counters).text(),
      "2 tasks in 1 batch over 1 flush; instances waited 3 times in total\n"));
}

TEST(RunExplanation, Hints) {
  Trial trial("lanes", "0\n1\n");
  const Descriptor &descriptor = trial.object.descriptor();
  auto hints = [&](int64_t instances, const std::vector<StepTime> &steps) {
    const RunExplanation explanation(descriptor, instances, 1, steps, {});
    std::string text;
    for (const std::string &hint : explanation.hints())
      text += hint + "\n";
    return text;
  };
  EXPECT_TRUE(contains(hints(1, {step(0, 1, 1)}), "nothing to batch"));
  // One instance, such as a tree, may have many tasks that run together.
  EXPECT_EQ(hints(1, {step(0, 2, 2), step(0, 7, 7)}), "");
  EXPECT_TRUE(contains(hints(2, {}), "no batches ran"));
  const std::vector<StepTime> single(20, step(0, 1, 2));
  EXPECT_TRUE(contains(hints(2, single), "20 of its 20 batches contain"));
  EXPECT_TRUE(contains(hints(2, single), "takes about 1.0 us"));
  const std::vector<StepTime> few(20, step(0, 3, 16));
  EXPECT_TRUE(contains(hints(16, few), "fewer than a quarter of the lanes"));
  std::vector<StepTime> good(20, step(0, 16, 16));
  for (StepTime &time : good)
    time.end = 100;
  EXPECT_EQ(hints(16, good), "");
}
