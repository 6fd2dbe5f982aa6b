//===- TaskStep.h - A step of one task --------------------------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_CODEGEN_INSTANCES_TASKSTEP_H
#define BATCH_CODEGEN_INSTANCES_TASKSTEP_H

#include "Batch/Dialect/UProg/UProg.h"
#include "Batch/Target/ABI/ContextAccess.h"

namespace mlir::batch {

/// Room for cells on the stack of the function around `op`, taken once per call
/// of it.
Value allocateCells(OpBuilder &builder, Operation *op, int64_t cells);

/// The code of a kernel's operator, which a target has made.
uprog::CodeAttr getCode(ModuleOp module, StringRef kernel);
/// The task that a list gets with rows for its results; null if the step has
/// these.
uprog::PutTaskOp findPutWithRows(uprog::TasksOp list);
/// The cells of the step that a `uprog.batch` makes of a list: its results may
/// need a list of rows each.
int64_t countBatchCells(KernelOp kernel, uprog::TasksOp tasks);
/// The cells of a list of tasks, with the rows of their results.
int64_t countTaskCells(KernelOp kernel, int64_t room);

/// Emits a BatchStep of one task.
class TaskStep {
public:
  /// `code` is that of the kernel's operator. `op` is what runs the task, at
  /// the builder's insertion point. The step lies in `room`, of as many cells
  /// as countCells() says; null: on the stack of the function around, for which
  /// room is taken once per call of it.
  TaskStep(OpBuilder &builder, Operation *op, Value context, KernelOp kernel,
           uprog::CodeAttr code, Value room = {});
  static int64_t countCells(KernelOp kernel);

  /// Stores the next operand that is not shared: a number, the address of a row
  /// (i64), or a list (i64).
  void storeOperand(Value input);
  /// Stores where result `index` is written, an i64; null: into an operand.
  void storeResult(unsigned index, Value row);
  /// The scratch memory that the task needs, given the operands: an i64; null
  /// if it needs none.
  Value getScratchBytes() const {
    return needsScratch ? scratchBytes : Value();
  }
  /// Returns the address of the step of kernel number `number`. `scratch` is an
  /// i64, or null.
  Value finish(int64_t number, Value scratch);

private:
  void storeField(abi::Field field, Value cell);
  void storeSegment(unsigned index, Value list);
  Value takeCells(int64_t cells);
  Value toCell(Value pointer);

  OpBuilder &builder;
  Operation *op;
  Location loc;
  ContextBuilder cb;
  KernelOp kernel;
  uprog::CodeAttr code;
  SmallVector<unsigned> perTask; ///< arguments of the kernel
  int64_t position = 0;          ///< of the next operand
  Value room;
  int64_t taken = 0; ///< cells of the room
  Value operands, values, offsets, zeroIndex, results, resultRows, step, zero;
  Value scratchBytes;
  bool needsScratch;
  /// Ragged domains whose scratch memory is already counted.
  DenseSet<int64_t> domains;
};

} // namespace mlir::batch

#endif // BATCH_CODEGEN_INSTANCES_TASKSTEP_H
