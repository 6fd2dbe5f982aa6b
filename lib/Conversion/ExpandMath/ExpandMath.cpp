//===- ExpandMath.cpp - Polynomials for exp, tanh and log -----------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Batch/Conversion/ExpandMath.h"
#include "Batch/Conversion/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"
#include <limits>

namespace mlir::batch {
#define GEN_PASS_DEF_EXPANDMATHPASS
#include "Batch/Conversion/Passes.h.inc"
} // namespace mlir::batch

using namespace mlir;
using namespace mlir::batch;

namespace {

//===----------------------------------------------------------------------===//
// Arithmetic on f32 or a vector of f32
//===----------------------------------------------------------------------===//

/// True for f32 and for vectors of f32 with a static shape.
bool isExpandable(Type type) {
  if (auto vector = dyn_cast<VectorType>(type))
    return !vector.isScalable() && vector.getElementType().isF32();
  return type.isF32();
}

/// Builds elementwise code of one shape.
class Code {
public:
  Code(OpBuilder &builder, Location loc, Type type)
      : builder(builder), loc(loc), real(type),
        integer(withElement(builder.getI32Type())) {}

  Value f32(float value) { return splat(real, builder.getF32FloatAttr(value)); }
  Value i32(int32_t value) {
    return splat(integer, builder.getI32IntegerAttr(value));
  }

  Value fma(Value a, Value b, Value c) {
    return math::FmaOp::create(builder, loc, a, b, c);
  }
  Value add(Value a, Value b) {
    return arith::AddFOp::create(builder, loc, a, b);
  }
  Value sub(Value a, Value b) {
    return arith::SubFOp::create(builder, loc, a, b);
  }
  Value mul(Value a, Value b) {
    return arith::MulFOp::create(builder, loc, a, b);
  }
  Value div(Value a, Value b) {
    return arith::DivFOp::create(builder, loc, a, b);
  }
  Value abs(Value a) { return math::AbsFOp::create(builder, loc, a); }
  Value copySign(Value magnitude, Value sign) {
    return math::CopySignOp::create(builder, loc, magnitude, sign);
  }

  /// `a < b ? x : y`, with y where a or b is NaN.
  Value ifLess(Value a, Value b, Value x, Value y) {
    Value less =
        arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OLT, a, b);
    return arith::SelectOp::create(builder, loc, less, x, y);
  }
  /// The smaller one; `a` if it is NaN. `bound` is not.
  Value atMost(Value a, Value bound) { return ifLess(bound, a, bound, a); }
  /// The larger one; `a` if it is NaN. `bound` is not.
  Value atLeast(Value a, Value bound) { return ifLess(a, bound, bound, a); }

  /// The polynomial with these coefficients, that of the highest power first.
  Value horner(Value x, ArrayRef<float> coefficients) {
    Value sum = f32(coefficients.front());
    for (float coefficient : coefficients.drop_front())
      sum = fma(sum, x, f32(coefficient));
    return sum;
  }

  Value bits(Value a) {
    return arith::BitcastOp::create(builder, loc, integer, a);
  }
  Value addInt(Value a, Value b) {
    return arith::AddIOp::create(builder, loc, a, b);
  }
  Value subInt(Value a, Value b) {
    return arith::SubIOp::create(builder, loc, a, b);
  }
  /// floor(a / 2^n).
  Value shiftRight(Value a, int32_t n) {
    return arith::ShRSIOp::create(builder, loc, a, i32(n));
  }
  Value lowBits(Value a, int32_t mask) {
    return arith::AndIOp::create(builder, loc, a, i32(mask));
  }
  Value fromBits(Value a) {
    return arith::BitcastOp::create(builder, loc, real, a);
  }
  Value fromInt(Value a) {
    return arith::SIToFPOp::create(builder, loc, real, a);
  }
  /// 2^n for -126 <= n <= 127.
  Value powerOfTwo(Value n) {
    Value biased = addInt(n, i32(127));
    return fromBits(arith::ShLIOp::create(builder, loc, biased, i32(23)));
  }

private:
  Type withElement(Type element) const {
    if (auto vector = dyn_cast<VectorType>(real))
      return vector.clone(element);
    return element;
  }
  Value splat(Type type, TypedAttr scalar) {
    if (auto vector = dyn_cast<VectorType>(type))
      return arith::ConstantOp::create(
          builder, loc,
          DenseElementsAttr::get(vector, static_cast<Attribute>(scalar)));
    return arith::ConstantOp::create(builder, loc, scalar);
  }

  OpBuilder &builder;
  Location loc;
  Type real;
  Type integer;
};

//===----------------------------------------------------------------------===//
// The functions
//===----------------------------------------------------------------------===//

/// x = n ln 2 + r with |r| <= ln 2 / 2, in two steps (Cody and Waite): n times
/// the first part of ln 2 is exact inside the fma, and so is the difference.
struct Reduced {
  Value n;         // as an integer
  Value remainder; // r
};

Reduced reduce(Code &code, Value x) {
  // Adding 1.5 * 2^23 rounds to the nearest integer and leaves it in the low
  // bits; unlike a conversion, that is defined for NaN.
  Value shift = code.f32(12582912.0f);
  Value shifted = code.fma(x, code.f32(1.44269502f), shift);
  Value n = code.sub(shifted, shift);
  Value remainder = code.fma(n, code.f32(-0.693147182f), x);
  remainder = code.fma(n, code.f32(1.90465421e-9f), remainder);
  Value shiftedBits = code.bits(shifted);
  return {code.subInt(shiftedBits, code.i32(0x4B400000)), remainder};
}

/// exp(r) for |r| <= ln 2 / 2: interpolates at the Chebyshev nodes, relative
/// error of the polynomial 2.1e-8.
Value expOfRemainder(Code &code, Value remainder) {
  return code.horner(remainder, {0.00139411085f, 0.00837512594f, 0.0416663513f,
                                 0.166664153f, 0.5f, 1.0f, 1.0f});
}

Value buildExp(Code &code, Value x) {
  // Beyond these bounds the result is infinite or zero, and stays so.
  x = code.atMost(x, code.f32(89.0f));
  x = code.atLeast(x, code.f32(-104.0f));
  Reduced reduced = reduce(code, x);
  // 2^n in two factors: n goes from -150 to 128. The first product is exact,
  // the second rounds once, into the subnormal range too.
  Value first = code.shiftRight(reduced.n, 1);
  Value second = code.subInt(reduced.n, first);
  Value result = expOfRemainder(code, reduced.remainder);
  result = code.mul(result, code.powerOfTwo(first));
  return code.mul(result, code.powerOfTwo(second));
}

Value buildTanh(Code &code, Value x) {
  Value magnitude = code.abs(x);
  // |x| + |x|^3 P(x^2) near zero; relative error of the polynomial 1.7e-8 up
  // to 0.625.
  Value square = code.mul(magnitude, magnitude);
  Value cubic =
      code.horner(square, {-0.00609671418f, 0.0209971797f, -0.0538509078f,
                           0.133327693f, -0.333333284f});
  Value small = code.fma(code.mul(magnitude, square), cubic, magnitude);
  // 1 - 2 / (exp(2|x|) + 1) elsewhere: it never exceeds 1. At 10 it is 1, and
  // one factor is enough for the power of two.
  Value bounded = code.atMost(magnitude, code.f32(10.0f));
  Reduced reduced = reduce(code, code.add(bounded, bounded));
  Value exp = expOfRemainder(code, reduced.remainder);
  exp = code.mul(exp, code.powerOfTwo(reduced.n));
  Value one = code.f32(1.0f);
  Value large = code.add(exp, one);
  large = code.div(code.f32(2.0f), large);
  large = code.sub(one, large);
  Value result = code.ifLess(magnitude, code.f32(0.625f), small, large);
  return code.copySign(result, x);
}

/// x = 2^e m with sqrt(1/2) <= m < sqrt(2), and log x = e ln 2 + log m. With
/// s = (m - 1) / (m + 1), log m = 2 atanh(s) = 2 s + s^3 P(s^2).
Value buildLog(Code &code, Value x) {
  constexpr float smallestNormal = 1.17549435e-38f;
  constexpr float infinity = std::numeric_limits<float>::infinity();
  Value smallest = code.f32(smallestNormal), zero = code.f32(0.0f);
  // Subnormal numbers become normal ones.
  Value scaled = code.ifLess(x, smallest, code.mul(x, code.f32(8388608.0f)), x);
  Value scale = code.ifLess(x, smallest, code.f32(-23.0f), zero);
  constexpr int32_t rootHalf = 0x3F3504F3;
  Value above = code.subInt(code.bits(scaled), code.i32(rootHalf));
  Value exponent = code.add(code.fromInt(code.shiftRight(above, 23)), scale);
  Value m = code.fromBits(
      code.addInt(code.lowBits(above, 0x007FFFFF), code.i32(rootHalf)));
  // Both differences are exact: the first by the range of m.
  Value difference = code.sub(m, code.f32(1.0f));
  Value s = code.div(difference, code.add(difference, code.f32(2.0f)));
  Value square = code.mul(s, s);
  // The series of atanh; at |s| = 0.172 the next term is 3e-9 of the result.
  Value cubic =
      code.horner(square, {0.222222222f, 0.285714286f, 0.4f, 0.666666667f});
  Value twice = code.add(s, s);
  Value low = code.fma(exponent, code.f32(-1.90465421e-9f),
                       code.mul(code.mul(s, square), cubic));
  Value sum = code.fma(exponent, code.f32(0.693147182f), code.add(twice, low));
  // log 0 = -inf, NaN below; inf and NaN stay what they are.
  Value none = code.f32(std::numeric_limits<float>::quiet_NaN());
  Value atZero = code.ifLess(x, zero, none, code.f32(-infinity));
  sum = code.ifLess(zero, x, sum, atZero);
  return code.ifLess(x, code.f32(infinity), sum, x);
}

//===----------------------------------------------------------------------===//
// Patterns and pass
//===----------------------------------------------------------------------===//

template <typename MathOp, Value (*build)(Code &, Value)>
struct ExpandOp : OpRewritePattern<MathOp> {
  using OpRewritePattern<MathOp>::OpRewritePattern;

  LogicalResult matchAndRewrite(MathOp op,
                                PatternRewriter &rewriter) const override {
    if (!isExpandable(op.getType()))
      return rewriter.notifyMatchFailure(op, "not f32 or a vector of f32");
    Code code(rewriter, op.getLoc(), op.getType());
    rewriter.replaceOp(op, build(code, op.getOperand()));
    return success();
  }
};

struct ExpandMathPass : batch::impl::ExpandMathPassBase<ExpandMathPass> {
  using ExpandMathPassBase::ExpandMathPassBase;

  LogicalResult initialize(MLIRContext *context) override {
    RewritePatternSet set(context);
    populateExpandMathPatterns(set);
    patterns = FrozenRewritePatternSet(std::move(set));
    return success();
  }

  void runOnOperation() override {
    if (auto module = dyn_cast<ModuleOp>(getOperation()); module && share)
      shareFunctions(module);
    walkAndApplyPatterns(getOperation(), patterns);
  }

  /// Makes every op a call to a function with that op, one per kind and type.
  static void shareFunctions(ModuleOp module) {
    SymbolTable symbols(module);
    OpBuilder builder(module.getContext());
    DenseMap<std::pair<OperationName, Type>, func::FuncOp> functions;
    module.walk([&](Operation *op) {
      if (!isa<math::ExpOp, math::TanhOp, math::LogOp>(op))
        return;
      Type type = op->getResult(0).getType();
      auto caller = op->getParentOfType<func::FuncOp>();
      if (!isExpandable(type) || !caller)
        return;
      func::FuncOp &function = functions[{op->getName(), type}];
      if (!function) {
        builder.setInsertionPointToEnd(module.getBody());
        function = func::FuncOp::create(
            builder, op->getLoc(),
            ("batch." + op->getName().stripDialect()).str(),
            builder.getFunctionType(type, type));
        function.setPrivate();
        symbols.insert(function);
        builder.setInsertionPointToStart(function.addEntryBlock());
        Operation *copy = builder.clone(*op);
        copy->setOperand(0, function.getArgument(0));
        func::ReturnOp::create(builder, op->getLoc(), copy->getResults());
      }
      if (caller == function)
        return;
      builder.setInsertionPoint(op);
      auto call = func::CallOp::create(builder, op->getLoc(), function,
                                       op->getOperands());
      op->replaceAllUsesWith(call);
      op->erase();
    });
  }

  FrozenRewritePatternSet patterns;
};

} // namespace

void mlir::batch::populateExpandMathPatterns(RewritePatternSet &patterns) {
  patterns
      .add<ExpandOp<math::ExpOp, buildExp>, ExpandOp<math::TanhOp, buildTanh>,
           ExpandOp<math::LogOp, buildLog>>(patterns.getContext());
}
