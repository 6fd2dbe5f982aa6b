//===- PlanRows.h - The rows that steps of a plan write ---------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_RUNTIME_PLANROWS_H
#define BATCH_RUNTIME_PLANROWS_H

#include "batch-runtime/Memory.h"
#include "batch-runtime/ResultRows.h"
#include "batch-runtime/Tables.h"
#include "batch-runtime/TaskOrder.h"
#include "batch-runtime/Workers.h"

#include <utility>
#include <vector>

namespace batchrt {

/// The rows that the tasks of a plan write: the second of the four components
/// of a plan (Plan.h). The results of a step are adjacent. Short rows are
/// numbered in the order of the steps and used once. Long rows are reused as
/// soon as all their readers have run. The tasks of a step are sorted by the
/// last epoch that reads their rows. The free rows of a step are therefore
/// always its first ones. Each step takes the shortest free range that is long
/// enough. A plan never frees rows of the model's results, or rows that a later
/// plan of the run may read. In transient tables, the rows that a later plan
/// may read are held for the later plans, which determine when these rows are
/// free. Plans that run concurrently share no rows.
///
/// A kernel may insert a slice into an operand. The tasks of a step may be the
/// last and only readers of rows of this operand that the plan has written. In
/// this case, they write their results into these rows, and the step takes no
/// other rows.
class PlanRows {
public:
  explicit PlanRows(const Descriptor &descriptor);

  /// Allocates rows of the tables for the steps. Changes the order of tasks in
  /// a step. If no plan of the run follows, `later` is null, and the first
  /// part's context contains the results.
  void take(TaskOrder &order, Tables &tables, int64_t numInstances,
            WorkerPool &workers, const LiveOutRows *later);
  /// Writes the slots of a part's tasks. Parts may be filled in concurrently.
  void fillSlots(const TaskOrder &order, Tables &tables, int64_t part) const;

  /// Returns the first slot of a step in the tables of a group, or -1 if its
  /// tasks write into the rows of operands.
  int64_t firstSlot(int group, int64_t step) const {
    return stepOffsets[group][step];
  }
  /// Returns the size in bytes of all arrays.
  size_t bytes() const;

private:
  /// A group of tables that store results of a kernel, and the number of rows
  /// per task in the group. A task has the same first slot in all tables of a
  /// group.
  struct GroupUse {
    int group;
    int64_t siblings;
    int64_t results; ///< number of results in all tables of the group
    /// The operands into which these results are inserted, with the results'
    /// positions; empty if some result is not inserted.
    std::vector<std::pair<int, int64_t>> inserts;
  };
  /// The last reads of one part's tasks, and memory to sort them.
  struct PartReads {
    Buffer lastReads; ///< indexed by group and task
    /// Indexed by group and task; empty if no kernel inserts. `readers` counts
    /// the reads of a task's rows in their last epoch. If a task writes into
    /// the rows of another task, its root is the task that took the rows;
    /// otherwise, its root is negative.
    std::vector<int32_t> readers, roots;
    int64_t begin = 0, numTasks = 0;
    std::vector<int32_t> counts, sorted;
    std::vector<std::pair<int64_t, int32_t>> keys; ///< sort keys of records

    bool contains(int64_t task) const {
      return task >= begin && task < begin + numTasks;
    }
    /// Returns the last epoch that reads a task's rows in a group, or -1 if
    /// none does.
    int32_t &at(int group, int64_t task) const {
      return lastReads.as<int32_t>()[place(group, task)];
    }
    size_t place(int group, int64_t task) const {
      return static_cast<size_t>(group * numTasks + task - begin);
    }
  };

  void numberEpochs(const TaskOrder &order);
  void findLastReads(TaskOrder &order, Tables &tables, int64_t numInstances,
                     WorkerPool &workers, const LiveOutRows *later);
  void findReads(const TaskOrder &order, Tables &tables, int64_t part);
  void keepResults(const TaskOrder &order, Tables &tables,
                   int64_t numInstances);
  void keep(const std::vector<int64_t> &handles, Tables &tables, int32_t epoch);
  /// Returns true if the plan can determine when rows of a group are free.
  bool isFreed(Tables &tables, int group) const {
    return isLast ? tables.reusedRows(group) != nullptr
                  : tables.heldRows(group) != nullptr;
  }
  /// Finds the steps that write into rows of operands, and the tasks that took
  /// these rows.
  void placeInserts(const TaskOrder &order, Tables &tables);
  bool canInsert(const TaskOrder &order, int64_t step,
                 const GroupUse &use) const;
  int64_t findRow(const TaskOrder &order, int64_t step, const GroupUse &use,
                  const int64_t *record) const;
  void sortByLastRead(TaskOrder &order, Tables &tables, int64_t part);
  int64_t takeRows(const TaskOrder &order, Tables &tables, int64_t step,
                   const GroupUse &use);
  void takeSlots(const TaskOrder &order, Tables &tables);
  void fillStep(const TaskOrder &order, Tables &tables, int64_t part,
                int64_t step, bool inserts) const;

  const Descriptor &descriptor;
  std::vector<std::vector<GroupUse>> groupUses;  ///< indexed by kernel
  std::vector<std::vector<int64_t>> stepOffsets; ///< [group][step]
  std::vector<int32_t> epochs;                   ///< indexed by step
  std::vector<std::vector<char>> inPlace;        ///< [group][step]
  bool anyInserts = false;                       ///< some kernel inserts
  bool isLast = true;                            ///< last plan of the run
  std::vector<PartReads> reads;                  ///< indexed by part
  ResultRows resultRows;
};

} // namespace batchrt

#endif // BATCH_RUNTIME_PLANROWS_H
