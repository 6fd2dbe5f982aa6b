//===- WorkerPlans.cpp - Plans on the host's workers ----------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PlanExecutor.h"
#include "WorkerJob.h"
#include "batch-runtime/Error.h"

#include <algorithm>
#include <chrono>
#include <utility>

using namespace batchrt;

namespace {
class WorkerPlans : public PlanExecutor {
public:
  explicit WorkerPlans(MiniBatch &batch) : PlanExecutor(batch) {}

  void run(ResultCopies copies) override;
  double runTimed() override;
  std::vector<StepTime> runTraced() override;

  RunTimes times() const override { return timed; }

private:
  void makePlan(bool last) override;
  template <class Body>
  void forEachPlan(const Body &body);
  template <class Body>
  void forEachRange(const Body &body);

  RunTimes timed;
};
} // namespace

void WorkerPlans::makePlan(bool last) {
  PlanExecutor::makePlan(last);
  // If the object has no executor code, only its schedules can be examined.
  if (!batch.object.entry().execute)
    return;
  const int64_t workers = batch.workers.size();
  PlanSteps &steps = runPlan.steps();
  steps.shareSteps(workers, batch.options.shareTasks);
  batch.reserveWorkers(steps.workerScratch(), workers);
  if (workers > 1)
    for (const PlanSteps::Range &range : steps.ranges())
      counted.shared += range.shared ? range.end - range.begin : 0;
  counted.launches = counted.batches;
}

/// Calls `body` when a plan is ready to run: once, or for each flush if control
/// flow waits for tensors.
template <class Body>
void WorkerPlans::forEachPlan(const Body &body) {
  counted.barriers = 0;
  if (!descriptor().waits)
    return body();
  using Clock = std::chrono::steady_clock;
  auto last = Clock::now();
  auto lap = [&] {
    auto now = Clock::now();
    return std::chrono::duration<double, std::micro>(now -
                                                     std::exchange(last, now))
        .count();
  };
  timed = {};
  inspector.begin();
  tables.clear(inspector.numParts());
  beginRun();
  auto flush = [&](bool deferred, bool isLast) {
    inspector.showTasks(deferred);
    makePlan(isLast);
    showPlan(deferred);
    inspector.hideTasks();
    timed.schedule += lap();
    body();
    timed.execute += lap();
  };
  for (bool waiting = true; waiting;) {
    batch.checkCancelled();
    waiting = inspector.runRound();
    timed.inspect += lap();
    const bool hasTasks = inspector.numTasks(/*deferred=*/false) != 0;
    const bool atEnd = !waiting && inspector.numTasks(/*deferred=*/true) != 0;
    if (hasTasks)
      flush(/*deferred=*/false, /*isLast=*/!waiting && !atEnd);
    inspector.endFlush(tables);
    if (atEnd)
      flush(/*deferred=*/true, /*isLast=*/true);
    counted.flushes += hasTasks || atEnd;
    batch.setProgress(inspector.numEnded(), counted.flushes);
  }
  counted.waits = inspector.waits();
  counted.fibersMost = inspector.mostFibers();
  endRun();
}

/// Calls `body(context, job, shared)` for each range of steps. `context` has
/// only these steps. Also counts the barriers of workers.
template <class Body>
void WorkerPlans::forEachRange(const Body &body) {
  BatchContext &context = batch.context();
  WorkerJob job(batch, context);
  BatchStep *const steps = context.steps;
  struct Restore {
    BatchContext &context;
    BatchStep *steps;
    int64_t numSteps;
    ~Restore() {
      context.steps = steps;
      context.numSteps = numSteps;
    }
  } restore{context, steps, context.numSteps};
  int64_t before = batch.workers.barriers(), ranges = 0;
  for (const PlanSteps::Range &range : runPlan.steps().ranges()) {
    context.steps = steps + range.begin;
    context.numSteps = range.end - range.begin;
    job.workers = range.shared ? batch.workers.size() : 1;
    body(context, job, range.shared);
    ++ranges;
  }
  counted.barriers +=
      batch.workers.barriers() - before + std::max<int64_t>(ranges - 1, 0);
}

void WorkerPlans::run(ResultCopies) {
  forEachPlan([&] {
    forEachRange(
        [&](BatchContext &, WorkerJob &job, bool shared) { job.run(shared); });
  });
}

double WorkerPlans::runTimed() {
  auto time = [&] {
    double sum = 0;
    forEachRange([&](BatchContext &, WorkerJob &job, bool shared) {
      sum += job.runTimed(shared);
    });
    return sum;
  };
  double sum = 0;
  forEachPlan([&] {
    // Run the same steps with no tasks, to measure the time outside of kernels.
    BatchContext &context = batch.context();
    BatchStep *steps = context.steps;
    std::vector<BatchStep> empty(steps, steps + context.numSteps);
    for (BatchStep &step : empty)
      step.count = 0;
    context.steps = empty.data();
    double between = time();
    context.steps = steps;
    // The difference can be negative if the run without tasks is interrupted.
    sum += std::max(time() - between, 0.0);
  });
  return sum;
}

std::vector<StepTime> WorkerPlans::runTraced() {
  using Clock = std::chrono::steady_clock;
  auto begin = Clock::now();
  auto now = [&] {
    return std::chrono::duration<double, std::micro>(Clock::now() - begin)
        .count();
  };
  std::vector<StepTime> times;
  forEachPlan([&] {
    const BatchStep *const first = batch.context().steps;
    const DepthScheduler &schedule = runPlan.schedule();
    forEachRange([&](BatchContext &context, WorkerJob &job, bool shared) {
      BatchStep *end = context.steps + context.numSteps;
      context.numSteps = 1;
      for (; context.steps != end; ++context.steps) {
        double start = now();
        job.run(shared);
        StepTime time = {context.steps->kernel, context.steps->count, start,
                         now(), counted.flushes};
        const int32_t number = schedule.sequence()[context.steps - first];
        time.depth = schedule.steps()[number].depth;
        time.capacity = batch.numInstances();
        times.push_back(time);
      }
    });
  });
  return times;
}

std::unique_ptr<Executor> batchrt::makeWorkerPlans(MiniBatch &batch,
                                                   const BoundParameters &) {
  return std::make_unique<WorkerPlans>(batch);
}
