//===- ExpandMath.cpp - Polynomials for exp, log, sin and others ----------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Batch/Conversion/ExpandMath.h"
#include "Batch/Conversion/ExpandMath/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"
#include <cmath>
#include <limits>

namespace mlir::batch {
#define GEN_PASS_DEF_EXPANDMATHPASS
#include "Batch/Conversion/ExpandMath/Passes.h.inc"
} // namespace mlir::batch

using namespace mlir;
using namespace mlir::batch;

namespace {

//===----------------------------------------------------------------------===//
// Numbers of f32 and f64
//===----------------------------------------------------------------------===//

/// The constants in the code of a type. Polynomials have the coefficient of the
/// highest power first. All numbers were computed with 400 bits, coefficients
/// by Remez's algorithm unless noted otherwise, and then rounded; the errors
/// are those of the polynomials with rounded coefficients in exact arithmetic.
struct Format {
  int32_t width;
  int32_t mantissaBits;
  int32_t bias;          ///< of the exponent
  int64_t rootHalf;      ///< the bits of the square root of 1/2
  double inverseLn2;     ///< 1 / ln 2
  double ln2[2];         ///< ln 2 rounded, and the rest
  double expRange[2];    ///< beyond it, exp is 0 or infinite
  double expm1Lowest;    ///< below it, expm1 is -1
  double tanhHighest;    ///< from here on, tanh is 1
  ArrayRef<double> exp;  ///< Q in exp r = 1 + r + r^2 Q(r), |r| <= ln 2 / 2
  ArrayRef<double> log;  ///< P in 2 atanh s = 2 s + s^3 P(s^2), |s| < 0.172
  double inverseHalfPi;  ///< 2 / pi
  double halfPi[2];      ///< pi / 2 rounded down: sin -0 needs a positive rest
  double sineHighest;    ///< |sin| and |cos| are 0 or 1 from here on
  ArrayRef<double> sine; ///< S in sin r = r S(r^2), |r| <= 0.83
  ArrayRef<double> cosine; ///< C in cos r = C(r^2), |r| <= 0.83

  /// Added to a number of less than half its size and subtracted again, it
  /// rounds to the nearest integer; in between, the low bits hold the integer.
  double shift() const { return std::ldexp(1.5, mantissaBits); }
  int64_t shiftBits() const {
    return (int64_t(bias + mantissaBits) << mantissaBits) |
           (int64_t(1) << (mantissaBits - 1));
  }
};

// exp: interpolates at the Chebyshev nodes; relative error 2.1e-8.
constexpr double exp32[] = {0.00139411085, 0.00837512594, 0.0416663513,
                            0.166664153, 0.5};
// log: the series of atanh; at |s| = 0.172 the next term is 3e-9 of the result.
constexpr double log32[] = {0.222222222, 0.285714286, 0.4, 0.666666667};
// Relative error 8.6e-9.
constexpr double sine32[] = {-0.000194797889, 0.00833189394, -0.166666508, 1.0};
// Error 1.7e-10.
constexpr double cosine32[] = {2.43963714e-05, -0.0013886994, 0.0416666381,
                               -0.5, 1.0};
constexpr Format format32 = {
    /*width=*/32,
    /*mantissaBits=*/23,
    /*bias=*/127,
    /*rootHalf=*/0x3F3504F3,
    /*inverseLn2=*/1.44269502,
    /*ln2=*/{0.693147182, -1.90465421e-9},
    /*expRange=*/{-104.0, 89.0},
    /*expm1Lowest=*/-20.0,
    /*tanhHighest=*/10.0,
    /*exp=*/exp32,
    /*log=*/log32,
    /*inverseHalfPi=*/0.636619747,
    /*halfPi=*/{1.57079625, 7.54979013e-08},
    /*sineHighest=*/0x1p20,
    /*sine=*/sine32,
    /*cosine=*/cosine32,
};

// exp: r^2 Q(r) / expm1 r is off by 2e-17 at most.
constexpr double exp64[] = {2.5114491666288498e-08, 2.7626341001992713e-07,
                            2.7557227897481746e-06, 2.4801504411205193e-05,
                            0.00019841269903089656, 0.0013888888932406082,
                            0.008333333333314567,   0.041666666666573544,
                            0.16666666666666685,    0.5000000000000006};
// log: s^3 P(s^2) / 2 s is off by 1.5e-18 at most.
constexpr double log64[] = {0.14778099149882934, 0.15315985788959519,
                            0.18183481154430944, 0.22222200366349426,
                            0.2857142872225799,  0.39999999999523644,
                            0.6666666666666713};
// Relative error 1.1e-17.
constexpr double sine64[] = {1.5877983500760818e-10,
                             -2.5050426219224107e-08,
                             2.7557311529490353e-06,
                             -0.00019841269823470115,
                             0.0083333333333144,
                             -0.166666666666666,
                             1.0};
// Error 2.3e-19.
constexpr double cosine64[] = {-1.1353561530812923e-11,
                               2.0875627683837337e-09,
                               -2.75573138719982e-07,
                               2.4801587288897704e-05,
                               -0.0013888888888875662,
                               0.04166666666666663,
                               -0.5,
                               1.0};
constexpr Format format64 = {
    /*width=*/64,
    /*mantissaBits=*/52,
    /*bias=*/1023,
    /*rootHalf=*/0x3FE6A09E667F3BCD,
    /*inverseLn2=*/1.4426950408889634,
    /*ln2=*/{0.6931471805599453, 2.3190468138462996e-17},
    /*expRange=*/{-746.0, 710.0},
    /*expm1Lowest=*/-40.0,
    /*tanhHighest=*/20.0,
    /*exp=*/exp64,
    /*log=*/log64,
    /*inverseHalfPi=*/0.6366197723675814,
    /*halfPi=*/{1.5707963267948966, 6.123233995736766e-17},
    /*sineHighest=*/0x1p49,
    /*sine=*/sine64,
    /*cosine=*/cosine64,
};

//===----------------------------------------------------------------------===//
// Arithmetic on numbers or vectors of them
//===----------------------------------------------------------------------===//

/// True for f32, f64 and their vectors with a static shape.
bool isExpandable(Type type) {
  if (auto vector = dyn_cast<VectorType>(type)) {
    if (vector.isScalable())
      return false;
    type = vector.getElementType();
  }
  return type.isF32() || type.isF64();
}

/// Builds elementwise code of one shape.
class Code {
public:
  Code(OpBuilder &builder, Location loc, Type type)
      : format(getElementTypeOrSelf(type).isF32() ? format32 : format64),
        builder(builder), loc(loc), realType(type),
        integerType(withElement(builder.getIntegerType(format.width))) {}

  const Format &format;

  Value real(double value) {
    return splat(realType,
                 builder.getFloatAttr(getElementTypeOrSelf(realType), value));
  }
  Value integer(int64_t value) {
    return splat(integerType, builder.getIntegerAttr(
                                  getElementTypeOrSelf(integerType), value));
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
  /// The smaller one; `a` if it is NaN. `bound` must not be.
  Value atMost(Value a, double bound) {
    Value limit = real(bound);
    return ifLess(limit, a, limit, a);
  }
  /// The larger one; `a` if it is NaN. `bound` must not be.
  Value atLeast(Value a, double bound) {
    Value limit = real(bound);
    return ifLess(a, limit, limit, a);
  }

  /// The polynomial with these coefficients, that of the highest power first.
  Value horner(Value x, ArrayRef<double> coefficients) {
    Value sum = real(coefficients.front());
    for (double coefficient : coefficients.drop_front())
      sum = fma(sum, x, real(coefficient));
    return sum;
  }

  Value bits(Value a) {
    return arith::BitcastOp::create(builder, loc, integerType, a);
  }
  Value fromBits(Value a) {
    return arith::BitcastOp::create(builder, loc, realType, a);
  }
  Value addInt(Value a, Value b) {
    return arith::AddIOp::create(builder, loc, a, b);
  }
  Value addInt(Value a, int64_t b) { return addInt(a, integer(b)); }
  Value subInt(Value a, Value b) {
    return arith::SubIOp::create(builder, loc, a, b);
  }
  Value shiftLeft(Value a, int64_t n) {
    return arith::ShLIOp::create(builder, loc, a, integer(n));
  }
  /// Shifts in zeros: not all CPUs have arithmetic shifts of 64-bit vectors.
  Value shiftRight(Value a, int64_t n) {
    return arith::ShRUIOp::create(builder, loc, a, integer(n));
  }
  Value lowBits(Value a, int64_t mask) {
    return arith::AndIOp::create(builder, loc, a, integer(mask));
  }
  /// x where the lowest bit of `a` is set, y elsewhere.
  Value ifOdd(Value a, Value x, Value y) {
    Value odd = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne,
                                      lowBits(a, 1), integer(0));
    return arith::SelectOp::create(builder, loc, odd, x, y);
  }
  /// -a where the second lowest bit of `n` is set, a elsewhere.
  Value negateIfSecondBit(Value a, Value n) {
    int64_t sign = llvm::minIntN(format.width);
    Value flip = lowBits(shiftLeft(n, format.width - 2), sign);
    return fromBits(arith::XOrIOp::create(builder, loc, bits(a), flip));
  }
  /// 2^(n - bias), for the exponents of normal numbers.
  Value powerOfTwo(Value n) {
    return fromBits(shiftLeft(n, format.mantissaBits));
  }

private:
  Type withElement(Type element) const {
    if (auto vector = dyn_cast<VectorType>(realType))
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
  Type realType;
  Type integerType;
};

//===----------------------------------------------------------------------===//
// The functions
//===----------------------------------------------------------------------===//

/// x = n c + r for an integer n and |r| <= c / 2, in two steps (Cody and
/// Waite): n times the leading term of c is exact inside the fma, and so is the
/// difference.
struct Reduced {
  Value shifted;   ///< the bits of n + Format::shift
  Value remainder; ///< r
};

Reduced reduce(Code &code, Value x, double inverse, const double (&terms)[2]) {
  // Unlike a conversion, this is defined for NaN.
  Value shift = code.real(code.format.shift());
  Value shifted = code.fma(x, code.real(inverse), shift);
  Value n = code.sub(shifted, shift);
  Value remainder = code.fma(n, code.real(-terms[0]), x);
  remainder = code.fma(n, code.real(-terms[1]), remainder);
  return {code.bits(shifted), remainder};
}

Value buildExp(Code &code, Value x) {
  const Format &format = code.format;
  // Beyond these bounds the result is infinite or zero, and remains so.
  x = code.atMost(x, format.expRange[1]);
  x = code.atLeast(x, format.expRange[0]);
  Reduced reduced = reduce(code, x, format.inverseLn2, format.ln2);
  Value r = reduced.remainder, one = code.real(1.0);
  Value result = code.fma(code.horner(r, format.exp), r, one);
  result = code.fma(result, r, one);
  // 2^n in two factors, each with half of n + 2 bias, which is positive. The
  // first product is exact, the second rounds once, into the subnormal range
  // too.
  Value sum =
      code.addInt(reduced.shifted, 2 * format.bias - format.shiftBits());
  Value first = code.shiftRight(sum, 1);
  Value second = code.subInt(sum, first);
  result = code.mul(result, code.powerOfTwo(first));
  return code.mul(result, code.powerOfTwo(second));
}

/// (exp x - 1) / 2 within the bounds of expm1: with t = 2^(n - 1) and
/// q = expm1 r it is q t + (t - 1/2), both exact factors.
Value halfExpm1(Code &code, Value x) {
  const Format &format = code.format;
  Reduced reduced = reduce(code, x, format.inverseLn2, format.ln2);
  Value r = reduced.remainder;
  Value q = code.fma(code.mul(r, r), code.horner(r, format.exp), r);
  Value t = code.powerOfTwo(
      code.addInt(reduced.shifted, format.bias - 1 - format.shiftBits()));
  return code.fma(q, t, code.sub(t, code.real(0.5)));
}

Value buildExpm1(Code &code, Value x) {
  Value bounded = code.atMost(x, code.format.expRange[1]);
  bounded = code.atLeast(bounded, code.format.expm1Lowest);
  Value half = halfExpm1(code, bounded);
  return code.copySign(code.add(half, half), x);
}

/// With h = expm1(2 |x|) / 2, tanh |x| = h / (h + 1): it never exceeds 1.
Value buildTanh(Code &code, Value x) {
  Value magnitude = code.atMost(code.abs(x), code.format.tanhHighest);
  Value half = halfExpm1(code, code.add(magnitude, magnitude));
  Value result = code.div(half, code.add(half, code.real(1.0)));
  return code.copySign(result, x);
}

/// log x + `correction`, which may be null and is small beside log x.
/// x = 2^e m with sqrt(1/2) <= m < sqrt(2), and log x = e ln 2 + log m. With
/// s = (m - 1) / (m + 1), log m = 2 atanh(s).
Value correctedLog(Code &code, Value x, Value correction) {
  const Format &format = code.format;
  constexpr double infinity = std::numeric_limits<double>::infinity();
  Value smallest = code.real(std::ldexp(1.0, 1 - format.bias));
  Value zero = code.real(0.0);
  // Subnormal numbers become normal ones.
  Value larger = code.mul(x, code.real(std::ldexp(1.0, format.mantissaBits)));
  Value scaled = code.ifLess(x, smallest, larger, x);
  Value scale = code.ifLess(x, smallest, code.real(-format.mantissaBits), zero);
  // The exponent of x / sqrt(1/2), biased; as a number by way of the shift.
  int64_t one = int64_t(format.bias) << format.mantissaBits;
  Value above = code.addInt(code.bits(scaled), one - format.rootHalf);
  Value exponent =
      code.fromBits(code.addInt(code.shiftRight(above, format.mantissaBits),
                                format.shiftBits() - format.bias));
  exponent = code.sub(exponent, code.real(format.shift()));
  exponent = code.add(exponent, scale);
  Value fraction = code.lowBits(above, (int64_t(1) << format.mantissaBits) - 1);
  Value m = code.fromBits(code.addInt(fraction, format.rootHalf));
  // Both differences are exact: the first by the range of m.
  Value difference = code.sub(m, code.real(1.0));
  Value s = code.div(difference, code.add(difference, code.real(2.0)));
  Value square = code.mul(s, s);
  Value cubic = code.horner(square, format.log);
  Value twice = code.add(s, s);
  Value low = code.fma(exponent, code.real(format.ln2[1]),
                       code.mul(code.mul(s, square), cubic));
  if (correction)
    low = code.add(low, correction);
  Value sum =
      code.fma(exponent, code.real(format.ln2[0]), code.add(twice, low));
  // log 0 = -inf, NaN below; inf and NaN do not change.
  Value none = code.real(std::numeric_limits<double>::quiet_NaN());
  Value atZero = code.ifLess(x, zero, none, code.real(-infinity));
  sum = code.ifLess(zero, x, sum, atZero);
  return code.ifLess(x, code.real(infinity), sum, x);
}

Value buildLog(Code &code, Value x) { return correctedLog(code, x, Value()); }

/// With u = 1 + x rounded and its error c (Knuth's two-sum),
/// log(1 + x) = log u + c / u.
Value buildLog1p(Code &code, Value x) {
  Value one = code.real(1.0);
  Value u = code.add(one, x);
  Value rounded = code.sub(u, one);
  Value error =
      code.add(code.sub(x, rounded), code.sub(one, code.sub(u, rounded)));
  Value result = correctedLog(code, u, code.div(error, u));
  return code.copySign(result, x);
}

/// sin(x + quarters pi / 2): x = n pi / 2 + r, and the sine or cosine of r.
Value buildSine(Code &code, Value x, int64_t quarters) {
  const Format &format = code.format;
  Reduced reduced = reduce(code, x, format.inverseHalfPi, format.halfPi);
  // Far out, where the distance of neighbors is a large fraction of a period, r
  // would exceed its range. x - x is 0, or NaN if x is infinite or NaN.
  Value r = code.ifLess(code.abs(x), code.real(format.sineHighest),
                        reduced.remainder, code.sub(x, x));
  Value square = code.mul(r, r);
  Value sine = code.mul(r, code.horner(square, format.sine));
  Value cosine = code.horner(square, format.cosine);
  Value n = reduced.shifted;
  if (quarters)
    n = code.addInt(n, quarters);
  return code.negateIfSecondBit(code.ifOdd(n, cosine, sine), n);
}
Value buildSin(Code &code, Value x) { return buildSine(code, x, 0); }
Value buildCos(Code &code, Value x) { return buildSine(code, x, 1); }

//===----------------------------------------------------------------------===//
// Patterns and pass
//===----------------------------------------------------------------------===//

template <typename MathOp, Value (*build)(Code &, Value)>
struct ExpandOp : OpRewritePattern<MathOp> {
  using OpRewritePattern<MathOp>::OpRewritePattern;

  LogicalResult matchAndRewrite(MathOp op,
                                PatternRewriter &rewriter) const override {
    if (!isExpandable(op.getType()))
      return rewriter.notifyMatchFailure(op,
                                         "not f32, f64 or a vector of them");
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

  /// Replaces every op by a call of a function with that op, one per kind and
  /// type.
  static void shareFunctions(ModuleOp module) {
    SymbolTable symbols(module);
    OpBuilder builder(module.getContext());
    DenseMap<std::pair<OperationName, Type>, func::FuncOp> functions;
    module.walk([&](Operation *op) {
      if (!isa<math::CosOp, math::ExpM1Op, math::ExpOp, math::Log1pOp,
               math::LogOp, math::SinOp, math::TanhOp>(op))
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
      .add<ExpandOp<math::CosOp, buildCos>, ExpandOp<math::ExpM1Op, buildExpm1>,
           ExpandOp<math::ExpOp, buildExp>, ExpandOp<math::Log1pOp, buildLog1p>,
           ExpandOp<math::LogOp, buildLog>, ExpandOp<math::SinOp, buildSin>,
           ExpandOp<math::TanhOp, buildTanh>>(patterns.getContext());
}
