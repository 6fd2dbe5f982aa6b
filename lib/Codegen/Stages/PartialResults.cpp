//===- PartialResults.cpp - Results of some of the elements ---------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PartialResults.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace mlir::uprog;

CodeBuilder::Values PartialResults::ofNone(CodeBuilder &b, Evaluator &evaluator,
                                           ArrayRef<Index> position) const {
  if (combiner) {
    TypedAttr none;
    if (isa<math::FmaOp>(combiner))
      none = b.getFloatAttr(combiner->getResult(0).getType(), -0.0);
    else
      none = *arith::getNeutralElement(combiner);
    return {arith::ConstantOp::create(b, none)};
  }
  CodeBuilder::Values starts;
  for (Value start : op.getDpsInits())
    starts.push_back(evaluator.eval(start, position));
  if (llvm::is_contained(starts, Value()))
    return {};
  return starts;
}

static Value combineOne(CodeBuilder &b, Operation *combiner, Value x, Value y) {
  if (isa<math::FmaOp>(combiner))
    return arith::AddFOp::create(b, x, y);
  OperationState state(b.getLoc(), combiner->getName(), ValueRange{x, y},
                       TypeRange(x.getType()), combiner->getAttrs());
  return b.create(state)->getResult(0);
}

CodeBuilder::Values PartialResults::combine(CodeBuilder &b, ValueRange x,
                                            ValueRange y) const {
  if (combiner)
    return {combineOne(b, combiner, x[0], y[0])};
  // Among equal elements, the first one wins. A selected element never equals a
  // start value, because only a strictly better element replaces a start value.
  Value newBest = y[selection->best], best = x[selection->best];
  Value isEqual, isBetter;
  if (auto floats = dyn_cast<arith::CmpFOp>(selection->compare)) {
    isBetter = arith::CmpFOp::create(b, floats.getPredicate(), newBest, best);
    isEqual =
        arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, newBest, best);
  } else {
    auto integers = cast<arith::CmpIOp>(selection->compare);
    isBetter = arith::CmpIOp::create(b, integers.getPredicate(), newBest, best);
    isEqual = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, newBest, best);
  }
  Value isEarlier =
      arith::CmpIOp::create(b, arith::CmpIPredicate::slt,
                            y[selection->position], x[selection->position]);
  Value takes = arith::OrIOp::create(
      b, isBetter, arith::AndIOp::create(b, isEqual, isEarlier));
  CodeBuilder::Values all;
  for (auto [one, other] : llvm::zip_equal(x, y))
    all.push_back(arith::SelectOp::create(b, takes, other, one));
  return all;
}

CodeBuilder::Values PartialResults::addStart(CodeBuilder &b,
                                             Evaluator &evaluator,
                                             ArrayRef<Index> position,
                                             ValueRange all) const {
  if (!combiner)
    return CodeBuilder::Values(all);
  Value start = evaluator.eval(op.getDpsInits()[0], position);
  if (!start)
    return {};
  return combine(b, start, all);
}
