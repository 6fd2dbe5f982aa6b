//===- LaneCode.h - Code between the blocks of lanes ------------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The code of a lockstep program besides kernels: it chooses the next block,
// lists its lanes, moves rows of variables, and decides where lanes go. Its
// state is a BatchLanes (ABI.h). It is run by one thread, or by the threads of
// a GPU's block together, which share the lanes and the pieces of wide rows.
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_CODEGEN_LANES_LANECODE_H
#define BATCH_CODEGEN_LANES_LANECODE_H

#include "../UnitThreads.h"
#include "Batch/Dialect/Batch/MachineLayout.h"
#include "Batch/Target/ABI/ContextAccess.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

namespace mlir::batch {

/// Emits that code at the insertion point of a builder. The threads of a group
/// run it together, with a barrier before it and at the end of every section.
/// Only blockKeys() and enterBlock() run on one thread.
class LaneCode {
public:
  /// `context` and `lanes` are !llvm.ptr to a BatchContext and a BatchLanes.
  LaneCode(OpBuilder &builder, Location loc, MachineOp machine, Value context,
           Value lanes, const UnitThreads &unit = {});

  /// Makes the function that the code below calls: a lane hands over the
  /// results of its instance, if that has ended, and takes the next one.
  void makeNextInstance(func::FuncOp entry);

  void startLanes();
  /// The priority of a block (i64), and since when a lane waits for it: two
  /// i64s; the lower, the sooner it runs.
  std::pair<Value, Value> blockKeys(Value block);
  /// The number of the next block (i64), and whether there is one (i1), given
  /// the preferred one, the one waited for longest, and since when (i64s).
  std::pair<Value, Value> nextBlock(Value preferred, Value oldest, Value came);
  /// The number of lanes (i64) that run a block, and the address of their list.
  std::pair<Value, Value> laneList();
  /// An i1: whether a lane (i64) runs a block (i64).
  Value enterBlock(Value lane, Value block);
  /// The address of the step of a block that `count` lanes run (i64).
  Value takeLanes(Value block, Value count);
  /// The code before the kernel, and the code after it.
  void runPrologue(BlockOp block);
  void runEpilogue(BlockOp block);
  void leaveFrame();

private:
  Value constant(int64_t value) { return cb.constant(value); }
  Value add(Value a, Value b);
  Value mul(Value a, Value b);
  Value compare(arith::CmpIPredicate predicate, Value a, Value b);
  Value select(Value condition, Value a, Value b);
  void when(Value condition, function_ref<void()> body,
            function_ref<void()> otherwise = nullptr);
  /// The value of one of two pieces of code, of which only that one runs.
  Value either(Value condition, function_ref<Value()> body,
               function_ref<Value()> otherwise);
  /// A loop over i64 numbers from 0 to `count` - 1.
  void loop(Value count, function_ref<void(Value)> body);
  /// The same, shared among the threads.
  void share(Value count, function_ref<void(Value)> body);
  void byFirstThread(function_ref<void()> body);
  void emitBarrier();

  /// Fields of the BatchLanes. The code changes no limits and no pointers, so
  /// that their loads can be hoisted out of loops.
  Value number(abi::Field field);
  void setNumber(abi::Field field, Value value);
  Value limit(abi::Field field);
  Value array(abi::Field field);
  Value load(Value base, Value index) { return cb.loadCell(base, index); }
  void store(Value base, Value index, Value value) {
    cb.storeCell(base, index, value);
  }
  Value bytesAt(Value base, Value offset);

  /// The unit of work of a thread: all of a lane, or a piece of a row.
  enum class Share { Nothing, Lanes, Pieces };
  /// Emits a barrier where another thread goes on with a lane.
  void shareBy(Share next);
  Value laneAt(Value active, Value place);
  /// For each lane that runs the current block: its place among them, and the
  /// lane.
  void forActive(function_ref<void(Value, Value)> body) {
    forActive(number(abi::kLanesCount), body);
  }
  /// For each of these and each piece of its row of a variable.
  void forPieces(const MachineLayout::Variable &variable,
                 function_ref<void(Value, Value, Value)> body) {
    forPieces(variable, number(abi::kLanesCount), body);
  }
  /// For the first `count` of them.
  void forActive(Value count, function_ref<void(Value, Value)> body);
  void forPieces(const MachineLayout::Variable &variable, Value count,
                 function_ref<void(Value, Value, Value)> body);
  /// True if threads share the pieces of rows, not lanes.
  bool isWide(const MachineLayout::Variable &variable);
  Value variable(const MachineLayout::Variable &variable, abi::Field field);
  Value topRow(const MachineLayout::Variable &variable, Value lane);
  /// The addresses of a variable's value, for reads and writes.
  Value currentRow(const MachineLayout::Variable &variable, Value lane);
  Value stackRow(const MachineLayout::Variable &variable, Value entry,
                 Value lane);
  void copyRow(Value to, Value from, const MachineLayout::Variable &variable);
  void copyPiece(Value to, Value from, const MachineLayout::Variable &variable,
                 Value piece);
  Value pieceOffset(const MachineLayout::Variable &variable, Value piece);
  /// Initializes rows with zeros: the current ones, and the lowest ones.
  void clearRows(const MachineLayout::Variable &variable);
  /// True if all lanes run the block.
  Value isMasked();
  /// The row of result `result` of the block's kernel for a lane.
  Value resultRow(InvokeOp invoke, OpResult result, Value place, Value lane);
  Value valueRow(Value value, Value place, Value lane);

  void push(PushOp op);
  void push(PushOp op, Value place, Value lane);
  void pop(PopOp op);
  void set(SetOp op);
  /// Copies the current row of a variable to its tops, which kernels read.
  void copyToTops(const MachineLayout::Variable &variable);
  /// Adds an entry to a stack if it has room; else the lane's instance ends
  /// with an error.
  Value makeRoom(Value depths, Value lane);
  /// Makes a lane wait for a block of a frame.
  void arrive(Value lane, Value frame, Value target);
  void leave(Operation *terminator, Value place, Value lane);
  bool canFail(BlockOp block);
  /// Stores an instance's results where the caller wants them, and a new
  /// instance's arguments in the lane's variables.
  void handOverResults(func::FuncOp entry, Value lane);
  void takeArguments(func::FuncOp entry, Value lane, Value instance);
  void callNextInstance(Value lane, bool done);
  /// True if instances come from a stream.
  Value hasStream();
  /// Gives lanes that have none instances that a stream has now.
  void takeReady();

  /// The current frame's range, by block, of an array that is by place.
  Value inFrame(Value array);
  /// Tells the host that step `now` runs a block.
  void tellProgress(Value now, Value block);
  /// The block that the table of states chooses, or -1 if it does not have the
  /// state (BlockPolicy.h).
  Value learnedBlock();

  /// The place where lanes wait for a block: that of the current frame.
  Value placeOf(Value block);

  OpBuilder &builder;
  Location loc;
  MachineOp machine;
  MachineLayout layout;
  ContextBuilder cb;
  Value lanes;
  UnitThreads unit;
  int64_t present = 0;           ///< the number of the block being emitted
  Share shared = Share::Nothing; ///< what threads share in the code so far
};

} // namespace mlir::batch

#endif // BATCH_CODEGEN_LANES_LANECODE_H
