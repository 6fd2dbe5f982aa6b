//===- TaskOrder.h - Order and batches of tasks -----------------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_RUNTIME_TASKORDER_H
#define BATCH_RUNTIME_TASKORDER_H

#include "batch-runtime/RecordedTasks.h"
#include "batch-runtime/Schedule/DepthSchedule.h"
#include "batch-runtime/TaskNumbers.h"

#include <algorithm>
#include <deque>
#include <vector>

namespace batchrt {

class Tables;

/// The order in which the tasks of a plan run, which is the first of the four
/// components of a plan (Plan.h). The tasks are in parts, which workers sort.
/// The next plan reuses all memory.
class TaskOrder {
public:
  /// The tasks of consecutive instances. They read only each other's results,
  /// and results of tasks of earlier plans.
  struct Part {
    const BatchContext *context = nullptr;
    int64_t base = 0;           ///< number of the part's first task in the run
    int64_t begin = 0, end = 0; ///< numbers of the tasks of this plan
    int64_t limit = 0;          ///< the largest possible end
    std::vector<TaskQueue> queues;
    DepthSorter sorter;

    int64_t numTasks() const { return end - begin; }
  };

  /// If `depthsOfRecords` is true, Policy::Depth computes the depths of tasks
  /// from the records. Otherwise, it uses the depths that the inspector stored.
  TaskOrder(const Descriptor &descriptor, bool depthsOfRecords);

  /// Sets the policy of the next plans. Type k of a state machine is kernel k.
  /// Policy::Depth keeps phases separate; other policies mix phases where
  /// dependences allow it.
  void setPolicy(Policy policy, StateMachine stateMachine);

  /// Begins a plan of the tasks in the queues of these contexts, one per part.
  /// `tables` has the rows of the tasks of earlier plans.
  void begin(const std::vector<BatchContext *> &contexts, const Tables &tables);
  /// Sorts the tasks of a part. Parts may be sorted concurrently.
  void sort(int64_t part);
  /// Joins all parts into one plan, or creates a plan for each part if
  /// `separate` is true.
  void join(bool separate);

  int64_t numParts() const { return partCount; }
  Part &part(int64_t number) { return parts[number]; }
  const Part &part(int64_t number) const { return parts[number]; }
  /// Returns the number of a plan's first part. `plan` is the plan's number in
  /// the scheduler.
  int64_t firstPart(int64_t plan) const {
    return plan * (partCount / scheduler.plans());
  }
  /// Returns the number of the plan that contains a part's tasks.
  int64_t planOf(int64_t part) const {
    return part / (partCount / scheduler.plans());
  }
  const DepthScheduler &schedule() const { return scheduler; }
  using Places = std::vector<DepthScheduler::Place>;
  const Places &places(int64_t part) const { return scheduler.places(part); }

  /// Returns true if the steps have the same depth and phase, so their tasks do
  /// not read each other's results.
  bool isIndependent(const DepthStep &a, const DepthStep &b) const;
  /// Calls `body(position, record)` for the tasks of step number `step` in
  /// order. Positions refer to the whole schedule. A constant task has a record
  /// in each part.
  template <class Body>
  void forEachTask(int64_t step, const Body &body) const;

  int64_t numTasks() const { return taskCount; }
  /// Returns the number of batches in states that the state machine lacks.
  int64_t unknownStates() const { return policies.unknownStates(); }
  /// Returns the size in bytes of all arrays.
  size_t bytes() const;

private:
  void collectQueues(Part &part) const;
  void checkSize();

  const Descriptor &descriptor;
  const bool depthsOfRecords;
  Policy policy = Policy::Depth;
  StateMachine stateMachine;
  RecordedTasks recorded;
  PolicyScheduler policies;
  std::deque<Part> parts; ///< the first partCount parts belong to this plan
  int64_t partCount = 0;
  std::vector<int64_t> begins; ///< number of each part's first task
  std::vector<const DepthSorter *> sorters;
  DepthScheduler scheduler;
  int64_t taskCount = 0;
};

template <class Body>
void TaskOrder::forEachTask(int64_t step, const Body &body) const {
  const int64_t plan = scheduler.steps()[step].plan;
  for (int64_t p = firstPart(plan); p < firstPart(plan + 1); ++p) {
    const Part &part = parts[p];
    const Places &places = scheduler.places(p);
    // The steps and the places of a part are in the same order.
    auto place = std::lower_bound(
        places.begin(), places.end(), step,
        [](const auto &place, int64_t step) { return place.step < step; });
    if (place == places.end() || place->step != step)
      continue;
    const DepthStep &own = part.sorter.steps()[place - places.begin()];
    const TaskQueue &queue = part.queues[own.kernel];
    for (int64_t i = 0; i < own.count; ++i)
      body(place->begin + i,
           queue.records +
               part.sorter.order()[own.begin + i] * queue.recordCells);
  }
}

} // namespace batchrt

#endif // BATCH_RUNTIME_TASKORDER_H
