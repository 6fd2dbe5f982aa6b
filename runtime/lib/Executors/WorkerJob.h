//===- WorkerJob.h - Jobs of the host's workers -----------------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_RUNTIME_LIB_EXECUTORS_WORKERJOB_H
#define BATCH_RUNTIME_LIB_EXECUTORS_WORKERJOB_H

#include "../Inspector/MiniBatch.h"
#include "batch-runtime/Error.h"

namespace batchrt {

/// Job that calls the executor code of an object on each worker.
struct WorkerJob {
  WorkerJob(MiniBatch &batch, BatchContext &context)
      : batch(batch), execute(batch.object.entry().execute), context(&context),
        workers(batch.workers.size()) {
    if (!execute)
      raise("the object was compiled without an executor");
  }

  MiniBatch &batch;
  void (*execute)(BatchContext *, int64_t, int64_t);
  BatchContext *context;
  int64_t workers;

  /// Calls the executor code on all workers, or only on worker 0 if `shared` is
  /// false.
  void run(bool shared = true) {
    batch.workers.run(call, this, shared);
    checkLeft();
  }
  double runTimed(bool shared = true) {
    const double time = batch.workers.runTimed(call, this, shared);
    checkLeft();
    return time;
  }

private:
  static void call(void *argument, int worker) {
    WorkerJob &job = *static_cast<WorkerJob *>(argument);
    if (setjmp(job.batch.exits[worker].place) == 0)
      job.execute(job.context, worker, job.workers);
    else
      job.batch.workers.markLeaving();
  }
  void checkLeft() const {
    if (batch.workers.wasLeft())
      throw Cancelled();
  }
};

} // namespace batchrt

#endif // BATCH_RUNTIME_LIB_EXECUTORS_WORKERJOB_H
