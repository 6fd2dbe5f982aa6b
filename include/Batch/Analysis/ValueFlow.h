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

/// True for what the analyses below follow: tensors and lists of tensors.
bool carriesTensor(Type type);

/// The error for an op that a ValueFlowWalker cannot follow.
std::string describeUnknownFlow(Operation *op);

/// Walks the edges along which values flow through the functions of a program,
/// as the interfaces of its ops state them: calls, RegionBranchOpInterface and
/// its terminators, BranchOpInterface, SelectLikeOpInterface, and
/// rec::ValueFlowOpInterface. Any other op computes each result from all of its
/// operands; it must be pure and may only use tensors and scalars.
class ValueFlowWalker {
public:
  using Visitor = function_ref<void(Operation *, const rec::ValueFlowEdge &)>;

  explicit ValueFlowWalker(const InstanceProgram &program) : program(program) {}

  /// Calls `visit` for every edge in `function`, op by op, with the edge's op.
  /// A computed result has an edge from null before those from operands. An
  /// operand that a terminator does not hand on decides control.
  void walk(func::FuncOp function, Visitor visit);

  /// The first op walked so far that does not state how values flow through it;
  /// null if all do.
  Operation *getUnknown() const { return unknown; }

private:
  void visitCall(func::CallOp call, func::FuncOp callee, Visitor visit);
  void visitPoint(RegionBranchOpInterface branch, Operation *point,
                  Visitor visit);

  const InstanceProgram &program;
  SymbolTableCollection symbols;
  Operation *unknown = nullptr;
};

/// The graph of tensor flow through an instance program, across calls, matches,
/// branches, loops and ADT fields. A list of tensors and the tensors in it are
/// one node each, joined by copy edges.
///
/// A *copy* edge hands a tensor on; a *compute* edge leads from a tensor that a
/// tensor op (or kernel invocation) reads to its results. An op that reads a
/// number reads the tensors that the number is computed from.
class ValueFlow {
public:
  using Node = unsigned;

  explicit ValueFlow(const InstanceProgram &program);

  /// Emits an error if an op does not state how values flow through it.
  LogicalResult verify() const;

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
  /// True if no op computes what reaches `node` over copy edges: arguments of
  /// the entry, and fields that the input or these fill.
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
  /// The tensors that a number is computed from.
  DenseMap<Value, SetVector<Node>> numberSources;
  SmallVector<Value> values;
  SmallVector<SmallVector<Node, 2>> copies, reverseCopies, reverseComputes;
};

} // namespace mlir::batch

#endif // BATCH_ANALYSIS_VALUEFLOW_H
