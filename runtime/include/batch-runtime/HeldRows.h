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

/// What must outlive a plan that others of the run follow: handles of results
/// that somebody needs after it, or until the end of the run.
struct KeptRows {
  std::vector<int64_t> kept, pinned;
};

/// The rows of a pool that earlier plans of a run wrote and that are free once
/// nobody holds them. Each plan finds out when its tasks read them last, and
/// which are needed after it.
class HeldRows {
public:
  /// Stands for an epoch after all others: the row is needed after this plan.
  static constexpr int32_t kept = INT32_MAX - 1;
  /// The same: it is needed until the end of the run.
  static constexpr int32_t pinned = INT32_MAX;

  void clear() { ranges.clear(); }
  /// Begins a plan, when the pool has `rows` rows: nobody reads them.
  void begin(int64_t rows);
  /// A task reads a row in `epoch`, or it is kept or pinned; of a row that is
  /// not held, nothing.
  void read(int64_t row, int32_t epoch) {
    if (row < static_cast<int64_t>(lastReads.size()))
      lastReads[row] = std::max(lastReads[row], epoch);
  }
  /// Frees what the plan reads last, or does not read. Pinned rows are held no
  /// more, and never freed.
  void release(RowAllocator &rows);
  /// Holds rows begin ... begin+count-1, which the plan writes.
  void hold(int64_t begin, int64_t count);

  size_t bytes() const;

private:
  struct Range {
    int64_t begin, end;
  };
  std::vector<Range> ranges, before;
  std::vector<int32_t> lastReads; ///< by row
};

} // namespace batchrt

#endif // BATCH_RUNTIME_HELDROWS_H
