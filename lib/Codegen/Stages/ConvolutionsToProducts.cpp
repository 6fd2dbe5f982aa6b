//===- ConvolutionsToProducts.cpp - Loops of convolutions -----------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Prepares convolutions and poolings before operators are split into stages:
// copies images that readers would otherwise compute, and rewrites the loops of
// convolutions. Staging then finds the products themselves
// (StageConvolutions.cpp).
//
//===----------------------------------------------------------------------===//

#include "Batch/Codegen/Stages/Passes.h"

#include "ElementSources.h"
#include "StagePlan.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mlir::batch {
#define GEN_PASS_DEF_CONVOLUTIONSTOPRODUCTSPASS
#include "Batch/Codegen/Stages/Passes.h.inc"
} // namespace mlir::batch

using namespace mlir;
using namespace mlir::uprog;
using linalg::ConvolutionDimensions;
using utils::IteratorType;

//===----------------------------------------------------------------------===//
// Images
//===----------------------------------------------------------------------===//

/// Returns true if every reader of an element of `op` would recompute the
/// element, or select one of several operands to read it from.
static bool isComputedByReaders(Operation *op) {
  if (isa<tensor::InsertSliceOp, tensor::ConcatOp>(op))
    return true;
  auto isArith = [](Operation *inner) {
    return isa<arith::ArithDialect>(inner->getDialect()) &&
           !isa<arith::DivFOp, arith::RemFOp>(inner);
  };
  auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
  if (!linalgOp)
    return OpTrait::hasElementwiseMappableTraits(op) && isArith(op);
  return linalgOp.getNumReductionLoops() == 0 &&
         !isa<linalg::CopyOp, linalg::FillOp>(op) &&
         llvm::all_of(linalgOp.getBlock()->without_terminator(),
                      [&](Operation &inner) { return isArith(&inner); });
}

/// Returns true if readers of `image` cannot load its elements directly from
/// memory.
static bool isWorthCopying(Value image) {
  SmallVector<Value> worklist = {image};
  while (!worklist.empty()) {
    Operation *def = worklist.pop_back_val().getDefiningOp();
    if (!def)
      continue;
    if (isComputedByReaders(def))
      return true;
    if (isView(def))
      worklist.push_back(def->getOperand(0));
  }
  return false;
}

/// If it is worthwhile, stores a copy of the image in memory and makes `op`
/// read the copy.
static void copyImage(OpBuilder &builder, linalg::LinalgOp op) {
  OpOperand *image = op.getDpsInputOperand(0);
  if (!isWorthCopying(image->get()))
    return;
  // Convolutions of the same image share one copy.
  Value value = image->get();
  for (Operation *user : value.getUsers())
    if (auto copy = dyn_cast<linalg::CopyOp>(user))
      if (copy->getBlock() == op->getBlock() && copy->isBeforeInBlock(op) &&
          copy.getInputs()[0] == value)
        return image->set(copy.getResult(0));
  builder.setInsertionPointAfterValue(value);
  Location loc = op.getLoc();
  Value empty = tensor::EmptyOp::create(
      builder, loc, tensor::getMixedSizes(builder, loc, value),
      getElementTypeOrSelf(value.getType()));
  image->set(linalg::CopyOp::create(builder, loc, value, empty).getResult(0));
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

/// Returns the reduction's loops in the order of the filter's dimensions.
/// Returns nullopt unless each index of the filter is the index of a separate
/// loop, and these loops include all loops of the reduction.
static std::optional<SmallVector<unsigned>> orderByFilter(linalg::LinalgOp op) {
  SmallVector<unsigned> reductions, order;
  op.getReductionDims(reductions);
  AffineMap filter = op.getMatchingIndexingMap(op.getDpsInputOperand(1));
  if (!filter.isProjectedPermutation())
    return std::nullopt;
  for (AffineExpr expr : filter.getResults())
    if (unsigned dim = cast<AffineDimExpr>(expr).getPosition();
        llvm::is_contained(reductions, dim))
      order.push_back(dim);
  if (order.size() != reductions.size())
    return std::nullopt;
  return order;
}

/// Returns the number of image dimensions to collapse into one: all of them if
/// they are the last dimensions of the result, along which vectors run, and 0
/// otherwise.
static int64_t countPixelDims(linalg::LinalgOp op,
                              const ConvolutionDimensions &dims) {
  AffineMap out = op.getIndexingMapMatchingResult(op->getResult(0));
  int64_t count = 0;
  for (AffineExpr expr : llvm::reverse(out.getResults())) {
    auto dim = dyn_cast<AffineDimExpr>(expr);
    if (!dim || !llvm::is_contained(dims.outputImage, dim.getPosition()))
      break;
    ++count;
  }
  return count == static_cast<int64_t>(dims.outputImage.size()) ? count : 0;
}

/// Returns the start value of a convolution, with its last dimensions collapsed
/// into one.
static Value collapseStart(OpBuilder &builder, Location loc, Value start,
                           ArrayRef<ReassociationIndices> groups) {
  auto collapse = [&](Value value) -> Value {
    return tensor::CollapseShapeOp::create(builder, loc, value, groups);
  };
  auto fill = start.getDefiningOp<linalg::FillOp>();
  if (!fill)
    return collapse(start);
  return linalg::FillOp::create(builder, loc, fill.getInputs(),
                                collapse(fill.getOutputs()[0]))
      .getResult(0);
}

/// Rewrites a convolution with a parameter so that it has the loops of a
/// product.
static void convertLoops(OpBuilder &builder, linalg::LinalgOp op,
                         const ConvolutionDimensions &dims) {
  std::optional<SmallVector<unsigned>> reductions = orderByFilter(op);
  if (!reductions)
    return;
  MLIRContext *context = op.getContext();
  AffineMap out = op.getIndexingMapMatchingResult(op->getResult(0));
  if (!out.isProjectedPermutation() ||
      out.getNumResults() != op.getNumParallelLoops())
    return;
  // The new loops are the dimensions of the result, with the pixel dimensions
  // collapsed into one, followed by the dimensions of the reduction.
  int64_t pixelDims = countPixelDims(op, dims);
  int64_t rank = out.getNumResults();
  int64_t leading = pixelDims > 1 ? rank - pixelDims : rank;
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  SmallVector<AffineExpr> exprs(op.getNumLoops());
  auto loopOf = [&](int64_t i) {
    return cast<AffineDimExpr>(out.getResult(i)).getPosition();
  };
  for (int64_t i = 0; i < leading; ++i)
    exprs[loopOf(i)] = getAffineDimExpr(i, context);
  int64_t parallel = leading, below = 1;
  if (leading < rank) {
    AffineExpr pixel = getAffineDimExpr(parallel++, context);
    for (int64_t i = rank - 1; i >= leading; --i) {
      AffineExpr index = pixel.floorDiv(below);
      exprs[loopOf(i)] = i == leading ? index : index % ranges[loopOf(i)];
      below *= ranges[loopOf(i)];
    }
  }
  int64_t loops = parallel;
  for (unsigned dim : *reductions)
    exprs[dim] = getAffineDimExpr(loops++, context);
  // Do nothing if the loops are already the loops of a product.
  if (leading == rank &&
      llvm::equal(exprs, llvm::map_range(llvm::seq<unsigned>(0, loops),
                                         [&](unsigned i) {
                                           return getAffineDimExpr(i, context);
                                         })))
    return;

  SmallVector<AffineMap> maps;
  for (OpOperand *input : op.getDpsInputOperands())
    maps.push_back(op.getMatchingIndexingMap(input).replaceDimsAndSymbols(
        exprs, {}, loops, 0));
  maps.push_back(AffineMap::getMultiDimIdentityMap(loops, context)
                     .getMajorSubMap(parallel));
  SmallVector<IteratorType> iterators(parallel, IteratorType::parallel);
  iterators.append(reductions->size(), IteratorType::reduction);

  builder.setInsertionPoint(op);
  Location loc = op.getLoc();
  Value start = op.getDpsInits()[0];
  SmallVector<ReassociationIndices> groups;
  for (int64_t i = 0; i < leading; ++i)
    groups.push_back({i});
  if (leading < rank) {
    groups.emplace_back(llvm::to_vector<2>(llvm::seq<int64_t>(leading, rank)));
    start = collapseStart(builder, loc, start, groups);
  }
  auto product = linalg::GenericOp::create(
      builder, loc, start.getType(), op.getDpsInputs(), start, maps, iterators);
  IRMapping mapping;
  op->getRegion(0).cloneInto(&product.getRegion(), mapping);
  Value result = product.getResult(0);
  if (leading < rank)
    result = tensor::ExpandShapeOp::create(
        builder, loc, op->getResult(0).getType(), result, groups);
  op->getResult(0).replaceAllUsesWith(result);
  op->erase();
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

/// Returns true if `op` only multiplies by a parameter of static shape and adds
/// the products.
static bool multipliesParameter(OperatorOp owner, linalg::LinalgOp op) {
  auto filter = dyn_cast<BlockArgument>(op.getDpsInputOperand(1)->get());
  return isFloatContraction(op) && filter &&
         owner.getParameter(filter.getArgNumber()) &&
         cast<RankedTensorType>(filter.getType()).hasStaticShape();
}

namespace {
struct ConvolutionsToProductsPass
    : batch::impl::ConvolutionsToProductsPassBase<ConvolutionsToProductsPass> {
  using ConvolutionsToProductsPassBase::ConvolutionsToProductsPassBase;

  void runOnOperation() override {
    for (OperatorOp op : getOperation().getOps<OperatorOp>())
      if (!op.getStaging())
        convert(op);
  }

  void convert(OperatorOp owner) {
    OpBuilder builder(&getContext());
    SmallVector<linalg::LinalgOp> ops(
        owner.getBody().getOps<linalg::LinalgOp>());
    for (linalg::LinalgOp op : ops) {
      if (op->getNumResults() != 1 || op.getNumDpsInputs() != 2 ||
          op.getNumReductionLoops() == 0)
        continue;
      FailureOr<ConvolutionDimensions> dims = linalg::inferConvolutionDims(op);
      if (failed(dims) || dims->outputImage.empty())
        continue;
      copyImage(builder, op);
      if (multipliesParameter(owner, op))
        convertLoops(builder, op, *dims);
    }
  }
};
} // namespace
