//===- RecordedTasks.cpp - The task graph of a mini-batch -----------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "batch-runtime/RecordedTasks.h"
#include "batch-runtime/Error.h"
#include "batch-runtime/TaskNumbers.h"

using namespace batchrt;

RecordedTasks::RecordedTasks(const Descriptor &descriptor)
    : descriptor(descriptor) {
  graph.numTypes = static_cast<int32_t>(descriptor.kernels.size());
}

/// Calls `body(part, kernel, task, record)` for each record. `task` is the
/// number of the record's task in the graph.
template <class Body>
void RecordedTasks::forEachRecord(const Body &body) const {
  const int64_t parts = static_cast<int64_t>(contexts.size());
  for (int64_t p = 0; p < parts; ++p) {
    const int64_t offset = firstTasks[p] - begins[p];
    for (size_t k = 0; k < descriptor.kernels.size(); ++k) {
      const int64_t cells = descriptor.kernels[k].recordCells;
      const BatchQueue &queue = contexts[p]->queues[k];
      for (int64_t *record = queue.begin; record != queue.end; record += cells)
        body(p, k, taskOf(*record) + offset, record);
    }
  }
}

const TaskGraph &
RecordedTasks::read(const std::vector<BatchContext *> &newContexts,
                    const std::vector<int64_t> &newBegins) {
  contexts = newContexts;
  begins = newBegins;
  if (graph.numTypes > TaskGraph::maxTypes)
    raise("the program has ", graph.numTypes,
          " kernels, but the limit of this policy is ", TaskGraph::maxTypes,
          "; use --policy=depth");
  const int64_t parts = static_cast<int64_t>(contexts.size());
  int64_t tasks = 0, reads = 0;
  firstTasks.clear();
  for (int64_t p = 0; p < parts; ++p) {
    firstTasks.push_back(tasks);
    tasks += contexts[p]->numTasks - begins[p];
  }
  if (tasks > INT32_MAX)
    raise("the mini-batch has ", tasks,
          " tasks, but the limit is 2147483647; use a smaller batch (--batch)");
  graph.types.resize(tasks);
  graph.operandBegin.assign(tasks + 1, 0);
  // A task often reads another through several operands, such as h and c of an
  // LSTM cell, so consecutive reads of one task count once.
  auto forEachOperand = [&](int64_t p, size_t k, const int64_t *record,
                            const auto &body) {
    const int64_t begin = begins[p], end = contexts[p]->numTasks;
    const int64_t offset = firstTasks[p] - begin;
    int64_t last = -1;
    forEachRead(descriptor.kernels[k], record, contexts[p]->listPool,
                [&](int64_t handle, int) {
                  int64_t task = taskOf(handle);
                  if (task >= begin && task < end && task != last)
                    body(static_cast<int32_t>(task + offset));
                  last = task;
                });
  };
  forEachRecord([&](int64_t p, size_t k, int64_t task, const int64_t *record) {
    graph.types[task] = static_cast<uint16_t>(k);
    forEachOperand(p, k, record, [&](int32_t) {
      ++graph.operandBegin[task + 1];
      ++reads;
    });
  });
  if (reads > INT32_MAX)
    raise("the tasks of the mini-batch have ", reads,
          " operands, but the limit is 2147483647; use a smaller batch "
          "(--batch)");
  for (int64_t task = 0; task < tasks; ++task)
    graph.operandBegin[task + 1] += graph.operandBegin[task];
  graph.operands.resize(reads);
  forEachRecord([&](int64_t p, size_t k, int64_t task, const int64_t *record) {
    int32_t *operand = graph.operands.data() + graph.operandBegin[task];
    forEachOperand(p, k, record, [&](int32_t read) { *operand++ = read; });
  });
  return graph;
}

static void writeDepth(int64_t &record, int64_t depth) {
  record = depth << 32 | static_cast<int64_t>(static_cast<uint32_t>(record));
}

void RecordedTasks::writeDepths(const Schedule &schedule) {
  batchOf.resize(graph.size());
  depths.resize(schedule.batches.size());
  // The first batch with the current depth.
  int32_t first = 0, depth = 0;
  for (int32_t b = 0; b < static_cast<int32_t>(schedule.batches.size()); ++b) {
    const Batch &batch = schedule.batches[b];
    int32_t latest = -1;
    for (int32_t i = batch.begin; i < batch.begin + batch.count; ++i) {
      int32_t task = schedule.order[i];
      batchOf[task] = b;
      for (int32_t o = graph.operandBegin[task];
           o < graph.operandBegin[task + 1]; ++o)
        latest = std::max(latest, batchOf[graph.operands[o]]);
    }
    if (latest >= first) {
      first = b;
      ++depth;
    }
    depths[b] = depth;
  }
  forEachRecord([&](int64_t, size_t, int64_t task, int64_t *record) {
    writeDepth(*record, depths[batchOf[task]]);
  });
}

void RecordedTasks::writeDepths() {
  std::vector<int32_t> &depthOf = batchOf;
  depthOf.assign(graph.size(), 0);
  auto phaseOf = [&](int32_t task) {
    return descriptor.kernels[graph.types[task]].phase;
  };
  for (int32_t task = 0; task < graph.size(); ++task)
    for (int32_t o = graph.operandBegin[task]; o < graph.operandBegin[task + 1];
         ++o) {
      const int32_t read = graph.operands[o];
      if (phaseOf(read) == phaseOf(task))
        depthOf[task] = std::max(depthOf[task], depthOf[read] + 1);
    }
  forEachRecord([&](int64_t, size_t, int64_t task, int64_t *record) {
    writeDepth(*record, depthOf[task]);
  });
}

size_t RecordedTasks::bytes() const {
  return reserved(graph.types) + reserved(graph.operandBegin) +
         reserved(graph.operands) + reserved(batchOf) + reserved(depths);
}
