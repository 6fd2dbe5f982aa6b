//===- StageRows.cpp - Limits of rows on a device -------------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "batch-runtime/StageRows.h"
#include "batch-runtime/Error.h"

#include <algorithm>

using namespace batchrt;

/// Returns the maximum number of rows in `bytes` bytes, at 64 or more bytes per
/// row. A value without dimensions is one row even if it has fewer than 64
/// bytes.
static int64_t rowsIn(int64_t bytes) {
  return std::max<int64_t>(bytes / 64, 1);
}

/// Checks the total number of rows in `count` values, each of which has `bytes`
/// bytes.
static void check(const KernelInfo &kernel, int64_t count, const char *what,
                  int64_t bytes) {
  const int64_t rows = rowsIn(bytes);
  // Divide instead of multiplying, because the product might overflow.
  if (count > mostStageRows / rows)
    raise("a step of kernel '", kernel.name, "' has ", count, " ", what,
          " with up to ", rows, " rows each, but the limit of a device is ",
          mostStageRows, " rows; use a smaller batch (--batch)");
}

void batchrt::checkStageRows(const Descriptor &descriptor,
                             const KernelInfo &kernel, int64_t tasks) {
  int64_t bytes = kernel.taskScratch;
  for (const ResultInfo &result : kernel.results)
    bytes = std::max(bytes, descriptor.tables[result.table].ownBytes);
  for (int64_t result : kernel.resultBytes)
    bytes = std::max(bytes, result);
  check(kernel, tasks, "tasks", bytes);
}

void batchrt::checkStageRows(const Descriptor &descriptor,
                             const BatchStep &step) {
  const KernelInfo &kernel = descriptor.kernels[step.kernel];
  checkStageRows(descriptor, kernel, step.count);
  for (const RaggedScratch &ragged : kernel.raggedScratch)
    check(kernel, step.operands[ragged.operand].offsets[step.count],
          "elements of lists", ragged.bytes);
}

void batchrt::checkInstanceRows(const ReplicateInfo &info, int64_t instances) {
  const int64_t concurrent =
      std::clamp<int64_t>(instances, 1, std::max<int64_t>(info.capacity, 1));
  const int64_t rows = std::max(
      rowsIn(info.bytesBefore(instances) + info.commonBytes(instances)),
      concurrent * info.tasks * rowsIn(info.nodeBytes));
  if (rows > mostStageRows)
    raise(concurrent,
          concurrent == 1 ? " instance has"
                          : " instances that run at the same time have",
          " up to ", rows, " rows, but the limit of a device is ",
          mostStageRows, " rows; use a smaller batch (--batch)");
}
