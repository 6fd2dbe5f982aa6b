//===- IndexArrays.h - Index arrays of operands -----------------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_RUNTIME_INDEXARRAYS_H
#define BATCH_RUNTIME_INDEXARRAYS_H

#include "batch-runtime/Memory.h"
#include "batch-runtime/Tables.h"
#include "batch-runtime/TaskOrder.h"

#include <deque>
#include <vector>

namespace batchrt {

/// Rounds a size in bytes up to a multiple of a cache line (64 bytes).
inline int64_t align64(int64_t bytes) { return (bytes + 63) & ~int64_t(63); }

/// The index arrays of a plan, one for each operand of each kernel. An array
/// stores the row that each task reads, in the order of the schedule: slots of
/// tables, addresses, or scalars. The next plan reuses all memory.
class IndexArrays {
public:
  explicit IndexArrays(const Descriptor &descriptor);

  /// Begins a plan of `numParts` parts.
  void begin(int64_t numParts);
  /// Counts the rows of a part's ragged operands. Parts may be counted
  /// concurrently.
  void countRaggedRows(const TaskOrder &order, int64_t part);
  /// Lays out all arrays in memory.
  void layOut(const TaskOrder &order);
  /// Writes the entries of a part's tasks, after all tasks have slots. Parts
  /// may be filled in concurrently.
  void fill(const TaskOrder &order, const Tables &tables, int64_t part);

  /// Writes operand `number` of a kernel in each step of the kernel. `to` is
  /// this operand in the first step; all operands of a step are adjacent.
  void makeOperand(const TaskOrder &order, const Tables &tables, int64_t kernel,
                   size_t number, BatchOperand *to) const;

  /// Returns the memory of all arrays.
  ImageRegion region() const {
    return {memory.data(), usedBytes, ImageRegion::CopiedIn,
            "operand index arrays"};
  }
  size_t bytes() const;

private:
  class PartWriter;
  /// Positions of the first row that a part's tasks in a step read through a
  /// ragged operand: in the operand's array, and among all rows of the step.
  /// Before placeRaggedRows(), `begin` is the number of rows that these tasks
  /// read.
  struct RaggedRows {
    int64_t begin, inStep;
  };
  struct PartRows {
    std::vector<RaggedRows> steps; ///< indexed by kernel, operand and step
    RaggedRows *next = nullptr;    ///< next entry for placeRaggedRows()
    int64_t nextStep = 0;
  };
  /// Offsets in memory of the arrays of one operand.
  struct OperandArrays {
    int64_t rows = 0, offsets = 0, entries = 0;
  };
  int64_t placeRaggedRows(const TaskOrder &order, int64_t kernel);

  const Descriptor &descriptor;
  std::vector<std::vector<OperandArrays>> arrays; ///< [kernel][operand]
  /// [kernel][operand]: the first operand with the same array.
  std::vector<std::vector<size_t>> sameRows;
  std::deque<PartRows> ragged; ///< indexed by part
  Buffer memory;
  size_t usedBytes = 0;
};

} // namespace batchrt

#endif // BATCH_RUNTIME_INDEXARRAYS_H
