//===- ExpandFloats.cpp - Code for f16 and bf16 in f32 --------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Batch/Conversion/ExpandFloats/Passes.h"
#include "Batch/Dialect/Batch/ElementTypes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"

namespace mlir::batch {
#define GEN_PASS_DEF_EXPANDFLOATSPASS
#include "Batch/Conversion/ExpandFloats/Passes.h.inc"
} // namespace mlir::batch

using namespace mlir;
using namespace mlir::batch;
using arith::CmpFPredicate;
using arith::CmpIPredicate;

/// Number of bits in the significand of f32 and of f64, including the leading
/// bit.
static constexpr unsigned kSingleBits = 24, kDoubleBits = 53;

namespace {

/// Builds the code that replaces one op.
class FloatCode {
public:
  explicit FloatCode(Operation *op) : builder(op), loc(op->getLoc()) {}

  /// Replaces `op` with the same op on f32, and rounds its results.
  void compute(Operation *op);
  /// Converts an integer to f32 or f64. The result is exact except possibly for
  /// its last bit.
  Value fromInteger(Value integer, bool isSigned);
  /// Converts an f64 to an f32 that rounds to the same f16 or bf16. An inexact
  /// f32 has an odd significand, so it is not halfway between two numbers with
  /// fewer bits.
  Value toOdd(Value wide);
  Value extend(Value value, Type element) {
    return arith::ExtFOp::create(builder, loc, as(value, element), value);
  }

private:
  /// Returns the type of `value` with elements of type `element`.
  static Type as(Value value, Type element) {
    if (auto shaped = dyn_cast<ShapedType>(value.getType()))
      return shaped.clone(element);
    return element;
  }
  Value integer(Type type, int64_t value) {
    Type element = getElementTypeOrSelf(type);
    TypedAttr attr = builder.getIntegerAttr(element, value);
    if (auto shaped = dyn_cast<ShapedType>(type))
      attr = DenseElementsAttr::get(shaped, Attribute(attr));
    return arith::ConstantOp::create(builder, loc, attr);
  }

  OpBuilder builder;
  Location loc;
};

} // namespace

void FloatCode::compute(Operation *op) {
  IRMapping mapping;
  for (Value operand : op->getOperands())
    if (is16BitFloat(operand.getType()) && !mapping.contains(operand))
      mapping.map(operand, extend(operand, builder.getF32Type()));
  Operation *wide = builder.clone(*op, mapping);
  for (auto [result, computed] :
       llvm::zip(op->getResults(), wide->getResults())) {
    Value value = computed;
    if (is16BitFloat(result.getType())) {
      computed.setType(widen16BitFloat(result.getType()));
      value = arith::TruncFOp::create(builder, loc, result.getType(), computed);
    }
    result.replaceAllUsesWith(value);
  }
  op->erase();
}

Value FloatCode::fromInteger(Value value, bool isSigned) {
  Type type = value.getType();
  unsigned width = getElementTypeOrSelf(type).getIntOrFloatBitWidth();
  if (width > kDoubleBits) {
    // The low bits of large integers become one bit, which is 0 only if all of
    // them are 0.
    constexpr int64_t low = (1 << (64 - kDoubleBits)) - 1;
    constexpr int64_t exact = int64_t(1) << kDoubleBits;
    auto add = [&](Value a, int64_t b) -> Value {
      return arith::AddIOp::create(builder, loc, a, integer(type, b));
    };
    auto mask = [&](Value a, int64_t b) -> Value {
      return arith::AndIOp::create(builder, loc, a, integer(type, b));
    };
    Value any = add(mask(value, low), low);
    Value large = mask(arith::OrIOp::create(builder, loc, value, any), ~low);
    Value distance = isSigned ? add(value, exact) : value;
    Value isExact =
        arith::CmpIOp::create(builder, loc, CmpIPredicate::ult, distance,
                              integer(type, isSigned ? 2 * exact : exact));
    value = arith::SelectOp::create(builder, loc, isExact, value, large);
  }
  Type real = width < kSingleBits ? builder.getF32Type() : builder.getF64Type();
  if (isSigned)
    return arith::SIToFPOp::create(builder, loc, as(value, real), value);
  return arith::UIToFPOp::create(builder, loc, as(value, real), value);
}

Value FloatCode::toOdd(Value wide) {
  Type i32 = as(wide, builder.getI32Type());
  Type single = as(wide, builder.getF32Type());
  Value nearest = arith::TruncFOp::create(builder, loc, single, wide);
  Value back = extend(nearest, builder.getF64Type());
  // If rounding moved a number away from zero, move it one step back.
  Value isLarger =
      arith::CmpFOp::create(builder, loc, CmpFPredicate::OGT,
                            math::AbsFOp::create(builder, loc, back),
                            math::AbsFOp::create(builder, loc, wide));
  Value isInexact =
      arith::CmpFOp::create(builder, loc, CmpFPredicate::ONE, back, wide);
  Value bits = arith::BitcastOp::create(builder, loc, i32, nearest);
  bits = arith::SubIOp::create(
      builder, loc, bits, arith::ExtUIOp::create(builder, loc, i32, isLarger));
  bits = arith::OrIOp::create(
      builder, loc, bits, arith::ExtUIOp::create(builder, loc, i32, isInexact));
  return arith::BitcastOp::create(builder, loc, single, bits);
}

/// Replaces the operand of a conversion to or from f16 or bf16 with an f32.
static void expandConversion(Operation *op) {
  FloatCode code(op);
  OpBuilder builder(op);
  if (isa<arith::SIToFPOp, arith::UIToFPOp>(op)) {
    Value real = code.fromInteger(op->getOperand(0), isa<arith::SIToFPOp>(op));
    auto rounded = arith::TruncFOp::create(builder, op->getLoc(),
                                           op->getResult(0).getType(), real);
    op->replaceAllUsesWith(rounded);
    op->erase();
    op = rounded;
  }
  Value operand = op->getOperand(0);
  if (isa<arith::TruncFOp>(op) &&
      getElementTypeOrSelf(operand.getType()).isF64())
    op->setOperand(0, FloatCode(op).toOdd(operand));
  if (isa<arith::ExtFOp>(op) &&
      getElementTypeOrSelf(op->getResult(0).getType()).isF64())
    op->setOperand(0, FloatCode(op).extend(operand, builder.getF32Type()));
}

static void expand(Operation *op) {
  if (isa<arith::ExtFOp, arith::TruncFOp, arith::SIToFPOp, arith::UIToFPOp>(op))
    return expandConversion(op);
  // These ops only move bits.
  if (isa<arith::BitcastOp, arith::ConstantOp, arith::SelectOp>(op))
    return;
  FloatCode(op).compute(op);
}

namespace {
struct ExpandFloatsPass : batch::impl::ExpandFloatsPassBase<ExpandFloatsPass> {
  using ExpandFloatsPassBase::ExpandFloatsPassBase;

  LogicalResult initialize(MLIRContext *context) override {
    RewritePatternSet set(context);
    arith::populateExpandBFloat16Patterns(set);
    conversions = FrozenRewritePatternSet(std::move(set));
    return success();
  }

  void runOnOperation() override {
    SmallVector<Operation *> ops;
    getOperation()->walk([&](Operation *op) {
      bool computes = isa_and_nonnull<arith::ArithDialect, math::MathDialect>(
                          op->getDialect()) ||
                      isa<vector::FMAOp>(op);
      if (computes && (llvm::any_of(op->getOperandTypes(), is16BitFloat) ||
                       llvm::any_of(op->getResultTypes(), is16BitFloat)))
        ops.push_back(op);
    });
    for (Operation *op : ops)
      expand(op);
    if (!ops.empty())
      walkAndApplyPatterns(getOperation(), conversions);
  }

  FrozenRewritePatternSet conversions;
};
} // namespace
