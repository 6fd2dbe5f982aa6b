//===- Passes.td - Where control runs ----------------------*- tablegen -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_TRANSFORMS_CONTROL_PASSES_TD
#define BATCH_TRANSFORMS_CONTROL_PASSES_TD

include "mlir/Pass/PassBase.td"

def ChooseStrategyPass : Pass<"batch-choose-strategy", "::mlir::ModuleOp"> {
  let summary = "decide where control runs";
  let description = [{
    Gives the entry a `batch.strategy`, unless the source gives one; an option that
    says another is an error. `auto` is the first that is legal: `replicate`, where
    mini-batches have one instance (`instances`) and a loop should run layer after layer
    (`batch-order-loops`); `linearize`, where control reads nothing but inputs and
    parameters, elements of tensors among them; `replicate`, for one instance, or on
    a CPU where `lockstep` is legal, too; `lazy`, where an instance computes at least
    2^22 operations on elements between two waits, by an estimate; `lockstep`; `lazy`,
    which also walks data structures; `replicate`; `none`, one instance at a time. On CPUs
    loops over tensors of few elements come first, with `batch.apart`. With `gpu`, `lazy` is not legal. Remarks say which and why; for `none` a warning does, and `batch.not_batched` keeps it in objects.

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

    A program that no strategy runs is an error here. Whether another strategy than
    `auto` is legal says the pass that does it. See test/Transforms/Control/choose-strategy.mlir.
  }];
  let options = [
    Option<"strategy", "strategy", "::mlir::batch::Strategy",
           /*default=*/"::mlir::batch::Strategy::Auto",
           "'auto', 'linearize', 'lockstep', 'mask' (call by call), 'lazy', "
           "'replicate' or 'none'">,
    Option<"instances", "instances", "int64_t", /*default=*/"64",
           "Instances that a mini-batch has, for 'auto'">,
    Option<"gpu", "gpu", "bool", /*default=*/"false",
           "The program is for a GPU, where control cannot wait">,
  ];
  let dependentDialects = ["::mlir::batch::BatchDialect"];
}

def OrderLoopsPass : Pass<"batch-order-loops", "::mlir::ModuleOp"> {
  let summary = "decide in which order tasks of loops run";
  let description = [{
    In a program of strategy `replicate`, gives loops that know their number of rounds a
    `batch.order`, unless the source does: `layers` where that lets products that
    depend on what rounds compute, but feed no recurrence of their own, read parameters
    once for many rounds that take longer than a barrier; else `rounds`. Remarks say why.
    `order` decides for every loop with several layers, and so can a `tuning` file.
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
           "'auto', 'rounds', 'layers' or 'wavefront'">,
    Option<"gpu", "gpu", "bool", "false", "Estimate for a GPU">,
    Option<"tuning", "tuning", "std::string", "\"\"", "File with choices for loops">
  ];
  let dependentDialects = ["::mlir::batch::BatchDialect"];
}

def InsertForcesPass : Pass<"batch-insert-forces", "::mlir::ModuleOp"> {
  let summary = "mark where control waits for tensors";
  let description = [{
    In a program of strategy `lazy`, puts a numbered `batch.force` in front of each
    element that control reads of a computed tensor: a kernel ends there. Remarks say
    what waits, and which loops. See test/Transforms/Control/insert-forces.mlir.

    ```mlir
    %c = tensor.extract %score[] : tensor<f32>
    // becomes
    %s = batch.force %score number(0) : tensor<f32>
    %c = tensor.extract %s[] : tensor<f32>
    ```
  }];
  let dependentDialects = ["::mlir::batch::BatchDialect"];
}

def ForkCallsPass : Pass<"batch-fork-calls", "::mlir::ModuleOp"> {
  let summary = "let what does not depend on each other wait side by side";
  let description = [{
    In inspectors, ops of a block that may wait and do not depend on each other become
    regions of a `batch.concurrent`; rounds of a `rec.map` get `batch.concurrent_rounds`.
    Ops whose first effect is a wait, for rows recorded earlier only, are not forked.

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
  let summary = "name the rows that are needed after a wait";
  let description = [{
    In inspectors of programs with `transient` tables, puts a `batch.keep` in front
    of each op that may wait and has no region, of each `batch.concurrent`, and of
    each loop whose rounds wait side by side. It names the handles that this call
    of the function may use later. All other rows of transient tables are used
    again once the tasks that read them have run.

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
  let summary = "make the inspector of a program";
  let description = [{
    Copies the instance program with its tensor code taken out: tensors become
    handles, invocations become `batch.record`. Where recursion is bottom-up
    over all nodes it becomes a `batch.traverse`, one loop over the nodes in
    post-order (Cortex, section 2); other recursion stays and remembers its
    calls. The instance program is kept: it is the unbatched lowering.

    Where control reads an element of a tensor that exists before the run, of an
    input, a field or a parameter, the inspector reads it by `batch.extract`. Where
    it reads one of a `batch.force`, it waits for it: `batch.await`; then recursion
    stays. Other control that depends on a tensor that an op computes is an error.
    An entry whose `batch.strategy` is neither `linearize` nor `lazy` is left as it
    is.

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
    // becomes, besides,
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
  let summary = "make a machine of a program with calls and recursion";
  let description = [{
    Copies the entry and all functions that it calls into one `batch.machine`
    (program-counter autobatching, section 3): structured control becomes
    branches between blocks, a call the push of what the caller needs again and
    a `batch.push_jump`. What lives from step to step is a `batch.variable`.
    The instance program is kept: it is the unbatched lowering.

    Each optimization of section 3.2 can be switched off. `live-saves`: a caller
    saves a variable only if it is live across the call. `temporaries`: what
    lives within a step is a value, not a variable. `needed-stacks`: a variable
    has a stack only if it is live across a call that may come to the same
    function again; so programs without recursion have no stacks.
    `cached-tops`: the machine keeps tops apart from stacks. The fifth is
    `batch-cancel-pops`. Besides, a call the results of which are returned as
    they are is a jump with `tail-calls`: such recursion needs no stack.

    A parameter that is passed through calls is an argument of the machine; run
    `batch-duplicate-functions` before, so that each function knows its
    parameters. Data structures (`rec`) and ragged tensors are errors. An entry
    whose `batch.strategy` is not `lockstep` or `mask` is left as it is.

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
           "Save a variable around a call only if it is live across it">,
    Option<"temporaries", "temporaries", "bool", /*default=*/"true",
           "No variable for what lives within a step">,
    Option<"neededStacks", "needed-stacks", "bool", /*default=*/"true",
           "A stack only for what is live across a recursive call">,
    Option<"cachedTops", "cached-tops", "bool", /*default=*/"true",
           "Keep the tops of stacks apart from the rows below them">,
    Option<"tailCalls", "tail-calls", "bool", /*default=*/"true",
           "Jump to a function whose results are returned as they are">,
  ];
  let dependentDialects = ["::mlir::batch::BatchDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::cf::ControlFlowDialect",
                           "::mlir::func::FuncDialect"];
}

def CancelPopsPass : Pass<"batch-cancel-pops", "::mlir::ModuleOp"> {
  let summary = "make updates of pops and pushes";
  let description = [{
    A `batch.pop` followed by a `batch.push` of the same variable, without an
    access in between, becomes a `batch.set` of the top (program-counter
    autobatching, section 3.2, optimization 5). If the push saves the variable
    and nothing reads its top before it is written again, both go: the saved row
    stays where it is, from one call to the next.

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
