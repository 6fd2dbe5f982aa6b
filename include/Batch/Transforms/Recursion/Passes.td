//===- Passes.td - Scheduling of recursion -----------------*- tablegen -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_TRANSFORMS_RECURSION_PASSES_TD
#define BATCH_TRANSFORMS_RECURSION_PASSES_TD

include "mlir/Pass/PassBase.td"

def RefactorPass : Pass<"rec-refactor", "::mlir::ModuleOp"> {
  let summary = "move the backedge of recursion";
  let description = [{
    Cuts a recursive function where ops are marked `rec.backedge`, behind its
    recursive calls (Cortex, section 3.1, figure 4). The *tail*, the marked ops
    and what depends on them, moves to all callers; the *head* is what is left
    and returns what the tail reads. So a call computes the tails of its
    children and the head of its node as one straight line and one kernel, which
    are kernels apart where a recursive call or other control lies between them.
    Every value is computed as before, with equal bits.

    A mark may be in cases of a match on the function's argument, one in each
    case that calls recursively, or behind the match. In a case, each case cut
    becomes a function, and callers get a copy of the code for each variant of
    the child, base cases included, as with `rec-specialize`: a loop over the
    nodes becomes a recursion. Behind the match, the tail is the same for all
    variants and nothing is copied. The tails of children in a list are code of
    the map over it, and so kernels of their own. A mark on the call of a helper
    function counts for all its ops. Without marks nothing changes.

    The head's stages stay stages of the kernel that takes it in, with a
    barrier between each two. Two workers, on a mark behind the match, need half as
    many batches, 0 to 3 % fewer barriers and as much time; with a mark in a case
    more of both and 12 to 17 % more time (benchmarks/README.md, Ablation).

    A shared child would have its tail computed by each of its parents, so the
    ADT of the children has to be of kind `tree` or `sequence`.

    ```mlir
    func.func private @encode(%t: !tree) -> !vec {
      %h = rec.match %t : !tree -> !vec {
      case @leaf(%x: !vec) {
        rec.yield %x : !vec
      }
      case @node(%l: !tree, %r: !tree) {
        %hl = func.call @encode(%l) : (!tree) -> !vec
        %hr = func.call @encode(%r) : (!tree) -> !vec
        %s = arith.addf %hl, %hr : !vec
        %y = math.tanh %s {rec.backedge} : !vec
        rec.yield %y : !vec
      } }
      return %h : !vec
    }
    // becomes
    func.func private @encode_head(%l: !tree, %r: !tree) -> !vec {
      ...  // a match on %l, and in its cases one on %r; where both are nodes:
      %sl = func.call @encode_head(%ll, %lr) : (!tree, !tree) -> !vec
      %hl = math.tanh %sl : !vec
      %sr = func.call @encode_head(%rl, %rr) : (!tree, !tree) -> !vec
      %hr = math.tanh %sr : !vec
      %s = arith.addf %hl, %hr : !vec
      ...
    }
    ```

    See test/Transforms/Recursion/refactor.mlir.
  }];
  let options = [
    Option<"maxCopies", "max-copies", "int64_t", /*default=*/"256",
           "Most copies of code that one function may get">,
  ];
  let dependentDialects = ["::mlir::func::FuncDialect",
                           "::mlir::rec::RecDialect"];
}

def SpecializePass : Pass<"rec-specialize", "::mlir::ModuleOp"> {
  let summary = "give structural tests code of their own";
  let description = [{
    Moves the test of a child's variant from the callee to the caller (Cortex,
    section 3.1): the code around a recursive call gets a copy for each variant
    of the child that the call takes, and in the copies for the tested variant
    the callee's code replaces the call. It is one straight line with the
    caller's then, so it becomes one kernel with it, and zeros that a base case
    returns fold in it. A test is

    - `leaf`: any child that a recursive call takes, a field or an element of a
      list, is of the variant @leaf. Each call gets a test of its own, so all
      combinations get code;
    - `node(leaf,_)`: the value is a @node of which the first field is a @leaf
      and the second is anything. Fields are tested in order, each where those
      before it are as the test says; other cases keep their calls.

    Kernels with equal code are one, however many copies there are. Every value
    is computed as before, with equal bits. A loop over all nodes becomes a
    recursion, so without tests the pass only decides matches in cases of a
    match on the same value, which never loses. Shared children would be
    computed again, so the ADT of the children has to be of kind `tree` or
    `sequence`.

    Two workers take 0 to 10 % longer for the trees measured with `test=leaf`
    (benchmarks/README.md, Ablation): fewer tasks, but not fewer barriers.
    Children in lists stay tasks of their own, so nothing changes for child-sum
    cells.

    ```mlir
    case @node(%l: !tree, %r: !tree) {
      %hl = func.call @encode(%l) : (!tree) -> !vec
      %hr = func.call @encode(%r) : (!tree) -> !vec
      %s = arith.addf %hl, %hr : !vec
      rec.yield %s : !vec
    }
    // becomes, with test=leaf,
    case @node(%l: !tree, %r: !tree) {
      %h = rec.match %l : !tree -> !vec {
      case @leaf(%x: !vec) {
        ...
        %hl = math.exp %x : !vec                   // what @encode does
        ...
      }
      case @node(%ll: !tree, %lr: !tree) {
        ...
        %hll = func.call @encode(%l) : (!tree) -> !vec
        ...
    ```

    See test/Transforms/Recursion/specialize.mlir.
  }];
  let options = [
    ListOption<"tests", "test", "std::string",
               "Tests: 'variant' or 'variant(field,...)'">,
    Option<"maxCopies", "max-copies", "int64_t", /*default=*/"256",
           "Most copies of code that one function may get">,
  ];
  let dependentDialects = ["::mlir::rec::RecDialect"];
}

def UnrollPass : Pass<"rec-unroll", "::mlir::ModuleOp"> {
  let summary = "unroll recursion";
  let description = [{
    With `factor=2`, a recursive call becomes what it calls: the code of a node
    computes the node's children too, and calls go to the children of those
    (Cortex, section 3.1, figure 3). There is a case for each combination of
    variants, so each is one straight line and one kernel, and what a child
    hands to its parent stays inside. Half as many levels are left, each with
    more kinds of kernels; the tasks of a level, and so all siblings that a
    level computes, are batched as before. Every value is computed as before,
    with equal bits.

    There are fewer tasks, but mostly more barriers: there is one between the
    stages of a kernel, and an unrolled one has those of two levels. Two workers
    take 1 to 19 % longer for binary trees with `factor=2` (benchmarks/README.md,
    Ablation); sequences have fewer batches and have not been timed. Children in
    lists stay tasks of their own, so child-sum cells have the same tasks and
    barriers with it and without.

    Where nodes are shared, unrolling would compute them again, so the ADTs of
    the children have to be of kind `tree` or `sequence`.

    ```mlir
    case @cons(%x: !vec, %rest: !list) {
      %h = func.call @chain(%rest) : (!list) -> !vec
      %s = arith.addf %h, %x : !vec
      rec.yield %s : !vec
    }
    // becomes, with factor=2,
    case @cons(%x: !vec, %rest: !list) {
      %h = rec.match %rest : !list -> !vec {
      case @nil(%y: !vec) {
        %s = arith.addf %y, %x : !vec
        rec.yield %s : !vec
      }
      case @cons(%z: !vec, %rest2: !list) {
        %h2 = func.call @chain(%rest2) : (!list) -> !vec
        %s2 = arith.addf %h2, %z : !vec
        %s1 = arith.addf %s2, %x : !vec
        rec.yield %s1 : !vec
      } }
      rec.yield %h : !vec
    }
    ```

    See test/Transforms/Recursion/unroll.mlir.
  }];
  let options = [
    Option<"factor", "factor", "int64_t", /*default=*/"1",
           "How many levels one call computes; 1 leaves recursion as it is">,
    Option<"maxCopies", "max-copies", "int64_t", /*default=*/"256",
           "Most copies of code that one function may get">,
  ];
  let dependentDialects = ["::mlir::rec::RecDialect"];
}

def FoldZerosPass : Pass<"rec-fold-zeros", "::mlir::ModuleOp"> {
  let summary = "take products with zero tensors out of base cases";
  let description = [{
    A base case often runs the cell on an initial state of zeros (Cortex,
    section 4.3). Zeros are followed through elementwise and shape ops, and
    through calls: an argument that is the same constant in all calls becomes
    the constant, and where only the first call of a recursion hands over zeros,
    that level gets a copy of the code.

    A contraction of a zero tensor with what is equal for all tasks then leaves
    the case: it is computed once, from -0.0, and added. Adding zeros rounds
    nothing, so no bit changes, not even for parameters that are infinite or not
    a number. A module without such contractions is left as it is. What depends
    on no node but on parameters alone needs no pass: `batch-outline-kernels`
    makes it a kernel that runs once.

    With `assume-finite`, no value is infinite or not a number, and the sign of
    a zero does not matter. Then a contraction with zeros is what it starts
    from, `x + 0` is `x`, `x * 0` is `0`, and what only they needed goes too: a
    forget gate whose cell state is zero, say.

    ```mlir
    %a = linalg.matvec ins(%U, %zero : !mat, !vec) outs(%wx : !vec) -> !vec
    // becomes
    %minus = arith.constant dense<-0.000000e+00> : !vec
    %z = linalg.matvec ins(%U, %zero : !mat, !vec) outs(%minus : !vec) -> !vec
    %a = arith.addf %wx, %z : !vec
    // and with assume-finite: %wx
    ```

    See test/Transforms/Recursion/fold-zeros.mlir.
  }];
  let options = [
    Option<"assumeFinite", "assume-finite", "bool", /*default=*/"false",
           "No value is infinite or NaN; the sign of a zero does not matter">,
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

#endif // BATCH_TRANSFORMS_RECURSION_PASSES_TD
