//===- Exponentials.cpp - exp, sinh and so on -----------------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Functions.h"

using namespace mlir;
using namespace mlir::batch;
using namespace mlir::batch::expansion;

/// Returns exp r for |r| <= ln 2 / 2.
static Value reducedExp(Code &code, Value r) {
  Value one = code.real(1.0);
  Value result = code.fma(code.horner(r, code.format.exp), r, one);
  return code.fma(result, r, one);
}

/// Multiplies `value` by 2^n in two steps, each by a power of two. `shifted`
/// contains the bits of n + Format::shift. The biased exponent of each power is
/// half of n + 2 * bias, which is positive. The first product is exact; the
/// second rounds once, even if the result is subnormal.
static Value scale(Code &code, Value value, Value shifted) {
  const Format &format = code.format;
  Value sum = code.addInt(shifted, 2 * format.bias - format.shiftBits());
  Value first = code.shiftRight(sum, 1);
  Value second = code.subInt(sum, first);
  value = code.mul(value, code.powerOfTwo(first));
  return code.mul(value, code.powerOfTwo(second));
}

/// Clamps x to bounds at which exp x is already infinite or zero.
static Value boundExponent(Code &code, Value x) {
  x = code.atMost(x, code.format.expRange[1]);
  return code.atLeast(x, code.format.expRange[0]);
}

Value expansion::buildExp(Code &code, Value x) {
  const Format &format = code.format;
  Reduced reduced =
      reduce(code, boundExponent(code, x), format.inverseLn2, format.ln2);
  return scale(code, reducedExp(code, reduced.remainder), reduced.shifted);
}

/// Returns exp(x.high + x.low) / 2^n, and the bits of n + Format::shift in
/// `shifted`. The error is only slightly larger than that of the last addition,
/// so a result that needs no rounding is exact.
static Value reducedExp(Code &code, Pair x, Value &shifted) {
  const Format &format = code.format;
  Value shift = code.real(format.shift());
  shifted = code.fma(x.high, code.real(format.inverseLn2), shift);
  Value n = code.sub(shifted, shift);
  shifted = code.bits(shifted);
  // Keep the rounding error of the second step of the reduction.
  Value rest = code.real(-format.ln2[1]);
  Value first = code.fma(n, code.real(-format.ln2[0]), x.high);
  Value r = code.fma(n, rest, first);
  Value low = code.add(code.fma(n, rest, code.sub(first, r)), x.low);
  Pair remainder = code.sum(r, low);
  r = remainder.high;
  // 1 + r + (r^2 Q(r) + low).
  Pair sum = code.sum(code.real(1.0), r);
  Value tail =
      code.fma(code.mul(r, r), code.horner(r, format.exp), remainder.low);
  return code.add(sum.high, code.add(sum.low, tail));
}

Value expansion::buildExp(Code &code, Pair x) {
  Value low = code.ifLess(code.abs(x.high), code.real(-code.format.expRange[0]),
                          x.low, code.real(0.0));
  Value shifted;
  Value result = reducedExp(code, {boundExponent(code, x.high), low}, shifted);
  return scale(code, result, shifted);
}

Value expansion::buildScaledExp(Code &code, Pair x, Value factor) {
  Value shifted;
  Value result = reducedExp(code, x, shifted);
  return scale(code, code.mul(result, factor), shifted);
}

/// x = n + r, and 2^r = exp(r ln 2).
Value expansion::buildExp2(Code &code, Value x) {
  const Format &format = code.format;
  x = code.atMost(x, format.bias + 2);
  x = code.atLeast(x, -(format.bias + format.mantissaBits + 1));
  Value shift = code.real(format.shift());
  Value shifted = code.add(x, shift);
  Value r = code.sub(x, code.sub(shifted, shift));
  Value result = reducedExp(code, code.mul(r, code.real(format.ln2[0])));
  return scale(code, result, code.bits(shifted));
}

/// Returns (exp x - 1) / 2^k for x within the bounds that callers enforce. With
/// x = n ln 2 + r, t = 2^(n - k) and q = expm1 r, the result is
/// q t + (t - 2^-k).
static Value scaledExpm1(Code &code, Value x, int64_t k) {
  const Format &format = code.format;
  Reduced reduced = reduce(code, x, format.inverseLn2, format.ln2);
  Value r = reduced.remainder;
  Value q = code.fma(code.mul(r, r), code.horner(r, format.exp), r);
  Value t = code.powerOfTwo(
      code.addInt(reduced.shifted, format.bias - k - format.shiftBits()));
  return code.fma(q, t, code.sub(t, code.real(std::ldexp(1.0, -k))));
}

Value expansion::buildExpm1(Code &code, Value x) {
  Value bounded = code.atMost(x, code.format.expRange[1]);
  bounded = code.atLeast(bounded, code.format.expm1Lowest);
  Value half = scaledExpm1(code, bounded, 1);
  return code.copySign(code.add(half, half), x);
}

/// With h = expm1(2 |x|) / 2, tanh |x| = h / (h + 1), which never exceeds 1.
Value expansion::buildTanh(Code &code, Value x) {
  Value magnitude = code.atMost(code.abs(x), code.format.tanhHighest);
  Value half = scaledExpm1(code, code.add(magnitude, magnitude), 1);
  Value result = code.div(half, code.add(half, code.real(1.0)));
  return code.copySign(result, x);
}

/// Returns |x|, limited to a bound. From this bound on, sinh and cosh are
/// infinite, but (exp of the bound) / 4 is finite.
static Value boundHyperbolic(Code &code, Value x) {
  return code.atMost(code.abs(x), code.format.width == 32 ? 89.5 : 710.6);
}

/// With g = expm1 |x| / 4, sinh |x| = 2 (g + g / (4 g + 1)). Numbers whose
/// square is negligible compared with 1 are returned unchanged.
Value expansion::buildSinh(Code &code, Value x) {
  Value magnitude = boundHyperbolic(code, x);
  Value g = scaledExpm1(code, magnitude, 2);
  Value next = code.fma(g, code.real(4.0), code.real(1.0));
  Value half = code.add(g, code.div(g, next));
  Value small = code.real(std::ldexp(1.0, -code.format.mantissaBits / 2 - 2));
  Value result = code.ifLess(magnitude, small, magnitude, code.add(half, half));
  return code.copySign(result, x);
}

/// With g = exp |x| / 4, cosh x = 2 (g + 1 / (16 g)).
Value expansion::buildCosh(Code &code, Value x) {
  const Format &format = code.format;
  Reduced reduced =
      reduce(code, boundHyperbolic(code, x), format.inverseLn2, format.ln2);
  Value t = code.powerOfTwo(
      code.addInt(reduced.shifted, format.bias - 2 - format.shiftBits()));
  Value g = code.mul(reducedExp(code, reduced.remainder), t);
  Value half = code.add(g, code.div(code.real(0.0625), g));
  return code.add(half, half);
}
