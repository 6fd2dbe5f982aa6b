//===- LiveResults.h - Bytes of results that a run needs --------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_RUNTIME_LIB_PLAN_LIVERESULTS_H
#define BATCH_RUNTIME_LIB_PLAN_LIVERESULTS_H

#include "batch-runtime/Tables.h"
#include "batch-runtime/TaskOrder.h"

namespace batchrt {

/// The fewest bytes of result rows in any layout that keeps the schedule: the
/// rows that a step of the plan writes, and earlier ones that it, a later step
/// or an output reads, at the step where these are the most. `context` has the
/// results of the run.
size_t findLiveResults(const Descriptor &descriptor,
                       const BatchContext &context, int64_t numInstances,
                       const TaskOrder &order, const Tables &tables);

} // namespace batchrt

#endif // BATCH_RUNTIME_LIB_PLAN_LIVERESULTS_H
