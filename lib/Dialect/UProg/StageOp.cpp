//===- StageOp.cpp - Verification of stages -------------------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Batch/Dialect/UProg/UProg.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

using namespace mlir;
using namespace mlir::uprog;

//===----------------------------------------------------------------------===//
// InsertOp
//===----------------------------------------------------------------------===//

llvm::SmallBitVector InsertOp::getDroppedDims() {
  ArrayRef<int64_t> kept =
      cast<RankedTensorType>(getSource().getType()).getShape().drop_front();
  llvm::SmallBitVector dropped(getSizes().size());
  for (auto [dim, size] : llvm::enumerate(getSizes())) {
    if (!kept.empty() && kept.front() == size)
      kept = kept.drop_front();
    else
      dropped.set(dim);
  }
  return dropped;
}

Value InsertOp::getPosition(unsigned dim) {
  ArrayRef<int64_t> offsets = getOffsets();
  if (!ShapedType::isDynamic(offsets[dim]))
    return {};
  return getPositions()[llvm::count_if(offsets.take_front(dim),
                                       ShapedType::isDynamic)];
}

BlockArgument InsertOp::getRoot() {
  Value value = getDest();
  while (Operation *def = value.getDefiningOp()) {
    if (auto stage = dyn_cast<StageOp>(def))
      value = stage.getYielded(cast<OpResult>(value).getResultNumber());
    else if (auto insert = dyn_cast<InsertOp>(def))
      value = insert.getDest();
    else
      return {};
  }
  return cast<BlockArgument>(value);
}

LogicalResult InsertOp::verify() {
  auto source = cast<RankedTensorType>(getSource().getType());
  auto dest = cast<RankedTensorType>(getDest().getType());
  auto isRows = [](RankedTensorType type) {
    return type.getRank() > 0 && type.isDynamicDim(0) &&
           !ShapedType::isDynamicShape(type.getShape().drop_front());
  };
  if (!isRows(source) || !isRows(dest) ||
      source.getElementType() != dest.getElementType())
    return emitOpError("expects rows of static shape and equal element types");
  ArrayRef<int64_t> shape = dest.getShape().drop_front();
  if (getOffsets().size() != shape.size() ||
      getSizes().size() != shape.size() ||
      getStrides().size() != shape.size() ||
      llvm::count_if(getOffsets(), ShapedType::isDynamic) !=
          static_cast<int64_t>(getPositions().size()))
    return emitOpError(
        "requires an offset, a size and a stride for each dimension of a row");
  for (auto [extent, offset, size, stride] :
       llvm::zip(shape, getOffsets(), getSizes(), getStrides())) {
    int64_t first = ShapedType::isDynamic(offset) ? 0 : offset;
    if (first < 0 || size < 1 || stride < 1 ||
        first + (size - 1) * stride >= extent)
      return emitOpError("inserts outside of the row");
  }
  llvm::SmallBitVector dropped = getDroppedDims();
  SmallVector<int64_t> kept;
  for (auto [dim, size] : llvm::enumerate(getSizes())) {
    if (!dropped[dim])
      kept.push_back(size);
    else if (size != 1)
      return emitOpError("shape of source rows does not match 'sizes'");
  }
  if (kept != source.getShape().drop_front())
    return emitOpError("shape of source rows does not match 'sizes'");
  return success();
}

//===----------------------------------------------------------------------===//
// StageOp
//===----------------------------------------------------------------------===//

/// Checks that all operands read by a stage have the same rows as the stage.
static LogicalResult verifyReads(StageOp stage, OperatorOp op) {
  RowsAttr rows = stage.getRows();
  for (Value read : stage.getReads()) {
    auto argument = dyn_cast<BlockArgument>(read);
    if (!argument || argument.getOwner() != &op.getBody().front())
      return stage.emitOpError(
          "reads rows of a value that is not an operand of its operator");
    unsigned i = argument.getArgNumber();
    if (op.getParameter(i) || op.getOffsets(i) ||
        rows.getKind() == RowsKind::Once ||
        op.getRagged(i).value_or(-1) != rows.getDomain())
      return stage.emitOpError("operator argument #")
             << i << " does not have the same rows as the stage";
  }
  return success();
}

LogicalResult StageOp::verifyRegions() {
  auto op = (*this)->getParentOfType<OperatorOp>();
  RowsAttr rows = getRows();
  bool known = rows.getKind() != RowsKind::Ragged;
  for (unsigned i = 0, e = op.getNumArguments(); i < e; ++i)
    known |= op.getRagged(i) == rows.getDomain();
  if (!known)
    return emitOpError("no operand of ")
           << op.getSymNameAttr() << " has rows of domain " << rows.getDomain();
  if (std::optional<uint64_t> dims = getSharedDims();
      dims && *dims > getShape().size())
    return emitOpError("has 'shared_dims' ")
           << *dims << ", but its shape has " << getShape().size()
           << " dimensions";
  if (failed(verifyReads(*this, op)))
    return failure();
  auto yield = dyn_cast<YieldOp>(getBody().front().back());
  if (!yield || yield.getOperandTypes() != getResultTypes())
    return emitOpError("must end in a uprog.yield of its results");
  if (getScratch().size() != getNumResults())
    return emitOpError("has ") << getScratch().size() << " scratch offsets for "
                               << getNumResults() << " results";
  Operation *end = op.getBody().front().getTerminator();
  for (auto [i, result] : llvm::enumerate(getResults())) {
    // An inserted value has the shape of the stage.
    auto insert = getYielded(i).getDefiningOp<InsertOp>();
    Value stored = insert ? insert.getSource() : Value(result);
    auto type = cast<RankedTensorType>(stored.getType());
    bool hasRows = type.getRank() > 0 && type.isDynamicDim(0);
    if (type.getShape().drop_front(hasRows) != getShape() ||
        (!hasRows && rows.getKind() != RowsKind::Once))
      return emitOpError("result #")
             << i << " does not have the rows and shape of the stage";
    bool inScratch = getScratch()[i] >= 0;
    bool isInserted = llvm::any_of(result.getUses(), [](OpOperand &use) {
      auto insert = dyn_cast<InsertOp>(use.getOwner());
      return insert && &insert.getDestMutable() == &use;
    });
    if ((isInserted || llvm::is_contained(result.getUsers(), end)) == inScratch)
      return emitOpError("result #")
             << i
             << (inScratch
                     ? " is yielded by the operator, so it must not be in "
                       "scratch memory"
                     : " is not stored: the operator does not yield it, and it "
                       "is not in scratch memory");
  }
  for (auto linalgOp : getBody().getOps<linalg::LinalgOp>())
    if (linalgOp.getNumReductionLoops() != 0 &&
        !linalgOp->hasAttr(kReductionAttr))
      return linalgOp->emitOpError(
          "is a reduction in a stage, but lacks 'uprog.reduction'; run "
          "uprog-stage-operators");
  return success();
}

//===----------------------------------------------------------------------===//
// AwaitRowsOp
//===----------------------------------------------------------------------===//

LogicalResult AwaitRowsOp::verify() {
  if (!isa<FunctionOpInterface>((*this)->getParentOp()))
    return emitOpError("must be in the function of a stage, outside of its "
                       "branches and loops, so that all threads reach it");
  for (Operation *op = (*this)->getPrevNode(); op; op = op->getPrevNode())
    if (isa<AwaitRowsOp>(op))
      return emitOpError("must be the only uprog.await_rows of its function");
  return success();
}
