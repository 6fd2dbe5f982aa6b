//===- WorkerInstances.cpp - Single instances on the host's workers -------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Executor.h"
#include "WorkerJob.h"
#include "batch-runtime/Error.h"

#include <algorithm>
#include <cstring>

using namespace batchrt;

namespace {

/// The state of a worker, far from what others write.
struct alignas(128) UnitState : BatchUnit {};

/// Runs a program of single instances. It reads arguments and writes results as
/// unbatched code does: numbers in cells, tensors where cells say.
class WorkerInstances : public Executor {
public:
  explicit WorkerInstances(MiniBatch &batch)
      : Executor(batch), info(*descriptor().replicate),
        units(batch.workers.size()), own(units.size()) {
    for (UnitState &unit : units)
      unitPointers.push_back(&unit);
    batch.context().units = unitPointers.data();
  }

  void prepare() override;
  void run(ResultCopies) override {
    prepare();
    WorkerJob job(batch, batch.context());
    batch.workers.run(WorkerJob::run, &job);
    checkEnds();
  }
  double runTimed() override {
    // Kernels alternate with control: all of it counts.
    prepare();
    WorkerJob job(batch, batch.context());
    return batch.workers.runTimed(WorkerJob::run, &job);
  }
  std::vector<StepTime> runTraced() override {
    raise("control of this object runs with the kernels, without steps that "
          "are known before; leave out --trace");
  }
  const char *tensor(const Type &, int64_t cell) const override {
    return reinterpret_cast<const char *>(cell);
  }
  std::string failure(int64_t instance) const override;
  RunCounters counters() const override;
  void addMemory(MemoryUse &use) const override;

private:
  char *reserveBuffers(Buffer &buffer) const;
  void placeResults();
  void checkEnds() const;

  const ReplicateInfo &info;
  std::vector<UnitState> units;
  std::vector<BatchUnit *> unitPointers;
  Buffer common;
  std::vector<Buffer> own;
  std::vector<int64_t> ends; ///< by instance
  std::vector<Buffer> results;
};

} // namespace

/// Memory for the buffers of an instance; 0 when it is new.
char *WorkerInstances::reserveBuffers(Buffer &buffer) const {
  const auto bytes = static_cast<size_t>(std::max<int64_t>(info.bytes, 64));
  if (buffer.capacity() >= bytes)
    return buffer.data();
  char *memory = buffer.reserve(bytes, "tensors of an instance");
  std::memset(memory, 0, bytes);
  return memory;
}

/// Rows for the results that are tensors.
void WorkerInstances::placeResults() {
  const int64_t instances = batch.numInstances();
  results.resize(descriptor().results.size());
  for (size_t r = 0; r < results.size(); ++r) {
    const Type &type = descriptor().results[r].type;
    if (type.kind != Type::Tensor)
      continue;
    const int64_t bytes = RowLayout(type.shape, type.dtype).rowBytes();
    char *rows = results[r].reserve(instances * bytes, "results");
    for (int64_t i = 0; i < instances; ++i)
      batch.results(r)[i] = reinterpret_cast<int64_t>(rows + i * bytes);
  }
}

void WorkerInstances::prepare() {
  batch.enter(MiniBatch::Cells::Addresses);
  batch.reset();
  const int64_t instances = batch.numInstances();
  ends.assign(instances, 0);
  placeResults();
  int64_t scratch = 64;
  for (const KernelInfo &kernel : descriptor().kernels)
    scratch = std::max(scratch, kernel.workerScratch.bytes(info.tasks));
  batch.reserveWorkers(scratch, batch.workers.size());
  char *shared = reserveBuffers(common);
  for (size_t u = 0; u < units.size(); ++u) {
    static_cast<BatchUnit &>(units[u]) = {};
    units[u].own = reserveBuffers(own[u]);
    units[u].common = shared;
    units[u].numInstances = instances;
    units[u].maxRounds = batch.options.lockstep.maxSteps;
    units[u].ends = ends.data();
  }
}

std::string WorkerInstances::failure(int64_t instance) const {
  const int64_t end = ends.empty() ? 0 : ends[instance];
  if (end == 0)
    return "";
  return concat("has run ", batch.options.lockstep.maxSteps,
                " rounds without an end, the last one in ", info.loops[end - 1],
                "; allow more with --max-steps=N, or write the results of the "
                "others with --partial-results");
}

void WorkerInstances::checkEnds() const {
  if (batch.options.lockstep.partialResults)
    return;
  for (int64_t i = 0; i < batch.numInstances(); ++i)
    if (std::string why = failure(i); !why.empty())
      raise("instance ", batch.forest().firstInstance + i, ": ", why);
}

RunCounters WorkerInstances::counters() const {
  RunCounters counters;
  counters.launches = 1;
  for (const UnitState &unit : units) {
    counters.tasks += unit.tasks;
    counters.barriers += unit.barriers;
    counters.copiedBytes += unit.copiedBytes;
  }
  counters.batches = counters.tasks;
  return counters;
}

void WorkerInstances::addMemory(MemoryUse &use) const {
  use.scratch += common.capacity();
  for (const Buffer &buffer : own)
    use.scratch += buffer.capacity();
  for (const Buffer &rows : results)
    use.scratch += rows.capacity();
}

std::unique_ptr<Executor>
batchrt::makeWorkerInstances(MiniBatch &batch, const BoundParameters &) {
  return std::make_unique<WorkerInstances>(batch);
}
