//===- RowAllocator.h - Reuse of the rows of a table ------------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_RUNTIME_ROWALLOCATOR_H
#define BATCH_RUNTIME_ROWALLOCATOR_H

#include <cstddef>
#include <cstdint>
#include <vector>

namespace batchrt {

/// Allocates ranges of rows. Ranges are freed at the beginning of an epoch. An
/// epoch consists of the steps between two barriers of the units. None of its
/// steps writes rows that another one reads.
class RowAllocator {
public:
  /// Forgets all rows.
  void reset();
  /// Restarts the epochs. New rows follow all existing ones, so earlier and
  /// later steps can run concurrently.
  void startPlan();
  /// Restarts the epochs after all steps so far have run, so all released rows
  /// are free.
  void continueRun();
  /// Enters an epoch. Epochs are entered in order, from 0.
  void enter(int64_t epoch);
  /// Allocates `count` consecutive rows, in the shortest free range that is
  /// long enough or else at the end. Returns the first row.
  int64_t take(int64_t count);
  /// Frees rows begin ... begin+count-1 from `epoch` on. The epoch must not
  /// have been entered yet.
  void release(int64_t begin, int64_t count, int64_t epoch);
  /// Returns the number of rows that the table needs.
  int64_t rows() const { return end; }
  /// Returns the size in bytes of all arrays.
  size_t bytes() const;

private:
  struct Range {
    int64_t begin, end;
  };
  struct Release {
    Range range;
    int64_t next; ///< next release of the same epoch, -1: none
  };

  int64_t end = 0, entered = 0;
  std::vector<Range> freeRanges, merged; ///< in order; free ranges are not
                                         ///< adjacent
  std::vector<Range> arriving;
  std::vector<Release> releases;
  std::vector<int64_t> firstRelease; ///< indexed by epoch
};

} // namespace batchrt

#endif // BATCH_RUNTIME_ROWALLOCATOR_H
