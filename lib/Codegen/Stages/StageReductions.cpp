//===- StageReductions.cpp - The reductions of a stage --------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Determines how each reduction runs and what its node accesses. A contraction
// reads a parameter in panels, reads both operands in place, or copies
// operands. In any other reduction, the lanes of vectors contain output columns
// or reduced elements, or the reduction runs one element at a time.
//
//===----------------------------------------------------------------------===//

#include "Staging.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::uprog;

/// A matrix is copied only if at least this many rows of a task share it.
static constexpr int64_t kCopiedRows = 4;

/// Returns true if `op` is a sum of products: acc + a*b.
static bool isContraction(linalg::LinalgOp op) {
  if (op.getNumReductionLoops() == 0 || op.getNumDpsInputs() != 2)
    return false;
  Operation *combiner = getCombiner(op);
  Block &block = op->getRegion(0).front();
  Value a = block.getArgument(0), b = block.getArgument(1);
  auto isProduct = [&](Value x, Value y) {
    return (x == a && y == b) || (x == b && y == a);
  };
  if (auto fma = dyn_cast_or_null<math::FmaOp>(combiner))
    return block.getOperations().size() == 2 &&
           isProduct(fma.getA(), fma.getB());
  auto add = dyn_cast_or_null<arith::AddFOp>(combiner);
  if (!add || block.getOperations().size() != 3)
    return false;
  Value product =
      add.getLhs() == block.getArguments().back() ? add.getRhs() : add.getLhs();
  auto mul = product.getDefiningOp<arith::MulFOp>();
  return mul && isProduct(mul.getLhs(), mul.getRhs());
}

/// Returns true if every vector is loaded from consecutive elements.
static bool isContiguous(ArrayRef<Read> reads) {
  for (const Read &read : reads)
    for (const SymbolicIndex &index : read.indices)
      if (index.lanes && &index != &read.indices.back())
        return false;
  return true;
}

bool uprog::isFloatContraction(linalg::LinalgOp op) {
  Type element = getElementTypeOrSelf(op->getResult(0));
  return isContraction(op) && (element.isF32() || element.isF64()) &&
         llvm::all_of(op->getOperandTypes(), [&](Type type) {
           return getElementTypeOrSelf(type) == element;
         });
}

/// Returns the panels of parameters for the target. GPU lanes read along k, so
/// their panels have one column.
PanelsAttr Staging::getPanels(ArrayRef<int64_t> parameters, int64_t n,
                              int64_t k, bool transposed,
                              ArrayRef<int64_t> extents,
                              ArrayRef<int64_t> order) {
  int64_t width = target == StageTarget::GPU ? 1 : getPanelWidth(n, lanes);
  return PanelsAttr::get(op.getContext(), parameters, extents, order, n, k,
                         width, transposed);
}

/// Matches a contraction whose columns are all rows of one or more parameters,
/// one parameter after the other. Returns the panels, or null if the
/// contraction does not match.
PanelsAttr Staging::matchStack(StagedNode &node, MutableArrayRef<Read> reads) {
  MLIRContext *context = op.getContext();
  AffineExpr column = getAffineDimExpr(node.space.rank(), context);
  AffineExpr depth = getAffineDimExpr(node.space.rank() + 1, context);
  auto firstColumn = [&](const Read &read) {
    auto offset = dyn_cast<AffineConstantExpr>(read.indices[0].expr - column);
    return offset ? -offset.getValue() : int64_t(-1);
  };
  if (llvm::any_of(reads,
                   [](const Read &read) { return read.indices.size() != 2; }))
    return {};
  llvm::stable_sort(reads, [&](const Read &a, const Read &b) {
    return firstColumn(a) < firstColumn(b);
  });
  SmallVector<int64_t> parameters;
  int64_t n = 0, k = 0;
  for (const Read &read : reads) {
    auto argument = dyn_cast<BlockArgument>(read.base);
    if (!argument || !op.getParameter(argument.getArgNumber()) ||
        read.indices[1].expr != depth || firstColumn(read) != n)
      return {};
    auto shape = cast<RankedTensorType>(argument.getType()).getShape();
    if (ShapedType::isDynamicShape(shape))
      return {};
    parameters.push_back(*op.getParameter(argument.getArgNumber()));
    n += shape[0];
    k = shape[1];
  }
  if (parameters.empty() || n != node.space.columns())
    return {};
  return getPanels(parameters, n, k, /*transposed=*/true);
}

/// Matches a matrix that consists of the last two dimensions of a parameter.
/// Constant positions along the other dimensions select the matrix.
std::optional<Staging::Factor> Staging::matchPanel(const StagedNode &node,
                                                   const Read &read) {
  auto argument = dyn_cast<BlockArgument>(read.base);
  auto linalgOp = cast<linalg::LinalgOp>(node.op);
  if (read.indices.size() < 2 || linalgOp.getNumReductionLoops() != 1 ||
      !argument || !op.getParameter(argument.getArgNumber()))
    return std::nullopt;
  auto extents = cast<RankedTensorType>(argument.getType()).getShape();
  if (ShapedType::isDynamicShape(extents))
    return std::nullopt;
  size_t outer = extents.size() - 2;
  int64_t group = 0;
  for (size_t dim = 0; dim < outer; ++dim) {
    auto position = dyn_cast<AffineConstantExpr>(read.indices[dim].expr);
    if (!position)
      return std::nullopt;
    group = group * extents[dim] + position.getValue();
  }
  ArrayRef<int64_t> shape = extents.take_back(2);
  ArrayRef<SymbolicIndex> indices = ArrayRef(read.indices).take_back(2);
  MLIRContext *context = op.getContext();
  AffineExpr n = getAffineDimExpr(node.space.rank(), context);
  AffineExpr k = getAffineDimExpr(node.space.rank() + 1, context);
  auto offsetFrom = [](AffineExpr expr, AffineExpr base) {
    auto rest = dyn_cast<AffineConstantExpr>(expr - base);
    return rest ? rest.getValue() : int64_t(-1);
  };
  for (bool transposed : {false, true}) {
    int64_t nOffset = offsetFrom(indices[transposed ? 0 : 1].expr, n);
    int64_t kOffset = offsetFrom(indices[transposed ? 1 : 0].expr, k);
    if (nOffset < 0 || kOffset < 0)
      continue;
    int64_t fullN = shape[transposed ? 0 : 1];
    int64_t width = getPanelWidth(fullN, node.lanes);
    int64_t stageWidth = getPanelWidth(node.space.columns(), node.lanes);
    if (nOffset % width != 0 || stageWidth > width ||
        (stageWidth < width && node.space.columns() > stageWidth))
      continue;
    int64_t parameter = *op.getParameter(argument.getArgNumber());
    int64_t fullK = shape[transposed ? 1 : 0];
    if (outer == 0)
      return Factor{getPanels(parameter, fullN, fullK, transposed),
                    /*firstGroup=*/0, nOffset, kOffset};
    auto order = llvm::to_vector(llvm::seq<int64_t>(0, extents.size()));
    if (transposed)
      std::swap(order[outer], order[outer + 1]);
    return Factor{getPanels(parameter, fullN, fullK, /*transposed=*/false,
                            extents, order),
                  group, nOffset, kOffset};
  }
  return std::nullopt;
}

/// Matches a parameter if each of its dimensions has extent one or is a whole
/// dimension of the node: a reduction dimension, the columns, or a dimension
/// that selects the matrix by which a row is multiplied.
std::optional<Staging::Factor> Staging::matchGroups(const StagedNode &node,
                                                    const Read &read) {
  auto argument = dyn_cast<BlockArgument>(read.base);
  // On a GPU, a match is impossible: the tile of a warp would contain rows that
  // multiply different matrices.
  if (target == StageTarget::GPU || !argument ||
      !op.getParameter(argument.getArgNumber()))
    return std::nullopt;
  auto shape = cast<RankedTensorType>(argument.getType()).getShape();
  auto linalgOp = cast<linalg::LinalgOp>(node.op);
  // Extents of the node's dimensions, beginning with the row.
  SmallVector<int64_t> extents{0};
  llvm::append_range(extents, node.space.shape);
  SmallVector<unsigned> reduced;
  linalgOp.getReductionDims(reduced);
  for (unsigned loop : reduced)
    extents.push_back(linalgOp.getStaticLoopRanges()[loop]);
  SmallVector<int64_t> places(extents.size(), -1); // indices of
                                                   // the read's dimensions
  SmallVector<int64_t> order;
  for (auto [i, index] : llvm::enumerate(read.indices)) {
    if (shape[i] == 1 && isa<AffineConstantExpr>(index.expr)) {
      order.push_back(i);
      continue;
    }
    auto dim = dyn_cast<AffineDimExpr>(index.expr);
    if (!dim || places[dim.getPosition()] >= 0 ||
        extents[dim.getPosition()] != shape[i])
      return std::nullopt;
    places[dim.getPosition()] = i;
  }
  unsigned rank = node.space.rank();
  SmallVector<int64_t> groups;
  for (unsigned dim = 1; dim < rank; ++dim)
    if (places[dim] >= 0) {
      groups.push_back(dim - 1);
      order.push_back(places[dim]);
    }
  int64_t k = 1, n = extents[rank];
  for (unsigned dim = rank + 1; dim < extents.size(); ++dim) {
    order.push_back(places[dim]);
    k *= extents[dim];
  }
  order.push_back(places[rank]);
  if (llvm::is_contained(order, -1))
    return std::nullopt;
  PanelsAttr panels = getPanels(*op.getParameter(argument.getArgNumber()), n, k,
                                /*transposed=*/false, shape, order);
  Factor factor{panels};
  factor.groups = groups;
  return factor;
}

std::optional<Staging::Factor> Staging::matchPacked(StagedNode &node,
                                                    linalg::LinalgOp linalgOp) {
  if (!isFloatContraction(linalgOp) || node.space.rank() == 0)
    return std::nullopt;
  AffineMap out = linalgOp.getIndexingMapMatchingResult(node.op->getResult(0));
  unsigned columns = cast<AffineDimExpr>(out.getResults().back()).getPosition();
  for (unsigned right : {1u, 0u}) {
    OpOperand *leftOperand = linalgOp.getDpsInputOperand(1 - right);
    OpOperand *rightOperand = linalgOp.getDpsInputOperand(right);
    Operation *def = rightOperand->get().getDefiningOp();
    if (linalgOp.getMatchingIndexingMap(leftOperand).isFunctionOfDim(columns) ||
        (def && cheapness.lookup(def) > 0))
      continue;
    SmallVector<Read> reads;
    readOperands(node, std::nullopt, reads, right);
    std::optional<Factor> factor;
    if (reads.size() == 1) {
      factor = matchPanel(node, reads[0]);
      if (!factor)
        factor = matchGroups(node, reads[0]);
    } else if (PanelsAttr stack = matchStack(node, reads))
      factor = Factor{stack};
    if (!factor)
      continue;
    factor->left = 1 - right;
    return factor;
  }
  return std::nullopt;
}

SmallVector<int64_t> Staging::getParameters(ArrayRef<Read> reads) {
  SmallVector<int64_t> parameters;
  for (const Read &read : reads)
    if (auto argument = dyn_cast<BlockArgument>(read.base))
      if (auto parameter = op.getParameter(argument.getArgNumber()))
        if (cast<RankedTensorType>(argument.getType()).hasStaticShape())
          parameters.push_back(*parameter);
  return parameters;
}

/// Returns the stride of an access along `dim`, in elements of storage: 0 if
/// the access does not depend on `dim`, -1 if the stride is unknown.
int64_t Staging::getStride(const Read &read, AffineExpr dim) {
  bool rows = getSpace(read.base).hasRows();
  unsigned position = cast<AffineDimExpr>(dim).getPosition();
  TableLayout layout = getLayout(read.base);
  int64_t stride = 0;
  for (auto [i, index] : llvm::enumerate(read.indices)) {
    if (!index.expr.isFunctionOfDim(position))
      continue;
    if (stride != 0 || (rows && i == 0) ||
        (index.expr - dim).isFunctionOfDim(position))
      return -1;
    const TableLayout::Digit *digit = layout.getOnlyDigit(i - rows);
    if (!digit)
      return -1;
    stride = digit->stride;
  }
  return stride;
}

/// Splits the inner dimensions of the stage, except the columns, into those on
/// which an access depends and the others. `isRead` is true for the former.
static std::pair<SmallVector<int64_t>, SmallVector<int64_t>>
splitDims(const RowSpace &space, llvm::function_ref<bool(unsigned)> isRead) {
  SmallVector<int64_t> groups, rows;
  for (int64_t i = 0; i + 1 < space.rank(); ++i)
    (isRead(i + 1) ? groups : rows).push_back(i);
  return {groups, rows};
}

/// Matches a product of matrices, one of which may differ from task to task.
/// The rows of a tile belong to one task, so they share their reads of B.
bool Staging::matchInPlace(StagedNode &node, linalg::LinalgOp linalgOp) {
  unsigned rank = node.space.rank();
  if (!isFloatContraction(linalgOp) || linalgOp.getNumReductionLoops() != 1 ||
      rank < 2)
    return false;
  MLIRContext *context = op.getContext();
  AffineExpr j = getAffineDimExpr(rank, context);
  AffineExpr k = getAffineDimExpr(rank + 1, context);
  int64_t columns = node.space.columns();
  int64_t width = getPanelWidth(columns, node.lanes);
  int64_t covered = llvm::alignTo(columns, width);
  for (unsigned right : {1u, 0u}) {
    // A computed operand is not stored in memory.
    auto isComputed = [&](unsigned number) {
      Operation *def =
          linalgOp.getDpsInputOperand(number)->get().getDefiningOp();
      return def && cheapness.lookup(def) > 0;
    };
    if (isComputed(0) || isComputed(1))
      continue;
    auto isInMemory = [&](const Read &read) {
      return !read.nonLocalRow &&
             (isa<BlockArgument>(read.base) || getNode(read.base));
    };
    SmallVector<Read> lefts, rights;
    // Read B last, so that `node.breaks` contains the positions at which B
    // changes from one piece to the next.
    if (!readOperands(node, std::nullopt, lefts, 1 - right) ||
        lefts.size() != 1 || !isInMemory(lefts[0]) ||
        getStride(lefts[0], k) != 1 || getStride(lefts[0], j) != 0 ||
        !readOperands(node, rank, rights, right) || rights.empty())
      continue;
    auto [groups, rows] = splitDims(node.space, [&](unsigned dim) {
      return llvm::any_of(rights, [&](const Read &read) {
        return llvm::any_of(read.indices, [&](const SymbolicIndex &index) {
          return index.expr.isFunctionOfDim(dim);
        });
      });
    });
    if (rows.size() != 1)
      continue;
    int64_t leftStride =
        getStride(lefts[0], getAffineDimExpr(rows[0] + 1, context));
    int64_t stride = getStride(rights[0], k);
    // Tiles read whole panels. If the columns do not fill the panels, tiles
    // also read elements beyond the columns.
    auto fits = [&](const Read &read) {
      const SymbolicIndex &column = read.indices.back();
      if (column.expr != j && columns != covered)
        return false;
      return column.lanes && getStride(read, j) == 1 &&
             getSpace(read.base).columns() >= columns &&
             getLayout(read.base).getRun() >= covered;
    };
    if (leftStride <= 0 || stride <= 0 ||
        llvm::any_of(rights, [&](const Read &read) {
          return !isInMemory(read) || !fits(read) ||
                 getStride(read, k) != stride;
        }))
      continue;
    llvm::append_range(node.reads, lefts);
    llvm::append_range(node.reads, rights);
    // The start value may be stored in memory or computed.
    if (!resolve(node, linalgOp.getDpsInits()[0], identity(node.space, true),
                 false, node.reads)) {
      node.reads.clear();
      return false;
    }
    node.reduction = InPlaceAttr::get(context, node.breaks, groups,
                                      getParameters(node.reads), 1 - right,
                                      leftStride, stride);
    return true;
  }
  return false;
}

/// Matches any other product of matrices if copying its operands costs little
/// compared with the product. The operands may be stored or computed.
bool Staging::matchCopied(StagedNode &node, linalg::LinalgOp linalgOp) {
  unsigned rank = node.space.rank();
  if (target == StageTarget::GPU || !isFloatContraction(linalgOp) || rank < 2 ||
      2 * node.space.columns() < node.lanes)
    return false;
  AffineMap out = linalgOp.getIndexingMapMatchingResult(node.op->getResult(0));
  bool hasRows = node.space.hasRows();
  auto loopOf = [&](unsigned dim) { // loop of an inner dimension
    return cast<AffineDimExpr>(out.getResult(hasRows ? dim : dim - 1))
        .getPosition();
  };
  unsigned last = rank + linalgOp.getNumReductionLoops();
  for (unsigned right : {1u, 0u}) {
    AffineMap left =
        linalgOp.getMatchingIndexingMap(linalgOp.getDpsInputOperand(1 - right));
    AffineMap map =
        linalgOp.getMatchingIndexingMap(linalgOp.getDpsInputOperand(right));
    if (left.isFunctionOfDim(loopOf(rank)) ||
        !map.isFunctionOfDim(loopOf(rank)))
      continue;
    auto [groups, rows] = splitDims(node.space, [&](unsigned dim) {
      return map.isFunctionOfDim(loopOf(dim));
    });
    int64_t shared = 1;
    for (int64_t dim : rows)
      shared *= node.space.shape[dim];
    if (shared < kCopiedRows)
      continue;
    SmallVector<Read> reads;
    SmallVector<int64_t> breaks;
    auto read = [&](unsigned operand, unsigned lanesDim) {
      size_t before = reads.size();
      bool fits = readOperands(node, lanesDim, reads, operand);
      if (fits && isContiguous(ArrayRef(reads).drop_front(before))) {
        llvm::append_range(breaks, node.breaks);
        return true;
      }
      reads.truncate(before);
      return false;
    };
    bool transposed = !read(right, rank);
    if (transposed && !read(right, last))
      continue;
    bool vectors = read(1 - right, last);
    if (!vectors) {
      readOperands(node, std::nullopt, reads, 1 - right);
      llvm::append_range(breaks, node.breaks);
    }
    if (!resolve(node, linalgOp.getDpsInits()[0], identity(node.space, true),
                 false, reads))
      return false;
    llvm::sort(breaks);
    breaks.erase(llvm::unique(breaks), breaks.end());
    node.breaks = breaks;
    node.reads = reads;
    node.reduction = CopiedAttr::get(op.getContext(), breaks, groups, 1 - right,
                                     transposed, vectors);
    return true;
  }
  return false;
}

LogicalResult Staging::classifyReduction(StagedNode &node,
                                         linalg::LinalgOp linalgOp) {
  SmallVector<int64_t> ranges = linalgOp.getStaticLoopRanges();
  for (auto [i, kind] : llvm::enumerate(linalgOp.getIteratorTypesArray()))
    if (kind == utils::IteratorType::reduction &&
        ShapedType::isDynamic(ranges[i]))
      return node.op->emitOpError("reduces over a dynamic dimension");
  unsigned rank = node.space.rank();
  MLIRContext *context = op.getContext();
  if (std::optional<Factor> factor = matchPacked(node, linalgOp)) {
    // The code for panels requires a start value that can be read in vectors.
    if (resolve(node, linalgOp.getDpsInits()[0], identity(node.space, true),
                false, node.reads)) {
      unsigned last = rank + linalgOp.getNumReductionLoops();
      bool vectors = readOperands(node, last, node.reads, factor->left);
      node.reduction = PackedAttr::get(
          context, node.breaks, factor->groups, factor->left, factor->panels,
          factor->firstGroup, factor->nOffset, factor->kOffset, vectors);
      return success();
    }
    node.reads.clear();
  }
  if (matchInPlace(node, linalgOp) || matchGathered(node, linalgOp) ||
      matchCopied(node, linalgOp))
    return success();
  auto finish = [&](ReducedKind kind) {
    node.reduction = ReducedAttr::get(context, kind, node.breaks);
    return success();
  };
  bool safe = false;
  if (rank > 0) {
    safe = readOperands(node, rank, node.reads);
    if (safe && isContiguous(node.reads))
      return finish(ReducedKind::Columns);
  }
  SmallVector<Read> reads;
  bool fitsLanes =
      readOperands(node, rank + linalgOp.getNumReductionLoops(), reads);
  if (fitsLanes && (getCombiner(linalgOp) || getSelection(linalgOp)) &&
      isContiguous(reads)) {
    node.reads = reads;
    return finish(ReducedKind::Lanes);
  }
  // The elements of a vector are not adjacent if the reduction reads strided
  // windows of an image.
  if (rank > 0 && !safe && target == StageTarget::CPU) {
    node.anywhere = true;
    SmallVector<Read> unused;
    safe = readOperands(node, rank, unused);
  }
  // For rank 0, record the reads found with lanes: stages depend on which
  // values are read, not on how they are read.
  if (rank == 0)
    node.reads = reads;
  return finish(safe ? ReducedKind::Columns : ReducedKind::Sequential);
}
