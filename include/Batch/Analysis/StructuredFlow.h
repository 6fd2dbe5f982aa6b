//===- StructuredFlow.h - Values in structured control ----------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_ANALYSIS_STRUCTUREDFLOW_H
#define BATCH_ANALYSIS_STRUCTUREDFLOW_H

#include "mlir/IR/Operation.h"

namespace mlir::batch {

/// True if `value` may be used after `op` has run, or by what is in `op`. All
/// control around is structured: its regions have one block. `op` is where the
/// value is defined.
bool isLiveAfter(Value value, Operation *op);
/// True if `value` is defined where `op` is, or around it, before it.
bool isDefinedBefore(Value value, Operation *op);

/// Where values come from in a function or program, through the loops and
/// branches that say so (RegionBranchOpInterface) and views.
class StructuredFlow {
public:
  explicit StructuredFlow(Operation *root);

  /// The operands that `value`, an argument of a region or a result of control,
  /// may be; the one that it is a view of; none if it is neither.
  ArrayRef<OpOperand *> getIncoming(Value value) const;
  /// The values that `value` may be, or be a view of, themselves neither handed
  /// on nor views.
  SetVector<Value> getOrigins(Value value) const;
  /// These values, and all that may be one of them, or a view of it.
  SetVector<Value> getAliases(SetVector<Value> values) const;

private:
  void add(Value value, OpOperand *operand);

  DenseMap<Value, SmallVector<OpOperand *>> incoming;
  DenseMap<Value, SmallVector<Value>> outgoing;
};

} // namespace mlir::batch

#endif // BATCH_ANALYSIS_STRUCTUREDFLOW_H
