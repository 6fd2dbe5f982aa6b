//===- InstanceOps.cpp - Running single instances -------------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Batch/Dialect/Batch/ElementTypes.h"
#include "Batch/Dialect/UProg/UProg.h"

using namespace mlir;
using namespace mlir::uprog;

LogicalResult BufferOp::verify() {
  auto type = cast<RankedTensorType>(getType());
  if (!type.hasStaticShape() || !batch::isElementType(type.getElementType()))
    return emitOpError("is for ")
           << type
           << ", which no row holds: its shape must be static, and its "
              "elements numbers";
  if (static_cast<int64_t>(getCopies()) < 1)
    return emitOpError("has ") << getCopies() << " copies; 1 is the least";
  return success();
}

void RowOp::getEffects(
    SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  // Whose turn it is.
  if (getInTurn())
    effects.emplace_back(MemoryEffects::Write::get());
}

LogicalResult RowOp::verify() {
  if (getInTurn() && !getAvoided().empty())
    return emitOpError("is in turn, but avoids rows; it can do only one");
  return success();
}

LogicalResult RowOp::verifySymbolUses(SymbolTableCollection &) {
  auto buffer = SymbolTable::lookupNearestSymbolFrom<BufferOp>(
      (*this)->getParentOfType<ModuleOp>(), getBufferAttr());
  if (!buffer)
    return emitOpError("refers to unknown uprog.buffer ") << getBufferAttr();
  if (getAvoided().size() >= buffer.getCopies())
    return emitOpError("avoids ")
           << getAvoided().size() << " rows, but " << getBufferAttr() << " has "
           << buffer.getCopies() << " copies: none may be free";
  return success();
}

LogicalResult ParameterRowOp::verifySymbolUses(SymbolTableCollection &) {
  auto source = SymbolTable::lookupNearestSymbolFrom<batch::SourceOp>(
      (*this)->getParentOfType<ModuleOp>(), getSourceAttr());
  if (!source || !source.getParameter())
    return emitOpError("refers to ")
           << getSourceAttr() << ", which is no batch.source of a parameter";
  return success();
}

LogicalResult LoadOp::inferReturnTypes(MLIRContext *, std::optional<Location>,
                                       Adaptor adaptor,
                                       SmallVectorImpl<Type> &results) {
  results.push_back(cast<RankedTensorType>(adaptor.getType()).getElementType());
  return success();
}

LogicalResult LoadOp::verify() {
  int64_t rank = cast<RankedTensorType>(getType()).getRank();
  if (static_cast<int64_t>(getIndices().size()) != rank)
    return emitOpError("has ") << getIndices().size()
                               << " indices, but the tensor has rank " << rank;
  return success();
}

/// Checks that a datum is a row if `type` is that of a tensor, and else of that
/// type.
static bool isDatumOf(Type datum, Type type) {
  return isa<RankedTensorType>(type) ? isa<RowType>(datum) : datum == type;
}

/// Finds the kernel that an op names.
static FailureOr<batch::KernelOp> findKernel(Operation *op,
                                             FlatSymbolRefAttr name) {
  auto kernel = SymbolTable::lookupNearestSymbolFrom<batch::KernelOp>(
      op->getParentOfType<ModuleOp>(), name);
  if (!kernel)
    return op->emitOpError("refers to unknown batch.kernel ") << name;
  for (unsigned i = 0; i < kernel.getNumArguments(); ++i)
    if (kernel.isRagged(i))
      return op->emitOpError("refers to ")
             << name << ", whose argument #" << i
             << " is ragged; there is no row for it";
  return kernel;
}

/// Checks the operands that a task of a kernel gets, but shared ones.
static LogicalResult verifyInputs(Operation *op, batch::KernelOp kernel,
                                  ValueRange inputs) {
  SmallVector<unsigned> perTask;
  for (unsigned i = 0; i < kernel.getNumArguments(); ++i)
    if (!kernel.isShared(i))
      perTask.push_back(i);
  if (perTask.size() != inputs.size())
    return op->emitOpError("has ")
           << inputs.size() << " operands for a task, but @"
           << kernel.getSymName() << " takes " << perTask.size();
  for (auto [number, input] : llvm::zip_equal(perTask, inputs)) {
    Type type = kernel.getArgumentTypes()[number];
    if (!isDatumOf(input.getType(), type))
      return op->emitOpError("has an operand of type ")
             << input.getType() << " for argument #" << number << " of @"
             << kernel.getSymName() << ", which is a " << type;
  }
  return success();
}

static LogicalResult verifyOutputs(Operation *op, batch::KernelOp kernel,
                                   ValueRange outputs) {
  if (kernel.getNumResults() == outputs.size())
    return success();
  return op->emitOpError("has rows for ")
         << outputs.size() << " results, but @" << kernel.getSymName()
         << " has " << kernel.getNumResults();
}

LogicalResult SiteOp::verifySymbolUses(SymbolTableCollection &) {
  FailureOr<batch::KernelOp> kernel = findKernel(*this, getKernelAttr());
  if (failed(kernel) || failed(verifyInputs(*this, *kernel, getInputs())))
    return failure();
  return verifyOutputs(*this, *kernel, getOutputs());
}

/// Checks what uses the room as well.
LogicalResult TasksOp::verifySymbolUses(SymbolTableCollection &) {
  if (static_cast<int64_t>(getRoom()) < 1)
    return emitOpError("has room for ")
           << getRoom() << " tasks; 1 is the least";
  FailureOr<batch::KernelOp> kernel = findKernel(*this, getKernelAttr());
  if (failed(kernel))
    return failure();
  for (Operation *user : getTasks().getUsers()) {
    if (auto put = dyn_cast<PutTaskOp>(user))
      if (failed(verifyInputs(put, *kernel, put.getInputs())))
        return failure();
    if (auto batch = dyn_cast<BatchOp>(user))
      if (failed(verifyOutputs(batch, *kernel, batch.getOutputs())))
        return failure();
  }
  return success();
}

/// Checks that control has not handed on the room.
static LogicalResult verifyRoom(Operation *op, Value tasks) {
  if (tasks.getDefiningOp<TasksOp>())
    return success();
  return op->emitOpError("needs the result of a uprog.tasks");
}

LogicalResult PutTaskOp::verify() { return verifyRoom(*this, getTasks()); }

LogicalResult BatchOp::verify() { return verifyRoom(*this, getTasks()); }

LogicalResult ResultOp::verify() {
  bool isRow = isa<RowType>(getValue().getType());
  if (isRow != getType().has_value() ||
      (isRow && !isa<RankedTensorType>(*getType())))
    return emitOpError("needs the type of the tensor after '!uprog.row', and "
                       "only there");
  return success();
}
