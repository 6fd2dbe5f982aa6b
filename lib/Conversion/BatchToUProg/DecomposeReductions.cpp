//===- DecomposeReductions.cpp - Reductions in the forms of importers -----===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelBatcher.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"

using namespace mlir;
using namespace mlir::batch;
using utils::IteratorType;

/// Builds a copy of `op` with other operands, maps and loops, and the same
/// body.
static linalg::GenericOp buildLike(OpBuilder &builder, linalg::LinalgOp op,
                                   ValueRange inputs, ValueRange inits,
                                   ArrayRef<AffineMap> maps,
                                   ArrayRef<IteratorType> iterators) {
  auto generic = linalg::GenericOp::create(
      builder, op.getLoc(), TypeRange(inits), inputs, inits, maps, iterators);
  IRMapping mapping;
  op->getRegion(0).cloneInto(&generic.getRegion(), mapping);
  return generic;
}

//===----------------------------------------------------------------------===//
// Results that keep reduced dimensions
//===----------------------------------------------------------------------===//

namespace {

/// Dimensions that a result keeps: all except those with a constant in the map.
struct KeptDims {
  KeptDims(RankedTensorType type, AffineMap map);
  RankedTensorType type;
  AffineMap map;
  /// For each kept dimension, the dimensions of the result that collapse into
  /// it.
  SmallVector<ReassociationIndices> groups;
};

} // namespace

KeptDims::KeptDims(RankedTensorType whole, AffineMap wholeMap) {
  SmallVector<int64_t> shape;
  SmallVector<AffineExpr> exprs;
  ReassociationIndices group;
  for (auto [dim, expr] : llvm::enumerate(wholeMap.getResults())) {
    group.push_back(dim);
    if (isa<AffineConstantExpr>(expr))
      continue;
    shape.push_back(whole.getDimSize(dim));
    exprs.push_back(expr);
    groups.push_back(std::move(group));
    group.clear();
  }
  if (!groups.empty())
    llvm::append_range(groups.back(), group);
  type = RankedTensorType::get(shape, whole.getElementType());
  map = AffineMap::get(wholeMap.getNumDims(), 0, exprs, whole.getContext());
}

/// Returns the start value `init` with only the kept dimensions.
static Value dropUnitDims(OpBuilder &builder, Value init,
                          const KeptDims &kept) {
  Location loc = init.getLoc();
  if (auto empty = init.getDefiningOp<tensor::EmptyOp>())
    return tensor::EmptyOp::create(builder, loc, kept.type,
                                   empty.getDynamicSizes());
  if (auto fill = init.getDefiningOp<linalg::FillOp>()) {
    Value empty = dropUnitDims(builder, fill.getOutputs()[0], kept);
    return linalg::FillOp::create(builder, loc, fill.getInputs()[0], empty)
        .getResult(0);
  }
  SplatElementsAttr splat;
  if (matchPattern(init, m_Constant(&splat)))
    return arith::ConstantOp::create(builder, loc,
                                     splat.resizeSplat(kept.type));
  return tensor::CollapseShapeOp::create(builder, loc, kept.type, init,
                                         kept.groups);
}

namespace {

/// Drops reduced dimensions of extent one from reductions. Importers keep such
/// a dimension, and the map of the result has a constant there.
struct DropReducedDims : OpInterfaceRewritePattern<linalg::LinalgOp> {
  using OpInterfaceRewritePattern::OpInterfaceRewritePattern;
  LogicalResult matchAndRewrite(linalg::LinalgOp op,
                                PatternRewriter &rewriter) const override {
    SmallVector<KeptDims> kept;
    bool drops = false;
    for (OpOperand &init : op.getDpsInitsMutable()) {
      auto type = dyn_cast<RankedTensorType>(init.get().getType());
      if (!type)
        return rewriter.notifyMatchFailure(op, "has no tensors");
      AffineMap map = op.getMatchingIndexingMap(&init);
      for (auto [dim, expr] : llvm::enumerate(map.getResults()))
        if (auto position = dyn_cast<AffineConstantExpr>(expr)) {
          if (position.getValue() != 0 || type.getDimSize(dim) != 1)
            return rewriter.notifyMatchFailure(op, "fills one position");
          drops = true;
        }
      kept.emplace_back(type, map);
      if (kept.back().map.getNumResults() != op.getNumParallelLoops())
        return rewriter.notifyMatchFailure(op, "has loops without a result");
    }
    if (!drops)
      return rewriter.notifyMatchFailure(op, "drops every reduced dimension");
    SmallVector<Value> inits;
    SmallVector<AffineMap> maps = op.getIndexingMapsArray();
    for (auto [number, init] : llvm::enumerate(op.getDpsInits())) {
      inits.push_back(dropUnitDims(rewriter, init, kept[number]));
      maps[op.getNumDpsInputs() + number] = kept[number].map;
    }
    auto made = buildLike(rewriter, op, op.getDpsInputs(), inits, maps,
                          op.getIteratorTypesArray());
    SmallVector<Value> results;
    for (auto [number, result] : llvm::enumerate(made->getResults()))
      results.push_back(tensor::ExpandShapeOp::create(
          rewriter, op.getLoc(), op->getResult(number).getType(), result,
          kept[number].groups));
    rewriter.replaceOp(op, results);
    return success();
  }
};

//===----------------------------------------------------------------------===//
// Reductions over a ragged extent and other extents
//===----------------------------------------------------------------------===//

/// Splits a reduction so that each ragged row is reduced separately first.
struct SplitRaggedReduction : OpInterfaceRewritePattern<linalg::LinalgOp> {
  using OpInterfaceRewritePattern::OpInterfaceRewritePattern;
  LogicalResult matchAndRewrite(linalg::LinalgOp op,
                                PatternRewriter &rewriter) const override;
};

} // namespace

/// Returns the neutral element of `combiner`, or null if there is none.
static TypedAttr getNeutral(OpBuilder &builder, Operation *combiner) {
  if (auto fma = dyn_cast<math::FmaOp>(combiner))
    return builder.getFloatAttr(fma.getType(), -0.0);
  return arith::getNeutralElement(combiner).value_or(TypedAttr());
}

LogicalResult
SplitRaggedReduction::matchAndRewrite(linalg::LinalgOp op,
                                      PatternRewriter &rewriter) const {
  // The loop over the ragged extent, and an operand that has this extent.
  std::optional<unsigned> loop;
  Value ragged;
  for (OpOperand *operand : op.getDpsInputOperands()) {
    auto type = dyn_cast<RankedTensorType>(operand->get().getType());
    if (!type || type.getNumDynamicDims() != 1)
      continue;
    auto expr = dyn_cast<AffineDimExpr>(
        op.getMatchingIndexingMap(operand).getResult(getExtentDim(type)));
    if (!expr || (loop && *loop != expr.getPosition()))
      return rewriter.notifyMatchFailure(op, "takes no rows in order");
    loop = expr.getPosition();
    ragged = operand->get();
  }
  SmallVector<IteratorType> iterators = op.getIteratorTypesArray();
  std::optional<Combiner> combiner = matchCombiner(op);
  if (!loop || iterators[*loop] != IteratorType::reduction ||
      op.getNumReductionLoops() == 1 || !combiner)
    return rewriter.notifyMatchFailure(op, "reduces no ragged extent and more");
  TypedAttr neutral = getNeutral(rewriter, combiner->op);
  AffineMap out = op.getIndexingMapsArray().back();
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  if (!neutral || !type.hasStaticShape() || !out.isProjectedPermutation())
    return rewriter.notifyMatchFailure(op, "has no neutral element");

  Location loc = op.getLoc();
  MLIRContext *context = op.getContext();
  SmallVector<int64_t> shape = {ShapedType::kDynamic};
  llvm::append_range(shape, type.getShape());
  Value extent = tensor::DimOp::create(rewriter, loc, ragged,
                                       getExtentDim(ragged.getType()));
  Value empty = tensor::EmptyOp::create(rewriter, loc, shape,
                                        type.getElementType(), extent);
  Value start =
      linalg::FillOp::create(
          rewriter, loc,
          arith::ConstantOp::create(rewriter, loc, neutral).getResult(), empty)
          .getResult(0);
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  maps.back() = out.insertResult(getAffineDimExpr(*loop, context), 0);
  iterators[*loop] = IteratorType::parallel;
  auto rows =
      buildLike(rewriter, op, op.getDpsInputs(), start, maps, iterators);
  auto sum = linalg::ReduceOp::create(
      rewriter, loc, rows.getResult(0), op.getDpsInits()[0],
      ArrayRef<int64_t>{0},
      [&](OpBuilder &nested, Location, ValueRange arguments) {
        Value value;
        if (isa<math::FmaOp>(combiner->op)) {
          value =
              arith::AddFOp::create(nested, loc, arguments[0], arguments[1]);
        } else {
          OperationState state(loc, combiner->op->getName(), arguments,
                               combiner->op->getResultTypes(),
                               combiner->op->getAttrs());
          value = nested.create(state)->getResult(0);
        }
        linalg::YieldOp::create(nested, loc, value);
      });
  rewriter.replaceOp(op, sum);
  return success();
}

void mlir::batch::decomposeReductions(KernelOp kernel) {
  // Use two walks, because a walk does not visit the ops that it creates.
  RewritePatternSet first(kernel.getContext()), second(kernel.getContext());
  first.add<DropReducedDims>(kernel.getContext());
  walkAndApplyPatterns(kernel, std::move(first));
  second.add<SplitRaggedReduction>(kernel.getContext());
  walkAndApplyPatterns(kernel, std::move(second));
}
