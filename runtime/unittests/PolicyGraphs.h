//===- PolicyGraphs.h - Graphs for tests of policies ------------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_RUNTIME_UNITTESTS_POLICYGRAPHS_H
#define BATCH_RUNTIME_UNITTESTS_POLICYGRAPHS_H

#include "Workloads.h"
#include "batch-runtime/Schedule/Learning.h"
#include "batch-runtime/Schedule/Policies.h"

#include "gtest/gtest.h"

#include <random>
#include <string>
#include <utility>
#include <vector>

namespace batchrt::test {

/// Returns a random graph of fewer than 300 tasks of 1 to 9 types.
inline TaskGraph someGraph(int seed) {
  std::mt19937_64 random(seed);
  int32_t tasks = workloads::below(random, seed % 4 == 0 ? 12 : 300);
  int32_t types = 1 + workloads::below(random, 9);
  return workloads::randomGraph(random, tasks, types, 1 + seed % 4);
}

inline std::vector<std::string> namesOf(const TaskGraph &graph) {
  std::vector<std::string> names;
  for (int32_t type = 0; type < graph.numTypes; ++type)
    names.push_back("kernel " + std::to_string(type));
  return names;
}

/// Returns schedules of all policies: heuristics, state machines with every
/// encoding, and a state machine without states. Some schedules are trimmed.
inline std::vector<std::pair<std::string, Schedule>>
everySchedule(const TaskGraph &graph) {
  PolicyScheduler scheduler;
  std::vector<std::pair<std::string, Schedule>> schedules;
  schedules.emplace_back("depth", scheduler.depth(graph));
  schedules.emplace_back("agenda", scheduler.agenda(graph));
  schedules.emplace_back("greedy", scheduler.greedy(graph));
  schedules.emplace_back("greedy, trimmed", scheduler.trim());
  scheduler.depth(graph);
  schedules.emplace_back("depth, trimmed", scheduler.trim());
  LearningOptions options;
  options.trials = 20;
  for (int e = 0; e < numEncodings; ++e) {
    Learned learned =
        learn({graph}, namesOf(graph), static_cast<Encoding>(e), options);
    schedules.emplace_back(name(static_cast<Encoding>(e)),
                           scheduler.follow(graph, learned.stateMachine));
    schedules.emplace_back("trimmed", scheduler.trim());
    EXPECT_EQ(learned.batches,
              static_cast<int64_t>(schedules.back().second.batches.size()));
    EXPECT_EQ(learned.bound, lowerBound(graph));
  }
  schedules.emplace_back("unknown", scheduler.follow(graph, StateMachine()));
  return schedules;
}

/// Returns the tree of Fig. 1 of ED-Batch. It has four words, and the right
/// child of every inner node is a word. Types: I (inner nodes and words), O
/// (outputs), R (a reduction).
inline TaskGraph figureOne() {
  TaskGraph graph;
  graph.numTypes = 3;
  std::vector<int32_t> states;
  for (int i = 0; i < 4; ++i)
    states.push_back(graph.add(0, {}));
  int32_t left = states[0];
  for (int i = 1; i < 4; ++i)
    states.push_back(left = graph.add(0, {left, states[i]}));
  std::vector<int32_t> outputs;
  for (int32_t state : states)
    outputs.push_back(graph.add(1, {state}));
  graph.add(2, outputs);
  return graph;
}

} // namespace batchrt::test

#endif // BATCH_RUNTIME_UNITTESTS_POLICYGRAPHS_H
