//===- LayoutTest.cpp - Tests of layouts and batchings of blocks ----------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// With BATCH_LONG_TESTS set in the environment, the random tests are longer.
//
//===----------------------------------------------------------------------===//

#include "Cells.h"

#include "gtest/gtest.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <random>

using namespace batchrt;
using Reason = AccessCopy::Reason;

namespace {
int64_t timesIfLong(int64_t factor) {
  return std::getenv("BATCH_LONG_TESTS") ? factor : 1;
}

LayoutProblem problemOf(int32_t variables,
                        const std::vector<BatchAccesses> &batches) {
  return {std::vector<Variable>(variables, {8, 0}), batches, false};
}

/// What is copied, as (batch, access).
std::vector<std::pair<int32_t, int32_t>> copied(const Layout &layout) {
  std::vector<std::pair<int32_t, int32_t>> result;
  for (const AccessCopy &copy : layout.copies)
    result.emplace_back(copy.batch, copy.access);
  return result;
}

/// Variables of random batches: every batch has accesses of one length, which
/// may overlap; `repeats` may have a variable twice.
LayoutProblem randomProblem(std::mt19937 &random, int32_t n, bool repeats) {
  LayoutProblem problem;
  for (int32_t v = 0; v < n; ++v)
    problem.variables.push_back({static_cast<int64_t>(1 + random() % 9), 0});
  std::vector<int32_t> all(n);
  std::iota(all.begin(), all.end(), 0);
  for (int b = 1 + random() % 4; b > 0; --b) {
    problem.batches.emplace_back();
    int32_t operators = 2 + random() % (n - 1);
    if (operators > 2 && random() % 2)
      operators = 2;
    for (int a = 1 + random() % 3; a > 0; --a) {
      std::shuffle(all.begin(), all.end(), random);
      problem.batches.back().accesses.emplace_back(all.begin(),
                                                   all.begin() + operators);
      if (repeats && random() % 8 == 0)
        problem.batches.back().accesses.back()[0] =
            problem.batches.back().accesses.back()[1];
    }
  }
  return problem;
}

/// The fewest bytes that any order copies.
int64_t fewestBytes(const LayoutProblem &problem) {
  std::vector<int32_t> order(problem.variables.size());
  std::iota(order.begin(), order.end(), 0);
  int64_t fewest = INT64_MAX;
  do
    fewest = std::min(fewest, layoutInOrder(problem, order).bytesCopied());
  while (std::next_permutation(order.begin(), order.end()));
  return fewest;
}
} // namespace

// ED-Batch, Figure 3: variables x1 ... x8 are 0 ... 7.
TEST(Layout, Example) {
  LayoutProblem problem =
      problemOf(8, {{{{0, 2}, {1, 0}, {3, 4}}}, {{{2, 3, 4}, {7, 5, 6}}}});
  Layout layout = findLayout(problem);
  EXPECT_EQ(verifyLayout(problem, layout), "");
  EXPECT_TRUE(layout.copies.empty());

  // By the names of the variables: two gathers and a scatter.
  Layout named = layoutInOrder(problem, {0, 1, 2, 3, 4, 5, 6, 7});
  EXPECT_EQ(verifyLayout(problem, named), "");
  EXPECT_EQ(copied(named),
            (std::vector<std::pair<int32_t, int32_t>>{{0, 0}, {0, 1}, {1, 1}}));
  EXPECT_EQ(named.bytesCopied(), 8 * (2 + 2 + 3));
}

// The first batch orders the first three variables, the second one their
// images, of which only the ends are known to be neighbours at first.
TEST(Layout, BroadcastsAcrossBatches) {
  LayoutProblem problem = problemOf(9, {{{{0, 1, 2}, {3, 4, 5}}},
                                        {{{3, 4, 5}, {8, 7, 6}}},
                                        {{{0, 1}, {6, 7}}},
                                        {{{8, 7}, {1, 2}}}});
  Layout layout = findLayout(problem);
  EXPECT_EQ(verifyLayout(problem, layout), "");
  // (0, 1) is like (6, 7), and (8, 7) is like (1, 2), (5, 4) and (2, 1).
  EXPECT_EQ(layout.copies.size(), 1u);
  problem.batches.pop_back();
  EXPECT_EQ(findLayout(problem).copies.size(), 1u);
  problem.batches.back() = {{{0, 1}, {8, 7}}};
  layout = findLayout(problem);
  EXPECT_EQ(verifyLayout(problem, layout), "");
  EXPECT_TRUE(layout.copies.empty());
}

// Children of a P node have to be in one order, whichever.
TEST(Layout, OrdersOfPNodes) {
  LayoutProblem problem = problemOf(8, {{{{0, 1, 2, 3}, {4, 5, 6, 7}}}});
  EXPECT_TRUE(findLayout(problem).copies.empty());
  // In another order too: no order of four is the same backwards.
  problem.batches.push_back({{{0, 1, 2, 3}, {5, 6, 7, 4}}});
  Layout layout = findLayout(problem);
  EXPECT_EQ(verifyLayout(problem, layout), "");
  EXPECT_EQ(layout.copies.size(), 1u);
}

TEST(Layout, ConflictsCopyTheFewestBytes) {
  LayoutProblem problem = problemOf(4, {{{{0, 1}}}, {{{0, 2}}}, {{{0, 3}}}});
  problem.variables[1].bytes = 1;
  Layout layout = findLayout(problem);
  EXPECT_EQ(verifyLayout(problem, layout), "");
  ASSERT_EQ(layout.copies.size(), 1u);
  EXPECT_EQ(layout.copies[0].batch, 0);
  EXPECT_EQ(layout.copies[0].bytes, 9);
  EXPECT_EQ(layout.copies[0].reason, Reason::conflict);
}

TEST(Layout, WhatNoLayoutHelps) {
  LayoutProblem problem =
      problemOf(6, {{{{0, 0, 0}, {1, 2, 3}, {2, 3, 4}}}, {{{5, 5}, {5, 4}}}});
  problem.variables[5].space = 1;
  Layout layout = findLayout(problem);
  EXPECT_EQ(verifyLayout(problem, layout), "");
  ASSERT_EQ(layout.copies.size(), 3u);
  EXPECT_EQ(layout.copies[0].reason, Reason::repeated);
  EXPECT_EQ(layout.copies[0].bytes, 24);
  EXPECT_EQ(layout.copies[1].reason, Reason::repeated);
  EXPECT_EQ(layout.copies[2].reason, Reason::spaces);

  problem.sharedReads = true;
  layout = findLayout(problem);
  EXPECT_EQ(verifyLayout(problem, layout), "");
  EXPECT_EQ(copied(layout), (std::vector<std::pair<int32_t, int32_t>>{{1, 1}}));
}

TEST(Layout, Nothing) {
  LayoutProblem problem = problemOf(0, {});
  EXPECT_EQ(verifyLayout(problem, findLayout(problem)), "");
  problem = problemOf(3, {{{}}, {{{2}, {1}}}});
  EXPECT_EQ(verifyLayout(problem, findLayout(problem)), "");
}

// A layout without copies is found if there is one, and otherwise one in which
// nothing is copied without need.
TEST(Layout, AgreesWithBruteForce) {
  std::mt19937 random(3);
  int64_t ideal = 0, best = 0, rounds = 2000 * timesIfLong(20);
  for (int64_t round = 0; round < rounds; ++round) {
    bool repeats = round % 4 == 3;
    LayoutProblem problem =
        randomProblem(random, 3 + round % (round % 16 ? 3 : 5), repeats);
    Layout layout = findLayout(problem);
    ASSERT_EQ(verifyLayout(problem, layout), "") << "round " << round;
    int64_t fewest = fewestBytes(problem);
    ASSERT_GE(layout.bytesCopied(), fewest);
    if (fewest == 0)
      ASSERT_TRUE(layout.copies.empty()) << "round " << round;
    ideal += fewest == 0;
    best += layout.bytesCopied() == fewest;
  }
  EXPECT_GT(ideal, rounds / 10);
  EXPECT_LT(ideal, rounds * 9 / 10);
  EXPECT_GT(best, rounds * 8 / 10);
}

// Batches that all fit one hidden order, too many variables for brute force.
TEST(Layout, FindsAHiddenOrder) {
  std::mt19937 random(4);
  for (int64_t round = 0; round < 200 * timesIfLong(20); ++round) {
    int32_t n = 10 + random() % 150;
    std::vector<int32_t> hidden(n);
    std::iota(hidden.begin(), hidden.end(), 0);
    std::shuffle(hidden.begin(), hidden.end(), random);
    LayoutProblem problem = problemOf(n, {});
    for (int b = 1 + random() % 20; b > 0; --b) {
      int32_t length = 2 + random() % std::min(n - 2, 12);
      std::vector<int32_t> operators(length);
      std::iota(operators.begin(), operators.end(), 0);
      std::shuffle(operators.begin(), operators.end(), random);
      problem.batches.emplace_back();
      for (int a = 1 + random() % 3; a > 0; --a) {
        int32_t begin = random() % (n - length + 1);
        problem.batches.back().accesses.emplace_back();
        for (int32_t o : operators)
          problem.batches.back().accesses.back().push_back(hidden[begin + o]);
      }
    }
    Layout layout = findLayout(problem);
    ASSERT_EQ(verifyLayout(problem, layout), "");
    ASSERT_TRUE(layout.copies.empty()) << "round " << round;
  }
}

TEST(Layout, Deterministic) {
  std::mt19937 random(6);
  for (int round = 0; round < 50; ++round) {
    LayoutProblem problem = randomProblem(random, 12, true);
    Layout one = findLayout(problem), two = findLayout(problem);
    EXPECT_EQ(one.order, two.order);
    EXPECT_EQ(one.operators, two.operators);
  }
}

TEST(Layout, VerifyFindsFaults) {
  LayoutProblem problem =
      problemOf(4, {{{{0, 1}, {2, 3}}}, {{{1, 0}, {0, 0}}}});
  const Layout right = findLayout(problem);
  ASSERT_EQ(verifyLayout(problem, right), "");
  Layout wrong = right;
  wrong.order[0] = wrong.order[1];
  EXPECT_EQ(verifyLayout(problem, wrong),
            "not every variable is laid out exactly once");
  wrong = right;
  wrong.order = {0, 2, 1, 3};
  EXPECT_EQ(verifyLayout(problem, wrong),
            "batch 0: access 0 is not contiguous and not copied");
  wrong = right;
  std::swap(wrong.operators[0][0], wrong.operators[0][1]);
  EXPECT_EQ(verifyLayout(problem, wrong),
            "batch 0: access 0 is not contiguous and not copied");
  wrong = right;
  wrong.operators[1] = {0, 0};
  EXPECT_EQ(verifyLayout(problem, wrong),
            "batch 1 does not have every operator exactly once");
  wrong.operators.pop_back();
  EXPECT_EQ(verifyLayout(problem, wrong), "not every batch has an order");
  wrong = right;
  wrong.copies.insert(wrong.copies.begin(), {0, 1, 16, Reason::conflict});
  EXPECT_EQ(verifyLayout(problem, wrong),
            "batch 0: access 1 is copied without need");
  wrong = right;
  wrong.copies[0].bytes = 1;
  EXPECT_EQ(verifyLayout(problem, wrong),
            "batch 1: access 1 has another number of bytes");
  wrong = right;
  wrong.copies.push_back(wrong.copies[0]);
  EXPECT_EQ(verifyLayout(problem, wrong), "there are copies of nothing");
}

//===----------------------------------------------------------------------===//
// Batchings
//===----------------------------------------------------------------------===//

namespace {
void verifyBatching(const StaticBlock &block, const Batching &batching,
                    bool sharedReads) {
  EXPECT_EQ(verifyBatches(block, batching.batches), "");
  EXPECT_EQ(verifyLayout(layoutProblem(block, batching.batches, sharedReads),
                         batching.layout),
            "");
}
} // namespace

// ED-Batch, table 2: no more memory kernels and bytes than with its layout.
TEST(Batching, CellsOfThePaper) {
  for (const cells::Cell &cell : cells::all()) {
    SCOPED_TRACE(cell.name);
    ASSERT_EQ(checkBlock(cell.block), "");
    Batching batching = findBatching(cell.block);
    verifyBatching(cell.block, batching, false);
    EXPECT_TRUE(batching.isBest);
    EXPECT_LE(memoryKernels(cell, batching.batches, batching.layout),
              cell.paperKernels);
    EXPECT_LE(memoryBytes(cell, batching.layout), cell.paperBytes);

    // A kernel that reads a shared operand needs no copies at all.
    BatchingOptions shared;
    shared.sharedReads = true;
    Batching without = findBatching(cell.block, shared);
    verifyBatching(cell.block, without, true);
    EXPECT_LE(without.launches(), batching.launches());
    EXPECT_TRUE(without.layout.copies.empty());
  }
}
