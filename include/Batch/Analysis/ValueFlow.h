//===- ValueFlow.h - Where tensors come from and go to ----------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_ANALYSIS_VALUEFLOW_H
#define BATCH_ANALYSIS_VALUEFLOW_H

#include "Batch/Analysis/InstanceProgram.h"
#include "Batch/Dialect/Rec/Rec.h"

namespace mlir::batch {

/// True for what the analyses below follow: tensors and lists of tensors.
bool carriesTensor(Type type);

/// The graph of tensor flow through an instance program, across calls, matches,
/// branches, loops and ADT fields. A list of tensors and the tensors in it are
/// one node each, joined by copy edges.
///
/// A *copy* edge hands a tensor on; a *compute* edge leads from an operand of a
/// tensor op (or kernel invocation) to its results.
class ValueFlow {
public:
  using Node = unsigned;

  explicit ValueFlow(const InstanceProgram &program);

  unsigned size() const { return copies.size(); }
  Node getNode(Value value) const { return nodes.lookup(value); }
  bool contains(Value value) const { return nodes.contains(value); }
  /// The node of field `field` of `variant`.
  Node getFieldNode(rec::VariantOp variant, unsigned field) const;
  bool containsField(rec::VariantOp variant, unsigned field) const {
    return fieldNodes.contains({variant, field});
  }
  ArrayRef<Node> getCopies(Node node) const { return copies[node]; }
  /// The value of a node; null for fields.
  Value getValue(Node node) const { return values[node]; }

  /// All nodes from which one of `targets` can be reached over edges of both
  /// kinds, the targets included.
  SmallVector<bool> ancestors(ArrayRef<Node> targets) const;
  /// All nodes that reach `target` over copy edges alone, the target included.
  SmallVector<Node> origins(Node target) const;

private:
  Node ensure(Value value);
  Node ensureField(rec::VariantOp variant, unsigned field);
  Node addNode(Value value);
  void copy(Value from, Value to);
  void copy(Node source, Node target);
  void visit(Operation *op);
  void visitYield(Operation *terminator, ValueRange operands);

  const InstanceProgram &program;
  SymbolTableCollection symbols;
  DenseMap<Value, Node> nodes;
  DenseMap<std::pair<Operation *, unsigned>, Node> fieldNodes;
  SmallVector<Value> values;
  SmallVector<SmallVector<Node, 2>> copies, reverseCopies, reverseComputes;
};

} // namespace mlir::batch

#endif // BATCH_ANALYSIS_VALUEFLOW_H
