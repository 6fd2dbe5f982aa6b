//===- WidenReductions.cpp - Sums of f16 and bf16 in f32 ------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Batch/Dialect/Batch/ElementTypes.h"
#include "Batch/Transforms/Kernels/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"

namespace mlir::batch {
#define GEN_PASS_DEF_WIDENREDUCTIONSPASS
#include "Batch/Transforms/Kernels/Passes.h.inc"
} // namespace mlir::batch

using namespace mlir;
using namespace mlir::batch;

/// Extends `value` to f32 if it is an f16, a bf16 or a tensor of these types.
/// Returns any other value unchanged.
static Value extended(OpBuilder &builder, Location loc, Value value) {
  Type type = widen16BitFloat(value.getType());
  if (type == value.getType())
    return value;
  return builder.createOrFold<arith::ExtFOp>(loc, type, value);
}

namespace {

/// Copies the body of a reduction, with f16 and bf16 replaced by f32.
class BodyWidener {
public:
  BodyWidener(OpBuilder &builder, Block &body, ValueRange arguments)
      : builder(builder), body(body) {
    mapping.map(body.getArguments(), arguments);
  }

  void run();

private:
  Value widened(Value value);
  Value rounded(Value value);
  void copy(Operation &op);

  OpBuilder &builder;
  Block &body;
  IRMapping mapping; ///< maps a value to its copy, which is widened at its
                     ///< first use
};

} // namespace

/// Returns the copy of `value`, as an f32 if `value` is f16 or bf16.
Value BodyWidener::widened(Value value) {
  Value wide =
      extended(builder, value.getLoc(), mapping.lookupOrDefault(value));
  mapping.map(value, wide);
  return wide;
}

/// Returns the copy of `value` in its own type.
Value BodyWidener::rounded(Value value) {
  Value copy = widened(value);
  if (copy.getType() == value.getType())
    return copy;
  return arith::TruncFOp::create(builder, value.getLoc(), value.getType(),
                                 copy);
}

/// Returns true if `op` can compute the same function in a wider floating-point
/// type.
static bool hasWiderForm(Operation &op) {
  return isa<arith::ArithDialect, math::MathDialect>(op.getDialect()) &&
         !isa<arith::BitcastOp, arith::TruncFOp>(op);
}

void BodyWidener::copy(Operation &op) {
  auto extend = dyn_cast<arith::ExtFOp>(op);
  if (extend && widened(extend.getIn()).getType() == extend.getType())
    return mapping.map(extend.getOut(), widened(extend.getIn()));
  if (!hasWiderForm(op)) {
    // Bitcasts, explicit roundings and ops of other dialects keep their types.
    IRMapping operands;
    for (Value operand : op.getOperands())
      operands.map(operand, rounded(operand));
    Operation *copied = builder.clone(op, operands);
    return mapping.map(op.getResults(), copied->getResults());
  }
  for (Value operand : op.getOperands())
    widened(operand);
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    Operation *copied = builder.clone(op);
    return mapping.map(constant.getResult(), copied->getResult(0));
  }
  Operation *copied = builder.clone(op, mapping);
  for (OpResult result : copied->getResults())
    result.setType(widen16BitFloat(result.getType()));
}

void BodyWidener::run() {
  for (Operation &op : body.without_terminator())
    copy(op);
  SmallVector<Value> yielded =
      llvm::map_to_vector(body.getTerminator()->getOperands(),
                          [&](Value value) { return widened(value); });
  linalg::YieldOp::create(builder, body.getTerminator()->getLoc(), yielded);
}

/// Returns true if `op` is a reduction to f16 or bf16 whose body can be copied.
static bool isNarrowReduction(linalg::LinalgOp op) {
  return op.getNumReductionLoops() != 0 &&
         llvm::any_of(op->getResultTypes(), is16BitFloat) &&
         llvm::all_of(*op.getBlock(), [](Operation &inner) {
           return inner.getNumRegions() == 0;
         });
}

/// Returns the initial value of a reduction in f32. Filled tensors remain
/// filled tensors, whose elements need no memory.
static Value widenInit(OpBuilder &builder, Location loc, Value init) {
  auto fill = init.getDefiningOp<linalg::FillOp>();
  auto empty =
      fill ? fill.getOutputs()[0].getDefiningOp<tensor::EmptyOp>() : nullptr;
  if (!empty || !is16BitFloat(init.getType()))
    return extended(builder, loc, init);
  Value scalar = extended(builder, loc, fill.getInputs()[0]);
  Value memory = tensor::EmptyOp::create(
      builder, loc, widen16BitFloat(init.getType()), empty.getDynamicSizes());
  return linalg::FillOp::create(builder, loc, scalar, memory).getResult(0);
}

static void widenReduction(linalg::LinalgOp op) {
  OpBuilder builder(op);
  Location loc = op.getLoc();
  SmallVector<Value> inits =
      llvm::map_to_vector(op.getDpsInits(), [&](Value init) {
        return widenInit(builder, loc, init);
      });
  auto sums = linalg::GenericOp::create(
      builder, loc, TypeRange(inits), op.getDpsInputs(), inits,
      op.getIndexingMapsArray(), op.getIteratorTypesArray(),
      [&](OpBuilder &nested, Location, ValueRange arguments) {
        BodyWidener(nested, *op.getBlock(), arguments).run();
      });
  sums->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  for (auto [result, sum] : llvm::zip(op->getResults(), sums.getResults())) {
    Value value = sum;
    if (value.getType() != result.getType())
      value = arith::TruncFOp::create(builder, loc, result.getType(), value);
    result.replaceAllUsesWith(value);
  }
  op->erase();
}

namespace {
struct WidenReductionsPass
    : batch::impl::WidenReductionsPassBase<WidenReductionsPass> {
  using WidenReductionsPassBase::WidenReductionsPassBase;

  void runOnOperation() override {
    SmallVector<linalg::LinalgOp> reductions;
    getOperation()->walk([&](linalg::LinalgOp op) {
      if (isNarrowReduction(op))
        reductions.push_back(op);
    });
    for (linalg::LinalgOp op : reductions)
      widenReduction(op);
  }
};
} // namespace
