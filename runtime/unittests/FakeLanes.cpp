//===- FakeLanes.cpp - A lockstep program written by hand -----------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The object that batch-compile would generate for a recursion, written by hand
// against ABI.h:
//
//   sum(n) = n > 0 ? n + sum(n - 1) : 0;  row(n) = [sum(n), 2 sum(n), 0]
//
// Before it runs, the program checks its memory. If the memory does not match
// ABI.h, all instances end with an error code that no program uses.
//
//===----------------------------------------------------------------------===//

#include "batch-runtime/ABI.h"
#include "batch-runtime/EmulatorABI.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>

#ifdef ON_DEVICE
#define DEVICE                                                                 \
  R"("device": {"kernel": "lanes", "executor": "block", "blockSize": 32},)"
static constexpr bool onDevice = true;
#else
#define DEVICE
static constexpr bool onDevice = false;
#endif

#ifdef WITH_PARAMETER
/// The program does not read the parameter.
#define PARAMETERS                                                             \
  R"("parameters": [{"name": "w", "shape": [2], "dtype": "f32"}],
     "packings": [{"parameter": 0, "packing": "rows"}],)"
#else
#define PARAMETERS
#endif

namespace {
constexpr int64_t rowBytes = 64, numBlocks = 2;
constexpr int64_t wrongMemory = int64_t(3) << 32;
enum { Descend, Double };
enum { N, Sum };
/// Values that a run leaves in tops, and in memory that is not a top.
enum : int32_t { TopMark = 77, OtherMark = 99 };

const char descriptor[] = R"({
  "abi": 9, "name": "lanes", "target": {"cpu": "generic", "features": []},
)" PARAMETERS R"(
  "arguments": [{"name": "n", "type": "index"}],
  "results": [{"name": "sum", "type": "index"},
              {"name": "row", "type": {"tensor": [3], "dtype": "f32"}}],
  "kernels": [{"name": "double",
               "operands": [{"cell": 1, "kind": "gather", "variable": 1}],
               "results": [{"rowBytes": 64}, {"rowBytes": 64}],
               "taskScratch": 64}],
  "lockstep": {"variables": [{"name": "n", "rowBytes": 64, "stack": true},
                             {"name": "sum", "rowBytes": 64}],
               "blocks": [{"name": "main.0"}, {"name": "main.1", "kernel": 0}]},
)" DEVICE R"(
  "has": {"execute": true}
})";

int32_t &number(char *rows, int64_t row) {
  return *reinterpret_cast<int32_t *>(rows + row * rowBytes);
}

/// Addresses and sizes of all arrays that units access.
class Arrays {
public:
  void add(const void *begin, int64_t bytes) {
    if (bytes > 0)
      list[count++] = {reinterpret_cast<uintptr_t>(begin), bytes, owners};
  }

  void add(const BatchLanes &unit) {
    const int64_t lanes = unit.lanes, entries = unit.stackDepth + 1;
    const BatchStep &step = unit.steps[Double];
    ++owners;
    add(&unit, sizeof(BatchLanes));
    add(unit.instances, 4 * lanes * 8);
    add(unit.active, lanes * 4);
    add(unit.returns, entries * lanes * 8);
    add(unit.variables, 2 * sizeof(BatchVariable));
    add(unit.steps, 2 * numBlocks * sizeof(BatchStep));
    add(step.operands, 2 * sizeof(BatchOperand));
    add(step.results, 2 * sizeof(char *));
    add(step.scratch, lanes * 64);
    add(step.results[0], 2 * lanes * rowBytes);
    add(unit.waiting, 4 * numBlocks * 8);
    add(unit.variables[N].stack, entries * lanes * rowBytes);
    add(unit.variables[N].depths, lanes * 8);
    for (int v : {N, Sum})
      add(unit.variables[v].tops, lanes * rowBytes);
  }

  /// Returns true if each array begins on its own cache line and is followed by
  /// space for a vector. On the host, the arrays of a unit must be together.
  bool isSeparated() {
    std::sort(list.begin(), list.begin() + count,
              [](const Array &a, const Array &b) { return a.begin < b.begin; });
    uintptr_t free = 0;
    int64_t changes = 0;
    for (size_t i = 0; i < count; ++i) {
      if (list[i].begin % 64 != 0 || list[i].begin < free)
        return false;
      free = list[i].begin + list[i].bytes + 64;
      changes += i > 0 && list[i].owner != list[i - 1].owner;
    }
    return onDevice || changes == owners;
  }

private:
  struct Array {
    uintptr_t begin;
    int64_t bytes, owner; ///< number of a unit, starting at 1; 0: all units
  };
  // Arrays of up to six units. A vector would allocate memory.
  std::array<Array, 128> list;
  size_t count = 0;
  int64_t owners = 0;
};

bool layoutIsRight(BatchLanes *const *units, int64_t count) {
  Arrays arrays;
  const BatchLanes &first = **units;
  arrays.add(first.nextInstance, 8);
  arrays.add(first.ends, first.numInstances * 8);
  arrays.add(first.costs, numBlocks * 8);
  arrays.add(first.states, (first.lastSlot + 1) * 16);
  for (int64_t u = 0; u < count; ++u) {
    arrays.add(*units[u]);
    if (units[u]->nextInstance != first.nextInstance ||
        units[u]->ends != first.ends)
      return false;
  }
  return arrays.isSeparated();
}

/// Returns true if the unit's memory has the contents required at the beginning
/// of a run.
bool beginsRight(const BatchLanes &unit) {
  int64_t counts =
      unit.now | unit.longestWait | unit.frame | unit.unknownStates;
  for (int64_t i = 0; i < 4 * numBlocks; ++i)
    counts |= unit.waiting[i];
  const BatchStep &step = unit.steps[Double], &all = unit.maskedSteps[Double];
  const auto *lanes = static_cast<const int32_t *>(all.operands[0].rows);
  bool right = counts == 0 && unit.since == unit.waiting + numBlocks &&
               unit.runs == unit.since + numBlocks &&
               unit.laneRuns == unit.runs + numBlocks && unit.costs[0] == 1 &&
               unit.costs[1] == 1 + (1 << 16) && unit.states[0] == 0 &&
               unit.states[1] == -1 && !unit.variables[Sum].stack &&
               step.kernel == 0 &&
               step.results[1] == step.results[0] + unit.lanes * rowBytes &&
               all.kernel == 0 && step.operands[0].rows == unit.active &&
               step.operands[0].base == unit.variables[Sum].tops &&
               all.operands[0].base == unit.variables[Sum].tops;
  for (int64_t lane = 0; lane < unit.lanes; ++lane) {
    right &= lanes[lane] == lane;
    for (int v : {N, Sum}) {
      int32_t top = number(unit.variables[v].tops, lane);
      right &= onDevice || top == 0 || top == TopMark;
    }
  }
  return right;
}

void takeInstance(BatchContext &context, BatchLanes &unit, int64_t lane) {
  if (unit.ready) {
    unit.instances[lane] =
        context.runtime->exchangeInstance(&context, unit.instances[lane]);
    return;
  }
  auto *next = reinterpret_cast<std::atomic<int64_t> *>(unit.nextInstance);
  int64_t instance = next->fetch_add(1);
  unit.instances[lane] = instance < unit.numInstances ? instance : -1;
}

void runBlock(BatchContext &context, BatchLanes &unit, int64_t block) {
  ++unit.runs[block];
  unit.laneRuns[block] += unit.count;
  if (unit.trace)
    context.runtime->traceTasks(&context, unit.trace, block, unit.count, 0);
  ++unit.now;
}

/// Runs the first block on a lane. Returns false if the stack is full.
bool descend(BatchContext &context, BatchLanes &unit, int64_t lane) {
  BatchVariable &n = unit.variables[N];
  int64_t instance = unit.instances[lane], depth = 0;
  number(n.tops, lane) = context.arguments[0][instance];
  for (; number(n.tops, lane) > 0; --number(n.tops, lane)) {
    if (depth == unit.stackDepth)
      return false;
    number(n.stack, depth * unit.lanes + lane) = number(n.tops, lane);
    n.depths[lane] = ++depth;
  }
  int32_t &sum = number(unit.variables[Sum].tops, lane);
  for (sum = 0; depth > 0; n.depths[lane] = --depth)
    sum += number(n.stack, (depth - 1) * unit.lanes + lane);
  return true;
}

void runKernel(const BatchStep &step, int64_t count) {
  const auto *lanes = static_cast<const int32_t *>(step.operands[0].rows);
  for (int64_t t = 0; t < count; ++t) {
    int32_t sum = *reinterpret_cast<const int32_t *>(step.operands[0].base +
                                                     lanes[t] * rowBytes);
    for (int r : {0, 1})
      *reinterpret_cast<float *>(step.results[r] + t * rowBytes) =
          static_cast<float>((r + 1) * sum);
  }
  std::memset(step.scratch, OtherMark, count * 64);
}

/// Runs both blocks on all lanes that have an instance.
void runLanes(BatchContext &context, BatchLanes &unit) {
  unit.count = 0;
  for (int64_t lane = 0; lane < unit.lanes; ++lane)
    if (unit.instances[lane] >= 0)
      unit.active[unit.count++] = lane;
  runBlock(context, unit, Descend);
  int64_t ended = 0;
  for (int64_t place = 0; place < unit.count; ++place) {
    int32_t lane = unit.active[place];
    if (descend(context, unit, lane)) {
      unit.active[ended++] = lane;
      continue;
    }
    unit.ends[unit.instances[lane]] =
        int64_t(BATCH_LANE_STACK_OVERFLOW) << 32 | Descend;
    takeInstance(context, unit, lane);
  }
  unit.count = ended;
  if (unit.count == 0)
    return;
  const BatchStep &step = unit.steps[Double];
  runBlock(context, unit, Double);
  runKernel(step, unit.count);
  for (int64_t place = 0; place < unit.count; ++place) {
    int32_t lane = unit.active[place];
    int64_t instance = unit.instances[lane];
    context.results[0][instance] = number(unit.variables[Sum].tops, lane);
    auto *row = reinterpret_cast<float *>(context.results[1][instance]);
    for (int r : {0, 1})
      row[r] = *reinterpret_cast<float *>(step.results[r] + place * rowBytes);
    row[2] = 0;
    takeInstance(context, unit, lane);
  }
}

/// Overwrites memory that the next run must not rely on.
void leave(BatchLanes &unit) {
  const int64_t lanes = unit.lanes, entries = unit.stackDepth + 1;
  for (int v : {N, Sum})
    for (int64_t lane = 0; lane < lanes; ++lane)
      number(unit.variables[v].tops, lane) = TopMark;
  std::memset(unit.variables[N].stack, OtherMark, entries * lanes * rowBytes);
  std::memset(unit.returns, OtherMark, entries * lanes * 8);
}

void runUnit(BatchContext &context, BatchLanes &unit, bool right) {
  if (!right || !(unit.ready || beginsRight(unit))) {
    std::fill(unit.ends, unit.ends + unit.numInstances, wrongMemory);
    return;
  }
  for (int64_t lane = 0; lane < unit.lanes; ++lane)
    takeInstance(context, unit, lane);
  auto hasOne = [](int64_t instance) { return instance >= 0; };
  while (std::any_of(unit.instances, unit.instances + unit.lanes, hasOne)) {
    runLanes(context, unit);
    for (int64_t lane = 0; unit.ready && lane < unit.lanes; ++lane)
      if (unit.instances[lane] < 0)
        takeInstance(context, unit, lane);
  }
  leave(unit);
}

void execute(BatchContext *context, int64_t worker, int64_t workers) {
  bool right = worker > 0 || layoutIsRight(context->lanes, workers);
  runUnit(*context, *context->lanes[worker], right);
}

/// Does all the work of a block in its first thread.
void emulate(BatchEmulatorThread *thread, void *const *arguments) {
  if (thread->thread)
    return;
  auto *context = *static_cast<BatchContext *const *>(arguments[0]);
  auto *control = *static_cast<BatchDeviceControl *const *>(arguments[1]);
  bool right = thread->block > 0 ||
               layoutIsRight(context->lanes,
                             *static_cast<const int64_t *>(arguments[2]));
  BatchLanes &lanes = *context->lanes[thread->block];
  runUnit(*context, lanes, right);
  control->ofBlocks[thread->block].progress = lanes.now << 32;
  control->ofBlocks[thread->block].ended = 1;
}
} // namespace

extern "C" {
__attribute__((visibility("default"))) BatchObject batch_object = {
    BATCH_ABI_VERSION, descriptor, nullptr, execute,
    nullptr,           nullptr,    0,       onDevice ? emulate : nullptr};
}
