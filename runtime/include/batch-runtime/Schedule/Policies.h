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

/// The first type that meets the sufficient condition of ED-Batch (Lemma 2.1):
/// all of its tasks that wait for none of their own type are ready, so that no
/// schedule begins better. -1 if none does.
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
  /// By any policy, trimmed if that is the greedy one or a machine; `machine`
  /// is read by Policy::Machine only.
  const Schedule &run(Policy policy, const TaskGraph &graph,
                      const StateMachine &machine);
  /// Tasks of one type and depth run together, in the order (depth, type), as
  /// in TensorFlow Fold.
  const Schedule &depth(const TaskGraph &graph);
  /// The type with the least mean depth runs next, as in DyNet.
  const Schedule &agenda(const TaskGraph &graph);
  /// The type with the greatest ratio runs next.
  const Schedule &greedy(const TaskGraph &graph);
  /// What meets the sufficient condition runs next, else what the machine says,
  /// in states that it does not know the type with the greatest ratio.
  const Schedule &follow(const TaskGraph &graph, const StateMachine &machine);
  /// The last schedule without batches that it can do without. If every batch
  /// of it met the sufficient condition there are none.
  const Schedule &trim();
  /// Types in the order given, as long as tasks remain. Each has to have ready
  /// tasks when it is due.
  const Schedule &replay(const TaskGraph &graph,
                         const std::vector<int32_t> &types);

  /// Batches of the last schedule in states that its machine does not know.
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
  bool isShortest = false; ///< all batches met the sufficient condition
};

} // namespace batchrt

#endif // BATCH_RUNTIME_SCHEDULE_POLICIES_H
