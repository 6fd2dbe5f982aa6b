//===- ReductionLoops.cpp - The loops of a reduction ----------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ReductionLoops.h"

using namespace mlir;
using namespace mlir::uprog;

ReductionLoops::ReductionLoops(const Reduction &reduction) {
  linalg::LinalgOp op = reduction.op;
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  for (auto [i, kind] : llvm::enumerate(op.getIteratorTypesArray()))
    if (kind == utils::IteratorType::reduction) {
      dims.push_back(i);
      extents.push_back(ranges[i]);
    }
  int64_t begin = 0, extent = extents.back();
  for (int64_t position : reduction.breaks) {
    pieces.push_back({begin, position});
    begin = position;
  }
  pieces.push_back({begin, extent});
}

CodeBuilder::Values ReductionLoops::nest(
    CodeBuilder &b, CodeBuilder::Values carried, MutableArrayRef<Index> at,
    llvm::function_ref<CodeBuilder::Values(CodeBuilder::Values)> inner,
    size_t depth) const {
  if (depth + 1 == dims.size())
    return inner(carried);
  return b.loop(b.constant(0), b.constant(extents[depth]), 1, carried,
                [&](Value i, ValueRange values) {
                  at[dims[depth]] = {i};
                  return nest(b, CodeBuilder::Values(values), at, inner,
                              depth + 1);
                });
}

bool uprog::readsVectors(const Reduction &reduction, int64_t begin, int64_t end,
                         int64_t lanes) {
  auto isWhole = [&](int64_t value) { return value % lanes == 0; };
  PackedAttr packed = reduction.packed;
  return packed.getVectors() && isWhole(begin) && isWhole(end) &&
         isWhole(packed.getPanels().getK()) && isWhole(packed.getKOffset());
}

CodeBuilder::Values Evaluator::reduce(const Reduction &reduction,
                                      ArrayRef<Indices> elements, bool vector,
                                      llvm::function_ref<void(size_t)> enter) {
  linalg::LinalgOp op = reduction.op;
  Block &body = op->getRegion(0).front();
  ReductionLoops loops(reduction);
  size_t results = op->getNumResults(), inputs = op.getNumDpsInputs();
  SmallVector<Indices> dims;
  CodeBuilder::Values carried;
  for (auto [e, out] : llvm::enumerate(elements)) {
    dims.push_back(loopIndices(op, out));
    if (enter)
      enter(e);
    for (Value start : op.getDpsInits()) {
      Value value = eval(start, out);
      if (!value)
        return {};
      carried.push_back(vector ? broadcast(value) : value);
    }
  }
  // The surrounding loops change only the first element's indices.
  Indices &outer = dims.front();
  auto inner = [&](CodeBuilder::Values values) {
    for (auto [begin, end] : loops.pieces)
      values = b.loop(b.constant(begin), b.constant(end), 1, values,
                      [&, begin = begin, end = end](Value k, ValueRange sums) {
                        CodeBuilder::Values next;
                        for (auto [e, at] : llvm::enumerate(dims)) {
                          for (unsigned dim : loops.dims)
                            at[dim] = outer[dim];
                          at[loops.dims.back()] = {k, false, -1, begin, end};
                          SmallVector<Value> arguments = evalInputs(op, at);
                          for (size_t r = 0; r < results; ++r)
                            arguments[inputs + r] = sums[e * results + r];
                          SmallVector<Value> sum =
                              evalBody(body, arguments, at, true);
                          if (sum.size() != results)
                            return CodeBuilder::Values(sums);
                          for (Value value : sum)
                            next.push_back(vector ? broadcast(value) : value);
                        }
                        return next;
                      });
    return values;
  };
  return loops.nest(b, carried, outer, inner);
}
