//===- LaneReductions.h - Reductions that lanes share out -------*- C++ -*-===//
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

/// Reductions of a stage that several lanes of a warp share out, in a stage
/// without products: each of an element's lanes reduces every so many elements,
/// in ascending order, then lanes exchange partial results until all have the
/// same. How many lanes that are depends on sizes only, so that a row has the
/// same bits in every mini-batch and on any number of blocks.
class LaneReductions {
public:
  LaneReductions(const StagePlan &plan, const Stage &stage);

  /// The lanes of an element, a power of two; 1: it has a lane to itself.
  int64_t getLanes() const { return lanes; }
  /// The rows and columns of the elements that a warp computes at once.
  int64_t getTileRows() const { return kWarp / lanes / tileColumns; }
  int64_t getTileColumns() const { return tileColumns; }

  /// The results of a reduction at an element, in all of its lanes, of which
  /// this is number `member`; none after an error. All lanes of a warp get
  /// there.
  CodeBuilder::Values reduce(CodeBuilder &b, Evaluator &evaluator,
                             const Reduction &reduction, const Indices &element,
                             Value member) const;

private:
  static constexpr int64_t kWarp = 32; ///< lanes of a warp

  /// The lanes that pay for a reduction.
  static int64_t countLanes(const Reduction &reduction);
  int64_t chooseLanes(const StagePlan &plan, const Stage &stage) const;

  int64_t lanes, tileColumns;
};

} // namespace mlir::uprog

#endif // BATCH_CODEGEN_GPU_LANEREDUCTIONS_H
