//===- Passes.td - Placement of control flow ---------------*- tablegen -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_TRANSFORMS_CONTROL_PASSES_TD
#define BATCH_TRANSFORMS_CONTROL_PASSES_TD

include "mlir/Pass/PassBase.td"

def ChooseStrategyPass : Pass<"batch-choose-strategy", "::mlir::ModuleOp"> {
  let summary = "Decide where control flow runs";
  let description = [{
    Sets `batch.strategy` of the entry. If the source specifies a strategy, an
    option that requests another one is an error. `auto` selects the first of
    these strategies that is legal:
    1. `replicate`, `batch.per_unit`: on a CPU, if loops use only small tensors
    2. `replicate`: for one instance (`instances`), if a loop should run layer
       after layer (`batch-order-loops`)
    3. `linearize`: control flow reads only inputs, parameters or their elements
    4. `replicate`: for one instance, on a GPU, or if `lockstep` is also legal
    5. `lazy`: at least 2^22 operations on elements between waits (estimate)
    6. `lockstep`; `lazy`, which also walks data structures; `replicate`; `none`

    `none` runs one instance at a time. With `gpu`, `lazy` is not legal. Remarks
    report the choice and its reason. For `none`, the pass emits a warning, and
    objects store the reason (`batch.not_batched`). A program that no strategy
    can run is an error. Later passes check that a requested strategy is legal.
    ```mlir
    func.func @main(%n: i64) -> i64 attributes {batch.entry} {
      return %n : i64
    }
    // becomes, with strategy=lockstep,
    func.func @main(%n: i64) -> i64
        attributes {batch.entry, batch.strategy = #batch.strategy<lockstep>} {
      return %n : i64
    }
    ```
    See test/Transforms/Control/choose-strategy.mlir.
  }];
  let options = [
    Option<"strategy", "strategy", "::mlir::batch::Strategy",
           /*default=*/"::mlir::batch::Strategy::Auto",
           "Choose 'auto', 'linearize', 'lockstep', 'mask' (call by call), "
           "'lazy', 'replicate' or 'none'">,
    Option<"instances", "instances", "int64_t", /*default=*/"64",
           "Expect mini-batches of this many instances, for 'auto'">,
    Option<"gpu", "gpu", "bool", /*default=*/"false",
           "Choose for a GPU, where control flow cannot wait">,
  ];
  let dependentDialects = ["::mlir::batch::BatchDialect"];
}

def OrderLoopsPass : Pass<"batch-order-loops", "::mlir::ModuleOp"> {
  let summary = "Decide the order in which tasks of loops run";
  let description = [{
    With strategy `replicate`, sets `batch.order` of each counted loop with more
    than two layers, unless the source specifies it. With `layers`, products
    that depend on a recurrence but belong to none read parameters once for many
    rounds. The pass selects `layers` if reading these parameters takes at least
    as long as a barrier, else `rounds`. Remarks report the reason. `order`
    overrides the choice for all loops, and a `tuning` file for single loops.
    ```mlir
      scf.yield %next, %sum : !vec, !vec
    }
    // becomes
      scf.yield %next, %sum : !vec, !vec
    } {batch.order = #batch.order<layers>}
    ```
    See test/Transforms/Control/order-loops.mlir.
  }];
  let options = [
    Option<"order", "order", "::mlir::batch::LoopOrder",
           /*default=*/"::mlir::batch::LoopOrder::Auto",
           "Choose 'auto', 'rounds', 'layers' or 'wavefront'">,
    Option<"gpu", "gpu", "bool", "false", "Estimate times for a GPU">,
    Option<"tuning", "tuning", "std::string", "\"\"",
           "Read loop orders from this file">
  ];
  let dependentDialects = ["::mlir::batch::BatchDialect"];
}

def InsertForcesPass : Pass<"batch-insert-forces", "::mlir::ModuleOp"> {
  let summary = "Mark where control flow waits for tensors";
  let description = [{
    In a program with strategy `lazy`, inserts a numbered `batch.force` wherever
    control flow reads an element of a computed tensor. Kernels end at these
    ops. Remarks report each wait, and the loops and recursions that wait.
    ```mlir
    %c = tensor.extract %score[] : tensor<f32>
    // becomes
    %s = batch.force %score number(0) : tensor<f32>
    %c = tensor.extract %s[] : tensor<f32>
    ```
    See test/Transforms/Control/insert-forces.mlir.
  }];
  let dependentDialects = ["::mlir::batch::BatchDialect"];
}

def ForkCallsPass : Pass<"batch-fork-calls", "::mlir::ModuleOp"> {
  let summary = "Let independent ops wait concurrently";
  let description = [{
    In inspectors, moves ops that may wait and do not depend on each other into
    the regions of a `batch.concurrent`. A `rec.map` whose rounds may wait gets
    the attribute `batch.concurrent_rounds`. Ops that wait before they record
    anything, and only for rows recorded earlier, are not forked.
    ```mlir
    %l = func.call @w(%x) : (!batch.handle) -> f32
    %r = func.call @w(%y) : (!batch.handle) -> f32
    // becomes
    %lr:2 = batch.concurrent : f32, f32 {
      %a = func.call @w(%x) : (!batch.handle) -> f32
      batch.yield %a : f32
    }, {
      %b = func.call @w(%y) : (!batch.handle) -> f32
      batch.yield %b : f32
    }
    ```
    See test/Transforms/Control/fork-calls.mlir.
  }];
  let dependentDialects = ["::mlir::batch::BatchDialect"];
}

def KeepRowsPass : Pass<"batch-keep-rows", "::mlir::ModuleOp"> {
  let summary = "List the rows that are needed after a wait";
  let description = [{
    Applies to inspectors of programs with `transient` tables. Inserts a
    `batch.keep` before each `batch.await`, each call that may wait, each
    `batch.concurrent`, and each loop whose rounds wait concurrently. The op
    names the handles that this call of the function may use later. The memory
    of other rows of transient tables is reused after the tasks that read these
    rows have run.
    ```mlir
    %more = batch.await %score[%zero] number(0) : tensor<1xi1>
    %y = batch.record @cell(%h) depth(%d) : (!batch.handle) -> !batch.handle
    // becomes
    batch.keep(%score, %h : !batch.handle, !batch.handle)
    %more = batch.await %score[%zero] number(0) : tensor<1xi1>
    %y = batch.record @cell(%h) depth(%d) : (!batch.handle) -> !batch.handle
    ```
    See test/Transforms/Control/keep-rows.mlir.
  }];
  let dependentDialects = ["::mlir::batch::BatchDialect"];
}

def LinearizePass : Pass<"batch-linearize", "::mlir::ModuleOp"> {
  let summary = "Create the inspector of a program";
  let description = [{
    Copies the instance program without its tensor code: tensors become handles,
    and invocations become `batch.record`. Bottom-up recursion over all nodes
    becomes a `batch.traverse`, one loop over the nodes in post-order (Cortex,
    section 2). Other recursion remains and memoizes its calls, except calls
    that wait and take no node. The instance program remains for unbatched runs.

    Inputs, fields and parameters exist before the run, so the inspector reads
    their elements with `batch.extract`. With `batch.await`, it waits for an
    element of the result of a `batch.force`; in this case, recursion remains.
    Other control flow that depends on a computed tensor is an error. An entry
    whose `batch.strategy` is neither `linearize` nor `lazy` is left unchanged.
    ```mlir
    func.func private @encode(%t: !tree) -> !vec {
      %h = rec.match %t : !tree -> !vec {
      case @leaf(%x: !vec) {
        rec.yield %x : !vec
      }
      case @node(%l: !tree, %r: !tree) {
        %hl = func.call @encode(%l) : (!tree) -> !vec
        %hr = func.call @encode(%r) : (!tree) -> !vec
        %d = batch.depth(%hl, %hr) : !vec, !vec
        %y = batch.invoke @encode_node(%hl, %hr) depth(%d) : (!vec, !vec) -> !vec
        rec.yield %y : !vec
      } }
      return %h : !vec
    }
    // becomes the input plus:
    func.func private @encode.inspect(%t: !tree) -> !batch.handle {
      ...
      case @node(%l: !tree, %r: !tree) {
        %hl = batch.lookup @encode.inspect(%l) : (!tree) -> !batch.handle
        %hr = batch.lookup @encode.inspect(%r) : (!tree) -> !batch.handle
        %d = batch.depth(%hl, %hr) : !batch.handle, !batch.handle
        %y = batch.record @encode_node(%hl, %hr) depth(%d)
               : (!batch.handle, !batch.handle) -> !batch.handle
        rec.yield %y : !batch.handle
      }
      ...
    }
    ...
    func.func @main.traverse() attributes {batch.traversal} {
      batch.traverse [@encode.inspect]
      return
    }
    ```
    See test/Transforms/Control/linearize.mlir.
  }];
  let dependentDialects = ["::mlir::batch::BatchDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::func::FuncDialect",
                           "::mlir::rec::RecDialect"];
}

def RecursionToStackPass
    : Pass<"batch-recursion-to-stack", "::mlir::ModuleOp"> {
  let summary = "Convert a program with calls and recursion to a machine";
  let description = [{
    Copies the entry and all functions that it calls into one `batch.machine`
    (program-counter autobatching, section 3). Structured control flow becomes
    branches between blocks. A call becomes pushes of the values that the caller
    still needs, and a `batch.push_jump`. A value live across steps becomes a
    `batch.variable`. The instance program remains for unbatched runs.

    Each optimization of section 3.2 can be disabled. With `live-saves`, a
    caller saves a variable only if it is live across the call. With
    `temporaries`, a value that is live only within one step needs no variable.
    With `needed-stacks`, a variable has a stack only if it is live across a
    call that may reach the same function again. Programs without recursion then
    have no stacks. With `cached-tops`, the machine stores tops separately from
    stacks. The pass `batch-cancel-pops` is the fifth optimization. In addition,
    with `tail-calls`, a call whose results are returned unchanged becomes a
    jump, and recursion by such calls needs no stack.

    A parameter that is passed through calls is an argument of the machine. Run
    `batch-duplicate-functions` first, so that each function has only one set of
    parameters. Data structures (`rec`) and ragged tensors are errors. An entry
    whose `batch.strategy` is neither `lockstep` nor `mask` is left unchanged.
    ```mlir
    func.func private @fib(%n: i64) -> i64 {
      %one = arith.constant 1 : i64
      %base = arith.cmpi sle, %n, %one : i64
      %r = scf.if %base -> i64 {
        scf.yield %one : i64
      } else {
        %n1 = arith.subi %n, %one : i64
        %a = func.call @fib(%n1) : (i64) -> i64
        %n2 = arith.subi %n1, %one : i64
        %b = func.call @fib(%n2) : (i64) -> i64
        %s = arith.addi %a, %b : i64
        scf.yield %s : i64
      }
      return %r : i64
    }
    // becomes
    batch.block @fib.2 {
      %n = batch.top @fib.arg0 : i64
      %one = arith.constant 1 : i64
      %n1 = arith.subi %n, %one : i64
      batch.set @fib.v0, %n1 : i64
      batch.push @fib.v0                           // for the second call
      batch.set @fib.arg0, %n1 : i64
      batch.push_jump @fib.0 return_to(@fib.3)
    }
    batch.block @fib.3 {
      %a = batch.top @main.result0 : i64
      batch.pop @fib.v0
      ...
    ```
    See test/Transforms/Control/recursion-to-stack.mlir.
  }];
  let options = [
    Option<"liveSaves", "live-saves", "bool", /*default=*/"true",
           "Save a variable around a call only if it is live across the call">,
    Option<"temporaries", "temporaries", "bool", /*default=*/"true",
           "Use no variable for a value that is live only within one step">,
    Option<"neededStacks", "needed-stacks", "bool", /*default=*/"true",
           "Use a stack only for values that are live across a recursive call">,
    Option<"cachedTops", "cached-tops", "bool", /*default=*/"true",
           "Store the tops of stacks separately from the rows below them">,
    Option<"tailCalls", "tail-calls", "bool", /*default=*/"true",
           "Replace a call whose results are returned unchanged with a jump">,
  ];
  let dependentDialects = ["::mlir::batch::BatchDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::cf::ControlFlowDialect",
                           "::mlir::func::FuncDialect"];
}

def CancelPopsPass : Pass<"batch-cancel-pops", "::mlir::ModuleOp"> {
  let summary = "Replace pops and pushes with updates";
  let description = [{
    Replaces a `batch.pop` and a later `batch.push` of the same variable with a
    `batch.set` of the top (program-counter autobatching, section 3.2,
    optimization 5). No op in between may access the variable. If the push saves
    the variable and nothing reads its top before the next write, both ops are
    removed. The saved row then remains in place from one call to the next.
    ```mlir
    batch.pop @fib.arg0
    %m = arith.addi %n, %n : i64
    batch.push @fib.arg0, %m : i64
    // becomes
    %m = arith.addi %n, %n : i64
    batch.set @fib.arg0, %m : i64
    ```
    See test/Transforms/Control/cancel-pops.mlir.
  }];
}

#endif // BATCH_TRANSFORMS_CONTROL_PASSES_TD
