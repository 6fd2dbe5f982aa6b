//===- PartialResults.h - Results of some of the elements -------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_CODEGEN_STAGES_PARTIALRESULTS_H
#define BATCH_CODEGEN_STAGES_PARTIALRESULTS_H

#include "Evaluator.h"

namespace mlir::uprog {

/// Combines the results of reducing some elements with the results of reducing
/// other elements. The combination is known for sums, products and similar
/// reductions, and for reductions that select the first of the largest or
/// smallest elements.
struct PartialResults {
  explicit PartialResults(linalg::LinalgOp op)
      : op(op), combiner(getCombiner(op)), selection(getSelection(op)),
        results(op->getNumResults()) {}

  bool isKnown() const { return combiner || selection; }

  /// Returns the results of a reduction over no elements, for the output at
  /// `position`. Returns no values after an error.
  CodeBuilder::Values ofNone(CodeBuilder &b, Evaluator &evaluator,
                             ArrayRef<Index> position) const;
  /// Combines results `x` and `y`, whose elements may be in any order.
  CodeBuilder::Values combine(CodeBuilder &b, ValueRange x, ValueRange y) const;
  /// Combines the results of all elements with the start values. Returns no
  /// values after an error.
  CodeBuilder::Values addStart(CodeBuilder &b, Evaluator &evaluator,
                               ArrayRef<Index> position, ValueRange all) const;

  mutable linalg::LinalgOp op;
  Operation *combiner; ///< combiner of a reduction with one result
  std::optional<Selection> selection;
  size_t results;
};

} // namespace mlir::uprog

#endif // BATCH_CODEGEN_STAGES_PARTIALRESULTS_H
