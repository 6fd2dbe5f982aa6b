//===- Search.cpp - Search for the best schedule --------------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "batch-runtime/Schedule/Search.h"
#include "batch-runtime/Schedule/Policies.h"
#include "batch-runtime/Schedule/Random.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

using namespace batchrt;

namespace {
/// A random number for each task. Sums of these numbers distinguish sets of
/// tasks.
class TaskHashes {
public:
  explicit TaskHashes(int32_t tasks) {
    for (int32_t task = 0; task < tasks; ++task)
      hashes.push_back(mixBits((task + 1) * goldenRatio));
  }

  /// Returns the hash of the ready tasks of a type.
  uint64_t ready(const Frontier &frontier, int32_t type) const {
    uint64_t sum = 0;
    int32_t end = frontier.readyEnd(type);
    for (int32_t i = end - frontier.ready(type); i < end; ++i)
      sum += hashes[frontier.order()[i]];
    return sum;
  }

private:
  std::vector<uint64_t> hashes;
};
} // namespace

/// Finds the types worth trying as the next batch. If a type satisfies the
/// sufficient condition, finds only this type, because no other type can be
/// better.
static void findChoices(const Frontier &frontier, std::vector<int32_t> &types) {
  types.clear();
  for (int32_t type = 0; type < frontier.numTypes(); ++type) {
    if (!frontier.ready(type))
      continue;
    if (frontier.ready(type) == frontier.independent(type)) {
      types.assign(1, type);
      return;
    }
    types.push_back(type);
  }
}

Found batchrt::searchBeam(const TaskGraph &graph, int32_t width) {
  FrontierPlan plan;
  plan.compute(graph, AllFacts);
  TaskHashes hashes(graph.size());
  struct Choice {
    size_t from;
    int32_t type;
    int32_t bound;     ///< lower bound on the number of later batches
    int32_t remaining; ///< number of tasks after this batch
    uint64_t hash;     ///< hash of the tasks that ran
  };
  // Choices that led to the frontiers of each step, to trace back the result.
  std::vector<std::vector<Choice>> steps;
  std::vector<Frontier> beam(1), next;
  beam[0].start(plan);
  const int32_t bound = beam[0].bound();
  std::vector<int32_t> types;
  std::unordered_set<uint64_t> seen;

  for (;;) {
    auto done =
        std::find_if(beam.begin(), beam.end(),
                     [](const Frontier &frontier) { return frontier.done(); });
    if (done != beam.end()) {
      Found found;
      size_t at = done - beam.begin();
      for (size_t s = steps.size(); s-- > 0; at = steps[s][at].from)
        found.types.push_back(steps[s][at].type);
      std::reverse(found.types.begin(), found.types.end());
      found.optimal = static_cast<int32_t>(found.types.size()) == bound;
      return found;
    }
    std::vector<Choice> choices;
    seen.clear();
    for (size_t i = 0; i < beam.size(); ++i) {
      const Frontier &frontier = beam[i];
      findChoices(frontier, types);
      for (int32_t type : types) {
        Choice choice{i, type, frontier.bound() - frontier.lowersBound(type),
                      frontier.remaining() - frontier.ready(type),
                      hashes.ready(frontier, type)};
        if (!steps.empty())
          choice.hash += steps.back()[i].hash;
        if (seen.insert(choice.hash).second)
          choices.push_back(choice);
      }
    }
    std::stable_sort(choices.begin(), choices.end(),
                     [](const Choice &a, const Choice &b) {
                       return a.bound != b.bound ? a.bound < b.bound
                                                 : a.remaining < b.remaining;
                     });
    if (choices.size() > static_cast<size_t>(width))
      choices.resize(width);
    next.resize(choices.size());
    for (size_t i = 0; i < choices.size(); ++i) {
      next[i] = beam[choices[i].from];
      next[i].commit(choices[i].type);
    }
    beam.swap(next);
    steps.push_back(std::move(choices));
  }
}

Found batchrt::searchExact(const TaskGraph &graph, int64_t most) {
  FrontierPlan plan;
  plan.compute(graph, AllFacts);
  Found best = searchBeam(graph, 16);
  if (best.optimal)
    return best;
  best.optimal = true;

  /// One level of the search: a frontier and the types left to try from it.
  struct Level {
    Frontier frontier;
    std::vector<int32_t> choices;
    std::vector<bool> ran;
  };
  std::vector<Level> levels(1);
  std::vector<int32_t> types;
  // For each set of tasks: the smallest number of batches, so far, that ran
  // exactly these tasks.
  std::unordered_map<std::vector<bool>, size_t> reached;
  auto enter = [&](Level &level) {
    findChoices(level.frontier, level.choices);
    // The last choice is tried first, so move choices that lower the bound to
    // the end.
    std::stable_partition(
        level.choices.begin(), level.choices.end(),
        [&](int32_t type) { return !level.frontier.lowersBound(type); });
  };
  levels[0].frontier.start(plan);
  levels[0].ran.assign(graph.size(), false);
  enter(levels[0]);
  size_t depth = 0;
  for (;;) {
    Level &level = levels[depth];
    // Go back if no better result is possible below, or no choice is left.
    if (level.choices.empty() ||
        depth + level.frontier.bound() >= best.types.size()) {
      if (depth == 0)
        return best;
      --depth;
      types.pop_back();
      continue;
    }
    int32_t type = level.choices.back();
    level.choices.pop_back();
    if (levels.size() == depth + 1)
      levels.emplace_back();
    const Level &from = levels[depth];
    Level &to = levels[depth + 1];
    to.frontier = from.frontier;
    to.ran = from.ran;
    Batch batch = to.frontier.commit(type);
    for (int32_t i = batch.begin; i < batch.begin + batch.count; ++i)
      to.ran[to.frontier.order()[i]] = true;
    if (--most < 0) {
      best.optimal = false;
      return best;
    }
    if (depth + 1 + to.frontier.bound() >= best.types.size())
      continue;
    auto [known, isNew] = reached.try_emplace(to.ran, depth + 1);
    if (!isNew && known->second <= depth + 1)
      continue;
    known->second = depth + 1;
    types.push_back(type);
    ++depth;
    if (to.frontier.done()) {
      best.types = types;
      to.choices.clear();
      continue;
    }
    enter(to);
  }
}
