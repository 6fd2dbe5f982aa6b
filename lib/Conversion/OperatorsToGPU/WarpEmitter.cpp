//===- WarpEmitter.cpp - The code of a stage for warps ----------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "WarpEmitter.h"

#include "../OperatorCode/ReductionLoops.h"
#include "batch-runtime/ABI.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::uprog;

WarpEmitter::WarpEmitter(const StagePlan &plan, const KeptWeights &weights,
                         ModuleTables &tables, CodeBuilder &b, int64_t warps)
    : plan(plan), weights(weights), tables(tables), b(b),
      evaluator(b, plan, tables), warps(warps) {}

func::FuncOp WarpEmitter::emit(int64_t number, StringRef name) {
  stage = &plan.getStages()[number];
  hasPanels = llvm::any_of(
      stage->nodes, [](Node *node) { return node->kind == NodeKind::Panels; });
  int64_t columns = stage->space.columns();
  tileColumns = hasPanels
                    ? kPanelColumns
                    : std::min<int64_t>(kLanes, llvm::PowerOf2Ceil(columns));
  tileRows = kLanes / tileColumns;
  static_assert(kPanelRows * kPanelColumns == kLanes);

  Type ptr = b.ptrType(), i64 = b.getI64Type();
  auto function = func::FuncOp::create(
      b, name, b.getFunctionType({ptr, ptr, i64, i64}, {}));
  makeInternal(function);
  OpBuilder::InsertionGuard guard(b);
  b.beginFunction(function);
  Value step = function.getArgument(0), unit = function.getArgument(2);
  Value units = function.getArgument(3);
  StageArguments arguments;
  arguments.step = step;
  arguments.forms = function.getArgument(1);
  arguments.scratch = b.loadPointer(step, offsetof(BatchStep, scratch));
  Value thread = gpu::ThreadIdOp::create(b, gpu::Dimension::x);
  thread = arith::IndexCastOp::create(b, i64, thread);
  lane = b.rem(thread, b.constant(kLanes));
  Value warp = b.div(thread, b.constant(kLanes));
  evaluator.beginStage(number, arguments);
  weights.emitWait(b, *stage);

  Value rowCount = b.constant(stage->space.leading());
  if (stage->space.hasRows()) {
    Value rows = evaluator.getCount();
    if (stage->space.domain >= 0)
      rows = evaluator.getOffset(stage->space.domain, rows);
    rowCount = b.mul(rows, rowCount);
  }
  Value rowTiles =
      b.div(b.add(rowCount, b.constant(tileRows - 1)), b.constant(tileRows));
  ColumnShare own(b, unit, units, llvm::divideCeil(columns, tileColumns));
  // Blocks beyond the number of column tiles share their rows.
  Value share = b.div(unit, own.across);
  Value shares =
      b.div(b.add(b.sub(units, own.first), b.sub(own.across, b.constant(1))),
            own.across);
  Value firstTile = b.add(b.mul(warp, shares), share);
  Value nextTile = b.mul(shares, b.constant(warps));
  b.loop(own.first, own.tiles, own.across, b.constant(0),
         [&](Value column, ValueRange turn) {
           b.loop(firstTile, rowTiles, nextTile, [&](Value row) {
             emitTile(b.mul(row, b.constant(tileRows)), rowCount,
                      b.mul(column, b.constant(tileColumns)), turn[0]);
           });
           return CodeBuilder::Values{b.add(turn[0], b.constant(1))};
         });
  evaluator.endStage();
  func::ReturnOp::create(b);
  return function;
}

void WarpEmitter::emitTile(Value firstRow, Value rowCount, Value firstColumn,
                           Value turn) {
  // Lanes beyond the edge compute the last row or column again, and store
  // nothing.
  auto clamp = [&](Value value, Value end) {
    return b.min(value, b.sub(end, b.constant(1)));
  };
  Value columnCount = b.constant(stage->space.columns());
  Value row = b.add(firstRow, b.div(lane, b.constant(tileColumns)));
  Value column = b.add(firstColumn, b.rem(lane, b.constant(tileColumns)));
  Value valid = arith::AndIOp::create(b, b.less(row, rowCount),
                                      b.less(column, columnCount));
  Indices element = evaluator.positionOf(stage->space, clamp(row, rowCount));
  if (stage->space.rank() > 0)
    element.push_back({clamp(column, columnCount)});

  if (hasPanels) {
    SmallVector<Indices> rows;
    for (int64_t i = 0; i < tileRows; ++i) {
      rows.push_back(evaluator.positionOf(
          stage->space, clamp(b.add(firstRow, b.constant(i)), rowCount)));
      evaluator.prepareRow(*stage, rows.back());
    }
    for (Node *node : stage->nodes)
      if (node->kind == NodeKind::Panels)
        emitContraction(*node, rows, firstColumn, turn, element);
  }
  b.when(valid, [&] {
    evaluator.prepareRow(*stage, element);
    for (Node *node : stage->nodes) {
      if (node->kind == NodeKind::Panels ||
          node->kind == NodeKind::Elementwise ||
          node->kind == NodeKind::SegmentReduce)
        continue;
      auto sums = evaluator.reduce(*node, element, /*vector=*/false);
      for (auto [result, sum] : llvm::zip(node->op->getResults(), sums))
        evaluator.remember(result, element, sum);
    }
    for (auto &[value, storage] : stage->stores)
      if (Value computed = evaluator.eval(value, element))
        evaluator.store(computed, value, storage, element);
  });
}

void WarpEmitter::emitContraction(const Node &node, ArrayRef<Indices> rows,
                                  Value firstColumn, Value turn,
                                  ArrayRef<Index> element) {
  auto op = cast<linalg::LinalgOp>(node.op);
  SmallVector<Indices> dims; // of each row, any column
  for (const Indices &row : rows) {
    Indices out(row);
    out.push_back({firstColumn});
    dims.push_back(evaluator.loopIndices(op, out));
  }
  auto fromGlobal = [&] {
    PanelOperand right = node.right;
    right.width = 1; // B[n][k]: lanes read along k
    Value n = b.add(firstColumn, b.constant(right.nOffset));
    Value offset =
        b.add(b.mul(n, b.constant(right.k)), b.constant(right.kOffset));
    Value tile = b.offset(evaluator.getForm(tables.getPanels(right)),
                          b.mul(offset, b.constant(4)));
    return multiply(node, dims, firstColumn, tile, right.k);
  };
  const KeptMatrix *kept = weights.find(node);
  auto fromShared = [&] {
    Value tile = KeptWeights::getTile(b, *kept, turn);
    return multiply(node, dims, firstColumn, tile, kept->stride());
  };
  SmallVector<Type> types(kLanes, b.getF32Type());
  CodeBuilder::Values parts;
  if (!kept)
    parts = fromGlobal();
  else if (kept->kept == kept->tiles)
    parts = fromShared();
  else
    parts = b.select(b.less(turn, b.constant(kept->kept)), types, fromShared,
                     fromGlobal);
  Value sum = addUp(parts);
  Value start = op.getDpsInits()[0];
  if (!isZero(start))
    if (Value value = evaluator.eval(start, element))
      sum = arith::AddFOp::create(b, value, sum);
  evaluator.remember(op->getResult(0), element, sum);
}

CodeBuilder::Values WarpEmitter::multiply(const Node &node,
                                          MutableArrayRef<Indices> rows,
                                          Value firstColumn, Value weights,
                                          int64_t stride) {
  auto op = cast<linalg::LinalgOp>(node.op);
  OpOperand *left = op.getDpsInputOperand(node.left);
  int64_t lanes = evaluator.getLanes();
  ReductionLoops loops(node);
  // Bytes from there to a column: constants, where no tile goes over the edge.
  SmallVector<Value> columns;
  Value last = b.sub(b.constant(stage->space.columns() - 1), firstColumn);
  for (int64_t c = 0; c < tileColumns; ++c) {
    Value column = b.constant(c);
    if (stage->space.columns() % tileColumns)
      column = b.min(column, last);
    columns.push_back(b.mul(column, b.constant(stride * 4)));
  }

  // Sum number r * tileColumns + c is that of row r and column c.
  Value zero = arith::ConstantOp::create(b, b.getF32FloatAttr(0));
  CodeBuilder::Values sums(kLanes, zero);
  for (auto [begin, end] : loops.pieces) {
    auto isWhole = [&](int64_t value) { return value % lanes == 0; };
    bool vector = node.packVectors && isWhole(begin) && isWhole(end) &&
                  isWhole(node.right.k) && isWhole(node.right.kOffset);
    int64_t width = vector ? lanes : 1;
    Type type = b.getF32Type();
    if (vector)
      type = evaluator.vectorOf(type);
    auto take = [&](Value value, int64_t i) -> Value {
      if (!isa<VectorType>(value.getType()))
        return value;
      return vector::ExtractOp::create(b, value, ArrayRef<int64_t>{i});
    };
    Value first = b.add(b.constant(begin), b.mul(lane, b.constant(width)));
    sums = b.loop(
        first, b.constant(end), kLanes * width, sums,
        [&, begin = begin, end = end](Value k, ValueRange parts) {
          CodeBuilder::Values next(parts);
          Value at = b.offset(weights, b.mul(k, b.constant(4)));
          SmallVector<Value> factors;
          for (Value column : columns)
            factors.push_back(b.load(type, b.offset(at, column), 4 * width));
          for (auto [r, row] : llvm::enumerate(rows)) {
            row[loops.dims.back()] = {k, vector, vector ? 0 : -1, begin, end};
            Value value = evaluator.eval(
                left->get(),
                evaluator.operandIndices(op.getMatchingIndexingMap(left), row));
            if (!value)
              return CodeBuilder::Values(parts);
            for (auto [c, factor] : llvm::enumerate(factors)) {
              Value &sum = next[r * tileColumns + c];
              for (int64_t i = 0; i < width; ++i)
                sum = math::FmaOp::create(b, take(value, i), take(factor, i),
                                          sum);
            }
          }
          return next;
        });
  }
  return sums;
}

/// Each step halves the sums that a lane holds parts of: it sends one half's
/// parts to a lane that keeps that half, and adds what it gets to the other.
Value WarpEmitter::addUp(ArrayRef<Value> parts) {
  SmallVector<Value> sums(parts);
  Type i32 = b.getI32Type();
  for (int32_t half = kLanes / 2; half > 0; half /= 2) {
    Value bit = b.rem(b.div(lane, b.constant(half)), b.constant(2));
    Value upper = arith::TruncIOp::create(b, b.getI1Type(), bit);
    auto constant = [&](int32_t value) -> Value {
      return arith::ConstantOp::create(b, b.getIntegerAttr(i32, value));
    };
    Value distance = constant(half), width = constant(kLanes);
    for (int32_t i = 0; i < half; ++i) {
      Value keep = arith::SelectOp::create(b, upper, sums[i + half], sums[i]);
      Value send = arith::SelectOp::create(b, upper, sums[i], sums[i + half]);
      Value other = gpu::ShuffleOp::create(b, send, distance, width,
                                           gpu::ShuffleMode::XOR)
                        .getShuffleResult();
      sums[i] = arith::AddFOp::create(b, keep, other);
    }
    sums.resize(half);
  }
  return sums[0];
}
