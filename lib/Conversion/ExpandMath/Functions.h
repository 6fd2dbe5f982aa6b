//===- Functions.h - Math functions -----------------------------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_CONVERSION_EXPANDMATH_FUNCTIONS_H
#define BATCH_CONVERSION_EXPANDMATH_FUNCTIONS_H

#include "Code.h"

namespace mlir::batch::expansion {

// Exponentials.cpp
Value buildCosh(Code &code, Value x);
Value buildExp(Code &code, Value x);
Value buildExp2(Code &code, Value x);
Value buildExpm1(Code &code, Value x);
Value buildSinh(Code &code, Value x);
Value buildTanh(Code &code, Value x);
/// Returns exp(x.high + x.low), even if the high number is infinite and the low
/// number is NaN.
Value buildExp(Code &code, Pair x);
/// Returns exp(x.high + x.low) * factor. `factor` must be at most 2. The sum
/// must be between Format::expRange[0] - 15 and 1. Only the product is rounded
/// to a subnormal number.
Value buildScaledExp(Code &code, Pair x, Value factor);

// Logarithms.cpp
Value buildAcosh(Code &code, Value x);
Value buildAsinh(Code &code, Value x);
Value buildAtanh(Code &code, Value x);
Value buildLog(Code &code, Value x);
Value buildLog10(Code &code, Value x);
Value buildLog1p(Code &code, Value x);
Value buildLog2(Code &code, Value x);
/// Returns log x as a pair with about ten more bits than the format of x. The
/// low number is finite; the high number is -inf for 0, inf for inf and NaN for
/// NaN.
Pair buildLongLog(Code &code, Value x);

// Powers.cpp
Value buildCbrt(Code &code, Value x);
Value buildPowf(Code &code, Value x, Value y);
/// Returns x to the power of an index or an integer of any width.
Value buildFpowi(Code &code, Value x, Value exponent);
/// Computes powers of integers of any width, in a loop over the exponent's
/// bits.
Value buildIpowi(OpBuilder &builder, Location loc, Value base, Value exponent);

// Angles.cpp
/// The angle x = n pi / 2 + rest - excess with |rest| <= 0.83. The rest of -0
/// is -0, and the rest of infinities and NaN is NaN.
struct Angle {
  Value shifted; ///< number whose low two bits are the low two bits of n
  Value rest;
  Value excess; ///< below the last bit of `rest`, or null
};
/// Reduces x to an angle without an excess.
Angle reduceAngle(Code &code, Value x);
struct PairTerms {
  double halfPi[3]; ///< terms of pi / 2, rounded down; the second is shorter
  double highest;   ///< up to this bound, products with halfPi[1] are exact
};
/// Reduces x to an angle with an excess, and |rest| <= 0.7866.
Angle reduceAngleToPair(Code &code, Value x, const PairTerms &terms);
/// Adds the function that both reductions call for large numbers. Without this
/// function, the reductions contain its code. `element` is f32 or f64.
void addLargeAngle(SymbolTable &symbols, Type element, Location loc);

// Trigonometry.cpp
Value buildCos(Code &code, Value x);
Value buildSin(Code &code, Value x);
Value buildTan(Code &code, Value x);
std::pair<Value, Value> buildSincos(Code &code, Value x);
Value buildAcos(Code &code, Value x);
Value buildAsin(Code &code, Value x);
Value buildAtan(Code &code, Value x);
Value buildAtan2(Code &code, Value y, Value x);

// ErrorFunctions.cpp
Value buildErf(Code &code, Value x);
Value buildErfc(Code &code, Value x);

} // namespace mlir::batch::expansion

#endif // BATCH_CONVERSION_EXPANDMATH_FUNCTIONS_H
