//===- LaneExecutor.cpp - Runs lanes in lockstep --------------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LaneExecutor.h"
#include "batch-runtime/Error.h"

using namespace batchrt;

void LaneExecutor::prepareLanes(int64_t workers) {
  const int64_t instances = batch.numInstances();
  batch.enter(MiniBatch::Cells::Addresses);
  batch.reset();
  lanes.prepare(instances, workers);
  batch.context().lanes = lanes.lanes();
  for (size_t r = 0; r < descriptor().results.size(); ++r) {
    const Type &type = descriptor().results[r].type;
    if (type.kind != Type::Tensor)
      continue;
    int64_t bytes = RowLayout(type.shape, type.dtype).rowBytes();
    char *rows = lanes.resultRows(r, bytes);
    for (int64_t i = 0; i < instances; ++i)
      batch.results(r)[i] = reinterpret_cast<int64_t>(rows + i * bytes);
  }
}

void LaneExecutor::checkEnds() const {
  if (batch.options.lockstep.partialResults)
    return;
  for (int64_t i = 0; i < batch.numInstances(); ++i)
    if (std::string why = lanes.describeEnd(i); !why.empty())
      raise("instance ", batch.forest().firstInstance + i, ": ", why);
}

RunCounters LaneExecutor::counters() const {
  LockstepCounters counted = lanes.counters();
  RunCounters counters;
  counters.tasks = counted.laneRuns;
  counters.batches = counters.launches = counted.steps;
  counters.unknownStates = counted.unknownStates;
  counters.copiedBytes = counted.copiedBytes;
  return counters;
}

std::vector<StepTime> LaneExecutor::runTraced() { raiseNoTrace(""); }

void LaneExecutor::setBlockPolicy(StateMachine stateMachine) {
  std::vector<std::string> blocks;
  for (const BlockInfo &block : descriptor().lockstep->blocks)
    blocks.push_back(block.name);
  if (stateMachine.states() && stateMachine.encoding() != Encoding::Max)
    raise("a block policy requires a table with encoding 'max', found '",
          name(stateMachine.encoding()), "'; learn one from this program");
  if (std::string wrong = stateMachine.renumber(blocks); !wrong.empty())
    raise(wrong);
  lanes.setPolicy(stateMachine);
}
