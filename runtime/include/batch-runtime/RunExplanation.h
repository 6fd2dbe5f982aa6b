//===- RunExplanation.h - Explanation of a run ------------------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_RUNTIME_RUNEXPLANATION_H
#define BATCH_RUNTIME_RUNEXPLANATION_H

#include "batch-runtime/Session.h"
#include "batch-runtime/TaskPicture.h"

#include <map>
#include <string>
#include <vector>

namespace batchrt {

/// Explanation of a traced run: how many instances ran each block together. A
/// *block* is a kernel, or a block of a lockstep program.
class RunExplanation {
public:
  /// `steps` is the result of Session::executeTraced(). `counters` and `tasks`
  /// are from the same run. Keeps the tasks of the first instances.
  RunExplanation(const Descriptor &descriptor, int64_t instances,
                 int64_t workers, const std::vector<StepTime> &steps,
                 const RunCounters &counters,
                 const std::vector<TaskPicture::Task> &tasks = {});

  struct Block {
    int64_t number = 0; ///< number of the kernel or block
    std::string name;
    std::string places; ///< "model.mlir:7, 9-12", or ""
    int64_t batches = 0;
    int64_t tasks = 0;    ///< number of tasks in these batches
    int64_t capacity = 0; ///< maximum number of tasks that these batches could
                          ///< have
    bool fitsCapacity =
        false;       ///< no batch has more tasks than `StepTime::capacity`
    double time = 0; ///< worker time in microseconds, including the control
                     ///< flow that follows
    std::map<int64_t, int64_t> sizes; ///< number of tasks -> number of batches
  };

  /// Returns the blocks that ran, in program order.
  const std::vector<Block> &blocks() const { return blockList; }
  /// Returns the steps of each worker, in the order in which it ran them. Steps
  /// that workers shared are included once.
  const std::vector<StepTime> &batches() const { return batchList; }
  /// Returns known reasons why the run is slow, one sentence each.
  const std::vector<std::string> &hints() const { return hintList; }
  const char *strategy() const;

  /// Returns the explanation as text.
  std::string text() const;
  /// Returns the explanation as a JSON object (docs/reference/formats.md).
  std::string json() const;

private:
  void collect(const std::vector<StepTime> &steps);
  void collectTasks(const std::vector<TaskPicture::Task> &tasks);
  void findHints();
  std::string describe(const Block &block) const;
  std::string describeDepths() const;
  std::string describeUtilization() const;
  /// Returns the word for the elements of batches: "lanes", "instances" or
  /// "tasks".
  const char *unit() const;

  const Descriptor &descriptor;
  const int64_t instances, workers;
  const RunCounters counters;
  std::vector<Block> blockList;
  std::vector<StepTime> batchList;
  std::vector<std::string> hintList;
  struct Task {
    int64_t group;  ///< number of the group of tasks that read each other's
                    ///< results; -1: constant
    int64_t number; ///< number among all tasks
    TaskPicture::Task task;
  };
  std::vector<Task> taskList;
  double allTime = 0;  ///< total time of steps and barriers; shared steps
                       ///< count once
  double waitTime = 0; ///< total time of barriers
};

} // namespace batchrt

#endif // BATCH_RUNTIME_RUNEXPLANATION_H
