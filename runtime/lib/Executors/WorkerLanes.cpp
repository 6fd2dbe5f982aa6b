//===- WorkerLanes.cpp - Lanes on the host's workers ----------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LaneExecutor.h"
#include "WorkerJob.h"

#include <chrono>

using namespace batchrt;

namespace {
/// Job of a worker for a stream. The worker's lanes run while the stream has
/// instances; then the worker waits for more.
struct StreamJob {
  MiniBatch &batch;
  void (*execute)(BatchContext *, int64_t, int64_t);

  static void call(void *argument, int worker) {
    const StreamJob &job = *static_cast<StreamJob *>(argument);
    if (setjmp(job.batch.exits[worker].place) != 0) {
      job.batch.workers.markLeaving();
      return;
    }
    BatchContext &context = job.batch.context();
    // If there are fewer lanes than workers, some workers have no lanes.
    while (context.lanes[worker]->lanes > 0 && job.batch.stream->waitForMore())
      job.execute(&context, worker, job.batch.workers.size());
  }
};

class WorkerLanes : public LaneExecutor {
public:
  explicit WorkerLanes(MiniBatch &batch) : LaneExecutor(batch) {}

  void prepare() override {
    prepareLanes(batch.workers.size());
    batch.reserveWorkers(lanes.workerScratch(), batch.workers.size());
  }

  void run(ResultCopies) override {
    WorkerJob job(batch, batch.context());
    job.run();
    checkEnds();
  }

  void prepareStream(InstanceStream &newStream) override {
    prepare();
    lanes.followStream(newStream.ready());
  }

  void runStream() override {
    StreamJob job{batch, batch.object.entry().execute};
    batch.workers.run(StreamJob::call, &job);
    if (batch.workers.wasLeft())
      throw Cancelled();
  }

  double runTimed() override {
    // Blocks alternate with bookkeeping, so the time includes both.
    prepare();
    WorkerJob job(batch, batch.context());
    return job.runTimed();
  }

  std::vector<StepTime> runTraced() override;
};
} // namespace

std::vector<StepTime> WorkerLanes::runTraced() {
  struct Traced {
    Lockstep &lanes;
    ~Traced() { lanes.setTraced(false); }
  } traced{lanes};
  lanes.setTraced(true);
  prepare();
  const auto begin = std::chrono::steady_clock::now();
  run(ResultCopies::WithRun);
  const auto end = std::chrono::steady_clock::now();
  std::vector<StepTime> times;
  for (size_t u = 0; u < lanes.traces().size(); ++u) {
    const size_t first = times.size();
    addTrace(times, lanes.traces()[u], begin, end);
    for (size_t i = first; i < times.size(); ++i) {
      times[i].worker = static_cast<int64_t>(u);
      times[i].capacity = lanes.lanes()[u]->lanes;
    }
  }
  return times;
}

std::unique_ptr<Executor> batchrt::makeWorkerLanes(MiniBatch &batch,
                                                   const BoundParameters &) {
  return std::make_unique<WorkerLanes>(batch);
}
