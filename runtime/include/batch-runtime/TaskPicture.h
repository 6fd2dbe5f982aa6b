//===- TaskPicture.h - The tasks of a mini-batch ----------------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_RUNTIME_TASKPICTURE_H
#define BATCH_RUNTIME_TASKPICTURE_H

#include "batch-runtime/RunWatcher.h"

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

namespace batchrt {

/// The tasks of a mini-batch, their batches, and the tasks that they read.
class TaskPicture : public RunWatcher {
public:
  struct Task {
    int64_t recorded; ///< its number in recorded order
    int64_t kernel;
    int64_t batch; ///< number of the batch, over all plans
    int64_t depth, flush;
    bool deferred;
    bool isRead;                ///< true if control flow reads its results
    std::vector<int64_t> reads; ///< indices in tasks()
  };

  void begin() override;
  void look(const RunView &run, const Plan &plan) override;
  void end(const RunView &run) override;

  /// Returns the tasks, plan by plan. Constant tasks are included once.
  const std::vector<Task> &tasks() const { return all; }
  /// Writes a graph for Graphviz: one node per task, one color per batch. If
  /// control flow waits for tensors, each flush is a cluster, and a task has a
  /// double border if control flow reads its results.
  void write(const std::string &path, const Descriptor &descriptor) const;

private:
  void markReads(const RunView &run);

  std::vector<Task> all;
  /// Index of each task in tasks(), by task number.
  std::unordered_map<int64_t, int64_t> places;
  int64_t batches = 0;
};

} // namespace batchrt

#endif // BATCH_RUNTIME_TASKPICTURE_H
