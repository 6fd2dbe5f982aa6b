//===- StageAccess.cpp - The memory that nodes of stages read -------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ElementSources.h"
#include "Staging.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::uprog;

namespace {
struct SymbolicMath {
  int64_t lanes;
  MLIRContext *context;
  bool anywhere; ///< StagedNode::anywhere
  bool safe = true;

  int64_t mod(int64_t value) const { return llvm::mod(value, lanes); }
  SymbolicIndex constant(int64_t value) {
    return {getAffineConstantExpr(value, context), false, mod(value)};
  }
  SymbolicIndex add(const SymbolicIndex &a, const SymbolicIndex &b) {
    if (a.lanes && b.lanes)
      safe = false;
    return {a.expr + b.expr, a.lanes || b.lanes,
            a.residue < 0 || b.residue < 0 ? -1 : mod(a.residue + b.residue)};
  }
  SymbolicIndex add(const SymbolicIndex &a, int64_t b) {
    return add(a, constant(b));
  }
  SymbolicIndex mul(const SymbolicIndex &a, int64_t b) {
    if (a.lanes && b != 1 && !anywhere)
      safe = false;
    int64_t residue = a.lanes && b != 1 ? -1
                      : a.residue >= 0  ? mod(a.residue * b)
                      : b % lanes == 0  ? 0
                                        : -1;
    return {a.expr * b, a.lanes, residue};
  }
  /// Returns q and r such that a = q * b + r.
  std::pair<SymbolicIndex, SymbolicIndex> divide(const SymbolicIndex &a,
                                                 int64_t b) {
    if (a.lanes && (b % lanes != 0 || a.residue != 0))
      safe = false;
    SymbolicIndex quotient{a.expr.floorDiv(b), false, -1};
    SymbolicIndex rest{a.expr % b, a.lanes, b % lanes == 0 ? a.residue : -1};
    return {quotient, rest};
  }
  SymbolicIndex apply(AffineExpr expr, ArrayRef<SymbolicIndex> dims) {
    if (auto dim = dyn_cast<AffineDimExpr>(expr))
      return dims[dim.getPosition()];
    if (auto cst = dyn_cast<AffineConstantExpr>(expr))
      return constant(cst.getValue());
    auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
    if (!binary) {
      safe = false;
      return constant(0);
    }
    SymbolicIndex lhs = apply(binary.getLHS(), dims);
    if (binary.getKind() == AffineExprKind::Add)
      return add(lhs, apply(binary.getRHS(), dims));
    auto cst = dyn_cast<AffineConstantExpr>(binary.getRHS());
    if (!cst) {
      safe = false;
      return constant(0);
    }
    if (binary.getKind() == AffineExprKind::Mul)
      return mul(lhs, cst.getValue());
    if (binary.getKind() == AffineExprKind::Mod)
      return divide(lhs, cst.getValue()).second;
    return divide(lhs, cst.getValue()).first;
  }
  SymbolicIndices apply(AffineMap map, ArrayRef<SymbolicIndex> dims) {
    SymbolicIndices indices;
    for (AffineExpr expr : map.getResults())
      indices.push_back(apply(expr, dims));
    return indices;
  }
};
} // namespace

bool Staging::isLoaded(Value value) {
  Operation *def = value.getDefiningOp();
  if (auto constant = dyn_cast_or_null<arith::ConstantOp>(def))
    return !isa<SplatElementsAttr>(constant.getValue());
  return !def || nodeOf.count(def) || !isVirtual(def);
}

bool Staging::resolve(const StagedNode &node, Value value,
                      ArrayRef<SymbolicIndex> indices, bool nonLocalRow,
                      SmallVectorImpl<Read> &reads, Breaks *breaks) {
  SymbolicMath math{node.lanes, op.getContext(), node.anywhere};
  // Accesses may cross from one piece to the next only between vectors.
  auto boundary = [&](const SymbolicIndex &index, int64_t offset) {
    if (breaks)
      if (auto rest = dyn_cast<AffineConstantExpr>(index.expr - breaks->dim)) {
        breaks->positions.push_back(offset - rest.getValue());
        return;
      }
    if (index.lanes && !node.anywhere &&
        (index.residue < 0 || math.mod(index.residue - offset)))
      math.safe = false;
  };
  SmallVector<Read> worklist{{value, SymbolicIndices(indices), nonLocalRow}};
  while (!worklist.empty()) {
    Read access = worklist.pop_back_val();
    if (!isa<RankedTensorType>(access.base.getType()))
      continue;
    if (isLoaded(access.base)) {
      // Lanes are masked at the end of a dimension, so its extent must be
      // static.
      auto type = cast<RankedTensorType>(access.base.getType());
      for (auto [dim, index] : llvm::enumerate(access.indices))
        if (index.lanes && type.isDynamicDim(dim))
          math.safe = false;
      reads.push_back(access);
      continue;
    }
    for (const ElementSource &source :
         getElementSources(cast<OpResult>(access.base))) {
      for (const IndexCondition &condition : source.conditions)
        boundary(access.indices[condition.dim], condition.limit);
      worklist.push_back({source.operand->get(),
                          math.apply(source.map, access.indices),
                          access.nonLocalRow || source.taskOfRow});
    }
  }
  return math.safe;
}

bool Staging::resolve(const StagedNode &node, Value value, AffineMap map,
                      ArrayRef<SymbolicIndex> dims,
                      SmallVectorImpl<Read> &reads) {
  SymbolicMath math{node.lanes, op.getContext(), node.anywhere};
  bool safe =
      resolve(node, value, math.apply(map, dims), /*nonLocalRow=*/false, reads);
  return safe && math.safe;
}

SymbolicIndices Staging::identity(const RowSpace &space, bool vector) {
  SymbolicIndices indices;
  MLIRContext *context = op.getContext();
  if (space.hasRows())
    indices.push_back({getAffineDimExpr(0, context)});
  for (int64_t i = 0; i < space.rank(); ++i) {
    bool last = vector && i + 1 == space.rank();
    indices.push_back({getAffineDimExpr(i + 1, context), last, last ? 0 : -1});
  }
  return indices;
}

/// Returns true if `value`, in the body of `op`, differs from lane to lane.
static bool variesByLane(linalg::LinalgOp op, Value value,
                         ArrayRef<SymbolicIndex> dims) {
  SmallVector<Value> work = {value};
  while (!work.empty()) {
    Value next = work.pop_back_val();
    if (next.getParentBlock() != op.getBlock())
      continue;
    if (auto argument = dyn_cast<BlockArgument>(next)) {
      AffineMap map =
          op.getMatchingIndexingMap(op.getMatchingOpOperand(argument));
      for (auto [loop, index] : llvm::enumerate(dims))
        if (index.lanes && map.isFunctionOfDim(loop))
          return true;
    } else if (auto index = next.getDefiningOp<linalg::IndexOp>()) {
      if (dims[index.getDim()].lanes)
        return true;
    } else {
      llvm::append_range(work, next.getDefiningOp()->getOperands());
    }
  }
  return false;
}

bool Staging::isOffsets(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  return argument && op.getOffsets(argument.getArgNumber());
}

bool Staging::readInBody(const StagedNode &node, linalg::LinalgOp linalgOp,
                         ArrayRef<SymbolicIndex> dims,
                         SmallVectorImpl<Read> &reads, Breaks *breaks) {
  SymbolicMath math{node.lanes, op.getContext(), node.anywhere};
  // An index for which no case below applies becomes a symbol, which is equal
  // in all lanes and different from any other index.
  std::function<SymbolicIndex(Value)> find = [&](Value value) -> SymbolicIndex {
    if (std::optional<int64_t> constant = getConstantIntValue(value))
      return math.constant(*constant);
    Operation *def = value.getDefiningOp();
    if (def && def->getBlock() == linalgOp.getBlock()) {
      if (auto index = dyn_cast<linalg::IndexOp>(def))
        return dims[index.getDim()];
      if (auto sum = dyn_cast<arith::AddIOp>(def))
        return math.add(find(sum.getLhs()), find(sum.getRhs()));
      if (auto product = dyn_cast<arith::MulIOp>(def))
        if (auto factor = getConstantIntValue(product.getRhs()))
          return math.mul(find(product.getLhs()), *factor);
    }
    if (variesByLane(linalgOp, value, dims))
      math.safe = false;
    return {getAffineSymbolExpr(unknowns++, op.getContext())};
  };
  bool safe = true;
  for (Operation &inner : *linalgOp.getBlock()) {
    // A reported index must be equal in all lanes.
    if (isa<cf::AssertOp>(inner) &&
        variesByLane(linalgOp, inner.getOperand(0), dims))
      safe = false;
    auto extract = dyn_cast<tensor::ExtractOp>(inner);
    if (!extract || isOffsets(extract.getTensor()))
      continue;
    SymbolicIndices indices =
        llvm::map_to_vector<4>(extract.getIndices(), find);
    bool otherRow = getSpace(extract.getTensor()).hasRows() &&
                    indices.front().expr != dims.front().expr;
    safe &=
        resolve(node, extract.getTensor(), indices, otherRow, reads, breaks);
  }
  return safe && math.safe;
}

bool Staging::readOperands(StagedNode &node, std::optional<unsigned> lanesDim,
                           SmallVectorImpl<Read> &reads,
                           std::optional<unsigned> only) {
  auto linalgOp = cast<linalg::LinalgOp>(node.op);
  MLIRContext *context = op.getContext();
  SymbolicIndices dims(linalgOp.getNumLoops());
  int64_t reductions = linalgOp.getNumReductionLoops();
  Breaks breaks{getAffineDimExpr(node.space.rank() + reductions, context), {}};
  auto symbolic = [&](unsigned dim) {
    bool isLanes = lanesDim == dim;
    return SymbolicIndex{getAffineDimExpr(dim, context), isLanes,
                         isLanes ? 0 : -1};
  };
  AffineMap out = linalgOp.getIndexingMapMatchingResult(node.op->getResult(0));
  bool rows = node.space.hasRows();
  for (auto [i, expr] : llvm::enumerate(out.getResults()))
    dims[cast<AffineDimExpr>(expr).getPosition()] = symbolic(rows ? i : i + 1);
  unsigned next = node.space.rank() + 1;
  for (auto [i, kind] : llvm::enumerate(linalgOp.getIteratorTypesArray()))
    if (kind == utils::IteratorType::reduction)
      dims[i] = symbolic(next++);
  SymbolicMath math{node.lanes, context, node.anywhere};
  bool safe = true;
  for (OpOperand &operand : node.op->getOpOperands()) {
    if (!linalgOp.payloadUsesValueFromOperand(&operand))
      continue;
    if (only && operand.getOperandNumber() != *only)
      continue;
    safe &= resolve(node, operand.get(),
                    math.apply(linalgOp.getMatchingIndexingMap(&operand), dims),
                    false, reads, reductions ? &breaks : nullptr);
  }
  if (!only)
    safe &=
        readInBody(node, linalgOp, dims, reads, reductions ? &breaks : nullptr);
  SmallVector<unsigned> reduced;
  linalgOp.getReductionDims(reduced);
  int64_t extent =
      reduced.empty() ? 0 : linalgOp.getStaticLoopRanges()[reduced.back()];
  node.breaks = breaks.positions;
  llvm::erase_if(node.breaks, [&](int64_t position) {
    return position <= 0 || position >= extent;
  });
  llvm::sort(node.breaks);
  node.breaks.erase(llvm::unique(node.breaks), node.breaks.end());
  return safe && math.safe;
}
