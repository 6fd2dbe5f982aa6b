//===- Plan.h - The schedule of one run, laid out in memory -----*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_RUNTIME_PLAN_H
#define BATCH_RUNTIME_PLAN_H

#include "Batch/Schedule/DepthSchedule.h"
#include "batch-runtime/ABI.h"
#include "batch-runtime/Descriptor.h"
#include "batch-runtime/Memory.h"
#include "batch-runtime/PlanImage.h"

#include <vector>

namespace batchrt {

class RowFinder;

/// Turns recorded tasks into the steps that the executor runs: order, slots,
/// tables, operand index arrays. All memory is kept for the next run.
class Plan {
public:
  explicit Plan(const Descriptor &descriptor);

  /// Fills in steps and numSteps of the context from its queues.
  void build(BatchContext &context);

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
    return slotsOf(descriptor.tables[table].group)[taskOf(handle)] +
           (handle >> 56);
  }

  /// The memory that the steps name. Tables are copied out if `outputs` says
  /// so.
  void addRegions(const std::vector<bool> &outputs,
                  std::vector<ImageRegion> &regions) const;

  const DepthScheduler &schedule() const { return scheduler; }
  const std::vector<TaskQueue> &queues() const { return taskQueues; }
  /// Rows of all tables together.
  int64_t slots() const { return totalSlots; }
  /// Bytes that were reserved, by what for.
  size_t tableBytes() const;
  size_t scheduleBytes() const;
  size_t scratchBytes() const { return scratch.capacity(); }

  /// The task that a handle names, -1 for a row of a source.
  static int64_t taskOf(int64_t handle) {
    return handle < 0 ? -1
                      : static_cast<int64_t>(static_cast<uint32_t>(handle));
  }

private:
  const int32_t *slotsOf(int group) const {
    return slotArray.as<int32_t>() + group * numTasks;
  }
  /// Slot 0 of a table.
  char *tableData(int table) const {
    const TableInfo &info = descriptor.tables[table];
    return tables[info.beside < 0 ? table : info.beside].data() + info.offset;
  }
  /// Bytes of a table's memory, with what lies beside it.
  size_t storageBytes(size_t table) const;
  void collectQueues(const BatchContext &context);
  void assignSlots();
  void layOutOperands();
  void fillKernel(const BatchContext &context, int64_t kernel);
  void fillPlain(const BatchContext &context, int64_t kernel, int64_t operand,
                 char *rows);
  void fillRagged(const BatchContext &context, int64_t kernel, int64_t operand,
                  char *rows, int32_t *offsets);
  RowFinder rowFinder(const BatchContext &context, int table) const;
  void makeSteps(BatchContext &context);
  bool isIndependent(const DepthStep &a, const DepthStep &b) const;
  void reserveScratch();

  const Descriptor &descriptor;
  DepthScheduler scheduler;
  std::vector<TaskQueue> taskQueues;
  int64_t numTasks = 0, totalSlots = 0;
  std::vector<int64_t> groupRows;
  /// Each step begins at a multiple of this.
  std::vector<int64_t> groupBlocks;
  std::vector<std::vector<int64_t>> stepOffsets; ///< [group][step]
  /// The groups a kernel has results in, with its rows per task in each.
  struct GroupUse {
    int group;
    int64_t siblings;
  };
  std::vector<std::vector<GroupUse>> groupUses;
  std::vector<Buffer> tables;
  Buffer slotArray, indexArrays, scratch;
  size_t usedIndexBytes = 0, usedScratchBytes = 0;

  /// Where the arrays of one kernel operand lie in indexArrays.
  struct OperandArrays {
    int64_t rows = 0, offsets = 0, entries = 0;
  };
  std::vector<std::vector<OperandArrays>> arrays;
  std::vector<std::vector<size_t>> sameRows; ///< [kernel][operand]
  std::vector<BatchStep> steps;
  std::vector<BatchOperand> operands;
  std::vector<char *> results;
  std::vector<int64_t> operandBegin, resultBegin; ///< by step
  std::vector<int64_t> scratchOffsets;            ///< by step
};

} // namespace batchrt

#endif // BATCH_RUNTIME_PLAN_H
