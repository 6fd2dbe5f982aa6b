//===- Learning.cpp - Learns which batch to run next ----------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "batch-runtime/Schedule/Learning.h"
#include "batch-runtime/Schedule/Policies.h"
#include "batch-runtime/Schedule/Random.h"

#include <algorithm>
#include <cmath>

using namespace batchrt;

namespace {
/// Returns true if a policy produces significantly fewer batches than another
/// one. The number of batches beyond the bound varies from graph to graph by
/// about its square root.
bool isBetter(int64_t batches, int64_t others, int64_t bound,
              const LearningOptions &options) {
  const double saved = static_cast<double>(others - batches);
  return saved > 0 &&
         saved >= options.deviations *
                      std::sqrt(static_cast<double>(others - bound));
}

class Learner {
public:
  Learner(const std::vector<TaskGraph> &graphs,
          const std::vector<std::string> &types, Encoding encoding,
          const LearningOptions &options)
      : options(options), graphs(graphs), plans(graphs.size()),
        random(options.seed), untrained(encoding, types), bestSoFar{untrained} {
    for (size_t g = 0; g < graphs.size(); ++g) {
      plans[g].compute(graphs[g], neededFacts(encoding));
      bestSoFar.bound += lowerBound(graphs[g]);
      numTypes = std::max(numTypes, graphs[g].numTypes);
    }
  }

  Learned run() {
    bestSoFar.stateMachine = startStateMachine();
    bestSoFar.batches = count(bestSoFar.stateMachine);
    int32_t &trial = bestSoFar.trials;
    while (trial < options.trials && bestSoFar.batches > bestSoFar.bound) {
      double done = static_cast<double>(trial) / options.trials;
      double explore =
          options.explore * (1 - done) + options.exploreLast * done;
      for (const FrontierPlan &plan : plans)
        learnFrom(plan, explore);
      if (++trial % options.checkEvery == 0 || trial == options.trials)
        keepIfBetter(bestStateMachine());
    }
    return std::move(bestSoFar);
  }

private:
  /// Returns the number of a frontier's state; adds the state if it is unknown.
  int32_t findState(const Frontier &frontier) {
    encode(frontier, untrained.encoding(), state);
    int32_t number = states.add(state);
    if (number == static_cast<int32_t>(ready.size())) {
      ready.emplace_back(state.begin(),
                         state.begin() + numReady(state, untrained.encoding()));
      values.resize(values.size() + numTypes, 0);
    }
    return number;
  }

  double &value(int32_t number, int32_t type) {
    return values[static_cast<size_t>(number) * numTypes + type];
  }
  /// Returns the ready type with the greatest value. If several types have this
  /// value, returns the first of them.
  int32_t bestType(int32_t number) {
    int32_t best = ready[number][0];
    for (int32_t type : ready[number])
      if (value(number, type) > value(number, best))
        best = type;
    return best;
  }

  /// Runs one trial: runs the graph once, then learns from it.
  void learnFrom(const FrontierPlan &plan, double explore) {
    struct Step {
      int32_t number, type;
      double reward;
    };
    std::vector<Step> steps;
    frontier.start(plan);
    while (!frontier.done()) {
      if (int32_t type = pickSufficient(frontier); type >= 0) {
        // If the type is sufficient, the ratio in the reward of its batch is 1.
        // The reward is added to that of the previous choice.
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
      double ratio = static_cast<double>(frontier.ready(type)) /
                     frontier.independent(type);
      steps.push_back({number, type, -1 + options.ratioWeight * ratio});
      frontier.commit(type);
    }
    // Update from the last step to the first, so steps use updated values.
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

  /// Returns the initial policy. In each state, it runs the type that the state
  /// names, or else the first type of the state.
  StateMachine startStateMachine() {
    StateMachine stateMachine = untrained;
    for (const FrontierPlan &plan : plans) {
      frontier.start(plan);
      while (!frontier.done()) {
        int32_t type = pickSufficient(frontier);
        if (type < 0) {
          encode(frontier, stateMachine.encoding(), state);
          type =
              namesOne(stateMachine.encoding()) ? state.back() : state.front();
          stateMachine.set(state, type);
        }
        frontier.commit(type);
      }
    }
    return stateMachine;
  }

  /// Returns the policy learned so far.
  StateMachine bestStateMachine() {
    StateMachine stateMachine = untrained;
    for (int32_t number = 0; number < states.size(); ++number)
      stateMachine.set(states.state(number), bestType(number));
    return stateMachine;
  }

  /// Returns the total number of batches of all graphs.
  int64_t count(const StateMachine &stateMachine) {
    int64_t batches = 0;
    for (const TaskGraph &graph : graphs)
      batches += static_cast<int64_t>(
          scheduler.run(Policy::StateMachine, graph, stateMachine)
              .batches.size());
    return batches;
  }

  void keepIfBetter(StateMachine stateMachine) {
    int64_t batches = count(stateMachine);
    if (!isBetter(batches, bestSoFar.batches, bestSoFar.bound, options))
      return;
    bestSoFar.stateMachine = std::move(stateMachine);
    bestSoFar.batches = batches;
  }

  const LearningOptions &options;
  const std::vector<TaskGraph> &graphs;
  std::vector<FrontierPlan> plans;
  Frontier frontier;
  PolicyScheduler scheduler;
  Random random;
  int32_t numTypes = 0;

  State state;
  StateIndex states;
  // The ready types, by state.
  std::vector<std::vector<int32_t>> ready;
  std::vector<double> values; ///< for each state, a value for each type

  const StateMachine untrained;
  Learned bestSoFar;
};
} // namespace

Learned batchrt::learn(const std::vector<TaskGraph> &graphs,
                       const std::vector<std::string> &types, Encoding encoding,
                       const LearningOptions &options) {
  return Learner(graphs, types, encoding, options).run();
}

Learned batchrt::learn(const std::vector<TaskGraph> &graphs,
                       const std::vector<std::string> &types,
                       const LearningOptions &options) {
  Learned best;
  for (Encoding encoding : {Encoding::Urgency, Encoding::Sort, Encoding::Base,
                            Encoding::Max, Encoding::Share}) {
    Learned learned = learn(graphs, types, encoding, options);
    if (encoding == Encoding::Urgency ||
        isBetter(learned.batches, best.batches, best.bound, options))
      best = std::move(learned);
    if (best.stateMachine.states() == 0)
      best.stateMachine = StateMachine(Encoding::Base, types);
    if (best.batches == best.bound)
      break;
  }
  return best;
}
