//===- Plan.h - The schedule of one run, laid out in memory -----*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_RUNTIME_PLAN_H
#define BATCH_RUNTIME_PLAN_H

#include "batch-runtime/ABI.h"
#include "batch-runtime/Descriptor.h"
#include "batch-runtime/Memory.h"
#include "batch-runtime/PlanImage.h"
#include "batch-runtime/RecordedTasks.h"
#include "batch-runtime/ResultRows.h"
#include "batch-runtime/RowAllocator.h"
#include "batch-runtime/Schedule/DepthSchedule.h"
#include "batch-runtime/TaskNumbers.h"
#include "batch-runtime/Workers.h"

#include <algorithm>
#include <deque>
#include <vector>

namespace batchrt {

class RowFinder;

/// What operands of the steps read.
struct GatherCounts {
  int64_t rows = 0;
  int64_t runs = 0; ///< pieces of rows that lie one behind the other
};

/// Turns recorded tasks into the steps that the executor runs: order, slots,
/// tables, operand index arrays. Tasks come in parts, which workers sort and
/// lay out. All memory is kept for the next run.
class Plan {
public:
  /// Rows of so many bytes, in all tables of a group, are used again when they
  /// are read no more.
  Plan(const Descriptor &descriptor, int64_t reusedRowBytes);

  /// What picks the next batch from now on. A machine has the kernels as its
  /// types, in their order. By depth the phases of kernels count; other
  /// policies mix phases as the tasks allow.
  void setPolicy(Policy policy, StateMachine machine);

  /// Fills in steps and numSteps of the first context from the queues of all,
  /// one of each part. With `apart`, every part is a plan of its own, which
  /// reads and writes no rows of another.
  void build(const std::vector<BatchContext *> &contexts, int64_t numInstances,
             WorkerPool &workers, bool apart = false);
  /// Consecutive steps that all workers share, or that one of them runs.
  struct Stretch {
    int64_t begin, end;
    bool shared;
  };
  /// Cuts the one plan into stretches. Workers share steps that run at the same
  /// time if these have enough tasks for that: `shareTasks`, or if that is 0 as
  /// many as their kernels say. They do not meet behind the last step of a
  /// stretch.
  void shareSteps(int64_t workers, int64_t shareTasks);
  const std::vector<Stretch> &stretches() const { return stretchList; }
  /// One for all parts, or one for each.
  const std::vector<BatchPlan> &plans() const { return planList; }

  /// Where a task's result or a source's row lies; `table` is that of results
  /// with this handle's type.
  const char *row(int64_t handle, int table, const BatchSource *sources) const {
    uint32_t low = static_cast<uint32_t>(handle);
    if (handle < 0) {
      const BatchSource &source = sources[(handle >> 56) & 127];
      return source.base + low * source.rowBytes;
    }
    return tableData(table) +
           descriptor.tables[table].slotOffset(slot(handle, table));
  }
  /// The row of a task's result within its table.
  int64_t slot(int64_t handle, int table) const {
    int64_t task = taskOf(handle);
    const Part &part = parts[partOf(task, numParts)];
    return part.slotsOf(descriptor.tables[table].group)[task - part.firstTask] +
           (handle >> 56);
  }

  /// The memory that the steps name. Tables are copied out if `outputs` says
  /// so.
  void addRegions(const std::vector<bool> &outputs,
                  std::vector<ImageRegion> &regions) const;

  const DepthScheduler &schedule() const { return scheduler; }
  /// The tasks of one part by kernel.
  const std::vector<TaskQueue> &queues(int64_t part) const {
    return parts[part].queues;
  }
  /// Calls `body(position, record)` for the tasks of a step in order, given its
  /// number and theirs in the whole schedule. A constant task has a record of
  /// each part.
  template <class Body>
  void forEachTask(int64_t step, const Body &body) const;
  int64_t tasks() const { return numTasks; }
  /// Batches that a machine did not decide: it does not know the state.
  int64_t unknownStates() const { return policies.unknownStates(); }
  /// Rows of all tables together.
  int64_t slots() const { return totalSlots; }
  GatherCounts countGathers() const;
  /// Bytes that were reserved, by what for.
  size_t tableBytes() const;
  size_t scheduleBytes() const;
  size_t scratchBytes() const { return scratch.capacity(); }
  /// That each worker needs to run the steps.
  size_t workerScratch() const { return usedWorkerBytes; }

private:
  /// The tasks of consecutive instances, which name no tasks but these.
  struct Part {
    const BatchContext *context = nullptr;
    int64_t firstTask = 0, numTasks = 0;
    std::vector<TaskQueue> queues;
    DepthSorter sorter;
    Buffer slotArray;
    /// Where the rows of a step of a ragged operand begin, in the operand's
    /// array and in the step of all parts; at first `begin` is their number.
    struct RaggedRows {
      int64_t begin, inStep;
    };
    std::vector<RaggedRows> raggedRows; ///< by kernel, operand and step
    Buffer lastReads;                   ///< by group and task
    std::vector<int32_t> counts, sorted;
    std::vector<std::pair<int64_t, int32_t>> keys; ///< of records, to be sorted
    RaggedRows *nextRagged = nullptr; ///< where placeRaggedRows() is
    int64_t nextStep = 0;

    int32_t *slotsOf(int group) const {
      return slotArray.as<int32_t>() + group * numTasks;
    }
    /// The last epoch that reads a task's rows, by task; -1 if none does.
    int32_t *lastReadsOf(int group) const {
      return lastReads.as<int32_t>() + group * numTasks;
    }
  };
  /// A group that a kernel has results in, with its rows per task.
  struct GroupUse {
    int group;
    int64_t siblings;
  };
  /// Of a plan of the scheduler.
  int64_t firstPart(int64_t plan) const {
    return plan * (numParts / scheduler.plans());
  }
  /// Slot 0 of a table.
  char *tableData(int table) const {
    return tables[memoryOf[table]].data() + descriptor.tables[table].offset;
  }
  /// Bytes of a table's memory, with what lies beside it.
  size_t storageBytes(size_t table) const;

  using Places = std::vector<DepthScheduler::Place>;
  void collectQueues(Part &part, int64_t endTask) const;
  void countRaggedRows(Part &part) const;
  void checkSize();
  // PlanRows.cpp
  void choosePools(int64_t reusedRowBytes);
  void numberEpochs();
  void findLastReads(const BatchContext &context, int64_t numInstances,
                     WorkerPool &workers);
  void findReads(Part &part, const Places &places) const;
  void keepResults(const BatchContext &context, int64_t numInstances);
  void sortByLastRead(Part &part, const Places &places) const;
  int64_t takeRows(int64_t step, const GroupUse &use);
  void assignSlots();
  void layOutOperands();
  int64_t placeRaggedRows(int64_t kernel);
  void fillSlots(Part &part, const Places &places) const;
  void fillOperands(const Part &part, const Places &places) const;
  template <class Entry>
  void forEachCell(const Part &part, const Places &places, int64_t kernel,
                   int64_t cell, Entry entry) const;
  template <class Entry>
  void forEachEntry(const Part &part, const Places &places, int64_t kernel,
                    int64_t cell, int32_t *offsets,
                    const Part::RaggedRows *where, Entry entry) const;
  template <class ForEach>
  void fillRows(const Part &part, const OperandInfo &info, char *rows,
                const ForEach &forEach) const;
  RowFinder rowFinder(const Part &part, int table) const;
  void makeOperand(const BatchContext &context, int64_t kernel, size_t number,
                   BatchOperand *to) const;
  void makeSteps(BatchContext &context);
  bool isIndependent(const DepthStep &a, const DepthStep &b) const;
  void reserveScratch();

  const Descriptor &descriptor;
  Policy policy = Policy::Depth;
  StateMachine machine;
  RecordedTasks recorded;
  PolicyScheduler policies;
  std::deque<Part> parts; ///< of which the first numParts are of this run
  int64_t numParts = 0;
  std::vector<const DepthSorter *> sorters;
  DepthScheduler scheduler;
  int64_t numTasks = 0, totalSlots = 0;
  std::vector<int64_t> groupRows;
  /// Each step begins at a multiple of this.
  std::vector<int64_t> groupBlocks;
  std::vector<std::vector<int64_t>> stepOffsets; ///< [group][step]
  std::vector<std::vector<GroupUse>> groupUses;  ///< by kernel

  /// Groups with rows of the same lengths, which take them from one memory and
  /// use them again.
  struct Pool {
    int leader; ///< the group whose tables have the memory
    RowAllocator rows;
  };
  std::vector<Pool> pools;
  std::vector<int> poolOf;     ///< by group, -1: its rows are used once
  std::vector<int> memoryOf;   ///< by table, the table whose memory it lies in
  std::vector<int32_t> epochs; ///< by step
  ResultRows resultRows;

  std::vector<Buffer> tables;
  Buffer indexArrays, scratch;
  size_t usedIndexBytes = 0, usedScratchBytes = 0, usedWorkerBytes = 0;

  /// Where the arrays of one kernel operand lie in indexArrays.
  struct OperandArrays {
    int64_t rows = 0, offsets = 0, entries = 0;
  };
  std::vector<std::vector<OperandArrays>> arrays;
  std::vector<std::vector<size_t>> sameRows; ///< [kernel][operand]
  /// Where the lists of a kernel's first step begin in `operands` and
  /// `results`; those of its other steps follow.
  struct StepLists {
    size_t operands = 0, results = 0;
  };
  std::vector<StepLists> stepLists; ///< by kernel
  std::vector<BatchStep> steps;
  std::vector<BatchPlan> planList;
  std::vector<Stretch> stretchList;
  std::vector<BatchOperand> operands;
  std::vector<char *> results;
  std::vector<int64_t> scratchOffsets; ///< by step
};

template <class Body>
void Plan::forEachTask(int64_t step, const Body &body) const {
  const int64_t plan = scheduler.steps()[step].plan;
  for (int64_t p = firstPart(plan); p < firstPart(plan + 1); ++p) {
    const Part &part = parts[p];
    const std::vector<DepthScheduler::Place> &places = scheduler.places(p);
    // Steps and places of a part have the same order.
    auto place = std::lower_bound(
        places.begin(), places.end(), step,
        [](const auto &place, int64_t step) { return place.step < step; });
    if (place == places.end() || place->step != step)
      continue;
    const DepthStep &own = part.sorter.steps()[place - places.begin()];
    const TaskQueue &queue = part.queues[own.kernel];
    for (int64_t i = 0; i < own.count; ++i)
      body(place->begin + i,
           queue.records +
               part.sorter.order()[own.begin + i] * queue.recordCells);
  }
}

} // namespace batchrt

#endif // BATCH_RUNTIME_PLAN_H
