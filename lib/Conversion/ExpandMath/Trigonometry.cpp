//===- Trigonometry.cpp - sin, tan and their inverses ---------------------===//
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

/// Constants of tan and the inverse functions.
struct AngleFormat {
  double quarterPi[2]; ///< pi / 4 rounded, and the rest
  PairTerms tanTerms;
  ArrayRef<double> tan;  ///< T in tan r = r + r^3 T(r^2), |r| <= 0.7866
  ArrayRef<double> atan; ///< R in atan u = u + u^3 R(u^2), |u| <= 3/7
  ArrayRef<double> asin; ///< R in asin u = u + u^3 R(u^2), |u| <= 1/2
};

// Relative errors: tan 1.3e-9, atan 1.8e-9, asin 1.5e-9.
constexpr double tan32[] = {0.00438412186, 7.68013924e-05, 0.0108427536,
                            0.021281071,   0.0540597104,   0.133326709,
                            0.333333492};
constexpr double atan32[] = {-0.0587134138, 0.105177417, -0.142345935,
                             0.199981242, -0.333333135};
constexpr double asin32[] = {0.0378063619, 0.014335053,  0.0317995064,
                             0.0445236154, 0.0750042945, 0.166666627};
constexpr AngleFormat angle32 = {
    /*quarterPi=*/{0.785398185, -2.18556941e-08},
    /*tanTerms=*/{{1.57079625, 7.54953362e-08, 2.56334407e-12}, 0x1p10},
    /*tan=*/tan32,
    /*atan=*/atan32,
    /*asin=*/asin32,
};

// Relative errors: tan 1.3e-17, atan 5.2e-18, asin 3e-18.
constexpr double tan64[] = {
    2.0998364232987586e-05, -4.5436731761222197e-05, 9.0486944283451793e-05,
    -2.750847499482504e-05, 0.00013731927916074078,  0.00022199570568614876,
    0.00059519459936763826, 0.0014547272046559704,   0.0035922941241199754,
    0.0088632186075133478,  0.021869489648285424,    0.053968253925043674,
    0.13333333333417971,    0.33333333333332754};
constexpr double atan64[] = {
    -0.016805436590525632, 0.037063312796419765, -0.050004291266852206,
    0.05839479509141576,   -0.06661996241595979, 0.07691969063726417,
    -0.0909089314268788,   0.11111110647801069,  -0.14285714278169104,
    0.1999999999994277,    -0.33333333333333204};
constexpr double asin64[] = {
    0.032716104653772705,  -0.02102061081776075, 0.021629907233080368,
    0.0037806900357232926, 0.010748063062367353, 0.01140715396795016,
    0.013979471034641035,  0.017351756627705505, 0.022372204933031183,
    0.030381943144577074,  0.04464285716363593,  0.07499999999984511,
    0.16666666666666702};
constexpr AngleFormat angle64 = {
    /*quarterPi=*/{0.7853981633974483, 3.061616997868383e-17},
    /*tanTerms=*/
    {{1.5707963267948966, 6.1232339940921402e-17, 1.6446256936324258e-26},
     0x1p22},
    /*tan=*/tan64,
    /*atan=*/atan64,
    /*asin=*/asin64,
};

const AngleFormat &getAngleFormat(const Code &code) {
  return code.format.width == 32 ? angle32 : angle64;
}

} // namespace

//===----------------------------------------------------------------------===//
// Functions of angles
//===----------------------------------------------------------------------===//

/// Returns sin((n + quarters) pi / 2 + rest): plus or minus the sine or cosine
/// of the rest.
static Value buildSine(Code &code, const Angle &angle, int64_t quarters) {
  const Format &format = code.format;
  Value r = angle.rest, square = code.mul(r, r);
  // If r is -0, r^2 S(r^2) + 0 is 0 and not -0, so the sine is -0.
  Value factor =
      code.fma(code.horner(square, format.sine), square, code.real(0.0));
  Value sine = code.fma(r, factor, r);
  Value cosine = code.horner(square, format.cosine);
  Value n = code.bits(angle.shifted);
  if (quarters)
    n = code.addInt(n, quarters);
  return code.negateIfSecondBit(code.ifOdd(n, cosine, sine), n);
}

Value expansion::buildSin(Code &code, Value x) {
  return buildSine(code, reduceAngle(code, x), 0);
}
Value expansion::buildCos(Code &code, Value x) {
  return buildSine(code, reduceAngle(code, x), 1);
}
std::pair<Value, Value> expansion::buildSincos(Code &code, Value x) {
  Angle angle = reduceAngle(code, x);
  return {buildSine(code, angle, 0), buildSine(code, angle, 1)};
}

/// Returns the tangent of the angle's rest, or -1 divided by this tangent if n
/// is odd.
Value expansion::buildTan(Code &code, Value x) {
  const AngleFormat &format = getAngleFormat(code);
  Angle angle = reduceAngleToPair(code, x, format.tanTerms);
  Value r = angle.rest, square = code.mul(r, r);
  Value series = code.format.width == 64
                     ? code.hornerByHalves(square, format.tan)
                     : code.horner(square, format.tan);
  // If x is -0, both terms are -0.
  Value low = code.fma(code.mul(r, square), series, code.neg(angle.excess));
  Value tangent = code.add(r, low);
  Value quotient = code.div(code.real(-1.0), tangent);
  return code.ifOdd(code.bits(angle.shifted), quotient, tangent);
}

//===----------------------------------------------------------------------===//
// Inverse functions
//===----------------------------------------------------------------------===//

/// Returns u + u^3 R(u^2).
static Value oddSeries(Code &code, Value u, Value square,
                       ArrayRef<double> series) {
  return code.fma(code.mul(u, square), code.horner(square, series), u);
}

namespace {
/// asin |x|, or asin of the square root of (1 - |x|) / 2, which is half of acos
/// |x|. The result is NaN where |x| exceeds 1.
struct HalfArc {
  Value isSmall; ///< true where |x| < 1/2 and `arc` is asin |x|
  Value arc;
};
} // namespace

static HalfArc buildHalfArc(Code &code, Value x) {
  Value magnitude = code.abs(x), half = code.real(0.5);
  Value isSmall = code.less(magnitude, half);
  Value rest = code.mul(code.sub(code.real(1.0), magnitude), half);
  Value square = code.select(isSmall, code.mul(x, x), rest);
  Value u = code.select(isSmall, magnitude, code.sqrt(rest));
  return {isSmall, oddSeries(code, u, square, getAngleFormat(code).asin)};
}

/// Returns pi / 2 - a.
static Value fromHalfPi(Code &code, Value a) {
  const Format &format = code.format;
  return code.sub(code.real(format.halfPi[0]),
                  code.sub(a, code.real(format.halfPi[1])));
}

Value expansion::buildAsin(Code &code, Value x) {
  auto [isSmall, arc] = buildHalfArc(code, x);
  Value other = fromHalfPi(code, code.add(arc, arc));
  return code.copySign(code.select(isSmall, arc, other), x);
}

Value expansion::buildAcos(Code &code, Value x) {
  auto [isSmall, arc] = buildHalfArc(code, x);
  // pi - 2 a is twice (pi / 2 - a).
  Value complement =
      fromHalfPi(code, code.select(isSmall, code.copySign(arc, x), arc));
  Value above = code.ifLess(x, code.real(0.0), complement, arc);
  return code.select(isSmall, complement, code.add(above, above));
}

/// Returns the angle of the point (x, y), where x, y >= 0 are neither both 0
/// nor both infinite. Where `isMirrored` is true, returns pi minus this angle.
/// `isMirrored` may be null. The angle is the sum of a multiple of pi / 4 and
/// an angle whose tangent is at most 3/7.
static Value buildAngle(Code &code, Value y, Value x, Value isMirrored) {
  const AngleFormat &format = getAngleFormat(code);
  Value isSteep = code.less(x, y);
  Value small = code.select(isSteep, x, y), large = code.select(isSteep, y, x);
  // Above a ratio of 2/5, which is near tan(pi / 8), use the angle to the
  // diagonal. Compare 2 * large with 5 * small, because a product with 2/5
  // would round subnormal numbers.
  Value isDiagonal = code.less(code.mul(large, code.real(2.0)),
                               code.mul(small, code.real(5.0)));
  Value u = code.div(code.select(isDiagonal, code.sub(small, large), small),
                     code.select(isDiagonal, code.add(small, large), large));
  Value angle = oddSeries(code, u, code.mul(u, u), format.atan);
  Value count = code.select(isDiagonal, code.real(1.0), code.real(0.0));
  auto reflect = [&](Value condition, double at) {
    angle = code.select(condition, code.neg(angle), angle);
    count = code.select(condition, code.sub(code.real(at), count), count);
  };
  reflect(isSteep, 2.0);
  if (isMirrored)
    reflect(isMirrored, 4.0);
  angle = code.fma(count, code.real(format.quarterPi[1]), angle);
  return code.fma(count, code.real(format.quarterPi[0]), angle);
}

Value expansion::buildAtan(Code &code, Value x) {
  Value angle = buildAngle(code, code.abs(x), code.real(1.0), Value());
  return code.copySign(angle, x);
}

Value expansion::buildAtan2(Code &code, Value y, Value x) {
  Value zero = code.real(0.0), one = code.real(1.0);
  Value infinity = code.real(std::numeric_limits<double>::infinity());
  Value a = code.abs(y), b = code.abs(x);
  Value largest = code.ifLess(a, b, b, a);
  // Scale large numbers, so sums and products do not overflow.
  Value scale = code.ifLess(code.real(std::ldexp(1.0, code.format.bias - 3)),
                            largest, code.real(0.0625), one);
  Value isInfinite = code.equal(largest, infinity);
  auto fit = [&](Value c) {
    Value isLargest = code.select(code.equal(c, infinity), one, zero);
    return code.select(isInfinite, isLargest, code.mul(c, scale));
  };
  b = code.select(code.equal(largest, zero), one, fit(b));
  Value angle = buildAngle(code, fit(a), b, code.isNegative(code.bits(x)));
  Value isNone = code.compare(arith::CmpFPredicate::UNO, x, y);
  return code.select(isNone, code.add(x, y), code.copySign(angle, y));
}
