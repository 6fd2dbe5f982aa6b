//===- BlockPolicyTest.cpp - A learned choice of blocks -------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "batch-runtime/Schedule/BlockPolicy.h"
#include "batch-runtime/Schedule/Random.h"

#include <gtest/gtest.h>

using namespace batchrt;

namespace {

/// Builds a loop that runs a low-cost block, then one of three high-cost blocks
/// at random.
LanePaths makeProgram(uint64_t seed, int instances) {
  LanePaths program;
  program.blocks = {"loop", "small", "large", "middle"};
  program.costs = {1, 1000, 8000, 3000};
  Random random(seed);
  for (int i = 0; i < instances; ++i) {
    std::vector<int32_t> path;
    for (size_t n = 20 + random.below(20); n > 0; --n) {
      path.push_back(0);
      size_t which = random.below(6);
      path.push_back(which < 3 ? 1 : which < 4 ? 2 : 3);
    }
    program.paths.push_back(path);
  }
  return program;
}

TEST(BlockPolicy, RunsCostWhatTheirStepsDo) {
  LanePaths program{{"a", "b"}, {1, 100}, {4, {0, 1, 0, 1}}};
  const StateMachine none(Encoding::Max, program.blocks);
  EXPECT_EQ(costOfRun(program, 4, none), 202);
  EXPECT_EQ(costOfRun(program, 2, none), 404);
  EXPECT_EQ(costOfRun(program, 1, none), 808);
}

TEST(BlockPolicy, BlocksOfLowCostGoFirst) {
  // If the high-cost block ran first, the second lane would later run it by
  // itself.
  LanePaths program{{"a", "b"}, {1, 100}, {{1}, {0, 0, 0, 1}}};
  EXPECT_EQ(lowCostBelow(program.costs), 1);
  program.costs[1] = 200;
  EXPECT_EQ(lowCostBelow(program.costs), 3);
  EXPECT_EQ(costOfRun(program, 2, StateMachine(Encoding::Max, program.blocks)),
            203);
}

TEST(BlockPolicy, StateMachinesDecide) {
  // When lanes wait for both blocks, the second one has the lower total cost so
  // far. However, running the first block first brings all lanes together.
  LanePaths program{
      {"a", "b"}, {100, 100}, {{0, 0, 1}, {0, 1}, {0, 1}, {0, 1}}};
  StateMachine stateMachine(Encoding::Max, program.blocks);
  EXPECT_EQ(costOfRun(program, 4, stateMachine), 400);
  stateMachine.set({0, 1, 1}, 0);
  EXPECT_EQ(costOfRun(program, 4, stateMachine), 300);
}

TEST(BlockPolicy, TablesHaveAllStates) {
  StateMachine stateMachine(Encoding::Max, {"a", "b", "c", "d", "e", "f"});
  std::vector<State> states;
  for (uint16_t a = 0; a < 6; ++a)
    for (uint16_t b = a + 1; b < 6; ++b)
      for (uint16_t most : {a, b}) {
        states.push_back({a, b, most});
        stateMachine.set(states.back(), most == a ? b : a);
      }
  std::vector<int64_t> table = makeStateTable(stateMachine);
  const size_t slots = table.size() / 2;
  EXPECT_EQ(slots & (slots - 1), 0u);
  auto find = [&](const State &state) {
    int64_t hash = hashOf(state);
    size_t slot = static_cast<uint64_t>(hash) >> 32 & (slots - 1);
    while (table[2 * slot] && table[2 * slot] != hash)
      slot = (slot + 1) & (slots - 1);
    return table[2 * slot + 1];
  };
  for (const State &state : states)
    EXPECT_EQ(find(state), stateMachine.next(state));
  EXPECT_EQ(find({0, 1, 2, 2}), -1);
  // An empty state machine has a valid table, too.
  EXPECT_EQ(makeStateTable({}), std::vector<int64_t>({0, -1, 0, -1}));
}

TEST(BlockPolicy, Learns) {
  LanePaths program = makeProgram(1, 32);
  LearnedBlocks learned = learnBlocks(program, {32, 16, 8});
  EXPECT_LT(learned.cost, learned.costWithout * 0.95);
  // The learned state machine also reduces the cost for other instances and
  // other numbers of lanes.
  LanePaths others = makeProgram(2, 100);
  const StateMachine none(Encoding::Max, program.blocks);
  for (int64_t lanes : {4, 12, 64})
    EXPECT_LT(costOfRun(others, lanes, learned.stateMachine),
              costOfRun(others, lanes, none))
        << lanes << " lanes";
}

TEST(BlockPolicy, LearnsTheSameFromTheSame) {
  LanePaths program = makeProgram(3, 16);
  LearnedBlocks first = learnBlocks(program, {8});
  EXPECT_EQ(learnBlocks(program, {8}).stateMachine.print(),
            first.stateMachine.print());
}

TEST(BlockPolicy, LearnsNothingWhereNothingCanBeBetter) {
  // All lanes run together, so every step is full.
  LanePaths program{{"a", "b"}, {1, 100}, {8, {0, 1, 0, 1}}};
  LearnedBlocks learned = learnBlocks(program, {8, 4});
  EXPECT_EQ(learned.cost, learned.costWithout);
  EXPECT_EQ(learned.stateMachine.states(), 0);
  EXPECT_LT(learned.trials, BlockLearningOptions().trials);
}

} // namespace
