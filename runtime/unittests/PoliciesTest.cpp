//===- PoliciesTest.cpp - Tests of batching policies ----------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "batch-runtime/Schedule/Policies.h"
#include "Allocations.h"
#include "PolicyGraphs.h"
#include "batch-runtime/Schedule/Search.h"

#include <algorithm>

using namespace batchrt;
using namespace batchrt::test;

TEST(Policies, SchedulesAreLegal) {
  for (int seed = 0; seed < 60; ++seed) {
    TaskGraph graph = someGraph(seed);
    ASSERT_EQ(graph.check(), "");
    int64_t bound = lowerBound(graph);
    for (const auto &[name, schedule] : everySchedule(graph)) {
      EXPECT_EQ(schedule.verify(graph), "") << name << ", seed " << seed;
      EXPECT_GE(static_cast<int64_t>(schedule.batches.size()), bound) << name;
    }
  }
}

// Waits through other types are detected only for the first 64 types. This
// graph has 100 types.
TEST(Policies, ManyTypes) {
  std::mt19937_64 random(5);
  TaskGraph graph = workloads::randomGraph(random, 2000, 100, 2);
  for (const auto &[name, schedule] : everySchedule(graph))
    EXPECT_EQ(schedule.verify(graph), "") << name;
}

// Trimming never adds batches, not even the second time.
TEST(Policies, Trim) {
  PolicyScheduler scheduler;
  for (int seed = 0; seed < 60; ++seed) {
    TaskGraph graph = someGraph(seed);
    for (bool greedy : {false, true}) {
      Schedule whole =
          greedy ? scheduler.greedy(graph) : scheduler.depth(graph);
      Schedule once = scheduler.trim();
      EXPECT_EQ(once.verify(graph), "") << "seed " << seed;
      EXPECT_LE(once.batches.size(), whole.batches.size());
      Schedule twice = scheduler.trim();
      EXPECT_EQ(twice.verify(graph), "");
      EXPECT_LE(twice.batches.size(), once.batches.size());
    }
  }
  // One batch of outputs replaces four batches. A word runs in the batch before
  // the node that reads it. The tasks of a batch are in the order in which
  // their reader reads them.
  TaskGraph figure = figureOne();
  scheduler.depth(figure);
  Schedule trimmed = scheduler.trim();
  ASSERT_EQ(trimmed.batches.size(), 6u);
  EXPECT_EQ(trimmed.batches[4].type, 1);
  EXPECT_EQ(trimmed.order, (std::vector<int32_t>{0, 1, 4, 2, 5, 3, 6, 7, 8, 9,
                                                 10, 11, 12, 13, 14}));
}

TEST(Policies, DepthIsTopological) {
  for (int seed = 0; seed < 20; ++seed) {
    TaskGraph graph = someGraph(seed);
    std::vector<int32_t> depths(graph.size());
    std::vector<std::pair<int32_t, int32_t>> expected;
    for (int32_t task = 0; task < graph.size(); ++task) {
      for (int32_t o = graph.operandBegin[task];
           o < graph.operandBegin[task + 1]; ++o)
        depths[task] = std::max(depths[task], depths[graph.operands[o]] + 1);
      expected.emplace_back(depths[task], graph.types[task]);
    }
    std::sort(expected.begin(), expected.end());
    expected.erase(std::unique(expected.begin(), expected.end()),
                   expected.end());
    PolicyScheduler scheduler;
    std::vector<std::pair<int32_t, int32_t>> found;
    const Schedule &schedule = scheduler.depth(graph);
    for (const Batch &batch : schedule.batches)
      found.emplace_back(depths[schedule.order[batch.begin]], batch.type);
    EXPECT_EQ(found, expected);
  }
}

TEST(Policies, FigureOne) {
  TaskGraph graph = figureOne();
  PolicyScheduler scheduler;
  EXPECT_EQ(scheduler.depth(graph).batches.size(), 9u);
  const Schedule &agenda = scheduler.agenda(graph);
  ASSERT_EQ(agenda.batches.size(), 7u);
  EXPECT_EQ(agenda.batches[1].type, 1);
  EXPECT_EQ(agenda.batches[5].type, 1);
  EXPECT_EQ(lowerBound(graph), 6);
  const Schedule &greedy = scheduler.greedy(graph);
  ASSERT_EQ(greedy.batches.size(), 6u);
  EXPECT_EQ(greedy.batches[4].type, 1);
  EXPECT_EQ(greedy.batches[4].count, 7);
  for (int e = 0; e < numEncodings; ++e) {
    Learned learned = learn({graph}, {"I", "O", "R"}, static_cast<Encoding>(e));
    EXPECT_EQ(learned.batches, 6) << name(static_cast<Encoding>(e));
  }
  EXPECT_EQ(searchExact(graph).types.size(), 6u);
}

/// Figure 8 of ED-Batch: words over chains of characters. All words are ready
/// after the first character, and run in one batch.
TEST(Policies, WordsOverCharacters) {
  TaskGraph graph;
  graph.numTypes = 2;
  for (int32_t place = 1; place < 5; ++place) {
    std::vector<int32_t> chain{graph.add(0, {})};
    int32_t word = -1;
    for (int32_t i = 1; i < 8; ++i) {
      if (i == place)
        word = graph.add(1, {chain[0]});
      std::vector<int32_t> reads{chain.back()};
      if (i == 7)
        reads.push_back(word);
      chain.push_back(graph.add(0, reads));
    }
  }
  PolicyScheduler scheduler;
  EXPECT_EQ(lowerBound(graph), 9);
  EXPECT_EQ(scheduler.depth(graph).batches.size(), 9u);
  Learned learned = learn({graph}, {"character", "word"});
  EXPECT_EQ(learned.batches, 9);
}

/// A shortest-common-supersequence problem with two chains. The search finds
/// the optimum, which is one batch more than the lower bound.
TEST(Policies, ShortestCommonSupersequence) {
  TaskGraph graph;
  graph.numTypes = 3;
  for (const char *chain : {"abcab", "bcaba"}) {
    int32_t last = -1;
    for (const char *letter = chain; *letter; ++letter)
      last = graph.add(*letter - 'a', last < 0 ? std::vector<int32_t>()
                                               : std::vector<int32_t>{last});
  }
  // The shortest common supersequence is abcaba.
  Found found = searchExact(graph);
  EXPECT_TRUE(found.optimal);
  EXPECT_EQ(found.types, (std::vector<int32_t>{0, 1, 2, 0, 1, 0}));
  EXPECT_EQ(lowerBound(graph), 5);
}

/// A.4 of ED-Batch: a network of two chains, followed by a second one with the
/// roles of two types swapped. The set of ready types does not distinguish the
/// networks, but the share of tasks that have run does.
TEST(Policies, ShareOfTasksThatRan) {
  TaskGraph graph;
  graph.numTypes = 4;
  // Both networks end in a task of type 2. These tasks prevent the sufficient
  // condition of ED-Batch from deciding which type runs.
  std::vector<int32_t> before;
  for (int half = 0; half < 2; ++half) {
    int32_t inner = half, output = 1 - half;
    std::vector<int32_t> outputs;
    for (int part = 0; part < 2; ++part) {
      std::vector<int32_t> last = before;
      for (int i = 0; i < 6; ++i) {
        int32_t state = graph.add(inner, last);
        outputs.push_back(graph.add(output, {state}));
        last = {state};
      }
    }
    before = {graph.add(2, outputs)};
  }
  auto batches = [&](Encoding encoding) {
    return learn({graph}, namesOf(graph), encoding).batches;
  };
  int64_t best = searchExact(graph).types.size();
  EXPECT_EQ(best, lowerBound(graph));
  EXPECT_EQ(batches(Encoding::Share), best);
  EXPECT_LE(batches(Encoding::Share), batches(Encoding::Base));
}

TEST(PolicyScheduler, NoAllocationsAfterTheFirstRun) {
  workloads::Structures structures;
  workloads::fillIn(structures, 5, 64);
  for (const workloads::Workload &workload : workloads::all()) {
    TaskGraph graph = workloads::make(workload, structures, 0, 16, 1);
    LearningOptions options;
    options.trials = 10;
    StateMachine urgency =
        learn({graph}, workload.types, Encoding::Urgency, options).stateMachine;
    StateMachine share =
        learn({graph}, workload.types, Encoding::Share, options).stateMachine;
    PolicyScheduler scheduler;
    auto runAll = [&] {
      scheduler.depth(graph);
      scheduler.agenda(graph);
      scheduler.run(Policy::Greedy, graph, urgency);
      scheduler.run(Policy::StateMachine, graph, urgency);
      scheduler.run(Policy::StateMachine, graph, share);
    };
    runAll();
    size_t bytes = scheduler.bytes();
    int64_t before = countAllocations();
    runAll();
    EXPECT_EQ(countAllocations(), before) << workload.name;
    EXPECT_EQ(scheduler.bytes(), bytes) << workload.name;
  }
}

// In unknown states, the greedy rule selects the type. These states are
// counted.
TEST(PolicyScheduler, UnknownStates) {
  std::mt19937_64 random(7);
  TaskGraph graph = workloads::randomGraph(random, 200, 4, 2);
  FrontierPlan plan;
  plan.compute(graph, Ratios);
  Frontier frontier;
  frontier.start(plan);
  std::vector<int32_t> types;
  int64_t decisions = 0;
  while (!frontier.done()) {
    types.push_back(pickSufficient(frontier));
    if (types.back() < 0) {
      types.back() = pickByRatio(frontier);
      ++decisions;
    }
    frontier.commit(types.back());
  }
  PolicyScheduler scheduler;
  const Schedule &schedule =
      scheduler.follow(graph, StateMachine(Encoding::Sort, namesOf(graph)));
  ASSERT_EQ(schedule.batches.size(), types.size());
  for (size_t b = 0; b < types.size(); ++b)
    EXPECT_EQ(schedule.batches[b].type, types[b]) << "batch " << b;
  EXPECT_EQ(scheduler.unknownStates(), decisions);
  EXPECT_GT(decisions, 0);
  for (int e = 0; e < numEncodings; ++e) {
    scheduler.follow(
        graph,
        learn({graph}, namesOf(graph), static_cast<Encoding>(e)).stateMachine);
    EXPECT_EQ(scheduler.unknownStates(), 0) << name(static_cast<Encoding>(e));
  }
}
