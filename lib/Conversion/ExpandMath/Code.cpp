//===- Code.cpp - Constants of f32 and f64 --------------------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Code.h"

using namespace mlir;
using namespace mlir::batch::expansion;

namespace {

// exp: interpolates at the Chebyshev nodes. Relative error: 2.1e-8.
constexpr double exp32[] = {0.00139411085, 0.00837512594, 0.0416663513,
                            0.166664153, 0.5};
// log: the series of atanh. At |s| = 0.172, the next term is 3e-9 of the
// result.
constexpr double log32[] = {0.222222222, 0.285714286, 0.4, 0.666666667};
// Relative error: 8.6e-9.
constexpr double sine32[] = {-0.000194797889, 0.00833189394, -0.166666508};
// Error: 1.7e-10.
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
    /*halfPi=*/{1.57079625, 7.54978942e-08, 5.39030253e-15},
    /*sineHighest=*/0x1p18,
    /*sine=*/sine32,
    /*cosine=*/cosine32,
};

// exp: the error of r^2 Q(r) / expm1 r is at most 2e-17.
constexpr double exp64[] = {2.5114491666288498e-08, 2.7626341001992713e-07,
                            2.7557227897481746e-06, 2.4801504411205193e-05,
                            0.00019841269903089656, 0.0013888888932406082,
                            0.008333333333314567,   0.041666666666573544,
                            0.16666666666666685,    0.5000000000000006};
// log: the error of s^3 P(s^2) / 2 s is at most 1.5e-18.
constexpr double log64[] = {0.14778099149882934, 0.15315985788959519,
                            0.18183481154430944, 0.22222200366349426,
                            0.2857142872225799,  0.39999999999523644,
                            0.6666666666666713};
// Relative error: 1.1e-17.
constexpr double sine64[] = {1.5877983500760818e-10, -2.5050426219224107e-08,
                             2.7557311529490353e-06, -0.00019841269823470115,
                             0.0083333333333144,     -0.166666666666666};
// Error: 2.3e-19.
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
    /*halfPi=*/
    {1.5707963267948966, 6.123233995736765e-17, 1.0828566739219139e-32},
    /*sineHighest=*/0x1p46,
    /*sine=*/sine64,
    /*cosine=*/cosine64,
};

} // namespace

const Format &mlir::batch::expansion::getFormat(Type element) {
  return element.isF32() ? format32 : format64;
}

Reduced mlir::batch::expansion::reduce(Code &code, Value x, double inverse,
                                       const double (&terms)[2]) {
  // Unlike a conversion to an integer, rounding with a shift is defined for
  // NaN.
  Value shift = code.real(code.format.shift());
  Value shifted = code.fma(x, code.real(inverse), shift);
  Value n = code.sub(shifted, shift);
  Value remainder = code.fma(n, code.real(-terms[0]), x);
  remainder = code.fma(n, code.real(-terms[1]), remainder);
  return {code.bits(shifted), remainder};
}

Split mlir::batch::expansion::split(Code &code, Value x, int64_t lowest) {
  const Format &format = code.format;
  Value smallest = code.real(std::ldexp(1.0, 1 - format.bias));
  Value zero = code.real(0.0);
  // Subnormal numbers become normal ones.
  Value larger = code.mul(x, code.real(std::ldexp(1.0, format.mantissaBits)));
  Value scaled = code.ifLess(x, smallest, larger, x);
  Value scale = code.ifLess(x, smallest, code.real(-format.mantissaBits), zero);
  // Biased exponent of scaled / lowest, converted to a number using the shift.
  Value above = code.addInt(code.bits(scaled), format.oneBits() - lowest);
  Value exponent =
      code.fromBits(code.addInt(code.shiftRight(above, format.mantissaBits),
                                format.shiftBits() - format.bias));
  exponent = code.sub(exponent, code.real(format.shift()));
  exponent = code.add(exponent, scale);
  Value fraction = code.lowBits(above, (int64_t(1) << format.mantissaBits) - 1);
  return {exponent, code.fromBits(code.addInt(fraction, lowest))};
}
