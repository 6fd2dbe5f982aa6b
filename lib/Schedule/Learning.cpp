//===- Learning.cpp - Learns which batch to run next ----------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Batch/Schedule/Learning.h"
#include "Batch/Schedule/Policies.h"

#include <algorithm>

using namespace batchrt;

namespace {
/// The same numbers on every platform.
class Random {
public:
  explicit Random(uint64_t seed) : state(seed) {}

  uint64_t next() {
    state += 0x9e3779b97f4a7c15;
    uint64_t z = state;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  size_t below(size_t bound) { return next() % bound; }
  /// In [0, 1).
  double share() {
    return static_cast<double>(next() >> 11) / (uint64_t(1) << 53);
  }

private:
  uint64_t state;
};

class Learner {
public:
  Learner(const std::vector<TaskGraph> &graphs, Encoding encoding,
          const LearningOptions &options)
      : options(options), encoding(encoding), plans(graphs.size()),
        random(options.seed) {
    for (size_t g = 0; g < graphs.size(); ++g) {
      plans[g].compute(graphs[g], neededFacts(encoding));
      bound += lowerBound(graphs[g]);
      numTypes = std::max(numTypes, graphs[g].numTypes);
    }
  }

  Learned run(const std::vector<std::string> &types) {
    int32_t trial = 0;
    keepIfFewer(firstOfAll());
    while (trial < options.trials && fewest > bound) {
      double done = static_cast<double>(trial) / options.trials;
      double explore =
          options.explore * (1 - done) + options.exploreLast * done;
      for (const FrontierPlan &plan : plans)
        learnFrom(plan, explore);
      if (++trial % options.checkEvery == 0 || trial == options.trials)
        keepIfFewer(bestPolicy());
    }
    polish();
    Learned learned{StateMachine(encoding, types), fewest, bound, trial};
    for (size_t number = 0; number < kept.size(); ++number)
      if (kept[number] >= 0)
        learned.machine.set(states.state(static_cast<int32_t>(number)),
                            kept[number]);
    return learned;
  }

private:
  /// The types that run in states, -1 where the greedy rule says.
  using Actions = std::vector<int32_t>;

  /// The number of a frontier's state, a new one if it was not there.
  int32_t findState(const Frontier &frontier) {
    encode(frontier, encoding, state);
    int32_t number = states.add(state);
    if (number == static_cast<int32_t>(ready.size())) {
      // A state begins with its types. All but the last number are, or all.
      auto end = state.end() -
                 (encoding == Encoding::Max || encoding == Encoding::Share);
      ready.emplace_back(state.begin(), end);
      values.resize(values.size() + numTypes, 0);
      tried.push_back(false);
    }
    return number;
  }

  double &value(int32_t number, int32_t type) {
    return values[static_cast<size_t>(number) * numTypes + type];
  }
  /// The ready type of the greatest value, the first of equals.
  int32_t bestType(int32_t number) {
    int32_t best = ready[number][0];
    for (int32_t type : ready[number])
      if (value(number, type) > value(number, best))
        best = type;
    return best;
  }

  /// One trial: runs the graph once, then learns from it.
  void learnFrom(const FrontierPlan &plan, double explore) {
    struct Step {
      int32_t number, type;
      double reward;
    };
    std::vector<Step> steps;
    frontier.start(plan);
    while (!frontier.done()) {
      if (int32_t type = pickSufficient(frontier); type >= 0) {
        // Its ratio is 1. What led here earns its reward.
        if (!steps.empty())
          steps.back().reward += -1 + options.ratioWeight;
        frontier.commit(type);
        continue;
      }
      int32_t number = findState(frontier);
      const std::vector<int32_t> &types = ready[number];
      int32_t type = random.share() < explore
                         ? types[random.below(types.size())]
                         : bestType(number);
      double ratio =
          static_cast<double>(frontier.ready(type)) / frontier.orphans(type);
      steps.push_back({number, type, -1 + options.ratioWeight * ratio});
      frontier.commit(type);
      tried[number] = true;
    }
    // The last first, so that what a step brings is known to those before it.
    const int64_t count = static_cast<int64_t>(steps.size());
    for (int64_t i = count; i-- > 0;) {
      int64_t end = std::min<int64_t>(i + options.steps, count);
      double sum = end < count
                       ? value(steps[end].number, bestType(steps[end].number))
                       : 0;
      for (int64_t j = end; j-- > i;)
        sum = steps[j].reward + options.discount * sum;
      double &known = value(steps[i].number, steps[i].type);
      known += options.rate * (sum - known);
    }
  }

  /// Runs the first type of each state.
  Actions firstOfAll() {
    for (const FrontierPlan &plan : plans) {
      frontier.start(plan);
      while (!frontier.done()) {
        int32_t type = pickSufficient(frontier);
        frontier.commit(type < 0 ? ready[findState(frontier)][0] : type);
      }
    }
    Actions actions;
    for (const std::vector<int32_t> &types : ready)
      actions.push_back(types[0]);
    return actions;
  }

  Actions bestPolicy() {
    Actions actions;
    for (int32_t number = 0; number < states.size(); ++number)
      actions.push_back(tried[number] ? bestType(number) : -1);
    return actions;
  }

  /// Batches of all graphs together. `visited` are the states it came
  /// through, in the order in which it first did.
  int64_t count(const Actions &actions, std::vector<int32_t> &visited) {
    int64_t batches = 0;
    visited.clear();
    wasVisited.assign(wasVisited.size(), false);
    for (const FrontierPlan &plan : plans) {
      frontier.start(plan);
      for (; !frontier.done(); ++batches) {
        if (int32_t type = pickSufficient(frontier); type >= 0) {
          frontier.commit(type);
          continue;
        }
        int32_t number = findState(frontier);
        if (number >= static_cast<int32_t>(wasVisited.size()))
          wasVisited.resize(number + 1, false);
        if (!wasVisited[number])
          visited.push_back(number);
        wasVisited[number] = true;
        int32_t type = number < static_cast<int32_t>(actions.size())
                           ? actions[number]
                           : -1;
        frontier.commit(type < 0 ? pickByRatio(frontier) : type);
      }
    }
    return batches;
  }

  bool keepIfFewer(const Actions &actions) {
    std::vector<int32_t> visited;
    int64_t batches = count(actions, visited);
    if (fewest >= 0 && batches >= fewest)
      return false;
    fewest = batches;
    kept = actions;
    path = std::move(visited);
    return true;
  }

  /// Tries other types in single states, as long as that saves batches.
  void polish() {
    int32_t trials = 0;
    for (bool again = true; again;) {
      again = false;
      std::vector<int32_t> visited = path;
      for (int32_t number : visited)
        for (int32_t type : ready[number]) {
          if (fewest == bound || trials == options.polish)
            return;
          Actions actions = kept;
          if (static_cast<int32_t>(actions.size()) <= number)
            actions.resize(number + 1, -1);
          if (actions[number] == type)
            continue;
          actions[number] = type;
          ++trials;
          again |= keepIfFewer(actions);
        }
    }
  }

  const LearningOptions &options;
  const Encoding encoding;
  std::vector<FrontierPlan> plans;
  Frontier frontier;
  Random random;
  int32_t numTypes = 0;
  int64_t bound = 0;

  State state;
  StateIndex states;
  // By state.
  std::vector<std::vector<int32_t>> ready;
  std::vector<double> values; ///< of the types, numTypes each
  std::vector<bool> tried, wasVisited;

  Actions kept;
  int64_t fewest = -1;       ///< batches of `kept`
  std::vector<int32_t> path; ///< states of `kept`
};
} // namespace

Learned batchrt::learn(const std::vector<TaskGraph> &graphs,
                       const std::vector<std::string> &types, Encoding encoding,
                       const LearningOptions &options) {
  Learned learned = Learner(graphs, encoding, options).run(types);
  PolicyScheduler scheduler;
  for (const TaskGraph &graph : graphs)
    learned.trimmed += static_cast<int64_t>(
        scheduler.run(Policy::Machine, graph, learned.machine).batches.size());
  return learned;
}

Learned batchrt::learn(const std::vector<TaskGraph> &graphs,
                       const std::vector<std::string> &types,
                       const LearningOptions &options) {
  Learned best;
  for (Encoding encoding : {Encoding::Path, Encoding::Sort, Encoding::Base,
                            Encoding::Max, Encoding::Share}) {
    Learned learned = learn(graphs, types, encoding, options);
    if (encoding == Encoding::Path || learned.trimmed < best.trimmed)
      best = std::move(learned);
    if (best.trimmed == best.bound)
      break;
  }
  return best;
}
