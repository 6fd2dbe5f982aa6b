//===- InspectorWaits.h - Ops that may wait in inspectors -------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_ANALYSIS_INSPECTORWAITS_H
#define BATCH_ANALYSIS_INSPECTORWAITS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace mlir::batch {

/// Set of the ops that may wait in the inspectors of a module: batch.await,
/// calls of functions that may wait, and ops whose regions contain such ops.
class InspectorWaits {
public:
  explicit InspectorWaits(ModuleOp module);
  bool operator()(Operation *op) const;
  /// Returns true if a fork of `ops`, which are in program order, may save a
  /// flush: the ops may wait for a row that they record, or record a row before
  /// they wait. Otherwise, they wait only for rows that were recorded earlier,
  /// and one flush computes all of these rows.
  bool gainsByFork(ArrayRef<Operation *> ops) const;
  bool hasFunctions() const { return !functions.empty(); }

private:
  enum class First { Nothing, MaybeWait, Wait, Record };

  bool addAwaited(func::FuncOp function);
  bool waitsForOwnRows(ArrayRef<Operation *> ops) const;
  First findFirst(Operation *op, DenseSet<Operation *> &calls) const;
  First findFirst(Region &region, DenseSet<Operation *> &calls) const;

  DenseSet<StringAttr> functions;
  /// Functions that wait only for rows that are passed as arguments. The bits
  /// of a function mark the arguments that it waits for.
  DenseMap<StringAttr, llvm::BitVector> awaited;
};

} // namespace mlir::batch

#endif // BATCH_ANALYSIS_INSPECTORWAITS_H
