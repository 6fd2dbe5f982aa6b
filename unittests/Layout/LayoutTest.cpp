//===- LayoutTest.cpp - Tests of layouts and batchings --------------------===//
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

/// Returns the copied accesses, as (batch, access).
std::vector<std::pair<int32_t, int32_t>> copied(const Layout &layout) {
  std::vector<std::pair<int32_t, int32_t>> result;
  for (const AccessCopy &copy : layout.copies)
    result.emplace_back(copy.batch, copy.access);
  return result;
}

/// Returns random batches. All accesses of a batch have the same length and may
/// overlap. If `repeats` is true, an access may repeat a variable.
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

/// Returns the smallest number of bytes copied by any order of the variables.
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

  // In the order of their names, the variables need two gathers and a scatter.
  Layout named = layoutInOrder(problem, {0, 1, 2, 3, 4, 5, 6, 7});
  EXPECT_EQ(verifyLayout(problem, named), "");
  EXPECT_EQ(copied(named),
            (std::vector<std::pair<int32_t, int32_t>>{{0, 0}, {0, 1}, {1, 1}}));
  EXPECT_EQ(named.bytesCopied(), 8 * (2 + 2 + 3));
}

// The first two batches require that (0, 1, 2), (3, 4, 5) and (8, 7, 6) are
// stored in corresponding orders. The other two batches require neighbors only
// in the first and in the last of these triples.
TEST(Layout, BroadcastsAcrossBatches) {
  LayoutProblem problem = problemOf(9, {{{{0, 1, 2}, {3, 4, 5}}},
                                        {{{3, 4, 5}, {8, 7, 6}}},
                                        {{{0, 1}, {6, 7}}},
                                        {{{8, 7}, {1, 2}}}});
  Layout layout = findLayout(problem);
  EXPECT_EQ(verifyLayout(problem, layout), "");
  // (0, 1) corresponds to (6, 7), (5, 4) and (2, 1), and (8, 7) to (1, 2).
  EXPECT_EQ(layout.copies.size(), 1u);
  problem.batches.pop_back();
  EXPECT_EQ(findLayout(problem).copies.size(), 1u);
  problem.batches.back() = {{{0, 1}, {8, 7}}};
  layout = findLayout(problem);
  EXPECT_EQ(verifyLayout(problem, layout), "");
  EXPECT_TRUE(layout.copies.empty());
}

// Corresponding children of P nodes must have the same order; any order fits.
TEST(Layout, OrdersOfPNodes) {
  LayoutProblem problem = problemOf(8, {{{{0, 1, 2, 3}, {4, 5, 6, 7}}}});
  EXPECT_TRUE(findLayout(problem).copies.empty());
  // The same correspondence, rotated by one, contradicts the first one in every
  // order.
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

// No order copies fewer bytes than the layout.
TEST(Layout, AgreesWithBruteForce) {
  std::mt19937 random(3);
  int64_t ideal = 0, rounds = 2000 * timesIfLong(20);
  for (int64_t round = 0; round < rounds; ++round) {
    bool repeats = round % 4 == 3;
    LayoutProblem problem =
        randomProblem(random, 3 + round % (round % 16 ? 3 : 5), repeats);
    ASSERT_EQ(checkProblem(problem), "");
    Layout layout = findLayout(problem);
    ASSERT_EQ(verifyLayout(problem, layout), "") << "round " << round;
    int64_t fewest = fewestBytes(problem);
    ASSERT_EQ(layout.bytesCopied(), fewest) << "round " << round;
    ideal += fewest == 0;
  }
  EXPECT_GT(ideal, rounds / 10);
  EXPECT_LT(ideal, rounds * 9 / 10);
}

// Batches that all fit one hidden order, with too many variables for brute
// force.
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

TEST(Layout, ChecksProblems) {
  EXPECT_EQ(checkProblem(problemOf(3, {{{{0, 1}, {1, 2}}}})), "");
  EXPECT_EQ(checkProblem(problemOf(3, {{{{0, 1}, {2}}}})),
            "batch 0 has accesses of several lengths");
  EXPECT_EQ(checkProblem(problemOf(3, {{{{0, 3}}}})),
            "batch 0 uses variable 3, but there are only 3");
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
            "batch 0: access 0 is not consecutive and not copied");
  wrong = right;
  std::swap(wrong.operators[0][0], wrong.operators[0][1]);
  EXPECT_EQ(verifyLayout(problem, wrong),
            "batch 0: access 0 is not consecutive and not copied");
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
            "batch 1: access 1 has the wrong number of bytes");
  wrong = right;
  wrong.copies.push_back(wrong.copies[0]);
  EXPECT_EQ(verifyLayout(problem, wrong),
            "some copies do not belong to any access");
}

//===----------------------------------------------------------------------===//
// Batchings
//===----------------------------------------------------------------------===//

namespace {
using Batch = std::vector<int32_t>;

void verifyBatching(const StaticBlock &block, const Batching &batching,
                    bool sharedReads) {
  EXPECT_EQ(verifyBatches(block, batching.batches), "");
  EXPECT_EQ(verifyLayout(layoutProblem(block, batching.batches, sharedReads),
                         batching.layout),
            "");
}

/// Returns random operators of three kinds. Operators of kinds 0 and 1 have one
/// operand, and operators of kind 2 have two.
StaticBlock randomBlock(std::mt19937 &random, int operators) {
  StaticBlock block;
  for (int i = 1 + random() % 4; i > 0; --i)
    block.variables.push_back({static_cast<int64_t>(8 + random() % 2 * 8), 0});
  for (int o = 0; o < operators; ++o) {
    Operator op;
    op.kind = random() % 3;
    for (int i = op.kind == 2 ? 2 : 1; i > 0; --i)
      op.operands.push_back(random() % block.variables.size());
    op.results.push_back(static_cast<int32_t>(block.variables.size()));
    block.variables.push_back({8, 0});
    block.operators.push_back(op);
  }
  return block;
}

/// Calls `callback` with each sequence of batches. A batch is any subset of the
/// ready operators of a kind, or always all of them if `allReady` is true.
template <class Callback>
void forEachSequence(const StaticBlock &block, bool allReady,
                     OperatorBatches &sequence, uint32_t done,
                     Callback &&callback) {
  uint32_t operators = static_cast<uint32_t>(block.operators.size());
  if (done == (uint32_t(1) << operators) - 1)
    return callback(sequence);
  for (int32_t kind = 0; kind < 3; ++kind) {
    Batch ready;
    for (uint32_t o = 0; o < operators; ++o) {
      bool isReady = !(done >> o & 1) && block.operators[o].kind == kind;
      for (uint32_t before = 0; before < operators; ++before)
        for (int32_t operand : block.operators[o].operands)
          if (block.operators[before].results[0] == operand)
            isReady = isReady && (done >> before & 1);
      if (isReady)
        ready.push_back(static_cast<int32_t>(o));
    }
    uint32_t all = (uint32_t(1) << ready.size()) - 1;
    for (uint32_t some = allReady ? std::max(all, uint32_t(1)) : 1; some <= all;
         ++some) {
      Batch batch;
      uint32_t after = done;
      for (size_t i = 0; i < ready.size(); ++i)
        if (some >> i & 1) {
          batch.push_back(ready[i]);
          after |= uint32_t(1) << ready[i];
        }
      sequence.push_back(batch);
      forEachSequence(block, allReady, sequence, after, callback);
      sequence.pop_back();
    }
  }
}

using LaunchesAndBytes = std::pair<int64_t, int64_t>;

LaunchesAndBytes leastCost(const StaticBlock &block, bool allReady,
                           bool sharedReads) {
  LaunchesAndBytes least{INT64_MAX, 0};
  OperatorBatches sequence;
  forEachSequence(
      block, allReady, sequence, 0, [&](const OperatorBatches &batches) {
        // No layout can help, because its copies only increase the cost.
        if (static_cast<int64_t>(batches.size()) > least.first)
          return;
        Layout layout = findLayout(layoutProblem(block, batches, sharedReads));
        least = std::min(
            least, {static_cast<int64_t>(batches.size() + layout.copies.size()),
                    layout.bytesCopied()});
      });
  return least;
}
} // namespace

// The result is never worse than that of the paper's search. That search takes
// all ready operators of a kind at a time, in the best order. The result is
// usually optimal over all batchings.
TEST(Batching, AgreesWithBruteForce) {
  std::mt19937 random(8);
  int64_t best = 0, rounds = 500 * timesIfLong(20);
  for (int64_t round = 0; round < rounds; ++round) {
    StaticBlock block = randomBlock(random, 1 + round % 7);
    ASSERT_EQ(checkBlock(block), "");
    BatchingOptions options;
    options.sharedReads = round % 2;
    Batching batching = findBatching(block, options);
    verifyBatching(block, batching, options.sharedReads);
    EXPECT_TRUE(batching.isBest);
    LaunchesAndBytes found{batching.launches(), batching.layout.bytesCopied()};
    ASSERT_LE(found, leastCost(block, true, options.sharedReads))
        << "round " << round;
    LaunchesAndBytes least = leastCost(block, false, options.sharedReads);
    ASSERT_GE(found, least) << "round " << round;
    best += found == least;
  }
  EXPECT_GT(best, rounds * 9 / 10);
}

// Beyond the limits, the search continues greedily.
TEST(Batching, Limits) {
  StaticBlock block;
  const StaticBlock cell = cells::lstm().block;
  for (int copy = 0; copy < 4; ++copy) {
    int32_t first = static_cast<int32_t>(block.variables.size());
    block.variables.insert(block.variables.end(), cell.variables.begin(),
                           cell.variables.end());
    for (Operator op : cell.operators) {
      for (int32_t &operand : op.operands)
        operand += first;
      for (int32_t &result : op.results)
        result += first;
      block.operators.push_back(op);
    }
  }
  BatchingOptions options;
  options.sharedReads = true;
  options.maxStates = options.maxPaths = 50;
  Batching batching = findBatching(block, options);
  verifyBatching(block, batching, true);
  EXPECT_FALSE(batching.isBest);
  EXPECT_LE(batching.states, 500);
  // Each batch runs the same step of all copies of the cell.
  EXPECT_LE(batching.batches.size(), findBatching(cell).batches.size() + 1);
}

TEST(Batching, NoOperators) {
  StaticBlock block;
  block.variables.resize(3);
  Batching batching = findBatching(block);
  verifyBatching(block, batching, false);
  EXPECT_TRUE(batching.batches.empty());
}

TEST(Batching, ChecksBlocks) {
  StaticBlock block{{{8, 0}, {8, 0}, {8, 0}}, {{0, {0}, {1}}, {0, {1}, {2}}}};
  EXPECT_EQ(checkBlock(block), "");
  StaticBlock wrong = block;
  wrong.operators[1].operands.push_back(0);
  EXPECT_NE(checkBlock(wrong).find("than other operators of its kind"),
            std::string::npos);
  wrong = block;
  wrong.operators[1].operands[0] = 3;
  EXPECT_EQ(checkBlock(wrong),
            "operator 1 uses variable 3, but there are only 3");
  wrong = block;
  std::swap(wrong.operators[0], wrong.operators[1]);
  EXPECT_EQ(checkBlock(wrong),
            "variable 1 is used before operator 1 writes it");
  wrong = block;
  wrong.operators.push_back({0, {0}, {2}});
  EXPECT_EQ(checkBlock(wrong), "variable 2 is written twice");
}

TEST(Batching, VerifyFindsFaults) {
  StaticBlock block{{{8, 0}, {8, 0}, {8, 0}, {8, 0}},
                    {{0, {0}, {1}}, {0, {1}, {2}}, {1, {0}, {3}}}};
  EXPECT_EQ(verifyBatches(block, {{0}, {1}, {2}}), "");
  EXPECT_EQ(verifyBatches(block, {{0, 1}, {2}}),
            "operator 1 runs before its operand 1 is written");
  EXPECT_EQ(verifyBatches(block, {{0, 2}, {1}}),
            "batch 0 has operators of several kinds");
  EXPECT_EQ(verifyBatches(block, {{0}, {2}}), "operator 1 never runs");
  EXPECT_EQ(verifyBatches(block, {{0}, {0}}),
            "operator 0 runs twice or does not exist");
}

// ED-Batch, table 2: no more gather copies and bytes than with the paper's
// layout.
TEST(Batching, CellsOfThePaper) {
  for (const cells::Cell &cell : cells::all()) {
    SCOPED_TRACE(cell.name);
    ASSERT_EQ(checkBlock(cell.block), "");
    Batching batching = findBatching(cell.block);
    verifyBatching(cell.block, batching, false);
    EXPECT_TRUE(batching.isBest);
    EXPECT_LE(gatherCopies(cell, batching.batches, batching.layout),
              cell.paperKernels);
    EXPECT_LE(memoryBytes(cell, batching.layout), cell.paperBytes);

    // If kernels can read operands that all tasks share, these cells need no
    // copies.
    BatchingOptions shared;
    shared.sharedReads = true;
    Batching without = findBatching(cell.block, shared);
    verifyBatching(cell.block, without, true);
    EXPECT_LE(without.launches(), batching.launches());
    EXPECT_TRUE(without.layout.copies.empty());
  }
}

// The paper's search reproduces the paper's numbers to the byte, so these are
// the cells that the paper measured. This is unknown only for the inner cell of
// the TreeLSTM.
TEST(Batching, SearchOfThePaper) {
  BatchingOptions options;
  options.subsets = false;
  for (cells::Cell cell : cells::all()) {
    SCOPED_TRACE(cell.name);
    if (cell.name == "TreeLSTM-Internal")
      continue;
    if (cell.name == "TreeGRU-Internal")
      cell = cells::treeGruInternal(/*ownBiases=*/true);
    Batching batching = findBatching(cell.block, options);
    verifyBatching(cell.block, batching, false);
    EXPECT_EQ(gatherCopies(cell, batching.batches, batching.layout),
              cell.paperKernels);
    EXPECT_EQ(memoryBytes(cell, batching.layout), cell.paperBytes);
    EXPECT_GE(batching.launches(), findBatching(cell.block).launches());
  }
}
