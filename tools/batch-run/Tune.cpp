//===- Tune.cpp - batch-run --tune ----------------------------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For each value of a choice, compiles the model with this value. Alternately
// runs this model and the model without the value on the given inputs. For each
// kernel, selects the value for which its steps take the shortest time,
// relative to the same steps without the value. Makes choices one after
// another, and keeps the best values of earlier choices. No choice changes
// any bit of the results.
//
//===----------------------------------------------------------------------===//

#include "Options.h"
#include "Report.h"
#include "batch-runtime/Error.h"
#include "batch-runtime/OutputFile.h"
#include "batch-runtime/Parameters.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <map>
#include <utility>
#include <vector>

using namespace batchrun;
using namespace batchrt;

namespace {

/// A value must be this much better than the current one to replace it.
constexpr double leastGain = 0.03;
constexpr int passes = 7;

struct Choice {
  const char *name;
  std::initializer_list<int64_t> values;
};

constexpr Choice choices[] = {
    {"tile_rows", {6, 8, 10}},
    // With the last value, workers never share a launch by rows.
    {"row_split", {1, 12, 24, 48, 96, int64_t(1) << 32}},
    {"stage_rows", {0, 16, 64}},
    // With the last value, workers never share a launch.
    {"share_tasks", {1, 4, 16, 64, int64_t(1) << 32}},
};

/// Value of each choice for each kernel. The cost model decides missing values.
using Settings = std::map<std::string, std::map<std::string, int64_t>>;
/// Microseconds by kernel.
using Times = std::map<std::string, double>;

/// The model compiled with some settings, ready to run on the inputs.
class Trial {
public:
  Trial(const Options &options, const Settings &settings);

  /// Returns the time of each kernel's steps in one pass over all inputs.
  Times timeKernels();
  /// Returns the time of the executor in one pass.
  double timeExecute();

private:
  void load(Forest &forest);

  CompilerOutput compiled;
  CompiledObject object;
  Inputs inputs;
  BoundParameters parameters;
  Session session;
};

class Tuner {
public:
  explicit Tuner(const Options &options) : options(options) {}
  int run();

private:
  void tryChoice(const Choice &choice);
  void keepIfFaster();
  void write() const;
  void print() const;

  const Options &options;
  Settings best;
  Times defaultTimes, ratios;
  double defaultExecute = 0, bestExecute = 0;
};

} // namespace

static nlohmann::json toJson(const Settings &settings) {
  nlohmann::json kernels = nlohmann::json::object();
  for (const auto &[kernel, values] : settings)
    if (!values.empty())
      kernels[kernel] = values;
  return {{"version", 1}, {"kernels", kernels}};
}

/// Compiles the model with these settings.
static CompilerOutput compile(const Options &options,
                              const Settings &settings) {
  MemoryFile tuning("tuning.json");
  writeFile(tuning.path(), toJson(settings).dump());
  std::vector<std::string> words = options.compile;
  words.push_back("--tuning=" + tuning.path());
  return CompilerOutput(options.model, words);
}

static CompiledObject openChecked(const Options &options,
                                  const std::string &path) {
  CompiledObject object = CompiledObject::open(path);
  checkControl(options, object.descriptor());
  return object;
}

Trial::Trial(const Options &options, const Settings &settings)
    : compiled(compile(options, settings)),
      object(openChecked(options, compiled.path())),
      inputs(object.descriptor(), options.input),
      parameters(object.descriptor(),
                 {options.parameters, inputs.largestIndex, options.reportNan}),
      session(object, parameters, inputs.tensors, options.session) {
  if (!object.descriptor().hasExecute)
    raise("the model has no batched code to tune");
}

/// Prepares the next mini-batch to run, if its plan can be computed in advance.
void Trial::load(Forest &forest) {
  session.load(forest);
  if (object.descriptor().waits)
    return;
  session.inspect();
  session.schedule();
}

Times Trial::timeKernels() {
  Times times;
  for (auto &forest : inputs.batches) {
    load(*forest);
    for (const StepTime &step : session.executeTraced())
      times[object.descriptor().kernels[step.kernel].name] +=
          step.end - step.begin;
  }
  return times;
}

double Trial::timeExecute() {
  using Clock = std::chrono::steady_clock;
  double time = 0;
  for (auto &forest : inputs.batches) {
    load(*forest);
    if (object.descriptor().waits) {
      session.run();
      time += session.times().execute;
      continue;
    }
    auto start = Clock::now();
    session.execute();
    time +=
        std::chrono::duration<double, std::micro>(Clock::now() - start).count();
  }
  return time;
}

/// Returns the time of each kernel in `trial` relative to `base`: the median
/// ratio over alternating passes, so that changes in the host's speed do not
/// affect the result.
static Times compare(Trial &base, Trial &trial) {
  std::map<std::string, std::vector<double>> ratios;
  for (int pass = -1; pass < passes; ++pass) {
    Times before = base.timeKernels(), after = trial.timeKernels();
    // The first pass is a warm-up.
    if (pass >= 0)
      for (const auto &[kernel, time] : after)
        ratios[kernel].push_back(time / before[kernel]);
  }
  Times medians;
  for (const auto &[kernel, values] : ratios)
    medians[kernel] = median(values);
  return medians;
}

void Tuner::tryChoice(const Choice &choice) {
  Trial base(options, best);
  Settings chosen = best;
  Times least;
  for (const auto &[kernel, time] : base.timeKernels())
    least[kernel] = 1 - leastGain;
  for (int64_t value : choice.values) {
    Settings settings = best;
    for (const auto &[kernel, ratio] : least)
      settings[kernel][choice.name] = value;
    Trial trial(options, settings);
    std::fprintf(stderr, "tune: %s = %lld:", choice.name,
                 static_cast<long long>(value));
    for (const auto &[kernel, ratio] : compare(base, trial)) {
      std::fprintf(stderr, " %s %+.0f %%", kernel.c_str(), 100 * (ratio - 1));
      if (ratio < least[kernel]) {
        least[kernel] = ratio;
        chosen[kernel][choice.name] = value;
      }
    }
    std::fprintf(stderr, "\n");
  }
  best = chosen;
}

/// Keeps the best settings of the kernels that are faster with them. Discards
/// all settings if the whole executor is not faster. Measures the objects with
/// and without the settings alternately.
void Tuner::keepIfFaster() {
  Trial before(options, {});
  defaultTimes = before.timeKernels();
  {
    Trial after(options, best);
    ratios = compare(before, after);
  }
  for (const auto &[kernel, ratio] : ratios)
    if (ratio >= 1)
      best.erase(kernel);
  Trial after(options, best);
  std::vector<double> beforeTimes, afterTimes;
  for (int pass = -1; pass < passes; ++pass) {
    double a = before.timeExecute(), b = after.timeExecute();
    if (pass < 0)
      continue;
    beforeTimes.push_back(a);
    afterTimes.push_back(b);
  }
  defaultExecute = median(beforeTimes);
  bestExecute = median(afterTimes);
  if (bestExecute >= defaultExecute)
    best.clear();
}

void Tuner::write() const {
  writeFile(options.tune, toJson(best).dump(2) + "\n");
}

void Tuner::print() const {
  std::printf("%-24s %12s %12s  %s\n", "kernel", "default us", "tuned us",
              "choices");
  // Kernels that take the most time over all their steps come first.
  std::vector<std::pair<std::string, double>> kernels(defaultTimes.begin(),
                                                      defaultTimes.end());
  std::stable_sort(
      kernels.begin(), kernels.end(),
      [](const auto &a, const auto &b) { return a.second > b.second; });
  for (const auto &[kernel, time] : kernels) {
    std::string text;
    auto found = best.find(kernel);
    if (found != best.end())
      for (const auto &[name, value] : found->second)
        text += concat(text.empty() ? "" : ", ", name, " = ", value);
    std::printf("%-24s %12.1f %12.1f  %s\n", kernel.c_str(), time,
                text.empty() ? time : time * ratios.at(kernel),
                text.empty() ? "the cost model's" : text.c_str());
  }
  std::printf(
      "whole executor: %.1f us, tuned %.1f us%s\n", defaultExecute, bestExecute,
      best.empty() ? ": no faster, so the cost model's choices remain" : "");
  std::printf("wrote %s; use it with --tuning=%s\n", options.tune.c_str(),
              options.tune.c_str());
}

int Tuner::run() {
  for (const Choice &choice : choices)
    tryChoice(choice);
  keepIfFaster();
  write();
  print();
  return 0;
}

int batchrun::tune(const Options &options) { return Tuner(options).run(); }
