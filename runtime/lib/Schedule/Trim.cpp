//===- Trim.cpp - Drops batches that are not needed -----------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "batch-runtime/Schedule/Trim.h"

using namespace batchrt;

void Trimmer::run(const FrontierPlan &plan, Schedule &schedule) {
  const TaskGraph &graph = plan.graph();
  const int32_t *operandBegin = graph.operandBegin.data();
  const int32_t *operands = graph.operands.data();
  const uint16_t *types = graph.types.data();
  due.resize(graph.size());
  dueCounts.clear();
  for (const Batch &batch : schedule.batches) {
    for (int32_t i = batch.begin; i < batch.begin + batch.count; ++i)
      due[schedule.order[i]] = static_cast<int32_t>(dueCounts.size());
    dueCounts.push_back(batch.count);
  }

  order.resize(graph.size());
  readers.resize(graph.size());
  ran.assign(plan.typeBegins().begin() + 1, plan.typeBegins().end());
  next = ran;
  for (int32_t task = graph.size(); task-- > 0;) {
    readers[task] = plan.readers(task);
    if (readers[task] == 0)
      order[--next[types[task]]] = task;
  }
  kept.clear();
  for (int32_t b = static_cast<int32_t>(schedule.batches.size()); b-- > 0;) {
    if (dueCounts[b] == 0)
      continue;
    // The batch runs all tasks of its type whose readers are all in later
    // batches. These include the tasks that are due in this batch: their
    // readers are due in later batches, which this sweep has visited.
    const int32_t type = schedule.batches[b].type, begin = next[type];
    kept.push_back({type, begin, ran[type] - begin});
    for (int32_t i = ran[type]; i-- > begin;) {
      int32_t task = order[i];
      --dueCounts[due[task]];
      for (int32_t o = operandBegin[task + 1]; o-- > operandBegin[task];)
        if (--readers[operands[o]] == 0)
          order[--next[types[operands[o]]]] = operands[o];
    }
    ran[type] = begin;
  }
  schedule.batches.assign(kept.rbegin(), kept.rend());
  schedule.order.swap(order);
}

size_t Trimmer::bytes() const {
  size_t items = 0;
  for (const std::vector<int32_t> *list :
       {&due, &dueCounts, &readers, &order, &ran, &next})
    items += list->capacity();
  return items * sizeof(int32_t) + kept.capacity() * sizeof(Batch);
}
