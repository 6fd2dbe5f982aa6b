//===- GPUTarget.td - Properties of GPUs -------------------*- tablegen -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_TARGET_GPU_GPUTARGET_TD
#define BATCH_TARGET_GPU_GPUTARGET_TD

include "mlir/IR/EnumAttr.td"

// Sums of f32 products are always f32. Types tf32 and bf16 use tensor cores.
def Batch_Precision : I32Enum<"Precision",
    "type to which factors of products with parameters are rounded", [
      I32EnumCase<"F32", 0, "f32">,
      I32EnumCase<"TF32", 1, "tf32">,
      I32EnumCase<"BF16", 2, "bf16">]> {
  let cppNamespace = "::mlir::batch";
}

#endif // BATCH_TARGET_GPU_GPUTARGET_TD
