//===- SearchTest.cpp - Tests of the search for schedules -----------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "batch-runtime/Schedule/Search.h"
#include "PolicyGraphs.h"

using namespace batchrt;
using namespace batchrt::test;

namespace {
/// Finds the minimum number of batches by trying every set of ready tasks of
/// one type.
int64_t fewestBatches(const TaskGraph &graph) {
  const uint32_t all = (1u << graph.size()) - 1;
  std::vector<int64_t> batches(all + 1, -1);
  batches[0] = 0;
  std::vector<uint32_t> work{0};
  for (size_t w = 0; w < work.size(); ++w) {
    uint32_t ran = work[w];
    for (int32_t type = 0; type < graph.numTypes; ++type) {
      uint32_t ready = 0;
      for (int32_t task = 0; task < graph.size(); ++task) {
        bool isReady = graph.types[task] == type && !(ran >> task & 1);
        for (int32_t o = graph.operandBegin[task];
             o < graph.operandBegin[task + 1]; ++o)
          isReady &= ran >> graph.operands[o] & 1;
        ready |= static_cast<uint32_t>(isReady) << task;
      }
      for (uint32_t some = ready; some; some = (some - 1) & ready)
        if (batches[ran | some] < 0) {
          batches[ran | some] = batches[ran] + 1;
          work.push_back(ran | some);
        }
    }
  }
  return batches[all];
}
} // namespace

TEST(Search, OrderOfSchedules) {
  PolicyScheduler scheduler;
  for (int seed = 0; seed < 60; ++seed) {
    std::mt19937_64 random(seed);
    TaskGraph graph = workloads::randomGraph(random, 4 + seed % 7, 1 + seed % 4,
                                             1 + seed % 3);
    Found exact = searchExact(graph), beam = searchBeam(graph, 8);
    ASSERT_TRUE(exact.optimal);
    EXPECT_EQ(static_cast<int64_t>(exact.types.size()), fewestBatches(graph))
        << "seed " << seed;
    EXPECT_LE(lowerBound(graph), static_cast<int64_t>(exact.types.size()));
    EXPECT_LE(exact.types.size(), beam.types.size());
    EXPECT_EQ(scheduler.replay(graph, exact.types).verify(graph), "");
    EXPECT_EQ(scheduler.replay(graph, beam.types).verify(graph), "");
    for (const auto &[name, schedule] : everySchedule(graph))
      EXPECT_LE(exact.types.size(), schedule.batches.size()) << name;
  }
}

TEST(Search, BeamIsNoWorseThanPolicies) {
  for (int seed = 0; seed < 20; ++seed) {
    TaskGraph graph = someGraph(seed);
    Found beam = searchBeam(graph, 64);
    for (const auto &[name, schedule] : everySchedule(graph))
      EXPECT_LE(beam.types.size(), schedule.batches.size())
          << name << ", seed " << seed;
  }
}

TEST(Search, GivesUp) {
  std::mt19937_64 random(3);
  TaskGraph graph = workloads::randomGraph(random, 400, 8, 2);
  Found found = searchExact(graph, 100);
  EXPECT_FALSE(found.optimal);
  PolicyScheduler scheduler;
  EXPECT_EQ(scheduler.replay(graph, found.types).verify(graph), "");
}
