//===- RowCounts.cpp - The rows that a run reads and writes ---------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "batch-runtime/RowCounts.h"
#include "batch-runtime/ResultRows.h"

#include <algorithm>
#include <utility>

using namespace batchrt;

/// Calls `body(record)` for each task of step number `step` of the schedule.
template <class Body>
static void forEachTask(const TaskOrder &order, int64_t step,
                        const Body &body) {
  int64_t next = order.schedule().steps()[step].begin;
  order.forEachTask(step, [&](int64_t place, const int64_t *record) {
    if (place != next)
      return; // a constant task of another part
    ++next;
    body(record);
  });
}

void RowCounts::begin() { *this = RowCounts(); }

void RowCounts::look(const RunView &run, const Plan &plan) {
  countGathers(run, plan);
  readControl(run);
  const TaskOrder &order = plan.order();
  const DepthScheduler &schedule = order.schedule();
  const BatchContext &context = *run.contexts.front();
  const BatchStep *steps = context.steps;
  change.resize(change.size() + schedule.sequence().size());
  last.resize(run.descriptor.tables.size());
  for (int32_t s : schedule.sequence()) {
    const KernelInfo &kernel =
        run.descriptor.kernels[schedule.steps()[s].kernel];
    ++step;
    forEachTask(order, s, [&](const int64_t *record) {
      RecordedTasks::forEachRead(
          kernel, record, context.listPool,
          [&](int64_t handle, int table) { read(run, handle, table); });
      for (size_t r = 0; r < kernel.results.size(); ++r) {
        const ResultInfo &result = kernel.results[r];
        const int64_t handle =
            result.position << 56 | static_cast<uint32_t>(record[0]);
        // A result that is stored in the row of an operand keeps that row in
        // use.
        if (steps->results[r])
          write(run, handle, result.table);
        else
          read(run, handle, result.table);
      }
    });
    ++steps;
  }
}

void RowCounts::end(const RunView &run) {
  readControl(run);
  ResultRows().forEach(
      run.descriptor, *run.contexts.front(), run.numInstances,
      [&](int64_t handle, int table) { read(run, handle, table); });
  for (size_t table = 0; table < last.size(); ++table)
    for (int64_t use : last[table])
      if (use >= 0)
        change[use + 1] -= run.descriptor.tables[table].ownBytes;
  int64_t now = 0;
  for (int64_t bytes : change)
    most = std::max(most, now += bytes);
}

void RowCounts::countGathers(const RunView &run, const Plan &plan) {
  const TaskOrder &order = plan.order();
  const std::vector<DepthStep> &steps = order.schedule().steps();
  for (size_t s = 0; s < steps.size(); ++s)
    for (const OperandInfo &operand :
         run.descriptor.kernels[steps[s].kernel].operands) {
      if (operand.kind == OperandInfo::Scalar)
        continue;
      // The table or source of the previous row, and the row's number in it.
      std::pair<int64_t, int64_t> previous{INT64_MIN, 0};
      auto count = [&](int64_t handle) {
        std::pair<int64_t, int64_t> row{handle >> 56, 0};
        if (operand.table < 0 || handle < 0)
          row.second = static_cast<uint32_t>(handle);
        else
          row = {0, run.tables.slot(handle, operand.table)};
        ++rows;
        runs +=
            row.first != previous.first || row.second != previous.second + 1;
        previous = row;
      };
      forEachTask(order, static_cast<int64_t>(s), [&](const int64_t *record) {
        RecordedTasks::forEachHandle(operand, record,
                                     run.contexts.front()->listPool, count);
      });
    }
}

/// Records that the current step writes a row. The previous contents are no
/// longer in use.
void RowCounts::write(const RunView &run, int64_t handle, int table) {
  const auto row = static_cast<size_t>(run.tables.slot(handle, table));
  const int64_t bytes = run.descriptor.tables[table].ownBytes;
  if (last[table].size() <= row)
    last[table].resize(row + 1, -1);
  if (const int64_t use = last[table][row]; use >= 0)
    change[use + 1] -= bytes;
  change[step] += bytes;
  last[table][row] = step;
}

/// Records the current step as the last reader of a row. Steps are visited in
/// order, so later steps replace earlier ones.
void RowCounts::read(const RunView &run, int64_t handle, int table) {
  if (handle >= 0 && table >= 0)
    last[table][run.tables.slot(handle, table)] = step;
}

void RowCounts::readControl(const RunView &run) {
  for (const ReadTensor &tensor : run.reads)
    read(run, tensor.handle, tensor.table);
}
