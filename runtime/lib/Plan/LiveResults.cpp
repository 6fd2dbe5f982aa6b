//===- LiveResults.cpp - Bytes of results that a run needs ----------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LiveResults.h"
#include "batch-runtime/ResultRows.h"

#include <algorithm>

using namespace batchrt;

namespace {
/// The steps during which rows of tables are in use.
class RowLives {
public:
  RowLives(const Descriptor &descriptor, const Tables &tables, size_t steps)
      : descriptor(descriptor), tables(tables), change(steps + 1),
        last(descriptor.tables.size()) {}

  void write(int64_t step, int64_t handle, int table) {
    size_t row = tables.slot(handle, table);
    if (last[table].size() <= row)
      last[table].resize(row + 1, -1);
    end(table, last[table][row]);
    change[step] += bytes(table);
    last[table][row] = step;
  }
  /// Steps come in order, so this is the last one so far.
  void read(int64_t step, int64_t handle, int table) {
    if (handle >= 0 && table >= 0)
      last[table][tables.slot(handle, table)] = step;
  }
  /// The most bytes of any step.
  int64_t most() {
    for (size_t table = 0; table < last.size(); ++table)
      for (int64_t step : last[table])
        end(static_cast<int>(table), step);
    int64_t now = 0, most = 0;
    for (int64_t bytes : change)
      most = std::max(most, now += bytes);
    return most;
  }

private:
  /// A row of the table is not in use after the step.
  void end(int table, int64_t step) {
    if (step >= 0 && step + 1 < static_cast<int64_t>(change.size()))
      change[step + 1] -= bytes(table);
  }
  int64_t bytes(int table) const { return descriptor.tables[table].ownBytes; }
  const Descriptor &descriptor;
  const Tables &tables;
  std::vector<int64_t> change;            ///< of the bytes in use, at each step
  std::vector<std::vector<int64_t>> last; ///< [table][row], a step or -1
};
} // namespace

size_t batchrt::findLiveResults(const Descriptor &descriptor,
                                const BatchContext &context,
                                int64_t numInstances, const TaskOrder &order,
                                const Tables &tables) {
  const DepthScheduler &schedule = order.schedule();
  int64_t step = 0;
  RowLives lives(descriptor, tables, schedule.sequence().size());
  auto read = [&](int64_t handle, int table) {
    lives.read(step, handle, table);
  };
  for (int32_t s : schedule.sequence()) {
    const DepthStep &batch = schedule.steps()[s];
    const KernelInfo &kernel = descriptor.kernels[batch.kernel];
    int64_t next = batch.begin;
    order.forEachTask(s, [&](int64_t place, const int64_t *record) {
      if (place != next)
        return; // a constant task of another part
      ++next;
      RecordedTasks::forEachRead(kernel, record, context.listPool, read);
      for (size_t r = 0; r < kernel.results.size(); ++r) {
        const ResultInfo &result = kernel.results[r];
        const int64_t handle =
            result.position << 56 | static_cast<uint32_t>(record[0]);
        // A result in the row of an operand uses it on.
        if (context.steps[step].results[r])
          lives.write(step, handle, result.table);
        else
          lives.read(step, handle, result.table);
      }
    });
    ++step;
  }
  ResultRows().forEach(descriptor, context, numInstances, read);
  return lives.most();
}
