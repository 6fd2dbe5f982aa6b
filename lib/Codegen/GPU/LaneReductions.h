//===- LaneReductions.h - Reductions that lanes divide ----------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_CODEGEN_GPU_LANEREDUCTIONS_H
#define BATCH_CODEGEN_GPU_LANEREDUCTIONS_H

#include "../Stages/PartialResults.h"
#include "WordMath.h"

namespace mlir::uprog {

/// Reductions that several lanes of a warp compute together, in a stage without
/// products. Each of an element's n lanes reduces every n-th value, in
/// ascending order. Then the lanes exchange partial results until all have the
/// same result. The number of lanes depends on sizes only, so a row has the
/// same bits in every mini-batch and on any number of blocks.
class LaneReductions {
public:
  LaneReductions(const StagePlan &plan, const Stage &stage);

  /// Returns the number of lanes per element, a power of two.
  int64_t getLanes() const { return lanes; }
  /// Returns the number of rows in the tile of elements that a warp computes at
  /// once; getTileColumns() returns the number of columns.
  int64_t getTileRows() const { return kWarp / lanes / tileColumns; }
  int64_t getTileColumns() const { return tileColumns; }

  /// Returns the results of a reduction at an element, or no values after an
  /// error. All lanes of the element get the results; `member` is the number of
  /// this lane among them. All lanes of a warp must run the code.
  CodeBuilder::Values reduce(CodeBuilder &b, Evaluator &evaluator,
                             const Reduction &reduction, const Indices &element,
                             Value member) const;

private:
  static constexpr int64_t kWarp = 32; ///< lanes of a warp

  /// Returns the number of lanes among which a reduction should be divided.
  static int64_t countLanes(const Reduction &reduction);
  int64_t chooseLanes(const StagePlan &plan, const Stage &stage) const;

  int64_t lanes, tileColumns;
};

} // namespace mlir::uprog

#endif // BATCH_CODEGEN_GPU_LANEREDUCTIONS_H
