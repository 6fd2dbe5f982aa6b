//===- ValueFlow.h - Flow of tensors through a program ----------*- C++ -*-===//
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

/// Returns true for the types that the analyses below follow: tensors and lists
/// of tensors.
bool carriesTensor(Type type);

/// Returns an error message for an op that a ValueFlowWalker cannot follow.
std::string describeUnknownFlow(Operation *op);

/// Walker over the edges along which values flow through the functions of a
/// program. The interfaces of the program's ops specify the edges: calls,
/// RegionBranchOpInterface and its terminators, BranchOpInterface,
/// SelectLikeOpInterface, and rec::ValueFlowOpInterface. Any other op computes
/// each result from all of its operands; it must be pure and may only use
/// tensors and scalars.
class ValueFlowWalker {
public:
  using Visitor = function_ref<void(Operation *, const rec::ValueFlowEdge &)>;

  explicit ValueFlowWalker(const InstanceProgram &program) : program(program) {}

  /// Calls `visit` with each op in `function` and each of its edges, one op
  /// after another. A computed result has an edge from null before the edges
  /// from its operands. An operand that a terminator does not forward has a
  /// Decide edge.
  void walk(func::FuncOp function, Visitor visit);

  /// Returns the first op walked so far that does not specify how values flow
  /// through it, or null if there is none.
  Operation *getUnknown() const { return unknown; }

private:
  void visitCall(func::CallOp call, func::FuncOp callee, Visitor visit);
  void visitPoint(RegionBranchOpInterface branch, Operation *point,
                  Visitor visit);

  const InstanceProgram &program;
  SymbolTableCollection symbols;
  Operation *unknown = nullptr;
};

/// Graph of tensor flow through an instance program, across calls, matches,
/// branches, loops and ADT fields. A list of tensors is one node. Copy edges
/// connect this node with the nodes of values that are put into the list or
/// taken from it.
///
/// A *copy* edge forwards a tensor. A *compute* edge leads from a tensor that a
/// tensor op or kernel invocation reads to a result of this op. An op that
/// reads a number also reads the tensors from which the number is computed.
class ValueFlow {
public:
  using Node = unsigned;

  explicit ValueFlow(const InstanceProgram &program);

  /// Emits an error if an op does not specify how values flow through it.
  LogicalResult verify() const;

  unsigned size() const { return copies.size(); }
  Node getNode(Value value) const { return nodes.lookup(value); }
  bool contains(Value value) const { return nodes.contains(value); }
  /// Returns the node of field `field` of `variant`.
  Node getFieldNode(rec::VariantOp variant, unsigned field) const;
  bool containsField(rec::VariantOp variant, unsigned field) const {
    return fieldNodes.contains({variant, field});
  }
  ArrayRef<Node> getCopies(Node node) const { return copies[node]; }
  /// Returns the value of a node, or null for a field.
  Value getValue(Node node) const { return values[node]; }

  /// Returns true for each node from which one of `targets` can be reached over
  /// edges of either kind, including the targets.
  SmallVector<bool> ancestors(ArrayRef<Node> targets) const;
  /// Returns all nodes that reach `target` over copy edges only, including the
  /// target.
  SmallVector<Node> origins(Node target) const;
  /// Returns true if no op computes the values that reach `node` over copy
  /// edges. All of these values then come from arguments of the entry or from
  /// fields of inputs.
  bool holdsInputs(Node node) const;

private:
  Node ensure(Value value);
  Node ensureField(rec::VariantOp variant, unsigned field);
  Node addNode(Value value);
  void copy(Node source, Node target);
  void add(const rec::ValueFlowEdge &edge);

  Operation *unknown = nullptr;
  func::FuncOp entry;
  DenseMap<Value, Node> nodes;
  DenseMap<std::pair<Operation *, unsigned>, Node> fieldNodes;
  /// Tensors from which a number is computed.
  DenseMap<Value, SetVector<Node>> numberSources;
  SmallVector<Value> values;
  SmallVector<SmallVector<Node, 2>> copies, reverseCopies, reverseComputes;
};

} // namespace mlir::batch

#endif // BATCH_ANALYSIS_VALUEFLOW_H
