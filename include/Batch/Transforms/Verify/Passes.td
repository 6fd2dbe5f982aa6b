//===- Passes.td - What each phase leaves behind -----------*- tablegen -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// --autobatch begins with the first of these passes, and a phase ends in one. They change nothing.
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_TRANSFORMS_VERIFY_PASSES_TD
#define BATCH_TRANSFORMS_VERIFY_PASSES_TD

include "mlir/Pass/PassBase.td"

def VerifyInputPass : Pass<"batch-verify-input", "::mlir::ModuleOp"> {
  let summary = "check that a module is one that can be batched";
  let description = [{
    The start of `--autobatch`. Of a module that is not lowered yet:

    | rule | else |
    |---|---|
    | it has an entry | there is no function to batch |
    | functions that the entry calls have no op of `affine`, `bufferization`, `memref`, `ml_program`, `shape`, `tosa`, `vector`, or of a front end | no pass lowers it |
    | their values are no buffers, no functions, and no tensors without a rank | they cannot be batched |

    Each error names the pass or tool that removes the obstacle.

    ```mlir
    func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> attributes {batch.entry} {
      // error: 'tosa.tanh' is of dialect 'tosa', which is not batched
      %y = tosa.tanh %x : (tensor<4xf32>) -> tensor<4xf32>
      return %y : tensor<4xf32>
    }
    ```

    See test/Transforms/Verify/verify-input-invalid.mlir.
  }];
}

def VerifyKernelsPass : Pass<"batch-verify-kernels", "::mlir::ModuleOp"> {
  let summary = "check that kernels hold all tensor code, and tasks have depths";
  let description = [{
    The end of the phase that makes kernels. In the functions for one instance,
    whatever runs their control later:

    | rule | else |
    |---|---|
    | every function that the entry calls has a body | nothing can be made of it |
    | tensors come from arguments, control, `batch.invoke` and row views of parameters | nothing computes them |
    | control is that of `rec`, or one of `scf.if`, `scf.index_switch`, `scf.for` and `scf.while` | it is not lowered |
    | an extent is one that control knows | it is not lowered |
    | every `batch.invoke` has a depth | it cannot be recorded |

    ```mlir
    func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> attributes {batch.entry} {
      // error: computes a tensor outside of kernels
      %y = tosa.tanh %x : (tensor<4xf32>) -> tensor<4xf32>
      return %y : tensor<4xf32>
    }
    ```

    See test/Transforms/Verify/verify-kernels-invalid.mlir.
  }];
}

def VerifyPlannedPass : Pass<"batch-verify-planned", "::mlir::ModuleOp"> {
  let summary = "check that the inspector holds no tensors, and steps know their rows";
  let description = [{
    The end of the phase that places control and assigns memory. Of a module with
    an inspector:

    | rule | else |
    |---|---|
    | no value of the inspector is a tensor, and it invokes no kernel | it would compute |
    | a kernel that is recorded says how each argument is read (`batch.read`) and in which table each result lies (`batch.in_table`) | a step does not know its rows |
    | what `batch.in_table` and `batch.in_source` name is a table, or a source | rows would be those of another one |

    ```mlir
    func.func @main.inspect(%x: !batch.handle) -> !batch.handle
        attributes {batch.inspector} {
      %d = batch.depth(%x) : !batch.handle
      // error: result #0 of kernel @k has no table
      %y = batch.record @k(%x) depth(%d) : (!batch.handle) -> !batch.handle
      return %y : !batch.handle
    }
    ```

    See test/Transforms/Verify/verify-planned-invalid.mlir.
  }];
}

def VerifyExecutorPass : Pass<"batch-verify-executor", "::mlir::ModuleOp"> {
  let summary = "check that one executor runs all that is recorded";
  let description = [{
    The end of `--autobatch`. Of a module with an inspector or a machine:

    | rule | else |
    |---|---|
    | it has one executor (`batch.executor`) | nothing, or not everything, runs |
    | the executor runs the operator of every kernel that is recorded, or that a block of the machine invokes | its tasks would not be computed |

    And of every module: operators consist of what code generators take, which is
    linalg, tensor, arith, math and the segment ops of `batch`.

    ```mlir
    uprog.operator @k.rows(%n: index) {
      // error: is not supported in an operator yet
      %c = complex.constant [1.0 : f32, 0.0 : f32] : complex<f32>
      uprog.yield
    }
    ```

    See test/Transforms/Verify/verify-executor-invalid.mlir.
  }];
}

#endif // BATCH_TRANSFORMS_VERIFY_PASSES_TD
