//===- Passes.td - Checks between phases -------------------*- tablegen -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// --autobatch begins with the first of these passes, and each phase ends with
// one of the other passes. None of these passes changes the module.
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_TRANSFORMS_VERIFY_PASSES_TD
#define BATCH_TRANSFORMS_VERIFY_PASSES_TD

include "mlir/Pass/PassBase.td"

def VerifyInputPass : Pass<"batch-verify-input", "::mlir::ModuleOp"> {
  let summary = "Check that a module can be batched";
  let description = [{
    Runs at the start of `--autobatch`. A module that is not lowered yet must
    obey these rules:

    | rule | otherwise |
    |---|---|
    | the module has an entry | no function can be batched |
    | the entry and the functions that it calls have no op of `affine`, `bufferization`, `memref`, `ml_program`, `shape`, `tosa`, `vector`, or of a front end | no pass lowers the op |
    | their values are not buffers, functions or tensors without a rank | the values cannot be batched |

    Each error includes a way to remove the obstacle, such as a pass or tool.

    ```mlir
    func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> attributes {batch.entry} {
      // error: 'tosa.tanh' belongs to unsupported dialect 'tosa'
      %y = tosa.tanh %x : (tensor<4xf32>) -> tensor<4xf32>
      return %y : tensor<4xf32>
    }
    ```

    See test/Transforms/Verify/verify-input-invalid.mlir.
  }];
}

def VerifyKernelsPass : Pass<"batch-verify-kernels", "::mlir::ModuleOp"> {
  let summary =
      "Check that tensor code is in kernels and that tasks have depths";
  let description = [{
    Runs at the end of the phase that creates kernels. The functions for one
    instance must obey these rules, regardless of how their control flow runs
    later:

    | rule | otherwise |
    |---|---|
    | every function that the entry calls has a body | the function cannot be compiled |
    | tensors come from arguments, control flow, ops of `rec` and `batch`, and row views of parameters | nothing computes them |
    | control flow is an op of `rec`, an `scf.if`, `scf.index_switch`, `scf.for` or `scf.while`, or another op of `scf` whose results are scalars | the op has no lowering |
    | control flow reads only static extents, lengths of ragged tensors and numbers of rows of parameters, and only elements of static tensors and of static rows of parameters | the read has no lowering |
    | every `batch.invoke` has a depth, except in strategy `replicate` | the task cannot be recorded |

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
  let summary =
      "Check that inspectors have no tensors and that rows have locations";
  let description = [{
    Runs at the end of the phase that places control flow and assigns memory. A
    module with an inspector must obey these rules:

    | rule | otherwise |
    |---|---|
    | no value of the inspector is a tensor, and the inspector invokes no kernel | the inspector would compute tensors |
    | a recorded kernel specifies how each argument is read (`batch.read`) and in which table each result is stored (`batch.in_table`) | a step cannot find its rows |
    | `batch.in_table` names a table, and `batch.in_source` names a source | the rows would be in another place |

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
  let summary = "Check that one executor runs all recorded kernels";
  let description = [{
    Runs at the end of `--autobatch`. A module with an inspector or a machine
    must obey these rules:

    | rule | otherwise |
    |---|---|
    | the module has exactly one executor (`batch.executor`) | no tasks run, or only some of them |
    | the executor runs the operator of every kernel that is recorded or that a block of the machine invokes | the tasks of the kernel would not be computed |

    In every module, operators contain only ops that code generators support:
    ops of linalg, tensor, arith and math, the segment ops of `batch`,
    `uprog.insert` and `cf.assert`.

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
