//===- Batching.cpp - Batches of operators in a static block --------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each state of the search is a set of operators that have run. Even before the
// layout is known, the cost of a batch has a lower bound: its launch, and a
// gather copy for each operand in which a variable occurs twice. The search
// first finds the lowest sum of these bounds from every state to the end. It
// then lays out whole sequences of batches in ascending order of their bounds,
// until no other sequence can be better than the best layout.
//
//===----------------------------------------------------------------------===//

#include "Batch/Layout/Batching.h"

#include <algorithm>
#include <map>
#include <queue>
#include <set>

using namespace batchrt;

namespace {
struct Cost {
  int64_t launches = 0;
  int64_t bytes = 0;

  friend Cost operator+(Cost a, Cost b) {
    return {a.launches + b.launches, a.bytes + b.bytes};
  }
  friend bool operator<(Cost a, Cost b) {
    return a.launches != b.launches ? a.launches < b.launches
                                    : a.bytes < b.bytes;
  }
};

using OperatorBatch = std::vector<int32_t>;

/// Set of operators that have run, and possible next steps.
struct State {
  std::vector<bool> done;
  struct Step {
    OperatorBatch batch;
    Cost cost;
    int32_t next;
  };
  /// The greedy step comes first.
  std::vector<Step> steps;
  /// Lowest cost from this state to the end.
  Cost rest;
};

/// Path from the first state: a sequence of batches.
struct Path {
  /// Lowest cost of a complete path that begins with this path, and the cost so
  /// far.
  Cost least, cost;
  int32_t state;
  /// Index of the path without the last step, or -1 if there is none.
  int32_t previous;
  const State::Step *step;
  /// True if the path leads to the end, but no layout of it is free of
  /// conflicts.
  bool hasConflicts;
};

class Search {
public:
  Search(const StaticBlock &block, const BatchingOptions &options);

  Batching run();

private:
  std::vector<OperatorBatch> readyByKind(const std::vector<bool> &done) const;
  int64_t sourcesOfKind(int32_t kind, const std::vector<bool> &done) const;
  int64_t left(int32_t kind, const std::vector<bool> &done) const;
  std::vector<OperatorBatch> candidates(const std::vector<bool> &done) const;
  void addSubsets(const OperatorBatch &ready,
                  std::vector<OperatorBatch> &batches) const;
  Cost leastCost(const OperatorBatch &batch) const;
  int32_t stateOf(const std::vector<bool> &done);
  void findStates();
  void findRests();
  bool isSwapped(const State &from, const State::Step &first,
                 const State::Step &second) const;
  OperatorBatches batchesOf(const std::vector<Path> &paths, int32_t path) const;

  const StaticBlock &block;
  const BatchingOptions &options;
  /// For every operator: the writers of its operands, the operators of its kind
  /// that must run before it, and the uses of its results.
  std::vector<std::vector<int32_t>> operandWriters, sameKindBefore;
  std::vector<std::vector<std::pair<int32_t, int32_t>>> uses;
  std::vector<State> states;
  std::map<std::vector<bool>, int32_t> numbers;
  bool complete = true;
};
} // namespace

Search::Search(const StaticBlock &block, const BatchingOptions &options)
    : block(block), options(options), operandWriters(block.operators.size()),
      sameKindBefore(block.operators.size()), uses(block.operators.size()) {
  std::vector<int32_t> writer(block.variables.size(), -1);
  for (size_t o = 0; o < block.operators.size(); ++o)
    for (int32_t result : block.operators[o].results)
      writer[result] = static_cast<int32_t>(o);
  // For each operator, all operators that must run before it.
  std::vector<std::set<int32_t>> before(block.operators.size());
  for (size_t o = 0; o < block.operators.size(); ++o) {
    const Operator &op = block.operators[o];
    for (size_t i = 0; i < op.operands.size(); ++i) {
      int32_t from = writer[op.operands[i]];
      if (from < 0)
        continue;
      operandWriters[o].push_back(from);
      uses[from].emplace_back(op.kind, static_cast<int32_t>(i));
      before[o].insert(from);
      before[o].insert(before[from].begin(), before[from].end());
    }
    for (int32_t other : before[o])
      if (block.operators[other].kind == op.kind)
        sameKindBefore[o].push_back(other);
  }
  for (auto &list : uses)
    std::sort(list.begin(), list.end());
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

/// Returns the operators that can run, grouped by kind.
std::vector<OperatorBatch>
Search::readyByKind(const std::vector<bool> &done) const {
  std::map<int32_t, OperatorBatch> ready;
  for (size_t o = 0; o < done.size(); ++o)
    if (!done[o] &&
        std::all_of(operandWriters[o].begin(), operandWriters[o].end(),
                    [&](int32_t from) { return done[from]; }))
      ready[block.operators[o].kind].push_back(static_cast<int32_t>(o));
  std::vector<OperatorBatch> result;
  for (auto &[kind, operators] : ready)
    result.push_back(std::move(operators));
  return result;
}

/// Returns the number of operators of a kind that wait for no other operators
/// of their kind.
int64_t Search::sourcesOfKind(int32_t kind,
                              const std::vector<bool> &done) const {
  int64_t count = 0;
  for (size_t o = 0; o < done.size(); ++o)
    count += !done[o] && block.operators[o].kind == kind &&
             std::all_of(sameKindBefore[o].begin(), sameKindBefore[o].end(),
                         [&](int32_t before) { return done[before]; });
  return count;
}

/// Returns the number of operators of a kind that have not run.
int64_t Search::left(int32_t kind, const std::vector<bool> &done) const {
  int64_t count = 0;
  for (size_t o = 0; o < done.size(); ++o)
    count += !done[o] && block.operators[o].kind == kind;
  return count;
}

/// Adds subsets of `ready`, the ready operators of a kind, to `batches`.
void Search::addSubsets(const OperatorBatch &ready,
                        std::vector<OperatorBatch> &batches) const {
  auto add = [&](const OperatorBatch &batch) {
    if (batch.size() < ready.size() &&
        std::find(batches.begin(), batches.end(), batch) == batches.end())
      batches.push_back(batch);
  };
  size_t numOperands = block.operators[ready[0]].operands.size();

  // Make operators with equal uses adjacent.
  OperatorBatch alike = ready, distinct;
  std::stable_sort(alike.begin(), alike.end(),
                   [&](int32_t a, int32_t b) { return uses[a] < uses[b]; });
  std::set<std::pair<size_t, int32_t>> seen;
  for (int32_t o : alike) {
    const std::vector<int32_t> &operands = block.operators[o].operands;
    bool isNew = true;
    for (size_t i = 0; i < numOperands; ++i)
      isNew = isNew && !seen.count({i, operands[i]});
    if (!isNew)
      continue;
    for (size_t i = 0; i < numOperands; ++i)
      seen.insert({i, operands[i]});
    distinct.push_back(o);
  }
  std::sort(distinct.begin(), distinct.end());
  add(distinct);

  if (!options.sharedReads)
    return;
  for (size_t i = 0; i < numOperands; ++i) {
    std::map<int32_t, OperatorBatch> sharing;
    for (int32_t o : ready)
      sharing[block.operators[o].operands[i]].push_back(o);
    for (const auto &[variable, batch] : sharing)
      if (batch.size() > 1)
        add(batch);
  }
}

std::vector<OperatorBatch>
Search::candidates(const std::vector<bool> &done) const {
  std::vector<OperatorBatch> ready = readyByKind(done);
  // The last operator of a kind can run immediately, because it forms its own
  // batch in any case. Running it later may change the copies, but the search
  // tries that only for small blocks.
  constexpr size_t small = 12;
  for (const OperatorBatch &batch : ready)
    if (block.operators.size() > small && batch.size() == 1 &&
        left(block.operators[batch[0]].kind, done) == 1)
      return {batch};
  // Sufficient condition of ED-Batch: it is best to run a kind if all operators
  // that sourcesOfKind() counts are ready.
  std::vector<std::pair<double, size_t>> ratios;
  for (size_t i = 0; i < ready.size(); ++i)
    ratios.emplace_back(-static_cast<double>(ready[i].size()) /
                            static_cast<double>(sourcesOfKind(
                                block.operators[ready[i][0]].kind, done)),
                        i);
  std::sort(ratios.begin(), ratios.end());
  std::vector<OperatorBatch> batches;
  for (const auto &[ratio, i] : ratios)
    batches.push_back(ready[i]);
  if (options.subsets)
    for (const OperatorBatch &all : ready)
      addSubsets(all, batches);
  return batches;
}

/// Returns a lower bound on the cost of a batch in any layout.
Cost Search::leastCost(const OperatorBatch &batch) const {
  Cost cost{1, 0};
  size_t numOperands = block.operators[batch[0]].operands.size();
  std::vector<int32_t> variables;
  for (size_t i = 0; i < numOperands && batch.size() > 1; ++i) {
    variables.clear();
    int64_t bytes = 0;
    for (int32_t o : batch) {
      variables.push_back(block.operators[o].operands[i]);
      bytes += block.variables[variables.back()].bytes;
    }
    std::sort(variables.begin(), variables.end());
    bool isShared = options.sharedReads && variables[0] == variables.back();
    if (!isShared && std::adjacent_find(variables.begin(), variables.end()) !=
                         variables.end())
      cost = cost + Cost{1, bytes};
  }
  return cost;
}

//===----------------------------------------------------------------------===//
// States
//===----------------------------------------------------------------------===//

int32_t Search::stateOf(const std::vector<bool> &done) {
  auto [place, isNew] =
      numbers.try_emplace(done, static_cast<int32_t>(states.size()));
  if (isNew) {
    states.emplace_back();
    states.back().done = done;
  }
  return place->second;
}

void Search::findStates() {
  stateOf(std::vector<bool>(block.operators.size(), false));
  for (size_t s = 0; s < states.size(); ++s) {
    std::vector<OperatorBatch> batches = candidates(states[s].done);
    if (batches.size() > 1 &&
        static_cast<int64_t>(states.size()) >= options.maxStates) {
      complete = false;
      batches.resize(1);
    }
    for (OperatorBatch &batch : batches) {
      std::vector<bool> done = states[s].done;
      for (int32_t o : batch)
        done[o] = true;
      Cost cost = leastCost(batch);
      int32_t next = stateOf(done);
      states[s].steps.push_back({std::move(batch), cost, next});
    }
  }
}

/// Finds the lowest cost from every state to the end. A step leads to a state
/// with more operators, so states with more operators come first.
void Search::findRests() {
  std::vector<int32_t> order(states.size());
  std::vector<int64_t> numDone(states.size());
  for (size_t s = 0; s < states.size(); ++s) {
    order[s] = static_cast<int32_t>(s);
    numDone[s] = std::count(states[s].done.begin(), states[s].done.end(), true);
  }
  std::stable_sort(order.begin(), order.end(), [&](int32_t a, int32_t b) {
    return numDone[a] > numDone[b];
  });
  for (int32_t s : order) {
    State &state = states[s];
    for (size_t i = 0; i < state.steps.size(); ++i) {
      Cost cost = state.steps[i].cost + states[state.steps[i].next].rest;
      if (i == 0 || cost < state.rest)
        state.rest = cost;
    }
  }
}

static const State::Step *findStep(const State &state,
                                   const OperatorBatch &batch) {
  for (const State::Step &step : state.steps)
    if (step.batch == batch)
      return &step;
  return nullptr;
}

/// Returns true if the search can omit `second` after `first`, because it also
/// takes these steps in the opposite order. If two steps can be swapped, the
/// search takes the step with the lexicographically smaller batch first.
bool Search::isSwapped(const State &from, const State::Step &first,
                       const State::Step &second) const {
  if (first.batch < second.batch)
    return false;
  const State::Step *swapped = findStep(from, second.batch);
  swapped = swapped ? findStep(states[swapped->next], first.batch) : nullptr;
  return swapped && swapped->next == second.next;
}

OperatorBatches Search::batchesOf(const std::vector<Path> &paths,
                                  int32_t path) const {
  OperatorBatches batches;
  for (; paths[path].step; path = paths[path].previous)
    batches.push_back(paths[path].step->batch);
  std::reverse(batches.begin(), batches.end());
  return batches;
}

Batching Search::run() {
  findStates();
  findRests();

  std::vector<Path> paths{{states[0].rest, {}, 0, -1, nullptr, false}};
  auto isAfter = [&](int32_t a, int32_t b) {
    if (paths[a].least < paths[b].least || paths[b].least < paths[a].least)
      return paths[b].least < paths[a].least;
    // Among paths of equal cost, the newest one comes first, because it is
    // closest to the end.
    return a < b;
  };
  std::priority_queue<int32_t, std::vector<int32_t>, decltype(isAfter)> queue(
      isAfter);
  auto push = [&](const Path &path) {
    paths.push_back(path);
    queue.push(static_cast<int32_t>(paths.size() - 1));
  };
  queue.push(0);

  Batching best;
  best.states = static_cast<int64_t>(states.size());
  best.isBest = complete;
  std::optional<Cost> bestCost;
  while (!queue.empty()) {
    int32_t current = queue.top();
    queue.pop();
    Path path = paths[current];
    if (bestCost && !(path.least < *bestCost))
      break;
    const State &state = states[path.state];
    bool isFull = static_cast<int64_t>(paths.size()) > options.maxPaths;
    if (isFull && bestCost) {
      best.isBest = false;
      break;
    }

    if (state.steps.empty()) {
      OperatorBatches batches = batchesOf(paths, current);
      LayoutProblem problem =
          layoutProblem(block, batches, options.sharedReads);
      std::optional<Layout> layout;
      if (!path.hasConflicts && !isFull) {
        ++best.layouts;
        layout = findLayoutWithoutConflicts(problem);
        if (!layout) {
          // This path needs at least one more copy, so other paths may be
          // better.
          path.hasConflicts = true;
          path.least = path.least + Cost{1, 0};
          push(path);
          continue;
        }
      } else {
        ++best.layouts;
        layout = findLayout(problem);
      }
      Cost cost{static_cast<int64_t>(batches.size() + layout->copies.size()),
                layout->bytesCopied()};
      if (bestCost && !(cost < *bestCost))
        continue;
      bestCost = cost;
      best.batches = std::move(batches);
      best.layout = *std::move(layout);
      continue;
    }

    for (size_t i = state.steps.size(); i-- > 0;) {
      const State::Step &step = state.steps[i];
      if (path.step &&
          isSwapped(states[paths[path.previous].state], *path.step, step))
        continue;
      Cost cost = path.cost + step.cost;
      push({cost + states[step.next].rest, cost, step.next, current, &step,
            false});
    }
  }
  return best;
}

//===----------------------------------------------------------------------===//
// Blocks and batches
//===----------------------------------------------------------------------===//

std::string batchrt::checkBlock(const StaticBlock &block) {
  std::vector<char> written(block.variables.size(), 0),
      read(block.variables.size(), 0);
  std::map<int32_t, const Operator *> kinds;
  for (size_t o = 0; o < block.operators.size(); ++o) {
    const Operator &op = block.operators[o];
    std::string name = "operator " + std::to_string(o);
    const Operator &same = *kinds.try_emplace(op.kind, &op).first->second;
    if (op.operands.size() != same.operands.size() ||
        op.results.size() != same.results.size())
      return name + " has a different number of operands or results than other "
                    "operators of its kind";
    for (const auto *list : {&op.operands, &op.results})
      for (int32_t variable : *list)
        if (variable < 0 ||
            variable >= static_cast<int32_t>(block.variables.size()))
          return name + " uses variable " + std::to_string(variable) +
                 ", but there are only " +
                 std::to_string(block.variables.size());
    for (int32_t variable : op.operands)
      read[variable] = 1;
    for (int32_t variable : op.results) {
      if (read[variable])
        return "variable " + std::to_string(variable) +
               " is used before operator " + std::to_string(o) + " writes it";
      if (written[variable]++)
        return "variable " + std::to_string(variable) + " is written twice";
    }
  }
  return "";
}

LayoutProblem batchrt::layoutProblem(const StaticBlock &block,
                                     const OperatorBatches &batches,
                                     bool sharedReads) {
  LayoutProblem problem{block.variables, {}, sharedReads};
  for (const OperatorBatch &batch : batches) {
    problem.batches.emplace_back();
    auto &accesses = problem.batches.back().accesses;
    for (int32_t o : batch) {
      const Operator &op = block.operators[o];
      accesses.resize(op.operands.size() + op.results.size());
      for (size_t i = 0; i < op.operands.size(); ++i)
        accesses[i].push_back(op.operands[i]);
      for (size_t i = 0; i < op.results.size(); ++i)
        accesses[op.operands.size() + i].push_back(op.results[i]);
    }
  }
  return problem;
}

Batching batchrt::findBatching(const StaticBlock &block,
                               const BatchingOptions &options) {
  return Search(block, options).run();
}

std::string batchrt::verifyBatches(const StaticBlock &block,
                                   const OperatorBatches &batches) {
  std::vector<int32_t> batchOf(block.operators.size(), -1);
  for (size_t b = 0; b < batches.size(); ++b)
    for (int32_t o : batches[b]) {
      if (o < 0 || o >= static_cast<int32_t>(batchOf.size()) ||
          batchOf[o] != -1)
        return "operator " + std::to_string(o) +
               " runs twice or does not exist";
      if (block.operators[o].kind != block.operators[batches[b][0]].kind)
        return "batch " + std::to_string(b) + " has operators of several kinds";
      batchOf[o] = static_cast<int32_t>(b);
    }
  std::vector<int32_t> writtenBy(block.variables.size(), -1);
  for (size_t o = 0; o < batchOf.size(); ++o) {
    if (batchOf[o] == -1)
      return "operator " + std::to_string(o) + " never runs";
    for (int32_t operand : block.operators[o].operands)
      if (writtenBy[operand] != -1 && batchOf[writtenBy[operand]] >= batchOf[o])
        return "operator " + std::to_string(o) + " runs before its operand " +
               std::to_string(operand) + " is written";
    for (int32_t result : block.operators[o].results)
      writtenBy[result] = static_cast<int32_t>(o);
  }
  return "";
}
