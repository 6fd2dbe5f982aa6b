//===- PlanOrder.cpp - In which order the tasks of a step come ------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Tasks are recorded instance by instance, so the rows that an operand of a
// step reads lie here and there among those of a table. In the order of their
// readers they lie one behind the other: first come all left operands of the
// next step, say, in the order of its tasks, then all right ones. Steps are
// ordered from the last to the first, because the order of a step is that of
// those that read it. What nobody reads then follows the rows that it reads.
//
//===----------------------------------------------------------------------===//

#include "batch-runtime/Plan.h"

#include <algorithm>
#include <numeric>

using namespace batchrt;

/// Orders the tasks of one part.
class Plan::TaskOrder {
public:
  TaskOrder(const Plan &plan, Part &part, int64_t number);
  void run();

private:
  const int64_t *recordOf(int32_t step, int32_t number) const;
  int64_t taskOf(int32_t step, int32_t number) const;
  template <class Body>
  void forEachRead(int32_t step, size_t operand, int32_t number,
                   const Body &body) const;
  void addReads(int32_t step);
  void takeReadTasks(int32_t step);
  void orderUnread();

  const Plan &plan;
  Part &part;
  ReadOrder &memory;
  const std::vector<DepthStep> &steps;
  int32_t *order;
};

void Plan::orderByReaders(WorkerPool &workers) {
  const std::vector<int32_t> &sequence = scheduler.sequence();
  ranks.resize(sequence.size());
  for (size_t i = 0; i < sequence.size(); ++i)
    ranks[sequence[i]] = static_cast<int32_t>(i);
  workers.forEachPart(numParts,
                      [&](int64_t p) { TaskOrder(*this, parts[p], p).run(); });
}

Plan::TaskOrder::TaskOrder(const Plan &plan, Part &part, int64_t number)
    : plan(plan), part(part), memory(part.readOrder),
      steps(part.sorter.steps()), order(part.sorter.order()) {
  const Places &places = plan.scheduler.places(number);
  memory.sequence.resize(steps.size());
  std::iota(memory.sequence.begin(), memory.sequence.end(), 0);
  std::sort(memory.sequence.begin(), memory.sequence.end(),
            [&](int32_t a, int32_t b) {
              return plan.ranks[places[a].step] < plan.ranks[places[b].step];
            });
}

const int64_t *Plan::TaskOrder::recordOf(int32_t step, int32_t number) const {
  const TaskQueue &queue = part.queues[steps[step].kernel];
  return queue.records + number * queue.recordCells;
}

int64_t Plan::TaskOrder::taskOf(int32_t step, int32_t number) const {
  return static_cast<uint32_t>(*recordOf(step, number)) - part.firstTask;
}

/// Calls `body(task)` for the tasks that one of a step reads, by an operand.
template <class Body>
void Plan::TaskOrder::forEachRead(int32_t step, size_t operand, int32_t number,
                                  const Body &body) const {
  const OperandInfo &info =
      plan.descriptor.kernels[steps[step].kernel].operands[operand];
  if (info.kind == OperandInfo::Scalar || info.table < 0)
    return;
  auto read = [&](int64_t handle) {
    if (handle >= 0)
      body(batchrt::taskOf(handle) - part.firstTask);
  };
  RecordedTasks::forEachHandle(info, recordOf(step, number),
                               part.context->listPool, read);
}

void Plan::TaskOrder::run() {
  memory.stepOf.resize(part.numTasks);
  memory.recordOf.resize(part.numTasks);
  for (int32_t step : memory.sequence)
    for (int64_t i = 0; i < steps[step].count; ++i) {
      int32_t number = order[steps[step].begin + i];
      int64_t task = taskOf(step, number);
      memory.stepOf[task] = step;
      memory.recordOf[task] = number;
    }
  memory.lastRead.assign(steps.size(), -1);
  memory.reads.clear();
  bool allRead = true;
  for (auto step = memory.sequence.rbegin(); step != memory.sequence.rend();
       ++step) {
    allRead &= memory.lastRead[*step] >= 0;
    takeReadTasks(*step);
    addReads(*step);
  }
  if (!allRead)
    orderUnread();
}

/// Remembers what a step reads: operand by operand, in the order of its tasks.
void Plan::TaskOrder::addReads(int32_t step) {
  const size_t operands =
      plan.descriptor.kernels[steps[step].kernel].operands.size();
  for (size_t o = 0; o < operands; ++o) {
    if (plan.sameRows[steps[step].kernel][o] != o)
      continue;
    for (int64_t i = 0; i < steps[step].count; ++i)
      forEachRead(step, o, order[steps[step].begin + i], [&](int64_t task) {
        int32_t &last = memory.lastRead[memory.stepOf[task]];
        memory.reads.push_back({static_cast<int32_t>(task), last});
        last = static_cast<int32_t>(memory.reads.size()) - 1;
      });
  }
}

/// Orders the tasks of a step as its nearest reader reads them. Those that
/// nobody reads come last.
void Plan::TaskOrder::takeReadTasks(int32_t step) {
  if (memory.lastRead[step] < 0)
    return;
  // The last read that was remembered is the first that counts.
  memory.taken.clear();
  for (int32_t r = memory.lastRead[step]; r >= 0; r = memory.reads[r].before) {
    int32_t task = memory.reads[r].task;
    if (memory.stepOf[task] < 0)
      continue;
    memory.stepOf[task] = -1;
    memory.taken.push_back(memory.recordOf[task]);
  }
  std::reverse(memory.taken.begin(), memory.taken.end());
  int32_t *begin = order + steps[step].begin, *end = begin + steps[step].count;
  for (int32_t *number = begin; number != end; ++number)
    if (memory.stepOf[taskOf(step, *number)] >= 0)
      memory.taken.push_back(*number);
  std::copy(memory.taken.begin(), memory.taken.end(), begin);
}

/// Orders the tasks of steps that nobody reads as the first tasks lie that they
/// read.
void Plan::TaskOrder::orderUnread() {
  std::vector<int32_t> &position = memory.stepOf; // which is of no use any more
  int32_t next = 0;
  for (int32_t step : memory.sequence)
    for (int64_t i = 0; i < steps[step].count; ++i)
      position[taskOf(step, order[steps[step].begin + i])] = next++;
  for (int32_t step : memory.sequence) {
    if (memory.lastRead[step] >= 0)
      continue;
    const size_t operands =
        plan.descriptor.kernels[steps[step].kernel].operands.size();
    int32_t *begin = order + steps[step].begin;
    part.keys.clear();
    for (int64_t i = 0; i < steps[step].count; ++i) {
      int64_t first = -1;
      for (size_t o = 0; o < operands && first < 0; ++o)
        forEachRead(step, o, begin[i], [&](int64_t task) {
          if (first < 0)
            first = position[task];
        });
      part.keys.push_back({first, begin[i]});
    }
    std::sort(part.keys.begin(), part.keys.end());
    for (size_t i = 0; i < part.keys.size(); ++i)
      begin[i] = part.keys[i].second;
  }
}

size_t Plan::ReadOrder::bytes() const {
  return (sequence.capacity() + stepOf.capacity() + recordOf.capacity() +
          lastRead.capacity() + taken.capacity()) *
             sizeof(int32_t) +
         reads.capacity() * sizeof(Read);
}

//===----------------------------------------------------------------------===//
// Counts
//===----------------------------------------------------------------------===//

GatherCounts Plan::countGathers() const {
  GatherCounts counts;
  for (size_t s = 0; s < scheduler.steps().size(); ++s) {
    const KernelInfo &kernel = descriptor.kernels[scheduler.steps()[s].kernel];
    for (const OperandInfo &operand : kernel.operands) {
      if (operand.kind == OperandInfo::Scalar)
        continue;
      // The table or source of the last row, and its number there.
      std::pair<int64_t, int64_t> last{INT64_MIN, 0};
      const bool isSource = operand.table < 0;
      int64_t next = scheduler.steps()[s].begin;
      forEachTask(s, [&](int64_t place, const int64_t *record) {
        if (place != next)
          return; // a constant task of another part
        ++next;
        RecordedTasks::forEachHandle(
            operand, record, parts[0].context->listPool, [&](int64_t handle) {
              std::pair<int64_t, int64_t> row{handle >> 56, 0};
              if (isSource || handle < 0)
                row.second = static_cast<uint32_t>(handle);
              else
                row = {0, slot(handle, operand.table)};
              ++counts.rows;
              counts.runs +=
                  row.first != last.first || row.second != last.second + 1;
              last = row;
            });
      });
    }
  }
  return counts;
}
