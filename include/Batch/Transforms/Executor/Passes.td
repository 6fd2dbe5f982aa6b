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
  let summary = "Insert the barriers that a program for single instances needs";
  let description = [{
    Units that run an instance together divide its tasks among them. A unit may
    therefore read a row that another unit has written only after a barrier. In
    programs for single instances (`uprog.site`), the pass inserts barriers of
    the program's level. It inserts a barrier before each op that reads a row
    written since the last barrier, or writes a row read or written since then.
    Accesses by the same unit need no barrier between them. The analysis also
    follows rounds of loops.

    Two rows differ if they come from different buffers, or if one was created
    to avoid the other. A row that is looked up for a node may be any stored
    row.

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
