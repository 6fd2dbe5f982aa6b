//===- Tables.h - Memory of results, rows of tasks --------------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_RUNTIME_TABLES_H
#define BATCH_RUNTIME_TABLES_H

#include "batch-runtime/ABI.h"
#include "batch-runtime/Descriptor.h"
#include "batch-runtime/HeldRows.h"
#include "batch-runtime/Memory.h"
#include "batch-runtime/PlanImage.h"
#include "batch-runtime/RowAllocator.h"
#include "batch-runtime/SlotMap.h"
#include "batch-runtime/TaskNumbers.h"

#include <deque>
#include <vector>

namespace batchrt {

/// The result tables of a run, and the rows of each task in them. All plans of
/// a run use the same tables. Rows keep their contents when a later plan
/// enlarges the tables.
class Tables {
public:
  /// The rows of a group are reused after their last read if they are long. A
  /// long row has at least `reusedRowBytes` bytes, summed over all tables of
  /// the group.
  Tables(const Descriptor &descriptor, int64_t reusedRowBytes);

  /// Begins a run with tasks in `numParts` parts. No task has a row yet. Keeps
  /// all memory for reuse.
  void clear(int64_t numParts);
  int64_t numParts() const { return partCount; }

  /// Returns the number of a part's next task, which has no row yet.
  int64_t endTask(int64_t part) const { return parts[part].end; }
  /// Returns the end of the range of free task numbers that begins at
  /// endTask().
  int64_t limitTask(int64_t part) const { return parts[part].limit; }
  /// Adds a part's tasks with numbers below `end`, and space for their slots.
  void addTasks(int64_t part, int64_t end);
  /// Chooses the number of a part's next task once all plans have run. When
  /// half of the range of free numbers is used, continues in the largest range
  /// that no page of a slot map covers. Returns endTask().
  int64_t chooseNumbers(int64_t part);
  /// Makes [task, limit) the range of numbers for the next tasks of a part.
  void setNumbers(int64_t part, int64_t task, int64_t limit);
  /// Adds a task to a part. The new task has the same rows as `task`, which
  /// belongs to another part.
  void shareRows(int64_t task, int64_t part);
  /// Maps the tasks of a part to their first slots in the tables of a group.
  /// The map identifies task t by t - firstTaskOf(part, numParts()).
  SlotMap &slotsOf(int64_t part, int group) { return parts[part].slots[group]; }
  const SlotMap &slotsOf(int64_t part, int group) const {
    return parts[part].slots[group];
  }

  /// Returns the allocator of a group's rows if they are reused, else null.
  RowAllocator *reusedRows(int group) {
    return poolOf[group] < 0 ? nullptr : &pools[poolOf[group]].rows;
  }
  bool anyReused() const { return !pools.empty(); }
  /// Returns the rows of a group that later plans of the run may free. Returns
  /// null unless the group has transient tables with reused rows.
  HeldRows *heldRows(int group) {
    return isHeld[group] ? &pools[poolOf[group]].held : nullptr;
  }
  bool anyHeld() const { return hasHeld; }
  /// Marks the row of a result of an earlier plan as read until `epoch`, which
  /// may be HeldRows::pinned. Also marks the rows of the result's task in other
  /// held groups.
  void keep(int64_t handle, int32_t epoch);
  /// Pins the pages of the slot maps that contain the task of a result of the
  /// current plan. The row of the result is not known yet.
  void pin(int64_t handle);
  /// Begins a plan of the run, after all earlier plans have run.
  void beginPlan();
  /// From now on, allocates rows only after all existing rows, because later
  /// steps may run at the same time as earlier ones.
  void startSeparateRows();
  /// Frees the rows of earlier plans that are not needed after this plan. Each
  /// row becomes free after its last read in this plan.
  void releaseHeld();
  /// Appends `count` rows to a group whose rows are used once. Returns the
  /// first row.
  int64_t appendRows(int group, int64_t count) {
    const int64_t block = groupBlocks[group], first = groupRows[group];
    groupRows[group] += (count + block - 1) & -block; // blocks: powers of two
    return first;
  }
  /// Reserves memory for all rows allocated so far. Earlier rows keep their
  /// contents.
  void reserveRows();

  /// Returns the slot of a task's result in its table.
  int64_t slot(int64_t handle, int table) const {
    int64_t task = taskOf(handle), part = partOf(task, numParts());
    return slotsOf(part, descriptor.tables[table].group)
               .slot(task - firstTaskOf(part, numParts())) +
           (handle >> 56);
  }
  /// Returns the address of a task's result or of a source's row. `table` is
  /// the table of results with this handle's type.
  const char *row(int64_t handle, int table, const BatchSource *sources) const {
    uint32_t low = static_cast<uint32_t>(handle);
    if (handle < 0) {
      const BatchSource &source = sources[(handle >> 56) & 127];
      return source.base + low * source.rowBytes;
    }
    return data(table) +
           descriptor.tables[table].slotOffset(slot(handle, table));
  }
  /// Returns the address of slot 0 of a table, or null if its memory has no
  /// rows.
  char *data(int table) const {
    char *rows = memory[memoryOf[table]].data();
    return rows ? rows + descriptor.tables[table].offset : nullptr;
  }

  /// Adds the memory of all tables to `regions`. Tables whose entry of
  /// `outputs` is true are copied out.
  void addRegions(const std::vector<bool> &outputs,
                  std::vector<ImageRegion> &regions) const;
  /// Returns the number of slots of all tables together.
  int64_t slots() const { return totalSlots; }
  /// Return the number of bytes reserved for rows, and for slots and free
  /// lists.
  size_t rowBytes() const;
  size_t slotBytes() const;

private:
  /// Groups whose rows have the same lengths. They share memory and reuse its
  /// rows.
  struct Pool {
    int leader; ///< the group whose tables own the memory
    RowAllocator rows;
    HeldRows held;
  };
  struct Part {
    int64_t end = 0;            ///< number of the next task
    int64_t limit = 0;          ///< end of the range of free task numbers that
                                ///< starts at `end`
    int64_t half = 0;           ///< middle of the range when it was chosen
    std::vector<SlotMap> slots; ///< slots of tasks, indexed by group
  };
  void choosePools(int64_t reusedRowBytes);
  size_t storageBytes(size_t table) const;

  const Descriptor &descriptor;
  std::vector<Pool> pools;
  std::vector<int> poolOf;   ///< indexed by group; -1: rows are used once
  std::vector<char> isHeld;  ///< indexed by group
  bool hasHeld = false;      ///< true if `isHeld` is true for any group
  std::vector<int> memoryOf; ///< for each table: the table that owns its memory
  std::vector<int64_t> groupRows;
  std::vector<int64_t> groupBlocks; ///< the rows of a step begin at a multiple
                                    ///< of this
  std::vector<Buffer> memory;       ///< indexed by table
  std::vector<size_t> usedBytes;    ///< bytes in use, indexed by table
  std::deque<Part> parts;           ///< the first partCount parts belong to
                                    ///< this run
  int64_t partCount = 0;
  int64_t totalSlots = 0;
};

} // namespace batchrt

#endif // BATCH_RUNTIME_TABLES_H
