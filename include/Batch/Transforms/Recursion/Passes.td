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
  let summary = "Move the backedge of a recursion";
  let description = [{
    Cuts a recursive function at ops marked `rec.backedge`, after its recursive
    calls (Cortex, section 3.1, figure 4). The *tail*, which consists of the
    marked ops and all ops that depend on them, moves to all callers. The
    *head*, which is the rest, returns the values that the tail reads. A call
    then computes the tails of its children and the head of its node as
    straight-line code in one kernel. Tails and head are separate kernels if a
    recursive call or other control flow is between them. All values remain
    bit-identical.

    A mark may follow a match on the function's argument. It may also be in the
    cases of the match, once in each case that calls recursively. Each case with
    a mark becomes a function. Callers get a copy of the code for each variant
    of the child, including base cases, as with `rec-specialize`: a loop over
    the nodes becomes a recursion. If the mark follows the match, the tail is
    the same for all variants and nothing is copied. The tails of children in a
    list are code of the map over the list, and therefore separate kernels. A
    mark on the call of a helper function applies to all ops of the helper. A
    module without marks is left unchanged.

    The stages of the head remain stages of the kernel that includes it, with a
    barrier between consecutive stages. With a mark after the match, two workers
    need half as many batches and 0 to 3 % fewer barriers, in the same time.
    With a mark in a case, they need more batches, more barriers and 12 to 17 %
    more time (benchmarks/README.md, Ablation).

    Each parent would recompute the tail of a shared child, so the ADT of the
    children must have kind `tree` or `sequence`.

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
           "Allow at most this many copies of code in one function">,
  ];
  let dependentDialects = ["::mlir::func::FuncDialect",
                           "::mlir::rec::RecDialect"];
}

def SpecializePass : Pass<"rec-specialize", "::mlir::ModuleOp"> {
  let summary = "Generate separate code for each outcome of structural tests";
  let description = [{
    Moves the test of a child's variant from the callee to the caller (Cortex,
    section 3.1). The code around a recursive call is copied for each variant of
    the child that the call takes. In the copies for the tested variant, the
    callee's code replaces the call. The code of callee and caller then forms
    straight-line code and becomes one kernel, which can fold zeros that a base
    case returns. There are two kinds of tests:

    - `leaf`: any child that a recursive call takes (a field or an element of a
      list) is of variant @leaf. Each call gets a separate test, so all
      combinations get code.
    - `node(leaf,_)`: the value is a @node whose first field is a @leaf and
      whose second field is anything. Fields are tested in order, each one only
      if those before it match. Other cases keep their calls.

    Kernels with equal code are merged, however many copies there are. All
    values remain bit-identical. A test turns a loop over all nodes into a
    recursion. Without tests, the pass only resolves matches in cases of a match
    on the same value, which never increases the run time. Code for structural
    tests would recompute shared children, so the ADT of the children must have
    kind `tree` or `sequence`.

    With `test=leaf`, two workers take 0 to 10 % longer for the measured trees
    (benchmarks/README.md, Ablation): there are fewer tasks, but not fewer
    barriers. Children in lists remain separate tasks, so nothing changes for
    child-sum cells.

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
        %hl = math.exp %x : !vec                   // the code of @encode
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
               "Generate separate code for these tests: 'variant' or "
               "'variant(field,...)'">,
    Option<"maxCopies", "max-copies", "int64_t", /*default=*/"256",
           "Allow at most this many copies of code in one function">,
  ];
  let dependentDialects = ["::mlir::rec::RecDialect"];
}

def UnrollPass : Pass<"rec-unroll", "::mlir::ModuleOp"> {
  let summary = "Unroll recursion";
  let description = [{
    With `factor=2`, a recursive call is replaced by the code that it calls. The
    code of a node then also computes the node's children, and calls take the
    grandchildren (Cortex, section 3.1, figure 3). There is a case for each
    combination of variants. Each case is thus straight-line code in one kernel,
    and the values that a child passes to its parent remain in the kernel. Half
    as many levels remain, each with more kinds of kernels. The tasks of a
    level, and therefore all siblings that a level computes, are batched as
    before. All values remain bit-identical.

    There are fewer tasks but usually more barriers. A kernel has a barrier
    between its stages, and an unrolled kernel has the stages of two levels. Two
    workers take 1 to 19 % longer for binary trees with `factor=2`
    (benchmarks/README.md, Ablation). Sequences have fewer batches and have not
    been timed. Children in lists remain separate tasks, so child-sum cells have
    the same tasks and barriers with and without unrolling.

    Unrolling would recompute shared nodes, so the ADTs of the children must
    have kind `tree` or `sequence`.

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
           "Compute this many levels per call (1: do not unroll)">,
    Option<"maxCopies", "max-copies", "int64_t", /*default=*/"256",
           "Allow at most this many copies of code in one function">,
  ];
  let dependentDialects = ["::mlir::rec::RecDialect"];
}

def FoldZerosPass : Pass<"rec-fold-zeros", "::mlir::ModuleOp"> {
  let summary = "Move products with zero tensors out of base cases";
  let description = [{
    A base case often runs the cell on an initial state of zeros (Cortex,
    section 4.3). The pass follows zeros through elementwise and shape ops, and
    through calls. An argument that is the same constant in all calls becomes
    the constant. If only the outermost call of a recursive function passes
    zeros, that level gets its own copy of the code.

    A contraction of a zero tensor with a value that is equal for all tasks is
    then moved out of the case: it is computed once, starting from -0.0, and
    added. Adding zeros involves no rounding, so results remain bit-identical,
    even if parameters are infinite or NaN. In a module without such
    contractions, only constant arguments change. Products that depend only on
    parameters need no pass, because `batch-outline-kernels` outlines them as
    kernels that run once.

    With `assume-finite`, the pass assumes that no value is infinite or NaN, and
    ignores the signs of zeros. Then `x + 0` becomes `x`, `x * 0` becomes `0`,
    and a contraction with zeros becomes its initial value. Code whose results
    are unused is removed, such as a forget gate whose cell state is zero.

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
           "Assume that no value is infinite or NaN; ignore signs of zeros">,
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

#endif // BATCH_TRANSFORMS_RECURSION_PASSES_TD
