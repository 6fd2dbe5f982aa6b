//===- TaskOrder.cpp - Order in which tasks run ---------------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "batch-runtime/TaskOrder.h"
#include "batch-runtime/Error.h"
#include "batch-runtime/Tables.h"

#include <algorithm>

using namespace batchrt;

TaskOrder::TaskOrder(const Descriptor &descriptor, bool depthsOfRecords)
    : descriptor(descriptor), depthsOfRecords(depthsOfRecords),
      recorded(descriptor) {}

void TaskOrder::setPolicy(Policy newPolicy, StateMachine newStateMachine) {
  policy = newPolicy;
  stateMachine = std::move(newStateMachine);
}

void TaskOrder::begin(const std::vector<BatchContext *> &contexts,
                      const Tables &tables) {
  partCount = static_cast<int64_t>(contexts.size());
  begins.clear();
  sorters.clear();
  for (int64_t p = 0; p < partCount; ++p) {
    if (static_cast<size_t>(p) == parts.size())
      parts.emplace_back();
    parts[p].context = contexts[p];
    parts[p].base = firstTaskOf(p, partCount);
    parts[p].begin = tables.endTask(p);
    parts[p].limit = tables.limitTask(p);
    begins.push_back(parts[p].begin);
    sorters.push_back(&parts[p].sorter);
  }
  if (policy == Policy::Depth && !depthsOfRecords)
    return;
  const TaskGraph &graph = recorded.read(contexts, begins);
  if (policy == Policy::Depth)
    recorded.writeDepths();
  else
    recorded.writeDepths(policies.run(policy, graph, stateMachine));
}

void TaskOrder::sort(int64_t number) {
  Part &part = parts[number];
  collectQueues(part);
  part.sorter.run(part.queues.data(), static_cast<int64_t>(part.queues.size()));
}

void TaskOrder::join(bool separate) {
  scheduler.run(parts[0].queues.data(),
                static_cast<int64_t>(parts[0].queues.size()), sorters.data(),
                partCount, separate ? partCount : 1);
  checkSize();
}

void TaskOrder::collectQueues(Part &part) const {
  const BatchContext &context = *part.context;
  part.end = context.numTasks;
  const int64_t most = std::min<int64_t>(part.limit - part.begin, INT32_MAX);
  if (part.numTasks() > most)
    raise("a worker inspected ", part.numTasks(), " tasks, but the limit is ",
          most, "; use a smaller batch (--batch)");
  int64_t recordedTasks = 0;
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
    recordedTasks += queue.count;
  }
  if (recordedTasks != part.numTasks())
    raise("the object recorded ", recordedTasks, " tasks, but counted ",
          part.numTasks());
}

void TaskOrder::checkSize() {
  taskCount =
      scheduler.kernelBegin(static_cast<int64_t>(descriptor.kernels.size()));
  if (taskCount > INT32_MAX)
    raise("the mini-batch has ", taskCount,
          " tasks, but the limit is 2147483647; use a smaller batch (--batch)");
  // Handles cannot store a greater depth, so handles of deeper tasks would be
  // wrong.
  for (const DepthStep &step : scheduler.steps())
    if (step.depth > TaskQueue::maxDepth)
      raise("the mini-batch has a dependence chain of more than ",
            TaskQueue::maxDepth, " tasks; use smaller inputs");
}

bool TaskOrder::isIndependent(const DepthStep &a, const DepthStep &b) const {
  const std::vector<TaskQueue> &queues = parts[0].queues;
  return a.depth == b.depth && queues[a.kernel].phase == queues[b.kernel].phase;
}

size_t TaskOrder::bytes() const {
  size_t sum = recorded.bytes() + policies.bytes() + scheduler.bytes();
  for (const Part &part : parts)
    sum += part.sorter.bytes();
  return sum;
}
