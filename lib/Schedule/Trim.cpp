//===- Trim.cpp - Batches that a schedule can do without ------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Batch/Schedule/Trim.h"

using namespace batchrt;

/// From the last batch to the first: a batch is all tasks of its type whose
/// readers run later. What is due in it is among them, for its readers are due
/// later, and ran.
void Trimmer::runLate(const FrontierPlan &plan, const Schedule &schedule) {
  const TaskGraph &graph = plan.graph();
  const int32_t *operandBegin = graph.operandBegin.data();
  const int32_t *operands = graph.operands.data();
  order.resize(graph.size());
  readers.resize(graph.size());
  head.assign(plan.typeBegins().begin(), plan.typeBegins().end() - 1);
  tail = head;
  for (int32_t task = graph.size(); task-- > 0;) {
    readers[task] = plan.readers(task);
    if (readers[task] == 0)
      order[tail[graph.types[task]]++] = task;
  }
  kept.clear();
  for (int32_t b = static_cast<int32_t>(schedule.batches.size()); b-- > 0;) {
    if (dueCounts[b] == 0)
      continue;
    const int32_t type = schedule.batches[b].type, end = tail[type];
    const int32_t place = static_cast<int32_t>(kept.size());
    for (int32_t i = head[type]; i < end; ++i) {
      int32_t task = order[i];
      --dueCounts[due[task]];
      due[task] = place;
      for (int32_t o = operandBegin[task]; o < operandBegin[task + 1]; ++o)
        if (--readers[operands[o]] == 0)
          order[tail[graph.types[operands[o]]]++] = operands[o];
    }
    head[type] = end;
    kept.push_back(type);
  }
}

void Trimmer::run(const FrontierPlan &plan, Schedule &schedule) {
  const int32_t size = plan.graph().size();
  due.resize(size);
  dueCounts.clear();
  for (const Batch &batch : schedule.batches) {
    for (int32_t i = batch.begin; i < batch.begin + batch.count; ++i)
      due[schedule.order[i]] = static_cast<int32_t>(dueCounts.size());
    dueCounts.push_back(batch.count);
  }
  runLate(plan, schedule);

  // And from the first to the last, in the same way.
  const int32_t count = static_cast<int32_t>(kept.size());
  dueCounts.assign(count, 0);
  for (int32_t task = 0; task < size; ++task)
    ++dueCounts[due[task]];
  schedule.batches.clear();
  frontier.swapOrder(schedule.order);
  frontier.start(plan, OnlyReady);
  for (int32_t b = count; b-- > 0;) {
    if (dueCounts[b] == 0)
      continue;
    Batch batch = frontier.commit(kept[b]);
    for (int32_t i = batch.begin; i < batch.begin + batch.count; ++i)
      --dueCounts[due[frontier.order()[i]]];
    schedule.batches.push_back(batch);
  }
  frontier.swapOrder(schedule.order);
}

size_t Trimmer::bytes() const {
  size_t items = 0;
  for (const std::vector<int32_t> *list :
       {&due, &dueCounts, &kept, &readers, &order, &head, &tail})
    items += list->capacity();
  return frontier.bytes() + items * sizeof(int32_t);
}
