//===- ExpandMath.h - Polynomials for exp and tanh --------------*- C++ -*-===//
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

/// Adds patterns that replace `math.exp` and `math.tanh` on f32 and on static
/// vectors of f32 by polynomials. The relative error is at most 1e-6 wherever
/// the result is at least the smallest normal number; below, the absolute error
/// is at most one subnormal step. NaN, infinities, signed zeros, overflow to
/// infinity and underflow to zero are exact. No branch depends on data, and
/// the operations are the same for scalars and every vector width.
void populateExpandMathPatterns(RewritePatternSet &patterns);

} // namespace batch
} // namespace mlir

#endif // BATCH_CONVERSION_EXPANDMATH_H
