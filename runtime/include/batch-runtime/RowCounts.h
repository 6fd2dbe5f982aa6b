//===- RowCounts.h - The rows that a run reads and writes -------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_RUNTIME_ROWCOUNTS_H
#define BATCH_RUNTIME_ROWCOUNTS_H

#include "batch-runtime/RunWatcher.h"

namespace batchrt {

/// Counts the rows that the plans of a run read and write.
class RowCounts : public RunWatcher {
public:
  void begin() override;
  void look(const RunView &run, const Plan &plan) override;
  void end(const RunView &run) override;

  /// Return the number of rows that the operands of steps read, and the number
  /// of ranges of adjacent rows among them.
  int64_t gatheredRows() const { return rows; }
  int64_t gatheredRuns() const { return runs; }
  /// Returns the minimum number of bytes for result rows in any layout that
  /// keeps the schedule: the most bytes that one step needs. A step needs the
  /// rows that it writes, and the earlier rows that are still to be read: by
  /// this step, a later step, control flow or an output. Valid after end().
  int64_t liveResults() const { return most; }

private:
  void countGathers(const RunView &run, const Plan &plan);
  void write(const RunView &run, int64_t handle, int table);
  void read(const RunView &run, int64_t handle, int table);
  void readControl(const RunView &run);

  int64_t rows = 0, runs = 0, most = 0;
  int64_t step = -1;              ///< number of the last step, counted across
                                  ///< all plans
  std::vector<int64_t> change{0}; ///< change in the bytes in use, indexed by
                                  ///< step
  std::vector<std::vector<int64_t>>
      last; ///< [table][row]: step of its last use
};

} // namespace batchrt

#endif // BATCH_RUNTIME_ROWCOUNTS_H
