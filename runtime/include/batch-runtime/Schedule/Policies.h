//===- Policies.h - Rules that pick the next batch --------------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// Schedules a task graph by a policy, in time linear in its tasks and operands.
// Independent of the IR, so the runtime and the compiler can link it.
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_RUNTIME_SCHEDULE_POLICIES_H
#define BATCH_RUNTIME_SCHEDULE_POLICIES_H

#include "batch-runtime/Schedule/PolicyNames.h"
#include "batch-runtime/Schedule/StateMachine.h"
#include "batch-runtime/Schedule/Trim.h"

namespace batchrt {

/// Returns the first type that satisfies the sufficient condition of ED-Batch
/// (Lemma 2.1), or -1. A type satisfies it if each of its remaining tasks is
/// ready or waits for a task of that type. Then no other first batch leads to a
/// shorter schedule.
int32_t pickSufficient(const Frontier &frontier);
/// Returns the type with the greatest ratio of Eq. 1: the number of its ready
/// tasks divided by the number of its tasks that do not wait for a task of that
/// type. Among equal ratios, the type with the lower number wins.
int32_t pickByRatio(const Frontier &frontier);
/// Among the types with ready tasks, returns the one whose remaining tasks have
/// the lowest mean depth. Among equal means, the type with the lower number
/// wins.
int32_t pickByDepth(const Frontier &frontier);

/// Schedules task graphs by policies. Reuses its memory for the next schedule,
/// so runs after the largest one allocate nothing.
class PolicyScheduler {
public:
  /// Schedules by any policy. Trims the schedule of the greedy policy or of a
  /// state machine. Only Policy::StateMachine reads `stateMachine`.
  const Schedule &run(Policy policy, const TaskGraph &graph,
                      const StateMachine &stateMachine);
  /// Runs tasks of one type and depth together, in the order (depth, type), as
  /// in TensorFlow Fold.
  const Schedule &depth(const TaskGraph &graph);
  /// Runs the type with the lowest mean depth next, as in DyNet.
  const Schedule &agenda(const TaskGraph &graph);
  /// Runs the type with the greatest ratio next.
  const Schedule &greedy(const TaskGraph &graph);
  /// Runs a type that satisfies the sufficient condition next, or else the type
  /// that the state machine picks. In unknown states, runs the type with the
  /// greatest ratio.
  const Schedule &follow(const TaskGraph &graph,
                         const StateMachine &stateMachine);
  /// Removes the unnecessary batches of the last schedule. There are none if
  /// every batch satisfied the sufficient condition.
  const Schedule &trim();
  /// Runs types in the given order, as long as tasks remain. Each type must
  /// have ready tasks when it runs.
  const Schedule &replay(const TaskGraph &graph,
                         const std::vector<int32_t> &types);

  /// Returns the number of batches of the last schedule in states that its
  /// state machine lacks.
  int64_t unknownStates() const { return unknown; }
  /// Returns the size in bytes of all arrays.
  size_t bytes() const;

private:
  void begin(const TaskGraph &graph, unsigned facts);
  const Schedule &end();

  FrontierPlan plan;
  Frontier frontier;
  Trimmer trimmer;
  Schedule schedule;
  State state;
  std::vector<int32_t> ends;
  int64_t unknown = 0;
  bool isShortest = false; ///< all batches satisfied the sufficient condition
};

} // namespace batchrt

#endif // BATCH_RUNTIME_SCHEDULE_POLICIES_H
