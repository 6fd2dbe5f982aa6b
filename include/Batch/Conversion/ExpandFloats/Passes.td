//===- Passes.td - Code for f16 and bf16 --------------------*- tablegen -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_CONVERSION_EXPANDFLOATS_PASSES_TD
#define BATCH_CONVERSION_EXPANDFLOATS_PASSES_TD

include "mlir/Pass/PassBase.td"

def ExpandFloatsPass : Pass<"batch-expand-floats"> {
  let summary = "Compute f16 and bf16 in f32 and round after each op";
  let description = [{
    Ops of `arith` and `math`, and `vector.fma`, compute scalars and vectors of
    f16 and bf16 in f32. Each result is rounded. Sums, differences, products,
    quotients and square roots are the results that IEEE 754 requires for the
    type. The reason is that f32 has more than twice as many digits as the type.
    Conversions of f64 and integers also round once: they go through an f32 that
    is rounded to odd. Conversions of bf16 become integer code, which rounds to
    nearest, ties to even, and converts every NaN to the same NaN. Conversions
    of f16 are instructions. Results therefore depend neither on the target nor
    on the width of vectors, and no library is called.

    Later passes can fold the conversions of `arith-emulate-unsupported-floats`,
    and with them the rounding between two ops. They cannot fold the conversions
    of this pass.

    ```mlir
    %c = arith.addf %a, %b : f16
    // becomes
    %a1 = arith.extf %a : f16 to f32
    %b1 = arith.extf %b : f16 to f32
    %c1 = arith.addf %a1, %b1 : f32
    %c2 = arith.truncf %c1 : f32 to f16
    ```

    See test/Conversion/ExpandFloats.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::math::MathDialect"];
}

def SaturateConversionsPass : Pass<"batch-saturate-conversions"> {
  let summary = "Define conversions of floats outside an integer's range";
  let description = [{
    `arith.fptosi` and `arith.fptoui` do not define the result for a float
    outside the range of the integer type. In LLVM, the result is a poison
    value, and different processors compute different numbers. This pass defines
    the result as JAX does. A float above the range becomes the largest integer,
    a float below it the smallest, and a NaN becomes 0. All devices run the same
    code, so their results agree.

    The pass compares the float with the bounds of the type. `llvm.fptosi.sat`
    computes the same numbers. For vectors, it takes four times as many
    instructions on x86, which converts the elements one by one. GPUs have no
    instruction for it either.

    Conversions that later passes create, for example
    [batch-expand-math](#-batch-expand-math), are within the range and need no
    change. Conversions of f16 and bf16 must already be conversions of f32
    ([batch-expand-floats](#-batch-expand-floats)), because their range may be
    smaller than that of the integer.

    ```mlir
    %i = arith.fptoui %x : f32 to i8
    // becomes
    %zero = arith.constant 0.000000e+00 : f32
    %above = arith.cmpf ogt, %x, %zero : f32
    %y = arith.select %above, %x, %zero : f32
    %most = arith.constant 2.550000e+02 : f32
    %below = arith.cmpf olt, %y, %most : f32
    %z = arith.select %below, %y, %most : f32
    %i = arith.fptoui %z : f32 to i8
    ```

    See test/Conversion/ExpandFloats/saturate-conversions.mlir.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

#endif // BATCH_CONVERSION_EXPANDFLOATS_PASSES_TD
