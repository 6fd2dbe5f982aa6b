//===- PlanRows.cpp - Rows that the steps of a plan write -----------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every pass here is a plain loop over the tasks of one kernel, because
// scheduling has a budget of 10 ns per task.
//
//===----------------------------------------------------------------------===//

#include "batch-runtime/PlanRows.h"
#include "batch-runtime/Error.h"
#include "batch-runtime/Tables.h"

#include <algorithm>
#include <numeric>

using namespace batchrt;

static constexpr int32_t kLiveOut = HeldRows::liveOut;

/// Returns true if the kernel computes a result by inserting a slice into an
/// operand, and both are in one table.
static bool isInserted(const KernelInfo &kernel, const ResultInfo &result) {
  return result.inPlace >= 0 &&
         kernel.operands[result.inPlace].table == result.table &&
         !kernel.operands[result.inPlace].ragged;
}

/// The value of `roots` for tasks whose rows must not be overwritten by other
/// tasks.
static constexpr int32_t kShared = -2;

PlanRows::PlanRows(const Descriptor &descriptor)
    : descriptor(descriptor), stepOffsets(descriptor.groups),
      inPlace(descriptor.groups) {
  for (const KernelInfo &kernel : descriptor.kernels) {
    std::vector<GroupUse> uses;
    for (const ResultInfo &result : kernel.results) {
      int group = descriptor.tables[result.table].group;
      const bool inserts = isInserted(kernel, result);
      auto known = std::find_if(uses.begin(), uses.end(),
                                [&](auto &use) { return use.group == group; });
      if (known == uses.end())
        known = uses.insert(known, {group, result.siblings, 0, {}});
      ++known->results;
      if (inserts)
        known->inserts.push_back({result.inPlace, result.position});
      if (known->siblings != result.siblings)
        raise("kernel '", kernel.name,
              "' has different numbers of results in "
              "the tables of one group");
    }
    // In a group, insert in place only if all results of a kernel are inserts.
    for (GroupUse &use : uses) {
      if (static_cast<int64_t>(use.inserts.size()) != use.results)
        use.inserts.clear();
      anyInserts |= !use.inserts.empty();
    }
    groupUses.push_back(uses);
  }
}

void PlanRows::take(TaskOrder &order, Tables &tables, int64_t numInstances,
                    WorkerPool &workers, const LiveOutRows *later) {
  isLast = !later;
  for (std::vector<char> &steps : inPlace)
    steps.assign(order.schedule().steps().size(), 0);
  tables.beginPlan();
  if (tables.anyReused() || (isLast && anyInserts)) {
    numberEpochs(order);
    if (isLast || tables.anyHeld())
      findLastReads(order, tables, numInstances, workers, later);
  }
  takeSlots(order, tables);
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
                             int64_t numInstances, WorkerPool &workers,
                             const LiveOutRows *later) {
  const int64_t parts = order.numParts();
  if (static_cast<int64_t>(reads.size()) < parts)
    reads.resize(parts);
  workers.forEachPart(parts, [&](int64_t p) { findReads(order, tables, p); });
  if (later) {
    keep(later->liveOut, tables, HeldRows::liveOut);
    keep(later->pinned, tables, HeldRows::pinned);
  } else {
    keepResults(order, tables, numInstances);
  }
  if (anyInserts)
    placeInserts(order, tables);
  workers.forEachPart(parts,
                      [&](int64_t p) { sortByLastRead(order, tables, p); });
}

void PlanRows::findReads(const TaskOrder &order, Tables &tables,
                         int64_t number) {
  const TaskOrder::Part &part = order.part(number);
  const TaskOrder::Places &places = order.places(number);
  PartReads &own = reads[number];
  const int64_t size = descriptor.groups * part.numTasks();
  own.begin = part.begin;
  own.numTasks = part.numTasks();
  auto *all = reinterpret_cast<int32_t *>(
      own.lastReads.reserve(size * sizeof(int32_t), "last readers of tasks"));
  std::fill(all, all + size, -1);
  own.readers.assign(anyInserts ? size : 0, 0);
  own.roots.assign(anyInserts ? size : 0, -1);
  for (size_t s = 0; s < places.size(); ++s) {
    const DepthStep &step = part.sorter.steps()[s];
    const TaskQueue &queue = part.queues[step.kernel];
    const int32_t epoch = epochs[places[s].step];
    const int32_t *records = part.sorter.order() + step.begin;
    auto read = [&](int64_t handle, int table) {
      int64_t task = taskOf(handle);
      if (task < 0 || table < 0)
        return;
      const int group = descriptor.tables[table].group;
      if (!own.contains(task)) {
        if (HeldRows *held = tables.heldRows(group))
          held->read(tables.slot(handle, table), epoch);
        return;
      }
      int32_t &last = own.at(group, task);
      if (anyInserts && epoch >= last) {
        int32_t &readers = own.readers[own.place(group, task)];
        readers = epoch == last ? readers + 1 : 1;
      }
      last = std::max(last, epoch);
    };
    // All parts read the rows of a constant task, so no task overwrites them.
    if (anyInserts && descriptor.kernels[step.kernel].constant)
      for (int64_t i = 0; i < step.count; ++i)
        for (int group = 0; group < descriptor.groups; ++group)
          own.roots[own.place(group, queue.task(records[i]))] = kShared;
    for (int64_t i = 0; i < step.count; ++i)
      RecordedTasks::forEachRead(descriptor.kernels[step.kernel],
                                 queue.records + records[i] * queue.recordCells,
                                 part.context->listPool, read);
  }
}

void PlanRows::keepResults(const TaskOrder &order, Tables &tables,
                           int64_t numInstances) {
  const int64_t parts = order.numParts();
  resultRows.forEach(descriptor, *order.part(0).context, numInstances,
                     [&](int64_t handle, int table) {
                       const int64_t task = taskOf(handle);
                       if (task < 0 || table < 0)
                         return;
                       const int group = descriptor.tables[table].group;
                       const PartReads &part = reads[partOf(task, parts)];
                       if (part.contains(task))
                         part.at(group, task) = kLiveOut;
                       else if (tables.heldRows(group))
                         tables.keep(handle, kLiveOut);
                     });
}

/// Keeps the rows of the tasks that `handles` refer to, in groups with held
/// rows. Results of branches may be numbers instead of handles. At worst, such
/// numbers keep additional rows. Results of deferred tasks do not exist yet.
void PlanRows::keep(const std::vector<int64_t> &handles, Tables &tables,
                    int32_t epoch) {
  for (int64_t handle : handles) {
    const int64_t task = taskOf(handle);
    const int64_t number = partOf(task, tables.numParts());
    if (task < 0 || number >= tables.numParts())
      continue;
    const PartReads &part = reads[number];
    if (!part.contains(task)) {
      tables.keep(handle, epoch);
      continue;
    }
    if (epoch == HeldRows::pinned)
      tables.pin(handle);
    for (int group = 0; group < descriptor.groups; ++group)
      if (tables.heldRows(group))
        part.at(group, task) = std::max(part.at(group, task), epoch);
  }
}

//===----------------------------------------------------------------------===//
// Results in rows of operands
//===----------------------------------------------------------------------===//

/// Returns the owner of the rows that the results of a task may overwrite, or
/// -1 if there are none. No other task reads these rows at that time or later.
int64_t PlanRows::findRow(const TaskOrder &order, int64_t step,
                          const GroupUse &use, const int64_t *record) const {
  const int64_t parts = order.numParts();
  const KernelInfo &kernel =
      descriptor.kernels[order.schedule().steps()[step].kernel];
  const auto task = static_cast<int64_t>(static_cast<uint32_t>(record[0]));
  const PartReads &part = reads[partOf(task, parts)];
  int64_t owner = -1;
  for (auto [operand, position] : use.inserts) {
    const int64_t handle = record[kernel.operands[operand].cell];
    if (handle < 0 || handle >> 56 != position ||
        (owner >= 0 && taskOf(handle) != owner))
      return -1;
    owner = taskOf(handle);
  }
  // Rows of earlier plans are unknown here, and rows of a constant task belong
  // to all parts.
  if (!part.contains(owner) ||
      part.roots[part.place(use.group, owner)] == kShared ||
      part.at(use.group, owner) != epochs[step] ||
      part.readers[part.place(use.group, owner)] !=
          static_cast<int32_t>(use.inserts.size()))
    return -1;
  return owner;
}

bool PlanRows::canInsert(const TaskOrder &order, int64_t step,
                         const GroupUse &use) const {
  bool can =
      !use.inserts.empty() &&
      !descriptor.kernels[order.schedule().steps()[step].kernel].constant;
  if (can)
    order.forEachTask(step, [&](int64_t, const int64_t *record) {
      can = can && findRow(order, step, use, record) >= 0;
    });
  return can;
}

void PlanRows::placeInserts(const TaskOrder &order, Tables &tables) {
  const std::vector<DepthStep> &list = order.schedule().steps();
  const std::vector<int32_t> &sequence = order.schedule().sequence();
  const int64_t parts = order.numParts();
  auto forEachInsert = [&](int32_t s, const auto &body) {
    for (const GroupUse &use : groupUses[list[s].kernel])
      if (inPlace[use.group][s])
        order.forEachTask(s, [&](int64_t, const int64_t *record) {
          const auto task =
              static_cast<int64_t>(static_cast<uint32_t>(record[0]));
          body(reads[partOf(task, parts)], use, task, record);
        });
  };
  // Owners come before the tasks that write into their rows.
  for (int32_t s : sequence) {
    for (const GroupUse &use : groupUses[list[s].kernel])
      inPlace[use.group][s] =
          (isLast || tables.heldRows(use.group)) && canInsert(order, s, use);
    forEachInsert(s, [&](PartReads &part, const GroupUse &use, int64_t task,
                         const int64_t *record) {
      const int64_t owner = findRow(order, s, use, record);
      const int32_t root = part.roots[part.place(use.group, owner)];
      part.roots[part.place(use.group, task)] =
          root < 0 ? static_cast<int32_t>(owner - part.begin) : root;
    });
  }
  // The rows of an owner stay in use until the last read of any result in them.
  for (auto s = sequence.rbegin(); s != sequence.rend(); ++s)
    forEachInsert(*s, [&](PartReads &part, const GroupUse &use, int64_t task,
                          const int64_t *) {
      const int32_t root = part.roots[part.place(use.group, task)];
      int32_t &last = part.at(use.group, part.begin + root);
      last = std::max({last, part.at(use.group, task), epochs[*s]});
    });
}

/// Sorts the tasks of each step by the last epoch that reads their rows.
/// Considers only the step's first group whose rows are freed. The sort is
/// stable. It takes linear time unless few tasks have many different epochs.
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
      return isFreed(tables, use.group);
    });
    if (use == uses.end())
      continue;
    const int32_t *lastReads = &own.at(use->group, own.begin);
    const TaskQueue &queue = part.queues[step.kernel];
    // Live-out rows come last, as if read in an epoch after all other epochs.
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

/// Allocates the rows of a step and determines when each row becomes free
/// again: in this plan, or when a later plan releases it. Returns the first
/// row.
int64_t PlanRows::takeRows(const TaskOrder &order, Tables &tables, int64_t s,
                           const GroupUse &use) {
  const DepthStep &step = order.schedule().steps()[s];
  RowAllocator &rows = *tables.reusedRows(use.group);
  rows.enter(epochs[s]);
  int64_t first = rows.take(step.count * use.siblings);
  if (!isFreed(tables, use.group))
    return first;
  HeldRows *held = isLast ? nullptr : tables.heldRows(use.group);
  const int64_t parts = order.numParts();
  int64_t runBegin = 0, runEnd = 0;
  int32_t runLast = HeldRows::pinned;
  auto endRun = [&] {
    const int64_t begin = first + runBegin * use.siblings,
                  count = (runEnd - runBegin) * use.siblings;
    if (runLast < kLiveOut)
      rows.release(begin, count, std::max(runLast, epochs[s]) + 1);
    else if (runLast == kLiveOut && held)
      held->hold(begin, count);
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

void PlanRows::takeSlots(const TaskOrder &order, Tables &tables) {
  const std::vector<DepthStep> &list = order.schedule().steps();
  for (auto &offsets : stepOffsets)
    if (offsets.size() < list.size())
      offsets.resize(list.size());
  tables.releaseHeld();
  int64_t plan = 0;
  for (int32_t s : order.schedule().sequence()) {
    if (list[s].plan != plan)
      tables.startSeparateRows();
    plan = list[s].plan;
    for (const GroupUse &use : groupUses[list[s].kernel]) {
      if (inPlace[use.group][s]) {
        stepOffsets[use.group][s] = -1;
        continue;
      }
      stepOffsets[use.group][s] =
          tables.reusedRows(use.group)
              ? takeRows(order, tables, s, use)
              : tables.appendRows(use.group, list[s].count * use.siblings);
    }
  }
  tables.reserveRows();
}

void PlanRows::fillSlots(const TaskOrder &order, Tables &tables,
                         int64_t number) const {
  const TaskOrder::Part &part = order.part(number);
  tables.addTasks(number, part.end);
  const auto steps = static_cast<int64_t>(order.places(number).size());
  for (int64_t s = 0; s < steps; ++s)
    fillStep(order, tables, number, s, /*inserts=*/false);
  for (int64_t s = 0; s < steps && anyInserts; ++s)
    fillStep(order, tables, number, s, /*inserts=*/true);
}

/// Fills in the slots of a step of a part. If `inserts` is true, considers only
/// the groups in which the step inserts; otherwise, only the groups in which it
/// allocates rows. Groups with inserts must be filled in last.
void PlanRows::fillStep(const TaskOrder &order, Tables &tables, int64_t number,
                        int64_t s, bool inserts) const {
  const TaskOrder::Part &part = order.part(number);
  const TaskOrder::Places &places = order.places(number);
  const DepthStep &step = part.sorter.steps()[s];
  const TaskQueue &queue = part.queues[step.kernel];
  const int32_t *records = part.sorter.order() + step.begin;
  // Number of tasks in the same batch that belong to earlier parts.
  const int64_t before =
      places[s].begin - order.schedule().steps()[places[s].step].begin;
  const int64_t *words = queue.records;
  const int64_t recordCells = queue.recordCells, base = part.base;
  for (const GroupUse &use : groupUses[step.kernel]) {
    if (inPlace[use.group][places[s].step] != inserts)
      continue;
    SlotMap &slots = tables.slotsOf(number, use.group);
    if (inserts) {
      const PartReads &own = reads[number];
      for (int64_t i = 0; i < step.count; ++i) {
        const int64_t task =
            static_cast<uint32_t>(words[records[i] * recordCells]);
        const int32_t root = own.roots[own.place(use.group, task)];
        slots.set(task - base, slots.slot(own.begin + root - base));
      }
      continue;
    }
    const auto siblings = static_cast<int32_t>(use.siblings);
    auto row = static_cast<int32_t>(stepOffsets[use.group][places[s].step] +
                                    before * use.siblings);
    for (int64_t i = 0; i < step.count; ++i, row += siblings)
      slots.set(static_cast<uint32_t>(words[records[i] * recordCells]) - base,
                row);
  }
}

size_t PlanRows::bytes() const {
  size_t sum = epochs.capacity() * sizeof(int32_t);
  for (const std::vector<int64_t> &offsets : stepOffsets)
    sum += offsets.capacity() * sizeof(int64_t);
  for (const std::vector<char> &steps : inPlace)
    sum += steps.capacity();
  for (const PartReads &own : reads)
    sum += own.lastReads.capacity() +
           (own.readers.capacity() + own.roots.capacity()) * sizeof(int32_t) +
           (own.counts.capacity() + own.sorted.capacity()) * sizeof(int32_t) +
           own.keys.capacity() * sizeof(own.keys[0]);
  return sum;
}
