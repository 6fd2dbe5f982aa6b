//===- FoldEmpty.cpp - Remove tensors without elements --------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Batch/Transforms/Import/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace mlir::batch {
#define GEN_PASS_DEF_FOLDEMPTYPASS
#include "Batch/Transforms/Import/Passes.h.inc"
} // namespace mlir::batch

using namespace mlir;
using namespace mlir::batch;

static bool isEmpty(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && llvm::is_contained(tensor.getShape(), 0);
}

namespace {

/// Replaces a pure operation with empty tensors if no result has elements.
struct ComputeNothing : RewritePattern {
  explicit ComputeNothing(MLIRContext *context)
      : RewritePattern(MatchAnyOpTypeTag(), /*benefit=*/1, context) {}

  LogicalResult matchAndRewrite(Operation *op,
                                PatternRewriter &rewriter) const override {
    if (isa<tensor::EmptyOp>(op) || op->getNumResults() == 0 || !isPure(op) ||
        !llvm::all_of(op->getResultTypes(), [](Type type) {
          return isEmpty(type) && cast<RankedTensorType>(type).hasStaticShape();
        }))
      return rewriter.notifyMatchFailure(op, "has elements, or effects");
    SmallVector<Value> results;
    for (Type type : op->getResultTypes())
      results.push_back(tensor::EmptyOp::create(
          rewriter, op->getLoc(), cast<RankedTensorType>(type).getShape(),
          cast<RankedTensorType>(type).getElementType()));
    rewriter.replaceOp(op, results);
    return success();
  }
};

/// Replaces a structured operation with its initial values if its loops do not
/// run.
struct KeepInits : OpInterfaceRewritePattern<linalg::LinalgOp> {
  using OpInterfaceRewritePattern::OpInterfaceRewritePattern;

  LogicalResult matchAndRewrite(linalg::LinalgOp op,
                                PatternRewriter &rewriter) const override {
    if (!op.hasPureTensorSemantics() ||
        !llvm::is_contained(op.getStaticLoopRanges(), 0))
      return rewriter.notifyMatchFailure(op, "its loops may run");
    rewriter.replaceOp(op, op.getDpsInits());
    return success();
  }
};

struct InsertNothing : OpRewritePattern<tensor::InsertSliceOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(tensor::InsertSliceOp op,
                                PatternRewriter &rewriter) const override {
    if (!isEmpty(op.getSourceType()))
      return rewriter.notifyMatchFailure(op, "inserts elements");
    rewriter.replaceOp(op, op.getDest());
    return success();
  }
};

struct ConcatSome : OpRewritePattern<tensor::ConcatOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(tensor::ConcatOp op,
                                PatternRewriter &rewriter) const override {
    SmallVector<Value> some = llvm::to_vector(llvm::make_filter_range(
        op.getInputs(), [](Value input) { return !isEmpty(input.getType()); }));
    if (some.empty() || some.size() == op.getInputs().size())
      return rewriter.notifyMatchFailure(op, "no operand to leave out");
    if (some.size() == 1 && some.front().getType() == op.getType())
      rewriter.replaceOp(op, some.front());
    else
      rewriter.replaceOpWithNewOp<tensor::ConcatOp>(op, op.getType(),
                                                    op.getDim(), some);
    return success();
  }
};

class FoldEmptyPass : public batch::impl::FoldEmptyPassBase<FoldEmptyPass> {
  void runOnOperation() override {
    SmallVector<Operation *> ops;
    bool any = false;
    getOperation()->walk([&](Operation *op) {
      if (isa<func::FuncOp, ModuleOp>(op))
        return;
      ops.push_back(op);
      any |= llvm::any_of(op->getOperandTypes(), isEmpty) ||
             llvm::any_of(op->getResultTypes(), isEmpty);
    });
    if (!any)
      return;
    RewritePatternSet patterns(&getContext());
    patterns.add<ComputeNothing, KeepInits, InsertNothing, ConcatSome>(
        &getContext());
    GreedyRewriteConfig config;
    config.enableFolding(false);
    (void)applyOpPatternsGreedily(ops, std::move(patterns), config);
  }
};

} // namespace
