//===- FrontierTest.cpp - Tests of frontiers ------------------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "batch-runtime/Schedule/Frontier.h"
#include "PolicyGraphs.h"

#include <algorithm>
#include <cmath>

using namespace batchrt;
using namespace batchrt::test;

namespace {
/// Properties of a frontier, recomputed from the set of tasks that have run.
struct Recomputed {
  std::vector<int32_t> ready, remaining, independent, longestChain;
  std::vector<int64_t> depthSum;
  std::vector<double> urgency; ///< includes the best next batch's urgency
  std::vector<bool> lowersBound;

  Recomputed(const TaskGraph &graph, const std::vector<bool> &ran)
      : ready(graph.numTypes), remaining(graph.numTypes),
        independent(graph.numTypes), longestChain(graph.numTypes),
        depthSum(graph.numTypes), urgency(graph.numTypes),
        lowersBound(graph.numTypes) {
    std::vector<int32_t> depths(graph.size());
    std::vector<double> urgencies(graph.size(), 1);
    std::vector<bool> isReady(graph.size());
    // Types that a task waits for, on any path.
    std::vector<uint64_t> waitsFor(graph.size(), 0);
    for (int32_t task = 0; task < graph.size(); ++task) {
      bool waits = false;
      uint16_t type = graph.types[task];
      for (int32_t o = graph.operandBegin[task];
           o < graph.operandBegin[task + 1]; ++o) {
        int32_t operand = graph.operands[o];
        depths[task] = std::max(depths[task], depths[operand] + 1);
        waits |= !ran[operand];
        waitsFor[task] |= waitsFor[operand];
        if (!ran[operand])
          waitsFor[task] |= uint64_t(1) << graph.types[operand];
      }
      if (ran[task])
        continue;
      isReady[task] = !waits;
      ++remaining[type];
      ready[type] += !waits;
      independent[type] += !(waitsFor[task] >> type & 1);
      depthSum[type] += depths[task];
    }
    for (int32_t type = 0; type < graph.numTypes; ++type) {
      // For each task: the largest number of tasks of the type on a path that
      // begins there.
      std::vector<int32_t> chains(graph.size(), 0);
      for (int32_t task = graph.size(); task-- > 0;) {
        chains[task] += graph.types[task] == type;
        for (int32_t o = graph.operandBegin[task];
             o < graph.operandBegin[task + 1]; ++o)
          chains[graph.operands[o]] =
              std::max(chains[graph.operands[o]], chains[task]);
      }
      int32_t longest = 0, withLongest = 0, readyWithLongest = 0;
      for (int32_t task = 0; task < graph.size(); ++task)
        if (!ran[task] && graph.types[task] == type)
          longest = std::max(longest, chains[task]);
      for (int32_t task = 0; task < graph.size(); ++task)
        if (!ran[task] && graph.types[task] == type &&
            chains[task] == longest) {
          ++withLongest;
          readyWithLongest += isReady[task];
        }
      longestChain[type] = longest;
      lowersBound[type] = withLongest && withLongest == readyWithLongest;
    }
    for (int32_t task = graph.size(); task-- > 0;)
      for (int32_t o = graph.operandBegin[task];
           o < graph.operandBegin[task + 1]; ++o)
        urgencies[graph.operands[o]] =
            std::max(urgencies[graph.operands[o]], 4.0 / 3 * urgencies[task]);
    for (int32_t type = 0; type < graph.numTypes; ++type) {
      // Urgencies of tasks that are ready when all ready tasks of the type have
      // run.
      std::vector<double> after(graph.numTypes, 0);
      for (int32_t task = 0; task < graph.size(); ++task) {
        if (isReady[task] && graph.types[task] == type) {
          urgency[type] += urgencies[task];
          continue;
        }
        bool waits = ran[task];
        for (int32_t o = graph.operandBegin[task];
             o < graph.operandBegin[task + 1]; ++o) {
          const int32_t operand = graph.operands[o];
          waits |= !ran[operand] &&
                   !(isReady[operand] && graph.types[operand] == type);
        }
        if (!waits)
          after[graph.types[task]] += urgencies[task];
      }
      urgency[type] += *std::max_element(after.begin(), after.end());
    }
  }
};

void expectUrgencies(const Frontier &frontier, const Recomputed &expected) {
  for (int32_t type = 0; type < frontier.numTypes(); ++type)
    if (frontier.ready(type)) {
      EXPECT_NEAR(frontier.urgency(type) / expected.urgency[type], 1, 1e-9);
    }
}
} // namespace

TEST(Frontier, KeepsWhatRecomputingFinds) {
  for (int seed = 0; seed < 40; ++seed) {
    TaskGraph graph = someGraph(seed);
    FrontierPlan plan;
    plan.compute(graph, AllFacts);
    Frontier frontier;
    frontier.start(plan);
    std::mt19937_64 random(seed);
    std::vector<bool> ran(graph.size(), false);
    while (!frontier.done()) {
      Recomputed expected(graph, ran);
      int32_t bound = 0;
      std::vector<int32_t> types;
      for (int32_t type = 0; type < graph.numTypes; ++type) {
        ASSERT_EQ(frontier.ready(type), expected.ready[type]);
        ASSERT_EQ(frontier.remaining(type), expected.remaining[type]);
        ASSERT_EQ(frontier.independent(type), expected.independent[type]);
        ASSERT_EQ(frontier.depthSum(type), expected.depthSum[type]);
        ASSERT_EQ(frontier.longestChain(type), expected.longestChain[type]);
        ASSERT_EQ(frontier.lowersBound(type), expected.lowersBound[type]);
        bound += expected.longestChain[type];
        if (frontier.ready(type))
          types.push_back(type);
      }
      ASSERT_EQ(frontier.bound(), bound);
      expectUrgencies(frontier, expected);
      int32_t greedy = pickByRatio(frontier);
      for (int32_t type : types)
        ASSERT_LE(expected.ready[type] * expected.independent[greedy],
                  expected.ready[greedy] * expected.independent[type]);
      Batch batch = frontier.commit(
          random() % 2 ? greedy
                       : types[workloads::below(
                             random, static_cast<int32_t>(types.size()))]);
      for (int32_t i = batch.begin; i < batch.begin + batch.count; ++i)
        ran[frontier.order()[i]] = true;
    }
  }
}

TEST(Frontier, DirectRatios) {
  for (int seed = 0; seed < 20; ++seed) {
    TaskGraph graph = someGraph(seed);
    FrontierPlan plan;
    plan.compute(graph, Ratios | Urgencies);
    Frontier frontier;
    frontier.start(plan);
    std::vector<bool> ran(graph.size(), false);
    while (!frontier.done()) {
      std::vector<int32_t> independent(graph.numTypes);
      for (int32_t task = 0; task < graph.size(); ++task) {
        bool waits = false;
        for (int32_t o = graph.operandBegin[task];
             o < graph.operandBegin[task + 1]; ++o)
          waits |= !ran[graph.operands[o]] &&
                   graph.types[graph.operands[o]] == graph.types[task];
        independent[graph.types[task]] += !ran[task] && !waits;
      }
      Recomputed expected(graph, ran);
      for (int32_t type = 0; type < graph.numTypes; ++type) {
        ASSERT_EQ(frontier.independent(type), independent[type]);
        ASSERT_GE(frontier.independent(type), expected.independent[type]);
      }
      expectUrgencies(frontier, expected);
      Batch batch = frontier.commit(pickByRatio(frontier));
      for (int32_t i = batch.begin; i < batch.begin + batch.count; ++i)
        ran[frontier.order()[i]] = true;
    }
  }
}

// The paths are so long that powers of 4/3 would overflow.
TEST(Frontier, UrgencyOfLongPaths) {
  TaskGraph graph;
  graph.numTypes = 2;
  for (int chain = 0; chain < 3; ++chain)
    for (int32_t i = 0, last = -1; i < 20000; ++i)
      last = graph.add((i + chain) % 2, last < 0 ? std::vector<int32_t>()
                                                 : std::vector<int32_t>{last});
  FrontierPlan plan;
  plan.compute(graph, Ratios | Urgencies);
  Frontier frontier;
  frontier.start(plan);
  while (!frontier.done()) {
    int32_t type = frontier.ready(0) > frontier.ready(1) ? 0 : 1;
    EXPECT_TRUE(std::isfinite(frontier.urgency(type)));
    EXPECT_GE(frontier.urgency(type), frontier.urgency(1 - type));
    frontier.commit(type);
  }
}
