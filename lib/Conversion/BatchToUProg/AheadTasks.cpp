//===- AheadTasks.cpp - Tasks of a loop that can run ahead ----------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AheadTasks.h"

#include "Batch/Analysis/TensorCode.h"
#include "Batch/Dialect/Batch/Views.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace mlir::batch;

/// True if a kernel multiplies and makes all its results, which are slices of
/// tensors with those of all rounds.
static bool isWorthIt(KernelOp kernel) {
  for (unsigned i = 0; i < kernel.getNumResults(); ++i) {
    auto type = cast<RankedTensorType>(kernel.getResultTypes()[i]);
    if (kernel.getResultAttr(i, kInPlaceAttr) || !type.hasStaticShape() ||
        type.getRank() == 0)
      return false;
  }
  return kernel
      .walk([](Operation *op) {
        return getContraction(op) ? WalkResult::interrupt()
                                  : WalkResult::advance();
      })
      .wasInterrupted();
}

/// True if only tasks, and control that reads elements, use the results, and
/// none of them changes one in place: nothing hands them on.
static bool isReadOnly(InvokeOp invoke, const InsertedRows &inserted) {
  return llvm::all_of(invoke->getUses(), [&](OpOperand &use) {
    return isa<InvokeOp, tensor::ExtractOp>(use.getOwner()) &&
           !inserted.isRoot(use);
  });
}

/// Lists what computes `value` in `body`. Fails if it depends on something that
/// is not known before the round.
static LogicalResult listCode(Value value, Block &body, ValueRange rounds,
                              const Sharedness &sharedness,
                              SetVector<Operation *> &code) {
  if (!body.getParent()->isAncestor(value.getParentRegion()) ||
      llvm::is_contained(rounds, value))
    return success();
  Operation *op = value.getDefiningOp();
  if (!op || op->getBlock() != &body)
    return failure();
  auto slice = dyn_cast<tensor::ExtractSliceOp>(op);
  bool isRow =
      slice && isRowView(slice) && sharedness.getParameter(slice.getSource());
  bool computes = isa<arith::ArithDialect, math::MathDialect>(op->getDialect());
  if (!isRow && !computes)
    return failure();
  for (Value operand : op->getOperands())
    if (!sharedness.getParameter(operand) &&
        failed(listCode(operand, body, rounds, sharedness, code)))
      return failure();
  code.insert(op);
  return success();
}

SmallVector<AheadTask> batch::findAheadTasks(Block &body, ValueRange rounds,
                                             const Sharedness &sharedness,
                                             const InsertedRows &inserted) {
  SmallVector<AheadTask> tasks;
  for (auto invoke : body.getOps<InvokeOp>()) {
    auto kernel = SymbolTable::lookupNearestSymbolFrom<KernelOp>(
        invoke, invoke.getKernelAttr());
    SetVector<Operation *> code;
    bool isAhead = llvm::all_of(
        llvm::enumerate(invoke.getInputs()), [&](const auto &input) {
          return kernel.isShared(input.index()) ||
                 succeeded(
                     listCode(input.value(), body, rounds, sharedness, code));
        });
    if (isAhead && isReadOnly(invoke, inserted) && isWorthIt(kernel))
      tasks.push_back({invoke, code.takeVector()});
  }
  return tasks;
}
