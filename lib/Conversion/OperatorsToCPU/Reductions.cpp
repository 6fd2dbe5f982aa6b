//===- Reductions.cpp - Reductions that are not panels ----------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StageEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::uprog;

/// Vectors of columns that are reduced at once.
static constexpr int64_t kColumnVectors = 4;
/// Partial results of a reduction along the lanes.
static constexpr int64_t kLaneVectors = 4;

namespace {
/// The loops of a reduction: the outer ones in order, the last one in pieces.
struct ReductionLoops {
  SmallVector<unsigned> dims;
  SmallVector<int64_t> extents;
  SmallVector<std::pair<int64_t, int64_t>> pieces; ///< of the last one
};
} // namespace

static ReductionLoops getLoops(const Node &node) {
  auto op = cast<linalg::LinalgOp>(node.op);
  ReductionLoops loops;
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  for (auto [i, kind] : llvm::enumerate(op.getIteratorTypesArray()))
    if (kind == utils::IteratorType::reduction) {
      loops.dims.push_back(i);
      loops.extents.push_back(ranges[i]);
    }
  int64_t begin = 0, extent = loops.extents.back();
  for (int64_t position : node.breaks)
    if (position > begin && position < extent) {
      loops.pieces.push_back({begin, position});
      begin = position;
    }
  loops.pieces.push_back({begin, extent});
  return loops;
}

/// Nests the outer reduction loops around `inner`.
static CodeBuilder::Values
nest(CodeBuilder &b, const ReductionLoops &loops, size_t depth,
     CodeBuilder::Values carried, MutableArrayRef<Index> dims,
     llvm::function_ref<CodeBuilder::Values(CodeBuilder::Values)> inner) {
  if (depth + 1 == loops.dims.size())
    return inner(carried);
  return b.loop(b.constant(0), b.constant(loops.extents[depth]), 1, carried,
                [&](Value i, ValueRange values) {
                  dims[loops.dims[depth]] = {i};
                  return nest(b, loops, depth + 1, CodeBuilder::Values(values),
                              dims, inner);
                });
}

void StageEmitter::reduceColumns(Node &node, Value row,
                                 ArrayRef<Index> position, Value column,
                                 int64_t vectors, bool vector) {
  auto op = cast<linalg::LinalgOp>(node.op);
  Block &body = op->getRegion(0).front();
  ReductionLoops loops = getLoops(node);
  int64_t lanes = evaluator.getLanes();
  size_t results = op->getNumResults(), inputs = op.getNumDpsInputs();
  SmallVector<Indices> outs(vectors), dims(vectors);
  CodeBuilder::Values carried;
  for (int64_t u = 0; u < vectors; ++u) {
    outs[u].assign(position.begin(), position.end());
    if (node.space.rank() > 0)
      outs[u].push_back({b.add(column, b.constant(u * lanes)), vector,
                         vector ? 0 : -1});
    dims[u] = evaluator.loopIndices(op, outs[u]);
    for (Value start : op.getDpsInits()) {
      Value value = evaluator.eval(start, outs[u]);
      if (!value)
        return;
      carried.push_back(vector ? evaluator.broadcast(value) : value);
    }
  }
  // Only the first set of indices is changed by the loops around.
  auto inner = [&](CodeBuilder::Values values) {
    for (auto [begin, end] : loops.pieces)
      values = b.loop(
          b.constant(begin), b.constant(end), 1, values,
          [&, begin = begin, end = end](Value k, ValueRange sums) {
            CodeBuilder::Values next;
            for (int64_t u = 0; u < vectors; ++u) {
              for (unsigned dim : loops.dims)
                dims[u][dim] = dims[0][dim];
              dims[u][loops.dims.back()] = {k, false, -1, begin, end};
              SmallVector<Value> arguments =
                  evaluator.evalInputs(op, dims[u]);
              for (size_t r = 0; r < results; ++r)
                arguments[inputs + r] = sums[u * results + r];
              SmallVector<Value> sum =
                  evaluator.evalBody(body, arguments, dims[u], true);
              if (sum.size() != results)
                return CodeBuilder::Values(sums);
              for (Value value : sum)
                next.push_back(vector ? evaluator.broadcast(value) : value);
            }
            return next;
          });
    return values;
  };
  carried = nest(b, loops, 0, carried, dims[0], inner);
  for (int64_t u = 0; u < vectors; ++u)
    for (size_t r = 0; r < results; ++r)
      evaluator.storeTile(carried[u * results + r], op->getResult(r), row,
                          b.add(column, b.constant(u * lanes)), vector);
}

static Value combine(CodeBuilder &b, Operation *combiner, Value x, Value y) {
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
    Value low =
        vector::ExtractStridedSliceOp::create(b, sum, {0}, {half}, {1});
    Value high =
        vector::ExtractStridedSliceOp::create(b, sum, {half}, {half}, {1});
    sum = combine(b, combiner, low, high);
  }
  return vector::ExtractOp::create(b, sum, ArrayRef<int64_t>{0});
}

Value StageEmitter::reduceLanes(Node &node, ArrayRef<Index> position) {
  auto op = cast<linalg::LinalgOp>(node.op);
  Block &body = op->getRegion(0).front();
  Operation *combiner = getCombiner(op);
  ReductionLoops loops = getLoops(node);
  int64_t lanes = evaluator.getLanes();
  size_t inputs = op.getNumDpsInputs();
  Indices dims = evaluator.loopIndices(op, position);
  unsigned last = loops.dims.back();
  int64_t unroll = loops.extents.back() >= kLaneVectors * lanes ? kLaneVectors : 1;
  Value neutral =
      arith::ConstantOp::create(b, *arith::getNeutralElement(combiner));
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
        sums = b.loop(b.constant(begin), b.constant(whole), step, sums,
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
  carried = nest(b, loops, 0, carried, dims, inner);
  Value start = evaluator.eval(op.getDpsInits()[0], position);
  if (!start)
    return {};
  return combine(b, combiner, start, finishLanes(combiner, carried));
}

void StageEmitter::emitReduction(Node &node, Value row,
                                 ArrayRef<Index> position, Value firstColumn,
                                 Value lastColumn) {
  int64_t lanes = evaluator.getLanes();
  Value result = node.op->getResult(0);
  bool inner = node.space.rank() > 0;
  bool vector = inner && node.kind == NodeKind::Columns && !stage->scalar;
  if (vector) {
    int64_t wide = kColumnVectors * lanes;
    Value count = b.div(b.sub(lastColumn, firstColumn), b.constant(wide));
    Value done = b.add(firstColumn, b.mul(count, b.constant(wide)));
    if (node.space.columns() >= wide)
      b.loop(firstColumn, done, wide, [&](Value column) {
        reduceColumns(node, row, position, column, kColumnVectors, true);
      });
    else
      done = firstColumn;
    b.loop(done, lastColumn, lanes, [&](Value column) {
      reduceColumns(node, row, position, column, 1, true);
    });
    return;
  }
  Value end = inner ? b.min(lastColumn, b.constant(node.space.columns()))
                    : b.add(firstColumn, b.constant(1));
  b.loop(firstColumn, end, 1, [&](Value column) {
    Indices indices(position);
    if (inner)
      indices.push_back({column});
    if (node.kind != NodeKind::Lanes) {
      reduceColumns(node, row, position, column, 1, false);
      return;
    }
    if (Value sum = reduceLanes(node, indices))
      evaluator.storeTile(sum, result, row, column, false);
  });
}
