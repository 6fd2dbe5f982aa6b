//===- LaneCode.h - Code between the blocks of lanes ------------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Code of a lockstep program, except for its kernels. It chooses the next
// block, lists its lanes, moves rows of variables, and decides where lanes
// continue. Its state is a BatchLanes (ABI.h). One thread runs it, or the
// threads of a GPU block run it together. These threads divide the lanes and
// the pieces of wide rows among themselves.
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_CODEGEN_LANES_LANECODE_H
#define BATCH_CODEGEN_LANES_LANECODE_H

#include "../UnitThreads.h"
#include "Batch/Dialect/Batch/MachineLayout.h"
#include "Batch/Target/ABI/ContextAccess.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

namespace mlir::batch {

/// Emits the code of lanes at the insertion point of a builder. All threads of
/// the unit run the code together, with a barrier before it. The code of
/// startLanes(), takeLanes(), runPrologue() and runEpilogue() ends with a
/// barrier. The code of blockKeys() and enterBlock() is an exception: a thread
/// runs it only for its share of the blocks or lanes.
class LaneCode {
public:
  /// `context` and `lanes` are !llvm.ptr to a BatchContext and a BatchLanes.
  LaneCode(OpBuilder &builder, Location loc, MachineOp machine, Value context,
           Value lanes, const UnitThreads &unit = {});

  /// Creates the function by which a lane takes its next instance. If the
  /// lane's instance has finished, the function first stores the results of
  /// this instance.
  void makeNextInstance(func::FuncOp entry);

  void startLanes();
  /// Returns the priority of a block and the step since which a lane has been
  /// waiting for it, both i64. A block with lower values runs earlier.
  std::pair<Value, Value> blockKeys(Value block);
  /// Returns the number of the next block, an i64, and an i1 that is true if
  /// one exists. `oldest` is the block for which lanes have waited longest, and
  /// `came` is the step at which this wait began. All arguments are i64s.
  std::pair<Value, Value> nextBlock(Value preferred, Value oldest, Value came);
  /// Returns the number of all lanes, an i64, and the address of the list of
  /// the lanes that run a block.
  std::pair<Value, Value> laneList();
  /// If `lane` waits for `block` (i64s), counts a step of the lane. Returns an
  /// i1 that is true if the lane runs the block.
  Value enterBlock(Value lane, Value block);
  /// Starts a run of a block on `count` (an i64) lanes: updates the counters
  /// and the trace. Returns the address of the step.
  Value takeLanes(Value block, Value count);
  /// Emits the code before the kernel; runEpilogue() emits the code after it.
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
  /// Emits code that runs `body` if `condition` is true and `otherwise` if not,
  /// and returns the value of the one that runs.
  Value either(Value condition, function_ref<Value()> body,
               function_ref<Value()> otherwise);
  /// Emits a loop over i64 numbers from 0 to `count` - 1.
  void loop(Value count, function_ref<void(Value)> body);
  /// Like loop(), but divides the iterations among the threads.
  void share(Value count, function_ref<void(Value)> body);
  void byFirstThread(function_ref<void()> body);
  void emitBarrier();

  /// Accesses a field of the BatchLanes. The code changes no limits and no
  /// pointers, so their loads can be hoisted out of loops.
  Value number(abi::Field field);
  void setNumber(abi::Field field, Value value);
  Value limit(abi::Field field);
  Value array(abi::Field field);
  Value load(Value base, Value index) { return cb.loadCell(base, index); }
  void store(Value base, Value index, Value value) {
    cb.storeCell(base, index, value);
  }
  Value bytesAt(Value base, Value offset);

  /// Unit of work of a thread: a whole lane, or a piece of a row.
  enum class Share { Nothing, Lanes, Pieces };
  /// Changes the unit of work to `next`. Emits a barrier if another thread may
  /// then continue the work on a lane.
  void shareBy(Share next);
  Value laneAt(Value active, Value place);
  /// Calls `body` for each lane that runs the current block. Passes the lane's
  /// position among these lanes, and the lane's number.
  void forActive(function_ref<void(Value, Value)> body) {
    forActive(number(abi::kLanesCount), body);
  }
  /// For each lane that runs the current block, calls `body` for each piece of
  /// the lane's row of a variable.
  void forPieces(const MachineLayout::Variable &variable,
                 function_ref<void(Value, Value, Value)> body) {
    forPieces(variable, number(abi::kLanesCount), body);
  }
  /// Calls `body` for the first `count` lanes that run the current block.
  void forActive(Value count, function_ref<void(Value, Value)> body);
  void forPieces(const MachineLayout::Variable &variable, Value count,
                 function_ref<void(Value, Value, Value)> body);
  /// Returns true if threads divide the pieces of rows instead of lanes.
  bool isWide(const MachineLayout::Variable &variable);
  Value variable(const MachineLayout::Variable &variable, abi::Field field);
  Value topRow(const MachineLayout::Variable &variable, Value lane);
  /// Returns the address of a variable's value, for reads and writes.
  Value currentRow(const MachineLayout::Variable &variable, Value lane);
  Value stackRow(const MachineLayout::Variable &variable, Value entry,
                 Value lane);
  void copyRow(Value to, Value from, const MachineLayout::Variable &variable);
  void copyPiece(Value to, Value from, const MachineLayout::Variable &variable,
                 Value piece);
  Value pieceOffset(const MachineLayout::Variable &variable, Value piece);
  /// Zero-initializes each lane's row at `tops` of the BatchVariable. If a
  /// stack stores the current rows, also zero-initializes its bottom rows.
  void clearRows(const MachineLayout::Variable &variable);
  /// Returns an i1 that is true if the block runs masked (BatchLanes::masked).
  Value isMasked();
  /// Returns the row of result `result` of the block's kernel for a lane.
  Value resultRow(InvokeOp invoke, OpResult result, Value place, Value lane);
  Value valueRow(Value value, Value place, Value lane);

  void push(PushOp op);
  void push(PushOp op, Value place, Value lane);
  void pop(PopOp op);
  void set(SetOp op);
  /// Copies the current rows of a variable to the memory at `tops` of its
  /// BatchVariable. Kernels read the rows from there.
  void copyToTops(const MachineLayout::Variable &variable);
  /// Adds an entry to a stack if it has space. Otherwise the lane's instance
  /// ends with an error. Returns the depth before the entry was added.
  Value pushEntry(Value depths, Value lane);
  /// Emits code that makes a lane wait for a block of a frame.
  void arrive(Value lane, Value frame, Value target);
  void leave(Operation *terminator, Value place, Value lane);
  bool canFail(BlockOp block);
  /// Stores the results of an instance where the caller expects them;
  /// takeArguments() stores the arguments of a new instance in the lane's
  /// variables.
  void storeResults(func::FuncOp entry, Value lane);
  void takeArguments(func::FuncOp entry, Value lane, Value instance);
  void callNextInstance(Value lane, bool done);
  /// Returns an i1 that is true if instances come from a stream.
  Value hasStream();
  /// Assigns the instances that are waiting in a stream to idle lanes.
  void takeReady();

  /// Returns the address of the current frame's range of `array`. A place is an
  /// index into the array, and the number of a block is an index into the
  /// range.
  Value inFrame(Value array);
  /// Reports to the host that step `now` runs a block.
  void reportProgress(Value now, Value block);
  /// Returns the block that the table of states chooses, or -1 if the table
  /// does not contain the state (BlockPolicy.h).
  Value learnedBlock();

  /// Returns the place of a block of the current frame. Places are counted from
  /// the first frame.
  Value placeOf(Value block);

  OpBuilder &builder;
  Location loc;
  MachineOp machine;
  MachineLayout layout;
  ContextBuilder cb;
  Value lanes;
  UnitThreads unit;
  int64_t present = 0;           ///< number of the block being emitted
  Share shared = Share::Nothing; ///< unit of work in the code so far
};

} // namespace mlir::batch

#endif // BATCH_CODEGEN_LANES_LANECODE_H
