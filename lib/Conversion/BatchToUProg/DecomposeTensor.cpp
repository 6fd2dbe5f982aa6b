//===- DecomposeTensor.cpp - Replace tensor operations with simpler ones --===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Batch/Dialect/Batch/BatchInterfaces.h"
#include "Batch/Dialect/Batch/ElementTypes.h"
#include "KernelBatcher.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"

using namespace mlir;
using namespace mlir::batch;

namespace {

/// Decomposes a gather into one read per element of the result, at the position
/// that the indices specify.
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
    // The result either drops the gathered dimensions or keeps them with extent
    // one.
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

/// Decomposes an insert with strides, such as one for interior padding.
/// Interleaves the inserted rows with the rows of the destination.
struct DecomposeStridedInsert : OpRewritePattern<tensor::InsertSliceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(tensor::InsertSliceOp insert,
                                PatternRewriter &rewriter) const override;
};

/// Decomposes a reshape between static shapes into a reshape to a vector of all
/// elements and a reshape of this vector.
struct DecomposeReshape : OpRewritePattern<tensor::ReshapeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(tensor::ReshapeOp reshape,
                                PatternRewriter &rewriter) const override {
    auto from = cast<ShapedType>(reshape.getSource().getType());
    auto to = cast<ShapedType>(reshape.getType());
    if (!from.hasRank() || !from.hasStaticShape() || !to.hasRank() ||
        !to.hasStaticShape())
      return rewriter.notifyMatchFailure(reshape, "of dynamic shape");
    auto all = [](ShapedType type) -> SmallVector<ReassociationIndices> {
      if (type.getRank() == 0)
        return {};
      return {llvm::to_vector<2>(llvm::seq<int64_t>(0, type.getRank()))};
    };
    Location loc = reshape.getLoc();
    auto line = RankedTensorType::get(to.getNumElements(), to.getElementType());
    Value value = reshape.getSource();
    if (from.getRank() == 0)
      value =
          tensor::ExpandShapeOp::create(rewriter, loc, line, value, all(from));
    else if (from.getRank() > 1)
      value = tensor::CollapseShapeOp::create(rewriter, loc, line, value,
                                              all(from));
    if (to.getRank() == 0)
      value =
          tensor::CollapseShapeOp::create(rewriter, loc, to, value, all(to));
    else if (to.getRank() > 1)
      value = tensor::ExpandShapeOp::create(rewriter, loc, to, value, all(to));
    rewriter.replaceOp(reshape, value);
    return success();
  }
};

struct DecomposeRank : OpRewritePattern<tensor::RankOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(tensor::RankOp rank,
                                PatternRewriter &rewriter) const override {
    auto type = dyn_cast<RankedTensorType>(rank.getTensor().getType());
    if (!type)
      return rewriter.notifyMatchFailure(rank, "of a tensor without a rank");
    rewriter.replaceOpWithNewOp<arith::ConstantIndexOp>(rank, type.getRank());
    return success();
  }
};

struct DecomposeBitcast : OpRewritePattern<tensor::BitcastOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(tensor::BitcastOp cast,
                                PatternRewriter &rewriter) const override {
    if (isa<BatchableOpInterface>(*cast))
      return rewriter.notifyMatchFailure(cast, "specifies how it is batched");
    if (!isElementType(getElementTypeOrSelf(cast.getSource())) ||
        !isElementType(getElementTypeOrSelf(cast.getType())))
      return rewriter.notifyMatchFailure(cast, "of elements of other types");
    rewriter.replaceOpWithNewOp<arith::BitcastOp>(cast, cast.getType(),
                                                  cast.getSource());
    return success();
  }
};

/// Decomposes a linalg.pack into padding, a reshape and a transposition.
struct DecomposePack : OpRewritePattern<linalg::PackOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(linalg::PackOp pack,
                                PatternRewriter &rewriter) const override {
    if (!pack.hasPureTensorSemantics())
      return rewriter.notifyMatchFailure(pack, "of buffers");
    return failure(failed(linalg::lowerPack(
        rewriter, pack, /*lowerPadLikeWithInsertSlice=*/false)));
  }
};

struct DecomposeUnPack : OpRewritePattern<linalg::UnPackOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(linalg::UnPackOp unpack,
                                PatternRewriter &rewriter) const override {
    if (!unpack.hasPureTensorSemantics())
      return rewriter.notifyMatchFailure(unpack, "of buffers");
    return failure(failed(linalg::lowerUnPack(
        rewriter, unpack, /*lowerUnpadLikeWithExtractSlice=*/false)));
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

/// Converts constant positions of a slice to attributes. In operators, all
/// other positions are per-task values.
template <class SliceOp>
struct FoldPositions : OpRewritePattern<SliceOp> {
  using OpRewritePattern<SliceOp>::OpRewritePattern;
  LogicalResult matchAndRewrite(SliceOp slice,
                                PatternRewriter &rewriter) const override {
    SmallVector<OpFoldResult> offsets = slice.getMixedOffsets();
    if (failed(foldDynamicIndexList(offsets, /*onlyNonNegative=*/true)))
      return rewriter.notifyMatchFailure(slice, "no constant position");
    // Type of the tensor that contains the slice.
    constexpr bool writes = std::is_same_v<SliceOp, tensor::InsertSliceOp>;
    RankedTensorType whole;
    if constexpr (writes)
      whole = slice.getDestType();
    else
      whole = slice.getSourceType();
    for (auto [offset, extent] : llvm::zip_equal(offsets, whole.getShape()))
      if (std::optional<int64_t> position = getConstantIntValue(offset))
        if (!ShapedType::isDynamic(extent) && *position >= extent)
          return rewriter.notifyMatchFailure(slice, "out of range");
    if constexpr (writes)
      rewriter.replaceOpWithNewOp<SliceOp>(
          slice, slice.getSource(), slice.getDest(), offsets,
          slice.getMixedSizes(), slice.getMixedStrides());
    else
      rewriter.replaceOpWithNewOp<SliceOp>(
          slice, slice.getType(), slice.getSource(), offsets,
          slice.getMixedSizes(), slice.getMixedStrides());
    return success();
  }
};

} // namespace

namespace {

/// Builds slices of static tensors along one dimension.
struct DimBuilder {
  OpBuilder &builder;
  Location loc;
  int64_t dim;

  static ArrayRef<int64_t> getShape(Value value) {
    return cast<RankedTensorType>(value.getType()).getShape();
  }
  Value slice(Value value, int64_t offset, int64_t size,
              int64_t stride = 1) const {
    SmallVector<OpFoldResult> offsets(getShape(value).size(),
                                      builder.getIndexAttr(0));
    SmallVector<OpFoldResult> sizes =
        getAsIndexOpFoldResult(builder.getContext(), getShape(value));
    SmallVector<OpFoldResult> strides(offsets.size(), builder.getIndexAttr(1));
    offsets[dim] = builder.getIndexAttr(offset);
    sizes[dim] = builder.getIndexAttr(size);
    strides[dim] = builder.getIndexAttr(stride);
    return tensor::ExtractSliceOp::create(builder, loc, value, offsets, sizes,
                                          strides);
  }
  Value concat(int64_t along, ArrayRef<Value> pieces) const {
    if (pieces.size() == 1)
      return pieces[0];
    return tensor::ConcatOp::create(builder, loc, along, pieces);
  }
  /// Returns a tensor with the elements of `rows` at the multiples of `stride`,
  /// and the elements of `others` at all other positions. `rows` has extent n;
  /// `others` and the result have extent n * stride.
  Value interleave(Value rows, Value others, int64_t stride) const {
    SmallVector<int64_t> shape(getShape(rows)), whole(shape);
    SmallVector<ReassociationIndices> groups;
    for (int64_t i = 0, e = shape.size(); i < e; ++i) {
      groups.push_back({i + (i > dim)});
      if (i == dim)
        groups.back().push_back(i + 1);
    }
    whole[dim] *= stride;
    Type element = getElementTypeOrSelf(rows.getType());
    auto expand = [&](Value value, int64_t count) {
      SmallVector<int64_t> split(shape);
      split.insert(split.begin() + dim + 1, count);
      return tensor::ExpandShapeOp::create(
          builder, loc, RankedTensorType::get(split, element), value, groups);
    };
    DimBuilder inner{builder, loc, dim + 1};
    Value between = inner.slice(expand(others, stride), 1, stride - 1);
    Value both = concat(dim + 1, {expand(rows, 1), between});
    return tensor::CollapseShapeOp::create(
        builder, loc, RankedTensorType::get(whole, element), both, groups);
  }
};

} // namespace

LogicalResult
DecomposeStridedInsert::matchAndRewrite(tensor::InsertSliceOp insert,
                                        PatternRewriter &rewriter) const {
  auto isStatic = [](ArrayRef<int64_t> values) {
    return llvm::none_of(values, ShapedType::isDynamic);
  };
  SmallVector<int64_t> strides(insert.getStaticStrides());
  const int64_t *strided =
      llvm::find_if_not(strides, [](int64_t stride) { return stride == 1; });
  if (strided == strides.end() || !isStatic(strides) ||
      !isStatic(insert.getStaticOffsets()) ||
      !isStatic(insert.getStaticSizes()) ||
      !insert.getResultType().hasStaticShape())
    return rewriter.notifyMatchFailure(insert,
                                       "has no strides, or unknown ones");

  rewriter.setInsertionPoint(insert);
  // Insert the source into the rows of the destination that the slice covers.
  int64_t dim = strided - strides.begin(), stride = *strided;
  int64_t offset = insert.getStaticOffsets()[dim];
  int64_t count = insert.getStaticSizes()[dim];
  int64_t extent = insert.getResultType().getDimSize(dim);
  DimBuilder b{rewriter, insert.getLoc(), dim};
  Value dest = insert.getDest();
  Value reached = b.slice(dest, offset, count, stride);
  SmallVector<OpFoldResult> offsets = insert.getMixedOffsets();
  SmallVector<OpFoldResult> steps = insert.getMixedStrides();
  offsets[dim] = rewriter.getIndexAttr(0);
  steps[dim] = rewriter.getIndexAttr(1);
  auto rows = tensor::InsertSliceOp::create(
      rewriter, insert.getLoc(), insert.getSource(), reached, offsets,
      insert.getMixedSizes(), steps);
  // The last row is separate, because fewer than `stride` - 1 other rows may
  // follow it.
  int64_t last = offset + (count - 1) * stride;
  SmallVector<Value> pieces;
  if (offset > 0)
    pieces.push_back(b.slice(dest, 0, offset));
  if (count > 1) {
    Value first = b.slice(rows, 0, count - 1);
    Value others = b.slice(dest, offset, last - offset);
    pieces.push_back(b.interleave(first, others, stride));
  }
  pieces.push_back(b.slice(rows, count - 1, 1));
  if (last + 1 < extent)
    pieces.push_back(b.slice(dest, last + 1, extent - last - 1));
  rewriter.replaceOp(insert, b.concat(dim, pieces));
  // Other dimensions may have strides, too.
  (void)matchAndRewrite(rows, rewriter);
  return success();
}

static bool hasStrides(Operation *op) {
  auto insert = dyn_cast<tensor::InsertSliceOp>(op);
  return insert && llvm::any_of(insert.getStaticStrides(),
                                [](int64_t stride) { return stride != 1; });
}

void mlir::batch::decomposeTensorOps(KernelOp kernel) {
  WalkResult found = kernel.walk([](Operation *op) {
    return hasStrides(op) ||
                   isa<tensor::ExtractSliceOp, tensor::GatherOp,
                       tensor::GenerateOp, tensor::PadOp, tensor::CastOp,
                       tensor::ReshapeOp, tensor::RankOp, tensor::BitcastOp,
                       linalg::PackOp, linalg::UnPackOp>(op)
               ? WalkResult::interrupt()
               : WalkResult::advance();
  });
  if (!found.wasInterrupted())
    return;
  // Use two walks: a walk does not visit the ops that it creates, and the
  // patterns for tiles may create padding.
  MLIRContext *context = kernel.getContext();
  RewritePatternSet tiles(context), patterns(context);
  tiles.add<DecomposePack, DecomposeUnPack>(context);
  walkAndApplyPatterns(kernel, std::move(tiles));
  patterns
      .add<DecomposeGather, DecomposeGenerate, DecomposeStridedInsert,
           DecomposeReshape, DecomposeRank, DecomposeBitcast, DropCast,
           FoldPositions<tensor::ExtractSliceOp>,
           FoldPositions<tensor::InsertSliceOp>, linalg::DecomposePadOpPattern>(
          context);
  walkAndApplyPatterns(kernel, std::move(patterns));
}
