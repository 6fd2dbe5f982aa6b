//===- StageAccess.cpp - What the nodes of stages read ----------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Staging.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::uprog;

namespace {
struct SymbolicMath {
  int64_t lanes;
  MLIRContext *context;
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
    if (a.lanes && b != 1)
      safe = false;
    int64_t residue = a.residue >= 0   ? mod(a.residue * b)
                      : b % lanes == 0 ? 0
                                       : -1;
    return {a.expr * b, a.lanes, residue};
  }
  /// a = q * b + r.
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
};
} // namespace

bool Staging::resolve(const StagedNode &node, Value value,
                      ArrayRef<SymbolicIndex> indices, bool foreignRow,
                      SmallVectorImpl<Read> &reads, Breaks *breaks) {
  using Indices = SmallVector<SymbolicIndex, 4>;
  SymbolicMath math{node.lanes, op.getContext()};
  SmallVector<std::tuple<Value, Indices, bool>> worklist;
  worklist.push_back({value, Indices(indices), foreignRow});
  // Where a vector crosses from one piece to the next it must do so between
  // two vectors.
  auto boundary = [&](const SymbolicIndex &index, int64_t offset) {
    if (breaks)
      if (auto rest = dyn_cast<AffineConstantExpr>(index.expr - breaks->dim)) {
        breaks->positions.push_back(offset - rest.getValue());
        return;
      }
    if (index.lanes && (index.residue < 0 || math.mod(index.residue - offset)))
      math.safe = false;
  };
  while (!worklist.empty()) {
    auto [current, at, foreign] = worklist.pop_back_val();
    if (!isa<RankedTensorType>(current.getType()))
      continue;
    Operation *def = current.getDefiningOp();
    if (!def || nodeOf.count(def) || !isVirtual(def)) {
      reads.push_back({current, at, foreign});
      continue;
    }
    bool rows = getSpace(current).hasRows();
    auto push = [&, foreign = foreign](Value operand, Indices operandIndices,
                                       bool other = false) {
      worklist.push_back(
          {operand, std::move(operandIndices), foreign || other});
    };
    if (auto constant = dyn_cast<arith::ConstantOp>(def)) {
      if (!isa<SplatElementsAttr>(constant.getValue()))
        reads.push_back({current, at, foreign});
    } else if (isa<tensor::EmptyOp, tensor::SplatOp>(def)) {
      // A value without storage.
    } else if (isa<tensor::CastOp>(def)) {
      push(def->getOperand(0), at);
    } else if (auto concat = dyn_cast<tensor::ConcatOp>(def)) {
      int64_t offset = 0, dim = concat.getDim();
      for (Value piece : concat.getInputs()) {
        Indices inner = at;
        if (offset)
          boundary(at[dim], offset);
        inner[dim] = math.add(at[dim], -offset);
        offset += cast<RankedTensorType>(piece.getType()).getDimSize(dim);
        push(piece, inner);
      }
    } else if (auto slice = dyn_cast<tensor::ExtractSliceOp>(def)) {
      llvm::SmallBitVector dropped = slice.getDroppedDims();
      Indices inner;
      unsigned next = 0;
      for (unsigned i = 0, e = dropped.size(); i < e; ++i) {
        int64_t offset = slice.getStaticOffsets()[i];
        if (dropped[i])
          inner.push_back(math.constant(offset));
        else if (i == 0 && rows)
          inner.push_back(at[next++]);
        else
          inner.push_back(math.add(
              math.mul(at[next++], slice.getStaticStrides()[i]), offset));
      }
      push(slice.getSource(), inner);
    } else if (auto insert = dyn_cast<tensor::InsertSliceOp>(def)) {
      llvm::SmallBitVector dropped = insert.getDroppedDims();
      Indices inner;
      for (unsigned i = 0, e = dropped.size(); i < e; ++i) {
        if (i == 0 && rows) {
          inner.push_back(at[i]);
          continue;
        }
        int64_t offset = insert.getStaticOffsets()[i];
        int64_t size = insert.getStaticSizes()[i];
        if (offset)
          boundary(at[i], offset);
        if (offset + size !=
            cast<RankedTensorType>(current.getType()).getDimSize(i))
          boundary(at[i], offset + size);
        if (!dropped[i])
          inner.push_back(math.add(at[i], -offset));
      }
      push(insert.getSource(), inner);
      push(insert.getDest(), at);
    } else if (isa<tensor::CollapseShapeOp, tensor::ExpandShapeOp>(def)) {
      bool collapse = isa<tensor::CollapseShapeOp>(def);
      auto wide = cast<RankedTensorType>(collapse ? def->getOperand(0).getType()
                                                  : current.getType());
      auto groups =
          collapse
              ? cast<tensor::CollapseShapeOp>(def).getReassociationIndices()
              : cast<tensor::ExpandShapeOp>(def).getReassociationIndices();
      Indices inner(collapse ? wide.getRank() : groups.size());
      for (auto [g, group] : llvm::enumerate(groups)) {
        if (collapse) {
          // Dimensions of extent one beside the rows change nothing.
          SymbolicIndex rest = at[g];
          for (int64_t d :
               llvm::reverse(ArrayRef<int64_t>(group).drop_front())) {
            if (wide.getDimSize(d) == 1) {
              inner[d] = math.constant(0);
              continue;
            }
            auto [quotient, last] = math.divide(rest, wide.getDimSize(d));
            inner[d] = last;
            rest = quotient;
          }
          inner[group.front()] = rest;
        } else {
          SymbolicIndex sum = at[group.front()];
          for (int64_t d : ArrayRef<int64_t>(group).drop_front())
            if (wide.getDimSize(d) != 1)
              sum = math.add(math.mul(sum, wide.getDimSize(d)), at[d]);
          inner[g] = sum;
        }
      }
      push(def->getOperand(0), inner);
    } else if (auto broadcast = dyn_cast<batch::SegmentBroadcastOp>(def)) {
      push(broadcast.getTasks(), at, /*other=*/true);
    } else if (auto linalgOp = dyn_cast<linalg::LinalgOp>(def)) {
      AffineMap out =
          linalgOp.getIndexingMapMatchingResult(cast<OpResult>(current));
      Indices dims(linalgOp.getNumLoops());
      for (auto [i, expr] : llvm::enumerate(out.getResults()))
        dims[cast<AffineDimExpr>(expr).getPosition()] = at[i];
      for (OpOperand &operand : def->getOpOperands()) {
        if (!linalgOp.payloadUsesValueFromOperand(&operand))
          continue;
        Indices inner;
        for (AffineExpr expr :
             linalgOp.getMatchingIndexingMap(&operand).getResults())
          inner.push_back(math.apply(expr, dims));
        push(operand.get(), inner);
      }
    } else {
      for (Value operand : def->getOperands())
        push(operand, at);
    }
  }
  return math.safe;
}

SmallVector<SymbolicIndex, 4> Staging::identity(const RowSpace &space,
                                                bool vector) {
  SmallVector<SymbolicIndex, 4> indices;
  MLIRContext *context = op.getContext();
  if (space.hasRows())
    indices.push_back({getAffineDimExpr(0, context)});
  for (int64_t i = 0; i < space.rank(); ++i) {
    bool last = vector && i + 1 == space.rank();
    indices.push_back({getAffineDimExpr(i + 1, context), last, last ? 0 : -1});
  }
  return indices;
}

bool Staging::readOperands(StagedNode &node, std::optional<unsigned> lanesDim,
                           SmallVectorImpl<Read> &reads,
                           std::optional<unsigned> only) {
  auto linalgOp = cast<linalg::LinalgOp>(node.op);
  MLIRContext *context = op.getContext();
  SmallVector<SymbolicIndex, 4> dims(linalgOp.getNumLoops());
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
  SymbolicMath math{node.lanes, context};
  bool safe = true;
  for (OpOperand &operand : node.op->getOpOperands()) {
    if (!linalgOp.payloadUsesValueFromOperand(&operand))
      continue;
    if (only && operand.getOperandNumber() != *only)
      continue;
    SmallVector<SymbolicIndex, 4> indices;
    for (AffineExpr expr :
         linalgOp.getMatchingIndexingMap(&operand).getResults())
      indices.push_back(math.apply(expr, dims));
    safe &= resolve(node, operand.get(), indices, false, reads,
                    reductions ? &breaks : nullptr);
  }
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
