//===- BlockPolicy.cpp - A learned choice of blocks -----------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "batch-runtime/Schedule/BlockPolicy.h"
#include "batch-runtime/Schedule/Random.h"

#include <algorithm>

using namespace batchrt;

int64_t batchrt::lowCostBelow(const std::vector<int64_t> &costs) {
  return *std::max_element(costs.begin(), costs.end()) / lowCostShare;
}

int64_t batchrt::hashOf(const State &state) {
  uint64_t hash = stateHashFactor;
  for (uint16_t item : state)
    hash = (hash ^ item) * stateHashFactor;
  return static_cast<int64_t>(hash | 1);
}

std::vector<int64_t> batchrt::makeStateTable(const StateMachine &stateMachine) {
  // At most half of the slots are in use.
  size_t slots = 2;
  while (slots < 2 * static_cast<size_t>(stateMachine.states()))
    slots *= 2;
  std::vector<int64_t> table;
  for (size_t slot = 0; slot < slots; ++slot)
    table.insert(table.end(), {0, -1});
  for (int32_t number = 0; number < stateMachine.states(); ++number) {
    State state = stateMachine.state(number);
    int64_t hash = hashOf(state);
    size_t slot = static_cast<uint64_t>(hash) >> 32 & (slots - 1);
    while (table[2 * slot])
      slot = (slot + 1) & (slots - 1);
    table[2 * slot] = hash;
    table[2 * slot + 1] = stateMachine.next(state);
  }
  return table;
}

namespace {
/// A run in progress: the lanes that wait for each block.
class Run {
public:
  Run(const LanePaths &program, int64_t lanes)
      : program(program), lowCost(lowCostBelow(program.costs)),
        waiting(program.costs.size()), laneCosts(program.costs.size()) {
    for (int64_t lane = 0; lane < lanes; ++lane)
      takeInstance();
  }

  /// Runs the low-cost blocks that lanes wait for, until none is left. Returns
  /// false if the run has finished.
  bool reachState() {
    for (;;) {
      state.clear();
      bool ran = false;
      for (size_t block = 0; block < waiting.size() && !ran; ++block) {
        if (waiting[block].empty())
          continue;
        ran = program.costs[block] < lowCost;
        if (ran)
          run(static_cast<int32_t>(block));
        else
          state.push_back(static_cast<uint16_t>(block));
      }
      if (!ran)
        break;
    }
    if (state.empty())
      return false;
    uint16_t most = state.front();
    for (uint16_t block : state)
      if (count(block) > count(most))
        most = block;
    state.push_back(most);
    return true;
  }

  /// Returns the state: the blocks that lanes wait for, without the low-cost
  /// blocks, followed by the block with the most lanes.
  const State &present() const { return state; }
  int64_t count(int32_t block) const {
    return static_cast<int64_t>(waiting[block].size());
  }
  /// Returns the block with the lowest total cost so far among the blocks of
  /// the state.
  int32_t leastWork() const {
    int32_t least = state.front();
    for (uint16_t block : state)
      if (laneCosts[block] < laneCosts[least])
        least = block;
    return least;
  }

  void run(int32_t block) {
    cost += program.costs[block];
    laneCosts[block] += count(block) * program.costs[block];
    std::vector<Place> leaving;
    leaving.swap(waiting[block]);
    for (Place place : leaving) {
      if (++place.step < program.paths[place.instance].size())
        waiting[program.paths[place.instance][place.step]].push_back(place);
      else
        takeInstance();
    }
  }

  int64_t cost = 0;

private:
  struct Place {
    size_t instance, step;
  };

  void takeInstance() {
    while (next < program.paths.size() && program.paths[next].empty())
      ++next;
    if (next == program.paths.size())
      return;
    waiting[program.paths[next].front()].push_back({next, 0});
    ++next;
  }

  const LanePaths &program;
  const int64_t lowCost;
  size_t next = 0; ///< next instance to begin
  State state;
  std::vector<std::vector<Place>> waiting; ///< indexed by block
  std::vector<int64_t> laneCosts;          ///< total per block, over lanes
};

class BlockLearner {
public:
  BlockLearner(const LanePaths &program, const std::vector<int64_t> &lanes,
               const BlockLearningOptions &options)
      : program(program), lanes(lanes), options(options), random(options.seed) {
  }

  LearnedBlocks learn() {
    const StateMachine empty(Encoding::Max, program.blocks);
    LearnedBlocks bestSoFar{empty};
    bestSoFar.cost = bestSoFar.costWithout = costOf(empty);
    int32_t failures = 0;
    while (bestSoFar.trials < options.trials && failures < 2) {
      double done = static_cast<double>(bestSoFar.trials) / options.trials;
      double explore =
          options.explore * (1 - done) + options.exploreLast * done;
      for (int64_t number : lanes)
        learnFrom(number, explore);
      if (++bestSoFar.trials % options.checkEvery)
        continue;
      StateMachine stateMachine = empty;
      for (int32_t number = 0; number < states.size(); ++number)
        stateMachine.set(states.state(number), best(number));
      int64_t cost = costOf(stateMachine);
      ++failures;
      if (cost >= bestSoFar.cost)
        continue;
      bestSoFar.stateMachine = std::move(stateMachine);
      bestSoFar.cost = cost;
      failures = 0;
    }
    return bestSoFar;
  }

private:
  int64_t costOf(const StateMachine &stateMachine) {
    int64_t sum = 0;
    for (int64_t number : lanes)
      sum += costOfRun(program, number, stateMachine);
    return sum;
  }

  double &value(int32_t number, int32_t block) {
    return values[number * program.costs.size() + block];
  }

  int32_t best(int32_t number) {
    State state = states.state(number);
    int32_t best = state.back();
    for (uint16_t block : state)
      if (value(number, block) > value(number, best))
        best = block;
    return best;
  }

  /// Runs one trial. The cost of a step is its waste, because useful work is
  /// the same in all runs.
  void learnFrom(int64_t number, double explore) {
    struct Step {
      int32_t state, block;
      double reward;
    };
    const double highest = static_cast<double>(
        *std::max_element(program.costs.begin(), program.costs.end()));
    std::vector<Step> steps;
    Run run(program, number);
    while (run.reachState()) {
      int32_t state = states.add(run.present());
      values.resize(states.size() * program.costs.size(), 0);
      int32_t block =
          random.share() < explore
              ? run.present()[random.below(run.present().size() - 1)]
              : best(state);
      double waste = 1 - static_cast<double>(run.count(block)) / number;
      steps.push_back({state, block, -waste * program.costs[block] / highest});
      run.run(block);
    }
    // Update from the last step to the first, so steps use updated values.
    const int64_t count = static_cast<int64_t>(steps.size());
    for (int64_t i = count; i-- > 0;) {
      int64_t end = std::min<int64_t>(i + options.steps, count);
      double sum =
          end < count ? value(steps[end].state, best(steps[end].state)) : 0;
      for (int64_t j = end; j-- > i;)
        sum = steps[j].reward + options.discount * sum;
      double &known = value(steps[i].state, steps[i].block);
      known += options.rate * (sum - known);
    }
  }

  const LanePaths &program;
  const std::vector<int64_t> &lanes;
  const BlockLearningOptions &options;
  Random random;
  StateIndex states;
  std::vector<double> values; ///< indexed by state and block
};
} // namespace

int64_t batchrt::costOfRun(const LanePaths &program, int64_t lanes,
                           const StateMachine &stateMachine) {
  Run run(program, lanes);
  while (run.reachState()) {
    int32_t block = stateMachine.next(run.present());
    run.run(block < 0 ? run.leastWork() : block);
  }
  return run.cost;
}

LearnedBlocks batchrt::learnBlocks(const LanePaths &program,
                                   const std::vector<int64_t> &lanes,
                                   const BlockLearningOptions &options) {
  return BlockLearner(program, lanes, options).learn();
}
