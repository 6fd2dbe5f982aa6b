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
/// Requires that `op` is in the block that defines the value, at any depth, and
/// that all control flow around it is structured, that is, its regions have one
/// block.
bool isLiveAfter(Value value, Operation *op);
/// Returns true if `value` is defined before `op`, in its block or in a block
/// around it.
bool isDefinedBefore(Value value, Operation *op);

/// Origins of values in a function or program, through views and through the
/// loops and branches that implement RegionBranchOpInterface.
class StructuredFlow {
public:
  explicit StructuredFlow(Operation *root);

  /// Returns the operands that may become `value`, a region argument or a
  /// result of control flow, or the operand of which it is a view. Returns none
  /// if it is neither.
  ArrayRef<OpOperand *> getIncoming(Value value) const;
  /// Returns the values that `value` may be, or of which it may be a view.
  /// These values are neither views nor forwarded by control flow.
  SetVector<Value> getOrigins(Value value) const;
  /// Returns `values`, and all values that may be one of them or a view of it.
  SetVector<Value> getAliases(SetVector<Value> values) const;

private:
  void add(Value value, OpOperand *operand);

  DenseMap<Value, SmallVector<OpOperand *>> incoming;
  DenseMap<Value, SmallVector<Value>> outgoing;
};

} // namespace mlir::batch

#endif // BATCH_ANALYSIS_STRUCTUREDFLOW_H
