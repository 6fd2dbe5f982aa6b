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
#include <numeric>

using namespace batchrt;

/// The lanes of one worker and all memory behind them, which stays from run to
/// run.
struct Lockstep::Unit : BatchLanes {
  Unit() : BatchLanes() {}

  std::vector<int64_t> laneCells;  ///< by lane: instance, block, steps, depth
  std::vector<int64_t> blockCells; ///< by frame and block: waiting, since;
                                   ///< by block: runs, lanes
  std::vector<int32_t> activeLanes, allLanes;
  std::vector<int64_t> blockPath;
  Buffer returnStack, scratchRows, resultRows;
  std::vector<Buffer> tops, stacks;
  std::vector<std::vector<int64_t>> stackDepths;
  std::vector<BatchVariable> variableList;
  std::vector<std::vector<BatchOperand>> operands; ///< by block, then masked
  std::vector<std::vector<char *>> resultLists;    ///< by block
  std::vector<BatchStep> stepList, maskedList;
};

void Lockstep::applyOptions(BatchLanes &lanes) const {
  lanes.stackDepth = options.stackDepth;
  lanes.maxSteps = options.maxSteps;
  lanes.choice = options.choice;
  lanes.patience = options.patience;
  lanes.maskFrom = options.maskFrom <= 1
                       ? static_cast<int64_t>(options.maskFrom * lanes.lanes)
                       : lanes.lanes + 1;
  lanes.cheap = cheapBelow(costs);
  lanes.lastSlot = static_cast<int64_t>(states.size()) / 2 - 1;
}

std::vector<int64_t> batchrt::shareLanes(const LockstepOptions &options,
                                         int64_t numInstances, int64_t units) {
  int64_t lanes =
      options.lanes > 0 ? std::min(options.lanes, numInstances) : numInstances;
  std::vector<int64_t> shares;
  for (int64_t u = 0; u < units; ++u)
    shares.push_back(lanes * (u + 1) / units - lanes * u / units);
  return shares;
}

std::vector<int64_t> batchrt::costsOfBlocks(const Descriptor &descriptor) {
  std::vector<int64_t> costs;
  // The dearer a kernel, the fewer tasks of it are worth a meeting of workers.
  constexpr int64_t meeting = 1 << 16;
  for (const BlockInfo &block : descriptor.lockstep->blocks)
    costs.push_back(block.kernel < 0
                        ? 1
                        : 1 + meeting /
                                  descriptor.kernels[block.kernel].shareTasks);
  return costs;
}

Lockstep::Lockstep(const Descriptor &descriptor, const LockstepOptions &options)
    : descriptor(descriptor), info(*descriptor.lockstep), options(options),
      costs(costsOfBlocks(descriptor)), states(makeStateTable({})) {
  if (options.stackDepth > INT32_MAX)
    raise("--stack-depth is at most ", INT32_MAX);
  // Frames lie on the stacks of workers.
  constexpr int64_t mostFrames = 4096;
  if (info.frames && options.stackDepth > mostFrames)
    raise("strategy 'mask' runs calls on the stack of a worker: --stack-depth "
          "is at most ",
          mostFrames, "; strategy 'lockstep' has no such limit");
}

Lockstep::~Lockstep() = default;

void Lockstep::setPolicy(const StateMachine &machine) {
  states = makeStateTable(machine);
  options.choice = BATCH_CHOICE_LEARNED;
}

std::vector<int32_t> Lockstep::path() const {
  const std::vector<int64_t> &blocks = units.front()->blockPath;
  return std::vector<int32_t>(blocks.begin(),
                              blocks.begin() + units.front()->now);
}

void Lockstep::prepare(int64_t newInstances, int64_t workers) {
  numInstances = newInstances;
  nextInstance = 0;
  ends.assign(std::max<int64_t>(numInstances, 1), 0);
  mostLanes = 0;
  pointers.clear();
  for (int64_t own : shareLanes(options, numInstances, workers)) {
    size_t worker = pointers.size();
    if (worker == units.size())
      units.push_back(std::make_unique<Unit>());
    prepareUnit(*units[worker], own);
    mostLanes = std::max(mostLanes, own);
    pointers.push_back(units[worker].get());
  }
}

void Lockstep::prepareUnit(Unit &unit, int64_t lanes) {
  const int64_t blocks = static_cast<int64_t>(info.blocks.size());
  const size_t variables = info.variables.size();
  bool same = unit.variables && unit.lanes == lanes;
  unit.lanes = lanes;
  unit.numInstances = numInstances;
  unit.nextInstance = &nextInstance;
  applyOptions(unit);
  unit.now = 0;
  unit.longestWait = 0;
  unit.frame = 0;
  unit.ends = ends.data();
  unit.costs = costs.data();
  unit.states = states.data();
  unit.unknownStates = 0;
  if (options.recordPath)
    // A step is one of some instance, or stops it.
    unit.blockPath.assign((options.maxSteps + 1) * numInstances, 0);
  unit.path = options.recordPath ? unit.blockPath.data() : nullptr;
  // The entry's frame, one for each call, one where an instance that has made
  // too many ends, and the one that is looked into behind it.
  const int64_t places = blocks * (info.frames ? options.stackDepth + 3 : 1);
  unit.blockCells.assign(2 * places + 2 * blocks, 0);
  unit.waiting = unit.blockCells.data();
  unit.since = unit.waiting + places;
  unit.runs = unit.since + places;
  unit.laneRuns = unit.runs + blocks;
  if (same)
    return;

  unit.laneCells.assign(4 * lanes, 0);
  unit.instances = unit.laneCells.data();
  unit.blocks = unit.instances + lanes;
  unit.laneSteps = unit.blocks + lanes;
  unit.returnDepths = unit.laneSteps + lanes;
  unit.activeLanes.assign(lanes, 0);
  unit.active = unit.activeLanes.data();
  unit.allLanes.resize(lanes);
  std::iota(unit.allLanes.begin(), unit.allLanes.end(), 0);
  auto rows = [&](Buffer &buffer, int64_t entries, int64_t rowBytes,
                  const char *what) {
    // Room for a row more: kernels may read a whole vector at the end.
    return buffer.reserve((entries * lanes + 1) * rowBytes, what);
  };
  unit.returns = reinterpret_cast<int64_t *>(
      rows(unit.returnStack, options.stackDepth + 1, sizeof(int64_t),
           "stacks of lanes; fewer lanes (--batch) or a smaller "
           "--stack-depth need less"));
  unit.tops.resize(variables);
  unit.stacks.resize(variables);
  unit.stackDepths.resize(variables);
  unit.variableList.resize(variables);
  for (size_t v = 0; v < variables; ++v) {
    const VariableInfo &variable = info.variables[v];
    BatchVariable &entry = unit.variableList[v];
    entry.tops = rows(unit.tops[v], 1, variable.rowBytes, "variables of lanes");
    // Masked blocks read tops of lanes that never wrote them.
    std::memset(entry.tops, 0, lanes * variable.rowBytes);
    unit.stackDepths[v].assign(lanes, 0);
    entry.depths = unit.stackDepths[v].data();
    entry.stack =
        variable.stack
            ? rows(unit.stacks[v], options.stackDepth + 1, variable.rowBytes,
                   "stacks of lanes; fewer lanes (--batch) or a smaller "
                   "--stack-depth need less")
            : nullptr;
  }
  unit.BatchLanes::variables = unit.variableList.data();
  prepareSteps(unit);
}

/// One step for each block; only the number of its tasks changes from run to
/// run.
void Lockstep::prepareSteps(Unit &unit) {
  const size_t blocks = info.blocks.size();
  int64_t scratchBytes = 0, resultBytes = 0;
  for (const BlockInfo &block : info.blocks) {
    if (block.kernel < 0)
      continue;
    const KernelInfo &kernel = descriptor.kernels[block.kernel];
    scratchBytes = std::max(scratchBytes, kernel.taskScratch);
    int64_t bytes = 0;
    for (int64_t rowBytes : kernel.resultBytes)
      bytes += rowBytes;
    resultBytes = std::max(resultBytes, bytes);
  }
  char *scratch = unit.scratchRows.reserve((unit.lanes + 1) * scratchBytes + 64,
                                           "intermediates");
  // All blocks have their results in the same memory, one at a time.
  char *resultBase = unit.resultRows.reserve(
      (unit.lanes + 1) * resultBytes + 64, "results of blocks");
  unit.operands.assign(2 * blocks, {});
  unit.resultLists.assign(blocks, {});
  unit.stepList.assign(blocks, BatchStep());
  unit.maskedList.assign(blocks, BatchStep());
  for (size_t b = 0; b < blocks; ++b) {
    if (info.blocks[b].kernel < 0)
      continue;
    const KernelInfo &kernel = descriptor.kernels[info.blocks[b].kernel];
    for (const OperandInfo &operand : kernel.operands) {
      BatchOperand tops = {};
      tops.base = unit.variableList[operand.variable].tops;
      tops.rows = unit.active;
      unit.operands[b].push_back(tops);
      tops.rows = unit.allLanes.data();
      unit.operands[blocks + b].push_back(tops);
    }
    int64_t offset = 0;
    for (int64_t rowBytes : kernel.resultBytes) {
      unit.resultLists[b].push_back(resultBase + offset);
      offset += (unit.lanes + 1) * rowBytes;
    }
    BatchStep &step = unit.stepList[b];
    step.kernel = info.blocks[b].kernel;
    step.operands = unit.operands[b].data();
    step.results = unit.resultLists[b].data();
    step.scratch = scratch;
    unit.maskedList[b] = step;
    unit.maskedList[b].operands = unit.operands[blocks + b].data();
  }
  unit.steps = unit.stepList.data();
  unit.maskedSteps = unit.maskedList.data();
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
    bytes = std::max(bytes, kernel.workerScratch.bytes(mostLanes));
  return bytes;
}

void Lockstep::setOutcome(std::vector<BatchLanes> counts,
                          const int64_t *newEnds) {
  deviceCounts = std::move(counts);
  pointers.clear();
  for (BatchLanes &unit : deviceCounts)
    pointers.push_back(&unit);
  ends.assign(newEnds, newEnds + numInstances);
}

std::string Lockstep::describeEnd(int64_t instance) const {
  int64_t end = ends[instance];
  if (end == 0)
    return "";
  const std::string &block = info.blocks[static_cast<uint32_t>(end)].name;
  switch (end >> 32) {
  case BATCH_LANE_STACK_OVERFLOW:
    return concat("the recursion is deeper than ", options.stackDepth,
                  " calls, in block ", block,
                  "; allow more with --stack-depth=N");
  case BATCH_LANE_TOO_MANY_STEPS:
    return concat("has run ", options.maxSteps,
                  " blocks without an end, the last one ", block,
                  "; allow more with --max-steps=N, or write the results of "
                  "the others with --partial-results");
  }
  return concat("ended with code ", end);
}

LockstepCounters Lockstep::counters() const {
  LockstepCounters counters;
  counters.blocks.resize(info.blocks.size());
  for (const BatchLanes *unit : pointers) {
    counters.lanes += unit->lanes;
    counters.steps += unit->now;
    counters.longestWait = std::max(counters.longestWait, unit->longestWait);
    counters.unknownStates += unit->unknownStates;
    for (size_t b = 0; b < info.blocks.size(); ++b) {
      LockstepCounters::Block &block = counters.blocks[b];
      block.runs += unit->runs[b];
      block.laneRuns += unit->laneRuns[b];
      block.laneRoom += unit->runs[b] * unit->lanes;
    }
  }
  for (size_t b = 0; b < info.blocks.size(); ++b) {
    int64_t laneRuns = counters.blocks[b].laneRuns;
    counters.laneRuns += laneRuns;
    counters.stackBytes += laneRuns * info.blocks[b].stackBytes;
    counters.topBytes += laneRuns * info.blocks[b].topBytes;
  }
  return counters;
}

size_t Lockstep::bytes() const {
  size_t sum = 0;
  auto add = [&](const std::vector<Buffer> &buffers) {
    for (const Buffer &buffer : buffers)
      sum += buffer.capacity();
  };
  add(results);
  for (const auto &unit : units) {
    add(unit->tops);
    add(unit->stacks);
    sum += unit->returnStack.capacity() + unit->scratchRows.capacity() +
           unit->resultRows.capacity();
  }
  return sum;
}
