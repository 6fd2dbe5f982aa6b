//===- StageRows.h - Limits on the rows of a stage --------------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Code for a device counts the rows of a stage in 32 bits: the tasks of a step,
// or the elements of their lists, times the leading dimensions of a value. The
// host does not know these dimensions, so it bounds the rows by their bytes.
// Each row that a stage writes takes 64 bytes or more of a result or of scratch
// memory.
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_RUNTIME_STAGEROWS_H
#define BATCH_RUNTIME_STAGEROWS_H

#include "batch-runtime/ABI.h"
#include "batch-runtime/Descriptor.h"

namespace batchrt {

/// The maximum number of rows of a stage on a device. The rest of the 32-bit
/// range is for row counts that blocks round up.
constexpr int64_t mostStageRows = INT32_MAX - (1 << 20);

/// Raises an Error if a stage of `tasks` tasks of the kernel may have more rows
/// than mostStageRows.
void checkStageRows(const Descriptor &descriptor, const KernelInfo &kernel,
                    int64_t tasks);
/// Checks a step of a plan in the same way, including the lists that its tasks
/// read.
void checkStageRows(const Descriptor &descriptor, const BatchStep &step);
/// Checks all stages of a program of single instances in the same way.
void checkInstanceRows(const ReplicateInfo &info, int64_t instances);

} // namespace batchrt

#endif // BATCH_RUNTIME_STAGEROWS_H
