//===- Policies.cpp - Policies that pick the next batch -------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "batch-runtime/Schedule/Policies.h"

using namespace batchrt;

int32_t batchrt::pickSufficient(const Frontier &frontier) {
  for (int32_t type = 0; type < frontier.numTypes(); ++type)
    if (frontier.ready(type) &&
        frontier.ready(type) == frontier.independent(type))
      return type;
  return -1;
}

int32_t batchrt::pickByRatio(const Frontier &frontier) {
  int32_t best = -1;
  for (int32_t type = 0; type < frontier.numTypes(); ++type) {
    if (!frontier.ready(type))
      continue;
    if (best < 0 ||
        int64_t(frontier.ready(type)) * frontier.independent(best) >
            int64_t(frontier.ready(best)) * frontier.independent(type))
      best = type;
  }
  return best;
}

int32_t batchrt::pickByDepth(const Frontier &frontier) {
  auto mean = [&](int32_t type) {
    return static_cast<double>(frontier.depthSum(type)) /
           frontier.remaining(type);
  };
  int32_t best = -1;
  for (int32_t type = 0; type < frontier.numTypes(); ++type)
    if (frontier.ready(type) && (best < 0 || mean(type) < mean(best)))
      best = type;
  return best;
}

void PolicyScheduler::begin(const TaskGraph &graph, unsigned facts) {
  schedule.batches.clear();
  frontier.swapOrder(schedule.order);
  unknown = 0;
  isShortest = false;
  plan.compute(graph, facts);
  frontier.start(plan);
}

const Schedule &PolicyScheduler::end() {
  frontier.swapOrder(schedule.order);
  return schedule;
}

const Schedule &PolicyScheduler::run(Policy policy, const TaskGraph &graph,
                                     const StateMachine &stateMachine) {
  switch (policy) {
  case Policy::Agenda:
    return agenda(graph);
  case Policy::Greedy:
    greedy(graph);
    return trim();
  case Policy::StateMachine:
    follow(graph, stateMachine);
    return trim();
  case Policy::Depth:
    break;
  }
  return depth(graph);
}

const Schedule &PolicyScheduler::depth(const TaskGraph &graph) {
  begin(graph, OnlyReady);
  ends.resize(graph.numTypes);
  while (!frontier.done()) {
    // Tasks that are ready now have the same depth; tasks that become ready
    // have the next depth.
    for (int32_t type = 0; type < graph.numTypes; ++type)
      ends[type] = frontier.ready(type) ? frontier.readyEnd(type) : 0;
    for (int32_t type = 0; type < graph.numTypes; ++type)
      if (ends[type])
        schedule.batches.push_back(frontier.commit(type, ends[type]));
  }
  return end();
}

const Schedule &PolicyScheduler::agenda(const TaskGraph &graph) {
  begin(graph, Depths);
  while (!frontier.done())
    schedule.batches.push_back(frontier.commit(pickByDepth(frontier)));
  return end();
}

const Schedule &PolicyScheduler::greedy(const TaskGraph &graph) {
  begin(graph, Ratios | Cycles);
  isShortest = true;
  while (!frontier.done()) {
    int32_t type = pickByRatio(frontier);
    isShortest &= frontier.ready(type) == frontier.independent(type);
    schedule.batches.push_back(frontier.commit(type));
  }
  return end();
}

const Schedule &PolicyScheduler::follow(const TaskGraph &graph,
                                        const StateMachine &stateMachine) {
  begin(graph, neededFacts(stateMachine.encoding()));
  isShortest = true;
  while (!frontier.done()) {
    int32_t type = pickSufficient(frontier);
    if (type < 0) {
      isShortest = false;
      encode(frontier, stateMachine.encoding(), state);
      type = stateMachine.next(state);
    }
    if (type < 0) {
      ++unknown;
      type = pickByRatio(frontier);
    }
    schedule.batches.push_back(frontier.commit(type));
  }
  return end();
}

const Schedule &PolicyScheduler::trim() {
  if (!isShortest)
    trimmer.run(plan, schedule);
  return schedule;
}

const Schedule &PolicyScheduler::replay(const TaskGraph &graph,
                                        const std::vector<int32_t> &types) {
  begin(graph, OnlyReady);
  for (int32_t type : types)
    schedule.batches.push_back(frontier.commit(type));
  return end();
}

size_t PolicyScheduler::bytes() const {
  return plan.bytes() + frontier.bytes() + trimmer.bytes() +
         schedule.order.capacity() * sizeof(int32_t) +
         schedule.batches.capacity() * sizeof(Batch) +
         state.capacity() * sizeof(uint16_t) +
         ends.capacity() * sizeof(int32_t);
}
