//===- TaskGraphTest.cpp - Tests of the checks of graphs and schedules ----===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "batch-runtime/Schedule/TaskGraph.h"
#include "PolicyGraphs.h"

using namespace batchrt;
using namespace batchrt::test;

TEST(TaskGraph, Check) {
  TaskGraph graph = figureOne();
  EXPECT_EQ(graph.check(), "");
  TaskGraph two = figureOne();
  two.append(graph);
  EXPECT_EQ(two.check(), "");
  EXPECT_EQ(two.size(), 2 * graph.size());
  EXPECT_EQ(lowerBound(two), lowerBound(graph));
  graph.operands[0] = 4;
  EXPECT_EQ(graph.check(), "task 4 reads task 4, which is not before it");
  graph = figureOne();
  graph.types[2] = 3;
  EXPECT_EQ(graph.check(), "task 2 has type 3 of 3");
  graph = figureOne();
  graph.operandBegin[6] = 1;
  EXPECT_EQ(graph.check(),
            "task 5 has its operands before those of the previous task");
  graph.operandBegin.pop_back();
  EXPECT_EQ(graph.check(), "the ranges of operands do not match the tasks");
  graph.numTypes = TaskGraph::maxTypes + 1;
  EXPECT_EQ(graph.check(), "4097 types, but the limit is 4096");
}

TEST(Schedule, Verify) {
  TaskGraph graph;
  graph.numTypes = 2;
  graph.add(0, {});
  graph.add(0, {});
  graph.add(1, {0, 1});
  Schedule good{{0, 1, 2}, {{0, 0, 2}, {1, 2, 1}}};
  EXPECT_EQ(good.verify(graph), "");
  using Batches = std::vector<Batch>;
  auto broken = [&](const Batches &batches, std::vector<int32_t> order) {
    return Schedule{std::move(order), batches}.verify(graph);
  };
  EXPECT_EQ(broken({{1, 2, 1}, {0, 0, 2}}, {0, 1, 2}),
            "task 2 runs before its operand 0");
  EXPECT_EQ(broken({{0, 0, 2}}, {0, 1, 2}), "task 2 never runs");
  EXPECT_EQ(broken({{0, 0, 2}, {0, 1, 1}}, {0, 1, 2}), "task 1 runs twice");
  EXPECT_EQ(broken({{0, 0, 3}}, {0, 1, 2}),
            "batch 0 has task 2 of another type");
  EXPECT_EQ(broken({{0, 0, 0}}, {0, 1, 2}), "batch 0 is empty");
  EXPECT_EQ(broken({{0, 2, 2}}, {0, 1, 2}),
            "batch 0 has tasks beyond the order");
  EXPECT_EQ(broken({{0, 0, 1}}, {7, 1, 2}),
            "batch 0 has task 7, which does not exist");
}
