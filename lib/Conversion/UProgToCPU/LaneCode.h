//===- LaneCode.h - Code between the blocks of lanes ------------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a lockstep program does besides running kernels: choose the next block,
// list its lanes, move rows of variables, and say where lanes go. Everything
// lies in a BatchLanes (ABI.h).
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_CONVERSION_UPROGTOCPU_LANECODE_H
#define BATCH_CONVERSION_UPROGTOCPU_LANECODE_H

#include "Batch/Conversion/RecToLLVM/ContextAccess.h"
#include "Batch/Dialect/Batch/MachineLayout.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

namespace mlir::batch {

/// Emits that code at the insertion point of a builder.
class LaneCode {
public:
  /// `context` and `lanes` are !llvm.ptr: of a BatchContext and a BatchLanes.
  LaneCode(OpBuilder &builder, Location loc, MachineOp machine, Value context,
           Value lanes);

  /// Makes the function that `startLanes` and `runOps` call: a lane hands over
  /// the results of its instance, if that is done, and takes the next one.
  void makeNextInstance(func::FuncOp entry);

  void startLanes();
  /// The number of the next block (i64), and whether there is one (i1).
  std::pair<Value, Value> nextBlock();
  /// The address of the step of a block (i64).
  Value takeLanes(Value block);
  /// Everything before the kernel, or everything after it.
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
  /// A loop over i64 numbers from 0 to `count` - 1.
  void loop(Value count, function_ref<void(Value)> body);

  Value number(int64_t field);
  void setNumber(int64_t field, Value value);
  Value array(int64_t field) { return cb.loadPointer(lanes, field); }
  Value load(Value base, Value index) { return cb.loadCell(base, index); }
  void store(Value base, Value index, Value value) {
    cb.storeCell(base, index, value);
  }
  Value bytesAt(Value base, Value offset);

  /// For each lane that runs the present block: its place among them, and the
  /// lane.
  void forActive(function_ref<void(Value, Value)> body);
  Value variable(const MachineLayout::Variable &variable, int64_t field);
  /// Where the value of a variable lies, for reads and writes.
  Value currentRow(const MachineLayout::Variable &variable, Value lane);
  Value stackRow(const MachineLayout::Variable &variable, Value entry,
                 Value lane);
  void copyRow(Value to, Value from, int64_t bytes);
  /// The row of result `result` of the block's kernel for a lane.
  Value resultRow(InvokeOp invoke, OpResult result, Value place, Value lane);
  Value valueRow(Value value, Value place, Value lane);

  void push(PushOp op, Value place, Value lane);
  void pop(PopOp op, Value lane);
  /// One more entry of a stack, if it has room; else the lane's instance ends
  /// with an error.
  Value makeRoom(Value depths, Value lane, Value block);
  /// A lane waits for a block of a frame.
  void arrive(Value lane, Value frame, Value target);
  void leave(Operation *terminator, Value place, Value lane);
  bool canFail(BlockOp block);
  void callNextInstance(Value lane, Value done);

  OpBuilder &builder;
  Location loc;
  MachineOp machine;
  MachineLayout layout;
  ContextBuilder cb;
  Value lanes;
  int64_t present = 0; ///< the number of the block whose code is made
};

/// The name of the function that makeNextInstance() makes.
std::string getNextInstanceName(MachineOp machine);

} // namespace mlir::batch

#endif // BATCH_CONVERSION_UPROGTOCPU_LANECODE_H
