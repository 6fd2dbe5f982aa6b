//===- ElementSources.cpp - Sources of an op's elements -------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ElementSources.h"

#include "Batch/Dialect/Batch/Batch.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::uprog;

using Sources = SmallVector<ElementSource>;
using Exprs = SmallVector<AffineExpr>;

static RankedTensorType getType(Value value) {
  return cast<RankedTensorType>(value.getType());
}

/// Returns true if `view` has rows. Such a view includes all rows, because no
/// offset and no stride changes the index of a row.
static bool hasRows(Value view) {
  RankedTensorType type = getType(view);
  return type.getRank() > 0 && type.isDynamicDim(0);
}

/// Returns one affine dimension for each dimension of `value`.
static Exprs getIndices(Value value) {
  Exprs indices(getType(value).getRank());
  bindDimsList(value.getContext(), MutableArrayRef(indices));
  return indices;
}

static AffineMap makeMap(Value result, ArrayRef<AffineExpr> indices) {
  return AffineMap::get(getType(result).getRank(), 0, indices,
                        result.getContext());
}

static Sources getConcatSources(tensor::ConcatOp concat) {
  Sources sources;
  unsigned dim = concat.getDim();
  int64_t begin = 0;
  for (OpOperand &piece : concat.getInputsMutable()) {
    Exprs indices = getIndices(concat.getResult());
    indices[dim] = indices[dim] - begin;
    begin += getType(piece.get()).getDimSize(dim);
    sources.push_back({&piece,
                       makeMap(concat.getResult(), indices),
                       {{dim, /*below=*/true, begin}}});
  }
  sources.back().conditions.clear();
  return sources;
}

static Sources getSliceSources(tensor::ExtractSliceOp slice) {
  llvm::SmallBitVector dropped = slice.getDroppedDims();
  Exprs indices = getIndices(slice.getResult()), inner;
  bool rows = hasRows(slice.getResult());
  unsigned next = 0;
  for (unsigned i = 0, e = dropped.size(); i < e; ++i) {
    int64_t offset = slice.getStaticOffsets()[i];
    if (dropped[i])
      inner.push_back(getAffineConstantExpr(offset, slice.getContext()));
    else if (i == 0 && rows)
      inner.push_back(indices[next++]);
    else
      inner.push_back(indices[next++] * slice.getStaticStrides()[i] + offset);
  }
  return {{&slice.getSourceMutable(), makeMap(slice.getResult(), inner), {}}};
}

static Sources getInsertSources(tensor::InsertSliceOp insert) {
  llvm::SmallBitVector dropped = insert.getDroppedDims();
  Exprs indices = getIndices(insert.getResult()), inner;
  SmallVector<IndexCondition, 2> inside;
  for (unsigned i = 0, e = dropped.size(); i < e; ++i) {
    if (i == 0 && hasRows(insert.getResult())) {
      inner.push_back(indices[i]);
      continue;
    }
    int64_t offset = insert.getStaticOffsets()[i];
    int64_t end = offset + insert.getStaticSizes()[i];
    if (offset != 0)
      inside.push_back({i, /*below=*/false, offset});
    if (end != insert.getResultType().getDimSize(i))
      inside.push_back({i, /*below=*/true, end});
    if (!dropped[i])
      inner.push_back(indices[i] - offset);
  }
  return {
      {&insert.getSourceMutable(), makeMap(insert.getResult(), inner), inside},
      {&insert.getDestMutable(), makeMap(insert.getResult(), indices), {}}};
}

static Sources getCollapseSources(tensor::CollapseShapeOp collapse) {
  RankedTensorType wide = collapse.getSrcType();
  Exprs indices = getIndices(collapse.getResult());
  // If the result is a scalar, all dimensions collapse, and no group lists
  // them.
  Exprs inner(wide.getRank(), getAffineConstantExpr(0, collapse.getContext()));
  for (auto [i, group] : llvm::enumerate(collapse.getReassociationIndices())) {
    AffineExpr rest = indices[i];
    for (int64_t d : llvm::reverse(ArrayRef<int64_t>(group).drop_front())) {
      // For an extent of one, both expressions simplify.
      int64_t extent = wide.getDimSize(d);
      inner[d] = rest % extent;
      rest = rest.floorDiv(extent);
    }
    inner[group.front()] = rest;
  }
  return {
      {&collapse.getSrcMutable(), makeMap(collapse.getResult(), inner), {}}};
}

static Sources getExpandSources(tensor::ExpandShapeOp expand) {
  RankedTensorType wide = expand.getResultType();
  Exprs indices = getIndices(expand.getResult()), inner;
  for (const ReassociationIndices &group : expand.getReassociationIndices()) {
    AffineExpr sum = indices[group.front()];
    for (int64_t d : ArrayRef<int64_t>(group).drop_front())
      if (wide.getDimSize(d) != 1)
        sum = sum * wide.getDimSize(d) + indices[d];
    inner.push_back(sum);
  }
  return {{&expand.getSrcMutable(), makeMap(expand.getResult(), inner), {}}};
}

static Sources getLinalgSources(linalg::LinalgOp linalgOp, OpResult result) {
  AffineMap out = linalgOp.getIndexingMapMatchingResult(result);
  // Use iteration 0 of loops on which the result does not depend.
  Exprs loops(linalgOp.getNumLoops(),
              getAffineConstantExpr(0, result.getContext()));
  for (auto [i, expr] : llvm::enumerate(out.getResults()))
    if (auto dim = dyn_cast<AffineDimExpr>(expr))
      loops[dim.getPosition()] = getAffineDimExpr(i, result.getContext());
  Sources sources;
  for (OpOperand &operand : linalgOp->getOpOperands())
    if (linalgOp.payloadUsesValueFromOperand(&operand))
      sources.push_back(
          {&operand,
           linalgOp.getMatchingIndexingMap(&operand).replaceDimsAndSymbols(
               loops, {}, out.getNumResults(), 0),
           {}});
  return sources;
}

bool uprog::isView(Operation *op) {
  return isa<tensor::ConcatOp, tensor::ExtractSliceOp, tensor::InsertSliceOp,
             tensor::CollapseShapeOp, tensor::ExpandShapeOp, tensor::CastOp,
             batch::SegmentBroadcastOp>(op);
}

SmallVector<ElementSource> uprog::getElementSources(OpResult result) {
  return llvm::TypeSwitch<Operation *, Sources>(result.getOwner())
      .Case(getConcatSources)
      .Case(getSliceSources)
      .Case(getInsertSources)
      .Case(getCollapseSources)
      .Case(getExpandSources)
      .Case([&](linalg::LinalgOp op) { return getLinalgSources(op, result); })
      .Case([&](batch::SegmentBroadcastOp op) -> Sources {
        return {{&op.getTasksMutable(),
                 makeMap(result, getIndices(result)),
                 {},
                 /*taskOfRow=*/true}};
      })
      .Case<tensor::EmptyOp, tensor::SplatOp>(
          [](Operation *) { return Sources(); })
      .Default([&](Operation *op) {
        Sources sources;
        for (OpOperand &operand : op->getOpOperands())
          sources.push_back(
              {&operand, makeMap(result, getIndices(result)), {}});
        return sources;
      });
}
