//===- Replicator.h - The program of an instance ----------------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_CONVERSION_BATCHTOUPROG_REPLICATOR_H
#define BATCH_CONVERSION_BATCHTOUPROG_REPLICATOR_H

#include "Batch/Analysis/LoopLayers.h"
#include "Batch/Dialect/UProg/UProg.h"
#include "InsertedRows.h"
#include "ReplicateNodes.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"

namespace mlir::batch {

/// Loop with a known number of rounds.
struct CountedLoop {
  LoopLikeOpInterface op;
  Block &body;
  Value lower, upper, step; ///< values in the program
  /// Maps the values that depend on the round number, given this number.
  std::function<void(Value)> mapRound;
  Block::BlockArgListType carried; ///< other arguments of the body
  SmallVector<Value> inits;        ///< initial values in the program

  MutableArrayRef<OpOperand> getYielded() const {
    return *LoopLikeOpInterface(op).getYieldedValuesMutable();
  }
};

/// Result of a task, and the row that stores it for all rounds of a group.
using StoredResult = std::pair<Value, Value>;

struct RoundGroup;

/// Returns a name for the buffer of a kernel's result.
std::string nameResult(OpResult result);

/// Builds the program that runs one instance of an entry. The program contains
/// the control flow of the entry. Each invocation becomes a uprog.site, or a
/// uprog.batch if its tasks of many rounds run together.
class Replicator {
public:
  explicit Replicator(func::FuncOp entry);

  /// Fills the body of a program whose argument is the instance. Emits an error
  /// and fails if an op cannot be converted.
  LogicalResult fillProgram(uprog::ProgramOp instances);

private:
  Type convertType(Type type);
  uprog::RowOp makeRow(Location loc, const Twine &name, Type type);
  void mapArguments(Value instance);
  Value getValue(OpOperand &operand);
  SmallVector<Value> getValues(MutableArrayRef<OpOperand> operands);
  LogicalResult convertBlock(Block &block);
  LogicalResult convertRegion(Region &from, Region &to);
  LogicalResult convert(Operation *op);
  LogicalResult convert(InvokeOp invoke);
  LogicalResult convert(tensor::ExtractOp extract);
  LogicalResult convert(tensor::ExtractSliceOp slice);
  LogicalResult convert(scf::ForOp loop);
  LogicalResult convert(scf::WhileOp loop);
  LogicalResult convert(scf::IfOp branch);
  LogicalResult convert(scf::IndexSwitchOp branch);
  LogicalResult convert(rec::FoldOp loop);
  LogicalResult convertCounted(const CountedLoop &loop);
  LoopLayers findLayers(LoopLikeOpInterface loop);
  Value makeGroupRow(OpResult result);
  void mapStored(ArrayRef<StoredResult> stored, Value number);
  Value limitRounds(scf::ForOp loop, Value lower, Value upper, Value step);
  Value countRounds(const CountedLoop &loop, Value begin, Value end);
  LogicalResult runAhead(RoundGroup &group, InvokeOp invoke);
  LogicalResult convertOps(const RoundGroup &group, unsigned layer);
  LogicalResult convertLayer(RoundGroup &group, unsigned layer,
                             MutableArrayRef<Value> carried);
  LogicalResult convertWavefront(RoundGroup &group,
                                 MutableArrayRef<Value> carried);
  void convertReturn(func::ReturnOp end, Value instance);

  func::FuncOp entry;
  ModuleOp module;
  SymbolTable symbols;
  InstanceProgram program;
  Sharedness sharedness;
  InsertedRows inserted;
  uprog::OperatorMap operators;
  OpBuilder builder;
  Type rowType;
  IRMapping mapping;
  /// Rows of results that were created before the tasks that write them.
  DenseMap<Value, Value> places;
  NodeConverter nodes;
};

} // namespace mlir::batch

#endif // BATCH_CONVERSION_BATCHTOUPROG_REPLICATOR_H
