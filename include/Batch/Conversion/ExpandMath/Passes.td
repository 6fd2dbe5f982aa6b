//===- Passes.td - Functions of math -----------------------*- tablegen -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_CONVERSION_EXPANDMATH_PASSES_TD
#define BATCH_CONVERSION_EXPANDMATH_PASSES_TD

include "mlir/Pass/PassBase.td"

def ExpandMathPass : Pass<"batch-expand-math"> {
  let summary = "expand exp, log, sin and others to polynomials with stated errors";
  let description = [{
    Replaces cos, exp, expm1, log, log1p, sin and tanh of `math` on scalars and
    vectors of f32 and f64 by range reduction and polynomials in `math.fma`. The
    same operations run for scalars and for vectors of every width, so results do
    not depend on either, and on a GPU they are the CPU's.

    | error | f32 | f64 |
    |---|---|---|
    | cos, sin: absolute | 1e-7 for \|x\| < 2²⁰ | 2e-16 for \|x\| < 2⁴⁹ |
    | others: relative, above the smallest normal number | 1e-6 | 1e-15 |

    From these bounds on, cos and sin are 0, 1 or -1. Subnormal results are off
    by one step at most; infinities, NaN and signed zeros are exact cases.
    `math.sqrt` stays: all targets have an instruction that rounds correctly.

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
           "Expand once per kind and type, in a function that is called; LLVM "
           "inlines it">,
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::func::FuncDialect",
                           "::mlir::math::MathDialect",
                           "::mlir::vector::VectorDialect"];
}

def MathToIntrinsicsPass : Pass<"batch-math-to-intrinsics"> {
  let summary = "turn math into intrinsics that GPUs have instructions for";
  let description = [{
    Upstream's conversions for GPUs call a library for most of `math`, which comes
    with the toolkit of the GPU only. This turns `math` on floats into the LLVM
    intrinsics that code generators for GPUs know; what they do not know is an
    error. To be run behind `batch-expand-math`, and before those conversions.

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
