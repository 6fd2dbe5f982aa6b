//===- Driver.cpp - Runs a model as batch-run -----------------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Report.h"
#include "batch-runtime/Error.h"
#include "batch-runtime/RowCounts.h"
#include "batch-runtime/RunExplanation.h"
#include "batch-runtime/TaskPicture.h"
#include "batch-runtime/Trace.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <utility>

using namespace batchrun;
using namespace batchrt;

namespace {
class Stopwatch {
public:
  /// Returns the microseconds since the last call.
  double lap() {
    auto now = Clock::now();
    double time = std::chrono::duration<double, std::micro>(now - last).count();
    last = now;
    return time;
  }

private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point last = Clock::now();
};

/// Forwards each call to other watchers and measures their total time.
class Watchers : public RunWatcher {
public:
  void begin() override {
    each([](RunWatcher &watcher) { watcher.begin(); });
  }
  void look(const RunView &run, const Plan &plan) override {
    each([&](RunWatcher &watcher) { watcher.look(run, plan); });
  }
  void end(const RunView &run) override {
    each([&](RunWatcher &watcher) { watcher.end(run); });
  }
  /// Returns the microseconds that the watchers took since the last call.
  double lap() { return std::exchange(time, 0); }

  std::vector<RunWatcher *> list;

private:
  template <class Body>
  void each(const Body &body) {
    Stopwatch watch;
    for (RunWatcher *watcher : list)
      body(*watcher);
    time += watch.lap();
  }
  double time = 0;
};

/// Runs the model on all mini-batches.
class Driver {
public:
  Driver(const Options &options, const CompiledObject &object)
      : options(options), object(object),
        inputs(object.descriptor(), options.input),
        parameters(
            object.descriptor(),
            {options.parameters, inputs.largestIndex, options.reportNan}),
        session(object, parameters, inputs.tensors, options.session),
        batched(object.descriptor()), unbatched(object.descriptor()) {}

  int run();

private:
  PartTimes runBatched(bool first);
  void watch(bool isDrawn);
  double timeKernels();
  double runUnbatched(bool collect);
  void addFailure(const Forest &forest, int64_t instance);
  void count();
  void bench();
  void check();
  void explain();
  void measureMemory();
  bool wantsUnbatched() const {
    return options.checkUnbatched || options.onlyUnbatched;
  }

  const Options &options;
  const CompiledObject &object;
  Inputs inputs;
  BoundParameters parameters;
  Session session;
  OutputCollector batched, unbatched;
  std::vector<std::vector<StepTime>> stepTimes;
  Watchers watchers;
  RowCounts rows;
  TaskPicture picture;
  Report report;
};
} // namespace

/// Watches the next run. If `isDrawn` is true, draws a picture of its tasks.
void Driver::watch(bool isDrawn) {
  watchers.list.clear();
  if (options.counters || options.json)
    watchers.list.push_back(&rows);
  if (isDrawn)
    watchers.list.push_back(&picture);
  session.watch(watchers.list.empty() ? nullptr : &watchers);
}

/// Runs all mini-batches once. The first pass also collects results and counts.
PartTimes Driver::runBatched(bool first) {
  PartTimes times;
  for (auto &forest : inputs.batches) {
    const bool isDrawn =
        first && !options.dot.empty() && forest == inputs.batches.front();
    session.load(*forest);
    if (first)
      watch(isDrawn);
    const bool trace = first && !options.trace.empty();
    Stopwatch watch;
    if (object.descriptor().waits) {
      if (trace)
        stepTimes.push_back(session.executeTraced());
      else
        session.run();
      const batchrt::RunTimes parts = session.times();
      times.inspect += parts.inspect;
      times.schedule += parts.schedule - watchers.lap();
      times.execute += watch.lap() - parts.inspect - parts.schedule;
    } else {
      session.inspect();
      times.inspect += watch.lap();
      session.schedule();
      times.schedule += watch.lap() - watchers.lap();
      if (trace)
        stepTimes.push_back(session.executeTraced());
      else
        session.execute();
      times.execute += watch.lap();
    }
    if (!first)
      continue;
    for (int64_t i = 0; i < forest->numInstances; ++i) {
      batched.collect(session, i);
      addFailure(*forest, i);
    }
    times.collect += watch.lap();
    count();
    report.liveResults = std::max(report.liveResults, rows.liveResults());
    report.gatheredRows += rows.gatheredRows();
    report.gatheredRuns += rows.gatheredRuns();
    if (isDrawn)
      picture.write(options.dot, object.descriptor());
  }
  session.watch(nullptr);
  return times;
}

/// Measures the time that a worker spends in kernels, in microseconds.
double Driver::timeKernels() {
  double time = 0;
  for (auto &forest : inputs.batches) {
    session.load(*forest);
    if (!object.descriptor().waits) {
      session.inspect();
      session.schedule();
    }
    time += session.executeTimed();
  }
  return time;
}

/// Records the reason if an instance has no results.
void Driver::addFailure(const Forest &forest, int64_t instance) {
  if (std::string why = session.failure(instance); !why.empty())
    report.failures.push_back(batchrt::concat(
        "instance ", forest.firstInstance + instance, ": ", why));
}

/// Measures the time of the unbatched code only, in microseconds.
double Driver::runUnbatched(bool collect) {
  double time = 0;
  for (auto &forest : inputs.batches) {
    session.load(*forest);
    for (int64_t i = 0; i < forest->numInstances; ++i) {
      Stopwatch watch;
      session.runUnbatched(i);
      time += watch.lap();
      if (!collect)
        continue;
      unbatched.collect(session, i);
      addFailure(*forest, i);
    }
  }
  return time;
}

void Driver::count() {
  RunCounters now = session.counters(), &sum = report.counters;
  sum.nodes += now.nodes;
  sum.inspectors = std::max(sum.inspectors, now.inspectors);
  sum.plans += now.plans;
  sum.flushes += now.flushes;
  sum.waits += now.waits;
  sum.fibersMost = std::max(sum.fibersMost, now.fibersMost);
  sum.tasks += now.tasks;
  sum.batches += now.batches;
  sum.shared += now.shared;
  sum.launches += now.launches;
  sum.barriers += now.barriers;
  sum.copies += now.copies;
  sum.copiedBytes += now.copiedBytes;
  sum.slots += now.slots;
  sum.unknownStates += now.unknownStates;
  if (const auto &lockstep = object.descriptor().lockstep) {
    LockstepCounters lanes = session.lockstepCounters();
    report.lanes = lanes.lanes;
    report.stackBytes += lanes.stackBytes;
    report.topBytes += lanes.topBytes;
    report.longestWait = std::max(report.longestWait, lanes.longestWait);
    report.blocks.resize(lanes.blocks.size());
    for (size_t b = 0; b < lanes.blocks.size(); ++b) {
      report.blocks[b].name = lockstep->blocks[b].name;
      report.blocks[b].runs += lanes.blocks[b].runs;
      report.blocks[b].laneRuns += lanes.blocks[b].laneRuns;
      report.blocks[b].laneCapacity += lanes.blocks[b].laneCapacity;
    }
  }
  const std::vector<batchrt::KernelCounts> &kernels = session.kernelCounts();
  for (size_t k = 0; k < kernels.size(); ++k) {
    if (kernels[k].batches == 0)
      continue;
    const std::string &name = object.descriptor().kernels[k].name;
    report.kernelTasks[name] += kernels[k].tasks;
    report.kernelBatches[name] += kernels[k].batches;
  }
}

void Driver::bench() {
  // Warm up caches, pages and clocks with at most three passes. No pass begins
  // after the first second.
  Stopwatch watch;
  double spent = 0;
  for (int i = 0; i < 3 && spent < 1e6; ++i) {
    if (!options.onlyUnbatched)
      runBatched(false);
    if (wantsUnbatched())
      runUnbatched(false);
    spent += watch.lap();
  }
  report.times.clear();
  report.unbatched.clear();
  for (int64_t i = 0; i < options.benchRuns && !options.onlyUnbatched; ++i) {
    report.times.push_back(runBatched(false));
    report.kernels.push_back(timeKernels());
  }
  for (int64_t i = 0; i < options.benchRuns && wantsUnbatched(); ++i)
    report.unbatched.push_back(runUnbatched(false));
}

void Driver::check() {
  if (options.checkUnbatched) {
    Difference difference = compareOutputs(
        batched.outputs(), unbatched.outputs(), options.tolerance);
    report.largestError = difference.largestError;
    report.difference = difference.first;
  }
  if (options.expect.empty())
    return;
  const OutputCollector &results = options.onlyUnbatched ? unbatched : batched;
  Difference difference = compareExpected(
      results.outputs(), TensorFile::open(options.expect),
      options.expectRelative, options.expectAbsolute, &report.expectEntries);
  report.expectError = difference.largestError;
  report.unexpected = difference.first;
}

/// Prints how the first mini-batch ran.
void Driver::explain() {
  session.load(*inputs.batches.front());
  std::printf("\n%s\n", session.explain().text().c_str());
}

void Driver::measureMemory() {
  report.parameterBytes = parameters.bytes();
  report.inputBytes = inputs.tensors.bytes();
  report.memory = session.memory();
  for (auto &forest : inputs.batches) {
    report.inputBytes += forest->inputBytes();
    // Nodes and lists that the inspector has added to a forest are records.
    report.memory.records += forest->bytes() - forest->inputBytes();
  }
}

int Driver::run() {
  const bool learned =
      options.session.lockstep.choice == BATCH_CHOICE_LEARNED ||
      options.policy == Policy::StateMachine;
  if (object.descriptor().lockstep) {
    if (learned && !options.onlyUnbatched)
      session.setBlockPolicy(makeBlockPolicy(options, object, parameters));
  } else if (options.policy == Policy::StateMachine) {
    session.setPolicy(Policy::StateMachine,
                      makeStateMachine(options, object, parameters));
  } else if (options.policy) {
    session.setPolicy(*options.policy);
  }
  report.instances = inputs.numInstances;
  report.miniBatches = static_cast<int64_t>(inputs.batches.size());
  if (!options.onlyUnbatched)
    report.times.push_back(runBatched(true));
  if (wantsUnbatched())
    report.unbatched.push_back(runUnbatched(true));
  check();
  // If a check fails, write no results.
  bool good = !report.difference && !report.unexpected;
  const OutputCollector &results = options.onlyUnbatched ? unbatched : batched;
  if (good && options.explain && !options.onlyUnbatched &&
      !object.descriptor().launch && !inputs.batches.empty())
    explain();
  if (good && options.benchRuns)
    bench();
  if (good && !options.outputs.empty())
    results.write(options.outputs);
  if (!options.trace.empty())
    writeTrace(options.trace, object.descriptor(), stepTimes);
  measureMemory();
  if (options.json)
    printJson(options, report, results.outputs());
  else
    printText(options, report, results.outputs());
  // Errors follow the report; main() checks whether the flush failed.
  std::fflush(stdout);
  if (report.difference)
    std::fprintf(
        stderr,
        "batch-run: error: batched results differ from unbatched results: %s\n",
        report.difference->c_str());
  for (const std::string &failure : report.failures)
    std::fprintf(stderr, "batch-run: error: %s\n", failure.c_str());
  if (report.unexpected)
    std::fprintf(
        stderr, "batch-run: error: results differ from the expected ones: %s\n",
        report.unexpected->c_str());
  return good && report.failures.empty() ? 0 : 1;
}

int batchrun::run(const Options &options) {
  const std::string &model = options.model;
  bool source = isSource(model);
  if (options.explain && !source)
    raise("--explain requires a model source file (.mlir or .mlirbc), got '",
          model, "'");
  if (!options.tune.empty()) {
    if (!source)
      raise("--tune requires a model source file (.mlir or .mlirbc), got '",
            model, "'");
    return tune(options);
  }
  if (!source && !options.compile.empty() &&
      options.compile != std::vector<std::string>{"--device=cpu"})
    raise(options.compile.front(), " is a compilation option, but '", model,
          "' is already compiled; pass the option to batch-compile");
  std::optional<CompilerOutput> compiled;
  if (source)
    compiled.emplace(model, options.compile);
  if (options.input.inputs.empty()) // only --explain
    return 0;
  CompiledObject object =
      CompiledObject::open(source ? compiled->path() : model);
  const Descriptor &descriptor = object.descriptor();
  if (options.onlyUnbatched || options.checkUnbatched) {
    if (!descriptor.hasUnbatched)
      raise("the object has no unbatched code, because it was compiled from a "
            "module whose instance functions had been removed; compare "
            "--outputs files instead");
  }
  if (!options.onlyUnbatched &&
      !((descriptor.hasInspect || descriptor.lockstep ||
         descriptor.replicate) &&
        (descriptor.hasExecute || descriptor.launch)))
    // A warning of the compiler has already given the reason.
    raise("the object has no batched code",
          descriptor.notBatched.empty()
              ? ": it was compiled with strategy 'none'"
          : source ? ""
                   : ": " + descriptor.notBatched,
          "; use --unbatched");
  if (!options.onlyUnbatched)
    checkControl(options, descriptor);
  return Driver(options, object).run();
}
