//===- Code.h - Arithmetic on numbers or vectors of them --------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_CONVERSION_EXPANDMATH_CODE_H
#define BATCH_CONVERSION_EXPANDMATH_CODE_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/TypeUtilities.h"
#include <cmath>
#include <limits>

namespace mlir::batch::expansion {

/// Constants of the code for a type. The coefficient of a polynomial's highest
/// power comes first. All numbers were computed with 400 bits and then rounded.
/// Coefficients were computed by the Remez algorithm unless noted otherwise.
/// Stated errors refer to polynomials with rounded coefficients in exact
/// arithmetic.
struct Format {
  int32_t width;
  int32_t mantissaBits;
  int32_t bias;          ///< bias of the exponent
  int64_t rootHalf;      ///< bits of the square root of 1/2
  double inverseLn2;     ///< 1 / ln 2
  double ln2[2];         ///< ln 2 rounded, and the rest
  double expRange[2];    ///< outside this range, exp is 0 or infinite
  double expm1Lowest;    ///< below this bound, expm1 is -1
  double tanhHighest;    ///< from this bound on, tanh is 1
  ArrayRef<double> exp;  ///< Q in exp r = 1 + r + r^2 Q(r), |r| <= ln 2 / 2
  ArrayRef<double> log;  ///< P in 2 atanh s = 2 s + s^3 P(s^2), |s| < 0.172
  double inverseHalfPi;  ///< 2 / pi
  double halfPi[3];      ///< pi / 2, each term rounded down, as sin -0 requires
  double sineHighest;    ///< from here on, halfPi has too few bits for sin
  ArrayRef<double> sine; ///< S in sin r = r + r^3 S(r^2), |r| <= 0.83
  ArrayRef<double> cosine; ///< C in cos r = C(r^2), |r| <= 0.83

  /// Returns the bits of the number 1.
  int64_t oneBits() const { return int64_t(bias) << mantissaBits; }

  /// Returns a shift that rounds to the nearest integer: adding and then
  /// subtracting it rounds a number of at most a third of its size. The low
  /// bits of the sum contain the integer.
  double shift() const { return std::ldexp(1.5, mantissaBits); }
  int64_t shiftBits() const {
    return (int64_t(bias + mantissaBits) << mantissaBits) |
           (int64_t(1) << (mantissaBits - 1));
  }
};

/// Returns the constants of f32 or f64.
const Format &getFormat(Type element);

/// Number represented as the sum of a leading number and a rest below the last
/// bit of the leading number.
struct Pair {
  Value high;
  Value low;
};

/// Builds elementwise code of one shape.
class Code {
public:
  Code(OpBuilder &builder, Location loc, Type type)
      : format(getFormat(getElementTypeOrSelf(type))), builder(builder),
        loc(loc), realType(type),
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
  Value neg(Value a) { return arith::NegFOp::create(builder, loc, a); }
  Value sqrt(Value a) { return math::SqrtOp::create(builder, loc, a); }
  Value trunc(Value a) { return math::TruncOp::create(builder, loc, a); }
  Value abs(Value a) { return math::AbsFOp::create(builder, loc, a); }
  Value copySign(Value magnitude, Value sign) {
    return math::CopySignOp::create(builder, loc, magnitude, sign);
  }

  Value compare(arith::CmpFPredicate predicate, Value a, Value b) {
    return arith::CmpFOp::create(builder, loc, predicate, a, b);
  }
  /// Returns false where a or b is NaN.
  Value less(Value a, Value b) {
    return compare(arith::CmpFPredicate::OLT, a, b);
  }
  Value equal(Value a, Value b) {
    return compare(arith::CmpFPredicate::OEQ, a, b);
  }
  Value both(Value a, Value b) {
    return arith::AndIOp::create(builder, loc, a, b);
  }
  Value either(Value a, Value b) {
    return arith::OrIOp::create(builder, loc, a, b);
  }
  Value select(Value condition, Value x, Value y) {
    return arith::SelectOp::create(builder, loc, condition, x, y);
  }
  /// Returns `a < b ? x : y`, and y where a or b is NaN.
  Value ifLess(Value a, Value b, Value x, Value y) {
    return select(less(a, b), x, y);
  }
  /// Returns the minimum of `a` and `bound`, which must not be NaN. Returns `a`
  /// if `a` is NaN.
  Value atMost(Value a, double bound) {
    Value limit = real(bound);
    return ifLess(limit, a, limit, a);
  }
  /// Returns the maximum of `a` and `bound`, which must not be NaN. Returns `a`
  /// if `a` is NaN.
  Value atLeast(Value a, double bound) {
    Value limit = real(bound);
    return ifLess(a, limit, limit, a);
  }

  /// Evaluates the polynomial with these coefficients, the coefficient of the
  /// highest power first.
  Value horner(Value x, ArrayRef<double> coefficients) {
    Value sum = real(coefficients.front());
    for (double coefficient : coefficients.drop_front())
      sum = fma(sum, x, real(coefficient));
    return sum;
  }

  /// Evaluates the polynomial like horner(), but rounds differently. Splits it
  /// into two polynomials of x^2, which a CPU computes in parallel.
  Value hornerByHalves(Value x, ArrayRef<double> coefficients) {
    SmallVector<double> halves[2];
    for (size_t i = 0, size = coefficients.size(); i < size; ++i)
      halves[(size - 1 - i) % 2].push_back(coefficients[i]);
    Value square = mul(x, x);
    return fma(horner(square, halves[1]), x, horner(square, halves[0]));
  }

  /// Returns a * b as the sum of two numbers: the rounded result and its error.
  /// sum() does the same for a + b and requires |a| >= |b| or a = 0.
  Pair product(Value a, Value b) {
    Value high = mul(a, b);
    return {high, fma(a, b, neg(high))};
  }
  Pair sum(Value a, Value b) {
    Value high = add(a, b);
    return {high, add(sub(a, high), b)};
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
  /// Shifts in zeros, because not all CPUs have arithmetic shifts of 64-bit
  /// vectors.
  Value shiftRight(Value a, int64_t n) {
    return arith::ShRUIOp::create(builder, loc, a, integer(n));
  }
  Value lowBits(Value a, int64_t mask) {
    return arith::AndIOp::create(builder, loc, a, integer(mask));
  }
  Value isNegative(Value a) {
    return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, a,
                                 integer(0));
  }
  Value isNonZero(Value a) {
    return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, a,
                                 integer(0));
  }
  Value isOdd(Value a) { return isNonZero(lowBits(a, 1)); }
  /// Returns x where the lowest bit of `a` is set, and y elsewhere.
  Value ifOdd(Value a, Value x, Value y) { return select(isOdd(a), x, y); }
  /// Converts an integer to a floating-point number.
  Value toReal(Value a) {
    return arith::SIToFPOp::create(builder, loc, realType, a);
  }
  /// Returns -a where the second lowest bit of `n` is set, and a elsewhere.
  Value negateIfSecondBit(Value a, Value n) {
    return flipSign(a, shiftLeft(n, format.width - 2));
  }
  /// Returns -a where the highest bit of `signs` is set, and a elsewhere.
  Value flipSign(Value a, Value signs) {
    Value flip = lowBits(signs, llvm::minIntN(format.width));
    return fromBits(arith::XOrIOp::create(builder, loc, bits(a), flip));
  }
  /// Returns 2^(n - bias). n must be the biased exponent of a normal number.
  Value powerOfTwo(Value n) {
    return fromBits(shiftLeft(n, format.mantissaBits));
  }

  OpBuilder &getBuilder() { return builder; }
  Location getLoc() const { return loc; }
  Type getIntegerType() const { return integerType; }

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

/// The reduction x = n * c + r for an integer n and |r| <= c / 2, in two steps
/// (Cody and Waite). Inside the fma, n times the leading term of c is exact,
/// and so is the difference.
struct Reduced {
  Value shifted;   ///< bits of n + Format::shift
  Value remainder; ///< r
};
Reduced reduce(Code &code, Value x, double inverse, const double (&terms)[2]);

/// The decomposition x = 2^e * m with lowest <= m < 2 * lowest.
struct Split {
  Value exponent; ///< e, as a floating-point number
  Value m;
};
/// Splits a positive finite x, subnormal or not. `lowest` contains the bits of
/// a number from 1/2 to 1.
Split split(Code &code, Value x, int64_t lowest);

} // namespace mlir::batch::expansion

#endif // BATCH_CONVERSION_EXPANDMATH_CODE_H
