//===- Plan.cpp - The schedule of one run, laid out in memory -------------===//
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

#include "batch-runtime/Plan.h"
#include "batch-runtime/Error.h"
#include "batch-runtime/Forest.h"

#include <algorithm>

using namespace batchrt;

static int64_t align64(int64_t bytes) { return (bytes + 63) & ~int64_t(63); }

/// Entries of an index array are 4 bytes for gathers, 8 for the rest.
static int64_t entryBytes(const OperandInfo &operand) {
  return operand.kind == OperandInfo::Gather ? 4 : 8;
}

/// For each operand the first one whose index array is the same: gathers of one
/// cell from tables with the same slots.
static std::vector<size_t> findSameRows(const Descriptor &descriptor,
                                        const KernelInfo &kernel) {
  auto isSame = [&](const OperandInfo &a, const OperandInfo &b) {
    return a.kind == OperandInfo::Gather && b.kind == OperandInfo::Gather &&
           a.cell == b.cell && a.ragged == b.ragged && a.table >= 0 &&
           b.table >= 0 &&
           descriptor.tables[a.table].group == descriptor.tables[b.table].group;
  };
  std::vector<size_t> same;
  for (size_t o = 0; o < kernel.operands.size(); ++o) {
    size_t first = 0;
    while (first < o && !isSame(kernel.operands[first], kernel.operands[o]))
      ++first;
    same.push_back(first);
  }
  return same;
}

Plan::Plan(const Descriptor &descriptor, int64_t reusedRowBytes)
    : descriptor(descriptor), recorded(descriptor),
      groupRows(descriptor.groups), groupBlocks(descriptor.groups, 1),
      stepOffsets(descriptor.groups), tables(descriptor.tables.size()),
      arrays(descriptor.kernels.size()), stepLists(descriptor.kernels.size()) {
  for (const TableInfo &table : descriptor.tables)
    groupBlocks[table.group] = std::max(groupBlocks[table.group], table.block);
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
  choosePools(reusedRowBytes);
  for (size_t k = 0; k < arrays.size(); ++k) {
    arrays[k].resize(descriptor.kernels[k].operands.size());
    sameRows.push_back(findSameRows(descriptor, descriptor.kernels[k]));
  }
}

void Plan::setPolicy(Policy newPolicy, StateMachine newMachine) {
  policy = newPolicy;
  machine = std::move(newMachine);
}

void Plan::build(const std::vector<BatchContext *> &contexts,
                 int64_t numInstances, WorkerPool &workers, bool apart) {
  numParts = static_cast<int64_t>(contexts.size());
  if (policy != Policy::Depth)
    recorded.writeDepths(
        policies.run(policy, recorded.read(contexts), machine));
  sorters.clear();
  for (int64_t p = 0; p < numParts; ++p) {
    if (static_cast<size_t>(p) == parts.size())
      parts.emplace_back();
    parts[p].context = contexts[p];
    parts[p].firstTask = firstTaskOf(p, numParts);
    sorters.push_back(&parts[p].sorter);
  }
  workers.forEachPart(numParts, [&](int64_t p) {
    collectQueues(parts[p], endTaskOf(p, numParts));
    parts[p].sorter.run(parts[p].queues.data(),
                        static_cast<int64_t>(parts[p].queues.size()));
    countRaggedRows(parts[p]);
  });
  scheduler.run(parts[0].queues.data(),
                static_cast<int64_t>(parts[0].queues.size()), sorters.data(),
                numParts, apart ? numParts : 1);
  checkSize();
  if (!pools.empty())
    findLastReads(*contexts[0], numInstances, workers);
  assignSlots();
  layOutOperands();
  workers.forEachPart(numParts, [&](int64_t p) {
    fillSlots(parts[p], scheduler.places(p));
    fillOperands(parts[p], scheduler.places(p));
  });
  makeSteps(*contexts[0]);
  reserveScratch();
}

void Plan::collectQueues(Part &part, int64_t endTask) const {
  const BatchContext &context = *part.context;
  part.numTasks = context.numTasks - part.firstTask;
  if (context.numTasks > endTask || part.numTasks > INT32_MAX)
    raise("a worker inspected ", part.numTasks, " tasks, ",
          std::min<int64_t>(endTask - part.firstTask, INT32_MAX),
          " is the most; give a smaller --batch");
  int64_t recorded = 0;
  part.queues.resize(descriptor.kernels.size());
  for (size_t k = 0; k < part.queues.size(); ++k) {
    const KernelInfo &kernel = descriptor.kernels[k];
    TaskQueue &queue = part.queues[k];
    queue.records = context.queues[k].begin;
    queue.recordCells = kernel.recordCells;
    queue.count =
        (context.queues[k].end - context.queues[k].begin) / queue.recordCells;
    queue.phase = policy == Policy::Depth ? kernel.phase : 0;
    queue.constant = kernel.constant;
    recorded += queue.count;
  }
  if (recorded != part.numTasks)
    raise("the object recorded ", recorded, " tasks, but counted ",
          part.numTasks);
}

void Plan::countRaggedRows(Part &part) const {
  part.raggedRows.clear();
  for (size_t k = 0; k < part.queues.size(); ++k) {
    const TaskQueue &queue = part.queues[k];
    for (size_t o = 0; o < arrays[k].size(); ++o) {
      const OperandInfo &operand = descriptor.kernels[k].operands[o];
      if (!operand.ragged || sameRows[k][o] != o)
        continue;
      const int64_t *cells = queue.records + operand.cell;
      for (int64_t s = part.sorter.kernelSteps(k);
           s < part.sorter.kernelSteps(k + 1); ++s) {
        const DepthStep &step = part.sorter.steps()[s];
        const int32_t *order = part.sorter.order() + step.begin;
        int64_t rows = 0;
        for (int64_t i = 0; i < step.count; ++i)
          rows += listLength(cells[order[i] * queue.recordCells]);
        part.raggedRows.push_back({rows, 0});
      }
    }
  }
}

void Plan::checkSize() {
  numTasks = scheduler.kernelBegin(descriptor.kernels.size());
  if (numTasks > INT32_MAX)
    raise("the mini-batch has ", numTasks,
          " tasks, 2147483647 is the most; give a smaller --batch");
  // The handle of the first task beyond would have been wrong, and all after.
  for (const DepthStep &step : scheduler.steps())
    if (step.depth > TaskQueue::maxDepth)
      raise("results depend on each other in a chain of more than ",
            TaskQueue::maxDepth, " tasks; give smaller inputs");
}

/// Sizes first: rows of all tasks of a kernel, and offsets step by step.
void Plan::layOutOperands() {
  int64_t bytes = 0;
  for (int64_t p = 0; p < numParts; ++p)
    parts[p].nextRagged = parts[p].raggedRows.data();
  for (size_t k = 0; k < arrays.size(); ++k) {
    int64_t tasks = scheduler.kernelBegin(k + 1) - scheduler.kernelBegin(k);
    int64_t steps = scheduler.kernelSteps(k + 1) - scheduler.kernelSteps(k);
    for (size_t o = 0; o < arrays[k].size(); ++o) {
      const OperandInfo &operand = descriptor.kernels[k].operands[o];
      OperandArrays &array = arrays[k][o];
      if (sameRows[k][o] != o) {
        array = arrays[k][sameRows[k][o]];
        continue;
      }
      array.entries = tasks;
      if (operand.ragged) {
        array.entries = placeRaggedRows(k);
        if (array.entries > INT32_MAX)
          raise("the mini-batch has ", array.entries,
                " rows in an operand of "
                "kernel '",
                descriptor.kernels[k].name,
                "', 2147483647 is the most; give a smaller --batch");
        array.offsets = bytes;
        bytes += align64((tasks + steps) * 4);
      }
      array.rows = bytes;
      bytes += align64(array.entries * entryBytes(operand));
    }
  }
  usedIndexBytes = bytes;
  indexArrays.reserve(bytes, "operand index arrays");
}

/// Makes places of the numbers of rows of the next ragged operand, which is
/// kernel `kernel`'s; returns the sum.
int64_t Plan::placeRaggedRows(int64_t kernel) {
  for (int64_t p = 0; p < numParts; ++p)
    parts[p].nextStep = parts[p].sorter.kernelSteps(kernel);
  int64_t rows = 0;
  for (int64_t s = scheduler.kernelSteps(kernel);
       s < scheduler.kernelSteps(kernel + 1); ++s) {
    const int64_t first = rows, plan = scheduler.steps()[s].plan;
    for (int64_t p = firstPart(plan); p < firstPart(plan + 1); ++p) {
      Part &part = parts[p];
      if (part.nextStep == part.sorter.kernelSteps(kernel + 1) ||
          scheduler.places(p)[part.nextStep].step != s)
        continue;
      ++part.nextStep;
      int64_t count = part.nextRagged->begin;
      *part.nextRagged++ = {rows, rows - first};
      rows += count;
    }
  }
  return rows;
}

void Plan::fillSlots(Part &part, const Places &places) const {
  part.slotArray.reserve(descriptor.groups * part.numTasks * sizeof(int32_t),
                         "slots of tasks");
  for (size_t s = 0; s < places.size(); ++s) {
    const DepthStep &step = part.sorter.steps()[s];
    const TaskQueue &queue = part.queues[step.kernel];
    const int32_t *records = part.sorter.order() + step.begin;
    // Tasks of earlier parts in the same batch.
    int64_t before = places[s].begin - scheduler.steps()[places[s].step].begin;
    for (const GroupUse &use : groupUses[step.kernel]) {
      int32_t *slotOf = part.slotsOf(use.group);
      int32_t siblings = static_cast<int32_t>(use.siblings);
      int32_t row = static_cast<int32_t>(
          stepOffsets[use.group][places[s].step] + before * use.siblings);
      const int64_t *words = queue.records;
      int64_t recordCells = queue.recordCells, firstTask = part.firstTask;
      for (int64_t i = 0; i < step.count; ++i, row += siblings)
        slotOf[static_cast<uint32_t>(words[records[i] * recordCells]) -
               firstTask] = row;
    }
  }
}

/// Calls `entry(i, cell)` for the cells of one operand, in schedule order. All
/// that the loop reads is copied first: the stores might alias it.
template <class Entry>
void Plan::forEachCell(const Part &part, const Places &places, int64_t kernel,
                       int64_t cell, Entry entry) const {
  const TaskQueue &queue = part.queues[kernel];
  const int64_t *cells = queue.records + cell;
  int64_t recordCells = queue.recordCells;
  const int64_t begin = scheduler.kernelBegin(kernel);
  const int64_t end = part.sorter.kernelSteps(kernel + 1);
  const DepthStep *steps = part.sorter.steps().data();
  for (int64_t s = part.sorter.kernelSteps(kernel); s < end; ++s) {
    const int32_t *order = part.sorter.order() + steps[s].begin;
    const int64_t first = s, at = places[s].begin;
    // The next steps, if no other part comes between.
    while (s + 1 < end &&
           places[s + 1].begin - at == steps[s + 1].begin - steps[first].begin)
      ++s;
    const int64_t count = steps[s].begin + steps[s].count - steps[first].begin;
    for (int64_t i = 0; i < count; ++i)
      entry(at - begin + i, cells[order[i] * recordCells]);
  }
}

/// Plan::row() for many handles of one type and part. Handles of tasks and of
/// sources mix in no predictable way, so there is no branch between them.
class batchrt::RowFinder {
public:
  RowFinder(const int32_t *slots, int64_t firstTask, const char *base,
            const TableInfo &info, const BatchSource *sources)
      : slots(slots ? slots : &noSlot), firstTask(firstTask),
        table{base, 0, info.rowBytes}, sources(sources), mask(info.block - 1),
        slotBytes(info.slotBytes) {
    while (info.block >> shift > 1)
      ++shift;
  }

  const char *operator()(int64_t handle) const {
    int64_t low = static_cast<uint32_t>(handle);
    int64_t isSource = handle >> 63; // all ones, or zero
    int64_t slot = slots[(low - firstTask) & ~isSource] + (handle >> 56);
    int64_t row = (low & isSource) | ((slot >> shift) & ~isSource);
    const BatchSource *from = &sources[(handle >> 56) & 127];
    from = handle < 0 ? from : &table;
    return from->base + row * from->rowBytes +
           (slot & mask & ~isSource) * slotBytes;
  }

private:
  static constexpr int32_t noSlot = 0;
  const int32_t *slots;
  int64_t firstTask;
  BatchSource table;
  const BatchSource *sources;
  int64_t shift = 0, mask, slotBytes;
};

RowFinder Plan::rowFinder(const Part &part, int table) const {
  const BatchSource *sources = part.context->sources;
  if (table < 0)
    return {nullptr, 0, nullptr, {}, sources};
  const TableInfo &info = descriptor.tables[table];
  return {part.slotsOf(info.group), part.firstTask, tableData(table), info,
          sources};
}

/// Writes an operand's index array: the entries that `forEach` calls its
/// argument for, with their position and cell.
template <class ForEach>
void Plan::fillRows(const Part &part, const OperandInfo &info, char *rows,
                    const ForEach &forEach) const {
  switch (info.kind) {
  case OperandInfo::Scalar: {
    int64_t *out = reinterpret_cast<int64_t *>(rows);
    return forEach([=](int64_t i, int64_t cell) { out[i] = cell; });
  }
  case OperandInfo::Gather: {
    int32_t *out = reinterpret_cast<int32_t *>(rows);
    if (info.table < 0)
      return forEach([=](int64_t i, int64_t cell) {
        out[i] = static_cast<int32_t>(cell);
      });
    const int32_t *slots = part.slotsOf(descriptor.tables[info.table].group);
    int64_t firstTask = part.firstTask;
    return forEach([=](int64_t i, int64_t cell) {
      out[i] = slots[static_cast<uint32_t>(cell) - firstTask] +
               static_cast<int32_t>(cell >> 56);
    });
  }
  case OperandInfo::Rows: {
    const char **out = reinterpret_cast<const char **>(rows);
    const RowFinder row = rowFinder(part, info.table);
    return forEach(
        [&row, out](int64_t i, int64_t cell) { out[i] = row(cell); });
  }
  }
}

/// Calls `entry(i, cell)` for the entries of a ragged operand's lists, in
/// schedule order, and writes where the tasks' rows end.
template <class Entry>
void Plan::forEachEntry(const Part &part, const Places &places, int64_t kernel,
                        int64_t cell, int32_t *offsets,
                        const Part::RaggedRows *where, Entry entry) const {
  const TaskQueue &queue = part.queues[kernel];
  const int64_t *cells = queue.records + cell;
  const int64_t *pool = part.context->listPool;
  const int64_t recordCells = queue.recordCells;
  for (int64_t s = part.sorter.kernelSteps(kernel);
       s < part.sorter.kernelSteps(kernel + 1); ++s, ++where) {
    const DepthStep &step = part.sorter.steps()[s];
    const int32_t *order = part.sorter.order() + step.begin;
    const DepthStep &whole = scheduler.steps()[places[s].step];
    const int64_t count = step.count;
    int64_t at = where->begin, first = at - where->inStep;
    // The steps before have one offset more than tasks each.
    int32_t *ends = offsets +
                    (places[s].begin - scheduler.kernelBegin(kernel)) +
                    (places[s].step - scheduler.kernelSteps(kernel));
    if (places[s].begin == whole.begin)
      *ends = 0;
    for (int64_t i = 0; i < count; ++i) {
      int64_t list = cells[order[i] * recordCells];
      const int64_t *begin = pool + listFirst(list);
      const int64_t length = listLength(list);
      for (int64_t e = 0; e < length; ++e)
        entry(at + e, begin[e]);
      at += length;
      *++ends = static_cast<int32_t>(at - first);
    }
  }
}

void Plan::fillOperands(const Part &part, const Places &places) const {
  const Part::RaggedRows *ragged = part.raggedRows.data();
  for (size_t k = 0; k < arrays.size(); ++k) {
    int64_t steps = part.sorter.kernelSteps(k + 1) - part.sorter.kernelSteps(k);
    for (size_t o = 0; o < arrays[k].size() && steps != 0; ++o) {
      if (sameRows[k][o] != o)
        continue;
      char *base = indexArrays.data();
      const OperandInfo &info = descriptor.kernels[k].operands[o];
      char *rows = base + arrays[k][o].rows;
      if (!info.ragged) {
        fillRows(part, info, rows, [&](auto entry) {
          forEachCell(part, places, k, info.cell, entry);
        });
        continue;
      }
      auto *offsets = reinterpret_cast<int32_t *>(base + arrays[k][o].offsets);
      fillRows(part, info, rows, [&](auto entry) {
        forEachEntry(part, places, k, info.cell, offsets, ragged, entry);
      });
      ragged += steps;
    }
  }
}

/// Writes what an operand is in each step of its kernel; `to` is that of the
/// first step, others follow at a distance of all operands.
void Plan::makeOperand(const BatchContext &context, int64_t kernel,
                       size_t number, BatchOperand *to) const {
  const std::vector<OperandInfo> &all = descriptor.kernels[kernel].operands;
  const OperandInfo &info = all[number];
  const OperandArrays &array = arrays[kernel][number];
  const int64_t bytes = entryBytes(info);
  const char *rows = indexArrays.data() + array.rows;
  const auto *offsets =
      reinterpret_cast<const int32_t *>(indexArrays.data() + array.offsets);
  const char *base = nullptr;
  if (info.kind == OperandInfo::Gather)
    base = info.table >= 0 ? tableData(info.table)
                           : context.sources[info.source].base;
  const int64_t end = scheduler.kernelSteps(kernel + 1);
  for (int64_t s = scheduler.kernelSteps(kernel); s < end;
       ++s, to += all.size()) {
    const int64_t count = scheduler.steps()[s].count;
    const int64_t entries = info.ragged ? offsets[count] : count;
    *to = {};
    to->base = base;
    to->rows = rows;
    to->offsets = info.ragged ? offsets : nullptr;
    // The next step of the kernel goes on here.
    rows += entries * bytes;
    offsets += count + 1;
  }
}

void Plan::makeSteps(BatchContext &context) {
  const std::vector<DepthStep> &list = scheduler.steps();
  size_t numOperands = 0, numResults = 0;
  for (size_t k = 0; k < arrays.size(); ++k) {
    int64_t count = scheduler.kernelSteps(k + 1) - scheduler.kernelSteps(k);
    stepLists[k] = {numOperands, numResults};
    numOperands += count * descriptor.kernels[k].operands.size();
    numResults += count * descriptor.kernels[k].results.size();
  }
  // Growing only: all entries are written.
  operands.resize(std::max(operands.size(), numOperands));
  results.resize(std::max(results.size(), numResults));
  for (size_t k = 0; k < arrays.size(); ++k) {
    const KernelInfo &kernel = descriptor.kernels[k];
    for (size_t o = 0; o < kernel.operands.size(); ++o)
      makeOperand(context, k, o, operands.data() + stepLists[k].operands + o);
    for (size_t r = 0; r < kernel.results.size(); ++r) {
      const ResultInfo &result = kernel.results[r];
      const TableInfo &table = descriptor.tables[result.table];
      char *base = tableData(result.table);
      char **to = results.data() + stepLists[k].results + r;
      for (int64_t s = scheduler.kernelSteps(k);
           s < scheduler.kernelSteps(k + 1); ++s, to += kernel.results.size())
        *to = base +
              table.slotOffset(stepOffsets[table.group][s] + result.position);
    }
  }

  planList.clear();
  const std::vector<int32_t> &sequence = scheduler.sequence();
  steps.resize(sequence.size());
  for (int64_t plan = 0; plan < scheduler.plans(); ++plan) {
    int64_t begin = scheduler.planBegin(plan);
    int64_t end = scheduler.planBegin(plan + 1);
    BatchPlan &whole = planList.emplace_back();
    whole.steps = steps.data() + begin;
    whole.numSteps = end - begin;
    for (int64_t i = begin; i < end; ++i) {
      const DepthStep &step = list[sequence[i]];
      const KernelInfo &kernel = descriptor.kernels[step.kernel];
      const StepLists &lists = stepLists[step.kernel];
      size_t number = sequence[i] - scheduler.kernelSteps(step.kernel);
      bool meets = i + 1 < end && !isIndependent(step, list[sequence[i + 1]]);
      BatchStep &to = steps[i];
      to = {};
      to.kernel = step.kernel;
      to.count = step.count;
      to.operands =
          operands.data() + lists.operands + number * kernel.operands.size();
      to.results =
          results.data() + lists.results + number * kernel.results.size();
      to.meets = meets;
    }
  }
  context.steps = steps.data();
  context.numSteps = static_cast<int64_t>(steps.size());
}

/// Tasks of one depth and phase do not read each other.
bool Plan::isIndependent(const DepthStep &a, const DepthStep &b) const {
  const std::vector<TaskQueue> &queues = parts[0].queues;
  return a.depth == b.depth && queues[a.kernel].phase == queues[b.kernel].phase;
}

/// Steps of a plan share scratch memory if the units meet between them.
void Plan::reserveScratch() {
  std::vector<int64_t> &offsets = scratchOffsets;
  offsets.clear();
  int64_t most = 0, worker = 64;
  for (const BatchPlan &plan : planList) {
    const int64_t begin = most;
    int64_t used = begin;
    for (int64_t s = 0; s < plan.numSteps; ++s) {
      const BatchStep &step = plan.steps[s];
      const KernelInfo &kernel = descriptor.kernels[step.kernel];
      int64_t bytes = kernel.taskScratch * step.count;
      for (const RaggedScratch &ragged : kernel.raggedScratch) {
        const BatchOperand &operand = step.operands[ragged.operand];
        bytes += ragged.bytes * operand.offsets[step.count];
      }
      worker = std::max(worker, kernel.workerScratch.bytes(step.count));
      offsets.push_back(used);
      used += align64(bytes);
      most = std::max(most, used);
      if (step.meets)
        used = begin;
    }
  }
  usedScratchBytes = std::max<int64_t>(most, 64);
  usedWorkerBytes = worker;
  char *base = scratch.reserve(usedScratchBytes, "intermediates");
  for (size_t i = 0; i < steps.size(); ++i)
    steps[i].scratch = base + offsets[i];
}

void Plan::shareSteps(int64_t workers, int64_t shareTasks) {
  stretchList.clear();
  const int64_t count = static_cast<int64_t>(steps.size());
  if (workers == 1 && count) {
    stretchList.push_back({0, count, true});
    return;
  }
  int64_t begin = 0;
  double enough = 0;
  for (int64_t s = 0; s < count; ++s) {
    const BatchStep &step = steps[s];
    int64_t tasks =
        shareTasks ? shareTasks : descriptor.kernels[step.kernel].shareTasks;
    enough += static_cast<double>(step.count) / static_cast<double>(tasks);
    if (!step.meets && s + 1 < count)
      continue;
    const bool shared = enough >= 1;
    if (stretchList.empty() || stretchList.back().shared != shared) {
      if (begin)
        steps[begin - 1].meets = 0;
      stretchList.push_back({begin, s + 1, shared});
    }
    stretchList.back().end = begin = s + 1;
    enough = 0;
  }
}

void Plan::addRegions(const std::vector<bool> &outputs,
                      std::vector<ImageRegion> &regions) const {
  std::vector<bool> copied = outputs;
  for (size_t t = 0; t < tables.size(); ++t)
    if (outputs[t])
      copied[memoryOf[t]] = true;
  for (size_t t = 0; t < tables.size(); ++t)
    if (memoryOf[t] == static_cast<int>(t))
      regions.push_back(
          {tables[t].data(), storageBytes(t),
           copied[t] ? ImageRegion::CopiedOut : ImageRegion::DeviceOnly,
           descriptor.tables[t].name.c_str()});
  regions.push_back({indexArrays.data(), usedIndexBytes, ImageRegion::CopiedIn,
                     "operand index arrays"});
  regions.push_back({scratch.data(), usedScratchBytes, ImageRegion::DeviceOnly,
                     "intermediates"});
}

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
