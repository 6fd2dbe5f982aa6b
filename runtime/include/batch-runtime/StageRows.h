//===- StageRows.h - How many rows a device counts --------------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Code for a device counts the rows of a stage in 32 bits: the tasks of a step,
// or the elements of their lists, times the leading dimensions of a value. The
// host does not know these dimensions, but each row that a stage writes takes
// 64 bytes or more of a result or of scratch memory.
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_RUNTIME_STAGEROWS_H
#define BATCH_RUNTIME_STAGEROWS_H

#include "batch-runtime/ABI.h"
#include "batch-runtime/Descriptor.h"

namespace batchrt {

/// The most rows of a stage on a device; the rest of 32 bits is for what blocks
/// round up.
constexpr int64_t mostStageRows = INT32_MAX - (1 << 20);

/// Raises an Error if `tasks` tasks of the kernel may have more rows than that.
void checkStageRows(const Descriptor &descriptor, const KernelInfo &kernel,
                    int64_t tasks);
/// The same for a step of a plan, and the lists that its tasks read.
void checkStageRows(const Descriptor &descriptor, const BatchStep &step);
/// The same for whatever a program of single instances runs.
void checkInstanceRows(const ReplicateInfo &info, int64_t instances);

} // namespace batchrt

#endif // BATCH_RUNTIME_STAGEROWS_H
