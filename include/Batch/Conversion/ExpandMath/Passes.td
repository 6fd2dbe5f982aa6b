//===- Passes.td - Math functions --------------------------*- tablegen -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_CONVERSION_EXPANDMATH_PASSES_TD
#define BATCH_CONVERSION_EXPANDMATH_PASSES_TD

include "mlir/Pass/PassBase.td"

def ExpandMathPass : Pass<"batch-expand-math"> {
  let summary = "Expand math functions to arithmetic with bounded errors";
  let description = [{
    Replaces ops of `math` on scalars and static vectors of f32 and f64 with
    range reductions, polynomials in `math.fma`, divisions and roots. The same
    operations run for scalars and for vectors of every width, so results do not
    depend on the width. A GPU computes the same results as a CPU. No op needs a
    library.

    The table lists the maximum errors for f32 and f64, in units in the last
    place of the exact result. They include subnormal results:

    | ops | units |
    |---|---|
    | round, isfinite, isinf, isnan, isnormal, clampf, ipowi | 0 |
    | cbrt, log10, log2 | 0.6 |
    | powf, fpowi | 1 |
    | acos, erf, exp, exp2, rsqrt | 1.5 |
    | cos, cosh, sin, sincos, tan | 2 |
    | asin, atan, atan2, expm1, log, log1p | 2.5 |
    | acosh, asinh, atanh, sinh, tanh | 3.5 |
    | erfc | 5 |

    The bounds hold for all arguments. Below a threshold, angles are reduced by
    terms of pi / 2. From the threshold on, each element is multiplied by the
    bits of 2 / pi that it needs:

    | ops | threshold in f32 | threshold in f64 |
    |---|---|---|
    | cos, sin, sincos | 2¹⁸ | 2⁴⁶ |
    | tan | 2¹⁰ | 2²² |

    A vector whose elements are all below the threshold costs only one
    comparison.

    Logarithms of powers of their base, and whole powers of numbers, are exact
    where the results fit. Signed zeros, infinities, NaN and arguments outside
    the domain have the same results as the C functions. With the constant
    exponent 2, a power is a product. `ipowi` wraps around and is a loop over
    the exponent's bits. For negative exponents, its result is 0, even if the
    base is 0. Bases 1 and -1 are exceptions.

    Ops for which targets have instructions remain: absf, absi, ceil, copysign,
    ctlz, ctpop, cttz, floor, fma, roundeven, sqrt and trunc. All of them are
    exact or correctly rounded. The ops isfinite, isinf, isnan and isnormal are
    also expanded for f16 and bf16, and `ipowi` for integers of any width.

    ```mlir
    %y = math.exp %x : vector<8xf32>
    // becomes
    ...
    %p = math.fma %a, %b, %c : vector<8xf32>
    ...
    %y = arith.mulf %d, %e : vector<8xf32>
    ```

    See test/Conversion/ExpandMath.
  }];
  let options = [
    Option<"share", "share", "bool", /*default=*/"false",
           "Expand ops of equal kind and type into one shared function; LLVM "
           "inlines it, except for the reduction of large angles">,
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::func::FuncDialect",
                           "::mlir::math::MathDialect",
                           "::mlir::scf::SCFDialect",
                           "::mlir::vector::VectorDialect"];
}

def MathToIntrinsicsPass : Pass<"batch-math-to-intrinsics"> {
  let summary = "Turn math into intrinsics that GPUs have instructions for";
  let description = [{
    The MLIR conversions for GPUs call a library for most ops of `math`, and
    only a GPU toolkit provides this library. This pass converts `math` ops on
    floats to LLVM intrinsics that code generators for GPUs support. Other ops
    of `math` are errors. Run it after `batch-expand-math` and before those
    conversions.

    ```mlir
    %y = math.sqrt %x : f32
    // becomes
    %y = llvm.call_intrinsic "llvm.sqrt"(%x) : (f32) -> f32
    ```

    See test/Conversion/ExpandMath.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

#endif // BATCH_CONVERSION_EXPANDMATH_PASSES_TD
