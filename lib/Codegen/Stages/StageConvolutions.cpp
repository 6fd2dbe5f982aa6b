//===- StageConvolutions.cpp - Contractions with filters ------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A filter is a matrix in memory if the reduction's loops are in the order of
// the filter's dimensions. If the columns of a result are channels, the filter
// is packed in panels, and rows of the image are packed as well. If the columns
// are pixels, the filter provides the rows, and panels of pixels are packed.
//
//===----------------------------------------------------------------------===//

#include "Staging.h"

#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace mlir::uprog;

/// Returns the extents of the reduction's loops, in order.
static SmallVector<int64_t> getReductionExtents(linalg::LinalgOp op) {
  SmallVector<unsigned> dims;
  op.getReductionDims(dims);
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  return llvm::map_to_vector(dims, [&](unsigned dim) { return ranges[dim]; });
}

/// If `read` reads a parameter of static shape, returns the parameter's number.
/// Returns -1 otherwise.
static int64_t getStaticParameter(OperatorOp op, const Read &read) {
  auto argument = dyn_cast<BlockArgument>(read.base);
  if (!argument || !cast<RankedTensorType>(argument.getType()).hasStaticShape())
    return -1;
  return op.getParameter(argument.getArgNumber()).value_or(-1);
}

/// Returns the strides of an access along each of `dims` dimensions, in
/// elements of a dense tensor of `shape`. Returns nullopt if a stride is not
/// constant.
static std::optional<SmallVector<int64_t>>
getDenseStrides(const Read &read, ArrayRef<int64_t> shape, int64_t dims) {
  SmallVector<int64_t> strides(dims, 0);
  int64_t stride = 1;
  for (auto [index, extent] :
       llvm::reverse(llvm::zip_equal(read.indices, shape))) {
    int64_t found = isa<AffineConstantExpr>(index.expr) ? -1 : dims;
    for (int64_t dim = 0; dim < dims && found == dims; ++dim)
      if (isa<AffineConstantExpr>(
              index.expr - getAffineDimExpr(dim, index.expr.getContext())))
        found = dim;
    if (found == dims)
      return std::nullopt;
    if (found >= 0)
      strides[found] += stride;
    stride *= extent;
  }
  return strides;
}

/// Returns the smallest divisor by which `map` divides `dim`, or `extent` if no
/// divisor is smaller.
static int64_t findRun(AffineMap map, AffineExpr dim, int64_t extent) {
  int64_t run = extent;
  map.walkExprs([&](AffineExpr expr) {
    auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
    auto divisor =
        binary ? dyn_cast<AffineConstantExpr>(binary.getRHS()) : nullptr;
    if (divisor && binary.getLHS() == dim &&
        (binary.getKind() == AffineExprKind::FloorDiv ||
         binary.getKind() == AffineExprKind::Mod))
      run = std::min(run, divisor.getValue());
  });
  return run;
}

/// Returns `expr` for `column` = `run` * `line` + `rest`, where 0 <= rest <
/// run, or null if it is not linear in `rest`.
static AffineExpr splitColumn(AffineExpr expr, AffineExpr column, int64_t run,
                              AffineExpr line, AffineExpr rest) {
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return expr == column ? line * run + rest : expr;
  auto divisor = dyn_cast<AffineConstantExpr>(binary.getRHS());
  bool divides = binary.getKind() != AffineExprKind::Add &&
                 binary.getKind() != AffineExprKind::Mul;
  if (divides && binary.getLHS() == column) {
    if (!divisor || divisor.getValue() % run != 0)
      return {};
    int64_t lines = divisor.getValue() / run;
    if (binary.getKind() == AffineExprKind::FloorDiv)
      return line.floorDiv(lines);
    return (line % lines) * run + rest;
  }
  AffineExpr left = splitColumn(binary.getLHS(), column, run, line, rest);
  AffineExpr right = splitColumn(binary.getRHS(), column, run, line, rest);
  if (!left || !right)
    return {};
  if (divides) {
    // The dividend of any other division must not vary within a line.
    unsigned position = cast<AffineDimExpr>(rest).getPosition();
    if (left.isFunctionOfDim(position))
      return {};
  }
  return getAffineBinaryOpExpr(binary.getKind(), left, right);
}

AffineMap uprog::splitColumns(AffineMap map, unsigned column, int64_t run,
                              unsigned line) {
  AffineExpr rest = getAffineDimExpr(column, map.getContext());
  SmallVector<AffineExpr> results;
  for (AffineExpr expr : map.getResults()) {
    results.push_back(splitColumn(
        expr, rest, run, getAffineDimExpr(line, map.getContext()), rest));
    if (!results.back())
      return {};
  }
  return AffineMap::get(line + 1, 0, results, map.getContext());
}

AffineMap uprog::getOperandMap(linalg::LinalgOp op, const RowSpace &space,
                               unsigned input) {
  MLIRContext *context = op.getContext();
  SmallVector<AffineExpr> dims(op.getNumLoops());
  AffineMap out = op.getIndexingMapMatchingResult(op->getResult(0));
  for (auto [i, expr] : llvm::enumerate(out.getResults()))
    dims[cast<AffineDimExpr>(expr).getPosition()] =
        getAffineDimExpr(space.hasRows() ? i : i + 1, context);
  unsigned next = space.rank() + 1;
  for (AffineExpr &dim : dims)
    if (!dim)
      dim = getAffineDimExpr(next++, context);
  return op.getMatchingIndexingMap(op.getDpsInputOperand(input))
      .replaceDimsAndSymbols(dims, {}, next, 0);
}

bool Staging::matchGathered(StagedNode &node, linalg::LinalgOp linalgOp) {
  int64_t rank = node.space.rank();
  if (target != StageTarget::CPU || !isFloatContraction(linalgOp) || rank < 2)
    return false;
  SmallVector<int64_t> extents = getReductionExtents(linalgOp);
  int64_t dims = rank + 1 + extents.size();
  AffineExpr column = getAffineDimExpr(rank, op.getContext());
  for (unsigned left : {0u, 1u}) {
    SmallVector<Read> lefts, rights;
    readOperands(node, std::nullopt, lefts, left);
    if (lefts.size() != 1 || getStaticParameter(op, lefts[0]) < 0)
      continue;
    // All elements of a row must be adjacent in the parameter.
    auto type = cast<RankedTensorType>(lefts[0].base.getType());
    auto strides = getDenseStrides(lefts[0], type.getShape(), dims);
    if (!strides || (*strides)[0] != 0 || (*strides)[rank] != 0)
      continue;
    int64_t depth = 1;
    bool isRow = true;
    for (int64_t i = extents.size() - 1; i >= 0; --i) {
      isRow &= (*strides)[rank + 1 + i] == depth;
      depth *= extents[i];
    }
    int64_t leftStride = (*strides)[rank - 1];
    AffineMap map = getOperandMap(linalgOp, node.space, 1 - left);
    if (!isRow || leftStride <= 0 || type.getNumElements() % depth != 0 ||
        map.isFunctionOfDim(rank - 1) || !map.isFunctionOfDim(rank))
      continue;

    // Vectors may begin anywhere but do not cross lines.
    int64_t run = findRun(map, column, node.space.columns());
    AffineMap split = splitColumns(map, rank, run, dims);
    if (!split)
      continue;
    SymbolicIndices own;
    for (int64_t dim = 0; dim <= dims; ++dim)
      own.push_back({getAffineDimExpr(dim, op.getContext()), dim == rank, -1});
    StagedNode probe;
    probe.lanes = node.lanes;
    probe.anywhere = true;
    bool vectors = resolve(probe, linalgOp.getDpsInputOperand(1 - left)->get(),
                           split, own, rights);
    if (!resolve(node, linalgOp.getDpsInits()[0], identity(node.space, true),
                 false, node.reads)) {
      node.reads.clear();
      return false;
    }
    readOperands(node, std::nullopt, node.reads, 1 - left);
    int64_t parameter = getStaticParameter(op, lefts[0]);
    auto panels = PanelsAttr::get(op.getContext(), parameter, /*extents=*/{},
                                  /*order=*/{}, type.getNumElements() / depth,
                                  depth, /*width=*/1,
                                  /*transposed=*/true);
    node.reduction = GatheredAttr::get(op.getContext(), left, panels,
                                       leftStride, run, vectors);
    return true;
  }
  return false;
}
