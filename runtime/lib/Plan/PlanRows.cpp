//===- PlanRows.cpp - Which rows of tables the steps of a plan write ------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every pass here is a plain loop over the tasks of one kernel: scheduling has
// a budget of 10 ns per task.
//
//===----------------------------------------------------------------------===//

#include "batch-runtime/PlanRows.h"
#include "batch-runtime/Error.h"
#include "batch-runtime/Tables.h"

#include <algorithm>
#include <numeric>

using namespace batchrt;

/// Stands for an epoch after all others.
static constexpr int32_t kKept = INT32_MAX;

PlanRows::PlanRows(const Descriptor &descriptor)
    : descriptor(descriptor), stepOffsets(descriptor.groups) {
  for (const KernelInfo &kernel : descriptor.kernels) {
    std::vector<GroupUse> uses;
    for (const ResultInfo &result : kernel.results) {
      int group = descriptor.tables[result.table].group;
      auto known = std::find_if(uses.begin(), uses.end(),
                                [&](auto &use) { return use.group == group; });
      if (known == uses.end())
        uses.push_back({group, result.siblings});
      else if (known->siblings != result.siblings)
        raise("kernel '", kernel.name,
              "' has different numbers of results in "
              "the tables of one group");
    }
    groupUses.push_back(uses);
  }
}

void PlanRows::take(TaskOrder &order, Tables &tables, int64_t numInstances,
                    WorkerPool &workers, bool last) {
  if (tables.anyReused()) {
    numberEpochs(order);
    if (last)
      findLastReads(order, tables, numInstances, workers);
  }
  takeSlots(order, tables, last);
}

//===----------------------------------------------------------------------===//
// Last reads of rows
//===----------------------------------------------------------------------===//

void PlanRows::numberEpochs(const TaskOrder &order) {
  const std::vector<DepthStep> &list = order.schedule().steps();
  epochs.resize(list.size());
  int32_t epoch = 0;
  const DepthStep *last = nullptr;
  for (int32_t s : order.schedule().sequence()) {
    if (!last || last->plan != list[s].plan)
      epoch = 0;
    else if (!order.isIndependent(*last, list[s]))
      ++epoch;
    epochs[s] = epoch;
    last = &list[s];
  }
}

void PlanRows::findLastReads(TaskOrder &order, Tables &tables,
                             int64_t numInstances, WorkerPool &workers) {
  const int64_t parts = order.numParts();
  if (static_cast<int64_t>(reads.size()) < parts)
    reads.resize(parts);
  workers.forEachPart(parts, [&](int64_t p) { findReads(order, p); });
  keepResults(order, numInstances);
  workers.forEachPart(parts,
                      [&](int64_t p) { sortByLastRead(order, tables, p); });
}

void PlanRows::findReads(const TaskOrder &order, int64_t number) {
  const TaskOrder::Part &part = order.part(number);
  const TaskOrder::Places &places = order.places(number);
  PartReads &own = reads[number];
  const int64_t size = descriptor.groups * part.numTasks();
  own.begin = part.begin;
  own.numTasks = part.numTasks();
  auto *all = reinterpret_cast<int32_t *>(
      own.lastReads.reserve(size * sizeof(int32_t), "last readers of tasks"));
  std::fill(all, all + size, -1);
  for (size_t s = 0; s < places.size(); ++s) {
    const DepthStep &step = part.sorter.steps()[s];
    const TaskQueue &queue = part.queues[step.kernel];
    const int32_t epoch = epochs[places[s].step];
    const int32_t *records = part.sorter.order() + step.begin;
    auto read = [&](int64_t handle, int table) {
      int64_t task = taskOf(handle);
      if (task < own.begin || table < 0)
        return;
      int32_t &last = own.at(descriptor.tables[table].group, task);
      last = std::max(last, epoch);
    };
    for (int64_t i = 0; i < step.count; ++i)
      RecordedTasks::forEachRead(descriptor.kernels[step.kernel],
                                 queue.records + records[i] * queue.recordCells,
                                 part.context->listPool, read);
  }
}

void PlanRows::keepResults(const TaskOrder &order, int64_t numInstances) {
  const int64_t parts = order.numParts();
  resultRows.forEach(descriptor, *order.part(0).context, numInstances,
                     [&](int64_t handle, int table) {
                       const int64_t task = taskOf(handle);
                       if (task < 0 || table < 0)
                         return;
                       const PartReads &part = reads[partOf(task, parts)];
                       if (task >= part.begin)
                         part.at(descriptor.tables[table].group, task) = kKept;
                     });
}

/// Sorts the tasks of each step by the last epoch that reads their rows in its
/// first pool; stable, and linear unless few tasks have many different epochs.
void PlanRows::sortByLastRead(TaskOrder &order, Tables &tables,
                              int64_t number) {
  TaskOrder::Part &part = order.part(number);
  const TaskOrder::Places &places = order.places(number);
  const DepthScheduler &schedule = order.schedule();
  PartReads &own = reads[number];
  for (size_t s = 0; s < places.size(); ++s) {
    const DepthStep &step = part.sorter.steps()[s];
    const std::vector<GroupUse> &uses = groupUses[step.kernel];
    auto use = std::find_if(uses.begin(), uses.end(), [&](const GroupUse &use) {
      return tables.reusedRows(use.group);
    });
    if (use == uses.end())
      continue;
    const int32_t *lastReads = &own.at(use->group, own.begin);
    const TaskQueue &queue = part.queues[step.kernel];
    // Kept rows come last, as if read in an epoch after all others.
    const int32_t first = epochs[places[s].step];
    const int64_t plan = schedule.steps()[places[s].step].plan;
    const int32_t lastStep =
        schedule.sequence()[schedule.planBegin(plan + 1) - 1];
    const int32_t end = epochs[lastStep] + 1;
    auto key = [&](int32_t record) {
      int32_t last = lastReads[queue.task(record) - part.begin];
      return std::clamp(last, first, end) - first;
    };
    int32_t *begin = part.sorter.order() + step.begin;
    if (end - first > 4 * step.count) {
      own.keys.clear();
      for (int64_t i = 0; i < step.count; ++i)
        own.keys.push_back({int64_t(key(begin[i])) << 32 | i, begin[i]});
      std::sort(own.keys.begin(), own.keys.end());
      for (int64_t i = 0; i < step.count; ++i)
        begin[i] = own.keys[i].second;
      continue;
    }
    own.counts.assign(end - first + 2, 0);
    for (int64_t i = 0; i < step.count; ++i)
      ++own.counts[key(begin[i]) + 1];
    std::partial_sum(own.counts.begin(), own.counts.end(), own.counts.begin());
    own.sorted.assign(begin, begin + step.count);
    for (int32_t record : own.sorted)
      begin[own.counts[key(record)]++] = record;
  }
}

//===----------------------------------------------------------------------===//
// Slots
//===----------------------------------------------------------------------===//

/// Takes the rows of a step, and sets when each is free again: never if a later
/// plan may read it.
int64_t PlanRows::takeRows(const TaskOrder &order, RowAllocator &rows,
                           int64_t s, const GroupUse &use, bool last) {
  const DepthStep &step = order.schedule().steps()[s];
  rows.enter(epochs[s]);
  int64_t first = rows.take(step.count * use.siblings);
  if (!last)
    return first;
  const int64_t parts = order.numParts();
  int64_t runBegin = 0, runEnd = 0;
  int32_t runLast = kKept;
  auto endRun = [&] {
    if (runLast != kKept && runBegin < runEnd)
      rows.release(first + runBegin * use.siblings,
                   (runEnd - runBegin) * use.siblings,
                   std::max(runLast, epochs[s]) + 1);
  };
  order.forEachTask(s, [&](int64_t position, const int64_t *record) {
    int64_t task = static_cast<uint32_t>(record[0]);
    int32_t lastRead = reads[partOf(task, parts)].at(use.group, task);
    if (lastRead != runLast) {
      endRun();
      runBegin = position - step.begin;
      runLast = lastRead;
    }
    runEnd = position - step.begin + 1;
  });
  endRun();
  return first;
}

void PlanRows::takeSlots(const TaskOrder &order, Tables &tables, bool last) {
  const std::vector<DepthStep> &list = order.schedule().steps();
  for (auto &offsets : stepOffsets)
    if (offsets.size() < list.size())
      offsets.resize(list.size());
  int64_t plan = -1;
  for (int32_t s : order.schedule().sequence()) {
    if (list[s].plan != plan)
      tables.startPlan();
    plan = list[s].plan;
    for (const GroupUse &use : groupUses[list[s].kernel]) {
      RowAllocator *reused = tables.reusedRows(use.group);
      stepOffsets[use.group][s] =
          reused ? takeRows(order, *reused, s, use, last)
                 : tables.appendRows(use.group, list[s].count * use.siblings);
    }
  }
  tables.makeRoom();
}

void PlanRows::fillSlots(const TaskOrder &order, Tables &tables,
                         int64_t number) const {
  const TaskOrder::Part &part = order.part(number);
  const TaskOrder::Places &places = order.places(number);
  tables.addTasks(number, part.end);
  for (size_t s = 0; s < places.size(); ++s) {
    const DepthStep &step = part.sorter.steps()[s];
    const TaskQueue &queue = part.queues[step.kernel];
    const int32_t *records = part.sorter.order() + step.begin;
    // Tasks of earlier parts in the same batch.
    int64_t before =
        places[s].begin - order.schedule().steps()[places[s].step].begin;
    for (const GroupUse &use : groupUses[step.kernel]) {
      int32_t *slotOf = tables.slotsOf(number, use.group);
      int32_t siblings = static_cast<int32_t>(use.siblings);
      int32_t row = static_cast<int32_t>(
          stepOffsets[use.group][places[s].step] + before * use.siblings);
      const int64_t *words = queue.records;
      int64_t recordCells = queue.recordCells, base = part.base;
      for (int64_t i = 0; i < step.count; ++i, row += siblings)
        slotOf[static_cast<uint32_t>(words[records[i] * recordCells]) - base] =
            row;
    }
  }
}

size_t PlanRows::bytes() const {
  size_t sum = epochs.capacity() * sizeof(int32_t);
  for (const std::vector<int64_t> &offsets : stepOffsets)
    sum += offsets.capacity() * sizeof(int64_t);
  for (const PartReads &own : reads)
    sum += own.lastReads.capacity() +
           (own.counts.capacity() + own.sorted.capacity()) * sizeof(int32_t) +
           own.keys.capacity() * sizeof(own.keys[0]);
  return sum;
}
