//===- LiftCF.cpp - Lift branches of functions to scf ---------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Batch/Transforms/Normalize/Passes.h"
#include "mlir/Conversion/ControlFlowToSCF/ControlFlowToSCF.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Dominance.h"
#include "mlir/Transforms/CFGToSCF.h"
#include "mlir/Transforms/RegionUtils.h"

namespace mlir::batch {
#define GEN_PASS_DEF_LIFTCFPASS
#include "Batch/Transforms/Normalize/Passes.h.inc"
} // namespace mlir::batch

using namespace mlir;
using namespace mlir::batch;

namespace {

/// Upstream transformation with zeros in place of undefined values. No op reads
/// these values.
class Lifting : public ControlFlowToSCFTransformation {
public:
  Value getUndefValue(Location loc, OpBuilder &builder, Type type) override {
    if (TypedAttr zero = builder.getZeroAttr(type))
      return arith::ConstantOp::create(builder, loc, zero);
    typeWithoutZero = type;
    return UnrealizedConversionCastOp::create(builder, loc, type, ValueRange())
        .getResult(0);
  }

  FailureOr<Operation *> createUnreachableTerminator(Location loc, OpBuilder &,
                                                     Region &) override {
    return emitError(loc, "control flow enters a loop that has no exit; add a "
                          "branch out of it");
  }

  Type typeWithoutZero; ///< a type of undefined values that has no zero
};

class LiftCFPass : public batch::impl::LiftCFPassBase<LiftCFPass> {
  void runOnOperation() override {
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (failed(checkRegions(function)) || failed(lift(function)))
        return signalPassFailure();
  }

  LogicalResult checkRegions(func::FuncOp function) {
    WalkResult result = function.walk([&](Operation *op) -> WalkResult {
      for (Region &region : op->getRegions())
        if (op != function && !region.empty() && !region.hasOneBlock())
          return op->emitOpError("has branches in a region, but only "
                                 "functions may contain branches; move them "
                                 "into a function and call it");
      return WalkResult::advance();
    });
    return failure(result.wasInterrupted());
  }

  LogicalResult lift(func::FuncOp function) {
    Region &body = function.getBody();
    if (function.isExternal() || body.hasOneBlock())
      return success();
    for (Block &block : body) {
      Operation *end = block.getTerminator();
      if (!isa<cf::BranchOp, cf::CondBranchOp, cf::SwitchOp, func::ReturnOp>(
              end))
        return end->emitOpError("cannot end a block of a function; only "
                                "'cf.br', 'cf.cond_br', 'cf.switch' and "
                                "'func.return' can");
    }
    IRRewriter rewriter(&getContext());
    (void)eraseUnreachableBlocks(rewriter, body);
    DominanceInfo dominance(function);
    Lifting lifting;
    if (failed(transformCFGToSCF(body, lifting, dominance)))
      return failure();
    if (Type type = lifting.typeWithoutZero)
      return function.emitError("a value of type ")
             << type
             << " is not defined on every path to a branch, and its type has "
                "no zero to use instead; write this control flow as 'scf'";
    return success();
  }
};

} // namespace
