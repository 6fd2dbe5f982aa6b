//===- PoliciesTest.cpp - Tests of batching policies ----------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Batch/Schedule/Policies.h"
#include "Batch/Schedule/Learning.h"
#include "Batch/Schedule/Search.h"
#include "Workloads.h"

#include "gtest/gtest.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <new>

using namespace batchrt;

static std::atomic<int64_t> allocations{0};

// Not inlined: the compiler would pair the halves with the library's.
__attribute__((noinline)) void *operator new(size_t bytes) {
  ++allocations;
  if (void *memory = std::malloc(bytes ? bytes : 1))
    return memory;
  throw std::bad_alloc();
}
// std::stable_sort's, which the sanitizer would have of its own.
__attribute__((noinline)) void *operator new(size_t bytes,
                                             const std::nothrow_t &) noexcept {
  ++allocations;
  return std::malloc(bytes ? bytes : 1);
}
__attribute__((noinline)) void operator delete(void *memory) noexcept {
  std::free(memory);
}
__attribute__((noinline)) void operator delete(void *memory, size_t) noexcept {
  std::free(memory);
}

namespace {
/// Graphs of 0 to 300 tasks of 1 to 9 types.
TaskGraph someGraph(int seed) {
  std::mt19937_64 random(seed);
  int32_t tasks = workloads::below(random, seed % 4 == 0 ? 12 : 300);
  int32_t types = 1 + workloads::below(random, 9);
  return workloads::randomGraph(random, tasks, types, 1 + seed % 4);
}

std::vector<std::string> namesOf(const TaskGraph &graph) {
  std::vector<std::string> names;
  for (int32_t type = 0; type < graph.numTypes; ++type)
    names.push_back("kernel " + std::to_string(type));
  return names;
}

/// By every policy: heuristics, machines of every encoding, one that knows no
/// state.
std::vector<std::pair<std::string, Schedule>>
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
                           scheduler.follow(graph, learned.machine));
    schedules.emplace_back("trimmed", scheduler.trim());
    EXPECT_EQ(learned.batches,
              static_cast<int64_t>(schedules.back().second.batches.size()));
    EXPECT_EQ(learned.bound, lowerBound(graph));
  }
  schedules.emplace_back("unknown", scheduler.follow(graph, StateMachine()));
  return schedules;
}

/// The tree of Fig. 1 of ED-Batch: four words, every inner node has a word on
/// its right. Types: inner nodes and words I, outputs O, a reduction R.
TaskGraph figureOne() {
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

/// The fewest batches, by trying every set of ready tasks of one type.
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

/// What a frontier keeps, computed anew from the set of tasks that ran.
struct Recomputed {
  std::vector<int32_t> ready, remaining, orphans, longestChain;
  std::vector<int64_t> depthSum;
  std::vector<double> urgency; ///< with the best batch after it
  std::vector<bool> lowersBound;

  Recomputed(const TaskGraph &graph, const std::vector<bool> &ran)
      : ready(graph.numTypes), remaining(graph.numTypes),
        orphans(graph.numTypes), longestChain(graph.numTypes),
        depthSum(graph.numTypes), urgency(graph.numTypes),
        lowersBound(graph.numTypes) {
    std::vector<int32_t> depths(graph.size());
    std::vector<double> urgencies(graph.size(), 1);
    std::vector<bool> isReady(graph.size());
    // Types that a task waits for, on any path.
    std::vector<uint64_t> waitsFor(graph.size(), 0);
    for (int32_t task = 0; task < graph.size(); ++task) {
      bool waits = false;
      uint16_t type = graph.types[task];
      for (int32_t o = graph.operandBegin[task];
           o < graph.operandBegin[task + 1]; ++o) {
        int32_t operand = graph.operands[o];
        depths[task] = std::max(depths[task], depths[operand] + 1);
        waits |= !ran[operand];
        waitsFor[task] |= waitsFor[operand];
        if (!ran[operand])
          waitsFor[task] |= uint64_t(1) << graph.types[operand];
      }
      if (ran[task])
        continue;
      isReady[task] = !waits;
      ++remaining[type];
      ready[type] += !waits;
      orphans[type] += !(waitsFor[task] >> type & 1);
      depthSum[type] += depths[task];
    }
    for (int32_t type = 0; type < graph.numTypes; ++type) {
      // The longest chain from each task, tasks of other types between.
      std::vector<int32_t> chains(graph.size(), 0);
      for (int32_t task = graph.size(); task-- > 0;) {
        chains[task] += graph.types[task] == type;
        for (int32_t o = graph.operandBegin[task];
             o < graph.operandBegin[task + 1]; ++o)
          chains[graph.operands[o]] =
              std::max(chains[graph.operands[o]], chains[task]);
      }
      int32_t longest = 0, withLongest = 0, readyWithLongest = 0;
      for (int32_t task = 0; task < graph.size(); ++task)
        if (!ran[task] && graph.types[task] == type)
          longest = std::max(longest, chains[task]);
      for (int32_t task = 0; task < graph.size(); ++task)
        if (!ran[task] && graph.types[task] == type &&
            chains[task] == longest) {
          ++withLongest;
          readyWithLongest += isReady[task];
        }
      longestChain[type] = longest;
      lowersBound[type] = withLongest && withLongest == readyWithLongest;
    }
    for (int32_t task = graph.size(); task-- > 0;)
      for (int32_t o = graph.operandBegin[task];
           o < graph.operandBegin[task + 1]; ++o)
        urgencies[graph.operands[o]] =
            std::max(urgencies[graph.operands[o]], 4.0 / 3 * urgencies[task]);
    for (int32_t type = 0; type < graph.numTypes; ++type) {
      // Of what is ready when all ready tasks of the type ran.
      std::vector<double> after(graph.numTypes, 0);
      for (int32_t task = 0; task < graph.size(); ++task) {
        if (isReady[task] && graph.types[task] == type) {
          urgency[type] += urgencies[task];
          continue;
        }
        bool waits = ran[task];
        for (int32_t o = graph.operandBegin[task];
             o < graph.operandBegin[task + 1]; ++o) {
          const int32_t operand = graph.operands[o];
          waits |= !ran[operand] &&
                   !(isReady[operand] && graph.types[operand] == type);
        }
        if (!waits)
          after[graph.types[task]] += urgencies[task];
      }
      urgency[type] += *std::max_element(after.begin(), after.end());
    }
  }
};

void expectUrgencies(const Frontier &frontier, const Recomputed &expected) {
  for (int32_t type = 0; type < frontier.numTypes(); ++type)
    if (frontier.ready(type)) {
      EXPECT_NEAR(frontier.urgency(type) / expected.urgency[type], 1, 1e-9);
    }
}
} // namespace

TEST(Policies, SchedulesAreLegal) {
  for (int seed = 0; seed < 60; ++seed) {
    TaskGraph graph = someGraph(seed);
    ASSERT_EQ(graph.check(), "");
    int64_t bound = lowerBound(graph);
    for (const auto &[name, schedule] : everySchedule(graph)) {
      EXPECT_EQ(schedule.verify(graph), "") << name << ", seed " << seed;
      EXPECT_GE(static_cast<int64_t>(schedule.batches.size()), bound) << name;
    }
  }
}

// Only 64 types are looked for through others.
TEST(Policies, ManyTypes) {
  std::mt19937_64 random(5);
  TaskGraph graph = workloads::randomGraph(random, 2000, 100, 2);
  for (const auto &[name, schedule] : everySchedule(graph))
    EXPECT_EQ(schedule.verify(graph), "") << name;
}

// Trimming twice saves nothing more than trimming once, mostly: it never adds.
TEST(Policies, Trim) {
  PolicyScheduler scheduler;
  for (int seed = 0; seed < 60; ++seed) {
    TaskGraph graph = someGraph(seed);
    for (bool greedy : {false, true}) {
      Schedule whole =
          greedy ? scheduler.greedy(graph) : scheduler.depth(graph);
      Schedule once = scheduler.trim();
      EXPECT_EQ(once.verify(graph), "") << "seed " << seed;
      EXPECT_LE(once.batches.size(), whole.batches.size());
      Schedule twice = scheduler.trim();
      EXPECT_EQ(twice.verify(graph), "");
      EXPECT_LE(twice.batches.size(), once.batches.size());
    }
  }
  // One batch of outputs in place of four. Words wait for the word before the
  // node that reads them; tasks of a batch keep their order.
  TaskGraph figure = figureOne();
  scheduler.depth(figure);
  Schedule trimmed = scheduler.trim();
  ASSERT_EQ(trimmed.batches.size(), 6u);
  EXPECT_EQ(trimmed.batches[4].type, 1);
  EXPECT_EQ(trimmed.order, (std::vector<int32_t>{0, 1, 4, 2, 5, 3, 6, 7, 8, 9,
                                                 10, 11, 12, 13, 14}));
}

TEST(Policies, DepthIsTopological) {
  for (int seed = 0; seed < 20; ++seed) {
    TaskGraph graph = someGraph(seed);
    std::vector<int32_t> depths(graph.size());
    std::vector<std::pair<int32_t, int32_t>> expected;
    for (int32_t task = 0; task < graph.size(); ++task) {
      for (int32_t o = graph.operandBegin[task];
           o < graph.operandBegin[task + 1]; ++o)
        depths[task] = std::max(depths[task], depths[graph.operands[o]] + 1);
      expected.emplace_back(depths[task], graph.types[task]);
    }
    std::sort(expected.begin(), expected.end());
    expected.erase(std::unique(expected.begin(), expected.end()),
                   expected.end());
    PolicyScheduler scheduler;
    std::vector<std::pair<int32_t, int32_t>> found;
    const Schedule &schedule = scheduler.depth(graph);
    for (const Batch &batch : schedule.batches)
      found.emplace_back(depths[schedule.order[batch.begin]], batch.type);
    EXPECT_EQ(found, expected);
  }
}

TEST(Policies, FigureOne) {
  TaskGraph graph = figureOne();
  PolicyScheduler scheduler;
  EXPECT_EQ(scheduler.depth(graph).batches.size(), 9u);
  const Schedule &agenda = scheduler.agenda(graph);
  ASSERT_EQ(agenda.batches.size(), 7u);
  EXPECT_EQ(agenda.batches[1].type, 1);
  EXPECT_EQ(agenda.batches[5].type, 1);
  EXPECT_EQ(lowerBound(graph), 6);
  const Schedule &greedy = scheduler.greedy(graph);
  ASSERT_EQ(greedy.batches.size(), 6u);
  EXPECT_EQ(greedy.batches[4].type, 1);
  EXPECT_EQ(greedy.batches[4].count, 7);
  for (int e = 0; e < numEncodings; ++e) {
    Learned learned = learn({graph}, {"I", "O", "R"}, static_cast<Encoding>(e));
    EXPECT_EQ(learned.batches, 6) << name(static_cast<Encoding>(e));
  }
  EXPECT_EQ(searchExact(graph).types.size(), 6u);
}

/// Fig. 8: words over a chain of characters. Running each word as soon as it is
/// ready takes a batch for each of the different places.
TEST(Policies, WordsOverCharacters) {
  TaskGraph graph;
  graph.numTypes = 2;
  for (int32_t place = 1; place < 5; ++place) {
    std::vector<int32_t> chain{graph.add(0, {})};
    int32_t word = -1;
    for (int32_t i = 1; i < 8; ++i) {
      if (i == place)
        word = graph.add(1, {chain[0]});
      std::vector<int32_t> reads{chain.back()};
      if (i == 7)
        reads.push_back(word);
      chain.push_back(graph.add(0, reads));
    }
  }
  PolicyScheduler scheduler;
  EXPECT_EQ(lowerBound(graph), 9);
  EXPECT_EQ(scheduler.depth(graph).batches.size(), 9u);
  Learned learned = learn({graph}, {"character", "word"});
  EXPECT_EQ(learned.batches, 9);
}

/// Two chains of the shortest-common-supersequence kind: no policy that sees
/// only counts can tell which type to begin with, the search can.
TEST(Policies, ShortestCommonSupersequence) {
  TaskGraph graph;
  graph.numTypes = 3;
  for (const char *chain : {"abcab", "bcaba"}) {
    int32_t last = -1;
    for (const char *letter = chain; *letter; ++letter)
      last = graph.add(*letter - 'a', last < 0 ? std::vector<int32_t>()
                                               : std::vector<int32_t>{last});
  }
  // abcaba
  Found found = searchExact(graph);
  EXPECT_TRUE(found.optimal);
  EXPECT_EQ(found.types, (std::vector<int32_t>{0, 1, 2, 0, 1, 0}));
  EXPECT_EQ(lowerBound(graph), 5);
}

/// A.4: after one tree network another with the parts of two types swapped. The
/// set of ready types does not tell the two apart, the share that ran does.
TEST(Policies, ShareOfTasksThatRan) {
  TaskGraph graph;
  graph.numTypes = 4;
  // Type d of both keeps the sufficient condition from deciding.
  std::vector<int32_t> before;
  for (int half = 0; half < 2; ++half) {
    int32_t inner = half, output = 1 - half;
    std::vector<int32_t> outputs;
    for (int part = 0; part < 2; ++part) {
      std::vector<int32_t> last = before;
      for (int i = 0; i < 6; ++i) {
        int32_t state = graph.add(inner, last);
        outputs.push_back(graph.add(output, {state}));
        last = {state};
      }
    }
    before = {graph.add(2, outputs)};
  }
  auto batches = [&](Encoding encoding) {
    return learn({graph}, namesOf(graph), encoding).batches;
  };
  int64_t best = searchExact(graph).types.size();
  EXPECT_EQ(best, lowerBound(graph));
  EXPECT_EQ(batches(Encoding::Share), best);
  EXPECT_LE(batches(Encoding::Share), batches(Encoding::Base));
}

TEST(Frontier, KeepsWhatRecomputingFinds) {
  for (int seed = 0; seed < 40; ++seed) {
    TaskGraph graph = someGraph(seed);
    FrontierPlan plan;
    plan.compute(graph, AllFacts);
    Frontier frontier;
    frontier.start(plan);
    std::mt19937_64 random(seed);
    std::vector<bool> ran(graph.size(), false);
    while (!frontier.done()) {
      Recomputed expected(graph, ran);
      int32_t bound = 0;
      std::vector<int32_t> types;
      for (int32_t type = 0; type < graph.numTypes; ++type) {
        ASSERT_EQ(frontier.ready(type), expected.ready[type]);
        ASSERT_EQ(frontier.remaining(type), expected.remaining[type]);
        ASSERT_EQ(frontier.orphans(type), expected.orphans[type]);
        ASSERT_EQ(frontier.depthSum(type), expected.depthSum[type]);
        ASSERT_EQ(frontier.longestChain(type), expected.longestChain[type]);
        ASSERT_EQ(frontier.lowersBound(type), expected.lowersBound[type]);
        bound += expected.longestChain[type];
        if (frontier.ready(type))
          types.push_back(type);
      }
      ASSERT_EQ(frontier.bound(), bound);
      expectUrgencies(frontier, expected);
      int32_t greedy = pickByRatio(frontier);
      for (int32_t type : types)
        ASSERT_LE(expected.ready[type] * expected.orphans[greedy],
                  expected.ready[greedy] * expected.orphans[type]);
      Batch batch = frontier.commit(
          random() % 2 ? greedy
                       : types[workloads::below(
                             random, static_cast<int32_t>(types.size()))]);
      for (int32_t i = batch.begin; i < batch.begin + batch.count; ++i)
        ran[frontier.order()[i]] = true;
    }
  }
}

TEST(Frontier, DirectRatios) {
  for (int seed = 0; seed < 20; ++seed) {
    TaskGraph graph = someGraph(seed);
    FrontierPlan plan;
    plan.compute(graph, Ratios | Urgencies);
    Frontier frontier;
    frontier.start(plan);
    std::vector<bool> ran(graph.size(), false);
    while (!frontier.done()) {
      std::vector<int32_t> orphans(graph.numTypes);
      for (int32_t task = 0; task < graph.size(); ++task) {
        bool waits = false;
        for (int32_t o = graph.operandBegin[task];
             o < graph.operandBegin[task + 1]; ++o)
          waits |= !ran[graph.operands[o]] &&
                   graph.types[graph.operands[o]] == graph.types[task];
        orphans[graph.types[task]] += !ran[task] && !waits;
      }
      Recomputed expected(graph, ran);
      for (int32_t type = 0; type < graph.numTypes; ++type) {
        ASSERT_EQ(frontier.orphans(type), orphans[type]);
        ASSERT_GE(frontier.orphans(type), expected.orphans[type]);
      }
      expectUrgencies(frontier, expected);
      Batch batch = frontier.commit(pickByRatio(frontier));
      for (int32_t i = batch.begin; i < batch.begin + batch.count; ++i)
        ran[frontier.order()[i]] = true;
    }
  }
}

// So far from the end that powers are no numbers any more.
TEST(Frontier, UrgencyOfLongPaths) {
  TaskGraph graph;
  graph.numTypes = 2;
  for (int chain = 0; chain < 3; ++chain)
    for (int32_t i = 0, last = -1; i < 20000; ++i)
      last = graph.add((i + chain) % 2, last < 0 ? std::vector<int32_t>()
                                                 : std::vector<int32_t>{last});
  FrontierPlan plan;
  plan.compute(graph, Ratios | Urgencies);
  Frontier frontier;
  frontier.start(plan);
  while (!frontier.done()) {
    int32_t type = frontier.ready(0) > frontier.ready(1) ? 0 : 1;
    EXPECT_TRUE(std::isfinite(frontier.urgency(type)));
    EXPECT_GE(frontier.urgency(type), frontier.urgency(1 - type));
    frontier.commit(type);
  }
}

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

TEST(Learning, Workloads) {
  workloads::Structures structures;
  workloads::fillIn(structures, 1, 600);
  PolicyScheduler scheduler;
  for (const workloads::Workload &workload : workloads::all()) {
    SCOPED_TRACE(workload.name);
    std::vector<TaskGraph> graphs;
    for (int32_t size : learntBatches)
      for (int32_t first = 0; first < learntInstances; first += size)
        graphs.push_back(workloads::make(workload, structures, first, size, 1));
    Learned learned = learn(graphs, workload.types);
    // Learnt from 32 instances, followed on others.
    for (size_t size : {1, 8, 32, 64, 256}) {
      TaskGraph graph = workloads::make(workload, structures, 300, size, 2);
      ASSERT_EQ(graph.check(), "");
      double bound = static_cast<double>(lowerBound(graph));
      const Schedule &schedule =
          scheduler.run(Policy::Machine, graph, learned.machine);
      EXPECT_EQ(schedule.verify(graph), "");
      double batches = static_cast<double>(schedule.batches.size());
      std::string kind = workload.kind;
      // Of these lattices the beam's share is up to 1.15.
      double factor = kind == "lattices" ? 1.2
                      : kind == "2type"  ? 1.25
                      : kind == "2cells" ? 1.4
                                         : 1;
      EXPECT_LE(batches, bound * factor) << "batch " << size;
      double found = static_cast<double>(searchBeam(graph, 16).types.size());
      double share = size == 32 || size == 256 ? 1.02 : 1.03;
      EXPECT_LE(batches, std::max(found + 1, found * share))
          << "batch " << size;
      EXPECT_LE(batches, scheduler.depth(graph).batches.size());
      EXPECT_LE(batches, scheduler.agenda(graph).batches.size());
    }
  }
}

TEST(Learning, SameSeedSameMachine) {
  workloads::Structures structures;
  workloads::fillIn(structures, 5, 32);
  const workloads::Workload &workload = workloads::all().back();
  TaskGraph graph = workloads::make(workload, structures, 0, 8, 1);
  for (Encoding encoding : {Encoding::Sort, Encoding::Urgency}) {
    std::string first =
        learn({graph}, workload.types, encoding).machine.print();
    EXPECT_EQ(learn({graph}, workload.types, encoding).machine.print(), first);
    EXPECT_NE(first.find("state"), std::string::npos);
    LearningOptions other;
    other.seed = 2;
    Learned learned = learn({graph}, workload.types, encoding, other);
    EXPECT_EQ(learned.machine.types(), workload.types);
  }
}

// What is learnt replaces the first table only where it saves more than chance
// would: without that condition it makes fewer batches of the graphs that it
// knows.
TEST(Learning, DoubtsChance) {
  workloads::Structures structures;
  workloads::fillIn(structures, 3, 32);
  const std::vector<workloads::Workload> &all = workloads::all();
  auto workload = std::find_if(all.begin(), all.end(), [](const auto &item) {
    return item.kind == std::string("2cells");
  });
  TaskGraph graph = workloads::make(*workload, structures, 0, 32, 1);
  LearningOptions options;
  auto batches = [&] {
    return learn({graph}, workload->types, Encoding::Urgency, options).batches;
  };
  options.trials = 0;
  int64_t first = batches();
  options.trials = 300;
  EXPECT_EQ(batches(), first);
  options.deviations = 0;
  EXPECT_LT(batches(), first);
}

TEST(Learning, SeveralGraphs) {
  std::vector<TaskGraph> graphs{figureOne(), TaskGraph(), figureOne()};
  graphs[1].numTypes = 3;
  Learned learned = learn(graphs, {"I", "O", "R"});
  EXPECT_EQ(learned.bound, 12);
  EXPECT_EQ(learned.batches, 12);
}

TEST(PolicyScheduler, NoAllocationsAfterTheFirstRun) {
  workloads::Structures structures;
  workloads::fillIn(structures, 5, 64);
  for (const workloads::Workload &workload : workloads::all()) {
    TaskGraph graph = workloads::make(workload, structures, 0, 16, 1);
    LearningOptions options;
    options.trials = 10;
    StateMachine urgency =
        learn({graph}, workload.types, Encoding::Urgency, options).machine;
    StateMachine share =
        learn({graph}, workload.types, Encoding::Share, options).machine;
    PolicyScheduler scheduler;
    auto runAll = [&] {
      scheduler.depth(graph);
      scheduler.agenda(graph);
      scheduler.run(Policy::Greedy, graph, urgency);
      scheduler.run(Policy::Machine, graph, urgency);
      scheduler.run(Policy::Machine, graph, share);
    };
    runAll();
    size_t bytes = scheduler.bytes();
    int64_t before = allocations;
    runAll();
    EXPECT_EQ(allocations, before) << workload.name;
    EXPECT_EQ(scheduler.bytes(), bytes) << workload.name;
  }
}

// A state that the table does not have: the greedy rule decides, counted.
TEST(PolicyScheduler, UnknownStates) {
  std::mt19937_64 random(7);
  TaskGraph graph = workloads::randomGraph(random, 200, 4, 2);
  FrontierPlan plan;
  plan.compute(graph, Ratios);
  Frontier frontier;
  frontier.start(plan);
  std::vector<int32_t> types;
  int64_t decisions = 0;
  while (!frontier.done()) {
    types.push_back(pickSufficient(frontier));
    if (types.back() < 0) {
      types.back() = pickByRatio(frontier);
      ++decisions;
    }
    frontier.commit(types.back());
  }
  PolicyScheduler scheduler;
  const Schedule &schedule =
      scheduler.follow(graph, StateMachine(Encoding::Sort, namesOf(graph)));
  ASSERT_EQ(schedule.batches.size(), types.size());
  for (size_t b = 0; b < types.size(); ++b)
    EXPECT_EQ(schedule.batches[b].type, types[b]) << "batch " << b;
  EXPECT_EQ(scheduler.unknownStates(), decisions);
  EXPECT_GT(decisions, 0);
  for (int e = 0; e < numEncodings; ++e) {
    scheduler.follow(
        graph,
        learn({graph}, namesOf(graph), static_cast<Encoding>(e)).machine);
    EXPECT_EQ(scheduler.unknownStates(), 0) << name(static_cast<Encoding>(e));
  }
}

TEST(StateMachine, RoundTrip) {
  for (int seed = 0; seed < 30; ++seed) {
    TaskGraph graph = someGraph(seed);
    LearningOptions options;
    options.trials = 10;
    for (int e = 0; e < numEncodings; ++e) {
      StateMachine machine =
          learn({graph}, namesOf(graph), static_cast<Encoding>(e), options)
              .machine;
      std::string text = machine.print();
      StateMachine read;
      ASSERT_EQ(read.parse(text, "file"), "");
      EXPECT_EQ(read.print(), text);
      EXPECT_EQ(read.types(), namesOf(graph));
      EXPECT_EQ(read.states(), machine.states());
      PolicyScheduler scheduler;
      size_t batches = scheduler.follow(graph, machine).batches.size();
      EXPECT_EQ(scheduler.follow(graph, read).batches.size(), batches);
    }
  }
}

TEST(StateMachine, MalformedFiles) {
  const std::string good = "batch-policy 1\n"
                           "encoding sort\n"
                           "kernel leaf\n"
                           "kernel inner node\n"
                           "state 0 1 : 1\n"
                           "state 1 0 : 0\n"
                           "end\n";
  StateMachine machine;
  ASSERT_EQ(machine.parse(good, "f"), "");
  EXPECT_EQ(machine.print(), good);
  auto replaced = [&](const std::string &from, const std::string &to) {
    std::string text = good;
    size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos);
    return text.replace(at, from.size(), to);
  };
  const std::pair<std::string, std::string> cases[] = {
      {"", "f:1: the file ends before 'end'"},
      {"{}\n", "f:1: expected 'batch-policy', found '{}'"},
      {replaced("policy 1", "policy 2"),
       "f:1: version 2 is not known, only version 1 is"},
      {replaced("sort", "graph"),
       "f:2: there is no encoding 'graph'; encodings are base, max, sort, "
       "share and urgency"},
      {replaced("inner node", "leaf"), "f:4: kernel 'leaf' is there twice"},
      {replaced("kernel leaf", "kernel"), "f:3: a kernel without a name"},
      {replaced("0 1 : 1", "0 2 : 0"), "f:5: there is no kernel 2, only 2"},
      {replaced("0 1 : 1", "0 -1 : 0"), "f:5: expected a number, found '-1'"},
      {replaced("0 1 : 1", "0 1 1"), "f:5: expected 'state KERNELS : KERNEL'"},
      {replaced("0 1 : 1", ": 1"), "f:5: expected 'state KERNELS : KERNEL'"},
      {replaced("0 1 : 1", "0 0 : 0"), "f:5: kernel 0 is ready twice"},
      {replaced("0 1 : 1", "0 : 1"), "f:5: kernel 1 is not ready"},
      {replaced("1 0 : 0", "0 1 : 0"), "f:6: the state is there twice"},
      {replaced("end", "ende"), "f:7: expected 'state' or 'end', found 'ende'"},
      {replaced("end\n", ""), "f:7: the file ends before 'end'"},
      {good + "more\n", "f:8: text after 'end'"},
      {replaced("sort", "share"),
       "f:5: kernel 1 is not ready"}, // 0, and an eighth of all tasks
      {replaced("sort", "urgency"), "f:5: kernel 1 is not ready"}, // named
      {replaced("sort", "base"), "f:6: kernels are not in the order of their "
                                 "numbers"},
  };
  for (const auto &[text, message] : cases)
    EXPECT_EQ(machine.parse(text, "f"), message);
  EXPECT_EQ(machine.print(), good);
}

TEST(StateMachine, OtherNumbersOfKernels) {
  StateMachine machine(Encoding::Base, {"a", "b"});
  machine.set({0, 1}, 0);
  EXPECT_EQ(machine.renumber({"b", "c"}),
            "the policy is for another program: there is no kernel 'a'; learn "
            "it from this one");
  EXPECT_EQ(machine.next({0, 1}), 0);
  EXPECT_EQ(machine.renumber({"c", "b", "a"}), "");
  EXPECT_EQ(machine.next({1, 2}), 2);
  EXPECT_EQ(machine.next({0, 1}), -1);
  StateMachine max(Encoding::Max, {"a", "b"});
  max.set({0, 1, 1}, 0);
  EXPECT_EQ(max.renumber({"b", "a"}), "");
  EXPECT_EQ(max.next({0, 1, 0}), 1);
  StateMachine urgency(Encoding::Urgency, {"a", "b"});
  urgency.set({0, 1, 1}, 1);
  EXPECT_EQ(urgency.renumber({"c", "b", "a"}), "");
  EXPECT_EQ(urgency.next({1, 2, 1}), 1);
  StateMachine share(Encoding::Share, {"a", "b"});
  share.set({1, 0, 7}, 0);
  EXPECT_EQ(share.renumber({"b", "a"}), "");
  EXPECT_EQ(share.next({0, 1, 7}), 1);
}

TEST(TaskGraph, Check) {
  TaskGraph graph = figureOne();
  EXPECT_EQ(graph.check(), "");
  TaskGraph two = figureOne();
  two.append(graph);
  EXPECT_EQ(two.check(), "");
  EXPECT_EQ(two.size(), 2 * graph.size());
  EXPECT_EQ(lowerBound(two), lowerBound(graph));
  graph.operands[0] = 4;
  EXPECT_EQ(graph.check(), "task 4 reads task 4, which is not before it");
  graph = figureOne();
  graph.types[2] = 3;
  EXPECT_EQ(graph.check(), "task 2 has type 3 of 3");
  graph = figureOne();
  graph.operandBegin[6] = 1;
  EXPECT_EQ(graph.check(), "task 5 has its operands before those of the last");
  graph.operandBegin.pop_back();
  EXPECT_EQ(graph.check(), "operands do not begin and end where the tasks' do");
  graph.numTypes = TaskGraph::maxTypes + 1;
  EXPECT_EQ(graph.check(), "4097 types, 4096 is the most");
}

TEST(Schedule, Verify) {
  TaskGraph graph;
  graph.numTypes = 2;
  graph.add(0, {});
  graph.add(0, {});
  graph.add(1, {0, 1});
  Schedule good{{0, 1, 2}, {{0, 0, 2}, {1, 2, 1}}};
  EXPECT_EQ(good.verify(graph), "");
  using Batches = std::vector<Batch>;
  auto broken = [&](const Batches &batches, std::vector<int32_t> order) {
    return Schedule{std::move(order), batches}.verify(graph);
  };
  EXPECT_EQ(broken({{1, 2, 1}, {0, 0, 2}}, {0, 1, 2}),
            "task 2 runs before its operand 0");
  EXPECT_EQ(broken({{0, 0, 2}}, {0, 1, 2}), "task 2 never runs");
  EXPECT_EQ(broken({{0, 0, 2}, {0, 1, 1}}, {0, 1, 2}), "task 1 runs twice");
  EXPECT_EQ(broken({{0, 0, 3}}, {0, 1, 2}),
            "batch 0 has task 2 of another type");
  EXPECT_EQ(broken({{0, 0, 0}}, {0, 1, 2}), "batch 0 is empty");
  EXPECT_EQ(broken({{0, 2, 2}}, {0, 1, 2}),
            "batch 0 has tasks beyond the order");
  EXPECT_EQ(broken({{0, 0, 1}}, {7, 1, 2}),
            "batch 0 has task 7, which is not there");
}
