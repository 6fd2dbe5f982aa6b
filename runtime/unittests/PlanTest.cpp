//===- PlanTest.cpp - Tests of plans that follow one another --------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "batch-runtime/Plan.h"
#include "Support.h"

#include <cstring>
#include <map>
#include <random>
#include <tuple>

using namespace batchrt;

namespace {
// Kernels and their results. start: a number. sum: the sum of two rows, each
// found by its address. twice: twice a row, found by its slot.
const char description[] = R"({
  "abi": 9, "name": "numbers", "target": {"cpu": "generic", "features": []},
  "parameters": [], "packings": [], "adts": [], "cellColumns": 0, "memo": 0,
  "arguments": [], "results": [],
  "tables": [{"name": "n", "rowBytes": 64, "group": 0},
             {"name": "m", "rowBytes": 64, "group": 1}],
  "groups": 2, "sources": [null],
  "kernels": [
    {"name": "start", "phase": 0, "operands": [{"cell": 1, "kind": "scalar"}],
     "results": [{"table": 0, "position": 0, "siblings": 1}]},
    {"name": "sum", "phase": 0, "operands": [{"cell": 1, "kind": "rows", "table": 0},
                                             {"cell": 2, "kind": "rows", "table": 0}],
     "results": [{"table": 0, "position": 0, "siblings": 1}]},
    {"name": "twice", "phase": 0, "operands": [{"cell": 1, "kind": "gather", "table": 0}],
     "results": [{"table": 1, "position": 0, "siblings": 1}]}],
  "has": {"inspect": true, "execute": true, "unbatched": true}
})";
enum { Start, Sum, Twice };

/// Records tasks in the same way as the inspector of one part, and computes
/// the expected values of the tasks.
struct Recorder {
  explicit Recorder(int64_t firstTask) {
    context.numTasks = firstTask;
    context.queues = queues;
  }

  void record(int64_t kernel, const std::vector<int64_t> &operands) {
    // Operands from earlier plans do not count in depths.
    int64_t depth = 0;
    double value = operands.front();
    if (kernel != Start) {
      value = 0;
      for (int64_t operand : operands) {
        value += values.at(operand);
        if (operand >= planBegin && operand < context.numTasks &&
            !(hasPhases && kernel == Twice))
          depth = std::max(depth, depths.at(operand) + 1);
      }
      value *= kernel == Twice ? 2 : 1;
    }
    int64_t task = context.numTasks++;
    std::vector<int64_t> &cells = records[kernel];
    cells.push_back((hasDepths ? depth : 0) << 32 | task);
    cells.insert(cells.end(), operands.begin(), operands.end());
    depths[task] = depth;
    values[task] = value;
    planSum += value;
    (kernel == Twice ? doubled : numbers).push_back(task);
  }
  /// Begins a new plan. The tasks recorded so far have run.
  void startPlan() {
    planBegin = context.numTasks;
    planSum = 0;
    for (std::vector<int64_t> &cells : records)
      cells.clear();
  }
  BatchContext *finish() {
    for (int k = 0; k < 3; ++k)
      queues[k] = {records[k].data() + records[k].size(), nullptr,
                   records[k].data()};
    return &context;
  }

  BatchContext context = {};
  BatchQueue queues[3] = {};
  std::vector<int64_t> records[3];
  std::map<int64_t, int64_t> depths;
  std::map<int64_t, double> values;
  std::vector<int64_t> numbers, doubled; ///< tasks that write tables n and m
  int64_t planBegin = 0;
  double planSum = 0;     ///< sum of the values of the plan
  bool hasDepths = true;  ///< true if records have depths
  bool hasPhases = false; ///< true if `twice` has a later phase
};

/// Runs the steps, and returns the sum of all values.
double runSteps(const BatchStep *steps, int64_t numSteps) {
  double sum = 0;
  auto load = [](const char *row) {
    double value;
    std::memcpy(&value, row, sizeof(value));
    return value;
  };
  for (const BatchStep *step = steps; step != steps + numSteps; ++step)
    for (int64_t t = 0; t < step->count; ++t) {
      double value = 0;
      const BatchOperand *operands = step->operands;
      if (step->kernel == Start)
        value = static_cast<const int64_t *>(operands[0].rows)[t];
      if (step->kernel == Sum)
        for (int o = 0; o < 2; ++o)
          value += load(static_cast<const char *const *>(operands[o].rows)[t]);
      if (step->kernel == Twice)
        value = 2 * load(operands[0].base +
                         static_cast<const int32_t *>(operands[0].rows)[t] *
                             int64_t(64));
      std::memcpy(step->results[0] + t * 64, &value, sizeof(value));
      sum += value;
    }
  return sum;
}
} // namespace

// A plan reads rows that earlier plans have written. This holds even if tables
// have grown since then, for any policy, and whether or not rows are reused.
TEST(Plan, PlansReadRowsOfEarlierOnes) {
  const Descriptor descriptor(description);
  WorkerPool workers(2);
  std::mt19937 generator(1);
  auto below = [&](size_t limit) { return generator() % limit; };
  for (Policy policy : {Policy::Depth, Policy::Agenda, Policy::Greedy})
    for (int64_t reusedRowBytes : {64, 1024})
      for (int64_t parts : {1, 2, 3}) {
        Tables tables(descriptor, reusedRowBytes);
        Plan plan(descriptor);
        plan.setPolicy(policy, {});
        for (int run = 0; run < 3; ++run) {
          tables.clear(parts);
          std::vector<std::unique_ptr<Recorder>> recorders;
          for (int64_t p = 0; p < parts; ++p)
            recorders.push_back(
                std::make_unique<Recorder>(firstTaskOf(p, parts)));
          const int plans = 4;
          for (int number = 0; number < plans; ++number) {
            std::vector<BatchContext *> contexts;
            for (auto &recorder : recorders) {
              recorder->startPlan();
              const size_t count = 1 + below(30 << number);
              for (size_t i = 0; i < count; ++i) {
                std::vector<int64_t> &tasks = recorder->numbers;
                const int kernel = tasks.empty() ? int(Start) : below(3);
                auto any = [&] { return tasks[below(tasks.size())]; };
                if (kernel == Start)
                  recorder->record(Start, {int64_t(below(100))});
                else if (kernel == Sum)
                  recorder->record(Sum, {any(), any()});
                else
                  recorder->record(Twice, {any()});
              }
              contexts.push_back(recorder->finish());
            }
            std::vector<int64_t> begins;
            for (int64_t p = 0; p < parts; ++p)
              begins.push_back(tables.endTask(p));
            ASSERT_EQ(RecordedTasks(descriptor).read(contexts, begins).check(),
                      "");
            const bool isLast = number + 1 == plans;
            const LiveOutRows nothing;
            PlanOptions options;
            options.later = isLast ? nullptr : &nothing;
            plan.build(contexts, /*numInstances=*/0, tables, workers, options);
            double expected = 0;
            for (auto &recorder : recorders)
              expected += recorder->planSum;
            ASSERT_EQ(runSteps(contexts[0]->steps, contexts[0]->numSteps),
                      expected);
            if (isLast)
              break; // rows that nothing reads may have been freed
            for (auto &recorder : recorders) {
              for (int64_t task : recorder->numbers) {
                double value;
                std::memcpy(&value, tables.row(task, 0, nullptr),
                            sizeof(value));
                ASSERT_EQ(value, recorder->values.at(task)) << "task " << task;
              }
              for (int64_t task : recorder->doubled) {
                double value;
                std::memcpy(&value, tables.row(task, 1, nullptr),
                            sizeof(value));
                ASSERT_EQ(value, recorder->values.at(task)) << "task " << task;
              }
            }
          }
        }
      }
}

// In tables that are not transient, only the last plan of a run frees rows,
// when nothing reads them any more.
TEST(Plan, RowsLiveForLaterPlans) {
  const Descriptor descriptor(description);
  WorkerPool workers(1);
  Tables tables(descriptor, /*reusedRowBytes=*/64);
  Plan plan(descriptor);
  auto slots = [&](bool last) {
    Recorder recorder(0);
    tables.clear(1);
    recorder.startPlan();
    recorder.record(Start, {1});
    for (int64_t task = 0; task < 9; ++task)
      recorder.record(Sum, {task, task});
    const LiveOutRows nothing;
    PlanOptions options;
    options.later = last ? nullptr : &nothing;
    plan.build({recorder.finish()}, 0, tables, workers, options);
    return tables.slots();
  };
  EXPECT_EQ(slots(/*last=*/false), 10);
  EXPECT_LT(slots(/*last=*/true), 10);
}

/// Returns `description` with transient tables, for control flow that waits.
static std::string describeTransient() {
  std::string text = description;
  for (size_t at = 0; (at = text.find("\"group\"", at)) != text.npos; at += 30)
    text.insert(at, "\"transient\": true, ");
  text.insert(text.find("\"sources\""), "\"waits\": true, ");
  return text;
}

// Rows of transient tables are free when no plan reads them and they are
// neither live-out nor pinned. Live-out rows remain for the next plan, and
// pinned rows until the end.
TEST(Plan, RowsOfTransientTablesAreReused) {
  const std::string text = describeTransient();
  const Descriptor descriptor(text.c_str());
  WorkerPool workers(2);
  std::mt19937 generator(3);
  auto below = [&](size_t limit) { return generator() % limit; };
  for (Policy policy : {Policy::Depth, Policy::Greedy})
    for (int64_t parts : {1, 3}) {
      Tables tables(descriptor, /*reusedRowBytes=*/64);
      Plan plan(descriptor);
      plan.setPolicy(policy, {});
      ASSERT_TRUE(tables.anyHeld());
      for (int run = 0; run < 3; ++run) {
        tables.clear(parts);
        std::vector<std::unique_ptr<Recorder>> recorders;
        std::vector<std::vector<int64_t>> pinned(parts);
        for (int64_t p = 0; p < parts; ++p)
          recorders.push_back(
              std::make_unique<Recorder>(firstTaskOf(p, parts)));
        for (int number = 0; number < 60; ++number) {
          std::vector<BatchContext *> contexts;
          LiveOutRows later;
          for (int64_t p = 0; p < parts; ++p) {
            Recorder &recorder = *recorders[p];
            recorder.startPlan();
            recorder.doubled.clear();
            for (size_t i = 1 + below(20); i > 0; --i) {
              std::vector<int64_t> &tasks = recorder.numbers;
              const int kernel = tasks.empty() ? int(Start) : below(3);
              auto any = [&] { return tasks[below(tasks.size())]; };
              if (kernel == Start)
                recorder.record(Start, {int64_t(below(100))});
              else if (kernel == Sum)
                recorder.record(Sum, {any(), any()});
              else
                recorder.record(Twice, {any()});
            }
            // Later tasks read only the results that remain in `numbers`.
            std::vector<int64_t> &tasks = recorder.numbers;
            std::shuffle(tasks.begin(), tasks.end(), generator);
            if (number % 10 == 0 && !tasks.empty()) {
              pinned[p].push_back(tasks.back());
              later.pinned.push_back(tasks.back());
            }
            tasks.resize(std::min<size_t>(tasks.size(), below(12)));
            later.liveOut.insert(later.liveOut.end(), tasks.begin(),
                                 tasks.end());
            contexts.push_back(recorder.finish());
          }
          PlanOptions options;
          options.later = &later;
          plan.build(contexts, /*numInstances=*/0, tables, workers, options);
          double expected = 0;
          for (auto &recorder : recorders)
            expected += recorder->planSum;
          ASSERT_EQ(runSteps(contexts[0]->steps, contexts[0]->numSteps),
                    expected);
          for (int64_t p = 0; p < parts; ++p)
            for (const auto &tasks : {recorders[p]->numbers, pinned[p]})
              for (int64_t task : tasks) {
                double value;
                std::memcpy(&value, tables.row(task, 0, nullptr),
                            sizeof(value));
                ASSERT_EQ(value, recorders[p]->values.at(task))
                    << "plan " << number << ", task " << task;
              }
        }
        // A part runs 60 plans of up to 20 tasks. At most 11 rows of a plan
        // remain live, and 6 rows in all are pinned. The two tables share their
        // rows.
        EXPECT_LT(tables.slots(), 2 * parts * 80);
      }
    }
}

// The number of tasks in a run is not limited, because task numbers that are no
// longer in use are reused. Here, counters of tasks start just below half of
// their range, and this range is 2^31 for one part.
TEST(Plan, NumbersOfTasksAreUsedAgain) {
  const std::string text = describeTransient();
  const Descriptor descriptor(text.c_str());
  WorkerPool workers(1);
  std::mt19937 generator(5);
  auto below = [&](size_t limit) { return generator() % limit; };
  for (Policy policy : {Policy::Depth, Policy::Greedy})
    for (int64_t parts : {1, 2}) {
      Tables tables(descriptor, /*reusedRowBytes=*/64);
      Plan plan(descriptor);
      plan.setPolicy(policy, {});
      tables.clear(parts);
      std::vector<std::unique_ptr<Recorder>> recorders;
      for (int64_t p = 0; p < parts; ++p) {
        const int64_t half =
            (firstTaskOf(p, parts) + endTaskOf(p, parts)) / 2 - 100;
        tables.addTasks(p, half);
        recorders.push_back(std::make_unique<Recorder>(half));
      }
      size_t bytes = 0;
      for (int number = 0; number < 2000; ++number) {
        std::vector<BatchContext *> contexts;
        LiveOutRows later;
        for (auto &recorder : recorders) {
          recorder->startPlan();
          std::vector<int64_t> &tasks = recorder->numbers;
          for (int64_t i = 0; i < 8; ++i)
            if (tasks.empty())
              recorder->record(Start, {i + 1});
            else
              recorder->record(Sum,
                               {tasks.front(), tasks[below(tasks.size())]});
          // The very first task and the latest task are kept.
          tasks = {tasks.front(), tasks.back()};
          later.liveOut.insert(later.liveOut.end(), tasks.begin(), tasks.end());
          contexts.push_back(recorder->finish());
        }
        PlanOptions options;
        options.later = &later;
        plan.build(contexts, /*numInstances=*/0, tables, workers, options);
        double expected = 0;
        for (auto &recorder : recorders)
          expected += recorder->planSum;
        ASSERT_EQ(runSteps(contexts[0]->steps, contexts[0]->numSteps), expected)
            << "plan " << number;
        for (int64_t p = 0; p < parts; ++p) {
          recorders[p]->context.numTasks = tables.chooseNumbers(p);
          // Reused numbers are far from numbers in use.
          ASSERT_GT(tables.limitTask(p) - tables.endTask(p), 1 << 28);
        }
        if (number == 1000)
          bytes = tables.slotBytes();
      }
      EXPECT_LT(tables.slotBytes(), bytes + bytes / 10);
      for (int64_t p = 0; p < parts; ++p)
        EXPECT_LT(recorders[p]->context.numTasks,
                  (firstTaskOf(p, parts) + endTaskOf(p, parts)) / 2 - 100)
            << "part " << p;
    }
}

namespace {
/// A plan for the records of one worker.
struct WorkerPlan {
  explicit WorkerPlan(const std::string &text = description)
      : descriptor(text.c_str()), plan(descriptor) {
    tables.clear(1);
  }
  void build(BatchContext *context) {
    plan.build({context}, 0, tables, workers, {});
  }

  const Descriptor descriptor;
  WorkerPool workers{1};
  Tables tables{descriptor, /*reusedRowBytes=*/64};
  Plan plan;
};
} // namespace

TEST(Plan, TooManyTasksAreAnError) {
  WorkerPlan trial;
  trial.tables.setNumbers(0, 100, 105);
  Recorder recorder(100);
  recorder.startPlan();
  for (int64_t i = 0; i < 6; ++i)
    recorder.record(Start, {i});
  EXPECT_MESSAGE("a worker inspected 6 tasks, but the limit is 5",
                 trial.build(recorder.finish()));
}

TEST(Plan, TooManyKernelsForAPolicyAreAnError) {
  std::string text = description, more;
  for (int i = 0; i < TaskGraph::maxTypes; ++i)
    more += R"({"name": "k"}, )";
  WorkerPlan trial(text.insert(text.find(R"({"name": "start")"), more));
  trial.plan.setPolicy(Policy::Greedy, {});
  std::vector<BatchQueue> queues(trial.descriptor.kernels.size());
  BatchContext context = {};
  context.queues = queues.data();
  EXPECT_MESSAGE(
      "the program has 4099 kernels, but the limit of this policy is "
      "4096; use --policy=depth",
      trial.build(&context));
}

TEST(Plan, WrongRecordsAreErrors) {
  WorkerPlan trial;
  Recorder recorder(0);
  recorder.startPlan();
  recorder.record(Start, {1});
  recorder.records[Start][0] |= (TaskQueue::maxDepth + 1) << 32;
  EXPECT_MESSAGE("the mini-batch has a dependence chain of more than 8388606 "
                 "tasks; use smaller inputs",
                 trial.build(recorder.finish()));
  ++recorder.context.numTasks;
  EXPECT_MESSAGE("the object recorded 1 tasks, but counted 2",
                 trial.build(recorder.finish()));
}

TEST(Plan, ResultsOfOneGroupHaveTheSameSiblings) {
  std::string text = description;
  const std::string result = R"({"table": 0, "position": 0, "siblings": 1})";
  text.replace(text.find(result), result.size(),
               result + R"(, {"table": 0, "position": 0, "siblings": 2})");
  const Descriptor descriptor(text.c_str());
  EXPECT_MESSAGE(
      "kernel 'start' has different numbers of results in the tables "
      "of one group",
      Plan plan(descriptor));
}

// The scheduler computes the same depths that inspectors record. The depth of a
// task follows from the tasks of the same plan and phase that the task reads.
TEST(Plan, DepthsFollowFromRecords) {
  WorkerPool workers(1);
  for (bool hasPhases : {false, true}) {
    std::string text = description;
    if (hasPhases)
      text.replace(text.find("\"phase\": 0", text.find("twice")), 10,
                   "\"phase\": 1");
    const Descriptor descriptor(text.c_str());
    std::vector<std::tuple<int64_t, int64_t, int64_t>> steps[2];
    for (bool ofRecords : {false, true}) {
      std::mt19937 generator(2);
      auto below = [&](size_t limit) { return generator() % limit; };
      Tables tables(descriptor, /*reusedRowBytes=*/1024);
      Plan plan(descriptor, ofRecords);
      tables.clear(2);
      Recorder recorders[2] = {Recorder(0), Recorder(firstTaskOf(1, 2))};
      for (int number = 0; number < 3; ++number) {
        for (Recorder &recorder : recorders) {
          recorder.hasDepths = !ofRecords;
          recorder.hasPhases = hasPhases;
          recorder.startPlan();
          for (int i = 0; i < 50; ++i) {
            auto any = [&] {
              return recorder.numbers[below(recorder.numbers.size())];
            };
            const int kernel = recorder.numbers.empty() ? 0 : int(below(3));
            if (kernel == Start)
              recorder.record(Start, {1});
            else if (kernel == Sum)
              recorder.record(Sum, {any(), any()});
            else
              recorder.record(Twice, {any()});
          }
        }
        const LiveOutRows nothing;
        PlanOptions options;
        options.later = number == 2 ? nullptr : &nothing;
        plan.build({recorders[0].finish(), recorders[1].finish()}, 0, tables,
                   workers, options);
        for (const DepthStep &step : plan.schedule().steps())
          steps[ofRecords].emplace_back(step.kernel, step.depth, step.count);
      }
    }
    EXPECT_GT(steps[0].size(), 10u);
    EXPECT_EQ(steps[1], steps[0]);
  }
}
