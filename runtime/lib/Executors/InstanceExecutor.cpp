//===- InstanceExecutor.cpp - Runs single instances -----------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "InstanceExecutor.h"
#include "batch-runtime/Error.h"

#include <algorithm>

using namespace batchrt;

void InstanceExecutor::prepareInstances() {
  batch.enter(MiniBatch::Cells::Addresses);
  batch.reset();
  // Reserve a fixed number of positions for the nodes that are created from
  // each input node.
  const int64_t nodes = batch.forest().numNodes * (1 + info.nodeValues);
  batch.growNodes(nodes);
  batch.context().numNodes = nodes;
  const int64_t instances = batch.numInstances();
  ends.assign(instances, 0);
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

std::string InstanceExecutor::failure(int64_t instance) const {
  const int64_t end = ends.empty() ? 0 : ends[instance];
  if (end == 0)
    return "";
  const LockstepOptions &options = batch.options.lockstep;
  return concat("exceeded the limit of ", options.maxSteps,
                " steps, the last one in ", info.loops[end - 1],
                "; allow more with ",
                optionName(options.names, "max-steps", "N"),
                ", or write the results of the other instances with ",
                optionName(options.names, "partial-results"));
}

void InstanceExecutor::checkEnds() const {
  if (batch.options.lockstep.partialResults)
    return;
  for (int64_t i = 0; i < batch.numInstances(); ++i)
    if (std::string why = failure(i); !why.empty())
      raise("instance ", batch.forest().firstInstance + i, ": ", why);
}

void InstanceExecutor::addCounts(RunCounters &counters, const BatchUnit &unit,
                                 bool isFirst) {
  // Each unit runs its share of the same tasks, so count these tasks once.
  counters.tasks += unit.tasks + (isFirst ? unit.shares : 0);
  counters.batches += unit.batches + (isFirst ? unit.sharedBatches : 0);
  counters.barriers += unit.barriers;
  counters.copiedBytes += unit.copiedBytes;
}

void InstanceExecutor::addMemory(MemoryUse &use) const {
  for (const Buffer &rows : results)
    use.scratch += rows.capacity();
}
