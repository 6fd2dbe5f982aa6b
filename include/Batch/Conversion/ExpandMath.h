//===- ExpandMath.h - Polynomials for exp, log and others -------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_CONVERSION_EXPANDMATH_H
#define BATCH_CONVERSION_EXPANDMATH_H

namespace mlir {
class RewritePatternSet;

namespace batch {

/// Adds patterns that replace cos, exp, expm1, log, log1p, sin and tanh of
/// `math` on f32, f64 and static vectors of them by polynomials. Where the
/// result is at least the smallest normal number, the relative error is at most
/// 1e-6 for f32 and 1e-15 for f64; below, the absolute error is at most one
/// subnormal step. For sin and cos the bounds are absolute: 1e-7 for f32 with
/// |x| < 2^20 and 2e-16 for f64 with |x| < 2^49; from there on results are 0, 1
/// or -1. NaN, infinities, signed zeros, overflow to infinity and underflow to
/// zero are exact. No branch depends on data, and the operations are the same
/// for scalars and every vector width.
void populateExpandMathPatterns(RewritePatternSet &patterns);

} // namespace batch
} // namespace mlir

#endif // BATCH_CONVERSION_EXPANDMATH_H
