//===- DepthSchedule.h - Scheduling by depth --------------------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The depth policy: all tasks of one kernel with equal phase and depth run
// together, with batches in the order (phase, depth, kernel). The tasks may be
// in several parts, which workers sort independently. Scheduling takes time
// linear in the number of tasks. It allocates nothing once its arrays are as
// large as the largest run needs. Independent of the IR, so the runtime and the
// compiler can link it.
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_RUNTIME_SCHEDULE_DEPTHSCHEDULE_H
#define BATCH_RUNTIME_SCHEDULE_DEPTHSCHEDULE_H

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace batchrt {

/// The recorded tasks of one kernel. A record has `recordCells` cells; the
/// first is (depth << 32 | task number). Depths have 23 bits.
struct TaskQueue {
  /// A handle stores its task's depth + 1 in 23 bits.
  static constexpr int64_t maxDepth = (1 << 23) - 2;

  const int64_t *records = nullptr;
  int64_t recordCells = 1;
  int64_t count = 0;
  int64_t phase = 0;
  /// True if all parts have the same single task.
  bool constant = false;

  int64_t depth(int64_t record) const {
    return records[record * recordCells] >> 32;
  }
  uint32_t task(int64_t record) const {
    return static_cast<uint32_t>(records[record * recordCells]);
  }
};

/// One batch, or one part's share of it: `count` tasks of `kernel`, starting at
/// position `begin` in the order of tasks.
struct DepthStep {
  int64_t kernel;
  int64_t depth;
  int64_t begin;
  int64_t count;
  int64_t plan = 0; ///< number of its plan in a schedule
};

/// Sorts the tasks of one part by kernel and depth.
class DepthSorter {
public:
  /// Sorts all queues, which belong to kernels 0 ... numKernels-1.
  void run(const TaskQueue *queues, int64_t numKernels);

  /// Returns the index of each record in its queue, sorted by kernel, then by
  /// depth, then in recorded order.
  const int32_t *order() const { return orders.data(); }
  /// Returns the same array, for callers that reorder the records of a step.
  int32_t *order() { return orders.data(); }
  /// Returns the steps, sorted by kernel and then by depth. The steps of kernel
  /// k are [kernelSteps(k), kernelSteps(k+1)). The records of a step are
  /// order()[begin ... begin+count).
  const std::vector<DepthStep> &steps() const { return stepList; }
  int64_t kernelSteps(int64_t kernel) const { return stepBegins[kernel]; }
  /// Returns the size in bytes of all arrays.
  size_t bytes() const;

private:
  bool sortShallow(const TaskQueue &queue, int64_t kernel, int32_t *order,
                   int64_t begin);
  void sortKernel(const TaskQueue &queue, int64_t kernel, int32_t *order,
                  int64_t begin);
  void sortSparse(const TaskQueue &queue, int64_t kernel, int32_t *order,
                  int64_t begin);

  std::vector<int32_t> orders, temporary;
  std::vector<int64_t> stepBegins;
  std::vector<DepthStep> stepList;
  std::vector<int32_t> histogram, depthCounts;
};

/// The schedule of all parts. In every batch, the tasks of a part come before
/// those of the next part. The schedule therefore equals that of all tasks in
/// one queue. The schedule may also consist of several plans with the same
/// number of parts each. The steps of different plans are independent.
class DepthScheduler {
public:
  /// Computes the schedule. `queues` specifies the phases of the kernels and
  /// which kernels are constant. Plan i has parts i*n ... i*n+n-1, where n is
  /// numParts / plans.
  void run(const TaskQueue *queues, int64_t numKernels,
           const DepthSorter *const *parts, int64_t numParts,
           int64_t plans = 1);

  /// Returns all steps, sorted by kernel, then by plan, and then by depth.
  const std::vector<DepthStep> &steps() const { return stepList; }
  int64_t kernelSteps(int64_t kernel) const {
    return stepBegins[kernel * numPlans];
  }
  /// Returns the position of a kernel's first task.
  int64_t kernelBegin(int64_t kernel) const { return begins[kernel]; }
  /// Returns the steps in the order in which they run, plan by plan, as indices
  /// in steps(). The steps of plan i are [planBegin(i), planBegin(i+1)).
  const std::vector<int32_t> &sequence() const { return runOrder; }
  int64_t planBegin(int64_t plan) const { return planBegins[plan]; }
  int64_t plans() const { return numPlans; }

  /// Position of a part's step in the schedule: the number of the schedule's
  /// step that contains it, and the position of its first task among all tasks.
  struct Place {
    int64_t step, begin;
  };
  /// Returns the places of the steps of a part.
  const std::vector<Place> &places(int64_t part) const {
    return placesOf[part];
  }
  /// Returns the size in bytes of all arrays.
  size_t bytes() const;

private:
  int64_t joinKernel(bool constant, int64_t kernel, int64_t plan, int64_t begin,
                     const DepthSorter *const *parts, int64_t planParts);
  void orderSteps(const TaskQueue *queues, int64_t numKernels, int64_t plan);

  int64_t numPlans = 1;
  std::vector<DepthStep> stepList;
  std::vector<int64_t> begins, planBegins, phases;
  std::vector<int64_t> stepBegins; ///< [kernel][plan]
  std::vector<std::vector<Place>> placesOf;
  std::vector<int32_t> runOrder, histogram, temporary;
};

/// Returns a description of an error in the tasks of one part, or an empty
/// string if there is none. Errors are records without cells, depths out of
/// range, and task numbers that are not 0 ... tasks-1, each once.
std::string checkTasks(const TaskQueue *queues, int64_t numKernels);

/// Returns a description of an error in the schedule of one part, or an empty
/// string if it is legal: every task must run exactly once, in a step of its
/// own kernel, after all its operands. The operands of task t are tasks
/// operands[operandBegin[t] ... operandBegin[t+1]).
std::string verifySchedule(const TaskQueue *queues, int64_t numKernels,
                           const DepthSorter &sorter,
                           const DepthScheduler &schedule,
                           const std::vector<int64_t> &operandBegin,
                           const std::vector<int64_t> &operands);

} // namespace batchrt

#endif // BATCH_RUNTIME_SCHEDULE_DEPTHSCHEDULE_H
