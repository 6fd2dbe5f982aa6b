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

#endif // BATCH_CONVERSION_EXPANDFLOATS_PASSES_TD
