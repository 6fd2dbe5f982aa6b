//===- WorkerJob.h - What workers of the host run ---------------*- C++ -*-===//
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

/// The executor code of an object, called by each worker.
struct WorkerJob {
  WorkerJob(const MiniBatch &batch, BatchContext &context)
      : execute(batch.object.entry().execute), context(&context),
        workers(batch.workers.size()) {
    if (!execute)
      raise("the object was compiled without an executor");
  }

  void (*execute)(BatchContext *, int64_t, int64_t);
  BatchContext *context;
  int64_t workers;

  static void run(void *argument, int worker) {
    WorkerJob &job = *static_cast<WorkerJob *>(argument);
    job.execute(job.context, worker, job.workers);
  }
};

} // namespace batchrt

#endif // BATCH_RUNTIME_LIB_EXECUTORS_WORKERJOB_H
