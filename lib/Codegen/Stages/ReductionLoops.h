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

  /// Nests the outer loops around `inner`, which makes the last one.
  CodeBuilder::Values
  nest(CodeBuilder &b, CodeBuilder::Values carried, MutableArrayRef<Index> dims,
       llvm::function_ref<CodeBuilder::Values(CodeBuilder::Values)> inner,
       size_t depth = 0) const;

  SmallVector<unsigned> dims;
  SmallVector<int64_t> extents;
  SmallVector<std::pair<int64_t, int64_t>> pieces; ///< of the last one
};

/// True if a contraction with a parameter reads elements [begin, end) of both
/// operands in whole vectors.
bool readsVectors(const Reduction &reduction, int64_t begin, int64_t end,
                  int64_t lanes);

} // namespace mlir::uprog

#endif // BATCH_CODEGEN_STAGES_REDUCTIONLOOPS_H
