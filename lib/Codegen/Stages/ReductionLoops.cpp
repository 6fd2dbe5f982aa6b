//===- ReductionLoops.cpp - The loops of a reduction ----------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ReductionLoops.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::uprog;

/// Returns true if `condition` implies that the index of loop `dim` is less
/// than `limit`.
static bool impliesBelow(Value condition, unsigned dim, Value limit) {
  SmallVector<Value> conditions = {condition};
  while (!conditions.empty()) {
    Operation *op = conditions.pop_back_val().getDefiningOp();
    if (isa_and_nonnull<arith::AndIOp>(op))
      llvm::append_range(conditions, op->getOperands());
    auto compare = dyn_cast_or_null<arith::CmpIOp>(op);
    if (!compare || compare.getPredicate() != arith::CmpIPredicate::ult ||
        compare.getRhs() != limit)
      continue;
    auto loop = compare.getLhs().getDefiningOp<linalg::IndexOp>();
    if (loop && loop.getDim() == dim)
      return true;
  }
  return false;
}

/// Returns true if `op` leaves its results unchanged where the index of loop
/// `dim` is not less than `limit`.
static bool endsAt(linalg::LinalgOp op, unsigned dim, Value limit) {
  Block *body = op.getBlock();
  return llvm::all_of(
      body->getTerminator()->getOpOperands(), [&](OpOperand &operand) {
        auto select = operand.get().getDefiningOp<arith::SelectOp>();
        return select &&
               select.getFalseValue() ==
                   op.getRegionOutputArgs()[operand.getOperandNumber()] &&
               impliesBelow(select.getCondition(), dim, limit);
      });
}

/// Returns the limit at which loop `dim` of `op` may end, or null if the loop
/// has no limit. The body compares an index with the limit, which is equal for
/// all reduced elements.
static Value findLimit(linalg::LinalgOp op, unsigned dim) {
  Block *body = op.getBlock();
  for (auto compare : body->getOps<arith::CmpIOp>()) {
    Value limit = compare.getRhs();
    auto argument = dyn_cast<BlockArgument>(limit);
    if (!limit.getType().isIndex() || limit.getParentBlock() == body) {
      if (!argument || argument.getArgNumber() >= op.getNumDpsInputs())
        continue;
      AffineMap map =
          op.getMatchingIndexingMap(op.getMatchingOpOperand(argument));
      SmallVector<unsigned> reduced;
      op.getReductionDims(reduced);
      if (llvm::any_of(reduced, [&](unsigned loop) {
            return map.isFunctionOfDim(loop);
          }))
        continue;
    }
    if (limit.getType().isIndex() && endsAt(op, dim, limit))
      return limit;
  }
  return {};
}

ReductionLoops::ReductionLoops(const Reduction &reduction) {
  linalg::LinalgOp op = reduction.op;
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  for (auto [i, kind] : llvm::enumerate(op.getIteratorTypesArray()))
    if (kind == utils::IteratorType::reduction) {
      dims.push_back(i);
      extents.push_back(ranges[i]);
      limits.push_back(findLimit(op, i));
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
    ArrayRef<Value> limits, size_t depth) const {
  if (depth + 1 == dims.size())
    return inner(carried);
  Value end =
      getEnd(b, extents[depth], limits.empty() ? Value() : limits[depth]);
  return b.loop(b.constant(0), end, 1, carried,
                [&](Value i, ValueRange values) {
                  at[dims[depth]] = {i};
                  return nest(b, CodeBuilder::Values(values), at, inner, limits,
                              depth + 1);
                });
}

Value ReductionLoops::getEnd(CodeBuilder &b, int64_t end, Value limit) {
  return limit ? b.min(b.constant(end), limit) : b.constant(end);
}

Value ReductionLoops::flatten(CodeBuilder &b, ArrayRef<Index> at) const {
  Value position = at[dims.front()].base;
  for (size_t i = 1; i < dims.size(); ++i)
    position = b.add(b.mul(position, b.constant(extents[i])), at[dims[i]].base);
  return position;
}

bool uprog::readsVectors(const Reduction &reduction, int64_t begin, int64_t end,
                         int64_t lanes) {
  auto isWhole = [&](int64_t value) { return value % lanes == 0; };
  PackedAttr packed = reduction.packed;
  return packed.getVectors() && isWhole(begin) && isWhole(end) &&
         isWhole(packed.getPanels().getK()) && isWhole(packed.getKOffset());
}

SmallVector<Value> Evaluator::evalLimits(const ReductionLoops &loops,
                                         linalg::LinalgOp op,
                                         ArrayRef<Indices> elements) {
  SmallVector<Value> limits;
  for (Value number : loops.limits) {
    Value &last = limits.emplace_back();
    if (!number)
      continue;
    for (const Indices &at : elements) {
      auto argument = dyn_cast<BlockArgument>(number);
      OpOperand *operand = argument && argument.getOwner() == op.getBlock()
                               ? op.getMatchingOpOperand(argument)
                               : nullptr;
      Value limit =
          operand ? eval(operand->get(),
                         operandIndices(op.getMatchingIndexingMap(operand), at))
                  : evalScalar(number);
      if (!limit)
        break;
      limit = arith::IndexCastOp::create(b, b.getI64Type(), limit);
      last = last ? arith::MaxSIOp::create(b, last, limit).getResult() : limit;
    }
  }
  return limits;
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
  SmallVector<Value> limits = evalLimits(loops, op, dims);
  // The surrounding loops set only the indices of the first element. The body
  // copies them to the other elements.
  Indices &outer = dims.front();
  auto inner = [&](CodeBuilder::Values values) {
    for (auto [begin, end] : loops.pieces)
      values = b.loop(
          b.constant(begin), ReductionLoops::getEnd(b, end, limits.back()), 1,
          values, [&, begin = begin, end = end](Value k, ValueRange sums) {
            CodeBuilder::Values next;
            for (auto [e, at] : llvm::enumerate(dims)) {
              for (unsigned dim : loops.dims)
                at[dim] = outer[dim];
              at[loops.dims.back()] = {k, false, -1, begin, end};
              SmallVector<Value> arguments = evalInputs(op, at);
              for (size_t r = 0; r < results; ++r)
                arguments[inputs + r] = sums[e * results + r];
              SmallVector<Value> sum = evalBody(body, arguments, at, true);
              if (sum.size() != results)
                return CodeBuilder::Values(sums);
              for (Value value : sum)
                next.push_back(vector ? broadcast(value) : value);
            }
            return next;
          });
    return values;
  };
  return loops.nest(b, carried, outer, inner, limits);
}
