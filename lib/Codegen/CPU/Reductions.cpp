//===- Reductions.cpp - Reductions that are not panels --------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../Stages/ReductionLoops.h"
#include "StageEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::uprog;

/// The number of vectors of columns that are reduced at once.
static constexpr int64_t kColumnVectors = 4;
/// The number of rows whose columns are reduced at once: independent sums hide
/// the latency of an fma.
static constexpr int64_t kColumnRows = 4;
/// The number of partial results of a reduction along the lanes.
static constexpr int64_t kLaneVectors = 4;

void StageEmitter::reduceColumns(const Reduction &reduction,
                                 ArrayRef<RowPosition> rows, Value firstColumn,
                                 Value column, int64_t vectors, bool vector) {
  int64_t lanes = evaluator.getLanes();
  SmallVector<Indices> elements;
  SmallVector<std::pair<Value, Value>> places; // row, column
  for (const RowPosition &at : rows)
    for (int64_t u = 0; u < vectors; ++u) {
      Value first = b.add(column, b.constant(u * lanes));
      elements.push_back(at.indices);
      if (reduction.space.rank() > 0)
        elements.back().push_back({first, vector, vector ? 0 : -1});
      places.push_back({at.row, first});
    }
  CodeBuilder::Values sums =
      evaluator.reduce(reduction, elements, vector, [&](size_t e) {
        evaluator.setTilePosition(places[e].first, firstColumn);
      });
  size_t results = reduction.op->getNumResults();
  for (auto [i, sum] : llvm::enumerate(sums)) {
    auto [row, at] = places[i / results];
    evaluator.storeTile(sum, reduction.op->getResult(i % results), row, at,
                        vector);
  }
}

/// Combines two partial results of the reduction that ends in `combiner`.
static Value combine(CodeBuilder &b, Operation *combiner, Value x, Value y) {
  if (isa<math::FmaOp>(combiner))
    return arith::AddFOp::create(b, x, y);
  OperationState state(b.getLoc(), combiner->getName(), ValueRange{x, y},
                       TypeRange(x.getType()), combiner->getAttrs());
  return b.create(state)->getResult(0);
}

/// Combines partial results and then lanes, pairwise, always in this order.
Value StageEmitter::finishLanes(Operation *combiner, ArrayRef<Value> partial) {
  SmallVector<Value> sums(partial);
  while (sums.size() > 1) {
    size_t half = sums.size() / 2;
    for (size_t i = 0; i < half; ++i)
      sums[i] = combine(b, combiner, sums[i], sums[i + half]);
    sums.resize(half);
  }
  Value sum = sums[0];
  for (int64_t half = evaluator.getLanes() / 2; half >= 1; half /= 2) {
    auto lanes = llvm::to_vector(llvm::seq<int64_t>(0, 2 * half));
    ArrayRef<int64_t> all(lanes);
    Value low = vector::ShuffleOp::create(b, sum, sum, all.take_front(half));
    Value high = vector::ShuffleOp::create(b, sum, sum, all.take_back(half));
    sum = combine(b, combiner, low, high);
  }
  return vector::ExtractOp::create(b, sum, ArrayRef<int64_t>{0});
}

Value StageEmitter::reduceLanes(const Reduction &reduction,
                                ArrayRef<Index> position) {
  linalg::LinalgOp op = reduction.op;
  Block &body = op->getRegion(0).front();
  Operation *combiner = getCombiner(op);
  ReductionLoops loops(reduction);
  int64_t lanes = evaluator.getLanes();
  size_t inputs = op.getNumDpsInputs();
  Indices dims = evaluator.loopIndices(op, position);
  unsigned last = loops.dims.back();
  // As many partial results as vectors of its own type have lanes, even if
  // other vectors of the operator have fewer.
  int64_t unroll = reduction.lanes / lanes;
  if (loops.extents.back() >= kLaneVectors * reduction.lanes)
    unroll *= kLaneVectors;
  TypedAttr zero;
  if (isa<math::FmaOp>(combiner))
    zero = b.getFloatAttr(combiner->getResult(0).getType(), -0.0);
  else
    zero = *arith::getNeutralElement(combiner);
  Value neutral = arith::ConstantOp::create(b, zero);
  CodeBuilder::Values carried(unroll, evaluator.broadcast(neutral));

  auto one = [&](Value base, int64_t begin, int64_t end, Value sum) {
    dims[last] = {base, true, begin % lanes, begin, end};
    SmallVector<Value> arguments = evaluator.evalInputs(op, dims);
    arguments[inputs] = sum;
    SmallVector<Value> next = evaluator.evalBody(body, arguments, dims, true);
    return next.empty() ? sum : evaluator.broadcast(next[0]);
  };
  auto inner = [&](CodeBuilder::Values sums) {
    for (auto [begin, end] : loops.pieces) {
      int64_t step = lanes * unroll;
      int64_t whole = begin + (end - begin) / step * step;
      if (whole > begin)
        sums =
            b.loop(b.constant(begin), b.constant(whole), step, sums,
                   [&, begin = begin, end = end](Value k, ValueRange values) {
                     CodeBuilder::Values next;
                     for (int64_t u = 0; u < unroll; ++u)
                       next.push_back(one(b.add(k, b.constant(u * lanes)),
                                          begin, end, values[u]));
                     return next;
                   });
      for (int64_t u = 0; whole < end; whole += lanes, ++u) {
        Value sum = one(b.constant(whole), begin, end, sums[u]);
        if (end - whole < lanes) {
          SmallVector<bool> bits;
          for (int64_t lane = 0; lane < lanes; ++lane)
            bits.push_back(whole + lane < end);
          auto type = VectorType::get({lanes}, b.getI1Type());
          Value mask = arith::ConstantOp::create(
              b, DenseElementsAttr::get(type, ArrayRef<bool>(bits)));
          sum = arith::SelectOp::create(b, mask, sum, sums[u]);
        }
        sums[u] = sum;
      }
    }
    return sums;
  };
  // A reduction with limits has no combiner, so all of them are null.
  carried = loops.nest(b, carried, dims, loops.limits, inner);
  Value start = evaluator.eval(op.getDpsInits()[0], position);
  if (!start)
    return {};
  return combine(b, combiner, start, finishLanes(combiner, carried));
}

void StageEmitter::emitReduction(const Reduction &reduction, Value firstRow,
                                 Value rows, Value firstColumn,
                                 Value lastColumn) {
  int64_t lanes = evaluator.getLanes();
  bool inner = reduction.space.rank() > 0;
  bool vector =
      inner && reduction.kind == ReductionKind::Columns && !stage->scalar;
  auto prepare = [&](Value row) {
    RowPosition at{row,
                   evaluator.positionOf(reduction.space, b.add(firstRow, row))};
    evaluator.prepareRow(*stage, at.indices);
    return at;
  };
  if (vector) {
    int64_t wide = kColumnVectors * lanes;
    auto reduce = [&](ArrayRef<RowPosition> group) {
      Value done = firstColumn;
      if (reduction.space.columns() >= wide) {
        Value count = b.div(b.sub(lastColumn, firstColumn), b.constant(wide));
        done = b.add(firstColumn, b.mul(count, b.constant(wide)));
        b.loop(firstColumn, done, wide, [&](Value column) {
          reduceColumns(reduction, group, firstColumn, column, kColumnVectors,
                        true);
        });
      }
      b.loop(done, lastColumn, lanes, [&](Value column) {
        reduceColumns(reduction, group, firstColumn, column, 1, true);
      });
    };
    // Rows that end in different places are reduced one by one.
    Value groups = b.constant(0);
    if (!ReductionLoops(reduction).isLimited())
      groups =
          b.mul(b.div(rows, b.constant(kColumnRows)), b.constant(kColumnRows));
    b.loop(b.constant(0), groups, kColumnRows, [&](Value row) {
      SmallVector<RowPosition> group;
      for (int64_t i = 0; i < kColumnRows; ++i)
        group.push_back(prepare(b.add(row, b.constant(i))));
      reduce(group);
    });
    b.loop(groups, rows, 1, [&](Value row) { reduce(prepare(row)); });
    return;
  }
  b.loop(b.constant(0), rows, 1, [&](Value row) {
    RowPosition at = prepare(row);
    evaluator.setTilePosition(row, firstColumn);
    Value end = inner ? b.min(lastColumn, b.constant(reduction.space.columns()))
                      : b.add(firstColumn, b.constant(1));
    b.loop(firstColumn, end, 1, [&](Value column) {
      if (reduction.kind != ReductionKind::Lanes) {
        reduceColumns(reduction, at, firstColumn, column, 1, false);
        return;
      }
      Indices indices(at.indices);
      if (inner)
        indices.push_back({column});
      if (Value sum = reduceLanes(reduction, indices))
        evaluator.storeTile(sum, reduction.op->getResult(0), row, column,
                            false);
    });
  });
}
