//===- MemoryUse.cpp - Bytes that a run holds, and that it needs ----------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DeviceExecutor.h"
#include "Lockstep.h"
#include "SessionState.h"

#include <algorithm>

using namespace batchrt;

template <class T>
static size_t reserved(const std::vector<T> &vector) {
  return vector.capacity() * sizeof(T);
}

template <class T>
static size_t reserved(const std::vector<std::vector<T>> &vectors) {
  size_t sum = 0;
  for (const std::vector<T> &vector : vectors)
    sum += reserved(vector);
  return sum;
}

static size_t reserved(const std::vector<Buffer> &buffers) {
  size_t sum = 0;
  for (const Buffer &buffer : buffers)
    sum += buffer.capacity();
  return sum;
}

size_t Forest::inputBytes() const {
  size_t cellCount = numNodes * cells.size() + listSize;
  for (const std::vector<int64_t> &column : arguments)
    cellCount += column.size();
  return numNodes + cellCount * sizeof(int64_t) +
         (instanceNodes.size() + lines.size()) * sizeof(int64_t) +
         tensors.size() * sizeof(TensorCell);
}

size_t Forest::bytes() const {
  return reserved(variants) + reserved(cells) + reserved(listPool) +
         reserved(arguments) + reserved(instanceNodes) + reserved(lines) +
         reserved(tensors);
}

size_t Plan::tableBytes() const { return reserved(tables); }

size_t Plan::scheduleBytes() const {
  size_t sum = 0;
  for (const Part &part : parts)
    sum += part.sorter.bytes() + part.slotArray.capacity() +
           reserved(part.raggedRows) + part.lastReads.capacity() +
           reserved(part.counts) + reserved(part.sorted) + reserved(part.keys);
  for (const Pool &pool : pools)
    sum += pool.rows.bytes();
  return sum + recorded.bytes() + policies.bytes() + scheduler.bytes() +
         indexArrays.capacity() + reserved(stepOffsets) + reserved(steps) +
         reserved(planList) + reserved(operands) + reserved(results) +
         reserved(scratchOffsets) + reserved(epochs);
}

MemoryUse Session::memory() const {
  MemoryUse use;
  use.results = runPlan.tableBytes();
  use.records = reserved(state->memos) + reserved(state->resultCells);
  for (const auto &part : state->parts)
    use.records += reserved(part->queueMemory) + part->known.bytes();
  use.schedule = runPlan.scheduleBytes();
  use.scratch = runPlan.scratchBytes() + reserved(state->workerMemory) +
                state->unbatchedScratch.capacity() + arena.capacity();
  if (lockstep)
    use.scratch += lockstep->bytes();
  if (device)
    use.device = device->bytes();
  return use;
}

namespace {
/// The steps during which rows of tables are in use.
class RowLives {
public:
  RowLives(const Session &session, int64_t steps)
      : session(session), change(steps + 1),
        last(session.descriptor().tables.size()) {}

  void write(int64_t step, int64_t handle, int table) {
    size_t row = session.plan().slot(handle, table);
    if (last[table].size() <= row)
      last[table].resize(row + 1, -1);
    end(table, last[table][row]);
    change[step] += bytes(table);
    last[table][row] = step;
  }
  /// Steps come in order, so this is the last one so far.
  void read(int64_t step, int64_t handle, int table) {
    if (handle >= 0 && table >= 0)
      last[table][session.plan().slot(handle, table)] = step;
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
  int64_t bytes(int table) const {
    return session.descriptor().tables[table].ownBytes;
  }
  const Session &session;
  std::vector<int64_t> change;            ///< of the bytes in use, at each step
  std::vector<std::vector<int64_t>> last; ///< [table][row], a step or -1
};
} // namespace

size_t Session::liveResults() const {
  if (lockstep)
    return 0;
  const DepthScheduler &schedule = runPlan.schedule();
  int64_t step = 0;
  RowLives lives(*this, context().numSteps);
  for (int32_t s : schedule.sequence()) {
    const DepthStep &batch = schedule.steps()[s];
    const KernelInfo &kernel = descriptor().kernels[batch.kernel];
    int64_t next = batch.begin;
    runPlan.forEachTask(s, [&](int64_t place, const int64_t *record) {
      if (place != next)
        return; // a constant task of another part
      ++next;
      RecordedTasks::forEachRead(
          kernel, record, context().listPool,
          [&](int64_t handle, int table) { lives.read(step, handle, table); });
      for (const ResultInfo &result : kernel.results)
        lives.write(step,
                    result.position << 56 | static_cast<uint32_t>(record[0]),
                    result.table);
    });
    ++step;
  }
  ResultRows().forEach(
      descriptor(), context(), forest().numInstances,
      [&](int64_t handle, int table) { lives.read(step, handle, table); });
  return lives.most();
}
