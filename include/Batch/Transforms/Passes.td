//===- Passes.td - Passes within a level -------------------*- tablegen -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_TRANSFORMS_PASSES_TD
#define BATCH_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

//===----------------------------------------------------------------------===//
// Library
//===----------------------------------------------------------------------===//

def LinkLibraryPass : Pass<"batch-link-library", "::mlir::ModuleOp"> {
  let summary = "define functions of the library that a model declares";
  let description = [{
    The compiler brings a small library of functions in plain MLIR
    ([Library.md](Library.md)). A declaration of one of them becomes its
    definition, together with what it calls. Other declarations stay, and a
    definition of the module's own is never replaced.

    ```mlir
    func.func private @random.uniform.f32(i32) -> f32
    // becomes
    func.func private @random.uniform.f32(%bits: i32) -> f32 {
      ...
    ```

    Some functions are written for any size, and over functions of the model's: a
    group of them is a module with `batch.sizes`, and declares what it expects the
    model to define. The types of the first declaration give the sizes. What the
    model's function reads besides follows the arguments of all functions that
    call it. [Library.md](Library.md) has an example.

    See test/Transforms/link-library.mlir and link-library-sizes.mlir.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::func::FuncDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::math::MathDialect",
                           "::mlir::scf::SCFDialect",
                           "::mlir::tensor::TensorDialect"];
}

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

def SpecializeSizesPass : Pass<"batch-specialize-sizes", "::mlir::ModuleOp"> {
  let summary = "give the named sizes of a model other values";
  let description = [{
    A module may name its sizes with their defaults:
    `module attributes {batch.sizes = {H = 256 : index}}`. Every static tensor
    dimension that is 1 to 8 times a default follows the size: with `H=64`,
    `tensor<1024x256xf32>` becomes `tensor<256x64xf32>`. So do static offsets,
    sizes and strides of slices and the extents of splat constants. Index
    constants are not dimensions and stay. `batch.sizes` then has the new
    values. Defaults of which one is 1 to 8 times another are refused, and so
    is a dimension that follows two sizes. Without the option the pass only
    checks that `batch.sizes` is well formed.

    Code gets a size as a number by `tensor.dim`: that of a static dimension is a
    constant after this pass.

    See test/Transforms/specialize-sizes.mlir.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
  let options = [
    ListOption<"sizes", "sizes", "std::string",
               "New values as NAME=NUMBER, separated by commas">,
  ];
}

//===----------------------------------------------------------------------===//
// Branches
//===----------------------------------------------------------------------===//

def LiftCFPass : Pass<"batch-lift-cf", "::mlir::ModuleOp"> {
  let summary = "make scf of the branches of functions";
  let description = [{
    A function of several blocks becomes one block of `scf.if`,
    `scf.index_switch` and `scf.while`, by upstream's transformation of control
    flow graphs. Loops with several ways in or out, and branches that cross,
    become such with a number that says where they go on. No bit of a result
    changes.

    ```mlir
      cf.br ^loop(%n : i64)
    ^loop(%i: i64):
      %more = arith.cmpi sgt, %i, %zero : i64
      %less = arith.subi %i, %one : i64
      cf.cond_br %more, ^loop(%less : i64), ^end
    // becomes
      %r = scf.while (%i = %n) : (i64) -> i64 {
        %more = arith.cmpi sgt, %i, %zero : i64
        %less = arith.subi %i, %one : i64
        %next = scf.if %more -> i64 { scf.yield %less } else { scf.yield %0 }
        scf.condition(%more) %next : i64
      } do { ... }
    ```

    Values that a path does not have are zeros there. A value of a type that has
    no zero, such as an ADT, is an error where it would need one, and so is a loop
    without a way out.

    See test/Transforms/lift-cf.mlir.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::cf::ControlFlowDialect",
                           "::mlir::scf::SCFDialect"];
}

//===----------------------------------------------------------------------===//
// Lists
//===----------------------------------------------------------------------===//

def ListElementsPass : Pass<"batch-list-elements", "::mlir::ModuleOp"> {
  let summary = "walk list-shaped ADTs by the lists of their elements";
  let description = [{
    A map or fold over a value of a list-shaped ADT becomes one over the list of
    its elements, which `rec.elements` gives. So only that op has to know how
    such a value is taken apart.

    ```mlir
    %n = rec.fold %w: index in %words init(%m = %zero)
        : !rec.adt<@Words> -> index { ... }
    // becomes
    %list = rec.elements %words : !rec.adt<@Words> -> !rec.list<index>
    %n = rec.fold %w in %list init(%m = %zero) : !rec.list<index> -> index { ... }
    ```

    See test/Transforms/list-elements.mlir.
  }];
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

def InlineHelpersPass : Pass<"batch-inline-helpers", "::mlir::ModuleOp"> {
  let summary = "inline functions that do not recurse";
  let description = [{
    A function of one block that cannot call itself is copied into its callers
    and removed, callees first. Recursion and the entry stay: upstream's inliner
    may unroll recursion for ever.

    See test/Transforms/inline-helpers.mlir.
  }];
}

def DuplicateFunctionsPass
    : Pass<"batch-duplicate-functions", "::mlir::ModuleOp"> {
  let summary = "make a function for each set of weights it is called with";
  let description = [{
    A recursive function that is called with several sets of weights, such as the
    two directions of a recurrent network, would be one kernel for which weights
    differ from task to task. A product with weights that all tasks share is many
    times cheaper, so each set gets a copy of the function (ACRoBat, section 5.1:
    taint analysis with one level of context). Calls are told apart by the
    parameters of the entry that they pass on as matrices of known size. Vectors,
    and tables of which tasks read rows, do not count: tasks that differ in these
    alone are batched together.

    ```mlir
    %f = func.call @rnn(%words, %W_forward) : (!list, !mat) -> !vec
    %b = func.call @rnn(%words, %W_back) : (!list, !mat) -> !vec
    // becomes
    %f = func.call @rnn(%words, %W_forward) : (!list, !mat) -> !vec
    %b = func.call @rnn_0(%words, %W_back) : (!list, !mat) -> !vec
    ```

    See test/Transforms/duplicate-functions.mlir.
  }];
  let options = [
    Option<"maxCopies", "max-copies", "unsigned", /*default=*/"16",
           "Leave a function alone that has more sets of weights">,
  ];
}

def IfToSelectPass : Pass<"batch-if-to-select", "::mlir::ModuleOp"> {
  let summary = "compute both branches of small conditionals";
  let description = [{
    A conditional ends a straight-line block: left as control it cuts a kernel
    in two, with a sub-batch for each branch between them, compacted to the
    tasks that take it. Where the branches are small, computing both for all
    tasks and selecting the result is cheaper. An `scf.if` becomes
    straight-line code with `arith.select` if

    - its condition is structural and its results are static tensors;
    - its branches hold elementwise tensor code alone, which may run where it is
      not needed: no reductions or contractions, calls, matches or loops, and no
      reads at an index;
    - a branch computes something: a choice between rows that lie ready costs
      nothing in the inspector;
    - both branches together take at most `max-ops` operations per element.

    Remarks say what was chosen and why.

    ```mlir
    %y = scf.if %bit -> (tensor<4xf32>) {
      %n = arith.negf %x : tensor<4xf32>
      scf.yield %n : tensor<4xf32>
    } else {
      scf.yield %x : tensor<4xf32>
    }
    // becomes
    %n = arith.negf %x : tensor<4xf32>
    %y = arith.select %bit, %n, %x : tensor<4xf32>
    ```

    See test/Transforms/if-to-select.mlir.
  }];
  let options = [
    Option<"maxOps", "max-ops", "int64_t", /*default=*/"16",
           "Most operations per element in both branches together">,
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def OutlineKernelsPass : Pass<"batch-outline-kernels", "::mlir::ModuleOp"> {
  let summary = "outline straight-line tensor code to kernels";
  let description = [{
    Every maximal straight-line block of tensor code becomes a `batch.kernel`
    and a `batch.invoke`: as much as lies between two points of control (calls,
    matches, loops), so that there are few, large tasks. A block is cut in three
    where that pays (ACRoBat, appendix A.1 and A.2):

    - *input*: what does not depend on the recursion can run for all nodes at
      once, ahead;
    - *cell*: the recursion itself;
    - *output*: what no recursive result depends on can run for all nodes at
      once, afterwards.

    The first and last are kernels of their own only if they hold a reduction
    (a matrix product). Constants and elementwise code on constants are copied
    into the kernels that use them; other code that is equal for all instances
    becomes a kernel without per-task operands, which runs once. Kernels with
    equal code are one. A row of a parameter, `tensor.extract_slice %E[%i, 0]
    [1, n] [1, 1]`, stays in the function: it is an operand that is read where
    it lies. A kernel that reads no other than rows at constant places runs once
    as well. An element of a tensor (`tensor.extract`) and what is computed with
    it are code of the kernels that use it, unless control reads it.

    `hoist=false` leaves the input part in the cell, which shows what it brings.

    See test/Transforms/outline-kernels.mlir.
  }];
  let options = [
    Option<"hoist", "hoist", "bool", /*default=*/"true",
           "Make kernels of what does not depend on the recursion">,
  ];
  let dependentDialects = ["::mlir::batch::BatchDialect"];
}

def AssignPhasesPass : Pass<"batch-assign-phases", "::mlir::ModuleOp"> {
  let summary = "order kernels by what must run before them";
  let description = [{
    A kernel that reads what a recursion of other kernels makes gets a later
    phase than they have: all its tasks, at whatever depth they arise, can be
    one batch when the recursion is over (ACRoBat, section 4.1).

    See test/Transforms/assign-phases.mlir.
  }];
}

def TagDepthsPass : Pass<"batch-tag-depths", "::mlir::ModuleOp"> {
  let summary = "give every task its depth, in the IR";
  let description = [{
    Adds `depth(%d)` to each `batch.invoke`, with `%d = batch.depth` of the
    operands that tasks of the same phase compute. Where there are none the
    depth is the constant 0: the operator is hoisted. In the inspector the
    handles carry their depths, so this is one maximum per task (ACRoBat,
    section 4.1: inline depth computation).

    See test/Transforms/tag-depths.mlir.
  }];
  let dependentDialects = ["::mlir::batch::BatchDialect"];
}

//===----------------------------------------------------------------------===//
// Recursion
//===----------------------------------------------------------------------===//

def RefactorPass : Pass<"rec-refactor", "::mlir::ModuleOp"> {
  let summary = "move the backedge of recursion";
  let description = [{
    Cuts a recursive function where ops are marked `rec.backedge`, behind its
    recursive calls (Cortex, section 3.1, figure 4). The *tail*, the marked ops
    and what depends on them, moves to all callers; the *head* is what is left
    and returns what the tail reads. So a call computes the tails of its parts
    and the head of its node as one straight line and one kernel, which are
    kernels apart where a recursive call or other control lies between them.
    Every value is computed as before, with equal bits.

    A mark may be in cases of a match on the function's argument, one in each
    case that calls recursively, or behind the match. In a case, each case cut
    becomes a function, and callers get a copy of the code for each variant of
    the part, base cases included, as with `rec-specialize`: a loop over the
    nodes becomes a recursion. Behind the match, the tail is the same for all
    variants and nothing is copied. The tails of parts in a list are code of the
    map over it, and so kernels of their own. A mark on the call of a helper
    function counts for all its ops. Without marks nothing changes.

    The head's stages stay stages of the kernel that it becomes part of, with a
    barrier between each two. Two workers, on a mark behind the match, need half as
    many batches, 0 to 3 % fewer barriers and as much time; with a mark in a case
    more of both and 12 to 17 % more time (benchmarks/README.md, Ablation).

    A shared part would have its tail computed by each of the nodes that it is a
    part of, so the ADT of the parts has to be of kind `tree` or `sequence`.

    ```mlir
    func.func @encode(%t: !tree) -> !vec {
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
    func.func @encode_head(%l: !tree, %r: !tree) -> !vec {
      ...  // a match on %l, and in its cases one on %r; where both are nodes:
      %sl = func.call @encode_head(%ll, %lr) : (!tree, !tree) -> !vec
      %hl = math.tanh %sl : !vec
      %sr = func.call @encode_head(%rl, %rr) : (!tree, !tree) -> !vec
      %hr = math.tanh %sr : !vec
      %s = arith.addf %hl, %hr : !vec
      ...
    }
    ```

    See test/Transforms/refactor.mlir.
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
    Moves the test of a part's variant from the callee to the caller (Cortex,
    section 3.1): the code around a recursive call gets a copy for each variant
    of the part that the call takes, and in the copies for the tested variant
    the callee's code replaces the call. It is one straight line with the
    caller's then, so it becomes one kernel with it, and zeros that a base case
    returns fold in it. A test is

    - `leaf`: any part that a recursive call takes, a field or an element of a
      list, is of the variant @leaf. Each call gets a test of its own, so all
      combinations get code;
    - `node(leaf,_)`: the value is a @node of which the first field is a @leaf
      and the second is anything. Fields are tested in order, each where those
      before it are as the test says; other cases keep their calls.

    Kernels with equal code are one, however many copies there are. Every value
    is computed as before, with equal bits. A loop over all nodes becomes a
    recursion, so without tests the pass only decides matches in cases of a
    match on the same value, which never loses. Shared parts would be computed
    again, so the ADT of the parts has to be of kind `tree` or `sequence`.

    Two workers take 0 to 10 % longer for the trees measured with `test=leaf`
    (benchmarks/README.md, Ablation): fewer tasks, but not fewer barriers.
    Parts in lists stay tasks of their own, so nothing changes for child-sum
    cells.

    ```mlir
    case @node(%l: !tree, %r: !tree) {
      %hl = func.call @encode(%l) : (!tree) -> !vec
      ...
    }
    // becomes, with test=leaf,
    case @node(%l: !tree, %r: !tree) {
      %h = rec.match %l : !tree -> !vec {
      case @leaf(%word: index) {
        %hl = ...                                  // what @encode does
        ...
      }
      case @node(%ll: !tree, %lr: !tree) {
        %hl = func.call @encode(%l) : (!tree) -> !vec
        ...
    ```

    See test/Transforms/specialize.mlir.
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
    computes the node's parts too, and calls go to the parts of those (Cortex,
    section 3.1, figure 3). There is a case for each combination of variants, so
    each is one straight line and one kernel, and what a part hands to its node
    stays inside. Half as many levels are left, each with more kinds of kernels;
    the tasks of a level, and so all siblings that a level computes, are
    batched as before. Every value is computed as before, with equal bits.

    There are fewer tasks, but mostly more barriers: there is one between the
    stages of a kernel, and an unrolled one has those of two levels. Two workers
    take 1 to 19 % longer for binary trees with `factor=2` (benchmarks/README.md,
    Ablation); sequences have fewer batches and have not been timed. Parts in
    lists stay tasks of their own, so child-sum cells have the same tasks and
    barriers with it and without.

    Where nodes are shared, unrolling would compute them again, so the ADTs of
    the parts have to be of kind `tree` or `sequence`.

    See test/Transforms/unroll.mlir.
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
    %z = linalg.matvec ins(%U, %zero : !mat, !vec) outs(%minus : !vec) -> !vec
    %a = arith.addf %wx, %z : !vec
    // and with assume-finite: %wx
    ```

    See test/Transforms/fold-zeros.mlir.
  }];
  let options = [
    Option<"assumeFinite", "assume-finite", "bool", /*default=*/"false",
           "No value is infinite or NaN; the sign of a zero does not matter">,
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

//===----------------------------------------------------------------------===//
// Control
//===----------------------------------------------------------------------===//

def LinearizePass : Pass<"batch-linearize", "::mlir::ModuleOp"> {
  let summary = "make the inspector of a structural program";
  let description = [{
    Copies the instance program with its tensor code taken out: tensors become
    handles, invocations become `batch.record`. Where recursion is bottom-up
    over all nodes it becomes a `batch.traverse`, one loop over the nodes in
    post-order (Cortex, section 2); other recursion stays and remembers its
    calls. The instance program is kept: it is the unbatched lowering.

    Where control depends on a tensor, `linearize` is an error and `auto` leaves
    the program as it is, with a remark.

    See test/Transforms/linearize.mlir.
  }];
  let options = [
    Option<"strategy", "strategy", "std::string", /*default=*/"\"linearize\"",
           "'linearize', 'auto' or 'none'">,
  ];
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

    A shared argument that is passed through calls is an argument of the
    machine; run `batch-duplicate-functions` before, so that each function knows
    its weights. Data structures (`rec`) and ragged tensors are errors.

    ```mlir
    func.func @fib(%n: i64) -> i64 {
      ...
      %a = func.call @fib(%n1) : (i64) -> i64
      %b = func.call @fib(%n2) : (i64) -> i64
      ...
    }
    // becomes
    batch.block @fib.1 {
      %n = batch.top @fib.arg0 : i64
      %n1 = arith.subi %n, %one : i64
      batch.push @fib.arg0, %n1 : i64
      batch.push_jump @fib.0 return_to(@fib.2)
    }
    batch.block @fib.2 {
      %a = batch.top @fib.result0 : i64
      batch.pop @fib.arg0
      ...
    ```

    See test/Transforms/recursion-to-stack.mlir.
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
    Option<"strategy", "strategy", "std::string", /*default=*/"\"auto\"",
           "'lockstep', 'mask' (calls of lanes end before their callers go on), "
           "'auto' (lockstep, where control depends on a tensor), or another, "
           "which makes no machine">,
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
    ...
    batch.push @fib.arg0, %m : i64
    // becomes
    batch.set @fib.arg0, %m : i64
    ```

    See test/Transforms/cancel-pops.mlir.
  }];
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

def AssignSlotsPass : Pass<"batch-assign-slots", "::mlir::ModuleOp"> {
  let summary = "make tables for value classes and launches for kernels";
  let description = [{
    Gives every value class that kernels compute a `batch.table` and makes the
    executor: a loop over the steps of a plan that launches the step's kernel.
    Each operand is read by the cheapest kind that its class allows: `gather`
    where all rows lie in one table or source, `rows` where they are mixed.
    Tables that the same kernels write share slot numbers (a group), except that
    rows of a page (4 KB) and more share them with rows of their length only: a
    slot is used again when nobody reads its rows any more. Results are written to consecutive slots, in schedule order. A module without
    an inspector is left as it is.

    `layout` changes where the elements of tables lie (Cortex, section 5.1), with
    primitives that are applied one after the other to the dimensions of a table:
    0 is the slot, the others are those of a row.

    | primitive | does |
    |---|---|
    | `split(d, f)` | dimension `d` becomes two, the second of extent `f` |
    | `reorder(a, b, ...)` | brings dimensions into this order |
    | `fuse(d, d + 1)` | two dimensions become one |
    | `beside(@t)` | the rows of the table come behind those of `@t`, slot by slot |

    `layout='split(1, 16)'` is for all tables, `layout='h: split(2, 16); c:
    beside(@h)'` for single ones. Slots come first, as how many there are is known
    when it runs, but `split(0, 8)` makes blocks of them. The innermost dimension
    holds a multiple of 64 bytes of consecutive elements, for vectors. Within rows
    nothing can be moved where they meet rows of parameters or inputs. No layout
    changes a bit of the results.

    ```mlir
    batch.table @m : tensor<8x32xf32> group(0)
    // with layout='split(2, 16) reorder(0, 2, 1, 3)'
    batch.table @m : tensor<8x32xf32> group(0)
      layout(affine_map<(d0, d1, d2) -> (d0, d2 floordiv 16, d1, d2 mod 16)>)
    ```

    See test/Transforms/assign-slots.mlir.
  }];
  let options = [
    Option<"layout", "layout", "std::string", /*default=*/"\"\"",
           "Layout primitives for tables, such as 'split(0, 8) reorder(0, 2, 1)'">,
  ];
  let dependentDialects = ["::mlir::batch::BatchDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::func::FuncDialect",
                           "::mlir::scf::SCFDialect"];
}

def AttachPolicyPass : Pass<"batch-attach-policy", "::mlir::ModuleOp"> {
  let summary = "say what picks the next batch";
  let description = [{
    Puts the policy into the module, from where it goes into the object: what
    `batch-run` follows unless it is told otherwise. A table of a state machine,
    which `batch-run --learn-policy=FILE` writes, has to be one for the module's
    kernels; it is kept in the attribute.

    ```mlir
    module attributes {batch.policy = #batch.policy<greedy>} {}
    ```

    See test/Transforms/attach-policy.mlir.
  }];
  let options = [
    Option<"policy", "policy", "std::string", /*default=*/"\"\"",
           "What picks the next batch: depth, agenda, greedy or fsm; default: "
           "fsm with a table, else nothing changes">,
    Option<"table", "table", "std::string", /*default=*/"\"\"",
           "File with the state machine of fsm">,
  ];
  let dependentDialects = ["::mlir::batch::BatchDialect"];
}

def MergeHandlesPass : Pass<"batch-merge-handles", "::mlir::ModuleOp"> {
  let summary = "make one handle of handles that are equal";
  let description = [{
    A handle names a task and a position among the task's results in one table.
    Results of a task that lie at the same position of different tables (`h` and
    `c` of an LSTM) therefore have equal handles. This pass makes one value of
    them, in records, in the results of `rec.match`, `rec.map`, `scf.if` and
    `scf.index_switch`, and in the results of private functions, so that the
    inspector remembers, records and compares each once.

    See test/Transforms/merge-handles.mlir.
  }];
}

//===----------------------------------------------------------------------===//
// Inside of kernels
//===----------------------------------------------------------------------===//

def LayoutPQPass : Pass<"batch-layout-pq", "::mlir::ModuleOp"> {
  let summary = "batch equal operators inside of kernels";
  let description = [{
    Products of a parameter with a vector, and elementwise code on vectors, run
    as one operator where they are equal. Which do, and in what order their
    values lie one behind the other, `Batch/Layout` finds with a PQ tree, so
    that next to nothing has to be copied ([Layout](Layout.md)). A row of a
    product has the same sum as before, so no bit changes.

    With `equal=weights`, operators are equal that compute the same, with the
    same parameters, of products on: what a kernel does for each of several
    nodes. They become the rows of a matrix.

    ```mlir
    %a = linalg.matvec ins(%w, %x : !mat, !vec) outs(%b : !vec) -> !vec
    %c = linalg.matvec ins(%w, %y : !mat, !vec) outs(%b : !vec) -> !vec
    // becomes
    %xy = tensor.concat dim(0) %rowx, %rowy                     // 2 x K
    %ac = linalg.contract indexing_maps = [rows, transposed, out]
            ins(%xy, %w) outs(%bb) -> tensor<2xNxf32>
    ```

    With `equal=shapes`, all of one operation and shape are, after equally many
    products: the gates of a cell. Parameters that one product alone reads are
    stacked, in the order that suits what reads the results; a product with
    stacked parameters has them packed so when they are bound.

    ```mlir
    %i = linalg.matvec ins(%wi, %x : !mat, !vec) outs(%bi : !vec) -> !vec
    %f = linalg.matvec ins(%wf, %x : !mat, !vec) outs(%bf : !vec) -> !vec
    // becomes
    %w = tensor.concat dim(0) %wi, %wf                          // 2N x K
    %b = tensor.concat dim(0) %bi, %bf
    %if = linalg.matvec ins(%w, %x) outs(%b) -> tensor<2Nxf32>
    ```

    Remarks say how many batches and memory kernels there are, and what is
    copied and why. See test/Transforms/layout-pq.mlir.
  }];
  let options = [
    Option<"equal", "equal", "std::string", /*default=*/"\"shapes\"",
           "What makes operators equal: 'weights', the same code with the same "
           "parameters, or 'shapes', the same operation on equal shapes">,
  ];
  let dependentDialects = ["::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect",
                           "::mlir::arith::ArithDialect"];
}

//===----------------------------------------------------------------------===//
// The batch dimension
//===----------------------------------------------------------------------===//

def VectorizeKernelsPass
    : Pass<"batch-vectorize-kernels", "::mlir::ModuleOp"> {
  let summary = "add the batch dimension to kernels";
  let description = [{
    Makes a `uprog.operator @k.rows` for every `batch.kernel @k` that has none:
    the same tensor code for `n` tasks at once. Every per-task tensor gets a
    leading dimension; `linalg.matvec` with a shared matrix becomes
    `linalg.matmul`, with a per-task matrix a batched matvec; elementwise code
    gets one more parallel loop. Ragged tensors are concatenated: reductions
    over their extent become `batch.segment_reduce`, per-task operands of their
    elementwise code `batch.segment_broadcast`. Code of shared operands alone
    stays as it is. An element or a slice at a position that differs from task
    to task is picked from the whole tensor, which is read for each task; a
    shared tensor must be static for that. Operations of other dialects take
    part if they implement `BatchableOpInterface`.

    ```mlir
    batch.kernel @k(%x: tensor<4xf32>,
                    %w: tensor<8x4xf32> {batch.shared, uprog.parameter = 0})
        -> tensor<8xf32> {
      %zero = arith.constant dense<0.0> : tensor<8xf32>
      %y = linalg.matvec ins(%w, %x : tensor<8x4xf32>, tensor<4xf32>)
                         outs(%zero : tensor<8xf32>) -> tensor<8xf32>
      batch.yield %y : tensor<8xf32>
    }
    // becomes
    uprog.operator @k.rows(%n: index, %x: tensor<?x4xf32>,
                           %w: tensor<8x4xf32> {uprog.parameter = 0})
        -> tensor<?x8xf32> {
      %0 = tensor.empty(%n) : tensor<?x8xf32>
      %zero = linalg.fill ins(%c0 : f32) outs(%0 : tensor<?x8xf32>)
      %y = linalg.matmul indexing_maps = [rows, transposed, out]
             ins(%x, %w : tensor<?x4xf32>, tensor<8x4xf32>)
             outs(%zero : tensor<?x8xf32>) -> tensor<?x8xf32>
      uprog.yield %y : tensor<?x8xf32>
    }
    ```

    See test/Transforms/vectorize-kernels.mlir.
  }];
  let dependentDialects = ["::mlir::uprog::UProgDialect",
                           "::mlir::batch::BatchDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect",
                           "::mlir::arith::ArithDialect"];
}

//===----------------------------------------------------------------------===//
// Control in lock step
//===----------------------------------------------------------------------===//

def OutlineBlocksPass : Pass<"batch-outline-blocks", "::mlir::ModuleOp"> {
  let summary = "make a kernel of the code of each block of a machine";
  let description = [{
    What a block of a `batch.machine` computes for its variables and its branch
    becomes a `batch.kernel` with the block's name. The block is then, in this
    order: stack operations that uncover rows it reads, reads, one
    `batch.invoke`, stack operations with its results, the terminator. A row
    that is only copied from a variable that the block does not change is not
    computed. Variables hold tensors from now on; scalars have rank 0.

    ```mlir
    batch.block @main.0 {
      %n = batch.top @n : i64
      %m = arith.addi %n, %n : i64
      batch.set @n, %m : i64
      batch.return
    }
    // becomes
    batch.kernel @main.0(%n: tensor<i64>) -> tensor<i64> { ... }
    batch.block @main.0 {
      %n = batch.top @n : tensor<i64>
      %m = batch.invoke @main.0(%n) : (tensor<i64>) -> tensor<i64>
      batch.set @n, %m : tensor<i64>
      batch.return
    }
    ```

    See test/Transforms/outline-blocks.mlir.
  }];
  let dependentDialects = ["::mlir::batch::BatchDialect",
                           "::mlir::tensor::TensorDialect"];
}

def LockstepPass : Pass<"batch-lockstep", "::mlir::ModuleOp"> {
  let summary = "run the blocks of a machine for many lanes at a time";
  let description = [{
    Makes the executor of a `batch.machine`: a `uprog.program` in which lanes
    take instances, and one block after the other runs for all lanes that wait
    for it (program-counter autobatching, Radul et al., MLSys 2020, algorithm
    2). Units share nothing, so the program has block level: each runs it by
    itself, on lanes of its own.

    ```mlir
    uprog.program @main.execute(%lanes: !batch.lanes) level(block) {
      batch.start_lanes %lanes @main.machine
      uprog.while {
        %keys:2, %least:2 = uprog.reduce min %i < %blocks {
          %preference, %since = batch.block_keys %lanes[%i]
          uprog.yield %preference, %since : i64, i64
        }
        %block, %any = batch.next_block %lanes of %least#0, %least#1 since %keys#1
        uprog.condition(%any) %block : index
      } do {
      ^bb0(%block: index):
        %all, %list = batch.lane_list %lanes : memref<?xi32>
        %count = uprog.compact %lane < %all into %list : memref<?xi32> {
          %runs = batch.enter_block %lanes[%lane], %block
          uprog.condition(%runs)
        }
        %step = batch.take_lanes %lanes[%block] tasks(%count)
        uprog.branch %block uniform
        case 0 {
          %n = batch.operand %step[0] <kind = gather, from = @n> -> tensor<?xi64>
          %tasks = batch.step_tasks %step
          uprog.run @main.0.rows(%n : tensor<?xi64>) step(%step) tasks(%tasks)
          batch.lane_ops %lanes @main.machine::@main.0
        }
        uprog.yield
      }
      uprog.yield
    }
    ```

    See test/Transforms/lockstep.mlir.
  }];
  let dependentDialects = ["::mlir::uprog::UProgDialect",
                           "::mlir::batch::BatchDialect"];
}

#endif // BATCH_TRANSFORMS_PASSES_TD
