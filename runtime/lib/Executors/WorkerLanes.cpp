//===- WorkerLanes.cpp - Lanes on the host's workers ----------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LaneExecutor.h"
#include "WorkerJob.h"

using namespace batchrt;

namespace {
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

  double runTimed() override {
    // Blocks alternate with bookkeeping: all of it counts.
    prepare();
    WorkerJob job(batch, batch.context());
    return job.runTimed();
  }
};
} // namespace

std::unique_ptr<Executor> batchrt::makeWorkerLanes(MiniBatch &batch,
                                                   const BoundParameters &) {
  return std::make_unique<WorkerLanes>(batch);
}
