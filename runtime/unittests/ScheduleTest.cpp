//===- ScheduleTest.cpp - Tests of scheduling by depth --------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "batch-runtime/Schedule/DepthSchedule.h"

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
  /// Result of brute force: (phase, depth, kernel) -> tasks in recorded order.
  std::map<std::tuple<int64_t, int64_t, int64_t>, std::vector<uint32_t>> steps;

  RandomTasks(int seed, int64_t tasks, int64_t kernels, int64_t numDepths) {
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
      int64_t kernel = below(kernels), depth = below(numDepths);
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

/// State that a session keeps for all its runs.
struct Scheduling {
  std::vector<DepthSorter> sorters{3};
  DepthScheduler scheduler;

  /// Schedules parts, each with its own queues.
  void run(const std::vector<std::vector<TaskQueue>> &parts,
           int64_t plans = 1) {
    std::vector<const DepthSorter *> sorted;
    for (size_t p = 0; p < parts.size(); ++p) {
      sorters[p].run(parts[p].data(), parts[p].size());
      sorted.push_back(&sorters[p]);
    }
    scheduler.run(parts[0].data(), parts[0].size(), sorted.data(),
                  sorted.size(), plans);
  }
};

/// Schedules parts and compares the steps and the order of tasks with the
/// result of brute force.
void compareSteps(const RandomTasks &tasks,
                  const std::vector<std::vector<TaskQueue>> &parts,
                  Scheduling &scheduling) {
  scheduling.run(parts);
  const DepthScheduler &scheduler = scheduling.scheduler;
  std::vector<uint32_t> order(tasks.operandBegin.size() - 1, -1);
  for (size_t p = 0; p < parts.size(); ++p) {
    const DepthSorter &sorter = scheduling.sorters[p];
    ASSERT_EQ(scheduler.places(p).size(), sorter.steps().size());
    for (size_t s = 0; s < sorter.steps().size(); ++s) {
      const DepthStep &step = sorter.steps()[s];
      for (int64_t i = 0; i < step.count; ++i)
        order[scheduler.places(p)[s].begin + i] =
            parts[p][step.kernel].task(sorter.order()[step.begin + i]);
    }
  }
  ASSERT_EQ(scheduler.sequence().size(), tasks.steps.size());
  auto expected = tasks.steps.begin();
  for (int32_t s : scheduler.sequence()) {
    const DepthStep &step = scheduler.steps()[s];
    EXPECT_EQ(std::make_tuple(tasks.queues[step.kernel].phase, step.depth,
                              step.kernel),
              expected->first);
    EXPECT_EQ(std::vector<uint32_t>(order.begin() + step.begin,
                                    order.begin() + step.begin + step.count),
              expected->second);
    ++expected;
  }
}

void compareWhole(const RandomTasks &tasks, Scheduling &scheduling) {
  int64_t kernels = tasks.queues.size();
  ASSERT_EQ(checkTasks(tasks.queues.data(), kernels), "");
  compareSteps(tasks, {tasks.queues}, scheduling);
  EXPECT_EQ(verifySchedule(tasks.queues.data(), kernels, scheduling.sorters[0],
                           scheduling.scheduler, tasks.operandBegin,
                           tasks.operands),
            "");
}

/// Splits each queue among three parts, some of which may get no tasks of it.
std::vector<std::vector<TaskQueue>> cutInParts(const RandomTasks &tasks) {
  std::vector<std::vector<TaskQueue>> parts(3, tasks.queues);
  for (size_t k = 0; k < tasks.queues.size(); ++k) {
    const TaskQueue &queue = tasks.queues[k];
    int64_t halves = static_cast<int64_t>(k % 3);
    int64_t cuts[] = {0, queue.count / 3, queue.count * halves / 2,
                      queue.count};
    std::sort(cuts, cuts + 4);
    for (int p = 0; p < 3; ++p) {
      parts[p][k].records += cuts[p] * queue.recordCells;
      parts[p][k].count = cuts[p + 1] - cuts[p];
    }
  }
  return parts;
}

/// Checks that the plan of each part has the same schedule as a run with only
/// this part. Each plan has a separate range of the tasks of a kernel.
void comparePlans(const RandomTasks &tasks, Scheduling &scheduling) {
  std::vector<std::vector<TaskQueue>> parts = cutInParts(tasks);
  scheduling.run(parts, /*plans=*/3);
  const DepthScheduler &scheduler = scheduling.scheduler;
  int64_t kernels = tasks.queues.size();
  ASSERT_EQ(scheduler.plans(), 3);
  ASSERT_EQ(scheduler.planBegin(0), 0);
  ASSERT_EQ(scheduler.planBegin(3),
            static_cast<int64_t>(scheduler.sequence().size()));
  std::vector<int64_t> ends;
  for (int64_t k = 0; k < kernels; ++k)
    ends.push_back(scheduler.kernelBegin(k));
  for (int64_t p = 0; p < 3; ++p) {
    Scheduling separate;
    separate.run({parts[p]});
    const std::vector<int32_t> &expected = separate.scheduler.sequence();
    int64_t begin = scheduler.planBegin(p);
    ASSERT_EQ(scheduler.planBegin(p + 1) - begin,
              static_cast<int64_t>(expected.size()));
    for (size_t i = 0; i < expected.size(); ++i) {
      const DepthStep &step =
          scheduler.steps()[scheduler.sequence()[begin + i]];
      const DepthStep &wanted = separate.scheduler.steps()[expected[i]];
      EXPECT_EQ(step.kernel, wanted.kernel);
      EXPECT_EQ(step.depth, wanted.depth);
      EXPECT_EQ(step.count, wanted.count);
      EXPECT_EQ(step.begin, ends[step.kernel] + wanted.begin -
                                separate.scheduler.kernelBegin(step.kernel));
    }
    for (int64_t k = 0; k < kernels; ++k)
      ends[k] += parts[p][k].count;
  }
  for (int64_t k = 0; k < kernels; ++k)
    EXPECT_EQ(ends[k], scheduler.kernelBegin(k + 1));
}
} // namespace

TEST(DepthSchedule, AgreesWithBruteForce) {
  Scheduling scheduling; // shared by all runs, as in a session
  for (int seed = 0; seed < 200; ++seed) {
    RandomTasks tasks(seed, 1 + seed * 3, 1 + seed % 7, 1 + seed % 5);
    compareWhole(tasks, scheduling);
    compareSteps(tasks, cutInParts(tasks), scheduling);
    comparePlans(tasks, scheduling);
  }
}

TEST(DepthSchedule, FewTasksOverManyDepths) {
  Scheduling scheduling;
  for (int seed = 0; seed < 50; ++seed) {
    RandomTasks tasks(seed, 1 + seed, 3, 1 << 20);
    compareWhole(tasks, scheduling);
    compareSteps(tasks, cutInParts(tasks), scheduling);
    comparePlans(tasks, scheduling);
  }
}

TEST(DepthSchedule, ConstantTaskOfAllParts) {
  std::vector<int64_t> records{0};
  TaskQueue constant{records.data(), 1, 1, 0, /*constant=*/true};
  TaskQueue none{nullptr, 1, 0, 0, /*constant=*/true};
  Scheduling scheduling;
  scheduling.run({{none}, {constant}, {constant}});
  ASSERT_EQ(scheduling.scheduler.steps().size(), 1u);
  EXPECT_EQ(scheduling.scheduler.steps()[0].count, 1);
  EXPECT_EQ(scheduling.scheduler.kernelBegin(1), 1);
  EXPECT_EQ(scheduling.scheduler.places(1)[0].begin, 0);
  EXPECT_EQ(scheduling.scheduler.places(2)[0].begin, 0);

  // Plans do not read each other's results, so the task runs in each plan.
  scheduling.run({{none}, {constant}, {constant}}, /*plans=*/3);
  ASSERT_EQ(scheduling.scheduler.steps().size(), 2u);
  EXPECT_EQ(scheduling.scheduler.kernelBegin(1), 2);
  EXPECT_EQ(scheduling.scheduler.places(1)[0].begin, 0);
  EXPECT_EQ(scheduling.scheduler.places(2)[0].begin, 1);
}

TEST(DepthSchedule, NoTasks) {
  Scheduling scheduling;
  scheduling.run({std::vector<TaskQueue>(3)});
  EXPECT_TRUE(scheduling.scheduler.steps().empty());
  scheduling.run({{}});
  EXPECT_TRUE(scheduling.scheduler.sequence().empty());
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
  // Task 1 needs task 0, but both have the same depth.
  std::vector<int64_t> records{0, 1};
  TaskQueue queue{records.data(), 1, 2, 0};
  Scheduling scheduling;
  scheduling.run({{queue}});
  auto verify = [&](const std::vector<int64_t> &operandBegin,
                    const std::vector<int64_t> &operands) {
    return verifySchedule(&queue, 1, scheduling.sorters[0],
                          scheduling.scheduler, operandBegin, operands);
  };
  EXPECT_EQ(verify({0, 0, 1}, {0}), "task 1 runs before its operand 0");
  EXPECT_EQ(verify({0, 0, 0, 0}, {}), "task 2 never runs");
}
