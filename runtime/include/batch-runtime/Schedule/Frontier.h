//===- Frontier.h - The tasks that can run next -----------------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A schedule in the making: the tasks that are ready, by type, and the numbers
// that policies decide by, all kept up to date task by task in constant time.
// A batch is always all ready tasks of one type: leaving some out never helps.
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_RUNTIME_SCHEDULE_FRONTIER_H
#define BATCH_RUNTIME_SCHEDULE_FRONTIER_H

#include "batch-runtime/Schedule/TaskGraph.h"

#include <algorithm>

namespace batchrt {

/// The facts that a frontier keeps besides the ready tasks.
enum FrontierFacts : unsigned {
  OnlyReady = 0,
  /// The ratio of Eq. 1 of ED-Batch. A task waits for the tasks of its own type
  /// that it reads.
  Ratios = 1,
  /// With Ratios: and for those that it depends on through other types.
  Cycles = 2,
  /// Sums of depths, for the agenda.
  Depths = 4,
  /// The urgency of tasks that are ready, or would be after one more batch.
  Urgencies = 8,
  /// Longest chains of each type, for the lower bound of what remains.
  Chains = 16,
  AllFacts = Ratios | Cycles | Depths | Urgencies | Chains,
};

/// The facts of a graph before anything runs. Keeps its memory for the next
/// one.
class FrontierPlan {
public:
  /// `graph` must live as long as frontiers of this plan are used.
  void compute(const TaskGraph &graph, unsigned facts);

  const TaskGraph &graph() const { return *tasks; }
  /// Where the tasks of each type begin if tasks are sorted by type.
  const std::vector<int32_t> &typeBegins() const { return typeBegin; }
  /// The number of reads of a task's results.
  int32_t readers(int32_t task) const {
    return consumerBegin[task + 1] - consumerBegin[task];
  }
  size_t bytes() const;

private:
  friend class Frontier;
  /// The data of a task that commits read and change, side by side in memory.
  struct Node {
    int32_t type;
    int32_t pending; ///< operands that have not run
    /// Operands by which the task waits for tasks of its own type.
    int32_t sameType;
    int32_t unready; ///< operands that are not ready; kept with Urgencies
  };
  struct UrgencyNode {
    double urgency; ///< of this task alone
    /// The sum of the type codes of the operands that have not run: the code of
    /// a type times their number if they all are of that type.
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
  /// The counter of a type among those of a task of type `through`; negative if
  /// tasks never wait for the type through `through`.
  int32_t cycleCounter(int32_t through, int32_t type) const {
    return counterNumbers[through * counterColumns + std::min(type, 64)];
  }

  const TaskGraph *tasks = nullptr;
  unsigned facts = OnlyReady;
  std::vector<int32_t> consumerBegin, consumers;
  std::vector<int32_t> typeBegin; ///< where the tasks of a type begin
  std::vector<Node> nodes;
  std::vector<UrgencyNode> urgencyNodes; ///< by task
  std::vector<int32_t> independent; ///< tasks of a type whose sameType is 0
  /// By type, the types on a cycle with it, if all tasks of a type were one.
  /// Types from 64 on have no such types: their tasks count as waiting only for
  /// the tasks that they read.
  std::vector<uint64_t> onCycle;
  static constexpr int32_t counterColumns = 65; ///< the last for all others
  std::vector<int8_t> counterNumbers;           ///< cycleCounter()
  std::vector<int8_t> numOnCycle;               ///< by type
  /// By task and type on a cycle with its own, operands by which it waits for
  /// the type; where the counters of each task begin.
  std::vector<int32_t> cycleCounts, cycleBegin;
  /// The types that readers of a task wait for because of it.
  std::vector<uint64_t> waitsFor;
  std::vector<int32_t> depths;
  std::vector<int64_t> depthSums;
  /// The most tasks of its own type on a path that begins at a task.
  std::vector<int32_t> chain;
  /// Tasks by type and chain: those of type k begin at chainBegin[k].
  std::vector<int32_t> chainBegin, chainCounts;
  std::vector<int32_t> rows;
};

class Frontier {
public:
  /// Starts with nothing run. Keeps the facts of the plan, or only some of
  /// them.
  void start(const FrontierPlan &plan) { start(plan, plan.facts); }
  void start(const FrontierPlan &plan, unsigned facts);

  /// Runs all ready tasks of a type, at least one.
  Batch commit(int32_t type) { return commit(type, tail[type]); }
  /// Runs the first of them only, up to position `end` of order().
  Batch commit(int32_t type, int32_t end);

  bool done() const { return left == 0; }
  int32_t numTypes() const { return static_cast<int32_t>(tail.size()); }
  /// Tasks that have not run.
  int32_t remaining() const { return left; }
  int32_t remaining(int32_t type) const {
    return plan->typeBegin[type + 1] - head[type];
  }
  int32_t ready(int32_t type) const { return tail[type] - head[type]; }
  /// The position in order() after the last ready task of a type.
  int32_t readyEnd(int32_t type) const { return tail[type]; }
  /// Tasks that ran or are ready, type after type.
  const std::vector<int32_t> &order() const { return tasks; }
  /// Gives order() away, for another vector.
  void swapOrder(std::vector<int32_t> &other) { tasks.swap(other); }

  /// With Ratios: tasks of a type that wait for no task of that type, so that
  /// ready() over it is the ratio of Eq. 1.
  int32_t independent(int32_t type) const { return independentCounts[type]; }

  /// With Depths: the sum over the tasks of a type that have not run.
  int64_t depthSum(int32_t type) const { return depthSums[type]; }

  /// With Urgencies: of what a batch of the type and the best one after it run.
  /// A task counts 4/3 times as much as the most urgent one that reads it, or
  /// 1: what is far from the end comes first, but many tasks that are a little
  /// nearer weigh as much.
  double urgency(int32_t type) const;

  /// With Chains: the most tasks of a type on a path of what remains.
  int32_t longestChain(int32_t type) const { return longest[type]; }
  /// The lower bound of the batches that remain.
  int32_t bound() const { return chainSum; }
  /// Whether a batch of the type lowers the bound: all its longest chains begin
  /// at ready tasks.
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
  std::vector<double> urgencies; ///< of the ready tasks of a type
  /// Of the tasks of type b that wait for ready tasks of type a and for nothing
  /// else, at a * successorTypes + b. Further types have none.
  std::vector<double> successors;
  int32_t successorTypes = 0;
  std::vector<int32_t> chainLeft, chainReady, longest;
};

} // namespace batchrt

#endif // BATCH_RUNTIME_SCHEDULE_FRONTIER_H
