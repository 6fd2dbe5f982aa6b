//===- ErrorFunctions.cpp - erf and erfc ----------------------------------===//
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

struct ErrorFormat {
  double highest;        ///< from this bound on, erfc is 0
  double center;         ///< c in the formula of `tail`
  ArrayRef<double> near; ///< P in erf x = x + x P(x^2), |x| <= 1
  /// T in erfc x = exp(-x^2) T((x - c) / (x + c)) / (1 + 2 x), x >= 0.
  ArrayRef<double> tail;
};

// Relative error: 2.7e-9.
constexpr double near32[] = {7.85387747e-05, -0.000801019778, 0.00518832821,
                             -0.0268538129,  0.112835854,     -0.37612626,
                             0.128379166};
// Relative error: 6e-8, most of it from the last coefficient.
constexpr double tail32[] = {
    -0.000159844043, 0.00223877328, 0.00221621245, -0.0240272991, 0.0683572218,
    -0.119218089,    0.129642755,   -0.0475661792, -0.135621071,  1.25300813};
constexpr ErrorFormat error32 = {
    /*highest=*/10.25,
    /*center=*/3.0,
    /*near=*/near32,
    /*tail=*/tail32,
};

// Relative error: 1.2e-17.
constexpr double near64[] = {
    5.945260824914696e-11,  -1.136566580151185e-09, 1.4657879910627581e-08,
    -1.635002525043636e-07, 1.6460972821383026e-06, -1.4925593507269706e-05,
    0.00012055331036919498, -0.0008548326978742835, 0.005223977624780878,
    -0.026866170645072896,  0.11283791670954857,    -0.3761263890318375,
    0.1283791670955126};
// Relative error: 4.6e-17, most of it from the last coefficient.
constexpr double tail64[] = {
    -8.39078404516809e-09,  -8.054545347982597e-09,  1.015773817313015e-07,
    5.527172768491326e-08,  -8.202948993931178e-07,  3.137063437399002e-07,
    5.709384662024958e-06,  -1.1234222038369849e-05, -2.4400463338485892e-05,
    0.00015062637278719245, -0.00019925594650880416, -0.000757774439197225,
    0.005031969773230528,   -0.016197733882373617,   0.03716751556733215,
    -0.06633036582789387,   0.0937328349961115,      -0.10103906603557897,
    0.0680970542547662,     0.015379652102606481,    -0.1396211168405632,
    1.2329951186255526};
constexpr ErrorFormat error64 = {
    /*highest=*/27.5,
    /*center=*/4.0,
    /*near=*/near64,
    /*tail=*/tail64,
};

const ErrorFormat &getErrorFormat(const Code &code) {
  return code.format.width == 32 ? error32 : error64;
}

} // namespace

/// Returns erf x for |x| <= 1.
static Value buildNear(Code &code, Value x) {
  Value series = code.horner(code.mul(x, x), getErrorFormat(code).near);
  return code.fma(x, series, x);
}

/// Returns erfc x for x >= 0. Computes x^2 as a pair, because the exponential
/// of a rounded square would not be accurate enough.
static Value buildTail(Code &code, Value x) {
  const ErrorFormat &format = getErrorFormat(code);
  x = code.atMost(x, format.highest);
  Value center = code.real(format.center);
  Value t = code.div(code.sub(x, center), code.add(x, center));
  Value divisor = code.fma(x, code.real(2.0), code.real(1.0));
  Value factor = code.div(code.horner(t, format.tail), divisor);
  Pair square = code.product(x, x);
  return buildScaledExp(code, {code.neg(square.high), code.neg(square.low)},
                        factor);
}

Value expansion::buildErf(Code &code, Value x) {
  Value magnitude = code.abs(x), one = code.real(1.0);
  Value far = code.sub(one, buildTail(code, magnitude));
  return code.ifLess(magnitude, one, buildNear(code, x), code.copySign(far, x));
}

Value expansion::buildErfc(Code &code, Value x) {
  Value magnitude = code.abs(x);
  Value tail = buildTail(code, magnitude);
  Value far =
      code.ifLess(x, code.real(0.0), code.sub(code.real(2.0), tail), tail);
  Value near = code.sub(code.real(1.0), buildNear(code, x));
  return code.ifLess(magnitude, code.real(0.5), near, far);
}
