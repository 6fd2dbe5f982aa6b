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
