//===- UpdateStacks.cpp - Update rows of stacked tensors in place ---------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A stack is a tensor of rows, such as the caches of all layers. If the program
// extracts a row, inserts into it, and puts it back, the pass inserts into the
// stack instead. A loop over all rows may read one stack and fill another one
// with the changed rows, as `lax.scan` does. The pass makes such a loop update
// the stack that it reads. If all rounds of the loop together have few ops, the
// pass unrolls it. Rows then have constant positions, and kernels read them
// without a copy. The limit is higher if products read the rows, which are
// matrices of layers: products read a fixed matrix in panels.
//
//===----------------------------------------------------------------------===//

#include "Batch/Analysis/TensorCode.h"
#include "Batch/Transforms/Import/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Utils/Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace mlir::batch {
#define GEN_PASS_DEF_UPDATESTACKSPASS
#include "Batch/Transforms/Import/Passes.h.inc"
} // namespace mlir::batch

using namespace mlir;
using namespace mlir::batch;

/// If `slice` is exactly one row of `stack`, returns the position of this row.
/// `row` is the type of the slice without the first dimension. Returns none for
/// any other slice, such as a column of a square matrix, which has the type of
/// a row.
static std::optional<OpFoldResult> getRow(OffsetSizeAndStrideOpInterface slice,
                                          RankedTensorType stack,
                                          RankedTensorType row) {
  if (!stack.hasStaticShape() || stack.getRank() < 2 ||
      row.getShape() != stack.getShape().drop_front() ||
      !isOneInteger(slice.getMixedSizes().front()) || !slice.hasUnitStride())
    return std::nullopt;
  for (int64_t dim = 1; dim < stack.getRank(); ++dim)
    if (!isZeroInteger(slice.getMixedOffsets()[dim]))
      return std::nullopt;
  return slice.getMixedOffsets().front();
}

namespace {
/// Sequence of inserts into a row of a stack, from the row's extraction to its
/// reinsertion.
struct RowUpdate {
  tensor::ExtractSliceOp taken;
  SmallVector<Operation *> inserts; ///< in program order
  tensor::InsertSliceOp put;
  OpFoldResult position;
};
} // namespace

/// Returns the update that ends in `put`, or none if `put` does not end one.
static std::optional<RowUpdate> findUpdate(tensor::InsertSliceOp put) {
  std::optional<OpFoldResult> position =
      getRow(put, put.getDestType(), put.getSourceType());
  if (!position)
    return std::nullopt;
  RowUpdate update{{}, {}, put, *position};
  Value value = put.getSource();
  while (Operation *op = value.getDefiningOp()) {
    if (op->getBlock() != put->getBlock())
      return std::nullopt;
    if (auto insert = dyn_cast<tensor::InsertOp>(op))
      value = insert.getDest();
    else if (auto insert = dyn_cast<tensor::InsertSliceOp>(op))
      value = insert.getDest();
    else
      break;
    update.inserts.push_back(op);
  }
  std::reverse(update.inserts.begin(), update.inserts.end());
  update.taken = value.getDefiningOp<tensor::ExtractSliceOp>();
  if (!update.taken || update.inserts.empty() ||
      update.taken.getSourceType() != put.getDestType() ||
      getRow(update.taken, update.taken.getSourceType(),
             update.taken.getType()) != position)
    return std::nullopt;
  return update;
}

/// Replaces the inserts of `update` into the row with inserts into the stack.
static void insertIntoStack(const RowUpdate &update, RewriterBase &rewriter) {
  tensor::ExtractSliceOp taken = update.taken;
  Value stack = taken.getSource();
  for (Operation *op : update.inserts) {
    rewriter.setInsertionPoint(op);
    Location loc = op->getLoc();
    if (auto insert = dyn_cast<tensor::InsertOp>(op)) {
      SmallVector<Value> indices = {
          getValueOrCreateConstantIndexOp(rewriter, loc, update.position)};
      llvm::append_range(indices, insert.getIndices());
      stack = tensor::InsertOp::create(rewriter, loc, insert.getScalar(), stack,
                                       indices);
    } else {
      auto slice = cast<tensor::InsertSliceOp>(op);
      SmallVector<OpFoldResult> offsets = slice.getMixedOffsets(),
                                sizes = slice.getMixedSizes(),
                                strides = slice.getMixedStrides();
      OpFoldResult one = rewriter.getIndexAttr(1);
      offsets.insert(offsets.begin(), update.position);
      sizes.insert(sizes.begin(), one);
      strides.insert(strides.begin(), one);
      stack = tensor::InsertSliceOp::create(rewriter, loc, slice.getSource(),
                                            stack, offsets, sizes, strides);
    }
    rewriter.replaceOpWithNewOp<tensor::ExtractSliceOp>(
        op, taken.getType(), stack, taken.getMixedOffsets(),
        taken.getMixedSizes(), taken.getMixedStrides());
  }
  rewriter.replaceOp(update.put, stack);
}

/// Returns true if `loop` runs once for each of `rows` rows, in order.
static bool visitsRows(scf::ForOp loop, int64_t rows) {
  return isZeroInteger(OpFoldResult(loop.getLowerBound())) &&
         isOneInteger(OpFoldResult(loop.getStep())) &&
         getConstantIntValue(loop.getUpperBound()) == rows;
}

/// Makes `loop` start from the stack that it reads instead of the stack that it
/// fills. This is valid if the loop replaces all rows, and each round accesses
/// only the row of `update` and reads it before replacing it. Returns false,
/// and changes nothing, if one of these conditions may not hold.
static bool joinStacks(scf::ForOp loop, const RowUpdate &update) {
  tensor::InsertSliceOp put = update.put;
  tensor::ExtractSliceOp taken = update.taken;
  auto filled = dyn_cast<BlockArgument>(put.getDest());
  Value read = taken.getSource();
  OpOperand *init = filled ? loop.getTiedLoopInit(filled) : nullptr;
  if (!init || !filled.hasOneUse() || !loop.isDefinedOutsideOfLoop(read) ||
      update.position != OpFoldResult(loop.getInductionVar()) ||
      !visitsRows(loop, put.getDestType().getDimSize(0)) ||
      loop.getTiedLoopYieldedValue(filled)->get() != put.getResult() ||
      !put->hasOneUse())
    return false;
  for (Operation *user : read.getUsers()) {
    auto slice = dyn_cast<tensor::ExtractSliceOp>(user);
    if (loop->isProperAncestor(user) &&
        (!slice || getRow(slice, slice.getSourceType(), slice.getType()) !=
                       std::optional(update.position)))
      return false;
  }
  init->set(read);
  read.replaceUsesWithIf(filled, [&](OpOperand &use) {
    return loop->isProperAncestor(use.getOwner());
  });
  return true;
}

/// Returns true if a product in `loop` reads a matrix that each round selects
/// from a tensor outside the loop.
static bool selectsMatrices(scf::ForOp loop) {
  auto isMatrix = [&](tensor::ExtractSliceOp slice) {
    return loop.isDefinedOutsideOfLoop(slice.getSource()) &&
           slice.getType().getRank() == 2 &&
           getRow(slice, slice.getSourceType(), slice.getType()) ==
               OpFoldResult(loop.getInductionVar()) &&
           llvm::any_of(slice->getUsers(),
                        [](Operation *user) { return getContraction(user); });
  };
  return llvm::any_of(loop.getOps<tensor::ExtractSliceOp>(), isMatrix);
}

namespace {
class UpdateStacksPass
    : public batch::impl::UpdateStacksPassBase<UpdateStacksPass> {
  using UpdateStacksPassBase::UpdateStacksPassBase;

  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    SmallVector<tensor::InsertSliceOp> puts;
    getOperation()->walk(
        [&](tensor::InsertSliceOp put) { puts.push_back(put); });
    // Visit the last inserts first: an insert may be one step of an update that
    // ends later.
    DenseSet<Operation *> replaced;
    llvm::SetVector<scf::ForOp> loops;
    for (tensor::InsertSliceOp put : llvm::reverse(puts)) {
      if (replaced.contains(put))
        continue;
      std::optional<RowUpdate> update = findUpdate(put);
      if (!update)
        continue;
      auto loop = dyn_cast<scf::ForOp>(put->getParentOp());
      if (update->taken.getSource() != put.getDest() &&
          !(loop && joinStacks(loop, *update)))
        continue;
      remark::passed(put.getLoc(),
                     remark::RemarkOpts::name("Inserts").category("batch"))
          << "inserts into the stack instead of a copy of its row";
      if (loop && update->position == OpFoldResult(loop.getInductionVar()))
        loops.insert(loop);
      replaced.insert_range(update->inserts);
      replaced.insert(put);
      insertIntoStack(*update, rewriter);
    }
    llvm::SetVector<func::FuncOp> unrolled;
    for (scf::ForOp loop : loops) {
      auto function = loop->getParentOfType<func::FuncOp>();
      if (isSmall(loop) && succeeded(loopUnrollFull(loop)))
        unrolled.insert(function);
    }
    for (func::FuncOp function : unrolled)
      foldPositions(function);
  }

  /// Returns true if the unrolled loop has at most mostOps ops, or
  /// mostOpsPanels ops if its products then read panels.
  bool isSmall(scf::ForOp loop) const {
    std::optional<llvm::APInt> rounds = loop.getStaticTripCount();
    if (!rounds)
      return false;
    int64_t ops = 0;
    loop.getBody()->walk([&](Operation *) { ++ops; });
    int64_t most = std::max<int64_t>(mostOps, 0);
    if (selectsMatrices(loop))
      most = std::max<int64_t>(most, mostOpsPanels);
    return rounds->ule(most / ops);
  }

  /// Folds the positions that unrolled loops compute to constants.
  void foldPositions(func::FuncOp function) {
    RewritePatternSet patterns(&getContext());
    tensor::ExtractSliceOp::getCanonicalizationPatterns(patterns,
                                                        &getContext());
    tensor::InsertSliceOp::getCanonicalizationPatterns(patterns, &getContext());
    (void)applyPatternsGreedily(function, std::move(patterns));
  }
};
} // namespace
