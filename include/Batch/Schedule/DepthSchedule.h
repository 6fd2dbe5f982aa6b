//===- DepthSchedule.h - Scheduling by depth --------------------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The depth policy: all tasks of one kernel with equal phase and depth run
// together, batches in the order (phase, depth, kernel). Linear in the number
// of tasks, and without allocation once its arrays have grown to the size of
// the largest run. Free of IR: the runtime links it, the compiler may.
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_SCHEDULE_DEPTHSCHEDULE_H
#define BATCH_SCHEDULE_DEPTHSCHEDULE_H

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace batchrt {

/// The recorded tasks of one kernel. A record is `recordCells` cells; the first
/// is (depth << 32 | task number). Depths have 24 bits.
struct TaskQueue {
  /// A handle says its task's depth + 1 in 24 bits.
  static constexpr int64_t maxDepth = (1 << 24) - 2;

  const int64_t *records = nullptr;
  int64_t recordCells = 1;
  int64_t count = 0;
  int64_t phase = 0;

  int64_t depth(int64_t record) const {
    return records[record * recordCells] >> 32;
  }
  uint32_t task(int64_t record) const {
    return static_cast<uint32_t>(records[record * recordCells]);
  }
};

/// One batch: `count` tasks of `kernel`; their records are
/// order()[begin ... begin+count).
struct DepthStep {
  int64_t kernel;
  int64_t depth;
  int64_t begin;
  int64_t count;
};

class DepthScheduler {
public:
  /// Schedules all queues, which are those of kernels 0 ... numKernels-1.
  void run(const TaskQueue *queues, int64_t numKernels);

  /// Record numbers within their queue: kernel after kernel, within a kernel by
  /// depth, within a depth in recorded order.
  const int32_t *order() const { return orders.data(); }
  /// Where the records of a kernel begin in order().
  int64_t kernelBegin(int64_t kernel) const { return begins[kernel]; }
  /// Steps kernel after kernel, within a kernel by depth; those of kernel k are
  /// [kernelSteps(k), kernelSteps(k+1)).
  const std::vector<DepthStep> &steps() const { return stepList; }
  int64_t kernelSteps(int64_t kernel) const { return stepBegins[kernel]; }
  /// The steps in the order in which they run, as positions in steps().
  const std::vector<int32_t> &sequence() const { return runOrder; }
  /// Bytes of all arrays.
  size_t bytes() const;

private:
  bool sortShallow(const TaskQueue &queue, int64_t kernel, int32_t *order,
                   int64_t begin);
  void sortKernel(const TaskQueue &queue, int64_t kernel, int32_t *order,
                  int64_t begin);
  void sortSparse(const TaskQueue &queue, int64_t kernel, int32_t *order,
                  int64_t begin);
  void orderSteps(const TaskQueue *queues, int64_t numKernels);

  std::vector<int32_t> orders, temporary;
  std::vector<int64_t> begins, stepBegins, phases;
  std::vector<DepthStep> stepList;
  std::vector<int32_t> runOrder;
  std::vector<int32_t> histogram;
};

/// Says what is wrong with the problem itself: depths out of range, task
/// numbers that are not 0 ... tasks-1. Empty if nothing is.
std::string checkTasks(const TaskQueue *queues, int64_t numKernels);

/// Says what is wrong with a schedule: every task has to run exactly once, in a
/// step of its own kernel, after all its operands. Operands of task t are tasks
/// operands[operandBegin[t] ... operandBegin[t+1]). Empty if it is legal.
std::string verifySchedule(const TaskQueue *queues, int64_t numKernels,
                           const DepthScheduler &schedule,
                           const std::vector<int64_t> &operandBegin,
                           const std::vector<int64_t> &operands);

} // namespace batchrt

#endif // BATCH_SCHEDULE_DEPTHSCHEDULE_H
