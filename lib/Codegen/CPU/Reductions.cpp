//===- Reductions.cpp - Reductions without panels -------------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../Stages/PartialResults.h"
#include "../Stages/ReductionLoops.h"
#include "StageEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::uprog;

/// Number of vectors of columns that are reduced at once.
static constexpr int64_t kColumnVectors = 4;
/// Number of rows whose columns are reduced at once. Independent sums hide the
/// latency of an fma.
static constexpr int64_t kColumnRows = 4;
/// Number of vectors for the partial results of a reduction along the lanes.
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

/// Combines partial results and then lanes, pairwise and always in the same
/// order.
static CodeBuilder::Values combineAll(CodeBuilder &b, const PartialResults &how,
                                      int64_t lanes, ValueRange partial) {
  CodeBuilder::Values all(partial);
  size_t results = how.results;
  while (all.size() > results) {
    size_t half = all.size() / results / 2 * results;
    for (size_t i = 0; i < half; i += results)
      llvm::copy(how.combine(b, ValueRange(all).slice(i, results),
                             ValueRange(all).slice(i + half, results)),
                 all.begin() + i);
    all.resize(half);
  }
  for (int64_t half = lanes / 2; half >= 1; half /= 2) {
    auto numbers = llvm::to_vector(llvm::seq<int64_t>(0, 2 * half));
    ArrayRef<int64_t> taken(numbers);
    CodeBuilder::Values low, high;
    for (Value one : all) {
      low.push_back(
          vector::ShuffleOp::create(b, one, one, taken.take_front(half)));
      high.push_back(
          vector::ShuffleOp::create(b, one, one, taken.take_back(half)));
    }
    all = how.combine(b, low, high);
  }
  for (Value &one : all)
    one = vector::ExtractOp::create(b, one, ArrayRef<int64_t>{0});
  return all;
}

CodeBuilder::Values StageEmitter::reduceLanes(const Reduction &reduction,
                                              ArrayRef<Index> position) {
  linalg::LinalgOp op = reduction.op;
  Block &body = op->getRegion(0).front();
  PartialResults how(op);
  ReductionLoops loops(reduction);
  int64_t lanes = evaluator.getLanes();
  size_t inputs = op.getNumDpsInputs(), results = how.results;
  Indices dims = evaluator.loopIndices(op, position);
  unsigned last = loops.dims.back();
  // Use at least `reduction.lanes` partial results, even if the operator's
  // vectors have fewer lanes.
  int64_t unroll = std::max<int64_t>(reduction.lanes / lanes, 1);
  if (loops.extents.back() >= kLaneVectors * reduction.lanes)
    unroll *= kLaneVectors;
  CodeBuilder::Values initial = how.ofNone(b, evaluator, position);
  if (initial.empty())
    return {};
  for (Value &one : initial)
    one = evaluator.broadcast(one);
  CodeBuilder::Values carried;
  for (int64_t u = 0; u < unroll; ++u)
    llvm::append_range(carried, initial);

  auto one = [&](Value base, int64_t begin, int64_t end, ValueRange sums) {
    dims[last] = {base, true, begin % lanes, begin, end};
    SmallVector<Value> arguments = evaluator.evalInputs(op, dims);
    llvm::copy(sums, arguments.begin() + inputs);
    SmallVector<Value> next = evaluator.evalBody(body, arguments, dims, true);
    if (next.size() != results)
      return CodeBuilder::Values(sums);
    for (Value &value : next)
      value = evaluator.broadcast(value);
    return CodeBuilder::Values(next);
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
                       llvm::append_range(
                           next, one(b.add(k, b.constant(u * lanes)), begin,
                                     end, values.slice(u * results, results)));
                     return next;
                   });
      for (int64_t u = 0; whole < end; whole += lanes, ++u) {
        CodeBuilder::Values before(
            ArrayRef<Value>(sums).slice(u * results, results));
        CodeBuilder::Values next = one(b.constant(whole), begin, end, before);
        if (end - whole < lanes) {
          SmallVector<bool> bits;
          for (int64_t lane = 0; lane < lanes; ++lane)
            bits.push_back(whole + lane < end);
          auto type = VectorType::get({lanes}, b.getI1Type());
          Value mask = arith::ConstantOp::create(
              b, DenseElementsAttr::get(type, ArrayRef<bool>(bits)));
          for (auto [value, old] : llvm::zip_equal(next, before))
            value = arith::SelectOp::create(b, mask, value, old);
        }
        llvm::copy(next, sums.begin() + u * results);
      }
    }
    return sums;
  };
  // Ignore limits: elements beyond a limit do not change the results.
  carried = loops.nest(b, carried, dims, inner);
  return how.addStart(b, evaluator, position,
                      combineAll(b, how, lanes, carried));
}

void StageEmitter::emitReduction(const Reduction &reduction, Value firstRow,
                                 Value rows, Value firstColumn,
                                 Value lastColumn) {
  int64_t lanes = evaluator.getLanes();
  bool inner = reduction.space.rank() > 0;
  bool vector =
      inner && reduction.kind == ReductionKind::Columns && !stage->scalar;
  auto prepare = [&](Value row) {
    RowPosition at{row, positionOf(b.add(firstRow, row))};
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
    // If rows may end at different positions, reduce them one by one.
    Value groups = b.constant(0);
    if (!ReductionLoops(reduction).isLimited()) {
      groups =
          b.mul(b.div(rows, b.constant(kColumnRows)), b.constant(kColumnRows));
      b.loop(b.constant(0), groups, kColumnRows, [&](Value row) {
        SmallVector<RowPosition> group;
        for (int64_t i = 0; i < kColumnRows; ++i)
          group.push_back(prepare(b.add(row, b.constant(i))));
        reduce(group);
      });
    }
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
      for (auto [sum, result] : llvm::zip(reduceLanes(reduction, indices),
                                          reduction.op->getResults()))
        evaluator.storeTile(sum, result, row, column, false);
    });
  });
}
