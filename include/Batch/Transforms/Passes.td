//===- Passes.td - Passes within a level -------------------*- tablegen -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_TRANSFORMS_PASSES_TD
#define BATCH_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

def SpecializeSizesPass : Pass<"batch-specialize-sizes", "::mlir::ModuleOp"> {
  let summary = "give the named sizes of a model other values";
  let description = [{
    A module may name its sizes with their defaults:
    `module attributes {batch.sizes = {H = 256 : index}}`. Every static tensor
    dimension that is 1 to 8 times a default follows the size: with `H=64`,
    `tensor<1024x256xf32>` becomes `tensor<256x64xf32>`. So do static offsets,
    sizes and strides of slices and the extents of splat constants. Index
    constants are not dimensions and stay. `batch.sizes` then has the new
    values. Defaults of which one is 1 to 8 times another are refused, and so
    is a dimension that follows two sizes. Without the option the pass only
    checks that `batch.sizes` is well formed.

    See test/Transforms/specialize-sizes.mlir.
  }];
  let options = [
    ListOption<"sizes", "sizes", "std::string",
               "New values as NAME=NUMBER, separated by commas">,
  ];
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

def VectorizeKernelsPass
    : Pass<"batch-vectorize-kernels", "::mlir::ModuleOp"> {
  let summary = "add the batch dimension to kernels";
  let description = [{
    Makes a `uprog.operator @k.rows` for every `batch.kernel @k` that has none:
    the same tensor code for `n` tasks at once. Every per-task tensor gets a
    leading dimension; `linalg.matvec` with a shared matrix becomes
    `linalg.matmul`, with a per-task matrix a batched matvec; elementwise code
    gets one more parallel loop. Ragged tensors are concatenated: reductions
    over their extent become `batch.segment_reduce`, per-task operands of their
    elementwise code `batch.segment_broadcast`.

    See test/Transforms/vectorize-kernels.mlir.
  }];
  let dependentDialects = ["::mlir::uprog::UProgDialect",
                           "::mlir::batch::BatchDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect",
                           "::mlir::arith::ArithDialect"];
}

#endif // BATCH_TRANSFORMS_PASSES_TD
