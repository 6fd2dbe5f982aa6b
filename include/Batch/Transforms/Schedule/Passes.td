//===- Passes.td - When tasks run ---------------------*- tablegen -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_TRANSFORMS_SCHEDULE_PASSES_TD
#define BATCH_TRANSFORMS_SCHEDULE_PASSES_TD

include "mlir/Pass/PassBase.td"

def AssignPhasesPass : Pass<"batch-assign-phases", "::mlir::ModuleOp"> {
  let summary = "order kernels by what must run before them";
  let description = [{
    A kernel that reads what a recursion of other kernels makes gets a later
    phase than they have: all its tasks, at whatever depth they arise, can be
    one batch when the recursion is over (ACRoBat, section 4.1).

    Where control waits for tensors (`batch.force`), kernels that no wait depends on
    are `deferred`, with phases after all others, unless `defer=false` says not to.
    `phases=false` gives all kernels that are not deferred phase 0, which shows what
    phases bring.

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
           "Run what no wait depends on after all waits">,
    Option<"phases", "phases", "bool", /*default=*/"true",
           "Run what reads a recursion's results after all of it">,
  ];
}

def TagDepthsPass : Pass<"batch-tag-depths", "::mlir::ModuleOp"> {
  let summary = "give every task its depth, in the IR";
  let description = [{
    Adds `depth(%d)` to each `batch.invoke`, with `%d = batch.depth` of the
    operands that tasks of the same phase compute. Where there are none the
    depth is the constant 0: the operator is hoisted. In the inspector the
    handles carry their depths, so this is one maximum per task (ACRoBat,
    section 4.1: inline depth computation).

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
  let summary = "delay what follows a branch with fewer tasks than the others";
  let description = [{
    A task that reads what branches make is one deeper where the branch taken runs one
    more task, so that instances that took different branches run it in different
    batches. Where the branches of a `rec.match`, `scf.if` or `scf.index_switch` make a
    value by chains of tasks of different, constant lengths, shorter ones get a
    `batch.ghost` for each task that they lack (ACRoBat, section 4.1 and appendix A.3).
    A further result of the branches hands it to the `batch.depth` of tasks that follow;
    the tasks read the value itself. A remark says so.

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

    Branches that call, loop or wait have no constant length, and are left alone.
    See test/Transforms/Schedule/insert-ghosts.mlir.
  }];
  let dependentDialects = ["::mlir::batch::BatchDialect"];
}

#endif // BATCH_TRANSFORMS_SCHEDULE_PASSES_TD
