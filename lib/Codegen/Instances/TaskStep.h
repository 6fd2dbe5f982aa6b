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

/// Allocates cells on the stack of the function around `op`, once per call of
/// that function.
Value allocateCells(OpBuilder &builder, Operation *op, int64_t cells);

/// Returns the code that was generated for a kernel's operator.
uprog::CodeAttr getCode(ModuleOp module, StringRef kernel);
/// Returns the op that puts a task into `list` together with rows for its
/// results, or null if the step provides these rows.
uprog::PutTaskOp findPutWithRows(uprog::TasksOp list);
/// Returns the number of cells of the step that a `uprog.batch` creates from a
/// list. Each result of the kernel may need a list of rows.
int64_t countBatchCells(KernelOp kernel, uprog::TasksOp tasks);
/// Returns the number of cells of a list of tasks, including the rows of their
/// results.
int64_t countTaskCells(KernelOp kernel, int64_t capacity);

/// Emits a BatchStep with one task.
class TaskStep {
public:
  /// `code` is the code of the kernel's operator. `op` is the op at the
  /// builder's insertion point that runs the task. The step is stored in
  /// `memory`, which has countCells() cells. If `memory` is null, the step is
  /// on the stack of the surrounding function, allocated once per call of that
  /// function.
  TaskStep(OpBuilder &builder, Operation *op, Value context, KernelOp kernel,
           uprog::CodeAttr code, Value memory = {});
  static int64_t countCells(KernelOp kernel);

  /// Stores the next operand that is not shared: a number, the address of a row
  /// (i64), or a list (i64).
  void storeOperand(Value input);
  /// Stores the location of result `index`. `row` is an i64, or null if the
  /// result is written into an operand.
  void storeResult(unsigned index, Value row);
  /// Returns the size in bytes, an i64, of the scratch memory that the task
  /// needs for the stored operands. Returns null if it needs none.
  Value getScratchBytes() const {
    return needsScratch ? scratchBytes : Value();
  }
  /// Completes the step of kernel number `number`, and returns its address.
  /// `scratch` is an i64, or null.
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
  SmallVector<unsigned> perTask; ///< arguments that are not shared
  int64_t position = 0;          ///< position of the next operand
  Value memory;
  int64_t taken = 0; ///< number of used cells of `memory`
  Value operands, values, offsets, zeroIndex, results, resultRows, step, zero;
  Value scratchBytes;
  bool needsScratch;
  /// Ragged domains whose scratch memory is already counted.
  DenseSet<int64_t> domains;
};

} // namespace mlir::batch

#endif // BATCH_CODEGEN_INSTANCES_TASKSTEP_H
