//===- LaneMemory.cpp - Memory of lanes and their variables ---------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LaneMemory.h"
#include "Lockstep.h"

#include <algorithm>
#include <cstring>
#include <numeric>

using namespace batchrt;

//===----------------------------------------------------------------------===//
// Layout of the memory
//===----------------------------------------------------------------------===//

LaneMemory::LaneMemory(const Lockstep &lockstep, bool onDevice)
    : lockstep(lockstep), descriptor(lockstep.getDescriptor()),
      info(*descriptor.lockstep), onDevice(onDevice),
      columns(onDevice ? InstanceColumns(descriptor) : InstanceColumns()) {
  for (const BlockInfo &block : info.blocks) {
    if (block.kernel < 0)
      continue;
    const KernelInfo &kernel = descriptor.kernels[block.kernel];
    operands += kernel.operands.size();
    results += (block.inPlace.empty() ? 1 : 2) * kernel.resultBytes.size();
    scratchBytes = std::max<size_t>(scratchBytes, kernel.taskScratch);
    // All blocks use the same memory for their results, one block at a time.
    resultBytes = std::max<size_t>(
        resultBytes, std::accumulate(kernel.resultBytes.begin(),
                                     kernel.resultBytes.end(), int64_t(0)));
  }
  // There is a frame for the entry, one for each call, and one that is read
  // ahead. One more frame is for an instance that ends because it has too many
  // calls.
  const int64_t frames = info.frames ? lockstep.getOptions().stackDepth + 3 : 1;
  frameCells = info.blocks.size() * frames;
}

bool LaneMemory::layOut(int64_t newInstances, int64_t units) {
  const int64_t most = lockstep.getOptions().lanes;
  const int64_t lanes = most > 0 ? std::min(most, newInstances) : newInstances;
  // Do not launch thread blocks without lanes.
  if (onDevice)
    units = std::max<int64_t>(std::min(units, lanes), 1);
  // A device gets memory of the exact size, because all of it is copied. On the
  // host, lanes stay in place while their number stays the same.
  const bool fits =
      onDevice ? newInstances == capacity : newInstances <= capacity;
  numInstances = newInstances;
  if (fits && lanes == numLanes && units == this->units() &&
      stateCells == lockstep.stateTable().size())
    return false;
  if (!fits)
    capacity = onDevice ? newInstances : std::max(newInstances, 2 * capacity);
  numLanes = lanes;
  stateCells = lockstep.stateTable().size();
  unitList.resize(units);
  // mostLanes() requires that the last unit has the most lanes.
  for (int64_t u = 0; u < units; ++u)
    unitList[u].lanes = lanes * (u + 1) / units - lanes * u / units;
  place();
  return true;
}

void LaneMemory::place() {
  // Rows are aligned to 64 bytes.
  RegionLayout layout(parts, 64);
  auto forUnits = [&](auto... steps) {
    for (Unit &unit : unitList)
      ((this->*steps)(layout, unit), ...);
  };
  placeArguments(layout);
  if (onDevice)
    forUnits(&LaneMemory::placeSteps);
  beginOfOut = layout.end();
  counter = layout.add(sizeof(int64_t), "the counter of instances");
  endsAt = layout.add(capacity * 8, "ends of instances");
  if (onDevice)
    forUnits(&LaneMemory::placeHead);
  placeResults(layout);
  // The host's caches also fetch neighboring cache lines. Workers that write to
  // neighboring lines therefore slow each other down, even if they share no
  // line.
  if (onDevice)
    forUnits(&LaneMemory::placeLanes);
  else
    forUnits(&LaneMemory::placeSteps, &LaneMemory::placeHead,
             &LaneMemory::placeLanes);
  size = layout.end();
}

void LaneMemory::placeArguments(RegionLayout &layout) {
  contextAt = layout.add(onDevice ? sizeof(BatchContext) : 0, "the context");
  lists = layout.add(units() * sizeof(BatchLanes *), "addresses of lanes");
  columns.placeArguments(layout, capacity);
  allLanes = layout.add(mostLanes() * sizeof(int32_t), "numbers of lanes");
  costs = layout.add(info.blocks.size() * 8, "costs of blocks");
  states = layout.add(stateCells * 8, "the table of states");
}

void LaneMemory::placeResults(RegionLayout &layout) {
  columns.placeResultCells(layout, capacity);
  endOfIn = layout.end();
  columns.placeResultRows(layout, capacity);
  endOfOut = layout.end();
}

void LaneMemory::placeSteps(RegionLayout &layout, Unit &unit) {
  unit.variables =
      layout.add(info.variables.size() * sizeof(BatchVariable), "variables");
  unit.steps = layout.add(2 * info.blocks.size() * sizeof(BatchStep), "steps");
  unit.operands = layout.add(2 * operands * sizeof(BatchOperand), "operands");
  unit.results = layout.add(results * sizeof(char *), "addresses of results");
}

void LaneMemory::placeHead(RegionLayout &layout, Unit &unit) {
  unit.head = layout.add(sizeof(BatchLanes), "lanes");
  unit.counters =
      layout.add(2 * (frameCells + info.blocks.size()) * 8, "counts of blocks");
}

void LaneMemory::placeLanes(RegionLayout &layout, Unit &unit) {
  const LockstepOptions &options = lockstep.getOptions();
  const size_t own = unit.lanes, entries = options.stackDepth + 1;
  unit.laneCells = layout.add(4 * own * 8, "states of lanes");
  unit.active = layout.add(own * sizeof(int32_t), "numbers of active lanes");
  unit.scratch = layout.add(own * scratchBytes, "scratch memory");
  unit.rows = layout.add(own * resultBytes, "results of blocks");
  unit.rowsOf.resize(info.variables.size());
  for (size_t v = 0; v < info.variables.size(); ++v) {
    const VariableInfo &variable = info.variables[v];
    unit.rowsOf[v].tops =
        layout.add(own * variable.rowBytes, "tops of a variable");
    unit.rowsOf[v].depths =
        layout.add(variable.stack ? own * 8 : 0, "depths of a stack");
  }
  // Rarely used memory comes last, not between memory that every step uses.
  unit.returns = layout.add(entries * own * 8, "program counters");
  for (size_t v = 0; v < info.variables.size(); ++v) {
    const VariableInfo &variable = info.variables[v];
    const size_t rows = variable.stack ? entries * own : 0;
    unit.rowsOf[v].stack =
        layout.add(rows * variable.rowBytes, "the stack of a variable");
  }
}

//===----------------------------------------------------------------------===//
// Initial contents of the memory
//===----------------------------------------------------------------------===//

void LaneMemory::write(char *staging, uint64_t address) const {
  const ImagePlaces places{staging, address};
  int32_t *all = places.here<int32_t>(allLanes);
  std::iota(all, all + mostLanes(), 0);
  const std::vector<int64_t> &table = lockstep.stateTable();
  std::copy(table.begin(), table.end(), places.here<int64_t>(states));
  const std::vector<int64_t> &blockCosts = lockstep.blockCosts();
  std::copy(blockCosts.begin(), blockCosts.end(), places.here<int64_t>(costs));
  for (const Unit &unit : unitList) {
    for (size_t v = 0; v < info.variables.size(); ++v) {
      const VariableInfo &variable = info.variables[v];
      const Variable &rows = unit.rowsOf[v];
      BatchVariable &entry = places.here<BatchVariable>(unit.variables)[v];
      entry.tops = places.there<char>(rows.tops);
      entry.stack = variable.stack ? places.there<char>(rows.stack) : nullptr;
      entry.depths = places.there<int64_t>(rows.depths);
      // In masked blocks, lanes read tops of stacks that they never wrote. On a
      // device, units set these tops to 0 themselves.
      if (!onDevice)
        std::memset(places.here<char>(rows.tops), 0,
                    unit.lanes * variable.rowBytes);
    }
    writeSteps(unit, places);
  }
}

/// Writes two steps for each block, one of them for masked runs. A run changes
/// only the number of tasks in a step.
void LaneMemory::writeSteps(const Unit &unit, const ImagePlaces &places) const {
  const size_t blocks = info.blocks.size();
  std::fill_n(places.here<BatchStep>(unit.steps), 2 * blocks, BatchStep());
  size_t operand = unit.operands, result = unit.results;
  for (size_t b = 0; b < blocks; ++b) {
    if (info.blocks[b].kernel < 0)
      continue;
    const KernelInfo &kernel = descriptor.kernels[info.blocks[b].kernel];
    BatchStep step = {};
    step.kernel = info.blocks[b].kernel;
    step.scratch = places.there<char>(unit.scratch);
    const std::vector<int> &inPlace = info.blocks[b].inPlace;
    auto writeResults = [&](bool masked) {
      step.results = places.there<char *const>(result);
      size_t row = unit.rows;
      for (size_t r = 0; r < kernel.resultBytes.size(); ++r) {
        const bool isThere = !masked && !inPlace.empty() && inPlace[r];
        *places.here<char *>(result) =
            isThere ? nullptr : places.there<char>(row);
        result += sizeof(char *);
        row += unit.lanes * kernel.resultBytes[r];
      }
    };
    for (bool masked : {false, true}) {
      // Lanes that are masked off must not change their variables.
      if (!masked || !inPlace.empty())
        writeResults(masked);
      step.operands = places.there<BatchOperand>(operand);
      places.here<BatchStep>(unit.steps)[masked * blocks + b] = step;
      for (const OperandInfo &info : kernel.operands) {
        BatchOperand tops = {};
        tops.base = places.there<char>(unit.rowsOf[info.variable].tops);
        tops.rows = places.there<char>(masked ? allLanes : unit.active);
        *places.here<BatchOperand>(operand) = tops;
        operand += sizeof(BatchOperand);
      }
    }
  }
}

void LaneMemory::begin(char *staging, uint64_t address) const {
  const ImagePlaces places{staging, address};
  *places.here<int64_t>(counter) = 0;
  std::fill_n(places.here<int64_t>(endsAt), numInstances, 0);
  BatchLanes **heads = lanes(staging);
  for (const Unit &unit : unitList) {
    *heads++ = places.there<BatchLanes>(unit.head);
    writeHead(unit, places);
  }
}

void LaneMemory::writeHead(const Unit &unit, const ImagePlaces &places) const {
  std::fill_n(places.here<int64_t>(unit.counters),
              2 * (frameCells + info.blocks.size()), 0);
  BatchLanes &head = *places.here<BatchLanes>(unit.head);
  head = {};
  head.lanes = unit.lanes;
  head.numInstances = numInstances;
  head.nextInstance = places.there<int64_t>(counter);
  lockstep.applyOptions(head, onDevice);
  head.instances = places.there<int64_t>(unit.laneCells);
  head.blocks = head.instances + unit.lanes;
  head.laneSteps = head.blocks + unit.lanes;
  head.returnDepths = head.laneSteps + unit.lanes;
  head.active = places.there<int32_t>(unit.active);
  head.returns = places.there<int64_t>(unit.returns);
  head.variables = places.there<BatchVariable>(unit.variables);
  head.steps = places.there<BatchStep>(unit.steps);
  head.maskedSteps = head.steps + info.blocks.size();
  head.costs = places.there<int64_t>(costs);
  head.states = places.there<int64_t>(states);
  head.waiting = places.there<int64_t>(unit.counters);
  head.since = head.waiting + frameCells;
  head.runs = head.since + frameCells;
  head.laneRuns = head.runs + info.blocks.size();
  head.ends = places.there<int64_t>(endsAt);
  if (!onDevice)
    head.trace = lockstep.traceOf(&unit - unitList.data());
}

BatchLanes LaneMemory::counts(int64_t unit, char *staging) const {
  const ImagePlaces places{staging, 0};
  BatchLanes counts = *places.here<BatchLanes>(unitList[unit].head);
  counts.runs = places.here<int64_t>(unitList[unit].counters) + 2 * frameCells;
  counts.laneRuns = counts.runs + info.blocks.size();
  return counts;
}

//===----------------------------------------------------------------------===//
// Arguments and results on a device
//===----------------------------------------------------------------------===//

void LaneMemory::write(const BatchContext &host, uint64_t packings,
                       char *staging, uint64_t address) const {
  write(staging, address);
  begin(staging, address);
  const ImagePlaces places{staging, address};
  BatchContext &context = *places.here<BatchContext>(contextAt);
  context = {};
  context.packings = reinterpret_cast<decltype(context.packings)>(packings);
  context.lanes = places.there<BatchLanes *>(lists);
  columns.write(host, numInstances, places, context);
}

void LaneMemory::readResults(const BatchContext &host,
                             const char *staging) const {
  columns.readResults(host, numInstances, ends(staging), staging);
}
