//===- InspectorWaits.h - What may wait in inspectors -----------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_ANALYSIS_INSPECTORWAITS_H
#define BATCH_ANALYSIS_INSPECTORWAITS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/DenseSet.h"

namespace mlir::batch {

/// What may wait in the inspectors of a module: a batch.await, calls of
/// functions that may, and ops with either in their regions.
class InspectorWaits {
public:
  explicit InspectorWaits(ModuleOp module);
  bool operator()(Operation *op) const;
  bool hasFunctions() const { return !functions.empty(); }

private:
  DenseSet<StringAttr> functions;
};

} // namespace mlir::batch

#endif // BATCH_ANALYSIS_INSPECTORWAITS_H
