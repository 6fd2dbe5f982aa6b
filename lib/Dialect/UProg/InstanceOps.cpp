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
  if (!type.hasStaticShape() ||
      !batch::isElementType(type.getElementType()))
    return emitOpError("is for ")
           << type << ", which no row holds: its shape must be static, and its "
                      "elements numbers";
  if (static_cast<int64_t>(getCopies()) < 1)
    return emitOpError("has ") << getCopies() << " copies; 1 is the least";
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
    return emitOpError("has ")
           << getIndices().size() << " indices, but the tensor has rank "
           << rank;
  return success();
}

/// Checks that a datum is a row if `type` is that of a tensor, and else of that
/// type.
static bool isDatumOf(Type datum, Type type) {
  return isa<RankedTensorType>(type) ? isa<RowType>(datum) : datum == type;
}

LogicalResult SiteOp::verifySymbolUses(SymbolTableCollection &) {
  auto kernel = SymbolTable::lookupNearestSymbolFrom<batch::KernelOp>(
      (*this)->getParentOfType<ModuleOp>(), getKernelAttr());
  if (!kernel)
    return emitOpError("refers to unknown batch.kernel ") << getKernelAttr();
  SmallVector<unsigned> perTask;
  for (unsigned i = 0; i < kernel.getNumArguments(); ++i)
    if (!kernel.isShared(i))
      perTask.push_back(i);
  if (perTask.size() != getInputs().size() ||
      kernel.getNumResults() != getOutputs().size())
    return emitOpError("has ")
           << getInputs().size() << " operands and " << getOutputs().size()
           << " rows for results, but " << getKernelAttr() << " takes "
           << perTask.size() << " and has " << kernel.getNumResults();
  for (auto [number, input] : llvm::zip_equal(perTask, getInputs())) {
    Type type = kernel.getArgumentTypes()[number];
    bool fits = kernel.isRagged(number)
                    ? isa<rec::ListType>(input.getType())
                    : isDatumOf(input.getType(), type);
    if (!fits)
      return emitOpError("has an operand of type ")
             << input.getType() << " for argument #" << number << " of "
             << getKernelAttr() << ", which is a " << type;
  }
  return success();
}

LogicalResult ResultOp::verify() {
  bool isRow = isa<RowType>(getValue().getType());
  if (isRow != getType().has_value() ||
      (isRow && !isa<RankedTensorType>(*getType())))
    return emitOpError("needs the type of the tensor after '!uprog.row', and "
                       "only there");
  return success();
}
