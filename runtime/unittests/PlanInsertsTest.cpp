//===- PlanInsertsTest.cpp - Tests of results in rows of operands ---------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Support.h"
#include "batch-runtime/Plan.h"

#include <array>
#include <cstring>
#include <map>
#include <random>

using namespace batchrt;

namespace {
// Kernels and their results. zero: a row of zeros, one for all parts. start: a
// row filled with a number. sum: the sum of two rows. put: a row with a number
// inserted. pair: two adjacent rows filled with a number. both: two adjacent
// rows, with a number inserted into each.
const char description[] = R"({
  "abi": 9, "name": "rows", "target": {"cpu": "generic", "features": []},
  "parameters": [], "packings": [], "adts": [], "cellColumns": 0, "memo": 0,
  "arguments": [], "results": [],
  "tables": [{"name": "n", "rowBytes": 64, "group": 0, "ownBytes": 64},
             {"name": "m", "rowBytes": 64, "group": 1, "ownBytes": 64}],
  "groups": 2, "sources": [null],
  "kernels": [
    {"name": "zero", "phase": 0, "constant": true, "operands": [],
     "results": [{"table": 0, "position": 0, "siblings": 1}]},
    {"name": "start", "phase": 0, "operands": [{"cell": 1, "kind": "scalar"}],
     "results": [{"table": 0, "position": 0, "siblings": 1}]},
    {"name": "sum", "phase": 0, "operands": [{"cell": 1, "kind": "rows", "table": 0},
                                             {"cell": 2, "kind": "rows", "table": 0}],
     "results": [{"table": 0, "position": 0, "siblings": 1}]},
    {"name": "put", "phase": 0, "operands": [{"cell": 1, "kind": "gather", "table": 0},
                                             {"cell": 2, "kind": "scalar"}],
     "results": [{"table": 0, "position": 0, "siblings": 1, "inPlace": 0}]},
    {"name": "pair", "phase": 0, "operands": [{"cell": 1, "kind": "scalar"}],
     "results": [{"table": 1, "position": 0, "siblings": 2},
                 {"table": 1, "position": 1, "siblings": 2}]},
    {"name": "both", "phase": 0, "operands": [{"cell": 1, "kind": "gather", "table": 1},
                                              {"cell": 2, "kind": "gather", "table": 1},
                                              {"cell": 3, "kind": "scalar"}],
     "results": [{"table": 1, "position": 0, "siblings": 2, "inPlace": 0},
                 {"table": 1, "position": 1, "siblings": 2, "inPlace": 1}]}],
  "has": {"inspect": true, "execute": true, "unbatched": true}
})";
enum { Zero, Start, Sum, Put, Pair, Both };
constexpr int kKernels = 6;

constexpr int64_t kRowBytes = 64;
using Row = std::array<double, 8>;

int64_t second(int64_t task) { return int64_t(1) << 56 | task; }

/// Inserts a number into a row in the same way as the kernels.
void insert(Row &row, int64_t number) { row[number % 8] = number; }

/// Records tasks in the same way as the inspector of one part, and computes
/// the expected values of the tasks.
struct Recorder {
  explicit Recorder(int64_t firstTask) {
    context.numTasks = firstTask;
    context.queues = queues;
  }

  int64_t record(int64_t kernel, const std::vector<int64_t> &operands) {
    int64_t depth = 0, number = operands.empty() ? 0 : operands.back();
    auto read = [&](size_t operand) {
      const int64_t handle = operands[operand];
      depth = std::max(depth, depths.at(taskOf(handle)) + 1);
      return values.at(handle);
    };
    int64_t task = context.numTasks++;
    Row first = {}, other = {};
    if (kernel == Start || kernel == Pair)
      first.fill(static_cast<double>(number));
    if (kernel == Pair)
      other.fill(static_cast<double>(-number));
    if (kernel == Sum) {
      first = read(0);
      const Row added = read(1);
      for (size_t i = 0; i < first.size(); ++i)
        first[i] = (first[i] + added[i]) / 2;
    }
    if (kernel == Put || kernel == Both)
      insert(first = read(0), number);
    if (kernel == Both)
      insert(other = read(1), number + 3);
    values[task] = first;
    values[second(task)] = other;
    depths[task] = depth;
    records[kernel].push_back(depth << 32 | task);
    records[kernel].insert(records[kernel].end(), operands.begin(),
                           operands.end());
    (kernel == Pair || kernel == Both ? pairs : rows).push_back(task);
    order.push_back(task);
    return task;
  }
  BatchContext *finish() {
    for (int k = 0; k < kKernels; ++k)
      queues[k] = {records[k].data() + records[k].size(), nullptr,
                   records[k].data()};
    return &context;
  }

  BatchContext context = {};
  BatchQueue queues[kKernels] = {};
  std::vector<int64_t> records[kKernels];
  std::map<int64_t, int64_t> depths;
  std::map<int64_t, Row> values; ///< indexed by handle
  std::vector<int64_t> rows, pairs, order;
};

Row load(const char *row) {
  Row value;
  std::memcpy(value.data(), row, sizeof(value));
  return value;
}

/// Runs one task of a step in the same way as generated code.
void runTask(const BatchStep &step, int64_t t, double &sum) {
  const BatchOperand *operands = step.operands;
  auto number = [&](int operand) {
    return static_cast<const int64_t *>(operands[operand].rows)[t];
  };
  auto gathered = [&](int operand) {
    return const_cast<char *>(operands[operand].base) +
           static_cast<const int32_t *>(operands[operand].rows)[t] * kRowBytes;
  };
  const int64_t siblings = step.kernel == Pair || step.kernel == Both ? 2 : 1;
  auto store = [&](int result, const Row &row) {
    std::memcpy(step.results[result] + t * siblings * kRowBytes, row.data(),
                sizeof(row));
  };
  auto put = [&](int result, int64_t value) {
    char *to = gathered(result);
    Row row = load(to);
    if (step.results[result])
      to = step.results[result] + t * siblings * kRowBytes;
    insert(row, value);
    std::memcpy(to, row.data(), sizeof(row));
    for (double element : row)
      sum += element;
  };
  Row row = {};
  switch (step.kernel) {
  case Zero:
    return store(0, row);
  case Start:
  case Pair:
    row.fill(static_cast<double>(number(0)));
    store(0, row);
    if (step.kernel == Start)
      return;
    row.fill(static_cast<double>(-number(0)));
    return store(1, row);
  case Sum: {
    row = load(static_cast<const char *const *>(operands[0].rows)[t]);
    const Row added =
        load(static_cast<const char *const *>(operands[1].rows)[t]);
    for (size_t i = 0; i < row.size(); ++i) {
      row[i] = (row[i] + added[i]) / 2;
      sum += row[i];
    }
    return store(0, row);
  }
  case Put:
    return put(0, number(1));
  case Both:
    put(0, number(2));
    return put(1, number(2) + 3);
  }
}

/// Runs all steps. If `backwards` is true, steps without a barrier between them
/// run in reverse, because they may run in any order. Returns the sum of the
/// results of sums and inserts.
double runSteps(const BatchContext &context, bool backwards) {
  double sum = 0;
  for (int64_t begin = 0; begin < context.numSteps;) {
    int64_t end = begin;
    while (end < context.numSteps && !context.steps[end++].barrier) {
    }
    for (int64_t i = 0; i < end - begin; ++i) {
      const BatchStep &step =
          context.steps[backwards ? end - 1 - i : begin + i];
      for (int64_t t = 0; t < step.count; ++t)
        runTask(step, backwards ? step.count - 1 - t : t, sum);
    }
    begin = end;
  }
  return sum;
}

/// Returns, for each kernel, the number of steps that write into rows of
/// operands, and the number of all steps.
std::map<int64_t, std::pair<int, int>> countSteps(const BatchContext &context) {
  std::map<int64_t, std::pair<int, int>> counts;
  for (int64_t s = 0; s < context.numSteps; ++s) {
    auto &[inPlace, all] = counts[context.steps[s].kernel];
    inPlace += !context.steps[s].results[0];
    ++all;
  }
  return counts;
}

struct Inserts : testing::Test {
  const BatchContext &build(Recorder &recorder, bool last = true) {
    tables.clear(1);
    const LiveOutRows nothing;
    PlanOptions options;
    options.later = last ? nullptr : &nothing;
    plan.build({recorder.finish()}, 0, tables, workers, options);
    return recorder.context;
  }

  const Descriptor descriptor{description};
  WorkerPool workers{1};
  Tables tables{descriptor, /*reusedRowBytes=*/64};
  Plan plan{descriptor};
};
} // namespace

// A chain of inserts stays in one row, the rows of a pair move together, and
// nothing is copied.
TEST_F(Inserts, StayInARow) {
  Recorder recorder(0);
  int64_t row = recorder.record(Start, {7}), pair = recorder.record(Pair, {5});
  for (int64_t i = 0; i < 20; ++i) {
    row = recorder.record(Put, {row, 100 + i});
    pair = recorder.record(Both, {pair, second(pair), 200 + i});
  }
  const BatchContext &context = build(recorder);
  auto counts = countSteps(context);
  EXPECT_EQ(counts[Put], std::make_pair(20, 20));
  EXPECT_EQ(counts[Both], std::make_pair(20, 20));
  EXPECT_EQ(tables.slots(), 3);
  EXPECT_EQ(plan.steps().copiedBytes(), 0);
  runSteps(context, false);
  EXPECT_EQ(load(tables.row(row, 0, nullptr)), recorder.values[row]);
  EXPECT_EQ(load(tables.row(pair, 1, nullptr)), recorder.values[pair]);
  EXPECT_EQ(load(tables.row(second(pair), 1, nullptr)),
            recorder.values[second(pair)]);
}

// Before the last plan, the later readers of a row are unknown. Inserts
// therefore copy the row.
TEST_F(Inserts, CopyForLaterPlans) {
  Recorder recorder(0);
  recorder.record(Put, {recorder.record(Start, {7}), 1});
  const BatchContext &context = build(recorder, /*last=*/false);
  EXPECT_EQ(countSteps(context)[Put], std::make_pair(0, 1));
  EXPECT_EQ(plan.steps().copiedBytes(), 64);
}

// A row that another task reads, at the same time or later, does not change.
TEST_F(Inserts, CopyWhatOthersRead) {
  const auto count = [&](auto record) {
    Recorder recorder(0);
    int64_t row = recorder.record(Start, {7});
    record(recorder, row);
    return countSteps(build(recorder))[Put];
  };
  // Another insert reads the row at the same time.
  EXPECT_EQ(count([](Recorder &recorder, int64_t row) {
              recorder.record(Put, {row, 1});
              recorder.record(Put, {row, 2});
            }),
            std::make_pair(0, 1));
  // Another kernel reads the row at the same time.
  EXPECT_EQ(count([](Recorder &recorder, int64_t row) {
              recorder.record(Put, {row, 1});
              recorder.record(Sum, {row, row});
            }),
            std::make_pair(0, 1));
  // Another task reads the row later.
  EXPECT_EQ(count([](Recorder &recorder, int64_t row) {
              int64_t next = recorder.record(Put, {row, 1});
              recorder.record(Sum, {next, row});
            }),
            std::make_pair(0, 1));
  // An earlier reader of the row does not prevent an insert in place.
  EXPECT_EQ(count([](Recorder &recorder, int64_t row) {
              int64_t other = recorder.record(Start, {1});
              int64_t sum = recorder.record(Sum, {other, row});
              int64_t late = recorder.record(Sum, {sum, sum});
              (void)late;
              recorder.record(Put, {recorder.record(Sum, {sum, other}), 1});
            }),
            std::make_pair(1, 1));
  // A constant row belongs to all parts, so an insert copies it.
  EXPECT_EQ(count([](Recorder &recorder, int64_t) {
              recorder.record(Put, {recorder.record(Zero, {}), 1});
            }),
            std::make_pair(0, 1));
}

// In random task graphs, all values are correct regardless of which inserts are
// in place, even if concurrent steps run in reverse.
TEST(PlanInserts, RandomGraphs) {
  const Descriptor descriptor(description);
  WorkerPool workers(2);
  std::mt19937 generator(1);
  auto below = [&](size_t limit) { return generator() % limit; };
  int inPlace = 0, copying = 0;
  for (int run = 0; run < 400; ++run) {
    const int64_t parts = 1 + run % 3;
    Tables tables(descriptor, run % 2 ? 64 : 1024);
    Plan plan(descriptor);
    plan.setPolicy(
        std::array{Policy::Depth, Policy::Agenda, Policy::Greedy}[run / 6 % 3],
        {});
    tables.clear(parts);
    std::vector<std::unique_ptr<Recorder>> recorders;
    std::vector<BatchContext *> contexts;
    double expected = 0;
    for (int64_t p = 0; p < parts; ++p) {
      recorders.push_back(std::make_unique<Recorder>(firstTaskOf(p, parts)));
      Recorder &recorder = *recorders.back();
      recorder.record(Zero, {});
      // Tasks read only results of a few recent tasks. Many rows therefore have
      // a single reader.
      auto any = [&](const std::vector<int64_t> &tasks) {
        return tasks[tasks.size() - 1 -
                     below(std::min<size_t>(tasks.size(), 3))];
      };
      for (size_t i = 0, e = 1 + below(60); i < e; ++i) {
        const int64_t number = 1 + static_cast<int64_t>(below(1000));
        int64_t kernel = 1 + static_cast<int64_t>(below(kKernels - 1));
        if (kernel == Both && recorder.pairs.empty())
          kernel = Pair;
        int64_t task = 0;
        if (kernel == Start || kernel == Pair)
          recorder.record(kernel, {number});
        else if (kernel == Sum)
          task = recorder.record(Sum, {any(recorder.rows), any(recorder.rows)});
        else if (kernel == Put)
          task = recorder.record(Put, {any(recorder.rows), number});
        else if (int64_t pair = any(recorder.pairs); below(4))
          task = recorder.record(Both, {pair, second(pair), number});
        else
          task = recorder.record(Both,
                                 {pair, second(any(recorder.pairs)), number});
        if (kernel == Start || kernel == Pair)
          continue;
        for (double element : recorder.values[task])
          expected += element;
        if (kernel == Both)
          for (double element : recorder.values[second(task)])
            expected += element;
      }
      contexts.push_back(recorder.finish());
    }
    plan.build(contexts, /*numInstances=*/0, tables, workers);
    for (auto &[kernel, count] : countSteps(*contexts[0]))
      if (kernel == Put || kernel == Both) {
        inPlace += count.first;
        copying += count.second - count.first;
      }
    for (bool backwards : {false, true})
      ASSERT_NEAR(runSteps(*contexts[0], backwards), expected,
                  1e-9 * std::abs(expected))
          << "run " << run << (backwards ? ", backwards" : "");
  }
  // Some inserts are in place, and others copy.
  EXPECT_GT(inPlace, 500);
  EXPECT_GT(copying, 500);
}
