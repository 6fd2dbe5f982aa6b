//===- ValueClasses.h - Value classes of a program --------------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_ANALYSIS_VALUECLASSES_H
#define BATCH_ANALYSIS_VALUECLASSES_H

#include "Batch/Analysis/Sharedness.h"
#include "Batch/Analysis/ValueFlow.h"
#include "Batch/Dialect/Batch/Batch.h"
#include "llvm/ADT/IntEqClasses.h"

namespace mlir::batch {

/// All tensors that can be the same operand of a kernel, ADT field or result,
/// found by union-find over calls, matches, branches and loops. They are stored
/// as rows of one table, or are rows of sources.
struct ValueClass {
  /// Kernel results that are members, as pairs of kernel and result index.
  SmallVector<std::pair<KernelOp, unsigned>> producers;
  /// Parameters with rows in the class, as pairs of parameter index and row
  /// type.
  SmallVector<std::pair<int64_t, RankedTensorType>> parameterRows;
  /// True if an input tensor is a member: an argument of the entry, or a field
  /// of an input ADT.
  bool hasInputs = false;
  /// Type of a row, or null if no member is an input, a kernel result or a row
  /// of a parameter.
  RankedTensorType row;
  /// Readable name: the name of an ADT field, if one is a member.
  StringRef name;
};

/// Value classes of a program whose tensor code is outlined.
class ValueClasses {
public:
  ValueClasses(const InstanceProgram &program, const Sharedness &sharedness,
               const ValueFlow &flow);

  ArrayRef<ValueClass> getClasses() const { return classes; }
  /// Returns the index of the class of a value or field in getClasses(). All
  /// values and fields that carry tensors have a class.
  unsigned getClass(Value value) const;
  unsigned getFieldClass(rec::VariantOp variant, unsigned field) const;
  /// Returns the class of the values that `kernel` reads as argument
  /// `argument`.
  unsigned getOperandClass(KernelOp kernel, unsigned argument) const;
  unsigned getResultClass(KernelOp kernel, unsigned result) const;
  bool isInvoked(KernelOp kernel) const { return invoked.contains(kernel); }

private:
  bool isParameter(unsigned node) const;
  void mergeNodes(ArrayRef<KernelOp> kernels);
  /// Returns the class of a node, and creates the class if necessary.
  ValueClass &ensureClass(unsigned node);
  void addProducers(ArrayRef<KernelOp> kernels);
  void addParameterRow(unsigned node, int64_t parameter, RankedTensorType type);
  void addParameterRows();
  void addInput(unsigned node, Type type);
  void addInputs(ModuleOp module);

  const InstanceProgram &program;
  const Sharedness &sharedness;
  const ValueFlow &flow;
  SymbolTableCollection symbols;
  /// Union-find structure of the nodes of `flow`, followed by the operands and
  /// results of kernels.
  llvm::IntEqClasses merged;
  DenseMap<std::pair<Operation *, unsigned>, unsigned> operandNodes,
      resultNodes;
  DenseSet<Operation *> invoked;
  DenseMap<unsigned, unsigned> classOf;
  SmallVector<ValueClass> classes;
};

} // namespace mlir::batch

#endif // BATCH_ANALYSIS_VALUECLASSES_H
