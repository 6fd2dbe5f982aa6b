//===- Passes.td - Order of tasks --------------------------*- tablegen -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_TRANSFORMS_SCHEDULE_PASSES_TD
#define BATCH_TRANSFORMS_SCHEDULE_PASSES_TD

include "mlir/Pass/PassBase.td"

def AssignPhasesPass : Pass<"batch-assign-phases", "::mlir::ModuleOp"> {
  let summary = "Order kernels by their dependences";
  let description = [{
    A kernel that reads results of a recursion of other kernels gets a later
    phase than those kernels. All tasks of the kernel, at any depth, can then
    form one batch after the recursion (ACRoBat, section 4.1).

    If control flow waits for tensors (`batch.force`), kernels that no wait
    depends on are `deferred`: their phases come after all others. `defer=false`
    disables this. With `phases=false`, all kernels that are not deferred get
    phase 0, to measure the benefit of phases.

    ```mlir
    func.func @main(%t: !tree) -> !vec attributes {batch.entry} {
      %h = call @encode(%t) : (!tree) -> !vec                // runs @encode_node
      %y = batch.invoke @main_output(%h) : (!vec) -> !vec
      return %y : !vec
    }
    // becomes
    batch.kernel @encode_node(...) -> !vec attributes {phase = 0 : i64} ...
    batch.kernel @main_output(...) -> !vec attributes {phase = 1 : i64} ...
    ```

    See test/Transforms/Schedule/assign-phases.mlir.
  }];
  let options = [
    Option<"defer", "defer", "bool", /*default=*/"true",
           "After all waits, run the kernels that no wait needs">,
    Option<"phases", "phases", "bool", /*default=*/"true",
           "After a recursion, run the kernels that read its results">,
  ];
}

def TagDepthsPass : Pass<"batch-tag-depths", "::mlir::ModuleOp"> {
  let summary = "Add the depth of every task to the IR";
  let description = [{
    Adds `depth(%d)` to each `batch.invoke`, where `%d` is the `batch.depth` of
    the operands that tasks of the same phase compute. Without such operands,
    the depth is the constant 0, and the operator is hoisted. In the inspector,
    handles carry their depths, so the depth is one maximum per task (ACRoBat,
    section 4.1: inline depth computation). A program with strategy `replicate`
    needs no depths.

    ```mlir
    %hl = func.call @encode(%l) : (!tree) -> !vec
    %hr = func.call @encode(%r) : (!tree) -> !vec
    %h = batch.invoke @encode_node(%hl, %hr) : (!vec, !vec) -> !vec
    // becomes
    %hl = func.call @encode(%l) : (!tree) -> !vec
    %hr = func.call @encode(%r) : (!tree) -> !vec
    %d = batch.depth(%hl, %hr) : !vec, !vec
    %h = batch.invoke @encode_node(%hl, %hr) depth(%d) : (!vec, !vec) -> !vec
    ```

    See test/Transforms/Schedule/tag-depths.mlir.
  }];
  let dependentDialects = ["::mlir::batch::BatchDialect"];
}

def InsertGhostsPass : Pass<"batch-insert-ghosts", "::mlir::ModuleOp"> {
  let summary = "Delay tasks after a branch with fewer tasks than the others";
  let description = [{
    If one branch runs more tasks than another, the depth of a later task that
    reads a result depends on the branch taken. Instances that take different
    branches then run this task in different batches. The branches of a
    `rec.match`, `scf.if` or `scf.index_switch` may compute a value by chains of
    tasks with different, constant lengths. The pass adds one `batch.ghost` to a
    shorter chain for each task that the chain lacks (ACRoBat, section 4.1 and
    appendix A.3). An additional result of the branches passes the ghost to the
    `batch.depth` of later tasks, which read the value itself. Remarks report
    the ghosts.

    ```mlir
    %y = scf.if %c -> !vec {
      %d = batch.depth(%x) : !vec
      %e = batch.invoke @compose(%x) depth(%d) : (!vec) -> !vec
      scf.yield %e : !vec
    } else {
      scf.yield %x : !vec
    }
    %d1 = batch.depth(%y) : !vec
    %z = batch.invoke @cell(%y) depth(%d1) : (!vec) -> !vec
    // becomes
    %y:2 = scf.if %c -> (!vec, !vec) {
      %d = batch.depth(%x) : !vec
      %e = batch.invoke @compose(%x) depth(%d) : (!vec) -> !vec
      scf.yield %e, %e : !vec, !vec
    } else {
      %d0 = batch.depth(%x) : !vec
      %g = batch.ghost %x depth(%d0) : !vec
      scf.yield %x, %g : !vec, !vec
    }
    %d1 = batch.depth(%y#1) : !vec
    %z = batch.invoke @cell(%y#0) depth(%d1) : (!vec) -> !vec
    ```

    Branches that call, loop or wait have no constant length and are left
    unchanged. See test/Transforms/Schedule/insert-ghosts.mlir.
  }];
  let dependentDialects = ["::mlir::batch::BatchDialect"];
}

#endif // BATCH_TRANSFORMS_SCHEDULE_PASSES_TD
