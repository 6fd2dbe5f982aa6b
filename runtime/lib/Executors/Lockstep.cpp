//===- Lockstep.cpp - Memory of lockstep programs -------------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Lockstep.h"
#include "batch-runtime/Error.h"
#include "batch-runtime/Schedule/BlockPolicy.h"

#include <algorithm>
#include <cstring>

using namespace batchrt;

void Lockstep::applyOptions(BatchLanes &lanes, bool onDevice) const {
  lanes.stackDepth = options.stackDepth;
  lanes.maxSteps = options.maxSteps;
  lanes.choice =
      options.choice.value_or(onDevice ? BATCH_CHOICE_MOST : BATCH_CHOICE_WORK);
  lanes.patience = options.patience;
  lanes.maskFrom = options.maskFrom <= 1
                       ? static_cast<int64_t>(options.maskFrom * lanes.lanes)
                       : lanes.lanes + 1;
  lanes.lowCost = lowCostBelow(costs);
  lanes.lastSlot = static_cast<int64_t>(states.size()) / 2 - 1;
}

std::vector<int64_t> batchrt::costsOfBlocks(const Descriptor &descriptor) {
  std::vector<int64_t> costs;
  // The higher the cost of a kernel's task, the fewer tasks justify a barrier
  // of workers.
  constexpr int64_t barrierCost = 1 << 16;
  for (const BlockInfo &block : descriptor.lockstep->blocks)
    costs.push_back(block.kernel < 0
                        ? 1
                        : 1 + barrierCost /
                                  descriptor.kernels[block.kernel].shareTasks);
  return costs;
}

Lockstep::Lockstep(const Descriptor &descriptor, const LockstepOptions &options)
    : descriptor(descriptor), info(*descriptor.lockstep), options(options),
      costs(costsOfBlocks(descriptor)), states(makeStateTable({})),
      memory(*this, /*onDevice=*/false) {
  if (options.stackDepth > INT32_MAX)
    raise(optionName(options.names, "stack-depth"), " must be at most ",
          INT32_MAX);
  // Frames use the stacks of workers, so their number is limited.
  constexpr int64_t mostFrames = 4096;
  if (info.frames && options.stackDepth > mostFrames)
    raise(optionName(options.names, "stack-depth"), " must be at most ",
          mostFrames,
          " with strategy 'mask', which runs calls on the stack of a worker; "
          "use strategy 'lockstep' for deeper recursions");
}

void Lockstep::setPolicy(const StateMachine &stateMachine) {
  states = makeStateTable(stateMachine);
  options.choice = BATCH_CHOICE_LEARNED;
  written = false;
}

void Lockstep::prepare(int64_t newInstances, int64_t workers) {
  numInstances = newInstances;
  outcome = nullptr;
  if (workers == 0)
    return;
  traceList.clear();
  if (options.recordPath || isTraced)
    traceList.resize(workers);
  if (memory.layOut(numInstances, workers))
    written = false;
  char *base = buffer.data();
  if (!written)
    base = buffer.reserveAddresses(memory.bytes(),
                                   "stacks of lanes (--stack-depth)");
  const auto address = reinterpret_cast<uint64_t>(base);
  if (!written)
    memory.write(base, address);
  written = true;
  memory.begin(base, address);
  setOutcome(memory, base);
}

char *Lockstep::resultRows(size_t r, int64_t rowBytes) {
  if (results.size() <= r)
    results.resize(r + 1);
  char *rows = results[r].reserve(numInstances * rowBytes, "results");
  if (options.partialResults)
    std::memset(rows, 0, numInstances * rowBytes);
  return rows;
}

int64_t Lockstep::workerScratch() const {
  int64_t bytes = 64;
  for (const KernelInfo &kernel : descriptor.kernels)
    bytes = std::max(bytes, kernel.workerScratch.bytes(memory.mostLanes()));
  return bytes;
}

void Lockstep::setOutcome(const LaneMemory &memory, char *staging) {
  outcome = &memory;
  outcomeAt = staging;
}

std::vector<int32_t> Lockstep::path() const {
  std::vector<int32_t> blocks;
  if (!traceList.empty())
    for (const TracedTasks &step : traceList.front())
      blocks.push_back(static_cast<int32_t>(step.kernel));
  return blocks;
}

std::string Lockstep::describeEnd(int64_t instance) const {
  const int64_t end = outcome ? outcome->ends(outcomeAt)[instance] : 0;
  if (end == 0)
    return "";
  const std::string &block = info.blocks[static_cast<uint32_t>(end)].name;
  switch (end >> 32) {
  case BATCH_LANE_STACK_OVERFLOW:
    return concat("the recursion is deeper than ", options.stackDepth,
                  " calls, in block ", block, "; allow more with ",
                  optionName(options.names, "stack-depth", "N"));
  case BATCH_LANE_TOO_MANY_STEPS:
    return concat("exceeded the limit of ", options.maxSteps,
                  " blocks, the last of which was ", block,
                  "; allow more with ",
                  optionName(options.names, "max-steps", "N"),
                  ", or write the results of the other instances with ",
                  optionName(options.names, "partial-results"));
  }
  return concat("ended with code ", end);
}

std::string Lockstep::takeEnd(int64_t instance) {
  std::string end = describeEnd(instance);
  memory.ends(buffer.data())[instance] = 0;
  return end;
}

void Lockstep::followStream(const int64_t *ready) {
  for (int64_t u = 0; u < memory.units(); ++u) {
    BatchLanes &unit = *lanes()[u];
    unit.ready = ready;
    std::fill_n(unit.instances, unit.lanes, -1);
  }
}

/// Returns the number of bytes that each lane of an unmasked block copies for
/// inserts.
int64_t Lockstep::copiedBytes(const BlockInfo &block) const {
  if (block.kernel < 0)
    return 0;
  const KernelInfo &kernel = descriptor.kernels[block.kernel];
  int64_t sum = kernel.copiedBytes;
  for (size_t r = 0; r < kernel.resultBytes.size(); ++r)
    if (kernel.resultRoots[r] >= 0 &&
        (block.inPlace.empty() || !block.inPlace[r]))
      sum += kernel.resultBytes[r];
  return sum;
}

LockstepCounters Lockstep::counters() const {
  LockstepCounters counters;
  counters.blocks.resize(info.blocks.size());
  for (int64_t u = 0; outcome && u < outcome->units(); ++u) {
    const BatchLanes unit = outcome->counts(u, outcomeAt);
    counters.lanes += unit.lanes;
    counters.steps += unit.now;
    counters.longestWait = std::max(counters.longestWait, unit.longestWait);
    counters.unknownStates += unit.unknownStates;
    for (size_t b = 0; b < info.blocks.size(); ++b) {
      LockstepCounters::Block &block = counters.blocks[b];
      block.runs += unit.runs[b];
      block.laneRuns += unit.laneRuns[b];
      block.laneCapacity += unit.runs[b] * unit.lanes;
    }
  }
  for (size_t b = 0; b < info.blocks.size(); ++b) {
    int64_t laneRuns = counters.blocks[b].laneRuns;
    counters.laneRuns += laneRuns;
    counters.stackBytes += laneRuns * info.blocks[b].stackBytes;
    counters.topBytes += laneRuns * info.blocks[b].topBytes;
    counters.copiedBytes += laneRuns * copiedBytes(info.blocks[b]);
  }
  return counters;
}

size_t Lockstep::bytes() const {
  size_t sum = buffer.capacity();
  for (const Buffer &rows : results)
    sum += rows.capacity();
  return sum;
}
