//===- policies.cpp - Batches and times of every policy -------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// batch-policies [--data=FOLDER] [--batches=32,256] [--beam=N] [--exact=N]
// [--runs=N] [--workloads=A,B]: prints one JSON object. State machines learn
// from 32 instances, in mini-batches of 32, 16 and 8, and are measured on other
// instances. Structures are read from files in a folder, if present
// (README.md). Otherwise, they are generated from a seed.
//
//===----------------------------------------------------------------------===//

#include "batch-runtime/Schedule/Policies.h"
#include "Workloads.h"
#include "batch-runtime/Schedule/Learning.h"
#include "batch-runtime/Schedule/Search.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <functional>
#include <iostream>
#include <sstream>

using namespace batchrt;
using namespace workloads;
using Json = nlohmann::ordered_json;

namespace {

[[noreturn]] void fail(const std::string &message) {
  std::cerr << "batch-policies: " << message << "\n";
  std::exit(1);
}

/// Returns processor time, because other processes may share this machine.
double seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

/// Structures to learn from, and other structures to measure.
struct Data {
  Structures training, measured;
};

/// Returns the lines of a file, or none if it does not exist.
std::vector<std::string> readLines(const std::string &file) {
  std::vector<std::string> lines;
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);)
    lines.push_back(line);
  return lines;
}

/// Parses a tree such as (3 (2 It) (4 ...)). A bracket without inner brackets
/// is a leaf.
Tree parseTree(const std::string &line) {
  Tree tree;
  std::vector<std::vector<int32_t>> open;
  for (char c : line) {
    if (c == '(')
      open.emplace_back();
    if (c != ')')
      continue;
    if (open.empty())
      fail("a tree has an unmatched ')'");
    std::vector<int32_t> children = open.back();
    open.pop_back();
    if (children.size() == 1 || children.size() > 2)
      fail("a tree is not binary");
    if (children.empty())
      tree.push_back({-1, -1});
    else
      tree.push_back({children[0], children[1]});
    if (!open.empty())
      open.back().push_back(static_cast<int32_t>(tree.size()) - 1);
  }
  return tree;
}

Lattice parseLattice(const std::string &line) {
  Json json = Json::parse(line);
  Lattice lattice{json.at("n_chars"), {}};
  for (const Json &word : json.at("words"))
    lattice.words.push_back({word.at(0), word.at(1)});
  return lattice;
}

std::array<int32_t, 2> parsePair(const std::string &line) {
  Json json = Json::parse(line);
  return {json.at(0), json.at(1)};
}

/// Appends the parsed lines of a file.
template <class T, class Parse>
void readInto(std::vector<T> &list, const std::string &file, Parse parse) {
  for (const std::string &line : readLines(file))
    list.push_back(parse(line));
}

/// Moves every second structure to `measured`, for files without separate sets.
template <class T>
void split(std::vector<T> &training, std::vector<T> &measured) {
  for (size_t i = 1; i < training.size(); i += 2)
    measured.push_back(training[i]);
  for (size_t i = 0; 2 * i < training.size(); ++i)
    training[i] = training[2 * i];
  training.resize((training.size() + 1) / 2);
}

Data readData(const std::string &folder) {
  Data data;
  Structures &training = data.training, &measured = data.measured;
  if (!folder.empty()) {
    readInto(training.lattices, folder + "/gsdsimp_lattice/dev.lattice.jsonl",
             parseLattice);
    readInto(measured.lattices, folder + "/gsdsimp_lattice/test.lattice.jsonl",
             parseLattice);
    readInto(training.lengthPairs,
             folder + "/iwslt15_lengths/tst2012.lengths.jsonl", parsePair);
    readInto(measured.lengthPairs,
             folder + "/iwslt15_lengths/tst2013.lengths.jsonl", parsePair);
    readInto(training.lengths, folder + "/wikigold/all.ids.jsonl",
             [](const std::string &line) {
               return static_cast<int32_t>(Json::parse(line).size());
             });
    split(training.lengths, measured.lengths);
    for (const std::string &line :
         readLines(folder + "/gum_trees/binary.txt")) {
      Tree tree = parseTree(line);
      if (tree.size() > 1)
        training.trees.push_back(tree);
    }
    split(training.trees, measured.trees);
  }
  fillIn(training, 1, 512);
  fillIn(measured, 2, 512);
  return data;
}

struct Options {
  std::string data;
  std::vector<int32_t> batches{32, 256};
  std::vector<std::string> workloads;
  int32_t beam = 64, runs = 21;
  int64_t exact = 20000;
};

/// The default schedule of batch-run. The tasks of a batch have the same phase,
/// the same depth in the phase, and the same type. Batches are sorted by these
/// keys in this order. Each call of run() reuses the memory of the call before
/// it.
class PhasedDepth {
public:
  explicit PhasedDepth(const std::vector<int32_t> &phases) : phases(phases) {}

  const Schedule &run(const TaskGraph &graph) {
    depths.assign(graph.size(), 0);
    int32_t most = 0;
    for (int32_t task = 0; task < graph.size(); ++task) {
      for (int32_t i = graph.operandBegin[task];
           i < graph.operandBegin[task + 1]; ++i) {
        int32_t operand = graph.operands[i];
        if (phases[graph.types[operand]] == phases[graph.types[task]])
          depths[task] = std::max(depths[task], depths[operand] + 1);
      }
      most = std::max(most, depths[task]);
    }
    // Sorts tasks by type (each type has one phase), then by depth.
    const int32_t columns = most + 1;
    counts.assign(size_t(graph.numTypes) * columns + 1, 0);
    auto place = [&](int32_t task) {
      return size_t(graph.types[task]) * columns + depths[task];
    };
    for (int32_t task = 0; task < graph.size(); ++task)
      ++counts[place(task) + 1];
    for (size_t i = 1; i < counts.size(); ++i)
      counts[i] += counts[i - 1];
    schedule.batches.clear();
    const int32_t last = *std::max_element(phases.begin(), phases.end());
    for (int32_t phase = 0; phase <= last; ++phase)
      for (int32_t depth = 0; depth <= most; ++depth)
        for (int32_t type = 0; type < graph.numTypes; ++type) {
          size_t at = size_t(type) * columns + depth;
          if (phases[type] == phase && counts[at + 1] > counts[at])
            schedule.batches.push_back(
                {type, counts[at], counts[at + 1] - counts[at]});
        }
    schedule.order.resize(graph.size());
    for (int32_t task = 0; task < graph.size(); ++task)
      schedule.order[counts[place(task)]++] = task;
    return schedule;
  }

private:
  const std::vector<int32_t> &phases;
  std::vector<int32_t> depths, counts;
  Schedule schedule;
};

/// Mini-batches of one size, and measurements on them.
class Measurement {
public:
  Measurement(std::vector<TaskGraph> graphs, const Options &options)
      : graphs(std::move(graphs)), options(options) {}

  using Policy = std::function<const Schedule &(const TaskGraph &)>;

  /// Returns the mean number of batches of a mini-batch, and the median and the
  /// minimum of the nanoseconds per task.
  Json measure(const Policy &policy) const {
    int64_t batches = 0, tasks = 0;
    for (const TaskGraph &graph : graphs) {
      const Schedule &schedule = policy(graph);
      if (std::string wrong = schedule.verify(graph); !wrong.empty())
        fail(wrong);
      batches += static_cast<int64_t>(schedule.batches.size());
      tasks += graph.size();
    }
    std::vector<double> times;
    for (int32_t run = 0; run < options.runs; ++run) {
      double start = seconds();
      for (const TaskGraph &graph : graphs)
        policy(graph);
      times.push_back((seconds() - start) * 1e9 / static_cast<double>(tasks));
    }
    std::sort(times.begin(), times.end());
    return {{"batches", mean(batches)},
            {"ns_per_task", times[times.size() / 2]},
            {"ns_per_task_min", times[0]}};
  }

  double mean(int64_t sum) const {
    return static_cast<double>(sum) / static_cast<double>(graphs.size());
  }

  /// Returns the mean number of batches that beam search finds, the mean of the
  /// best known numbers, and whether all best known numbers are optimal.
  Json search() const {
    int64_t beam = 0, best = 0;
    bool optimal = true;
    for (const TaskGraph &graph : graphs) {
      Found wide = searchBeam(graph, options.beam);
      Found exact = searchExact(graph, options.exact);
      beam += static_cast<int64_t>(wide.types.size());
      best +=
          static_cast<int64_t>(std::min(wide.types.size(), exact.types.size()));
      optimal &= wide.optimal || exact.optimal;
    }
    return {{"beam", mean(beam)}, {"best", mean(best)}, {"optimal", optimal}};
  }

  const std::vector<TaskGraph> graphs;

private:
  const Options &options;
};

/// Trains a state machine for every encoding, and a last one for which learning
/// selects the encoding. Writes statistics to `training`.
std::vector<StateMachine> train(const Workload &workload,
                                const std::vector<TaskGraph> &graphs,
                                Json &training) {
  std::vector<StateMachine> machines;
  auto add = [&](const char *what, auto learnWith) {
    LearningOptions options, none;
    none.trials = 0;
    double start = seconds();
    Learned learned = learnWith(options);
    double end = seconds();
    const StateMachine &stateMachine = learned.stateMachine;
    training[what] = {
        {"seconds", end - start},
        {"encoding", name(stateMachine.encoding())},
        {"trials", learned.trials},
        {"states", stateMachine.states()},
        {"learning_changed_it",
         stateMachine.print() != learnWith(none).stateMachine.print()}};
    machines.push_back(stateMachine);
  };
  for (int e = 0; e < numEncodings; ++e) {
    Encoding encoding = static_cast<Encoding>(e);
    add(name(encoding), [&](const LearningOptions &options) {
      return learn(graphs, workload.types, encoding, options);
    });
  }
  add("chosen", [&](const LearningOptions &options) {
    return learn(graphs, workload.types, options);
  });
  return machines;
}

Json measure(const Workload &workload, const Data &data,
             const Options &options) {
  PolicyScheduler scheduler;
  Json training = Json::object(), results = Json::array();
  std::vector<TaskGraph> learntFrom;
  for (int32_t size : learnedBatches)
    for (int32_t first = 0; first < learnedInstances; first += size)
      learntFrom.push_back(make(workload, data.training, first, size, 1));
  std::vector<StateMachine> machines = train(workload, learntFrom, training);
  const StateMachine chosen = machines.back();
  machines.pop_back();
  PhasedDepth phasedDepth(workload.phases);
  for (int32_t batch : options.batches) {
    std::vector<TaskGraph> graphs;
    int64_t tasks = 0, bound = 0;
    for (int32_t first = 0; first < std::max(256, batch); first += batch) {
      graphs.push_back(make(workload, data.measured, first, batch, 2));
      tasks += graphs.back().size();
      bound += lowerBound(graphs.back());
    }
    Measurement measurement(std::move(graphs), options);
    Json result = {{"workload", workload.name},
                   {"kind", workload.kind},
                   {"batch", batch},
                   {"mini_batches", measurement.graphs.size()},
                   {"tasks", measurement.mean(tasks)},
                   {"bound", measurement.mean(bound)}};
    result.update(measurement.search());
    Json &policies = result["policies"];
    const StateMachine none;
    auto run = [&](Policy policy, const StateMachine &stateMachine) {
      return measurement.measure([&](const TaskGraph &graph) -> auto & {
        return scheduler.run(policy, graph, stateMachine);
      });
    };
    policies["depth"] =
        measurement.measure([&](const TaskGraph &graph) -> auto & {
          return phasedDepth.run(graph);
        });
    policies["depth, no phases"] = run(Policy::Depth, none);
    policies["agenda"] = run(Policy::Agenda, none);
    policies["depth, no phases, trimmed"] =
        measurement.measure([&](const TaskGraph &graph) -> auto & {
          scheduler.depth(graph);
          return scheduler.trim();
        });
    policies["ratio"] =
        measurement.measure([&](const TaskGraph &graph) -> auto & {
          return scheduler.greedy(graph);
        });
    policies["greedy"] = run(Policy::Greedy, none);
    policies["fsm"] = run(Policy::StateMachine, chosen);
    for (const StateMachine &stateMachine : machines) {
      int64_t unknown = 0;
      Json one = run(Policy::StateMachine, stateMachine);
      for (const TaskGraph &graph : measurement.graphs) {
        scheduler.follow(graph, stateMachine);
        unknown += scheduler.unknownStates();
      }
      one["unknown_states"] = measurement.mean(unknown);
      policies[std::string("fsm ") + name(stateMachine.encoding())] = one;
    }
    results.push_back(result);
    std::cerr << workload.name << ", batch " << batch << "\n";
  }
  return {{"results", results},
          {"training",
           {{"workload", workload.name},
            {"tasks", learntFrom[0].size()},
            {"encodings", training}}}};
}

template <class T, class Convert>
std::vector<T> parseList(const std::string &text, Convert convert) {
  std::vector<T> list;
  std::istringstream in(text);
  for (std::string item; std::getline(in, item, ',');)
    list.push_back(convert(item));
  return list;
}

int32_t parseCount(const std::string &text) {
  char *end = nullptr;
  long value = std::strtol(text.c_str(), &end, 10);
  if (end == text.c_str() || *end || value < 1 || value > 1 << 20)
    fail("expected a number from 1 to 1048576, found '" + text + "'");
  return static_cast<int32_t>(value);
}

Options parseOptions(int argc, char **argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    std::string word = argv[i];
    size_t equals = word.find('=');
    std::string key = word.substr(0, equals);
    std::string value =
        equals == std::string::npos ? "" : word.substr(equals + 1);
    if (key == "--data")
      options.data = value;
    else if (key == "--batches")
      options.batches = parseList<int32_t>(value, parseCount);
    else if (key == "--beam")
      options.beam = parseCount(value);
    else if (key == "--exact")
      options.exact = parseCount(value);
    else if (key == "--runs")
      options.runs = parseCount(value);
    else if (key == "--workloads")
      options.workloads =
          parseList<std::string>(value, [](auto &item) { return item; });
    else
      fail("unknown option '" + word +
           "'; expected --data, --batches, --beam, --exact, --runs or "
           "--workloads");
  }
  return options;
}

} // namespace

int main(int argc, char **argv) try {
  Options options = parseOptions(argc, argv);
  Data data = readData(options.data);
  Json all = {{"benchmark", "policies"},
              {"beam_width", options.beam},
              {"exact_frontiers", options.exact},
              {"results", Json::array()},
              {"training", Json::array()}};
  for (const Workload &workload : workloads::all()) {
    if (!options.workloads.empty() &&
        std::find(options.workloads.begin(), options.workloads.end(),
                  workload.name) == options.workloads.end())
      continue;
    Json one = measure(workload, data, options);
    for (const Json &result : one["results"])
      all["results"].push_back(result);
    all["training"].push_back(one["training"]);
  }
  std::cout << all.dump(1) << "\n";
  return 0;
} catch (const std::exception &error) {
  fail(error.what());
}
