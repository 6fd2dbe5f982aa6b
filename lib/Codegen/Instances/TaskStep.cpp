//===- TaskStep.cpp - A step of one task ----------------------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TaskStep.h"

#include "Batch/Target/ABI/ABILayout.h"
#include "Batch/Target/ABI/SymbolNames.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace mlir::batch;
using namespace mlir::batch::abi;

uprog::CodeAttr batch::getCode(ModuleOp module, StringRef kernel) {
  Operation *op = module.lookupSymbol(getOperatorName(kernel));
  return op->getAttrOfType<uprog::CodeAttr>(uprog::kCodeAttr);
}

uprog::PutTaskOp batch::findPutWithRows(uprog::TasksOp list) {
  for (Operation *user : list.getTasks().getUsers())
    if (auto put = dyn_cast<uprog::PutTaskOp>(user);
        put && !put.getOutputs().empty())
      return put;
  return {};
}

int64_t batch::countBatchCells(KernelOp kernel, uprog::TasksOp tasks) {
  int64_t rows = findPutWithRows(tasks) ? 0 : tasks.getCapacity();
  return kStepCells +
         static_cast<int64_t>(kernel.getTaskArguments().size()) *
             kOperandCells +
         kernel.getNumResults() * (1 + rows);
}

int64_t batch::countTaskCells(KernelOp kernel, int64_t capacity) {
  return capacity * static_cast<int64_t>(kernel.getTaskArguments().size() +
                                         kernel.getNumResults());
}

int64_t TaskStep::countCells(KernelOp kernel) {
  int64_t operands = kernel.getTaskArguments().size();
  // The constructor uses this many cells of `memory`.
  return kStepCells + operands * (kOperandCells + 2) + 1 +
         2 * static_cast<int64_t>(kernel.getNumResults());
}

Value TaskStep::takeCells(int64_t cells) {
  if (!memory)
    return allocateCells(builder, op, cells);
  Value begin = cb.address(memory, cb.constant(taken), builder.getI64Type());
  taken += cells;
  return begin;
}

Value batch::allocateCells(OpBuilder &builder, Operation *op, int64_t cells) {
  OpBuilder::InsertionGuard guard(builder);
  Location loc = op->getLoc();
  auto function = op->getParentOfType<FunctionOpInterface>();
  builder.setInsertionPointToStart(&function.getFunctionBody().front());
  Value count = LLVM::ConstantOp::create(
      builder, loc, builder.getI64Type(),
      builder.getI64IntegerAttr(std::max<int64_t>(cells, 1)));
  return LLVM::AllocaOp::create(
      builder, loc, LLVM::LLVMPointerType::get(builder.getContext()),
      builder.getI64Type(), count, /*alignment=*/8);
}

Value TaskStep::toCell(Value pointer) {
  return LLVM::PtrToIntOp::create(builder, loc, builder.getI64Type(), pointer);
}

TaskStep::TaskStep(OpBuilder &builder, Operation *op, Value context,
                   KernelOp kernel, uprog::CodeAttr code, Value memory)
    : builder(builder), op(op), loc(op->getLoc()), cb(builder, loc, context),
      kernel(kernel), code(code), perTask(kernel.getTaskArguments()),
      memory(memory) {
  step = takeCells(kStepCells);
  operands = takeCells(perTask.size() * kOperandCells);
  values = takeCells(perTask.size());
  offsets = takeCells(perTask.size());
  zeroIndex = takeCells(1);
  results = takeCells(kernel.getNumResults());
  resultRows = takeCells(kernel.getNumResults());
  zero = cb.constant(0);
  cb.storeCell(zeroIndex, zero, zero);
  scratchBytes = cb.constant(code.getTaskScratch());
  needsScratch = code.getTaskScratch() > 0;
}

void TaskStep::storeField(Field field, Value cell) {
  cb.storeCell(operands, cb.constant(position * kOperandCells + field.cell()),
               cell);
}

void TaskStep::storeOperand(Value input) {
  constexpr Field fields[] = {kOperandBase, kOperandRows, kOperandOffsets};
  for (int64_t cell : listOtherCells<BatchOperand>(fields))
    storeField({cell * kCellBytes, /*isPointer=*/false}, zero);
  unsigned index = perTask[position];
  if (kernel.isRagged(index)) {
    storeSegment(index, input);
    ++position;
    return;
  }
  auto read = kernel.getArgAttrOfType<ReadAttr>(index, kReadAttr);
  bool isScalar = !isa<RankedTensorType>(kernel.getArgumentTypes()[index]);
  bool gathers = !isScalar && (!read || read.getKind() == ReadKind::Gather);
  Value slot = cb.constant(position);
  Value ownValue = cb.address(values, slot, builder.getI64Type());
  if (!gathers)
    cb.storeCell(values, slot, isScalar ? cb.toCell(input) : input);
  storeField(kOperandBase, gathers ? input : zero);
  storeField(kOperandRows, toCell(gathers ? zeroIndex : ownValue));
  storeField(kOperandOffsets, zero);
  ++position;
}

/// Stores a ragged operand: a list, which is one segment of row addresses.
void TaskStep::storeSegment(unsigned index, Value list) {
  Value slot = cb.constant(position);
  Value length = cb.listLength(list);
  Value begin = cb.address(cb.loadField(ContextField::listPool),
                           cb.listBegin(list), builder.getI64Type());
  Value shifted = arith::ShLIOp::create(builder, loc, length, cb.constant(32));
  cb.storeCell(offsets, slot, shifted);
  storeField(kOperandBase, zero);
  storeField(kOperandRows, toCell(begin));
  storeField(kOperandOffsets,
             toCell(cb.address(offsets, slot, builder.getI64Type())));
  auto domain = kernel.getArgAttrOfType<IntegerAttr>(index, kRaggedAttr);
  int64_t number = domain ? domain.getInt() : 0;
  ArrayRef<int64_t> raggedBytes = code.getRaggedScratch();
  if (!domains.insert(number).second ||
      number >= static_cast<int64_t>(raggedBytes.size()))
    return;
  int64_t bytes = raggedBytes[number];
  needsScratch |= bytes > 0;
  Value more = arith::MulIOp::create(builder, loc, length, cb.constant(bytes));
  scratchBytes = arith::AddIOp::create(builder, loc, scratchBytes, more);
}

void TaskStep::storeResult(unsigned index, Value row) {
  Value place = row ? row : zero;
  if (row && kernel.getResultAttr(index, kRowListAttr)) {
    Value slot = cb.constant(index);
    cb.storeCell(resultRows, slot, row);
    place = toCell(cb.address(resultRows, slot, builder.getI64Type()));
  }
  cb.storeCell(results, cb.constant(index), place);
}

Value TaskStep::finish(int64_t number, Value scratch) {
  // Set no barrier: the surrounding program specifies a task's barriers.
  constexpr Field stepFields[] = {kStepKernel,  kStepCount,   kStepOperands,
                                  kStepResults, kStepScratch, kStepBarrier};
  for (int64_t cell : listOtherCells<BatchStep>(stepFields))
    cb.storeCell(step, cb.constant(cell), zero);
  cb.storeCell(step, kStepKernel, cb.constant(number));
  cb.storeCell(step, kStepCount, cb.constant(1));
  cb.storeCell(step, kStepOperands, toCell(operands));
  cb.storeCell(step, kStepResults, toCell(results));
  cb.storeCell(step, kStepScratch, scratch ? scratch : zero);
  cb.storeCell(step, kStepBarrier, zero);
  return step;
}
