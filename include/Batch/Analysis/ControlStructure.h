//===- ControlStructure.h - Structure of control flow -----------*- C++ -*-===//
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

/// Place where control flow needs, or may need, the value of a tensor.
struct TensorControl {
  enum Reason {
    Unstructured, ///< a function that is not one block of structured control
                  ///< flow
    Force,        ///< a `batch.force`
    Element,      ///< an element of a computed tensor
    Decision,     ///< a branch, match or loop that depends on a tensor op
  };
  Operation *op = nullptr;
  Reason reason = Unstructured;

  /// Returns the reason as a verb phrase with subject `op`, such as "waits for
  /// a tensor".
  StringRef getDescription() const;
};

/// Tensors from which control flow can read elements without waiting: inputs,
/// their fields, and parameters, including function arguments that receive
/// them.
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

/// Determines whether every branch and call of a program depends only on ADT
/// tags and per-instance scalars. Only then can an inspector run ahead of all
/// tensor code.
///
/// The analysis follows scalars and ADT values forward from the ops that
/// compute them from tensors, through arithmetic, control flow, calls and ADT
/// fields. Extents and lengths count as structural. So do elements that control
/// flow reads from inputs and parameters.
class StructuralControl {
public:
  StructuralControl(const InstanceProgram &program,
                    const Sharedness &sharedness);

  /// Returns true if `value`, a scalar or an ADT value, does not depend on a
  /// tensor that an op computes.
  bool isStructural(Value value) const { return !computed.contains(value); }
  /// Returns the first place where control flow needs, or may need, a tensor.
  /// In module order, this is the first unstructured function or op that reads
  /// a tensor for control flow. If there is none, it is the first op whose
  /// control flow depends on a tensor.
  std::optional<TensorControl> getTensorControl() const { return control; }
  /// Returns, in module order, the ops that read elements of computed tensors
  /// for control flow. The list may be incomplete if a function is not
  /// structured.
  ArrayRef<tensor::ExtractOp> getWaits() const { return waits; }

private:
  void findReads(const InstanceProgram &program, const Sharedness &sharedness);
  void findComputed(const InstanceProgram &program);
  void followComputed(const InstanceProgram &program);

  std::optional<TensorControl> control;
  SmallVector<tensor::ExtractOp> waits;
  DenseSet<Value> computed;
  DenseSet<Operation *> inputReads; ///< reads of input elements by control flow
};

/// Returns true if `op`, or a function that it reaches through calls, contains
/// a `batch.force`.
bool mayWait(Operation *op, const InstanceProgram &program);

/// Mutually recursive functions.
struct RecursionClass {
  SmallVector<func::FuncOp> functions;
  /// True if one loop over all nodes, children first, can replace the recursion
  /// (Cortex, section 2: properties P.1 to P.3). The recursion then takes only
  /// parameters and a node of the input, and visits every node of the data
  /// structure.
  bool onePass = false;
  /// Like `onePass`, but a function that calls only itself may also take
  /// arguments that its recursive calls pass unchanged. For each call from
  /// outside the recursion, one loop can then replace the recursion.
  bool onePassPerCall = false;
};

/// Recursion classes of the recursive components of a program.
class RecursionClasses {
public:
  RecursionClasses(const InstanceProgram &program,
                   const Sharedness &sharedness);

  /// Returns one class per recursive component, callees before callers.
  ArrayRef<RecursionClass> getClasses() const { return classes; }

private:
  RecursionClass classify(ArrayRef<func::FuncOp> component) const;
  bool isOnePass(func::FuncOp function) const;
  bool passesUnchanged(func::FuncOp function, BlockArgument argument) const;
  bool coversAllNodes(func::FuncOp function) const;
  bool takesInputs(func::FuncOp function) const;

  const InstanceProgram &program;
  const Sharedness &sharedness;
  /// Mutable because lookups fill the caches.
  mutable SymbolTableCollection symbols;
  SmallVector<RecursionClass> classes;
};

} // namespace mlir::batch

#endif // BATCH_ANALYSIS_CONTROLSTRUCTURE_H
