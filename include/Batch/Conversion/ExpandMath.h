//===- ExpandMath.h - Expansion of math ops into arithmetic -----*- C++ -*-===//
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

/// Adds patterns that replace `math` ops on f32, f64 and static vectors of them
/// with arithmetic. The ops absf, ceil, copysign, floor, fma, roundeven, sqrt
/// and trunc remain. `math.ipowi` on integers becomes a loop of `scf`. The
/// description of batch-expand-math lists the error bounds. NaN, infinities,
/// signed zeros, overflow to infinity and underflow to zero are exact. Branches
/// depend on data only in cos, sin, sincos and tan, for large angles. The
/// operations are the same for scalars and every vector width.
void populateExpandMathPatterns(RewritePatternSet &patterns);

} // namespace batch
} // namespace mlir

#endif // BATCH_CONVERSION_EXPANDMATH_H
