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
  taskOrder.join(options.separatePlans);
  rows.take(taskOrder, tables, numInstances, workers, options.later);
  indexArrays.layOut(taskOrder);
  workers.forEachPart(parts, [&](int64_t p) {
    rows.fillSlots(taskOrder, tables, p);
    indexArrays.fill(taskOrder, tables, p);
  });
  planSteps.build(taskOrder, rows, indexArrays, tables);
  contexts[0]->steps = planSteps.steps().data();
  contexts[0]->numSteps = static_cast<int64_t>(planSteps.steps().size());
}

TaskGraph Plan::taskGraph(const std::vector<BatchContext *> &contexts) const {
  std::vector<int64_t> begins;
  for (int64_t p = 0; p < taskOrder.numParts(); ++p)
    begins.push_back(taskOrder.part(p).begin);
  return RecordedTasks(descriptor).read(contexts, begins);
}

void Plan::addRegions(std::vector<ImageRegion> &regions) const {
  regions.push_back(indexArrays.region());
  regions.push_back(planSteps.region());
}

size_t Plan::bytes() const {
  return taskOrder.bytes() + rows.bytes() + indexArrays.bytes() +
         planSteps.bytes();
}
