//===- Passes.td - Normalization of models -----------------*- tablegen -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_TRANSFORMS_NORMALIZE_PASSES_TD
#define BATCH_TRANSFORMS_NORMALIZE_PASSES_TD

include "mlir/Pass/PassBase.td"

def LinkLibraryPass : Pass<"batch-link-library", "::mlir::ModuleOp"> {
  let summary = "Define library functions that a model declares";
  let description = [{
    The compiler includes a small library of functions in plain MLIR
    ([library](../library.md)). A declaration of one of them is replaced by its
    definition, together with the functions that it calls. Other declarations
    remain, and definitions of the module itself are never replaced.

    ```mlir
    func.func private @random.uniform.f32(i32) -> f32
    // becomes
    func.func private @random.uniform.f32(%bits: i32) -> f32 {
      %nine = arith.constant 9 : i32
      ...
      %number = arith.shrui %bits, %nine : i32
      ...
    }
    ```

    Some functions support any size and call functions of the model. A group of
    such functions is a module with `batch.sizes`, which declares the functions
    that the model must define. The types of the first declaration determine the
    sizes. Additional arguments of the model's function are added to all
    functions that call it. [Library](../library.md) has an example.

    See test/Transforms/Normalize/link-library.mlir and link-library-sizes.mlir.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::func::FuncDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::math::MathDialect",
                           "::mlir::scf::SCFDialect",
                           "::mlir::tensor::TensorDialect"];
}

def SpecializeSizesPass : Pass<"batch-specialize-sizes", "::mlir::ModuleOp"> {
  let summary = "Change the values of a model's named sizes";
  let description = [{
    A module may name its sizes with their defaults: `module attributes
    {batch.sizes = {H = 256 : index}}`. Every static tensor dimension that is 1
    to 8 times a default follows the size. With `H=64`, `tensor<1024x256xf32>`
    becomes `tensor<256x64xf32>`. Static offsets, sizes and strides of slices
    and the extents of splat constants follow it, too. Index constants are not
    dimensions and do not change. `batch.sizes` then contains the new values.

    If a value changes, it is an error if one default is 1 to 8 times another,
    or if a dimension follows two sizes. Such a size can have a unique number in
    types and a separate default. With `SLOTS = [1009 : index, 64 : index]`,
    dimensions of 1009 follow `SLOTS`, and become 64 unless another value is
    specified. If neither such sizes nor the option exist, the pass only checks
    that `batch.sizes` is well formed.

    Code reads a size as a number with `tensor.dim`. After this pass, the extent
    of a static dimension is a constant.

    ```mlir
    module attributes {batch.sizes = {H = 256 : index}} {
      func.func private @cell(tensor<1024x256xf32>, tensor<256xf32>) -> tensor<256xf32>
    }
    // becomes, with sizes=H=64,
    module attributes {batch.sizes = {H = 64 : index}} {
      func.func private @cell(tensor<256x64xf32>, tensor<64xf32>) -> tensor<64xf32>
    }
    ```

    See test/Transforms/Normalize/specialize-sizes.mlir.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
  let options = [
    ListOption<"sizes", "sizes", "std::string",
               "Set sizes as NAME=NUMBER, separated by commas">,
  ];
}

def LiftCFPass : Pass<"batch-lift-cf", "::mlir::ModuleOp"> {
  let summary = "Convert branches of functions to scf";
  let description = [{
    A function with several blocks becomes one block of `scf.if`,
    `scf.index_switch` and `scf.while`, with the upstream transformation of
    control-flow graphs. Loops with several entries or exits, and branches that
    cross, get a number that selects where execution continues. Results remain
    bit-identical.

    ```mlir
      cf.br ^loop(%n : i64)
    ^loop(%i: i64):
      %more = arith.cmpi sgt, %i, %zero : i64
      %less = arith.subi %i, %one : i64
      cf.cond_br %more, ^loop(%less : i64), ^end
    ^end:
      return %i : i64
    // becomes
      %r:2 = scf.while (%i = %n, ...) : (i64, i64) -> (i64, i64) {
        %more = arith.cmpi sgt, %i, %zero : i64
        %less = arith.subi %i, %one : i64
        %next:3 = scf.if %more -> (i64, i32, i32) {
          scf.yield %less, ... : i64, i32, i32
        } else {
          scf.yield ... : i64, i32, i32
        }
        %again = arith.trunci %next#2 : i32 to i1
        scf.condition(%again) %next#0, %i : i64, i64
      } do {
        ...
      }
      return %r#1 : i64
    ```

    A value that a path does not define is zero on that path. It is an error if
    the type of the value has no zero, as for an ADT. A loop must have an exit.

    See test/Transforms/Normalize/lift-cf.mlir.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::cf::ControlFlowDialect",
                           "::mlir::scf::SCFDialect"];
}

def ListElementsPass : Pass<"batch-list-elements", "::mlir::ModuleOp"> {
  let summary = "Iterate over the element lists of list-shaped ADTs";
  let description = [{
    A map or fold over a value of a list-shaped ADT becomes a map or fold over
    the list of its elements, which `rec.elements` returns. Afterwards, only
    `rec.elements` decomposes such values.

    ```mlir
    %n = rec.fold %w: index in %words init(%m = %zero) : !rec.adt<@Words> -> index {
      %next = arith.addi %m, %w : index
      rec.yield %next : index
    }
    // becomes
    %list = rec.elements %words : !rec.adt<@Words> -> !rec.list<index>
    %n = rec.fold %w in %list init(%m = %zero) : !rec.list<index> -> index {
      %next = arith.addi %m, %w : index
      rec.yield %next : index
    }
    ```

    See test/Transforms/Normalize/list-elements.mlir.
  }];
}

def InlineHelpersPass : Pass<"batch-inline-helpers", "::mlir::ModuleOp"> {
  let summary = "Inline functions that do not recurse";
  let description = [{
    A function of one block that cannot call itself is copied into its callers
    and removed, callees first. Recursive functions and the entry remain,
    whereas the upstream inliner may unroll recursion forever. Some callers do
    not need all results of a helper. The pass therefore removes ops whose
    results are unused, so no kernel computes these results and no control flow
    waits for them.

    ```mlir
    func.func private @twice(%x: tensor<4xf32>) -> tensor<4xf32> {
      %y = arith.addf %x, %x : tensor<4xf32>
      return %y : tensor<4xf32>
    }
    func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> attributes {batch.entry} {
      %y = call @twice(%x) : (tensor<4xf32>) -> tensor<4xf32>
      return %y : tensor<4xf32>
    }
    // becomes
    module {
      func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> attributes {batch.entry} {
        %y = arith.addf %x, %x : tensor<4xf32>
        return %y : tensor<4xf32>
      }
    }
    ```

    See test/Transforms/Normalize/inline-helpers.mlir.
  }];
}

def DuplicateFunctionsPass
    : Pass<"batch-duplicate-functions", "::mlir::ModuleOp"> {
  let summary = "Create one copy of a function per set of parameters";
  let description = [{
    A recursive function may be called with several sets of parameters, such as
    the two directions of a recurrent network. The parameters of its kernel
    would then differ from task to task. A product with a parameter that all
    tasks share costs much less, so each set gets its own copy of the function
    (ACRoBat, section 5.1: taint analysis with one level of context). Calls
    differ if they pass different parameters of the entry as matrices, or as
    tables with any number of rows. Vectors do not count, so tasks that differ
    only in vectors are batched together.

    ```mlir
    %f = func.call @rnn(%words, %W_forward, %zero) : (!list, !mat, !vec) -> !vec
    %b = func.call @rnn(%words, %W_back, %zero) : (!list, !mat, !vec) -> !vec
    // becomes
    %f = func.call @rnn(%words, %W_forward, %zero) : (!list, !mat, !vec) -> !vec
    %b = func.call @rnn_0(%words, %W_back, %zero) : (!list, !mat, !vec) -> !vec
    ```

    See test/Transforms/Normalize/duplicate-functions.mlir.
  }];
  let options = [
    Option<"maxCopies", "max-copies", "unsigned", /*default=*/"16",
           "Copy only functions with at most this many sets of parameters">,
  ];
}

def HoistProductsPass : Pass<"batch-hoist-products", "::mlir::ModuleOp"> {
  let summary = "Compute loop-invariant products before the loop";
  let description = [{
    A product in a loop (`scf.for`, `scf.while`, `rec.fold`, `rec.map`) whose
    operands are constant in the loop is computed once, before the loop. Tensor
    code that the product needs moves with it. If the loop changes only some
    tensors of a concatenation, the product `W [a; b]` becomes `W1 a + W2 b`,
    and its invariant product is computed before the loop. The sum adds the same
    numbers, invariant ones first. If this changes their order, the bits of the
    result may differ from those with `hoist=false`, in both batched and
    unbatched code. Sums of `f16` and `bf16`, which are rounded once, are not
    split.

    Code in a branch and reads at computed positions do not move, because
    control flow decides whether they run. If the loop runs no rounds, the
    products are computed unnecessarily.

    ```mlir
    %e = scf.for %i = %zero to %n step %one iter_args(%x = %o) -> !vec {
      %ox = tensor.concat dim(0) %o, %x : (!vec, !vec) -> !pair
      %y = linalg.matvec ins(%W, %ox : !mat, !pair) outs(%b : !vec) -> !vec
      scf.yield %y : !vec
    }
    // becomes
    %W1 = tensor.extract_slice %W[0, 0] [4, 4] [1, 1] : !mat to !half
    %a = linalg.matvec ins(%W1, %o : !half, !vec) outs(%b : !vec) -> !vec
    %e = scf.for %i = %zero to %n step %one iter_args(%x = %o) -> (!vec) {
      %W2 = tensor.extract_slice %W[0, 4] [4, 4] [1, 1] : !mat to !half
      %y = linalg.matvec ins(%W2, %x : !half, !vec) outs(%a : !vec) -> !vec
      scf.yield %y : !vec
    }
    ```

    See test/Transforms/Normalize/hoist-products.mlir.
  }];
  let dependentDialects = ["::mlir::tensor::TensorDialect"];
}

def IfToSelectPass : Pass<"batch-if-to-select", "::mlir::ModuleOp"> {
  let summary = "Compute both branches of small conditionals";
  let description = [{
    A conditional ends a straight-line block. As control flow, it splits a
    kernel in two. In between, each branch runs as a sub-batch, compacted to the
    tasks that take the branch. If the branches are small, it costs less to
    compute both for all tasks and to select the result. An `scf.if` becomes
    straight-line code with `arith.select` if

    - its results are static tensors;
    - its branches contain only elementwise tensor code that may run
      speculatively: no reductions or contractions, calls, matches or loops, and
      no reads at an index;
    - a branch computes something: a choice between available rows costs nothing
      in the inspector;
    - both branches together take at most `max-ops` operations per element.

    If the condition depends on a tensor, control flow would wait for it. In
    this case, a different condition replaces the last two: both branches
    together take at most `max-elements` operations on elements. Remarks report
    the choice and its reason.

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

    See test/Transforms/Normalize/if-to-select.mlir.
  }];
  let options = [
    Option<"maxOps", "max-ops", "int64_t", /*default=*/"16",
           "Allow at most this many operations per element in both branches">,
    Option<"maxElements", "max-elements", "int64_t", /*default=*/"4096",
           "Allow at most this many operations on elements in both branches if "
           "the condition depends on a tensor (0: keep such conditionals)">,
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

#endif // BATCH_TRANSFORMS_NORMALIZE_PASSES_TD
