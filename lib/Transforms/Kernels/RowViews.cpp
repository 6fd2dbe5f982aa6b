//===- RowViews.cpp - Rows and extents in control flow --------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RowViews.h"

#include "Batch/Analysis/ControlStructure.h"
#include "Batch/Analysis/Sharedness.h"
#include "Batch/Dialect/Batch/Batch.h"
#include "Batch/Dialect/Batch/BatchInterfaces.h"
#include "Batch/Dialect/Batch/Views.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/ReshapeOpsUtils.h"

using namespace mlir;
using namespace mlir::batch;
using rec::ValueFlowEdge;

/// Returns a ragged tensor with as many rows as `list` has elements: the list
/// itself, or the result of an op of `block` that maps the elements of the
/// list. Returns null if no such tensor exists.
static Value findRagged(Value list, Block *block,
                        SymbolTableCollection &symbols) {
  if (isa<RankedTensorType>(list.getType()))
    return list;
  auto walksList = [&](const ValueFlowEdge &edge) {
    return edge.kind == ValueFlowEdge::Element && edge.from == list;
  };
  for (Operation *user : list.getUsers()) {
    if (user->getBlock() != block || user->getNumRegions() == 0 ||
        llvm::none_of(rec::getValueFlow(user, symbols), walksList))
      continue;
    Operation *yield = user->getRegion(0).front().getTerminator();
    for (const ValueFlowEdge &edge : rec::getValueFlow(yield, symbols))
      if (edge.kind == ValueFlowEdge::Gather &&
          isa<RankedTensorType>(edge.to.getType()))
        return edge.to;
  }
  return {};
}

void batch::normalizeExtents(func::FuncOp function,
                             SymbolTableCollection &symbols) {
  function.walk([&](Operation *op) {
    for (const ValueFlowEdge &edge : rec::getValueFlow(op, symbols)) {
      if (edge.kind != ValueFlowEdge::Count)
        continue;
      Value ragged = findRagged(edge.from, op->getBlock(), symbols);
      if (!ragged)
        continue;
      for (OpOperand &use : llvm::make_early_inc_range(edge.to.getUses())) {
        if (!isa<tensor::EmptyOp>(use.getOwner()))
          continue;
        OpBuilder builder(use.getOwner());
        Location loc = op->getLoc();
        Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
        use.set(tensor::DimOp::create(builder, loc, ragged, zero));
      }
    }
  });
}

/// Returns true for a tensor that a kernel computes. The rows of such a tensor
/// are not a list.
static bool isComputed(Value tensor) {
  Operation *def = tensor.getDefiningOp();
  return def &&
         (isa<arith::ArithDialect, linalg::LinalgDialect, math::MathDialect,
              tensor::TensorDialect>(def->getDialect()) ||
          isa<BatchableOpInterface>(def));
}

/// Returns true for a slice of a ragged tensor whose rows are a list, if the
/// position of the slice is constant or structural (StructuralControl).
static bool picksElement(tensor::ExtractSliceOp slice,
                         const Sharedness &sharedness,
                         const StructuralControl &control) {
  OpFoldResult index = getRowIndex(slice);
  return rec::isRaggedTensor(slice.getSourceType()) &&
         !sharedness.isShared(slice.getSource()) &&
         !isComputed(slice.getSource()) &&
         (isa<Attribute>(index) || control.isStructural(cast<Value>(index)));
}

void batch::splitRowViews(func::FuncOp function, const Sharedness &sharedness,
                          const StructuralControl &control) {
  function.walk([&](tensor::ExtractSliceOp slice) {
    RankedTensorType source = slice.getSourceType();
    if (isRowView(slice) ||
        (!sharedness.getParameter(slice.getSource()) &&
         !picksElement(slice, sharedness, control)) ||
        !slice.isDynamicOffset(0) || source.getRank() < 2 ||
        slice.getStaticSizes()[0] != 1 || !slice.hasUnitStride() ||
        llvm::any_of(source.getShape().drop_front(), ShapedType::isDynamic))
      return;
    OpBuilder builder(slice);
    Location loc = slice.getLoc();
    // Dimension 0, which has size 1, remains unless the slice drops it.
    bool keeps = slice.getType().getRank() == source.getRank();
    SmallVector<OpFoldResult> offsets(source.getRank(),
                                      builder.getIndexAttr(0));
    SmallVector<OpFoldResult> sizes = {builder.getIndexAttr(1)};
    SmallVector<OpFoldResult> strides(source.getRank(),
                                      builder.getIndexAttr(1));
    for (int64_t size : source.getShape().drop_front())
      sizes.push_back(builder.getIndexAttr(size));
    offsets[0] = getRowIndex(slice);
    SmallVector<int64_t> shape(source.getShape().drop_front());
    if (keeps)
      shape.insert(shape.begin(), 1);
    auto rowType = RankedTensorType::get(shape, source.getElementType());
    Value row = tensor::ExtractSliceOp::create(
        builder, loc, rowType, slice.getSource(), offsets, sizes, strides);
    SmallVector<OpFoldResult> innerOffsets = slice.getMixedOffsets();
    SmallVector<OpFoldResult> innerSizes = slice.getMixedSizes();
    if (keeps)
      innerOffsets[0] = builder.getIndexAttr(0);
    else {
      innerOffsets.erase(innerOffsets.begin());
      innerSizes.erase(innerSizes.begin());
    }
    SmallVector<OpFoldResult> innerStrides(innerSizes.size(),
                                           builder.getIndexAttr(1));
    Value inner =
        tensor::ExtractSliceOp::create(builder, loc, slice.getType(), row,
                                       innerOffsets, innerSizes, innerStrides);
    slice.replaceAllUsesWith(inner);
    slice.erase();
  });
}

void batch::pickElements(func::FuncOp function, const Sharedness &sharedness,
                         const StructuralControl &control) {
  function.walk([&](tensor::ExtractOp extract) {
    Value tensor = extract.getTensor();
    // Skip reads in bodies of tensor ops: a body reads at its own indices.
    bool isInBody =
        !isa<func::FuncOp, RegionBranchOpInterface>(extract->getParentOp());
    if (isInBody || !rec::isRaggedTensor(tensor.getType()) ||
        isComputed(tensor) || sharedness.isShared(tensor) ||
        !control.isStructural(extract.getIndices().front()))
      return;
    OpBuilder builder(extract);
    Location loc = extract.getLoc();
    Value row = rec::ElementOp::create(
        builder, loc, rec::getSequenceElementType(tensor.getType()), tensor,
        extract.getIndices().front());
    Value element = tensor::ExtractOp::create(
        builder, loc, row, extract.getIndices().drop_front());
    extract.replaceAllUsesWith(element);
    extract.erase();
  });
  function.walk([&](tensor::ExtractSliceOp slice) {
    if (!isRowView(slice) || !picksElement(slice, sharedness, control))
      return;
    OpBuilder builder(slice);
    Location loc = slice.getLoc();
    Value index =
        getValueOrCreateConstantIndexOp(builder, loc, getRowIndex(slice));
    Value row = rec::ElementOp::create(
        builder, loc, rec::getSequenceElementType(slice.getSourceType()),
        slice.getSource(), index);
    // Dimension 0, which has size 1, remains unless the slice drops it.
    if (row.getType() != slice.getType()) {
      auto groups = getReassociationIndicesForReshape(
          slice.getType(), cast<RankedTensorType>(row.getType()));
      row = tensor::ExpandShapeOp::create(builder, loc, slice.getType(), row,
                                          *groups);
    }
    slice.replaceAllUsesWith(row);
    slice.erase();
  });
}
