//===- ReductionLoops.h - The loops of a reduction --------------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_CODEGEN_STAGES_REDUCTIONLOOPS_H
#define BATCH_CODEGEN_STAGES_REDUCTIONLOOPS_H

#include "Evaluator.h"

namespace mlir::uprog {

/// The loops of a reduction: the outer ones in order, the last one in pieces,
/// one per operand of a concatenation.
struct ReductionLoops {
  explicit ReductionLoops(const Reduction &reduction);

  /// Nests the outer loops around `inner`, which makes the last one. `limits`
  /// are where loops end if that is before their extent, null if it is not;
  /// none end there if there are no `limits`.
  CodeBuilder::Values
  nest(CodeBuilder &b, CodeBuilder::Values carried, MutableArrayRef<Index> dims,
       llvm::function_ref<CodeBuilder::Values(CodeBuilder::Values)> inner,
       ArrayRef<Value> limits = {}, size_t depth = 0) const;
  /// The end of a piece of loop `depth`.
  static Value getEnd(CodeBuilder &b, int64_t end, Value limit);
  bool isLimited() const {
    return llvm::any_of(limits, [](Value limit) { return bool(limit); });
  }
  /// The position of an element among all, whose indices are in `at`.
  Value flatten(CodeBuilder &b, ArrayRef<Index> at) const;

  SmallVector<unsigned> dims;
  SmallVector<int64_t> extents;
  /// The number, in the body, from which index on a loop leaves all results as
  /// they are; null for a loop that has none.
  SmallVector<Value> limits;
  SmallVector<std::pair<int64_t, int64_t>> pieces; ///< of the last one
};

/// True if a contraction with a parameter reads elements [begin, end) of both
/// operands in whole vectors.
bool readsVectors(const Reduction &reduction, int64_t begin, int64_t end,
                  int64_t lanes);

} // namespace mlir::uprog

#endif // BATCH_CODEGEN_STAGES_REDUCTIONLOOPS_H
