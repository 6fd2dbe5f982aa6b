//===- Plan.cpp - A schedule of recorded tasks, laid out in memory --------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "batch-runtime/Plan.h"

using namespace batchrt;

Plan::Plan(const Descriptor &descriptor, bool depthsOfRecords)
    : descriptor(descriptor), taskOrder(descriptor, depthsOfRecords),
      rows(descriptor), indexArrays(descriptor), planSteps(descriptor) {}

void Plan::build(const std::vector<BatchContext *> &contexts,
                 int64_t numInstances, Tables &tables, WorkerPool &workers,
                 PlanOptions options) {
  taskOrder.begin(contexts, tables);
  const int64_t parts = taskOrder.numParts();
  indexArrays.begin(parts);
  workers.forEachPart(parts, [&](int64_t p) {
    taskOrder.sort(p);
    indexArrays.countRaggedRows(taskOrder, p);
  });
  taskOrder.join(options.apart);
  rows.take(taskOrder, tables, numInstances, workers, options.last);
  indexArrays.layOut(taskOrder);
  workers.forEachPart(parts, [&](int64_t p) {
    rows.fillSlots(taskOrder, tables, p);
    indexArrays.fill(taskOrder, tables, p);
  });
  planSteps.build(taskOrder, rows, indexArrays, tables);
  contexts[0]->steps = planSteps.steps().data();
  contexts[0]->numSteps = static_cast<int64_t>(planSteps.steps().size());
}

void Plan::addRegions(std::vector<ImageRegion> &regions) const {
  regions.push_back(indexArrays.region());
  regions.push_back(planSteps.region());
}

GatherCounts Plan::countGathers(const Tables &tables) const {
  GatherCounts counts;
  for (size_t s = 0; s < schedule().steps().size(); ++s) {
    const KernelInfo &kernel = descriptor.kernels[schedule().steps()[s].kernel];
    for (const OperandInfo &operand : kernel.operands) {
      if (operand.kind == OperandInfo::Scalar)
        continue;
      // The table or source of the last row, and its number there.
      std::pair<int64_t, int64_t> last{INT64_MIN, 0};
      const bool isSource = operand.table < 0;
      int64_t next = schedule().steps()[s].begin;
      taskOrder.forEachTask(s, [&](int64_t place, const int64_t *record) {
        if (place != next)
          return; // a constant task of another part
        ++next;
        RecordedTasks::forEachHandle(
            operand, record, taskOrder.part(0).context->listPool,
            [&](int64_t handle) {
              std::pair<int64_t, int64_t> row{handle >> 56, 0};
              if (isSource || handle < 0)
                row.second = static_cast<uint32_t>(handle);
              else
                row = {0, tables.slot(handle, operand.table)};
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

size_t Plan::bytes() const {
  return taskOrder.bytes() + rows.bytes() + indexArrays.bytes() +
         planSteps.bytes();
}
