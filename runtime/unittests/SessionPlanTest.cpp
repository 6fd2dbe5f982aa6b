//===- SessionPlanTest.cpp - Tests of the plans of sessions ---------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Trial.h"
#include "batch-runtime/RowCounts.h"
#include "batch-runtime/Schedule/Learning.h"

#include <algorithm>
#include <chrono>
#include <dlfcn.h>
#include <map>

using namespace batchrt;
using namespace batchrt::test;

namespace {
/// The task graph of the last plan.
struct Graph : RunWatcher {
  void begin() override {}
  void look(const RunView &run, const Plan &plan) override {
    graph = plan.taskGraph(run.contexts);
  }
  void end(const RunView &) override {}

  TaskGraph graph;
};
} // namespace

// Results are bit-identical for all policies and for any number of inspecting
// workers.
TEST(Session, PoliciesComputeTheSame) {
  const CompiledObject object = CompiledObject::open(fake("plain"));
  std::vector<std::string> kernels;
  for (const KernelInfo &kernel : object.descriptor().kernels)
    kernels.push_back(kernel.name);
  for (int threads : {1, 3})
    for (Policy policy : {Policy::Depth, Policy::Agenda, Policy::Greedy,
                          Policy::StateMachine}) {
      Trial run("plain", "random:3,40", threads, size_t(16) << 20, 0,
                "random:1", "", /*nodesPerWorker=*/1);
      Forest &forest = *run.inputs->batches.front();
      Graph watched;
      run.session->watch(&watched);
      run.session->load(forest);
      run.session->inspect();
      run.session->schedule();
      run.session->watch(nullptr);
      const TaskGraph &graph = watched.graph;
      ASSERT_EQ(graph.check(), "");
      Learned learned = learn({graph}, kernels);
      run.session->setPolicy(policy, learned.stateMachine);
      EXPECT_EQ(run.difference(2), "");
      RunCounters counters = run.session->counters();
      EXPECT_EQ(counters.unknownStates, 0);
      // A constant task, which all parts record, runs once.
      EXPECT_LE(counters.tasks, graph.size());
      EXPECT_GE(counters.batches, learned.bound);
      if (policy == Policy::StateMachine) {
        EXPECT_LE(counters.batches, learned.batches);
      }
    }
}

TEST(Session, PolicyOfAnotherProgram) {
  Trial run("plain", "random:3,4");
  try {
    run.session->setPolicy(Policy::StateMachine,
                           StateMachine(Encoding::Urgency, {"sum2", "sum3"}));
    ADD_FAILURE();
  } catch (const Error &error) {
    EXPECT_STREQ(error.what(),
                 "the policy is for another program: unknown kernel 'sum3'; "
                 "learn a policy from this program");
  }
}

/// Describes the tasks of the last run step by step. The name of a task is its
/// position in the order of tasks.
static std::string describeTasks(const Session &session) {
  const TaskOrder &order = session.plan()->order();
  const DepthScheduler &schedule = order.schedule();
  std::map<int64_t, int64_t> places;
  for (int32_t s : schedule.sequence())
    order.forEachTask(s, [&](int64_t place, const int64_t *record) {
      places[taskOf(record[0])] = place;
    });
  std::string text =
      concat(order.numTasks(), " tasks, ", session.counters().slots, " slots");
  for (int32_t s : schedule.sequence()) {
    const DepthStep &step = schedule.steps()[s];
    text += concat("\nkernel ", step.kernel, " depth ", step.depth, ":");
    std::map<int64_t, std::string> tasks; // a constant task occurs several
                                          // times
    order.forEachTask(s, [&](int64_t place, const int64_t *record) {
      std::string task = concat(" ", place);
      for (const OperandInfo &operand :
           session.descriptor().kernels[step.kernel].operands) {
        int64_t cell = record[operand.cell];
        if (operand.ragged)
          task += concat(" list of ", listLength(cell));
        else if (operand.kind == OperandInfo::Scalar || cell < 0)
          task += concat(" ", cell);
        else
          task +=
              concat(" task ", places[taskOf(cell)], " result ", cell >> 56);
      }
      tasks[place] = task;
    });
    for (auto &[place, task] : tasks)
      text += task;
  }
  return text;
}

TEST(Session, AnyNumberOfWorkersInspects) {
  for (const char *kind : {"plain", "input"}) {
    auto run = [&](int threads, int64_t nodesPerWorker, int64_t inspectors) {
      Trial trial(kind, "random:3,40", threads, size_t(16) << 20, 0, "random:1",
                  "", nodesPerWorker);
      EXPECT_EQ(trial.difference(2), "");
      trial.batched();
      EXPECT_EQ(trial.session->counters().inspectors, inspectors);
      return describeTasks(*trial.session);
    };
    std::string expected = run(1, 1, 1);
    for (int threads : {2, 3, 5})
      EXPECT_EQ(run(threads, 20, threads), expected);
    // There are too few nodes for several workers.
    EXPECT_EQ(run(3, int64_t(1) << 20, 1), expected);
  }
}

TEST(Session, LongRowsAreUsedAgain) {
  for (const char *kind : {"plain", "input"})
    for (int threads : {1, 3}) {
      auto slots = [&](int64_t reusedRowBytes) {
        Trial trial(kind, "random:3,40", threads, size_t(16) << 20, 0,
                    "random:1", "", 20, reusedRowBytes);
        EXPECT_EQ(trial.difference(2), "");
        trial.batched();
        return trial.session->counters().slots;
      };
      int64_t once = slots(1024);
      EXPECT_LT(slots(1), once);
      EXPECT_EQ(slots(129), once);
    }
}

TEST(Session, CountsTheRowsThatOperandsRead) {
  for (const char *kind : {"plain", "input"})
    for (int threads : {1, 3}) {
      Trial trial(kind, "random:3,40", threads, size_t(16) << 20, 0, "random:1",
                  "", 20);
      RowCounts counts;
      trial.session->watch(&counts);
      trial.batched();
      EXPECT_LE(counts.gatheredRuns(), counts.gatheredRows());
      EXPECT_GT(counts.gatheredRuns(), 0);
    }
}

/// Returns an error if several plans write the same row, and an empty string
/// otherwise. Plans run concurrently, so no plan may write the rows of another.
static std::string findSharedRows(const Session &session) {
  std::map<char *, size_t> writers;
  const std::vector<BatchPlan> &plans = session.plan()->plans();
  for (size_t p = 0; p < plans.size(); ++p)
    for (int64_t s = 0; s < plans[p].numSteps; ++s) {
      const BatchStep &step = plans[p].steps[s];
      const KernelInfo &kernel = session.descriptor().kernels[step.kernel];
      for (size_t r = 0; r < kernel.results.size(); ++r) {
        const ResultInfo &result = kernel.results[r];
        int64_t distance = session.descriptor().tables[result.table].rowBytes *
                           result.siblings;
        for (int64_t t = 0; t < step.count; ++t) {
          char *row = step.results[r] + t * distance;
          size_t writer = writers.emplace(row, p).first->second;
          if (writer != p)
            return concat("plans ", writer, " and ", p, " write the same row");
        }
      }
    }
  return "";
}

// Each group of thread blocks has its own plan, and one launch runs all plans.
TEST(Session, PlansOfGroups) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "ThreadSanitizer keeps the memory of all past fibers; this "
                  "test creates hundreds of thousands";
#endif
  for (std::string kind : {"device", "cluster", "block"}) {
    void *library = dlopen(fake(kind.c_str()).c_str(), RTLD_NOW);
    auto &groupsAtWork = *static_cast<int64_t *>(dlsym(library, "fakeGroups"));
    for (int threads : {1, 3})
      for (int64_t batch : {0, 1, 7})
        for (int64_t blocks : {2, 8, 100}) {
          Trial trial(kind.c_str(), "random:3,40", threads, size_t(16) << 20,
                      batch, "random:1", "", /*nodesPerWorker=*/20,
                      /*reusedRowBytes=*/1, blocks);
          EXPECT_EQ(trial.difference(2), "")
              << kind << " " << threads << " " << batch << " " << blocks;
          groupsAtWork = 0;
          Forest &forest = *trial.inputs->batches.front();
          trial.session->run(forest);
          RunCounters counters = trial.session->counters();
          int64_t groups = kind == "device"    ? 1
                           : kind == "cluster" ? blocks / 2
                                               : blocks;
          int64_t plans = std::min(groups, forest.numInstances);
          EXPECT_EQ(counters.plans, plans);
          EXPECT_EQ(groupsAtWork, plans);
          EXPECT_EQ(counters.launches, 1);
          EXPECT_EQ(counters.copies, 2);
          EXPECT_EQ(findSharedRows(*trial.session), "");
        }
    dlclose(library);
  }
}

// Each plan has at least one instance, and large instances are in different
// plans.
TEST(Session, PlansAreBalanced) {
  std::string large = R"(["leaf", 0])", text;
  for (int i = 0; i < 50; ++i)
    large = R"(["node", ["leaf", 1], )" + large + "]";
  for (int i = 0; i < 12; ++i)
    text += (i < 2 || i == 8 ? large : R"(["leaf", 2])") + "\n";
  Trial trial("block", text, 1, size_t(16) << 20, 0, "random:1", "", 1024, 1024,
              4);
  EXPECT_EQ(trial.difference(), "");
  trial.session->run(*trial.inputs->batches.front());
  std::vector<int64_t> tasks;
  for (const BatchPlan &plan : trial.session->plan()->plans()) {
    tasks.push_back(0);
    for (int64_t s = 0; s < plan.numSteps; ++s)
      tasks.back() += plan.steps[s].count;
    EXPECT_EQ(plan.steps[plan.numSteps - 1].barrier, 0);
  }
  // Each instance has three tasks for its output, and each plan has one
  // constant task.
  EXPECT_EQ(tasks, (std::vector<int64_t>{50 + 3 + 1, 50 + 3 + 1, 50 + 7 * 3 + 1,
                                         3 * 3 + 1}));
}

TEST(Session, ScheduleIsLegal) {
  Trial run("plain", "random:9,60");
  run.batched();
  const std::vector<TaskQueue> &queues =
      run.session->plan()->order().part(0).queues;
  EXPECT_EQ(checkTasks(queues.data(), queues.size()), "");
}

TEST(Session, ScheduleTime) {
  Trial run("plain", "random:2,500");
  run.session->load(*run.inputs->batches[0]);
  double best = 1e9;
  for (int i = 0; i < 50; ++i) {
    run.session->inspect();
    auto begin = std::chrono::steady_clock::now();
    run.session->schedule();
    std::chrono::duration<double, std::nano> time =
        std::chrono::steady_clock::now() - begin;
    best = std::min(best, time.count() / run.session->counters().tasks);
  }
  // The time is reported, not asserted. The budget is 10 ns per task on an
  // idle machine.
  RecordProperty("schedule_ns_per_task", std::to_string(best));
  std::printf("scheduling: %.1f ns per task\n", best);
}
