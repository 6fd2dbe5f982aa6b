//===- PlanExecutor.cpp - Runs plans of recorded tasks --------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PlanExecutor.h"
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
  beginRun();
  makePlan(/*last=*/true);
  showPlan();
  endRun();
}

void PlanExecutor::beginRun() {
  counted = {};
  kernelCounted.assign(descriptor().kernels.size(), {});
  for (BatchContext *context : inspector.contexts()) {
    Part::of(context).reads.clear();
    Part::of(context).keepsReads = watcher != nullptr;
  }
  if (watcher)
    watcher->begin();
}

RunView PlanExecutor::view(bool deferred) const {
  RunView view{descriptor(),         inspector.contexts(), tables,
               batch.numInstances(), counted.flushes,      deferred,
               /*reads=*/{}};
  for (BatchContext *context : inspector.contexts()) {
    std::vector<ReadTensor> &reads = Part::of(context).reads;
    view.reads.insert(view.reads.end(), reads.begin(), reads.end());
    reads.clear();
  }
  return view;
}

void PlanExecutor::showPlan(bool deferred) {
  if (watcher)
    watcher->look(view(deferred), runPlan);
}

void PlanExecutor::endRun() {
  if (watcher)
    watcher->end(view(/*deferred=*/false));
}

void PlanExecutor::makePlan(bool last) {
  PlanOptions options;
  options.separatePlans = inspector.hasSeparatePlans();
  options.later = last ? nullptr : &inspector.findLiveOutRows(tables.anyHeld());
  runPlan.build(inspector.contexts(), batch.numInstances(), tables,
                inspector.planners(), options);
  counted.inspectors = inspector.numInspectors();
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

void PlanExecutor::addMemory(MemoryUse &use) const {
  use.results += tables.rowBytes();
  use.schedule += tables.slotBytes() + runPlan.bytes();
  use.scratch += runPlan.steps().scratchBytes();
}
