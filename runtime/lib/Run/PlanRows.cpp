//===- PlanRows.cpp - Which rows of tables results lie in -----------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The results of a step lie next to each other. Short rows are numbered in the
// order of the steps, each is used once. Long ones are used again as soon as
// all that read them have run: the tasks of a step are sorted by the last
// epoch that reads them, so that what is free at any time is the first of its
// rows, and each step takes the shortest free range that is long enough. Rows
// that results of the model hold are never free. Plans share no rows: they run
// at the same time.
//
//===----------------------------------------------------------------------===//

#include "batch-runtime/Error.h"
#include "batch-runtime/Plan.h"

#include <algorithm>
#include <numeric>

using namespace batchrt;

/// In place of an epoch: read after all of them.
static constexpr int32_t kKept = INT32_MAX;

void Plan::choosePools(int64_t reusedRowBytes) {
  // By group: its tables with memory of their own, and the bytes of a row.
  std::vector<std::vector<int>> owners(descriptor.groups);
  std::vector<int64_t> rowBytes(descriptor.groups);
  memoryOf.resize(tables.size());
  for (size_t t = 0; t < tables.size(); ++t) {
    const TableInfo &table = descriptor.tables[t];
    memoryOf[t] = table.beside < 0 ? static_cast<int>(t) : table.beside;
    if (table.beside >= 0)
      continue;
    owners[table.group].push_back(static_cast<int>(t));
    rowBytes[table.group] += table.rowBytes;
  }
  // All kernels may read the rows of constants.
  std::vector<bool> isConstant(descriptor.groups);
  for (const KernelInfo &kernel : descriptor.kernels)
    for (const ResultInfo &result : kernel.results)
      if (kernel.constant)
        isConstant[descriptor.tables[result.table].group] = true;

  auto hasSameRows = [&](int a, int b) {
    return std::equal(owners[a].begin(), owners[a].end(), owners[b].begin(),
                      owners[b].end(), [&](int left, int right) {
                        return descriptor.tables[left].rowBytes ==
                               descriptor.tables[right].rowBytes;
                      });
  };
  poolOf.assign(descriptor.groups, -1);
  for (int group = 0; group < descriptor.groups; ++group) {
    if (rowBytes[group] < reusedRowBytes || groupBlocks[group] > 1 ||
        isConstant[group])
      continue;
    size_t pool = 0;
    while (pool < pools.size() && !hasSameRows(pools[pool].leader, group))
      ++pool;
    if (pool == pools.size())
      pools.push_back({group, {}});
    poolOf[group] = static_cast<int>(pool);
    for (size_t i = 0; i < owners[group].size(); ++i)
      memoryOf[owners[group][i]] = owners[pools[pool].leader][i];
  }
  for (size_t t = 0; t < tables.size(); ++t)
    memoryOf[t] = memoryOf[memoryOf[t]];
}

//===----------------------------------------------------------------------===//
// Who reads a row last
//===----------------------------------------------------------------------===//

void Plan::numberEpochs() {
  const std::vector<DepthStep> &list = scheduler.steps();
  epochs.resize(list.size());
  int32_t epoch = 0;
  const DepthStep *last = nullptr;
  for (int32_t s : scheduler.sequence()) {
    if (!last || last->plan != list[s].plan)
      epoch = 0;
    else if (!isIndependent(*last, list[s]))
      ++epoch;
    epochs[s] = epoch;
    last = &list[s];
  }
}

void Plan::findLastReads(const BatchContext &context, int64_t numInstances,
                         WorkerPool &workers) {
  numberEpochs();
  workers.forEachPart(
      numParts, [&](int64_t p) { findReads(parts[p], scheduler.places(p)); });
  keepResults(context, numInstances);
  workers.forEachPart(numParts, [&](int64_t p) {
    sortByLastRead(parts[p], scheduler.places(p));
  });
}

void Plan::findReads(Part &part, const Places &places) const {
  int64_t size = descriptor.groups * part.numTasks;
  auto *all = reinterpret_cast<int32_t *>(
      part.lastReads.reserve(size * sizeof(int32_t), "last readers of tasks"));
  std::fill(all, all + size, -1);
  for (size_t s = 0; s < places.size(); ++s) {
    const DepthStep &step = part.sorter.steps()[s];
    const TaskQueue &queue = part.queues[step.kernel];
    const int32_t epoch = epochs[places[s].step];
    const int32_t *order =
        static_cast<const DepthSorter &>(part.sorter).order() + step.begin;
    auto read = [&](int64_t handle, int table) {
      if (handle < 0 || table < 0)
        return;
      int32_t &last = part.lastReadsOf(
          descriptor.tables[table].group)[taskOf(handle) - part.firstTask];
      last = std::max(last, epoch);
    };
    for (int64_t i = 0; i < step.count; ++i)
      RecordedTasks::forEachRead(descriptor.kernels[step.kernel],
                                 queue.records + order[i] * queue.recordCells,
                                 part.context->listPool, read);
  }
}

void Plan::keepResults(const BatchContext &context, int64_t numInstances) {
  resultRows.forEach(descriptor, context, numInstances,
                     [&](int64_t handle, int table) {
                       if (handle < 0 || table < 0)
                         return;
                       int group = descriptor.tables[table].group;
                       int64_t task = taskOf(handle);
                       Part &part = parts[partOf(task, numParts)];
                       part.lastReadsOf(group)[task - part.firstTask] = kKept;
                     });
}

/// Sorts the tasks of each step by the last epoch that reads their rows in its
/// first pool; stable, and linear unless few tasks have many different ones.
void Plan::sortByLastRead(Part &part, const Places &places) const {
  for (size_t s = 0; s < places.size(); ++s) {
    const DepthStep &step = part.sorter.steps()[s];
    auto use = std::find_if(
        groupUses[step.kernel].begin(), groupUses[step.kernel].end(),
        [&](const GroupUse &use) { return poolOf[use.group] >= 0; });
    if (use == groupUses[step.kernel].end())
      continue;
    const int32_t *lastReads = part.lastReadsOf(use->group);
    const TaskQueue &queue = part.queues[step.kernel];
    // Kept rows come last, as if read in an epoch after all.
    const int32_t first = epochs[places[s].step];
    const int64_t plan = scheduler.steps()[places[s].step].plan;
    const int32_t lastStep =
        scheduler.sequence()[scheduler.planBegin(plan + 1) - 1];
    const int32_t end = epochs[lastStep] + 1;
    auto key = [&](int32_t record) {
      int32_t last = lastReads[queue.task(record) - part.firstTask];
      return std::clamp(last, first, end) - first;
    };
    int32_t *begin = part.sorter.order() + step.begin;
    if (end - first > 4 * step.count) {
      part.keys.clear();
      for (int64_t i = 0; i < step.count; ++i)
        part.keys.push_back({int64_t(key(begin[i])) << 32 | i, begin[i]});
      std::sort(part.keys.begin(), part.keys.end());
      for (int64_t i = 0; i < step.count; ++i)
        begin[i] = part.keys[i].second;
      continue;
    }
    part.counts.assign(end - first + 2, 0);
    for (int64_t i = 0; i < step.count; ++i)
      ++part.counts[key(begin[i]) + 1];
    std::partial_sum(part.counts.begin(), part.counts.end(),
                     part.counts.begin());
    part.sorted.assign(begin, begin + step.count);
    for (int32_t record : part.sorted)
      begin[part.counts[key(record)]++] = record;
  }
}

//===----------------------------------------------------------------------===//
// Slots
//===----------------------------------------------------------------------===//

/// Takes the rows of a step in a pool, and says when each is free again.
int64_t Plan::takeRows(int64_t s, const GroupUse &use) {
  const DepthStep &step = scheduler.steps()[s];
  RowAllocator &rows = pools[poolOf[use.group]].rows;
  rows.enter(epochs[s]);
  int64_t first = rows.take(step.count * use.siblings);
  int64_t runBegin = 0, runEnd = 0;
  int32_t runLast = kKept;
  auto endRun = [&] {
    if (runLast != kKept && runBegin < runEnd)
      rows.release(first + runBegin * use.siblings,
                   (runEnd - runBegin) * use.siblings,
                   std::max(runLast, epochs[s]) + 1);
  };
  forEachTask(s, [&](int64_t position, const int64_t *record) {
    int64_t task = static_cast<uint32_t>(record[0]);
    const Part &part = parts[partOf(task, numParts)];
    int32_t last = part.lastReadsOf(use.group)[task - part.firstTask];
    if (last != runLast) {
      endRun();
      runBegin = position - step.begin;
      runLast = last;
    }
    runEnd = position - step.begin + 1;
  });
  endRun();
  return first;
}

size_t Plan::storageBytes(size_t table) const {
  const TableInfo &info = descriptor.tables[table];
  int64_t rows = groupRows[info.group];
  return (rows + info.block - 1) / info.block * info.rowBytes;
}

void Plan::assignSlots() {
  const std::vector<DepthStep> &list = scheduler.steps();
  std::fill(groupRows.begin(), groupRows.end(), 0);
  for (auto &offsets : stepOffsets)
    if (offsets.size() < list.size())
      offsets.resize(list.size());
  for (Pool &pool : pools)
    pool.rows.reset();
  int64_t plan = 0;
  for (int32_t s : scheduler.sequence()) {
    if (list[s].plan != plan)
      for (Pool &pool : pools)
        pool.rows.startPlan();
    plan = list[s].plan;
    for (const GroupUse &use : groupUses[list[s].kernel]) {
      int64_t &offset = stepOffsets[use.group][s];
      if (poolOf[use.group] >= 0) {
        offset = takeRows(s, use);
        continue;
      }
      int64_t block = groupBlocks[use.group];
      offset = groupRows[use.group];
      int64_t rows = list[s].count * use.siblings;
      groupRows[use.group] += (rows + block - 1) & -block; // powers of two
    }
  }
  for (const Pool &pool : pools)
    groupRows[pool.leader] = pool.rows.rows();
  totalSlots = 0;
  for (size_t t = 0; t < tables.size(); ++t) {
    const TableInfo &table = descriptor.tables[t];
    int64_t rows = groupRows[table.group];
    if (rows > INT32_MAX)
      raise("the mini-batch needs ", rows, " rows of table '", table.name,
            "', 2147483647 is the most; give a smaller --batch");
    totalSlots += rows;
    if (memoryOf[t] == static_cast<int>(t))
      tables[t].reserve(storageBytes(t), "result tables");
  }
}
