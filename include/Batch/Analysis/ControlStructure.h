//===- ControlStructure.h - Structural control and recursion ----*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_ANALYSIS_CONTROLSTRUCTURE_H
#define BATCH_ANALYSIS_CONTROLSTRUCTURE_H

#include "Batch/Analysis/TensorCode.h"
#include "Batch/Analysis/ValueFlow.h"
#include "Batch/Dialect/Rec/AdtLookup.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mlir::batch {

/// A place where control needs, or may need, the value of a tensor.
struct TensorControl {
  enum Reason {
    Unstructured, ///< a function that is not one block of structured control
    Force,        ///< a `batch.force`
    Element,      ///< an element of a computed tensor
    Decision,     ///< a branch, match or loop on a value of a tensor op
  };
  Operation *op = nullptr;
  Reason reason = Unstructured;

  /// The reason in words, as the predicate of a sentence about `op`.
  StringRef getDescription() const;
};

/// The tensors whose elements control reads without a wait: inputs, fields of
/// these, and parameters, including function arguments that receive them.
class InputTensors {
public:
  InputTensors(const InstanceProgram &program, const Sharedness &sharedness)
      : program(program), sharedness(sharedness) {}
  bool contains(Value tensor);

private:
  const InstanceProgram &program;
  const Sharedness &sharedness;
  std::optional<ValueFlow> flow; ///< created on first use
};

/// Is every branch and call of a program decided by ADT tags and per-instance
/// scalars alone? Only then can an inspector run ahead of all tensor code.
///
/// Scalars and ADT values are followed forward from the ops that compute them
/// from tensors, through arithmetic, control, calls and ADT fields. Extents and
/// lengths belong to the data structure, and so do elements of inputs and
/// parameters that control reads.
class StructuralControl {
public:
  StructuralControl(const InstanceProgram &program,
                    const Sharedness &sharedness);

  /// True if `value`, a scalar or an ADT value, does not depend on a tensor
  /// that an op computes.
  bool isStructural(Value value) const { return !computed.contains(value); }
  /// The first place where control needs a tensor: in module order the first
  /// op that reads one for it, else the first that is decided by one.
  std::optional<TensorControl> getTensorControl() const { return control; }
  /// Where control reads an element of a computed tensor, in module order; not
  /// all if a function is not structured.
  ArrayRef<tensor::ExtractOp> getWaits() const { return waits; }

private:
  void findReads(const InstanceProgram &program, const Sharedness &sharedness);
  void findComputed(const InstanceProgram &program);
  void followComputed(const InstanceProgram &program);

  std::optional<TensorControl> control;
  SmallVector<tensor::ExtractOp> waits;
  DenseSet<Value> computed;
  DenseSet<Operation *> inputReads; ///< where control reads an input's element
};

/// True if there is a `batch.force` in `op` or in what it calls.
bool mayWait(Operation *op, const InstanceProgram &program);

/// Functions that call each other.
struct RecursionClass {
  SmallVector<func::FuncOp> functions;
  /// True if one loop over all nodes, children first, can replace the recursion
  /// (Cortex, section 2: properties P.1 to P.3): it takes nothing but a node
  /// and parameters, visits every node of the structure, and is never called on
  /// anything else.
  bool onePass = false;
  /// The same, but a function that calls only itself may also take what its
  /// recursive calls hand on as it is: then a loop for each other call of it
  /// can replace the recursion.
  bool onePassPerCall = false;
};

/// The recursion classes of the recursive components of a program.
class RecursionClasses {
public:
  RecursionClasses(const InstanceProgram &program,
                   const Sharedness &sharedness);

  /// One class per recursive component, callees before callers.
  ArrayRef<RecursionClass> getClasses() const { return classes; }

private:
  RecursionClass classify(ArrayRef<func::FuncOp> component) const;
  bool isOnePass(func::FuncOp function) const;
  bool handsOn(func::FuncOp function, BlockArgument argument) const;
  bool coversAllNodes(func::FuncOp function) const;
  bool takesInputs(func::FuncOp function) const;

  const InstanceProgram &program;
  const Sharedness &sharedness;
  /// Mutable because lookups fill its caches.
  mutable SymbolTableCollection symbols;
  SmallVector<RecursionClass> classes;
};

} // namespace mlir::batch

#endif // BATCH_ANALYSIS_CONTROLSTRUCTURE_H
