//===- InstanceProgram.h - The functions for one instance -------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_ANALYSIS_INSTANCEPROGRAM_H
#define BATCH_ANALYSIS_INSTANCEPROGRAM_H

#include "Batch/Dialect/Batch/Batch.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/MapVector.h"

namespace mlir::batch {

/// Functions that an entry reaches, and their strongly connected components.
/// Mutually recursive functions form one component.
class InstanceProgram {
public:
  /// Looks up the entry of `module`; `getEntry()` is null if there is none.
  explicit InstanceProgram(ModuleOp module);

  func::FuncOp getEntry() const { return entry; }
  /// Returns the strategy of the entry, or `auto` if none has been chosen yet.
  Strategy getStrategy() const;
  /// Returns all functions that the entry reaches, in module order.
  ArrayRef<func::FuncOp> getFunctions() const { return functions; }
  /// Returns the components, callees before callers.
  ArrayRef<SmallVector<func::FuncOp>> getComponents() const {
    return components;
  }
  /// Returns the function that `call` calls.
  func::FuncOp getCallee(func::CallOp call) const;
  /// Returns the index of the component of `function` in getComponents().
  unsigned getComponent(func::FuncOp function) const {
    return componentOf.lookup(function);
  }
  /// Returns true if `function` may call itself, directly or indirectly.
  bool isRecursive(func::FuncOp function) const;
  /// Returns true if the caller and the callee of `call` are in the same
  /// component.
  bool isRecursiveCall(func::CallOp call) const;
  /// Returns the calls to `function` from functions that the entry reaches.
  ArrayRef<func::CallOp> getCallers(func::FuncOp function) const;

private:
  func::FuncOp entry;
  SmallVector<func::FuncOp> functions;
  SmallVector<SmallVector<func::FuncOp>> components;
  DenseMap<Operation *, unsigned> componentOf;
  DenseMap<StringAttr, func::FuncOp> byName;
  DenseMap<Operation *, SmallVector<func::CallOp>> callers;
  DenseSet<Operation *> recursive;
};

} // namespace mlir::batch

#endif // BATCH_ANALYSIS_INSTANCEPROGRAM_H
