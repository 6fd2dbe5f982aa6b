//===- Frontier.cpp - The tasks that can run next -------------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "batch-runtime/Schedule/Frontier.h"

using namespace batchrt;

void FrontierPlan::compute(const TaskGraph &graph, unsigned wanted) {
  tasks = &graph;
  // Only these sets of facts have specialized code; all other sets use the code
  // for AllFacts.
  const unsigned sets[] = {OnlyReady,          Ratios, Ratios | Cycles,
                           Ratios | Urgencies, Depths, Chains};
  bool ownCode =
      std::find(std::begin(sets), std::end(sets), wanted) != std::end(sets);
  facts = ownCode ? wanted : unsigned(AllFacts);
  typeBegin.assign(graph.numTypes + 1, 0);
  for (uint16_t type : graph.types)
    ++typeBegin[type + 1];
  for (int32_t type = 0; type < graph.numTypes; ++type)
    typeBegin[type + 1] += typeBegin[type];
  findNodes();
  if (facts & Cycles)
    findCycles();
  if (facts & Depths)
    findDepths();
  if (facts & Urgencies)
    findUrgencies();
  if (facts & Chains)
    findChains();
}

void FrontierPlan::findNodes() {
  const int32_t size = tasks->size();
  const int32_t *begin = tasks->operandBegin.data();
  const int32_t *operands = tasks->operands.data();
  const uint16_t *types = tasks->types.data();
  nodes.resize(size);
  independent.assign(tasks->numTypes, 0);
  consumers.resize(tasks->operands.size());
  // Counts are stored one entry later, so `consumerBegin` contains the
  // beginnings once `consumers` is filled in.
  consumerBegin.assign(size + 2, 0);
  int32_t *next = consumerBegin.data() + 1;
  for (int32_t o = 0, end = begin[size]; o < end; ++o)
    ++next[operands[o] + 1];
  for (int32_t task = 0; task < size; ++task)
    next[task + 1] += next[task];
  for (int32_t task = 0; task < size; ++task) {
    const int32_t type = types[task], count = begin[task + 1] - begin[task];
    int32_t sameType = 0;
    for (int32_t o = begin[task]; o < begin[task + 1]; ++o) {
      consumers[next[operands[o]]++] = task;
      sameType += types[operands[o]] == type;
    }
    nodes[task] = {type, count, sameType, count};
    independent[type] += sameType == 0;
  }
}

/// Returns the bit that represents a type in sets of types on a cycle, or 0 if
/// the type's number is 64 or more.
static uint64_t bitOf(int32_t type) {
  return type < 64 ? uint64_t(1) << type : 0;
}

/// Computes reachability between types, as if all tasks of a type were one
/// node.
void FrontierPlan::findTypesOnCycles() {
  const int32_t numTypes = std::min(tasks->numTypes, 64);
  const uint16_t *types = tasks->types.data();
  onCycle.assign(tasks->numTypes, 0);
  numOnCycle.assign(tasks->numTypes, 0);
  std::vector<uint64_t> &below = onCycle;
  for (int32_t task = 0, o = 0; task < tasks->size(); ++task) {
    uint64_t bit = bitOf(types[task]);
    for (int32_t end = tasks->operandBegin[task + 1]; o < end; ++o)
      below[types[tasks->operands[o]]] |= bit;
  }
  for (int32_t through = 0; through < numTypes; ++through)
    for (int32_t type = 0; type < numTypes; ++type)
      if (below[type] >> through & 1)
        below[type] |= below[through];
  uint64_t above[64] = {};
  for (int32_t type = 0; type < numTypes; ++type)
    for (uint64_t left = below[type]; left; left &= left - 1)
      above[__builtin_ctzll(left)] |= bitOf(type);
  counterNumbers.assign(size_t(counterColumns) * tasks->numTypes, -1);
  for (int32_t type = 0; type < tasks->numTypes; ++type) {
    onCycle[type] = type < 64 ? below[type] & above[type] & ~bitOf(type) : 0;
    int8_t counter = 0;
    for (uint64_t left = onCycle[type]; left; left &= left - 1)
      counterNumbers[type * counterColumns + __builtin_ctzll(left)] = counter++;
    numOnCycle[type] = counter;
  }
}

void FrontierPlan::findCycles() {
  findTypesOnCycles();
  const int32_t size = tasks->size();
  int32_t pairs = 0;
  for (int32_t type = 0; type < tasks->numTypes; ++type)
    pairs += (typeBegin[type + 1] - typeBegin[type]) * numOnCycle[type];
  cycleCounts.assign(pairs, 0);
  if (pairs == 0)
    return;
  cycleBegin.resize(size);
  waitsFor.resize(size);
  independent.assign(tasks->numTypes, 0);
  int32_t nextPair = 0;
  for (int32_t task = 0, o = 0; task < size; ++task) {
    Node &node = nodes[task];
    const int32_t type = node.type, end = tasks->operandBegin[task + 1];
    if (type >= 64) {
      o = end;
      waitsFor[task] = 0;
    } else {
      const uint64_t cycleTypes = onCycle[type];
      uint64_t waits = 0;
      const int8_t *counterOf = counterNumbers.data() + type * counterColumns;
      int32_t *counts = cycleCounts.data() + nextPair;
      cycleBegin[task] = nextPair;
      nextPair += numOnCycle[type];
      node.sameType = 0;
      for (; o < end; ++o) {
        uint64_t types = waitsFor[tasks->operands[o]];
        node.sameType += types >> type & 1;
        waits |= types;
        for (uint64_t left = types & cycleTypes; left; left &= left - 1)
          ++counts[counterOf[__builtin_ctzll(left)]];
      }
      waitsFor[task] = (waits & cycleTypes) | bitOf(type);
    }
    independent[type] += node.sameType == 0;
  }
}

void FrontierPlan::findDepths() {
  const int32_t size = tasks->size();
  depths.resize(size);
  depthSums.assign(tasks->numTypes, 0);
  for (int32_t task = 0; task < size; ++task) {
    int32_t depth = 0;
    for (int32_t o = tasks->operandBegin[task];
         o < tasks->operandBegin[task + 1]; ++o)
      depth = std::max(depth, depths[tasks->operands[o]] + 1);
    depths[task] = depth;
    depthSums[tasks->types[task]] += depth;
  }
}

void FrontierPlan::findUrgencies() {
  // Maximum urgency. Its sum over the largest possible number of tasks is
  // finite. Tasks that reach this maximum are all equally urgent.
  constexpr double most = 1e290;
  const int32_t *begin = tasks->operandBegin.data();
  const int32_t *operands = tasks->operands.data();
  const uint16_t *types = tasks->types.data();
  urgencyNodes.assign(tasks->size(), {1, 0});
  UrgencyNode *const all = urgencyNodes.data();
  for (int32_t task = tasks->size(); task-- > 0;) {
    const double above = std::min(4.0 / 3 * all[task].urgency, most);
    uint64_t waitsFor = 0;
    for (int32_t o = begin[task], end = begin[task + 1]; o < end; ++o) {
      const int32_t operand = operands[o];
      waitsFor += typeCode(types[operand]);
      all[operand].urgency = std::max(all[operand].urgency, above);
    }
    all[task].waitsFor = waitsFor;
  }
}

void FrontierPlan::findChains() {
  const int32_t size = tasks->size(), numTypes = tasks->numTypes;
  chain.resize(size);
  // For each task and type: the longest chain of that type below the task. Rows
  // are padded to whole vectors.
  const int32_t width = (numTypes + 3) / 4 * 4;
  rows.assign(static_cast<size_t>(size) * width, 0);
  chainBegin.assign(numTypes + 1, 0);
  int32_t *longest = chainBegin.data() + 1;
  for (int32_t task = size; task-- > 0;) {
    int32_t *row = rows.data() + static_cast<size_t>(task) * width;
    uint16_t type = tasks->types[task];
    int32_t length = ++row[type];
    chain[task] = length;
    longest[type] = std::max(longest[type], length);
    for (int32_t o = tasks->operandBegin[task];
         o < tasks->operandBegin[task + 1]; ++o) {
      int32_t *above =
          rows.data() + static_cast<size_t>(tasks->operands[o]) * width;
      for (int32_t i = 0; i < width; ++i)
        above[i] = std::max(above[i], row[i]);
    }
  }
  for (int32_t type = 0; type < numTypes; ++type)
    chainBegin[type + 1] += chainBegin[type] + 1;
  chainCounts.assign(chainBegin[numTypes], 0);
  for (int32_t task = 0; task < size; ++task)
    ++chainCounts[chainBegin[tasks->types[task]] + chain[task]];
}

size_t FrontierPlan::bytes() const {
  return reserved(consumerBegin) + reserved(consumers) + reserved(typeBegin) +
         reserved(nodes) + reserved(independent) + reserved(onCycle) +
         reserved(counterNumbers) + reserved(numOnCycle) + reserved(waitsFor) +
         reserved(cycleCounts) + reserved(cycleBegin) + reserved(depths) +
         reserved(depthSums) + reserved(chain) + reserved(chainBegin) +
         reserved(chainCounts) + reserved(rows);
}

void Frontier::start(const FrontierPlan &newPlan, unsigned newFacts) {
  plan = &newPlan;
  facts = newFacts;
  const TaskGraph &graph = plan->graph();
  left = graph.size();
  tasks.resize(left);
  head.assign(plan->typeBegin.begin(), plan->typeBegin.end() - 1);
  tail = head;
  nodes = plan->nodes;
  if (facts & Ratios) {
    independentCounts = plan->independent;
    cycleCounts = plan->cycleCounts;
  }
  if (facts & Depths)
    depthSums = plan->depthSums;
  if (facts & Urgencies) {
    successorTypes = std::min(graph.numTypes, 64);
    urgencyNodes = plan->urgencyNodes;
    urgencies.assign(graph.numTypes, 0);
    successors.assign(successorTypes * successorTypes, 0);
  }
  if (facts & Chains) {
    chainLeft = plan->chainCounts;
    chainReady.assign(chainLeft.size(), 0);
    longest.resize(graph.numTypes);
    chainSum = 0;
    for (int32_t type = 0; type < graph.numTypes; ++type) {
      longest[type] = plan->chainBegin[type + 1] - plan->chainBegin[type] - 1;
      chainSum += longest[type];
    }
  }
  for (int32_t task = 0; task < left; ++task)
    if (nodes[task].pending == 0)
      makeReady(task);
}

void Frontier::makeReady(int32_t task) {
  int32_t type = nodes[task].type;
  tasks[tail[type]++] = task;
  if (facts & Urgencies)
    addUrgency(task);
  if (facts & Chains)
    ++chainReady[plan->chainBegin[type] + plan->chain[task]];
}

/// Counts a task that became ready, and the tasks that now wait only for ready
/// tasks of its type.
inline void Frontier::addUrgency(int32_t task) {
  const int32_t *consumers = plan->consumers.data();
  FrontierPlan::Node *const all = nodes.data();
  const FrontierPlan::UrgencyNode *const urgencyNode = urgencyNodes.data();
  const int32_t type = all[task].type;
  const uint64_t code = FrontierPlan::typeCode(type);
  urgencies[type] += urgencyNode[task].urgency;
  for (int32_t c = plan->consumerBegin[task],
               end = plan->consumerBegin[task + 1];
       c < end; ++c) {
    const int32_t consumer = consumers[c];
    if (--all[consumer].unready == 0 &&
        urgencyNode[consumer].waitsFor == all[consumer].pending * code)
      addSuccessor(consumer, type);
  }
}

/// Checks a task after an operand of type `type` has run. The other operands
/// have run or are ready; those that are ready may now all have the same type.
inline void Frontier::checkSuccessor(int32_t task, int32_t type) {
  const uint64_t waitsFor = urgencyNodes[task].waitsFor;
  const uint32_t count = nodes[task].pending;
  if (waitsFor == count * FrontierPlan::typeCode(type))
    return;
  const uint32_t other = static_cast<uint32_t>(waitsFor) / count;
  if (waitsFor == count * FrontierPlan::typeCode(other))
    addSuccessor(task, other);
}

/// Counts a task that waits only for ready tasks of a type.
inline void Frontier::addSuccessor(int32_t task, int32_t type) {
  const int32_t own = nodes[task].type;
  if (own < successorTypes && type < successorTypes)
    successors[type * successorTypes + own] += urgencyNodes[task].urgency;
}

double Frontier::urgency(int32_t type) const {
  double after = 0;
  for (int32_t next = 0; next < numTypes(); ++next) {
    // The batch of `type` has run all ready tasks of this type.
    double sum = next == type ? 0 : urgencies[next];
    if (type < successorTypes && next < successorTypes)
      sum += successors[type * successorTypes + next];
    after = std::max(after, sum);
  }
  return urgencies[type] + after;
}

Batch Frontier::commit(int32_t type, int32_t end) {
  Batch batch{type, head[type], end - head[type]};
  left -= batch.count;
  // All ready tasks run, and tasks that become ready are counted anew.
  if (facts & Urgencies) {
    urgencies[type] = 0;
    if (type < successorTypes)
      std::fill_n(successors.begin() + type * successorTypes, successorTypes,
                  0);
  }
  switch (facts) {
  case OnlyReady:
    commitTasks<OnlyReady>(type, end);
    break;
  case Ratios:
    commitTasks<Ratios>(type, end);
    break;
  case Ratios | Cycles:
    commitTasks<Ratios | Cycles>(type, end);
    break;
  case Ratios | Urgencies:
    commitTasks<Ratios | Urgencies>(type, end);
    break;
  case Depths:
    commitTasks<Depths>(type, end);
    break;
  case Chains:
    commitTasks<Chains>(type, end);
    break;
  default:
    commitTasks<AllFacts>(type, end);
    break;
  }
  if (facts & Chains) {
    const int32_t *counts = chainLeft.data() + plan->chainBegin[type];
    while (longest[type] && counts[longest[type]] == 0) {
      --longest[type];
      --chainSum;
    }
  }
  return batch;
}

/// Updates the readers of a task that no longer waits for a type.
void Frontier::stopWaiting(int32_t task, int32_t type) {
  work.clear();
  for (;;) {
    for (int32_t c = plan->consumerBegin[task];
         c < plan->consumerBegin[task + 1]; ++c) {
      FrontierPlan::Node &node = nodes[plan->consumers[c]];
      int32_t counter = plan->cycleCounter(node.type, type);
      if (node.type == type)
        independentCounts[type] += --node.sameType == 0;
      else if (counter >= 0 &&
               --cycleCounts[plan->cycleBegin[plan->consumers[c]] + counter] ==
                   0)
        work.push_back(plan->consumers[c]);
    }
    if (work.empty())
      return;
    task = work.back();
    work.pop_back();
  }
}

template <unsigned facts>
void Frontier::commitTasks(int32_t type, int32_t end) {
  // Use local copies: otherwise, the stores would force the loops to reload
  // them.
  const int32_t *consumerBegin = plan->consumerBegin.data();
  const int32_t *consumers = plan->consumers.data();
  const int32_t *chain = plan->chain.data();
  const int32_t *chainBegin = plan->chainBegin.data();
  const int8_t *counterOf = plan->counterNumbers.data(); // see cycleCounter()
  const int32_t counterColumn = std::min(type, 64);
  int32_t *const counters = cycleCounts.data();
  FrontierPlan::Node *const all = nodes.data();
  int32_t *const order = tasks.data(), *const tails = tail.data();
  const int32_t *cycleBegin = plan->cycleBegin.data();
  FrontierPlan::UrgencyNode *const urgencyNode = urgencyNodes.data();
  const uint64_t code = FrontierPlan::typeCode(type);
  int32_t newlyIndependent = 0;
  for (int32_t i = head[type]; i < end; ++i) {
    int32_t task = order[i];
    if constexpr (facts & Depths)
      depthSums[type] -= plan->depths[task];
    if constexpr (facts & Chains) {
      --chainLeft[chainBegin[type] + chain[task]];
      --chainReady[chainBegin[type] + chain[task]];
    }
    for (int32_t c = consumerBegin[task], last = consumerBegin[task + 1];
         c < last; ++c) {
      int32_t consumer = consumers[c];
      FrontierPlan::Node &node = all[consumer];
      if constexpr (facts & Ratios) {
        if (node.type == type)
          newlyIndependent += --node.sameType == 0;
        else if constexpr (facts & Cycles)
          if (int32_t counter =
                  counterOf[node.type * FrontierPlan::counterColumns +
                            counterColumn];
              counter >= 0 && --counters[cycleBegin[consumer] + counter] == 0)
            stopWaiting(consumer, type);
      }
      if constexpr (facts & Urgencies)
        urgencyNode[consumer].waitsFor -= code;
      if (--node.pending != 0) {
        if constexpr (facts & Urgencies)
          if (node.unready == 0)
            checkSuccessor(consumer, type);
        continue;
      }
      order[tails[node.type]++] = consumer;
      if constexpr (facts & Urgencies)
        addUrgency(consumer);
      if constexpr (facts & Chains)
        ++chainReady[chainBegin[node.type] + chain[consumer]];
    }
  }
  if constexpr (facts & Ratios)
    independentCounts[type] += newlyIndependent - (end - head[type]);
  head[type] = end;
}

size_t Frontier::bytes() const {
  return reserved(nodes) + reserved(tasks) + reserved(head) + reserved(tail) +
         reserved(independentCounts) + reserved(cycleCounts) + reserved(work) +
         reserved(depthSums) + reserved(urgencies) + reserved(successors) +
         reserved(chainLeft) + reserved(chainReady) + reserved(longest);
}
