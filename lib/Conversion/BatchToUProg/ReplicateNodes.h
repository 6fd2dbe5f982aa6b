//===- ReplicateNodes.h - Data structures on all units ----------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_CONVERSION_BATCHTOUPROG_REPLICATENODES_H
#define BATCH_CONVERSION_BATCHTOUPROG_REPLICATENODES_H

#include "Batch/Analysis/ControlStructure.h"
#include "Batch/Analysis/StructuredFlow.h"
#include "Batch/Dialect/UProg/UProg.h"
#include "mlir/IR/IRMapping.h"

namespace mlir::batch {

/// Converts the ops of an instance that handle values of algebraic data types.
/// A match becomes a branch. A recursion becomes a loop over the nodes of the
/// instance, children first. The loop stores the results of each node. A
/// recursive call becomes a read of the results stored for the node that is its
/// argument. Tensor results are in rows that belong to the node.
class NodeConverter {
public:
  /// Interface to the converter of all other ops of a program.
  struct Rest {
    OpBuilder &builder;
    IRMapping &mapping;
    SymbolTable &symbols;
    std::function<Type(Type)> convertType;
    std::function<LogicalResult(Block &)> convertBlock;
    std::function<Value(OpOperand &)> getValue;
  };

  NodeConverter(func::FuncOp entry, const InstanceProgram &program,
                const Sharedness &sharedness, Rest rest)
      : entry(entry), program(program), sharedness(sharedness),
        recursions(program, sharedness), rest(std::move(rest)) {}

  /// Sets the instance that the program runs. Call this before the first op is
  /// converted.
  void setInstance(Value value) { instance = value; }
  /// Returns true for an op that this converter handles.
  static bool converts(Operation *op) {
    return isa<rec::MatchOp, rec::ConstructOp, func::CallOp>(op);
  }
  LogicalResult convert(Operation *op);
  /// Creates a row of the current node for a kernel's result. Returns null if
  /// the result needs no such row.
  Value makeRow(OpResult result, const Twine &name);

private:
  LogicalResult convert(rec::MatchOp match);
  LogicalResult convert(rec::ConstructOp construct);
  LogicalResult convert(func::CallOp call);
  LogicalResult convertRecursion(func::CallOp call);
  LogicalResult convertNode(func::FuncOp function, func::CallOp call,
                            Value number);
  void lookUp(func::CallOp call);
  Value makeRow(Location loc, const Twine &name, Type type);
  Value saveValue(OpOperand &operand);
  bool isInBuffer(Value tensor) const;
  bool readsOtherNodes(func::FuncOp function);
  Value makeConstant(Location loc, int64_t value);

  func::FuncOp entry;
  const InstanceProgram &program;
  const Sharedness &sharedness;
  RecursionClasses recursions;
  Rest rest;
  Value instance;
  Value node; ///< node of the current round; null outside loops over nodes
  std::optional<StructuredFlow> flow; ///< flow of the function at that node
  /// Results of nodes, by function.
  DenseMap<Operation *, uprog::NodeResultsOp> results;
};

} // namespace mlir::batch

#endif // BATCH_CONVERSION_BATCHTOUPROG_REPLICATENODES_H
