//===- PlanExecutor.cpp - Runs plans of recorded tasks --------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PlanExecutor.h"
#include "../Plan/LiveResults.h"
#include "batch-runtime/Error.h"

#include <algorithm>

using namespace batchrt;

PlanExecutor::PlanExecutor(MiniBatch &batch)
    : Executor(batch), inspector(batch),
      tables(batch.descriptor(), batch.options.reusedRowBytes),
      runPlan(batch.descriptor(), batch.options.depthsOfRecords) {
  batch.tables = &tables;
  if (descriptor().policy != Policy::Depth)
    setPolicy(descriptor().policy, descriptor().stateMachine);
}

void PlanExecutor::setPolicy(Policy policy, StateMachine stateMachine) {
  std::vector<std::string> kernels;
  for (const KernelInfo &kernel : descriptor().kernels)
    kernels.push_back(kernel.name);
  if (std::string wrong = stateMachine.renumber(kernels); !wrong.empty())
    raise(wrong);
  runPlan.setPolicy(policy, std::move(stateMachine));
}

void PlanExecutor::inspect() { inspector.run(groups()); }

void PlanExecutor::prepare() {
  tables.clear(inspector.numParts());
  resetCounters();
  makePlan(/*last=*/true);
}

void PlanExecutor::resetCounters() {
  counted = {};
  kernelCounted.assign(descriptor().kernels.size(), {});
}

void PlanExecutor::makePlan(bool last) {
  PlanOptions options;
  options.apart = inspector.plansApart();
  options.last = last;
  runPlan.build(inspector.contexts(), batch.numInstances(), tables,
                batch.workers, options);
  counted.inspectors =
      descriptor().waits
          ? 1
          : std::min<int64_t>(inspector.numParts(), batch.workers.size());
  counted.plans += static_cast<int64_t>(runPlan.plans().size());
  counted.tasks += runPlan.order().numTasks();
  counted.batches += batch.context().numSteps;
  counted.unknownStates += runPlan.order().unknownStates();
  counted.slots = tables.slots();
  counted.copiedBytes += runPlan.steps().copiedBytes();
  for (const DepthStep &step : runPlan.schedule().steps()) {
    kernelCounted[step.kernel].tasks += step.count;
    ++kernelCounted[step.kernel].batches;
  }
}

const char *PlanExecutor::tensor(const Type &type, int64_t cell) const {
  if (batch.cells() == MiniBatch::Cells::Addresses)
    return reinterpret_cast<const char *>(cell);
  return tables.row(cell, type.table, batch.sources());
}

TaskGraph PlanExecutor::taskGraph() const {
  std::vector<int64_t> begins;
  for (int64_t p = 0; p < inspector.numParts(); ++p)
    begins.push_back(firstTaskOf(p, inspector.numParts()));
  return RecordedTasks(descriptor()).read(inspector.contexts(), begins);
}

GatherCounts PlanExecutor::countGathers() const {
  return runPlan.countGathers(tables);
}

size_t PlanExecutor::liveResults() const {
  return findLiveResults(descriptor(), batch.context(), batch.numInstances(),
                         runPlan.order(), tables);
}

void PlanExecutor::addMemory(MemoryUse &use) const {
  use.results += tables.rowBytes();
  use.schedule += tables.slotBytes() + runPlan.bytes();
  use.scratch += runPlan.steps().scratchBytes();
}
