//===- DecomposeTensor.cpp - Tensor operations by simpler ones ------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelBatcher.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"

using namespace mlir;
using namespace mlir::batch;

namespace {

/// Each element of the result is read where the indices say.
struct DecomposeGather : OpRewritePattern<tensor::GatherOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(tensor::GatherOp gather,
                                PatternRewriter &rewriter) const override {
    Location loc = gather.getLoc();
    RankedTensorType type = gather.getResultType();
    RankedTensorType indicesType = gather.getIndicesType();
    if (!type.hasStaticShape())
      return rewriter.notifyMatchFailure(gather, "of dynamic shape");
    int64_t sourceRank = gather.getSourceType().getRank();
    int64_t outer = indicesType.getRank() - 1;
    ArrayRef<int64_t> gathered = gather.getGatherDims();
    // Dimensions that are gathered are in the result with extent one, or not.
    bool keeps = type.getRank() == outer + sourceRank;
    auto buildBody = [&](OpBuilder &nested, Location, ValueRange) {
      auto loop = [&](int64_t number) -> Value {
        return linalg::IndexOp::create(nested, loc, number);
      };
      SmallVector<Value> position, indices(sourceRank);
      for (int64_t dim = 0; dim < outer; ++dim)
        position.push_back(loop(dim));
      position.emplace_back();
      for (auto [number, dim] : llvm::enumerate(gathered)) {
        position.back() = arith::ConstantIndexOp::create(nested, loc, number);
        Value index = tensor::ExtractOp::create(nested, loc,
                                                gather.getIndices(), position);
        if (!index.getType().isIndex())
          index = arith::IndexCastOp::create(nested, loc, nested.getIndexType(),
                                             index);
        indices[dim] = index;
      }
      int64_t next = outer;
      for (auto [dim, index] : llvm::enumerate(indices)) {
        bool isGathered = bool(index);
        if (!isGathered)
          index = loop(next);
        next += !isGathered || keeps;
      }
      Value element =
          tensor::ExtractOp::create(nested, loc, gather.getSource(), indices);
      linalg::YieldOp::create(nested, loc, element);
    };
    Value empty = tensor::EmptyOp::create(rewriter, loc, type.getShape(),
                                          type.getElementType());
    SmallVector<utils::IteratorType> iterators(type.getRank(),
                                               utils::IteratorType::parallel);
    rewriter.replaceOpWithNewOp<linalg::GenericOp>(
        gather, type, ValueRange(), empty,
        rewriter.getMultiDimIdentityMap(type.getRank()), iterators, buildBody);
    return success();
  }
};

struct DecomposeGenerate : OpRewritePattern<tensor::GenerateOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(tensor::GenerateOp generate,
                                PatternRewriter &rewriter) const override {
    if (!generate.getType().hasStaticShape())
      return rewriter.notifyMatchFailure(generate, "of dynamic shape");
    return linalg::rewriteInDestinationPassingStyle(rewriter, generate);
  }
};

struct DropCast : OpRewritePattern<tensor::CastOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(tensor::CastOp cast,
                                PatternRewriter &rewriter) const override {
    if (cast.getSource().getType() != cast.getType())
      return rewriter.notifyMatchFailure(cast, "changes the type");
    rewriter.replaceOp(cast, cast.getSource());
    return success();
  }
};

} // namespace

void mlir::batch::decomposeTensorOps(KernelOp kernel) {
  WalkResult found = kernel.walk([](Operation *op) {
    return isa<tensor::GatherOp, tensor::GenerateOp, tensor::PadOp,
               tensor::CastOp>(op)
               ? WalkResult::interrupt()
               : WalkResult::advance();
  });
  if (!found.wasInterrupted())
    return;
  RewritePatternSet patterns(kernel.getContext());
  patterns.add<DecomposeGather, DecomposeGenerate, DropCast,
               linalg::DecomposePadOpPattern>(kernel.getContext());
  walkAndApplyPatterns(kernel, std::move(patterns));
}
