//===- FlattenBodies.cpp - Selects for conditionals in bodies -------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Batch/Transforms/Import/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/EquivalenceClasses.h"

namespace mlir::batch {
#define GEN_PASS_DEF_FLATTENBODIESPASS
#include "Batch/Transforms/Import/Passes.h.inc"
} // namespace mlir::batch

using namespace mlir;

/// Returns the operands of `op` that must be replaced if the branch of `op` is
/// not taken, each with the number that replaces it. Returns none if `op` must
/// not run in that case.
static std::optional<SmallVector<std::pair<OpOperand *, int64_t>>>
getGuards(Operation *op) {
  SmallVector<std::pair<OpOperand *, int64_t>> guards;
  if (auto extract = dyn_cast<tensor::ExtractOp>(op)) {
    auto type = cast<RankedTensorType>(extract.getTensor().getType());
    if (!type.hasStaticShape() || type.getNumElements() == 0)
      return std::nullopt;
    for (OpOperand &index : extract.getIndicesMutable())
      guards.push_back({&index, 0});
    return guards;
  }
  if (isa<arith::DivSIOp, arith::DivUIOp, arith::CeilDivSIOp,
          arith::CeilDivUIOp, arith::FloorDivSIOp, arith::RemSIOp,
          arith::RemUIOp>(op)) {
    if (isa<ShapedType>(op->getResult(0).getType()))
      return std::nullopt;
    guards.push_back({&op->getOpOperand(1), 1});
    return guards;
  }
  if (op->getNumRegions() == 0 && isPure(op))
    return guards;
  return std::nullopt;
}

/// Moves the ops in the regions of `branch` before `branch`, and replaces its
/// results with selects. If a region is not taken, its ops compute with safe
/// operands. Does nothing if an op must not run when its region is not taken.
static void flatten(scf::IfOp branch) {
  SmallVector<Block *> blocks = {branch.thenBlock()};
  if (Block *otherwise = branch.elseBlock())
    blocks.push_back(otherwise);
  for (Block *block : blocks)
    for (Operation &op : block->without_terminator())
      if (!getGuards(&op))
        return;
  if (branch.getNumResults() == 0)
    return branch.erase();

  OpBuilder builder(branch);
  Value isTaken = branch.getCondition();
  SmallVector<ValueRange> yielded;
  for (Block *block : blocks) {
    bool isThen = block == branch.thenBlock();
    for (Operation &op :
         llvm::make_early_inc_range(block->without_terminator())) {
      op.moveBefore(branch);
      builder.setInsertionPoint(&op);
      auto guards = getGuards(&op);
      for (auto [operand, safe] : *guards) {
        Value value = operand->get();
        Value instead = arith::ConstantOp::create(
            builder, op.getLoc(),
            builder.getIntegerAttr(value.getType(), safe));
        operand->set(arith::SelectOp::create(builder, op.getLoc(), isTaken,
                                             isThen ? value : instead,
                                             isThen ? instead : value));
      }
    }
    yielded.push_back(block->getTerminator()->getOperands());
  }
  builder.setInsertionPoint(branch);
  for (auto [result, onTrue, onFalse] :
       llvm::zip_equal(branch.getResults(), yielded[0], yielded[1]))
    result.replaceAllUsesWith(arith::SelectOp::create(
        builder, branch.getLoc(), isTaken, onTrue, onFalse));
  branch.erase();
}

/// Returns true if `x op x` and `x op neutral` are x, even if x is NaN.
/// This excludes `arith.maxnumf` and `arith.minnumf`: for NaN and a number,
/// they return the number.
static bool isIdempotent(Operation *op) {
  return isa<arith::MaximumFOp, arith::MinimumFOp, arith::MaxSIOp,
             arith::MinSIOp, arith::MaxUIOp, arith::MinUIOp, arith::AndIOp,
             arith::OrIOp>(op);
}

/// Replaces max(so_far, c ? x : so_far) with max(so_far, c ? x : neutral) and
/// does the same for other idempotent ops. Then `so_far` is read once, and
/// elements can be combined in any order.
static void takeNeutral(linalg::LinalgOp reduction) {
  Block &body = *reduction.getBlock();
  Operation *yield = body.getTerminator();
  for (auto [result, soFar] :
       llvm::zip_equal(yield->getOperands(), reduction.getRegionOutputArgs())) {
    Operation *combiner = result.getDefiningOp();
    if (!combiner || combiner->getBlock() != &body || !isIdempotent(combiner))
      continue;
    for (unsigned other : {0u, 1u}) {
      auto select =
          combiner->getOperand(other).getDefiningOp<arith::SelectOp>();
      if (!select || !select->hasOneUse() ||
          combiner->getOperand(1 - other) != soFar)
        continue;
      std::optional<TypedAttr> neutral = arith::getNeutralElement(combiner);
      for (OpOperand &kept : select->getOpOperands().drop_front())
        if (neutral && kept.get() == soFar) {
          OpBuilder builder(select);
          kept.set(
              arith::ConstantOp::create(builder, select.getLoc(), *neutral));
        }
    }
  }
}

namespace {
/// Classes of equal extents, derived from operations. An extent belongs to an
/// axis of a tensor or to a loop of a structured operation, or is a number.
class Extents {
public:
  explicit Extents(Operation *root) {
    root->walk([&](Operation *op) { add(op); });
  }

  /// Returns true if loop `loop` of `op` has the same extent as axis `axis` of
  /// `tensor`.
  bool areSame(linalg::LinalgOp op, unsigned loop, Value tensor, int64_t axis) {
    return classes.isEquivalent({op.getOperation(), loop},
                                {tensor.getAsOpaquePointer(), axis});
  }

private:
  using Extent = std::pair<const void *, int64_t>;

  void join(Value tensor, int64_t axis, Extent other) {
    classes.unionSets({tensor.getAsOpaquePointer(), axis}, other);
  }
  void join(Value tensor, int64_t axis, Value other, int64_t otherAxis = -1) {
    join(tensor, axis, Extent{other.getAsOpaquePointer(), otherAxis});
  }

  void add(Operation *op) {
    if (auto dim = dyn_cast<tensor::DimOp>(op)) {
      if (std::optional<int64_t> axis = dim.getConstantIndex())
        join(dim.getSource(), *axis, dim.getResult());
    } else if (auto empty = dyn_cast<tensor::EmptyOp>(op)) {
      for (int64_t axis = 0; axis < empty.getType().getRank(); ++axis)
        if (empty.getType().isDynamicDim(axis))
          join(empty.getResult(), axis, empty.getDynamicSize(axis));
    } else if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(op)) {
      addGroups(collapse.getResult(), collapse.getSrc(),
                collapse.getReassociationIndices());
    } else if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op)) {
      addGroups(expand.getSrc(), expand.getResult(),
                expand.getReassociationIndices());
    } else if (auto loops = dyn_cast<linalg::LinalgOp>(op)) {
      for (OpOperand &operand : op->getOpOperands())
        for (auto [axis, expr] : llvm::enumerate(
                 loops.getMatchingIndexingMap(&operand).getResults()))
          if (auto loop = dyn_cast<AffineDimExpr>(expr))
            join(operand.get(), axis, Extent{op, loop.getPosition()});
      for (OpResult result : op->getResults()) {
        Value init = loops.getDpsInitOperand(result.getResultNumber())->get();
        auto type = cast<RankedTensorType>(result.getType());
        for (int64_t axis = 0; axis < type.getRank(); ++axis)
          join(result, axis, init, axis);
      }
    }
  }

  /// Joins each axis of `tensor` with an axis of `expanded` if the other axes
  /// of the same group have length 1.
  void addGroups(Value tensor, Value expanded,
                 ArrayRef<ReassociationIndices> groups) {
    auto type = cast<RankedTensorType>(expanded.getType());
    for (auto [axis, group] : llvm::enumerate(groups)) {
      SmallVector<int64_t> longer = llvm::to_vector(llvm::make_filter_range(
          group, [&](int64_t of) { return type.getDimSize(of) != 1; }));
      if (longer.size() == 1)
        join(tensor, axis, expanded, longer.front());
    }
  }

  llvm::EquivalenceClasses<Extent> classes;
};
} // namespace

/// Converts `read` to an operand of `op` if its indices are loops of `op`. At
/// least one loop must iterate over a dynamic extent of the tensor, because
/// batched code cannot read single elements along it. Extents of 1 that are
/// read at 0 are collapsed first.
static void takeOperand(linalg::GenericOp op, tensor::ExtractOp read,
                        Extents &extents) {
  auto type = cast<RankedTensorType>(read.getTensor().getType());
  MLIRContext *context = op.getContext();
  SmallVector<ReassociationIndices> groups;
  SmallVector<AffineExpr> positions;
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  bool isRagged = false;
  for (auto [axis, index] : llvm::enumerate(read.getIndices())) {
    if (auto position = index.getDefiningOp<linalg::IndexOp>()) {
      if (type.isDynamicDim(axis)
              ? !extents.areSame(op, position.getDim(), read.getTensor(), axis)
              : ranges[position.getDim()] != type.getDimSize(axis))
        return;
      isRagged |= type.isDynamicDim(axis);
      positions.push_back(getAffineDimExpr(position.getDim(), context));
      groups.push_back({static_cast<int64_t>(axis)});
      continue;
    }
    if (groups.empty() || type.getDimSize(axis) != 1 ||
        !matchPattern(index, m_Zero()))
      return;
    groups.back().push_back(axis);
  }
  if (!isRagged ||
      op.getRegion().isAncestor(read.getTensor().getParentRegion()))
    return;
  OpBuilder builder(op);
  Value operand = read.getTensor();
  if (static_cast<int64_t>(groups.size()) < type.getRank())
    operand = tensor::CollapseShapeOp::create(builder, read.getLoc(), operand,
                                              groups);
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  const unsigned inputs = op.getInputs().size();
  maps.insert(maps.begin() + inputs,
              AffineMap::get(op.getNumLoops(), 0, positions, context));
  Value element = op.getBody()->insertArgument(inputs, type.getElementType(),
                                               read.getLoc());
  op.getInputsMutable().append(operand);
  op.setIndexingMapsAttr(builder.getAffineMapArrayAttr(maps));
  SmallVector<Value> indices(read.getIndices());
  read.getResult().replaceAllUsesWith(element);
  read.erase();
  for (Value index : indices)
    if (auto position = index.getDefiningOp<linalg::IndexOp>();
        position && position->use_empty())
      position.erase();
}

namespace {
class FlattenBodiesPass
    : public batch::impl::FlattenBodiesPassBase<FlattenBodiesPass> {
  void runOnOperation() override {
    // Inner conditionals come first, because flatten() accepts no nested
    // conditionals.
    SmallVector<scf::IfOp> branches;
    getOperation()->walk([&](Operation *op) {
      if (isa<linalg::LinalgOp, tensor::GenerateOp, tensor::PadOp>(op))
        for (Region &region : op->getRegions())
          region.walk([&](scf::IfOp branch) { branches.push_back(branch); });
    });
    for (scf::IfOp branch : branches)
      flatten(branch);
    getOperation()->walk([](linalg::LinalgOp op) {
      if (op.getNumReductionLoops() > 0)
        takeNeutral(op);
    });
    Extents extents(getOperation());
    getOperation()->walk([&](linalg::GenericOp op) {
      for (auto read : llvm::make_early_inc_range(
               op.getBody()->getOps<tensor::ExtractOp>()))
        takeOperand(op, read, extents);
    });
  }
};
} // namespace
