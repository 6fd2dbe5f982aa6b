//===- WorkerInstances.cpp - Single instances on the host's workers -------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "InstanceExecutor.h"
#include "WorkerJob.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <map>

using namespace batchrt;

namespace {

/// State of a worker. No other worker writes its cache lines or their
/// neighbors.
struct alignas(128) UnitState : BatchUnit {};

/// Runs a program of single instances on the host's workers.
class WorkerInstances : public InstanceExecutor {
public:
  explicit WorkerInstances(MiniBatch &batch)
      : InstanceExecutor(batch), units(batch.workers.size()), own(units.size()),
        nodeResults(units.size()) {
    for (UnitState &unit : units)
      unitPointers.push_back(&unit);
    batch.context().units = unitPointers.data();
  }

  void prepare() override;
  void run(ResultCopies) override {
    WorkerJob job(batch, batch.context());
    // A single instance needs no other worker.
    const bool isSingle = info.capacity == 0 && batch.numInstances() == 1;
    if (isSingle)
      job.workers = 1;
    job.run(/*shared=*/!isSingle);
    checkEnds();
  }
  double runTimed() override {
    // Kernels alternate with control flow, so the time includes both.
    prepare();
    WorkerJob job(batch, batch.context());
    return job.runTimed();
  }
  std::vector<StepTime> runTraced() override;
  RunCounters counters() const override;
  void addMemory(MemoryUse &use) const override;

private:
  std::vector<UnitState> units;
  std::vector<BatchUnit *> unitPointers;
  Buffer common;
  std::vector<Buffer> own;
  Buffer nodeRows;
  std::vector<Buffer> nodeResults; ///< indexed by worker
};

} // namespace

/// Returns memory for rows, filled with 0 when it is new.
static char *reserveRows(Buffer &buffer, int64_t least, const char *what) {
  const auto bytes = static_cast<size_t>(std::max<int64_t>(least, 64));
  if (buffer.capacity() >= bytes)
    return buffer.data();
  char *memory = buffer.reserve(bytes, what);
  std::memset(memory, 0, bytes);
  return memory;
}

void WorkerInstances::prepare() {
  prepareInstances();
  int64_t scratch = 64;
  for (const KernelInfo &kernel : descriptor().kernels)
    scratch = std::max(scratch, kernel.workerScratch.bytes(info.tasks));
  batch.reserveWorkers(scratch, batch.workers.size());
  constexpr const char *tensors = "tensors of an instance";
  const int64_t before = info.bytesBefore(batch.numInstances());
  char *shared =
      before + reserveRows(common,
                           before + info.commonBytes(batch.numInstances()),
                           "tensors of instances that run together");
  char *ofNodes = reserveRows(
      nodeRows, batch.forest().numNodes * info.nodeBytes, "tensors of nodes");
  const int64_t cells = batch.forest().numNodes * info.nodeCells;
  for (size_t u = 0; u < units.size(); ++u) {
    static_cast<BatchUnit &>(units[u]) = {};
    units[u].own = reserveRows(own[u], info.bytes, tensors);
    units[u].common = shared;
    units[u].numInstances = batch.numInstances();
    units[u].maxRounds = batch.options.lockstep.maxSteps;
    units[u].ends = ends.data();
    units[u].nodeRows = ofNodes;
    nodeResults[u].reserve(cells * 8, "results of nodes");
    units[u].nodeResults = nodeResults[u].as<int64_t>();
  }
}

std::vector<StepTime> WorkerInstances::runTraced() {
  std::vector<UnitTrace> traces(units.size());
  struct Traced {
    std::vector<UnitState> &units;
    ~Traced() {
      for (UnitState &unit : units)
        unit.trace = nullptr;
    }
  } traced{units};
  for (size_t u = 0; u < units.size(); ++u)
    units[u].trace = &traces[u];
  const auto begin = std::chrono::steady_clock::now();
  run(ResultCopies::WithRun);
  const auto end = std::chrono::steady_clock::now();
  std::vector<StepTime> times;
  for (size_t u = 0; u < units.size(); ++u) {
    std::map<int64_t, int64_t> runs;
    const size_t first = times.size();
    addTrace(times, traces[u], begin, end);
    for (size_t i = 0; i < traces[u].size(); ++i) {
      StepTime &time = times[first + i];
      time.worker = static_cast<int64_t>(u);
      time.isShared = traces[u][i].allUnits;
      // Instances run one by one, or in sets. The last set may be smaller.
      const int64_t left = batch.numInstances() - traces[u][i].ended;
      time.capacity = time.isShared ? std::min(info.capacity, left) : 1;
      // After a barrier within a kernel, a step without new tasks continues the
      // tasks of the previous step of the kernel.
      int64_t &run = runs[time.kernel];
      const bool continues = time.kernel >= 0 && time.count == 0;
      time.run = continues ? run - 1 : run++;
    }
  }
  return times;
}

RunCounters WorkerInstances::counters() const {
  RunCounters counters;
  counters.launches = 1;
  for (const UnitState &unit : units)
    addCounts(counters, unit, &unit == &units.front());
  return counters;
}

void WorkerInstances::addMemory(MemoryUse &use) const {
  InstanceExecutor::addMemory(use);
  use.scratch += common.capacity() + nodeRows.capacity();
  for (const std::vector<Buffer> *buffers : {&own, &nodeResults})
    for (const Buffer &buffer : *buffers)
      use.scratch += buffer.capacity();
}

std::unique_ptr<Executor>
batchrt::makeWorkerInstances(MiniBatch &batch, const BoundParameters &) {
  return std::make_unique<WorkerInstances>(batch);
}
