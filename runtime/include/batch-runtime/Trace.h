//===- Trace.h - Pictures of a run ------------------------------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_RUNTIME_TRACE_H
#define BATCH_RUNTIME_TRACE_H

#include "batch-runtime/Session.h"

#include <string>
#include <unordered_map>
#include <vector>

namespace batchrt {

/// Writes the steps of mini-batches, one after the other, as a Chrome trace
/// (chrome://tracing, ui.perfetto.dev).
void writeTrace(const std::string &path, const Descriptor &descriptor,
                const std::vector<std::vector<StepTime>> &batches);

/// Draws the task graph of a mini-batch for Graphviz: one node per task, one
/// colour per batch. Where control waits for tensors, each flush is a cluster,
/// and tasks whose results control reads have a double border.
class TaskPicture : public RunWatcher {
public:
  void begin() override;
  void look(const RunView &run, const Plan &plan) override;
  void end(const RunView &run) override;
  void write(const std::string &path) const;

private:
  void drawReads(const RunView &run);

  std::string nodes, edges;
  /// Of tasks: places in the schedules of all plans.
  std::unordered_map<int64_t, int64_t> names;
  int64_t tasks = 0, steps = 0;
};

} // namespace batchrt

#endif // BATCH_RUNTIME_TRACE_H
