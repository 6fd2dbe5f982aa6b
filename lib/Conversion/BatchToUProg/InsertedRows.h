//===- InsertedRows.h - Tensors that change in place ------------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_CONVERSION_BATCHTOUPROG_INSERTEDROWS_H
#define BATCH_CONVERSION_BATCHTOUPROG_INSERTEDROWS_H

#include "Batch/Analysis/StructuredFlow.h"
#include "Batch/Dialect/Batch/Batch.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::batch {

/// Finds the invocations that insert a slice into the row of an operand. A
/// kernel must have created this row, and nothing may read it afterwards. A
/// loop that would insert into any other initial value copies it first.
class InsertedRows {
public:
  explicit InsertedRows(func::FuncOp function);

  /// Returns the operand whose row an invocation overwrites with `result`, or
  /// null if `result` has its own row.
  OpOperand *getRoot(OpResult result) const { return roots.lookup(result); }
  /// Returns true if an insert may change a row that contains `value`.
  bool isChanged(Value value) const { return changed.contains(value); }
  /// Returns true if a loop must copy its initial value `initial`.
  bool isCopied(OpOperand &initial) const { return copied.contains(&initial); }

private:
  /// Returns true if `operand` is the last use of a value in `owned`.
  bool takes(OpOperand *operand, const SetVector<Value> &owned) const;
  SetVector<Value> findOwned(Value value) const;
  bool place(InvokeOp invoke, OpOperand &root);

  StructuredFlow flow;
  DenseMap<OpResult, OpOperand *> roots;
  DenseSet<Value> changed;
  DenseSet<OpOperand *> copied;
};

} // namespace mlir::batch

#endif // BATCH_CONVERSION_BATCHTOUPROG_INSERTEDROWS_H
