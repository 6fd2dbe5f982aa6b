//===- Passes.td - Programs of the executor ----------------*- tablegen -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_TRANSFORMS_EXECUTOR_PASSES_TD
#define BATCH_TRANSFORMS_EXECUTOR_PASSES_TD

include "mlir/Pass/PassBase.td"

def InsertBarriersPass : Pass<"uprog-insert-barriers", "::mlir::ModuleOp"> {
  let summary = "place the barriers that a program for single instances needs";
  let description = [{
    Units that run an instance together share out its tasks, so one may read what
    another has written only after both have met. In programs with `uprog.site`s,
    puts a `uprog.barrier` of the program's level before an op that reads a row that
    has been written since the last barrier, or writes one that has been read or
    written since then; across rounds of loops, too. Two rows are not the same if
    they come from different buffers, or if one was made avoiding the other. What is
    looked up of a node may be any row that is remembered.

    ```mlir
    uprog.run @f.rows step(%writes_y) tasks(%one)
    %c = uprog.load %y[] : tensor<i1>
    // becomes
    uprog.run @f.rows step(%writes_y) tasks(%one)
    uprog.barrier device
    %c = uprog.load %y[] : tensor<i1>
    ```

    See test/Transforms/Executor/insert-barriers.mlir.
  }];
  let dependentDialects = ["::mlir::uprog::UProgDialect"];
}

#endif // BATCH_TRANSFORMS_EXECUTOR_PASSES_TD
