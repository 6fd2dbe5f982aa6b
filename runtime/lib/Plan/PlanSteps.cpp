//===- PlanSteps.cpp - The steps that executors run -----------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "batch-runtime/PlanSteps.h"
#include "batch-runtime/StageRows.h"

#include <algorithm>

using namespace batchrt;

PlanSteps::PlanSteps(const Descriptor &descriptor)
    : descriptor(descriptor), stepLists(descriptor.kernels.size()) {}

void PlanSteps::build(const TaskOrder &order, const PlanRows &rows,
                      const IndexArrays &arrays, const Tables &tables) {
  makeLists(order, rows, arrays, tables);
  makeSteps(order);
  if (descriptor.launch)
    for (const BatchStep &step : stepList)
      checkStageRows(descriptor, step);
  reserveScratch();
}

/// Lays out the operands and results of all steps, kernel by kernel.
void PlanSteps::makeLists(const TaskOrder &order, const PlanRows &rows,
                          const IndexArrays &arrays, const Tables &tables) {
  const DepthScheduler &schedule = order.schedule();
  size_t numOperands = 0, numResults = 0;
  for (size_t k = 0; k < stepLists.size(); ++k) {
    int64_t count = schedule.kernelSteps(k + 1) - schedule.kernelSteps(k);
    stepLists[k] = {numOperands, numResults};
    numOperands += count * descriptor.kernels[k].operands.size();
    numResults += count * descriptor.kernels[k].results.size();
  }
  // The lists never shrink. All entries in use are overwritten.
  operands.resize(std::max(operands.size(), numOperands));
  results.resize(std::max(results.size(), numResults));
  for (size_t k = 0; k < stepLists.size(); ++k) {
    // Skip kernels without steps, because the lists may be empty.
    if (schedule.kernelSteps(k) == schedule.kernelSteps(k + 1))
      continue;
    const KernelInfo &kernel = descriptor.kernels[k];
    for (size_t o = 0; o < kernel.operands.size(); ++o)
      arrays.makeOperand(order, tables, k, o,
                         operands.data() + stepLists[k].operands + o);
    for (size_t r = 0; r < kernel.results.size(); ++r) {
      const ResultInfo &result = kernel.results[r];
      const TableInfo &table = descriptor.tables[result.table];
      char *base = tables.data(result.table);
      char **to = results.data() + stepLists[k].results + r;
      for (int64_t s = schedule.kernelSteps(k); s < schedule.kernelSteps(k + 1);
           ++s, to += kernel.results.size())
        *to = rows.firstSlot(table.group, s) < 0
                  ? nullptr
                  : base + table.slotOffset(rows.firstSlot(table.group, s) +
                                            result.position);
    }
  }
}

/// Returns the number of bytes that a task of a step copies for inserts.
int64_t PlanSteps::copiedBytes(const KernelInfo &kernel,
                               const BatchStep &step) const {
  int64_t sum = kernel.copiedBytes;
  for (size_t r = 0; r < kernel.results.size(); ++r)
    if (kernel.results[r].inPlace >= 0 && step.results[r])
      sum += descriptor.tables[kernel.results[r].table].ownBytes;
  return sum;
}

void PlanSteps::makeSteps(const TaskOrder &order) {
  const DepthScheduler &schedule = order.schedule();
  const std::vector<DepthStep> &list = schedule.steps();
  const std::vector<int32_t> &sequence = schedule.sequence();
  planList.clear();
  usedCopiedBytes = 0;
  stepList.resize(sequence.size());
  for (int64_t plan = 0; plan < schedule.plans(); ++plan) {
    int64_t begin = schedule.planBegin(plan);
    int64_t end = schedule.planBegin(plan + 1);
    BatchPlan &whole = planList.emplace_back();
    whole.steps = stepList.data() + begin;
    whole.numSteps = end - begin;
    for (int64_t i = begin; i < end; ++i) {
      const DepthStep &step = list[sequence[i]];
      const KernelInfo &kernel = descriptor.kernels[step.kernel];
      const StepLists &lists = stepLists[step.kernel];
      size_t number = sequence[i] - schedule.kernelSteps(step.kernel);
      bool barrier =
          i + 1 < end && !order.isIndependent(step, list[sequence[i + 1]]);
      BatchStep &to = stepList[i];
      to = {};
      to.kernel = step.kernel;
      to.count = step.count;
      to.operands =
          operands.data() + lists.operands + number * kernel.operands.size();
      to.results =
          results.data() + lists.results + number * kernel.results.size();
      to.barrier = barrier;
      usedCopiedBytes += step.count * copiedBytes(kernel, to);
    }
  }
}

/// Reserves scratch memory. Steps of a plan share it if there is a barrier
/// between them.
void PlanSteps::reserveScratch() {
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
      if (step.barrier)
        used = begin;
    }
  }
  usedScratchBytes = std::max<int64_t>(most, 64);
  usedWorkerBytes = worker;
  char *base = scratch.reserve(usedScratchBytes, "intermediates");
  for (size_t i = 0; i < stepList.size(); ++i)
    stepList[i].scratch = base + offsets[i];
}

void PlanSteps::shareSteps(int64_t workers, int64_t shareTasks) {
  rangeList.clear();
  const int64_t count = static_cast<int64_t>(stepList.size());
  if (workers == 1 && count) {
    rangeList.push_back({0, count, true});
    return;
  }
  int64_t begin = 0;
  double enough = 0;
  for (int64_t s = 0; s < count; ++s) {
    const BatchStep &step = stepList[s];
    int64_t tasks =
        shareTasks ? shareTasks : descriptor.kernels[step.kernel].shareTasks;
    enough += static_cast<double>(step.count) / static_cast<double>(tasks);
    if (!step.barrier && s + 1 < count)
      continue;
    const bool shared = enough >= 1;
    if (rangeList.empty() || rangeList.back().shared != shared) {
      if (begin)
        stepList[begin - 1].barrier = 0;
      rangeList.push_back({begin, s + 1, shared});
    }
    rangeList.back().end = begin = s + 1;
    enough = 0;
  }
}

size_t PlanSteps::bytes() const {
  return reserved(operands) + reserved(results) + reserved(stepList) +
         reserved(planList) + reserved(scratchOffsets);
}
