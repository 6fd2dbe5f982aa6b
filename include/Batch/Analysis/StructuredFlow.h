//===- StructuredFlow.h - Values in structured control flow -----*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_ANALYSIS_STRUCTUREDFLOW_H
#define BATCH_ANALYSIS_STRUCTUREDFLOW_H

#include "mlir/IR/Operation.h"

namespace mlir::batch {

/// Returns true if `value` may be used after `op` has run, or by ops in `op`.
/// Requires that `op` is nested, at any depth, in the block that defines the
/// value, and that all regions around `op` have a single block.
bool isLiveAfter(Value value, Operation *op);
/// Returns true if `value` is defined before `op`, in the block of `op` or in
/// an enclosing block.
bool isDefinedBefore(Value value, Operation *op);

/// Traces the values of a function or program to their origins, through views,
/// and through loops and branches that implement RegionBranchOpInterface.
class StructuredFlow {
public:
  explicit StructuredFlow(Operation *root);

  /// For a region argument or a result of control flow, returns the operands
  /// that may become `value`. For a view, returns the viewed operand. Returns
  /// no operands for any other value.
  ArrayRef<OpOperand *> getIncoming(Value value) const;
  /// Returns the values that `value` may be or may view. None of them is a
  /// view, or a region argument or result to which control flow forwards a
  /// value.
  SetVector<Value> getOrigins(Value value) const;
  /// Returns `values` and all values that may be, or view, one of them.
  SetVector<Value> getAliases(SetVector<Value> values) const;

private:
  void add(Value value, OpOperand *operand);

  DenseMap<Value, SmallVector<OpOperand *>> incoming;
  DenseMap<Value, SmallVector<Value>> outgoing;
};

} // namespace mlir::batch

#endif // BATCH_ANALYSIS_STRUCTUREDFLOW_H
