//===- Report.h - Reports of batch-run --------------------------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_RUN_REPORT_H
#define BATCH_RUN_REPORT_H

#include "Options.h"
#include "batch-runtime/Outputs.h"

#include <map>

namespace batchrun {

/// Times of one pass over all mini-batches, by phase, in microseconds.
struct PartTimes {
  double inspect = 0, schedule = 0, copy = 0, execute = 0, collect = 0;

  double total() const { return inspect + schedule + copy + execute; }
};

/// The results of a run.
struct Report {
  int64_t instances = 0, miniBatches = 0;
  batchrt::RunCounters counters; ///< sums over mini-batches
  /// Sums of gathers, if --counters or --json requests them.
  int64_t gatheredRows = 0, gatheredRuns = 0;
  std::map<std::string, int64_t> kernelTasks, kernelBatches;
  /// Counters of lockstep programs: blocks in program order, lanes of a
  /// mini-batch, bytes moved from and to stacks and tops, and the longest
  /// wait of a lane.
  struct Block : batchrt::LockstepCounters::Block {
    std::string name;
  };
  std::vector<Block> blocks;
  int64_t lanes = 0, stackBytes = 0, topBytes = 0, longestWait = 0;
  std::vector<std::string> failures; ///< failures of instances without results
  std::vector<PartTimes> times;
  std::vector<double> kernels;   ///< microseconds of a worker, per run
  std::vector<double> unbatched; ///< microseconds for all instances, per run
  double largestError = 0;
  std::optional<std::string> difference, unexpected;
  double expectError = 0;
  int64_t expectEntries = -1;
  size_t inputBytes = 0, parameterBytes = 0;
  batchrt::MemoryUse memory;
  int64_t liveResults = 0; ///< maximum over mini-batches
};

void printText(const Options &options, const Report &report,
               const std::vector<batchrt::Output> &outputs);
void printJson(const Options &options, const Report &report,
               const std::vector<batchrt::Output> &outputs);

/// Returns the median of `values`, or 0 if there are none.
double median(std::vector<double> values);

} // namespace batchrun

#endif // BATCH_RUN_REPORT_H
