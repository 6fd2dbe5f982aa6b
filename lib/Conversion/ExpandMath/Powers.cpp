//===- Powers.cpp - Powers and the cube root ------------------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Functions.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::batch;
using namespace mlir::batch::expansion;

//===----------------------------------------------------------------------===//
// Powers of numbers
//===----------------------------------------------------------------------===//

/// Computes |x|^y = exp(y log |x|). The logarithm has as many additional bits
/// as the result has exponent bits.
static Value buildMagnitude(Code &code, Value x, Pair y) {
  Pair log = buildLongLog(code, code.abs(x));
  Pair product = code.product(y.high, log.high);
  Value low = code.fma(y.high, log.low, product.low);
  if (y.low)
    low = code.fma(y.low, log.high, low);
  return buildExp(code, {product.high, low});
}

Value expansion::buildPowf(Code &code, Value x, Value y) {
  Value magnitude = buildMagnitude(code, x, {y, Value()});
  Value zero = code.real(0.0), one = code.real(1.0);
  Value infinity = code.real(std::numeric_limits<double>::infinity());
  // If |x| is 1 and y is infinite, y log |x| is NaN, but the power is 1.
  Value isOne = code.both(code.equal(code.abs(x), one),
                          code.equal(code.abs(y), infinity));
  magnitude = code.select(isOne, one, magnitude);
  // An infinite y counts as even.
  Value isInteger = code.equal(code.trunc(y), y);
  Value half = code.mul(y, code.real(0.5));
  Value isHalfOdd =
      code.compare(arith::CmpFPredicate::UNE, code.trunc(half), half);
  Value signs = code.select(code.both(isInteger, isHalfOdd), code.bits(x),
                            code.integer(0));
  Value result = code.flipSign(magnitude, signs);
  Value isFiniteNegative =
      code.both(code.less(x, zero), code.less(code.neg(infinity), x));
  Value none = code.real(std::numeric_limits<double>::quiet_NaN());
  result = code.select(isFiniteNegative, code.select(isInteger, result, none),
                       result);
  // Compute squares as for a constant exponent, so that the results are
  // bit-identical.
  result = code.select(code.equal(y, code.real(2.0)), code.mul(x, x), result);
  // If x is 1 or y is 0, the result is 1, even if the other operand is NaN.
  Value isAlwaysOne = code.either(code.equal(x, one), code.equal(y, zero));
  return code.select(isAlwaysOne, one, result);
}

/// Converts an exponent to an integer with as many bits as the format has. An
/// exponent that does not fit becomes the nearest integer of the same parity.
/// Powers with such exponents are 0, infinite, or of magnitude 1.
static Value fitExponent(Code &code, Value exponent) {
  OpBuilder &b = code.getBuilder();
  Location loc = code.getLoc();
  Type narrow = code.getIntegerType();
  auto withWidth = [&](int64_t width) {
    Type element = b.getIntegerType(width);
    if (auto vector = dyn_cast<VectorType>(narrow))
      return Type(vector.clone(element));
    return element;
  };
  if (isa<IndexType>(getElementTypeOrSelf(exponent.getType())))
    exponent = arith::IndexCastOp::create(b, loc, withWidth(64), exponent);
  int64_t width =
      getElementTypeOrSelf(exponent.getType()).getIntOrFloatBitWidth();
  if (width < code.format.width)
    return arith::ExtSIOp::create(b, loc, narrow, exponent);
  if (width == code.format.width)
    return exponent;
  auto constant = [&](int64_t value) -> Value {
    APInt bits(width, value, /*isSigned=*/true);
    auto element = b.getIntegerAttr(b.getIntegerType(width), bits);
    if (auto vector = dyn_cast<VectorType>(exponent.getType()))
      return arith::ConstantOp::create(
          b, loc, DenseElementsAttr::get(vector, Attribute(element)));
    return arith::ConstantOp::create(b, loc, element);
  };
  Value bounded = arith::MinSIOp::create(
      b, loc, exponent, constant(llvm::maxIntN(code.format.width) - 1));
  bounded = arith::MaxSIOp::create(b, loc, bounded,
                                   constant(llvm::minIntN(code.format.width)));
  Value low = arith::AndIOp::create(b, loc, exponent, constant(1));
  bounded = arith::OrIOp::create(b, loc, bounded, low);
  return arith::TruncIOp::create(b, loc, narrow, bounded);
}

Value expansion::buildFpowi(Code &code, Value x, Value exponent) {
  Value n = fitExponent(code, exponent);
  // Each half of the bits is exact as a floating-point number, but the whole
  // integer may not be.
  Value low = code.lowBits(n, (int64_t(1) << code.format.width / 2) - 1);
  Pair y = code.sum(code.toReal(code.subInt(n, low)), code.toReal(low));
  Value magnitude = buildMagnitude(code, x, y);
  Value signs = code.select(code.isOdd(n), code.bits(x), code.integer(0));
  Value result = code.flipSign(magnitude, signs);
  // As in powf, exponents of 2 and 0 need no logarithm.
  Value isTwo = code.equal(y.high, code.real(2.0));
  result = code.select(isTwo, code.mul(x, x), result);
  Value isZero = code.equal(y.high, code.real(0.0));
  return code.select(isZero, code.real(1.0), result);
}

//===----------------------------------------------------------------------===//
// Powers of integers
//===----------------------------------------------------------------------===//

namespace {
/// Builds code on integers of one shape.
struct Integers {
  OpBuilder &b;
  Location loc;
  Type type;

  Value constant(int64_t value) {
    Attribute element = b.getIntegerAttr(getElementTypeOrSelf(type), value);
    if (auto vector = dyn_cast<VectorType>(type))
      return arith::ConstantOp::create(b, loc,
                                       DenseElementsAttr::get(vector, element));
    return arith::ConstantOp::create(b, loc, cast<TypedAttr>(element));
  }
  Value compare(arith::CmpIPredicate predicate, Value a, int64_t value) {
    return arith::CmpIOp::create(b, loc, predicate, a, constant(value));
  }
  Value select(Value condition, Value x, Value y) {
    return arith::SelectOp::create(b, loc, condition, x, y);
  }
  Value isOdd(Value a) {
    Value low = arith::AndIOp::create(b, loc, a, constant(1));
    return compare(arith::CmpIPredicate::ne, low, 0);
  }
};
} // namespace

/// Computes base^exponent by repeated squaring. The exponent is unsigned.
static Value powerBySquares(Integers &code, Value base, Value exponent) {
  OpBuilder &b = code.b;
  Location loc = code.loc;
  Type element = getElementTypeOrSelf(code.type);
  int64_t width = element.isIndex() ? 64 : element.getIntOrFloatBitWidth();
  Value zero = arith::ConstantIndexOp::create(b, loc, 0);
  Value step = arith::ConstantIndexOp::create(b, loc, 1);
  Value end = arith::ConstantIndexOp::create(b, loc, width);
  auto loop = scf::ForOp::create(
      b, loc, zero, end, step, ValueRange{code.constant(1), base, exponent},
      [](OpBuilder &b, Location loc, Value, ValueRange state) {
        Integers code = {b, loc, state[0].getType()};
        Value product = arith::MulIOp::create(b, loc, state[0], state[1]);
        Value result = code.select(code.isOdd(state[2]), product, state[0]);
        Value square = arith::MulIOp::create(b, loc, state[1], state[1]);
        Value rest = arith::ShRUIOp::create(b, loc, state[2], code.constant(1));
        scf::YieldOp::create(b, loc, ValueRange{result, square, rest});
      });
  return loop.getResult(0);
}

/// Negative powers of 1 and -1 are 1 or -1. Negative powers of other numbers
/// are 0. Negative powers of 0 are undefined, and are 0 here.
Value expansion::buildIpowi(OpBuilder &builder, Location loc, Value base,
                            Value exponent) {
  using Predicate = arith::CmpIPredicate;
  Integers code = {builder, loc, base.getType()};
  // For i1, a shift by one bit is undefined, and the constant 1 is equal to -1.
  Type element = getElementTypeOrSelf(base.getType());
  if (element.isInteger(1)) {
    Value isZero = code.compare(Predicate::eq, exponent, 0);
    return arith::OrIOp::create(builder, loc, base, isZero);
  }
  Value power = powerBySquares(code, base, exponent);
  Value one = code.constant(1);
  Value sign = code.select(code.isOdd(exponent), base, one);
  Value small = code.select(code.compare(Predicate::eq, base, -1), sign,
                            code.constant(0));
  small = code.select(code.compare(Predicate::eq, base, 1), one, small);
  Value isNegative = code.compare(Predicate::slt, exponent, 0);
  return code.select(isNegative, small, power);
}

//===----------------------------------------------------------------------===//
// The cube root
//===----------------------------------------------------------------------===//

// 1 over the cube root of m, 1 <= m < 2. Relative error: 2.6e-4.
static constexpr double inverseCbrt[] = {-0.0499370806, 0.317757756,
                                         -0.809960961, 1.54188716};

namespace {
/// The decomposition |x| = 2^(3 * k) * m * 2^j with j = -1, 0 or 1, and
/// 1 <= m < 2.
struct CubicSplit {
  Value power; ///< 2^k
  Value m;
  Value j;
};
} // namespace

static CubicSplit splitCubic(Code &code, Value magnitude) {
  const Format &format = code.format;
  auto [e, m] = split(code, magnitude, format.oneBits());
  Value shift = code.real(format.shift());
  Value shifted = code.fma(e, code.real(1.0 / 3.0), shift);
  Value j = code.fma(code.sub(shifted, shift), code.real(-3.0), e);
  Value power = code.powerOfTwo(
      code.addInt(code.bits(shifted), format.bias - format.shiftBits()));
  return {power, m, j};
}

/// Takes a step of Halley's method for r = 1 / cbrt m, and a step of Newton's
/// method for y = m r^2. The remainder m - y^3 accounts for the rounding error
/// of y^2.
Value expansion::buildCbrt(Code &code, Value x) {
  Value magnitude = code.abs(x), one = code.real(1.0);
  auto [power, m, j] = splitCubic(code, magnitude);
  auto choose = [&, j = j](double below, double above) {
    Value half = code.real(0.5);
    Value other = code.ifLess(half, j, code.real(above), one);
    return code.ifLess(j, code.real(-0.5), code.real(below), other);
  };
  Value r = code.mul(code.horner(m, inverseCbrt),
                     choose(1.2599210498948732, 0.7937005259840998));
  m = code.mul(m, choose(0.5, 2.0));
  Value h = code.fma(code.neg(code.mul(code.mul(r, r), m)), r, one);
  Value slope = code.fma(h, code.real(2.0 / 9.0), code.real(1.0 / 3.0));
  r = code.fma(code.mul(r, h), slope, r);
  Value square = code.mul(r, r);
  Value y = code.mul(m, square);
  Pair ySquare = code.product(y, y);
  Value remainder = code.fma(code.neg(ySquare.high), y, m);
  remainder = code.fma(code.neg(ySquare.low), y, remainder);
  y = code.fma(remainder, code.mul(square, code.real(1.0 / 3.0)), y);
  Value result = code.copySign(code.mul(y, power), x);
  // Zeros, infinities and NaN are returned unchanged.
  Value infinity = code.real(std::numeric_limits<double>::infinity());
  Value isOther = code.both(code.less(code.real(0.0), magnitude),
                            code.less(magnitude, infinity));
  return code.select(isOther, result, x);
}
