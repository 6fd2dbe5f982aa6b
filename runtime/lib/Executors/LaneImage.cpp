//===- LaneImage.cpp - A lockstep program's memory on a device ------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LaneImage.h"
#include "batch-runtime/DeviceArena.h"

#include <algorithm>
#include <cstring>
#include <numeric>

using namespace batchrt;

/// The bytes of a row of a tensor; 0 for a number.
static size_t rowBytesOf(const Type &type) {
  return type.kind == Type::Tensor
             ? RowLayout(type.shape, type.dtype).rowBytes()
             : 0;
}

static size_t sumOf(const std::vector<int64_t> &sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), int64_t(0));
}

void LaneImage::layOut(int64_t newInstances, int64_t blocks) {
  numInstances = newInstances;
  const size_t instances = numInstances;
  // A block without lanes is not launched.
  int64_t lanes = shareLanes(options, numInstances, 1).front();
  blocks = std::max<int64_t>(std::min(blocks, lanes), 1);
  units.clear();
  for (int64_t own : shareLanes(options, numInstances, blocks)) {
    units.emplace_back();
    units.back().lanes = own;
  }

  // Of any block's kernel.
  size_t operands = 0, results = 0, scratchBytes = 0, resultBytes = 0;
  for (const BlockInfo &block : info.blocks) {
    if (block.kernel < 0)
      continue;
    const KernelInfo &kernel = descriptor.kernels[block.kernel];
    operands += kernel.operands.size();
    results += kernel.resultBytes.size();
    scratchBytes = std::max<size_t>(scratchBytes, kernel.taskScratch);
    resultBytes = std::max(resultBytes, sumOf(kernel.resultBytes));
  }

  // Rows are aligned to 64 bytes.
  PartLayout layout(parts, 64);
  auto add = [&](size_t bytes, const char *what) {
    return layout.add(bytes, what);
  };
  contextAt = add(sizeof(BatchContext), "the context");
  lists = add(blocks * sizeof(BatchLanes *), "addresses of lanes");
  argumentList = add(descriptor.arguments.size() * 8, "addresses of arguments");
  resultList = add(descriptor.results.size() * 8, "addresses of results");
  allLanes = add(units.back().lanes * sizeof(int32_t), "numbers of lanes");
  argumentCells.clear();
  argumentRows.clear();
  for (const Field &argument : descriptor.arguments) {
    argumentCells.push_back(add(instances * 8, "arguments"));
    argumentRows.push_back(
        add(instances * rowBytesOf(argument.type), "rows of arguments"));
  }
  for (Unit &unit : units) {
    unit.variables =
        add(info.variables.size() * sizeof(BatchVariable), "variables");
    unit.steps = add(2 * info.blocks.size() * sizeof(BatchStep), "steps");
    unit.operands = add(2 * operands * sizeof(BatchOperand), "operands");
    unit.results = add(results * sizeof(char *), "addresses of results");
  }

  costs = add(info.blocks.size() * 8, "costs of blocks");
  states = add(lockstep.stateTable().size() * 8, "the table of states");

  beginOfOut = layout.end();
  counter = add(sizeof(int64_t), "the counter of instances");
  endsAt = add(instances * 8, "ends of instances");
  for (Unit &unit : units) {
    unit.head = add(sizeof(BatchLanes), "lanes");
    unit.counters = add(4 * info.blocks.size() * 8, "counts of blocks");
  }
  resultCells.clear();
  for (size_t r = 0; r < descriptor.results.size(); ++r)
    resultCells.push_back(add(instances * 8, "results"));
  endOfIn = layout.end();
  resultRows.clear();
  for (const Field &result : descriptor.results)
    resultRows.push_back(
        add(instances * rowBytesOf(result.type), "rows of results"));
  endOfOut = layout.end();

  const size_t entries = options.stackDepth + 1;
  for (Unit &unit : units) {
    const size_t own = unit.lanes;
    unit.laneCells = add(4 * own * 8, "states of lanes");
    unit.active = add(own * sizeof(int32_t), "numbers of active lanes");
    unit.returns = add(entries * own * 8, "program counters");
    unit.scratch = add(own * scratchBytes, "scratch memory");
    unit.rows = add(own * resultBytes, "results of blocks");
    for (const VariableInfo &variable : info.variables) {
      unit.tops.push_back(add(own * variable.rowBytes, "tops of a variable"));
      size_t rows = variable.stack ? entries * own : 0;
      unit.stacks.push_back(
          add(rows * variable.rowBytes, "the stack of a variable"));
      unit.depths.push_back(
          add(variable.stack ? own * 8 : 0, "depths of a stack"));
    }
  }
  size = layout.end();
}

namespace {
/// Places of an image, as the host writes them and as the device sees them.
struct Places {
  char *staging;
  uint64_t device;

  template <class T>
  T *here(size_t offset) const {
    return reinterpret_cast<T *>(staging + offset);
  }
  template <class T>
  T *there(size_t offset) const {
    return reinterpret_cast<T *>(device + offset);
  }
};
} // namespace

void LaneImage::write(const BatchContext &host, uint64_t forms, char *staging,
                      uint64_t device) const {
  Places places{staging, device};
  std::memset(staging, 0, endOfIn);
  BatchContext *context = places.here<BatchContext>(contextAt);
  context->forms = reinterpret_cast<decltype(context->forms)>(forms);
  context->arguments = places.there<int64_t *>(argumentList);
  context->results = places.there<int64_t *>(resultList);
  context->lanes = places.there<BatchLanes *>(lists);
  // No block has more lanes than the last one.
  int32_t *all = places.here<int32_t>(allLanes);
  std::iota(all, all + units.back().lanes, 0);
  for (size_t a = 0; a < argumentCells.size(); ++a) {
    places.here<int64_t *>(argumentList)[a] =
        places.there<int64_t>(argumentCells[a]);
    int64_t *cells = places.here<int64_t>(argumentCells[a]);
    const size_t rowBytes = rowBytesOf(descriptor.arguments[a].type);
    for (int64_t i = 0; i < numInstances; ++i) {
      cells[i] = host.arguments[a][i];
      if (rowBytes == 0)
        continue;
      size_t row = argumentRows[a] + i * rowBytes;
      std::memcpy(staging + row, reinterpret_cast<const char *>(cells[i]),
                  rowBytes);
      cells[i] = static_cast<int64_t>(device + row);
    }
  }
  for (size_t r = 0; r < resultCells.size(); ++r) {
    places.here<int64_t *>(resultList)[r] =
        places.there<int64_t>(resultCells[r]);
    int64_t *cells = places.here<int64_t>(resultCells[r]);
    if (const size_t rowBytes = rowBytesOf(descriptor.results[r].type))
      for (int64_t i = 0; i < numInstances; ++i)
        cells[i] = static_cast<int64_t>(device + resultRows[r] + i * rowBytes);
  }
  const std::vector<int64_t> blocks = costsOfBlocks(descriptor);
  std::copy(blocks.begin(), blocks.end(), places.here<int64_t>(costs));
  std::copy(lockstep.stateTable().begin(), lockstep.stateTable().end(),
            places.here<int64_t>(states));
  for (size_t u = 0; u < units.size(); ++u) {
    places.here<BatchLanes *>(lists)[u] =
        places.there<BatchLanes>(units[u].head);
    writeUnit(units[u], staging, device);
  }
}

void LaneImage::writeUnit(const Unit &unit, char *staging,
                          uint64_t device) const {
  Places places{staging, device};
  const size_t blocks = info.blocks.size();
  BatchLanes &head = *places.here<BatchLanes>(unit.head);
  head.lanes = unit.lanes;
  head.numInstances = numInstances;
  head.nextInstance = places.there<int64_t>(counter);
  lockstep.applyOptions(head);
  head.instances = places.there<int64_t>(unit.laneCells);
  head.blocks = head.instances + unit.lanes;
  head.laneSteps = head.blocks + unit.lanes;
  head.returnDepths = head.laneSteps + unit.lanes;
  head.active = places.there<int32_t>(unit.active);
  head.returns = places.there<int64_t>(unit.returns);
  head.variables = places.there<BatchVariable>(unit.variables);
  head.steps = places.there<BatchStep>(unit.steps);
  head.maskedSteps = head.steps + blocks;
  head.costs = places.there<int64_t>(costs);
  head.states = places.there<int64_t>(states);
  head.waiting = places.there<int64_t>(unit.counters);
  head.since = head.waiting + blocks;
  head.runs = head.since + blocks;
  head.laneRuns = head.runs + blocks;
  head.ends = places.there<int64_t>(endsAt);
  for (size_t v = 0; v < info.variables.size(); ++v) {
    BatchVariable &variable = places.here<BatchVariable>(unit.variables)[v];
    variable.tops = places.there<char>(unit.tops[v]);
    variable.stack = places.there<char>(unit.stacks[v]);
    variable.depths = places.there<int64_t>(unit.depths[v]);
  }

  size_t operand = unit.operands, result = unit.results;
  for (size_t b = 0; b < blocks; ++b) {
    if (info.blocks[b].kernel < 0)
      continue;
    const KernelInfo &kernel = descriptor.kernels[info.blocks[b].kernel];
    BatchStep step = {};
    step.kernel = info.blocks[b].kernel;
    step.results = places.there<char *const>(result);
    step.scratch = places.there<char>(unit.scratch);
    size_t row = unit.rows;
    for (int64_t rowBytes : kernel.resultBytes) {
      *places.here<char *>(result) = places.there<char>(row);
      result += sizeof(char *);
      row += unit.lanes * rowBytes;
    }
    for (size_t masked = 0; masked < 2; ++masked) {
      step.operands = places.there<BatchOperand>(operand);
      places.here<BatchStep>(unit.steps)[masked * blocks + b] = step;
      for (const OperandInfo &info : kernel.operands) {
        BatchOperand tops = {};
        tops.base = places.there<char>(unit.tops[info.variable]);
        tops.rows = places.there<char>(masked ? allLanes : unit.active);
        *places.here<BatchOperand>(operand) = tops;
        operand += sizeof(BatchOperand);
      }
    }
  }
}

const int64_t *LaneImage::ends(const char *staging) const {
  return reinterpret_cast<const int64_t *>(staging + endsAt);
}

void LaneImage::readResults(const BatchContext &host,
                            const char *staging) const {
  for (size_t r = 0; r < resultCells.size(); ++r) {
    const size_t rowBytes = rowBytesOf(descriptor.results[r].type);
    for (int64_t i = 0; i < numInstances; ++i) {
      if (ends(staging)[i] != 0)
        continue;
      int64_t &cell = host.results[r][i];
      if (rowBytes)
        std::memcpy(reinterpret_cast<char *>(cell),
                    staging + resultRows[r] + i * rowBytes, rowBytes);
      else
        std::memcpy(&cell, staging + resultCells[r] + i * 8, 8);
    }
  }
}

std::vector<BatchLanes> LaneImage::counts(char *staging) const {
  std::vector<BatchLanes> counts;
  for (const Unit &unit : units) {
    const auto *head =
        reinterpret_cast<const BatchLanes *>(staging + unit.head);
    BatchLanes own = {};
    own.lanes = unit.lanes;
    own.now = head->now;
    own.longestWait = head->longestWait;
    own.unknownStates = head->unknownStates;
    own.runs = reinterpret_cast<int64_t *>(staging + unit.counters) +
               2 * info.blocks.size();
    own.laneRuns = own.runs + info.blocks.size();
    counts.push_back(own);
  }
  return counts;
}
