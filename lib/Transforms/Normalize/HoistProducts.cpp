//===- HoistProducts.cpp - Products that loops do not change --------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Batch/Analysis/TensorCode.h"
#include "Batch/Transforms/Normalize/Passes.h"
#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Transforms/RegionUtils.h"

namespace mlir::batch {
#define GEN_PASS_DEF_HOISTPRODUCTSPASS
#include "Batch/Transforms/Normalize/Passes.h.inc"
} // namespace mlir::batch

using namespace mlir;
using namespace mlir::batch;

/// Returns true if `op` may run where it did not run before: it is tensor code
/// without control flow, and it does not read at computed positions, which may
/// be out of range.
static bool mayRunEarlier(Operation *op) {
  if (!isa_and_present<arith::ArithDialect, linalg::LinalgDialect,
                       math::MathDialect, tensor::TensorDialect>(
          op->getDialect()) ||
      !isPure(op))
    return false;
  // Bodies of structured operations may also read at computed positions.
  WalkResult reads = op->walk([](Operation *inner) {
    return isa<tensor::ExtractOp, tensor::InsertOp>(inner)
               ? WalkResult::interrupt()
               : WalkResult::advance();
  });
  if (reads.wasInterrupted())
    return false;
  auto slice = dyn_cast<OffsetSizeAndStrideOpInterface>(op);
  return !slice || !ShapedType::isDynamicShape(slice.getStaticOffsets());
}

namespace {

/// Moves products out of one loop.
class ProductHoister {
public:
  explicit ProductHoister(LoopLikeOpInterface loop)
      : loop(loop), builder(loop) {}

  /// Moves products out of the loop. Returns true if there were any.
  bool run();

private:
  using Slice = SetVector<Operation *>;
  /// Consecutive operands of a concatenation. The loop changes either all of
  /// them or none.
  struct Run {
    bool invariant;
    int64_t offset;
    SmallVector<Value> pieces;
  };

  bool isInLoop(Value value) { return !loop.isDefinedOutsideOfLoop(value); }
  std::optional<Slice> findInvariant(Value value);
  bool isInvariant(Value value) { return findInvariant(value).has_value(); }
  bool hoist(linalg::LinalgOp product);
  linalg::LinalgOp split(linalg::LinalgOp product);
  SmallVector<Run> findRuns(tensor::ConcatOp concat);
  Value multiplyPiece(linalg::LinalgOp product, OpOperand &whole, int64_t dim,
                      int64_t offset, ValueRange pieces, Value init);

  LoopLikeOpInterface loop;
  OpBuilder builder;
};

} // namespace

/// Returns the operations in the loop that compute `value`, in order. Returns
/// nullopt if they depend on a value that the loop changes, or if one of them
/// must not run earlier.
std::optional<ProductHoister::Slice>
ProductHoister::findInvariant(Value value) {
  Slice slice;
  if (!isInLoop(value))
    return slice;
  Operation *op = value.getDefiningOp();
  if (!op)
    return std::nullopt;
  BackwardSliceOptions options;
  options.inclusive = true;
  options.omitUsesFromAbove = false;
  options.omitBlockArguments = true;
  options.filter = [&](Operation *other) {
    return loop->isProperAncestor(other);
  };
  if (failed(getBackwardSlice(op, &slice, options)))
    return std::nullopt;
  for (Operation *used : slice) {
    if (!mayRunEarlier(used))
      return std::nullopt;
    SetVector<Value> above;
    getUsedValuesDefinedAbove(used->getRegions(), above);
    auto isUnknown = [&](Value operand) {
      return isInLoop(operand) && !operand.getDefiningOp();
    };
    if (llvm::any_of(used->getOperands(), isUnknown) ||
        llvm::any_of(above, isUnknown))
      return std::nullopt;
  }
  return slice;
}

/// Computes the product before the loop if it does not depend on the loop.
bool ProductHoister::hoist(linalg::LinalgOp product) {
  std::optional<Slice> slice = findInvariant(product->getResult(0));
  if (!slice)
    return false;
  remark::passed(product.getLoc(),
                 remark::RemarkOpts::name("HoistProducts").category("batch"))
      << "this product is loop-invariant and is computed once, before the "
         "loop";
  // The operations are cloned, because other ops in the loop may read the
  // originals.
  IRMapping mapping;
  builder.setInsertionPoint(loop);
  for (Operation *op : *slice)
    builder.clone(*op, mapping);
  Value result = product->getResult(0);
  result.replaceAllUsesWith(mapping.lookup(result));
  product->erase();
  return true;
}

/// Computes `product` with only `pieces` of the operand `whole`, starting from
/// `init`. The pieces start at `offset` in dimension `dim` of the operand.
Value ProductHoister::multiplyPiece(linalg::LinalgOp product, OpOperand &whole,
                                    int64_t dim, int64_t offset,
                                    ValueRange pieces, Value init) {
  Location loc = product.getLoc();
  Value piece = pieces.size() == 1
                    ? pieces.front()
                    : tensor::ConcatOp::create(builder, loc, dim, pieces);
  int64_t extent = cast<RankedTensorType>(piece.getType()).getDimSize(dim);
  AffineExpr summed = product.getMatchingIndexingMap(&whole).getResult(dim);
  SmallVector<Value> operands;
  for (OpOperand &operand : product->getOpOperands()) {
    if (&operand == &whole) {
      operands.push_back(piece);
      continue;
    }
    if (product.isDpsInit(&operand)) {
      operands.push_back(init);
      continue;
    }
    auto type = cast<RankedTensorType>(operand.get().getType());
    SmallVector<OpFoldResult> offsets(type.getRank(), builder.getIndexAttr(0));
    SmallVector<OpFoldResult> strides(type.getRank(), builder.getIndexAttr(1));
    SmallVector<OpFoldResult> sizes =
        getAsIndexOpFoldResult(builder.getContext(), type.getShape());
    for (auto [place, expr] :
         llvm::enumerate(product.getMatchingIndexingMap(&operand).getResults()))
      if (expr == summed) {
        offsets[place] = builder.getIndexAttr(offset);
        sizes[place] = builder.getIndexAttr(extent);
      }
    operands.push_back(tensor::ExtractSliceOp::create(
        builder, loc, operand.get(), offsets, sizes, strides));
  }
  return clone(builder, product, product->getResultTypes(), operands)
      ->getResult(0);
}

/// Returns true if the product sums along dimension `dim` of the operand
/// `whole`, and the operand `other` also has this dimension.
static bool isSummed(linalg::LinalgOp product, OpOperand &whole, int64_t dim,
                     OpOperand &other) {
  AffineExpr summed = product.getMatchingIndexingMap(&whole).getResult(dim);
  auto has = [&](OpOperand &operand) {
    return llvm::is_contained(
        product.getMatchingIndexingMap(&operand).getResults(), summed);
  };
  return isa<AffineDimExpr>(summed) && has(other) &&
         !has(*product.getDpsInitOperand(0));
}

SmallVector<ProductHoister::Run>
ProductHoister::findRuns(tensor::ConcatOp concat) {
  SmallVector<Run> runs;
  int64_t offset = 0;
  for (Value piece : concat.getInputs()) {
    bool invariant = isInvariant(piece);
    if (runs.empty() || runs.back().invariant != invariant)
      runs.push_back({invariant, offset, {}});
    runs.back().pieces.push_back(piece);
    offset +=
        cast<RankedTensorType>(piece.getType()).getDimSize(concat.getDim());
  }
  return runs;
}

/// Replaces a product W [a; b] with W1 a + W2 b if the loop changes a or b, but
/// not both. Returns the product that the loop does not change, or null.
linalg::LinalgOp ProductHoister::split(linalg::LinalgOp product) {
  Value init = product.getDpsInits().front();
  // Do not split sums of floats with fewer than 32 bits: such sums are rounded
  // only once, at the end.
  if (product.getNumDpsInputs() != 2 || !isInvariant(init) ||
      getElementTypeOrSelf(init).getIntOrFloatBitWidth() < 32)
    return {};
  for (OpOperand *whole : product.getDpsInputOperands()) {
    auto concat = whole->get().getDefiningOp<tensor::ConcatOp>();
    OpOperand *other =
        product.getDpsInputOperand(1 - whole->getOperandNumber());
    if (!concat || !isInvariant(other->get()) ||
        !isSummed(product, *whole, concat.getDim(), *other))
      continue;
    SmallVector<Run> runs = findRuns(concat);
    if (runs.size() < 2)
      continue;
    builder.setInsertionPoint(product);
    Value sum = init, fixed;
    for (bool invariant : {true, false})
      for (const Run &run : runs)
        if (run.invariant == invariant) {
          sum = multiplyPiece(product, *whole, concat.getDim(), run.offset,
                              run.pieces, sum);
          if (invariant)
            fixed = sum;
        }
    product->getResult(0).replaceAllUsesWith(sum);
    product->erase();
    return cast<linalg::LinalgOp>(fixed.getDefiningOp());
  }
  return {};
}

bool ProductHoister::run() {
  bool changed = false;
  for (Region *region : loop.getLoopRegions()) {
    SmallVector<linalg::LinalgOp> products;
    for (Operation &op : region->getOps())
      if (linalg::LinalgOp product = getContraction(&op))
        if (!product.hasDynamicShape())
          products.push_back(product);
    for (linalg::LinalgOp product : products) {
      bool hoisted = hoist(product);
      if (!hoisted)
        if (linalg::LinalgOp piece = split(product))
          hoisted = hoist(piece);
      changed |= hoisted;
    }
  }
  return changed;
}

namespace {
class HoistProductsPass
    : public batch::impl::HoistProductsPassBase<HoistProductsPass> {
  void runOnOperation() override {
    // Inner loops come first, because a product may move out of several loops.
    SmallVector<LoopLikeOpInterface> loops;
    getOperation().walk(
        [&](LoopLikeOpInterface loop) { loops.push_back(loop); });
    bool changed = false;
    for (LoopLikeOpInterface loop : loops)
      changed |= ProductHoister(loop).run();
    if (!changed)
      return markAllAnalysesPreserved();
    // Ops in the loops whose results only the moved products used are now dead.
    IRRewriter rewriter(&getContext());
    (void)runRegionDCE(rewriter, getOperation()->getRegions());
  }
};
} // namespace
