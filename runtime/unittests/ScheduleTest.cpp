//===- ScheduleTest.cpp - Tests of scheduling by depth --------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Batch/Schedule/DepthSchedule.h"

#include "gtest/gtest.h"

#include <algorithm>
#include <map>
#include <random>
#include <tuple>

using namespace batchrt;

namespace {
/// Tasks of a random graph, recorded in topological order.
struct RandomTasks {
  std::vector<std::vector<int64_t>> records;
  std::vector<TaskQueue> queues;
  std::vector<int64_t> operandBegin{0}, operands;
  /// What brute force says: (phase, depth, kernel) -> tasks in recorded order.
  std::map<std::tuple<int64_t, int64_t, int64_t>, std::vector<uint32_t>> steps;

  RandomTasks(int seed, int64_t tasks, int64_t kernels, int64_t stretch) {
    std::mt19937 random(seed);
    auto below = [&](int64_t bound) {
      return static_cast<int64_t>(random() % bound);
    };
    records.resize(kernels);
    std::vector<int64_t> depths, phases, kernelPhase, cells;
    for (int64_t k = 0; k < kernels; ++k) {
      kernelPhase.push_back(below(3));
      cells.push_back(1 + below(4));
    }
    for (int64_t t = 0; t < tasks; ++t) {
      int64_t kernel = below(kernels), depth = below(stretch);
      for (int64_t i = below(4); i > 0 && t > 0; --i) {
        int64_t operand = below(t);
        if (phases[operand] > kernelPhase[kernel])
          continue;
        operands.push_back(operand);
        depth = std::max(depth, depths[operand] + 1);
      }
      operandBegin.push_back(operands.size());
      depths.push_back(depth);
      phases.push_back(kernelPhase[kernel]);
      records[kernel].push_back(depth << 32 | t);
      records[kernel].resize(records[kernel].size() + cells[kernel] - 1, -7);
      steps[{kernelPhase[kernel], depth, kernel}].push_back(t);
    }
    for (int64_t k = 0; k < kernels; ++k)
      queues.push_back({records[k].data(), cells[k],
                        static_cast<int64_t>(records[k].size()) / cells[k],
                        kernelPhase[k]});
  }
};

void compareWithBruteForce(const RandomTasks &tasks,
                           DepthScheduler &scheduler) {
  int64_t kernels = tasks.queues.size();
  ASSERT_EQ(checkTasks(tasks.queues.data(), kernels), "");
  scheduler.run(tasks.queues.data(), kernels);
  ASSERT_EQ(verifySchedule(tasks.queues.data(), kernels, scheduler,
                           tasks.operandBegin, tasks.operands),
            "");
  ASSERT_EQ(scheduler.sequence().size(), tasks.steps.size());
  auto expected = tasks.steps.begin();
  for (int32_t s : scheduler.sequence()) {
    const DepthStep &step = scheduler.steps()[s];
    EXPECT_EQ(std::make_tuple(tasks.queues[step.kernel].phase, step.depth,
                              step.kernel),
              expected->first);
    std::vector<uint32_t> found;
    for (int64_t i = 0; i < step.count; ++i)
      found.push_back(
          tasks.queues[step.kernel].task(scheduler.order()[step.begin + i]));
    EXPECT_EQ(found, expected->second);
    ++expected;
  }
}
} // namespace

TEST(DepthSchedule, AgreesWithBruteForce) {
  DepthScheduler scheduler; // one for all, as a session has it
  for (int seed = 0; seed < 200; ++seed)
    compareWithBruteForce(
        RandomTasks(seed, 1 + seed * 3, 1 + seed % 7, 1 + seed % 5), scheduler);
}

TEST(DepthSchedule, FewTasksOverManyDepths) {
  DepthScheduler scheduler;
  for (int seed = 0; seed < 50; ++seed)
    compareWithBruteForce(RandomTasks(seed, 1 + seed, 3, 1 << 20), scheduler);
}

TEST(DepthSchedule, NoTasks) {
  DepthScheduler scheduler;
  std::vector<TaskQueue> queues(3);
  scheduler.run(queues.data(), 3);
  EXPECT_TRUE(scheduler.steps().empty());
  scheduler.run(nullptr, 0);
  EXPECT_TRUE(scheduler.sequence().empty());
}

TEST(DepthSchedule, ChecksProblems) {
  std::vector<int64_t> records{0, 0};
  TaskQueue queue{records.data(), 1, 2, 0};
  EXPECT_EQ(checkTasks(&queue, 1), "task 0 is recorded twice");
  records[1] = 5;
  EXPECT_EQ(checkTasks(&queue, 1), "task 5 is recorded, but there are 2 tasks");
  records[1] = int64_t(1) << 60;
  EXPECT_NE(checkTasks(&queue, 1).find("has depth"), std::string::npos);
}

TEST(DepthSchedule, VerifiesOrder) {
  // Task 1 needs task 0, but both have one depth.
  std::vector<int64_t> records{0, 1};
  TaskQueue queue{records.data(), 1, 2, 0};
  DepthScheduler scheduler;
  scheduler.run(&queue, 1);
  EXPECT_EQ(verifySchedule(&queue, 1, scheduler, {0, 0, 1}, {0}),
            "task 1 runs before its operand 0");
  EXPECT_EQ(verifySchedule(&queue, 1, scheduler, {0, 0, 0, 0}, {}),
            "task 2 never runs");
}
