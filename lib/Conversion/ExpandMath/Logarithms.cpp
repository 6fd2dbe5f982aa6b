//===- Logarithms.cpp - log and inverse hyperbolic functions --------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Functions.h"

using namespace mlir;
using namespace mlir::batch;
using namespace mlir::batch::expansion;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// Constants of logarithms with more bits. Each constant of type double[2]
/// consists of a number and the rest below its last bit.
struct LongFormat {
  double third[2];
  double fifth[2];
  double inverseLn2[2];
  double inverseLn10[2];
  /// R in atanh s = s (1 + z / 3 + z^2 / 5 + z^3 R(z)), z = s^2, |s| < 0.172.
  ArrayRef<double> series;
};

// The error of z^3 R(z) is at most 5.1e-13.
constexpr double series32[] = {0.095606178, 0.111028083, 0.142857537};
constexpr LongFormat long32 = {
    /*third=*/{0.333333343, -9.93410776e-09},
    /*fifth=*/{0.200000003, -2.98023228e-09},
    /*inverseLn2=*/{1.44269502, 1.92596303e-08},
    /*inverseLn10=*/{0.434294492, -1.010305e-08},
    /*series=*/series32,
};

// The error of z^3 R(z) is at most 1.5e-22.
constexpr double series64[] = {0.05381464361675477, 0.052284040421194895,
                               0.05883380163338671, 0.06666649357245587,
                               0.07692307858498812, 0.09090909090057216,
                               0.1111111111111309,  0.14285714285714285};
constexpr LongFormat long64 = {
    /*third=*/{0.3333333333333333, 1.850371707708594e-17},
    /*fifth=*/{0.2, -1.1102230246251566e-17},
    /*inverseLn2=*/{1.4426950408889634, 2.0355273740931033e-17},
    /*inverseLn10=*/{0.4342944819032518, 1.098319650216765e-17},
    /*series=*/series64,
};

const LongFormat &getLongFormat(const Code &code) {
  return code.format.width == 32 ? long32 : long64;
}

} // namespace

/// Splits a positive finite x into 2^e m with sqrt(1/2) <= m < sqrt(2).
static Split splitAtRoot(Code &code, Value x) {
  return split(code, x, code.format.rootHalf);
}

/// Returns `log` where x is positive and finite, -inf for 0, and NaN below 0.
/// Returns infinity and NaN unchanged.
static Value withSpecialValues(Code &code, Value x, Value log) {
  Value zero = code.real(0.0);
  Value none = code.real(std::numeric_limits<double>::quiet_NaN());
  Value atZero = code.ifLess(x, zero, none, code.real(-infinity));
  log = code.ifLess(zero, x, log, atZero);
  return code.ifLess(x, code.real(infinity), log, x);
}

/// Returns log x + `correction`. The correction may be null, and is small
/// compared to log x. log x = e ln 2 + log m, and with s = (m - 1) / (m + 1),
/// log m = 2 atanh(s).
static Value correctedLog(Code &code, Value x, Value correction) {
  const Format &format = code.format;
  auto [exponent, m] = splitAtRoot(code, x);
  // The difference is exact because of the range of m.
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
  return withSpecialValues(code, x, sum);
}

Value expansion::buildLog(Code &code, Value x) {
  return correctedLog(code, x, Value());
}

/// Returns u and c with log(1 + x) = log u + c, where c is small compared to
/// log u: u is 1 + x rounded, and c is the rounding error (Knuth's two-sum)
/// divided by u.
static Pair splitLog1p(Code &code, Value x) {
  Value one = code.real(1.0);
  Value u = code.add(one, x);
  Value rounded = code.sub(u, one);
  Value error =
      code.add(code.sub(x, rounded), code.sub(one, code.sub(u, rounded)));
  return {u, code.div(error, u)};
}

Value expansion::buildLog1p(Code &code, Value x) {
  Pair log1p = splitLog1p(code, x);
  return code.copySign(correctedLog(code, log1p.high, log1p.low), x);
}

//===----------------------------------------------------------------------===//
// Logarithms with more bits
//===----------------------------------------------------------------------===//

static Pair pairOf(Code &code, const double (&terms)[2]) {
  return {code.real(terms[0]), code.real(terms[1])};
}

/// Returns a * b, with an error in the last bits of the low number. add() does
/// the same for a + b and requires |a| >= |b| or a = 0.
static Pair multiply(Code &code, Pair a, Pair b) {
  Pair product = code.product(a.high, b.high);
  Value low = code.fma(a.high, b.low, product.low);
  return {product.high, code.fma(a.low, b.high, low)};
}
static Pair add(Code &code, Pair a, Pair b) {
  Pair sum = code.sum(a.high, b.high);
  return {sum.high, code.add(sum.low, code.add(a.low, b.low))};
}

/// Returns log m = 2 atanh s, where the quotient s, its square and the first
/// terms of the series are pairs.
static Pair longLogOfFraction(Code &code, Value m) {
  const LongFormat &format = getLongFormat(code);
  Value zero = code.real(0.0), two = code.real(2.0);
  Value difference = code.sub(m, code.real(1.0));
  Pair divisor = code.sum(two, difference);
  Value quotient = code.div(difference, divisor.high);
  Value rest = code.fma(code.neg(quotient), divisor.high, difference);
  rest = code.fma(code.neg(quotient), divisor.low, rest);
  Pair s = {quotient, code.div(rest, divisor.high)};
  Pair z = multiply(code, s, s);
  Pair tail = {code.mul(z.high, code.horner(z.high, format.series)), zero};
  Pair sum = add(code, pairOf(code, format.fifth), tail);
  sum = add(code, pairOf(code, format.third), multiply(code, z, sum));
  sum = multiply(code, z, sum);
  Pair twice = {code.mul(s.high, two), code.mul(s.low, two)};
  return add(code, twice, multiply(code, twice, sum));
}

Pair expansion::buildLongLog(Code &code, Value x) {
  auto [exponent, m] = splitAtRoot(code, x);
  Pair whole = {exponent, code.real(0.0)};
  Pair sum = add(code, multiply(code, whole, pairOf(code, code.format.ln2)),
                 longLogOfFraction(code, m));
  // The high number is the rounded sum.
  sum = code.sum(sum.high, sum.low);
  return {withSpecialValues(code, x, sum.high), sum.low};
}

/// The result is exact for powers of two.
Value expansion::buildLog2(Code &code, Value x) {
  auto [exponent, m] = splitAtRoot(code, x);
  Pair log = multiply(code, longLogOfFraction(code, m),
                      pairOf(code, getLongFormat(code).inverseLn2));
  Pair sum = add(code, {exponent, code.real(0.0)}, log);
  return withSpecialValues(code, x, code.add(sum.high, sum.low));
}

/// The result is exact for powers of ten.
Value expansion::buildLog10(Code &code, Value x) {
  Pair log = buildLongLog(code, x);
  Pair result =
      multiply(code, log, pairOf(code, getLongFormat(code).inverseLn10));
  return withSpecialValues(code, x, code.add(result.high, result.low));
}

//===----------------------------------------------------------------------===//
// Inverse hyperbolic functions
//===----------------------------------------------------------------------===//

/// Returns log(1 + w), or log 2x where x is at least `large`.
static Value logOfSum(Code &code, Value x, Value w, Value large) {
  Pair log1p = splitLog1p(code, w);
  Value isLess = code.less(x, large);
  return correctedLog(
      code, code.select(isLess, log1p.high, x),
      code.select(isLess, log1p.low, code.real(code.format.ln2[0])));
}

/// Returns a threshold. If x is at least this threshold, x^2 + 1 rounds to x^2,
/// and w in the functions below is nearly 2 x.
static Value largeNumber(Code &code) {
  return code.real(std::ldexp(1.0, code.format.mantissaBits / 2 + 2));
}

/// With w = |x| + x^2 / (1 + sqrt(x^2 + 1)), asinh |x| = log(1 + w).
Value expansion::buildAsinh(Code &code, Value x) {
  Value magnitude = code.abs(x), one = code.real(1.0);
  Value root = code.sqrt(code.fma(x, x, one));
  Value quotient = code.div(code.mul(x, x), code.add(root, one));
  Value w = code.add(magnitude, quotient);
  Value result = logOfSum(code, magnitude, w, largeNumber(code));
  return code.copySign(result, x);
}

/// With t = x - 1 and w = t + sqrt(t^2 + 2 t), acosh x = log(1 + w).
Value expansion::buildAcosh(Code &code, Value x) {
  Value one = code.real(1.0);
  Value t = code.sub(x, one);
  Value w = code.add(t, code.sqrt(code.fma(t, t, code.add(t, t))));
  Value result = logOfSum(code, x, w, largeNumber(code));
  Value none = code.real(std::numeric_limits<double>::quiet_NaN());
  return code.ifLess(x, one, none, result);
}

/// With w = 2 |x| / (1 - |x|), atanh |x| = log(1 + w) / 2.
Value expansion::buildAtanh(Code &code, Value x) {
  Value magnitude = code.abs(x);
  Value w = code.div(code.add(magnitude, magnitude),
                     code.sub(code.real(1.0), magnitude));
  Pair log1p = splitLog1p(code, w);
  Value log = correctedLog(code, log1p.high, log1p.low);
  return code.copySign(code.mul(log, code.real(0.5)), x);
}
