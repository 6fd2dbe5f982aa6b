//===- Passes.td - Operators as stages ---------------------*- tablegen -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_CODEGEN_STAGES_PASSES_TD
#define BATCH_CODEGEN_STAGES_PASSES_TD

include "mlir/Pass/PassBase.td"

def StageOperatorsPass : Pass<"uprog-stage-operators", "::mlir::ModuleOp"> {
  let summary = "split operators into stages for a target";
  let description = [{
    The body of each `uprog.operator` becomes a sequence of `uprog.stage` ops,
    each one pass over rows of the same shape. What reads another value only
    element by element is in its stage; what reads other elements of it has an
    earlier stage before it, as late as its readers allow, which stores to
    scratch memory. Views and elementwise code of low cost over operands are
    copied to where they are read. An attribute at each reduction says how it
    runs: contractions with parameters read panels, which are packed when
    parameters are bound.

    How an operator falls into stages depends on the number of vector lanes. For a
    CPU the stages replace the body; for a GPU they are those of a copy of the
    operator in `gpu.module @device`, since the operator becomes unbatched CPU code
    too. Operators that have stages stay as they are.

    ```mlir
    uprog.operator @k.rows(
        %n: index, %x: tensor<?x64xf32> {uprog.operand = #uprog.operand<gather>})
        -> tensor<?x64xf32> {
      %y = math.tanh %x : tensor<?x64xf32>
      uprog.yield %y : tensor<?x64xf32>
    }
    // becomes
    uprog.operator @k.rows(
        %n: index, %x: tensor<?x64xf32> {uprog.operand = #uprog.operand<gather>})
        -> tensor<?x64xf32>
        attributes {uprog.staging = #uprog.staging<cpu, vector_bits = 512, lanes = 16>} {
      %h = uprog.stage rows<tasks> shape [64] reads(%x : tensor<?x64xf32>)
          -> (tensor<?x64xf32>) {
        %y = math.tanh %x : tensor<?x64xf32>
        uprog.yield %y : tensor<?x64xf32>
      }
      uprog.yield %h : tensor<?x64xf32>
    }
    ```

    See test/Codegen/Stages/stage-operators.mlir.
  }];
  let options = [
    Option<"target", "target", "::mlir::uprog::StageTarget",
           /*default=*/"::mlir::uprog::StageTarget::CPU", "For what">,
    Option<"vectorBits", "vector-bits", "int64_t", /*default=*/"512",
           "Width of a vector register of the CPU in bits; a GPU's lanes load 128">,
  ];
  let dependentDialects = ["::mlir::gpu::GPUDialect",
                           "::mlir::tensor::TensorDialect",
                           "::mlir::uprog::UProgDialect"];
}

#endif // BATCH_CODEGEN_STAGES_PASSES_TD
