//===- Frontier.h - The tasks that can run next -----------------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A schedule under construction: the ready tasks, by type, and the numbers on
// which policies base their choices. All of them are updated in constant time
// per task and operand. Except with the depth policy, a batch consists of all
// ready tasks of one type, because leaving some out never helps.
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_RUNTIME_SCHEDULE_FRONTIER_H
#define BATCH_RUNTIME_SCHEDULE_FRONTIER_H

#include "batch-runtime/Schedule/TaskGraph.h"

#include <algorithm>

namespace batchrt {

/// The facts that a frontier tracks in addition to the ready tasks.
enum FrontierFacts : unsigned {
  OnlyReady = 0,
  /// The ratio of Eq. 1 of ED-Batch, where a task waits for the tasks of its
  /// own type that it reads.
  Ratios = 1,
  /// With Ratios: a task also waits for those tasks of its own type that it
  /// depends on through other types.
  Cycles = 2,
  /// Sums of depths, for the agenda policy.
  Depths = 4,
  /// The urgency of tasks that are ready now or after one more batch.
  Urgencies = 8,
  /// Longest chains of each type, for the lower bound on remaining batches.
  Chains = 16,
  AllFacts = Ratios | Cycles | Depths | Urgencies | Chains,
};

/// The facts of a graph before any task runs. The memory is reused for the next
/// graph.
class FrontierPlan {
public:
  /// `graph` must live as long as frontiers of this plan are used.
  void compute(const TaskGraph &graph, unsigned facts);

  const TaskGraph &graph() const { return *tasks; }
  /// Returns, for each type, the position of its first task when all tasks are
  /// sorted by type.
  const std::vector<int32_t> &typeBegins() const { return typeBegin; }
  /// Returns the number of reads of a task's results.
  int32_t readers(int32_t task) const {
    return consumerBegin[task + 1] - consumerBegin[task];
  }
  size_t bytes() const;

private:
  friend class Frontier;
  /// The data of a task that commit() reads and changes, adjacent in memory.
  struct Node {
    int32_t type;
    int32_t pending; ///< number of operands that have not run
    /// Number of operands through which the task waits for tasks of its own
    /// type.
    int32_t sameType;
    int32_t unready; ///< number of operands that are not ready; only used with
                     ///< Urgencies
  };
  struct UrgencyNode {
    double urgency; ///< urgency of this task itself
    /// The sum of the type codes of the operands that have not run. If these
    /// operands all have one type, the sum is the code of that type times their
    /// number.
    uint64_t waitsFor;
  };
  static uint64_t typeCode(uint32_t type) {
    return type | uint64_t(type * type) << 32;
  }
  void findNodes();
  void findCycles();
  void findTypesOnCycles();
  void findDepths();
  void findUrgencies();
  void findChains();
  /// Returns the position of the counter for `type` among the counters of a
  /// task of type `through`. The position is negative if tasks never wait for
  /// `type` through such a task.
  int32_t cycleCounter(int32_t through, int32_t type) const {
    return counterNumbers[through * counterColumns + std::min(type, 64)];
  }

  const TaskGraph *tasks = nullptr;
  unsigned facts = OnlyReady;
  std::vector<int32_t> consumerBegin, consumers;
  std::vector<int32_t> typeBegin; ///< see typeBegins()
  std::vector<Node> nodes;
  std::vector<UrgencyNode> urgencyNodes; ///< indexed by task
  std::vector<int32_t> independent; ///< for each type: number of tasks whose
                                    ///< sameType is 0
  /// For each type: the types on a cycle with it, in the graph where all tasks
  /// of a type are one node. For types from 64 on, the set is empty, so their
  /// tasks count as waiting only for the tasks that they read.
  std::vector<uint64_t> onCycle;
  static constexpr int32_t counterColumns = 65; ///< the last column is for
                                                ///< types from 64 on
  std::vector<int8_t> counterNumbers;           ///< see cycleCounter()
  std::vector<int8_t> numOnCycle;               ///< indexed by type
  /// For each task, and each type on a cycle with the task's type: the number
  /// of operands through which the task waits for that type. The counters of a
  /// task begin at its entry of `cycleBegin`.
  std::vector<int32_t> cycleCounts, cycleBegin;
  /// For each task: the types that its readers wait for because they read it.
  std::vector<uint64_t> waitsFor;
  std::vector<int32_t> depths;
  std::vector<int64_t> depthSums;
  /// For each task: the maximum number of tasks of its type on a path that
  /// begins at the task.
  std::vector<int32_t> chain;
  /// For each type and each value of `chain`: the number of tasks that have
  /// both. The entries of type k begin at chainBegin[k].
  std::vector<int32_t> chainBegin, chainCounts;
  std::vector<int32_t> rows;
};

class Frontier {
public:
  /// Starts a schedule in which no task has run yet. Tracks the facts of the
  /// plan, or only some of them.
  void start(const FrontierPlan &plan) { start(plan, plan.facts); }
  void start(const FrontierPlan &plan, unsigned facts);

  /// Runs all ready tasks of a type. There must be at least one.
  Batch commit(int32_t type) { return commit(type, tail[type]); }
  /// Runs only the first ready tasks of a type, up to position `end` of
  /// order().
  Batch commit(int32_t type, int32_t end);

  bool done() const { return left == 0; }
  int32_t numTypes() const { return static_cast<int32_t>(tail.size()); }
  /// Returns the number of tasks that have not run.
  int32_t remaining() const { return left; }
  int32_t remaining(int32_t type) const {
    return plan->typeBegin[type + 1] - head[type];
  }
  int32_t ready(int32_t type) const { return tail[type] - head[type]; }
  /// Returns the position in order() after the last ready task of a type.
  int32_t readyEnd(int32_t type) const { return tail[type]; }
  /// Returns the tasks that ran or are ready, type after type.
  const std::vector<int32_t> &order() const { return tasks; }
  /// Swaps order() with another vector.
  void swapOrder(std::vector<int32_t> &other) { tasks.swap(other); }

  /// With Ratios: returns the number of remaining tasks of a type that wait for
  /// no task of that type. The ratio of Eq. 1 is ready() divided by this
  /// number.
  int32_t independent(int32_t type) const { return independentCounts[type]; }

  /// With Depths: returns the sum of depths of the tasks of a type that have
  /// not run.
  int64_t depthSum(int32_t type) const { return depthSums[type]; }

  /// With Urgencies: returns the total urgency of the tasks in a batch of the
  /// type and in the best batch after it. The urgency of a task is 4/3 times
  /// the urgency of the most urgent task that reads it, or 1 without readers.
  /// Tasks far from the end come first, unless many tasks that are slightly
  /// nearer outweigh them.
  double urgency(int32_t type) const;

  /// With Chains: returns the maximum number of tasks of a type on a path of
  /// remaining tasks.
  int32_t longestChain(int32_t type) const { return longest[type]; }
  /// Returns the lower bound on remaining batches.
  int32_t bound() const { return chainSum; }
  /// Returns true if a batch of the type lowers the bound, because all longest
  /// chains of the type begin at ready tasks.
  bool lowersBound(int32_t type) const {
    int32_t at = plan->chainBegin[type] + longest[type];
    return longest[type] && chainLeft[at] == chainReady[at];
  }
  size_t bytes() const;

private:
  template <unsigned facts>
  void commitTasks(int32_t type, int32_t end);
  void makeReady(int32_t task);
  void addUrgency(int32_t task);
  void checkSuccessor(int32_t task, int32_t type);
  void addSuccessor(int32_t task, int32_t type);
  void stopWaiting(int32_t task, int32_t type);

  const FrontierPlan *plan = nullptr;
  unsigned facts = OnlyReady;
  int32_t left = 0, chainSum = 0;
  std::vector<FrontierPlan::Node> nodes;
  std::vector<FrontierPlan::UrgencyNode> urgencyNodes;
  std::vector<int32_t> tasks, head, tail, independentCounts, cycleCounts, work;
  std::vector<int64_t> depthSums;
  std::vector<double> urgencies; ///< total urgency of the ready tasks of each
                                 ///< type
  /// At a * successorTypes + b: the total urgency of the tasks of type b that
  /// wait only for ready tasks of type a. Types from successorTypes on have no
  /// entries.
  std::vector<double> successors;
  int32_t successorTypes = 0;
  std::vector<int32_t> chainLeft, chainReady, longest;
};

} // namespace batchrt

#endif // BATCH_RUNTIME_SCHEDULE_FRONTIER_H
