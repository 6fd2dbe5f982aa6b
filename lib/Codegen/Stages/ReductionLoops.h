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

/// Loops of a reduction: the outer loops in order, and the last loop in pieces,
/// one per operand of a concatenation.
struct ReductionLoops {
  explicit ReductionLoops(const Reduction &reduction);

  /// Nests the outer loops around `inner`, which builds the last loop. A loop
  /// ends at its limit if the limit is less than the extent of the loop. A
  /// limit may be null, and `limits` may be empty.
  CodeBuilder::Values
  nest(CodeBuilder &b, CodeBuilder::Values carried, MutableArrayRef<Index> dims,
       llvm::function_ref<CodeBuilder::Values(CodeBuilder::Values)> inner,
       ArrayRef<Value> limits = {}, size_t depth = 0) const;
  /// Returns the end of a piece of a loop: `end`, or `limit` if it is less than
  /// `end`. `limit` may be null.
  static Value getEnd(CodeBuilder &b, int64_t end, Value limit);
  bool isLimited() const {
    return llvm::any_of(limits, [](Value limit) { return bool(limit); });
  }
  /// Among all reduced elements, returns the position of the element with the
  /// indices in `at`.
  Value flatten(CodeBuilder &b, ArrayRef<Index> at) const;

  SmallVector<unsigned> dims;
  SmallVector<int64_t> extents;
  /// Limit of each loop, a value of the body: from this index on, the loop
  /// leaves all results unchanged. Null if the loop has no limit.
  SmallVector<Value> limits;
  SmallVector<std::pair<int64_t, int64_t>> pieces; ///< pieces of the last loop
};

/// Returns true if a contraction with a parameter reads elements [begin, end)
/// of both operands in whole vectors.
bool readsVectors(const Reduction &reduction, int64_t begin, int64_t end,
                  int64_t lanes);

} // namespace mlir::uprog

#endif // BATCH_CODEGEN_STAGES_REDUCTIONLOOPS_H
