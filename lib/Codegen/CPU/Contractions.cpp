//===- Contractions.cpp - Tiles of products -------------------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../Stages/ReductionLoops.h"
#include "StageEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::uprog;

bool StageEmitter::emitStart(const Reduction &reduction, Value firstRow,
                             Value rows, Value firstColumn, Value lastColumn) {
  linalg::LinalgOp op = reduction.op;
  Value start = op.getDpsInits()[0];
  if (isZero(start))
    return false;
  b.loop(b.constant(0), rows, 1, [&](Value row) {
    Indices position = positionOf(b.add(firstRow, row));
    evaluator.setTilePosition(row, firstColumn);
    b.loop(firstColumn, lastColumn, evaluator.getLanes(), [&](Value column) {
      Indices indices = position;
      indices.push_back({column, true, 0});
      if (Value value = evaluator.eval(start, indices))
        evaluator.storeTile(value, reduction.op->getResult(0), row, column,
                            true);
    });
  });
  return true;
}

/// For each piece of the reduction, emits a call of the register-tile function
/// with the addresses at which the piece begins in the two operands.
void StageEmitter::emitInPlace(const Reduction &reduction, Value firstRow,
                               Value rows, Value panels, Value firstColumn,
                               bool accumulate) {
  linalg::LinalgOp op = reduction.op;
  Indices out = positionOf(firstRow);
  evaluator.prepareRow(*stage, out);
  out.push_back({firstColumn});
  Indices dims = evaluator.loopIndices(op, out);
  SmallVector<unsigned> reductions;
  op.getReductionDims(reductions);
  auto addressOf = [&](unsigned input) {
    OpOperand *operand = op.getDpsInputOperand(input);
    return evaluator.address(
        operand->get(),
        evaluator.operandIndices(op.getMatchingIndexingMap(operand), dims));
  };
  evaluator.setTilePosition(b.constant(0), firstColumn);
  Value tile =
      evaluator.tilePointer(op->getResult(0), b.constant(0), firstColumn);
  InPlaceAttr inPlace = reduction.inPlace;
  Type element = reduction.getElementType();
  int64_t bytes = elementBytes(element);
  for (auto [begin, end] : ReductionLoops(reduction).pieces) {
    dims[reductions.front()] = {b.constant(begin), false, -1, begin, end};
    func::FuncOp tiles = tileFunctions.get(
        {element, evaluator.getLanes(), reduction.lanes,
         inPlace.getLeftStride(), inPlace.getRightStride(),
         panelWidth / evaluator.getLanes(), tileStride, accumulate,
         /*streamed=*/false});
    func::CallOp::create(
        b, tiles,
        ValueRange{addressOf(reduction.left), addressOf(1 - reduction.left),
                   tile, b.constant(end - begin), rows, panels,
                   b.constant(panelWidth * bytes), tile, b.constant(0)});
    accumulate = true;
  }
}

void StageEmitter::emitPanels(const Reduction &reduction, Value tileRow,
                              Value rows, Value panel, Value panels,
                              Value firstColumn, const Ahead &ahead,
                              bool accumulate) {
  Value result = reduction.op->getResult(0), zero = b.constant(0);
  const Pack &pack = packs[packOf[&reduction]];
  PackedAttr packed = reduction.packed;
  PanelsAttr right = packed.getPanels();
  Type element = reduction.getElementType();
  int64_t bytes = elementBytes(element), lanes = evaluator.getLanes();
  func::FuncOp tiles = tileFunctions.get(
      {element, lanes, reduction.lanes, packedRowBytes / bytes,
       right.getWidth(), panelWidth / lanes, tileStride, accumulate,
       /*streamed=*/true});
  Value left = packedRow(pack, tileRow);
  int64_t stepBytes = right.getWidth() * bytes;
  int64_t panelBytes = right.getK() * stepBytes;
  Value packing = b.offset(evaluator.getPacking(tables.getPanels(right)),
                           b.constant(packed.getFirstElement() * bytes));
  // Number the matrices of each reduction separately, because reductions may
  // have different numbers of matrices.
  auto pointerTo = [&](Value number) {
    return b.offset(packing, b.mul(number, b.constant(panelBytes)));
  };
  Value rightPointer = pointerTo(panel);
  if (!groupDims.empty()) {
    int64_t count = llvm::divideCeil(right.getN(), right.getWidth());
    rightPointer =
        pointerTo(b.add(b.mul(groupOf(reduction), b.constant(count)), panel));
  }
  Value aheadBytes = b.div(
      b.mul(ahead.tile, b.constant(reduction.depth * stepBytes)), ahead.tiles);
  Value aheadPointer = b.offset(
      packing, b.add(b.mul(ahead.panel, b.constant(panelBytes)), aheadBytes));
  Value isSingle = b.less(ahead.tiles, b.constant(2));
  aheadPointer =
      arith::SelectOp::create(b, isSingle, rightPointer, aheadPointer);
  Value aheadStep = arith::SelectOp::create(
      b, isSingle, b.constant(0), b.div(b.constant(stepBytes), ahead.tiles));
  evaluator.setTilePosition(zero, firstColumn);
  func::CallOp::create(
      b, tiles,
      ValueRange{left, rightPointer,
                 evaluator.tilePointer(result, zero, firstColumn),
                 b.constant(reduction.depth), rows, panels,
                 b.constant(panelBytes), aheadPointer, aheadStep});
}

//===----------------------------------------------------------------------===//
// Copies of B
//===----------------------------------------------------------------------===//

Value StageEmitter::copiedPanel(const Reduction &reduction) {
  return b.offset(arguments.work, b.constant(copyOffsets[&reduction]));
}

/// Returns the columns of the square matrix with rows `rows`. Successive rounds
/// exchange blocks of 1, 2, 4, ... elements next to the diagonal.
static SmallVector<Value> transpose(CodeBuilder &b, ArrayRef<Value> rows) {
  SmallVector<Value> matrix(rows);
  int64_t size = rows.size();
  for (int64_t block = 1; block < size; block *= 2) {
    SmallVector<int64_t> low, high;
    for (int64_t lane = 0; lane < size; ++lane) {
      bool second = lane & block;
      low.push_back(second ? size + lane - block : lane);
      high.push_back(second ? size + lane : lane + block);
    }
    for (int64_t row = 0; row < size; ++row) {
      if (row & block)
        continue;
      Value first = matrix[row], second = matrix[row + block];
      matrix[row] = vector::ShuffleOp::create(b, first, second, low);
      matrix[row + block] = vector::ShuffleOp::create(b, first, second, high);
    }
  }
  return matrix;
}

void StageEmitter::emitCopy(const Reduction &reduction, Value row,
                            Value panel) {
  linalg::LinalgOp op = reduction.op;
  OpOperand *operand = op.getDpsInputOperand(1 - reduction.left);
  AffineMap map = op.getMatchingIndexingMap(operand);
  AffineMap outMap = op.getIndexingMapMatchingResult(op->getResult(0));
  unsigned columnLoop =
      cast<AffineDimExpr>(outMap.getResults().back()).getPosition();
  int64_t lanes = evaluator.getLanes(), columns = stage->space.columns();
  int64_t bytes = elementBytes(reduction.getElementType());
  Value first = b.mul(panel, b.constant(panelWidth));
  Value end = b.min(b.add(first, b.constant(panelWidth)),
                    b.constant(llvm::alignTo(columns, lanes)));
  Indices out = positionOf(row);
  evaluator.prepareRow(*stage, out);
  out.push_back({first});
  Indices at = evaluator.loopIndices(op, out);
  ReductionLoops loops(reduction);
  Value base = copiedPanel(reduction);
  auto read = [&](Index column, Index k) -> Value {
    at[columnLoop] = column;
    at[loops.dims.back()] = k;
    Value value =
        evaluator.eval(operand->get(), evaluator.operandIndices(map, at));
    return value ? evaluator.broadcast(value) : Value();
  };
  // Writes a vector of columns, beginning at `column`, to row k + `after` of
  // the copy, where k is the current position.
  auto write = [&](Value value, Value column, int64_t after) {
    Value k = b.add(loops.flatten(b, at), b.constant(after));
    Value place = b.add(b.mul(k, b.constant(panelWidth)), b.sub(column, first));
    b.store(value, b.offset(base, b.mul(place, b.constant(bytes))), bytes);
  };
  auto copyRows = [&](int64_t begin, int64_t pieceEnd) {
    b.loop(b.constant(begin), b.constant(pieceEnd), 1, [&](Value k) {
      b.loop(first, end, lanes, [&](Value column) {
        if (Value value =
                read({column, true, 0}, {k, false, -1, begin, pieceEnd}))
          write(value, column, 0);
      });
    });
  };
  // Positions beyond the last column contain copies of the last column.
  auto copyTransposed = [&](int64_t begin, int64_t pieceEnd) {
    b.loop(b.constant(0), b.constant(pieceEnd - begin), lanes, [&](Value j) {
      Value k = b.add(b.constant(begin), j);
      b.loop(first, end, lanes, [&](Value column) {
        SmallVector<Value> rows;
        for (int64_t i = 0; i < lanes; ++i) {
          Value one = b.add(column, b.constant(i));
          if (columns % lanes)
            one = b.min(one, b.constant(columns - 1));
          rows.push_back(
              read({one}, {k, true, begin % lanes, begin, pieceEnd}));
          if (!rows.back())
            return;
        }
        for (auto [i, value] : llvm::enumerate(transpose(b, rows)))
          write(value, column, i);
      });
    });
  };
  auto inner = [&](CodeBuilder::Values) {
    for (auto [begin, pieceEnd] : loops.pieces)
      if (reduction.copied.getTransposed())
        copyTransposed(begin, pieceEnd);
      else
        copyRows(begin, pieceEnd);
    return CodeBuilder::Values();
  };
  loops.nest(b, {}, at, inner);
}

void StageEmitter::emitCopied(const Reduction &reduction, Value tileRow,
                              Value rows, Value firstColumn, bool accumulate) {
  Value result = reduction.op->getResult(0), zero = b.constant(0);
  Type element = reduction.getElementType();
  int64_t bytes = elementBytes(element), lanes = evaluator.getLanes();
  func::FuncOp tiles = tileFunctions.get(
      {element, lanes, reduction.lanes, packedRowBytes / bytes, panelWidth,
       panelWidth / lanes, tileStride, accumulate, /*streamed=*/false});
  evaluator.setTilePosition(zero, firstColumn);
  Value tile = evaluator.tilePointer(result, zero, firstColumn);
  Value left = packedRow(packs[packOf[&reduction]], tileRow);
  func::CallOp::create(b, tiles,
                       ValueRange{left, copiedPanel(reduction), tile,
                                  b.constant(reduction.depth), rows,
                                  b.constant(1), zero, tile, zero});
}
