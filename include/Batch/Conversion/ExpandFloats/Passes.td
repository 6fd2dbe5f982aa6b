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
  let summary = "compute with f16 and bf16 in f32, rounded after each op";
  let description = [{
    An op of `arith` or `math` on scalars or vectors of f16 or bf16 becomes the
    op on f32, and a rounding of its result. For sums, differences, products,
    quotients and square roots that is what IEEE 754 asks of the type itself, as
    f32 has more than twice its digits. Conversions of f64 and integers round
    once, too: they go by way of an f32 that is rounded to odd. Conversions of
    bf16 become integer code, to the nearest, ties to even, and every NaN to one
    NaN; those of f16 are instructions. So results do not depend on the target
    or on the width of vectors, and no library is called.

    `arith-emulate-unsupported-floats` lets its conversions be folded, and with
    them the rounding between two ops; this pass does not.

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
  let summary = "define conversions of floats that no integer is near";
  let description = [{
    `arith.fptosi` and `arith.fptoui` leave open what a float becomes that is out
    of the range of the integer type. LLVM makes a poison value of it, and each
    processor gives another number. This pass defines it as JAX does: a float
    above the range becomes the greatest integer, one below it the least, and a
    NaN becomes 0. All devices run the same code, so they agree.

    The float is compared with the bounds of the type. `llvm.fptosi.sat` computes
    the same numbers. For vectors it takes four times as many instructions on
    x86, which has them converted one by one, and GPUs have no instruction for
    it either.

    Conversions that later passes make, for example
    [batch-expand-math](#-batch-expand-math), are within the range and remain as
    they are. Conversions of f16 and bf16 must be those of f32 by now
    ([batch-expand-floats](#-batch-expand-floats)): their range may be smaller
    than that of the integer.

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
