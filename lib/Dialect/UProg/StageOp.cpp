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

/// Checks the rows of its operator's operands that a stage reads.
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
      return stage.emitOpError("operand ")
             << i << " does not have the rows of the stage";
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
  if (failed(verifyReads(*this, op)))
    return failure();
  auto yield = dyn_cast<YieldOp>(getBody().front().back());
  if (!yield || yield.getOperandTypes() != getResultTypes())
    return emitOpError("must end in a uprog.yield of its results");
  if (getScratch().size() != getNumResults())
    return emitOpError("has ") << getScratch().size() << " offsets for "
                               << getNumResults() << " results";
  Operation *end = op.getBody().front().getTerminator();
  for (auto [i, result] : llvm::enumerate(getResults())) {
    auto type = cast<RankedTensorType>(result.getType());
    bool hasRows = type.getRank() > 0 && type.isDynamicDim(0);
    if (type.getShape().drop_front(hasRows) != getShape() ||
        (!hasRows && rows.getKind() != RowsKind::Once))
      return emitOpError("result #")
             << i << " is not of the stage's rows and shape";
    bool inScratch = getScratch()[i] >= 0;
    if (llvm::is_contained(result.getUsers(), end) == inScratch)
      return emitOpError("result #")
             << i
             << (inScratch
                     ? " is yielded by the operator, so it must not lie in "
                       "scratch memory"
                     : " is stored nowhere: the operator does not yield it, "
                       "and it has no place in scratch memory");
  }
  for (auto linalgOp : getBody().getOps<linalg::LinalgOp>())
    if (linalgOp.getNumReductionLoops() != 0 &&
        !linalgOp->hasAttr(kReductionAttr))
      return linalgOp->emitOpError(
          "is a reduction in a stage, so it needs a 'uprog.reduction'; run "
          "uprog-stage-operators");
  return success();
}
