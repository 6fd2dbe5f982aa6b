//===- Policies.h - What picks the next batch -------------------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// Schedules of a task graph by a policy, in time linear in its tasks and
// operands. Free of IR: the runtime links it, the compiler may.
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_RUNTIME_SCHEDULE_POLICIES_H
#define BATCH_RUNTIME_SCHEDULE_POLICIES_H

#include "batch-runtime/Schedule/PolicyNames.h"
#include "batch-runtime/Schedule/StateMachine.h"
#include "batch-runtime/Schedule/Trim.h"

namespace batchrt {

/// The first type that satisfies the sufficient condition of ED-Batch (Lemma
/// 2.1): all of its tasks that wait for none of their own type are ready, so
/// that no schedule begins better. -1 if none does.
int32_t pickSufficient(const Frontier &frontier);
/// The type with the greatest ratio of Eq. 1: its ready tasks over those that
/// wait for none of their own type. Equal ratios: the lower type.
int32_t pickByRatio(const Frontier &frontier);
/// The type whose remaining tasks have the least mean depth, of those with
/// ready tasks. Equal means: the lower type.
int32_t pickByDepth(const Frontier &frontier);

/// Keeps its memory for the next schedule: runs after the largest allocate
/// nothing.
class PolicyScheduler {
public:
  /// Schedules by any policy, trimmed if it is greedy or a state machine; only
  /// Policy::StateMachine reads `stateMachine`.
  const Schedule &run(Policy policy, const TaskGraph &graph,
                      const StateMachine &stateMachine);
  /// Tasks of one type and depth run together, in the order (depth, type), as
  /// in TensorFlow Fold.
  const Schedule &depth(const TaskGraph &graph);
  /// The type with the least mean depth runs next, as in DyNet.
  const Schedule &agenda(const TaskGraph &graph);
  /// The type with the greatest ratio runs next.
  const Schedule &greedy(const TaskGraph &graph);
  /// A type that satisfies the sufficient condition runs next; else the one
  /// that the state machine picks; in states that it does not know, the type
  /// with the greatest ratio.
  const Schedule &follow(const TaskGraph &graph,
                         const StateMachine &stateMachine);
  /// The last schedule without its unnecessary batches. If every batch
  /// satisfied the sufficient condition, it has none.
  const Schedule &trim();
  /// Runs types in the order given, as long as tasks remain. Each must have
  /// ready tasks when its turn comes.
  const Schedule &replay(const TaskGraph &graph,
                         const std::vector<int32_t> &types);

  /// Batches of the last schedule in states that its state machine does not
  /// know.
  int64_t unknownStates() const { return unknown; }
  /// Bytes of all arrays.
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
