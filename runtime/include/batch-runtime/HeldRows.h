//===- HeldRows.h - Rows of earlier plans of a run --------------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_RUNTIME_HELDROWS_H
#define BATCH_RUNTIME_HELDROWS_H

#include "batch-runtime/RowAllocator.h"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace batchrt {

/// Handles of the results that must outlive a plan if other plans of the run
/// follow. Results in `liveOut` are needed after the plan. Results in `pinned`
/// are needed until the end of the run.
struct LiveOutRows {
  std::vector<int64_t> liveOut, pinned;
};

/// The rows of a pool that earlier plans of a run wrote. A row is free once
/// nothing needs it. Each plan finds the last epoch in which its tasks read
/// each row, and the rows that are needed after the plan.
class HeldRows {
public:
  /// An epoch after all others: the row is needed after this plan.
  static constexpr int32_t liveOut = INT32_MAX - 1;
  /// An epoch after all others: the row is needed until the end of the run.
  static constexpr int32_t pinned = INT32_MAX;

  void clear() { ranges.clear(); }
  /// Begins a plan. The pool has `rows` rows, and no row has a reader yet.
  void begin(int64_t rows);
  /// Records that a task reads a row in `epoch`, which may also be `liveOut` or
  /// `pinned`. Has no effect on rows that are not held.
  void read(int64_t row, int32_t epoch) {
    if (row < static_cast<int64_t>(lastReads.size()))
      lastReads[row] = std::max(lastReads[row], epoch);
  }
  /// Frees the rows that are not needed after the plan. Each row becomes free
  /// after its last read. Pinned rows are no longer held and are never freed.
  void release(RowAllocator &rows);
  /// Adds rows begin ... begin+count-1, which the plan writes.
  void hold(int64_t begin, int64_t count);

  size_t bytes() const;

private:
  struct Range {
    int64_t begin, end;
  };
  std::vector<Range> ranges, before;
  std::vector<int32_t> lastReads; ///< indexed by row
};

} // namespace batchrt

#endif // BATCH_RUNTIME_HELDROWS_H
