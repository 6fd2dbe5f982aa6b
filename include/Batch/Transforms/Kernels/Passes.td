//===- Passes.td - Tensor code as kernels ------------------*- tablegen -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_TRANSFORMS_KERNELS_PASSES_TD
#define BATCH_TRANSFORMS_KERNELS_PASSES_TD

include "mlir/Pass/PassBase.td"

def OutlineKernelsPass : Pass<"batch-outline-kernels", "::mlir::ModuleOp"> {
  let summary = "Outline straight-line tensor code into kernels";
  let description = [{
    Every maximal straight-line block of tensor code becomes a `batch.kernel`
    and a `batch.invoke`. A block extends from one control-flow op (a call,
    match or loop) to the next, so tasks are few and large. A block is split by
    role into up to three kernels if that is faster (ACRoBat, appendix A.1 and
    A.2):

    - *input*: code that does not depend on the recursion. It can run for all
      nodes at once, before the recursion.
    - *cell*: the recursion itself.
    - *output*: code that no recursive result depends on. It can run for all
      nodes at once, after the recursion.

    Input and output code becomes separate kernels only if it contains a
    reduction (a matrix product). Cell code moves into a later kernel of the
    block if neither control flow nor another kernel reads its results before
    that kernel. Constants, and code without reductions that is equal for all
    instances, are copied into the kernels that use them. A reduction that is
    equal for all instances becomes a kernel without per-task operands, which
    runs once. Kernels with equal code are merged.

    A row of a parameter, `tensor.extract_slice %E[%i, 0] [1, n] [1, 1]`,
    remains in the function. Kernels read it in place, as an operand. A kernel
    that reads only rows at constant positions also runs once. Reads of an
    element of a tensor (`tensor.extract`), and the code that uses the element,
    are copied into the kernels that need them. Elements that control flow reads
    are not copied.

    With `hoist=false`, input code remains in the cell, to measure the benefit
    of hoisting. With `coarsen=false`, each tensor operation becomes a separate
    kernel, except operations that are copied. Run-time systems that batch
    operators do the same.

    ```mlir
    %hl = func.call @encode(%l, %W, %b) : (!tree, !mat, !vec) -> !vec
    %hr = func.call @encode(%r, %W, %b) : (!tree, !mat, !vec) -> !vec
    %s = arith.addf %hl, %hr : !vec
    %y = linalg.matvec ins(%W, %s : !mat, !vec) outs(%b : !vec) -> !vec
    // becomes
    batch.kernel @encode_node(%hl: !vec, %hr: !vec, %W: !mat {...}, %b: !vec {...}) -> !vec ... {
      %s = arith.addf %hl, %hr : !vec
      %y = linalg.matvec ins(%W, %s : !mat, !vec) outs(%b : !vec) -> !vec
      batch.yield %y : !vec
    }
    ...
      %hl1 = func.call @encode(%l, %W1, %b1) : (!tree, !mat, !vec) -> !vec
      %hr1 = func.call @encode(%r, %W1, %b1) : (!tree, !mat, !vec) -> !vec
      %y1 = batch.invoke @encode_node(%hl1, %hr1, %W1, %b1) : (!vec, !vec, !mat, !vec) -> !vec
    ```

    See test/Transforms/Kernels/outline-kernels.mlir.
  }];
  let options = [
    Option<"hoist", "hoist", "bool", /*default=*/"true",
           "Outline separate kernels from recursion-invariant code">,
    Option<"coarsen", "coarsen", "bool", /*default=*/"true",
           "Outline kernels from blocks instead of single operations">,
  ];
  let dependentDialects = ["::mlir::batch::BatchDialect",
                           "::mlir::rec::RecDialect",
                           "::mlir::tensor::TensorDialect"];
}

def OutlineBlocksPass : Pass<"batch-outline-blocks", "::mlir::ModuleOp"> {
  let summary = "Outline the code of each block of a machine into a kernel";
  let description = [{
    The code that computes the variables and the branch of a block in a
    `batch.machine` becomes a `batch.kernel` with the name of the block. The
    block then consists of these ops, in this order: stack operations that
    expose the rows to read, reads, one `batch.invoke`, stack operations with
    its results, and the terminator. If the block does not change a variable,
    the kernel does not compute rows that are only copied from the variable.
    After this pass, variables contain tensors; scalars become rank-0 tensors. A
    machine with a block that already invokes a kernel is left unchanged.

    ```mlir
    batch.block @main.0 {
      %n = batch.top @n : i64
      %m = arith.addi %n, %n : i64
      batch.set @n, %m : i64
      batch.return
    }
    // becomes
    batch.kernel @main.0(%n: tensor<i64>) -> tensor<i64> ... {
      ...
    }
    ...
    batch.block @main.0 {
      %n1 = batch.top @n : tensor<i64>
      %m1 = batch.invoke @main.0(%n1) : (tensor<i64>) -> tensor<i64>
      batch.set @n, %m1 : tensor<i64>
      batch.return
    }
    ```

    See test/Transforms/Kernels/outline-blocks.mlir.
  }];
  let dependentDialects = ["::mlir::batch::BatchDialect",
                           "::mlir::tensor::TensorDialect"];
}

def MergeHandlesPass : Pass<"batch-merge-handles", "::mlir::ModuleOp"> {
  let summary = "Merge equal handles";
  let description = [{
    A handle names a task and a position among the task's results in one table.
    Results of a task at the same position in different tables (`h` and `c` of
    an LSTM) therefore have equal handles. This pass merges such handles in
    records, in the results of `rec.match`, `rec.map`, `scf.if` and
    `scf.index_switch`, and in the results of private functions. The inspector
    then stores, records and compares each handle only once.

    ```mlir
    %h, %c = batch.record @leaf(%n) depth(%d) : (index) -> (!batch.handle, !batch.handle)
    %y = batch.record @cell(%h, %c) depth(%e)
           : (!batch.handle, !batch.handle) -> !batch.handle
    // becomes, as both results have position 0 in their tables,
    %h:2 = batch.record @leaf(%n) depth(%d) : (index) -> (!batch.handle, !batch.handle)
    %y = batch.record @cell(%h#0, %h#0) depth(%e)
           : (!batch.handle, !batch.handle) -> !batch.handle
    ```

    See test/Transforms/Kernels/merge-handles.mlir.
  }];
}

def LayoutPQPass : Pass<"batch-layout-pq", "::mlir::ModuleOp"> {
  let summary = "Batch equal operators inside kernels";
  let description = [{
    Products of a parameter with a vector, and elementwise code on vectors, run
    as one operator if they are equal. `Batch/Layout` finds these operators and
    the order of their values in memory with a PQ tree, so almost nothing has to
    be copied ([layout](../../explanation/layout.md)). Each row of a product is
    summed as before, so results remain bit-identical.

    With `equal=weights`, operators are equal if they run the same code with the
    same parameters, beginning with products. A kernel runs such code for each
    of several nodes, for example. The operators become the rows of a matrix.

    ```mlir
    %a = linalg.matvec ins(%w, %x : !mat, !vec) outs(%b : !vec) -> !vec
    %c = linalg.matvec ins(%w, %y : !mat, !vec) outs(%b : !vec) -> !vec
    %d = linalg.matvec ins(%w, %z : !mat, !vec) outs(%b : !vec) -> !vec
    // becomes, with equal=weights,
    %rows = tensor.concat dim(0) ...                               // of x, y and z
    %acd = linalg.contract indexing_maps = [...]
             ins(%rows, %w : tensor<3x16xf32>, !mat)
             outs(%bbb : tensor<3x16xf32>) -> tensor<3x16xf32>
    ...
    ```

    With `equal=shapes`, operators are equal if they apply the same operation to
    equal shapes after the same number of products. The gates of a cell are an
    example. Parameters that only one product reads are stacked in an order that
    suits the readers of the results. They are packed in this order when they
    are bound.

    ```mlir
    %i = linalg.matvec ins(%wi, %x : !mat, !vec) outs(%bi : !vec) -> !vec
    %f = linalg.matvec ins(%wf, %x : !mat, !vec) outs(%bf : !vec) -> !vec
    // becomes, with equal=shapes,
    %b = tensor.concat dim(0) %bf, %bi : (!vec, !vec) -> tensor<32xf32>
    %w = tensor.concat dim(0) %wf, %wi : (!mat, !mat) -> tensor<32x16xf32>
    %fi = linalg.matvec ins(%w, %x : tensor<32x16xf32>, !vec)
                        outs(%b : tensor<32xf32>) -> tensor<32xf32>
    ...
    ```

    Remarks report the numbers of batches and gather copies, and the reason for
    each copy. See test/Transforms/Kernels/layout-pq.mlir.
  }];
  let options = [
    Option<"equal", "equal", "::mlir::batch::EqualOperators",
           /*default=*/"::mlir::batch::EqualOperators::Shapes",
           "Merge operators with equal 'weights' (the same code with the same "
           "parameters) or 'shapes' (the same operation on equal shapes), or "
           "'none'">,
  ];
  let dependentDialects = ["::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect",
                           "::mlir::arith::ArithDialect"];
}

def TensorsToNumbersPass : Pass<"batch-tensors-to-numbers", "::mlir::ModuleOp"> {
  let summary = "Replace operations on small tensors with scalar operations";
  let description = [{
    In an entry with `batch.per_unit`, which `batch-choose-strategy` sets,
    operations on tensors become operations on their elements, in the same
    order. If a reduction adds products, each product is fused with the sum, as
    in kernels. Loops and branches carry numbers. The code of an instance can
    then store these numbers in registers, and its only kernels are those that
    produce results.

    ```mlir
    %y = linalg.map {arith.mulf} ins(%x, %x : tensor<2xf32>, tensor<2xf32>)
        outs(%empty : tensor<2xf32>)
    // becomes
    %y0 = arith.mulf %x0, %x0 : f32
    %y1 = arith.mulf %x1, %x1 : f32
    ```

    Such an entry cannot have tensors of more than 16 elements, slices at
    computed positions or sums of f16 or bf16. More than 4096 operations are
    also an error, where an op of `math` counts as 16. See
    test/Transforms/Kernels/tensors-to-numbers.mlir.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::tensor::TensorDialect"];
}

def WidenReductionsPass : Pass<"batch-widen-reductions"> {
  let summary = "Accumulate reductions of f16 and bf16 in f32";
  let description = [{
    A reduction whose result is f16 or bf16 becomes a reduction with an f32
    result, which is rounded once, at the end. The body computes entirely in
    f32, so products are added without rounding. Operands keep their type. An
    `arith.truncf` in the body still rounds. All code after this pass computes
    the same sums: batched and unbatched code, lanes and GPUs.

    ```mlir
    %y = linalg.matvec ins(%W, %x : tensor<4x8xbf16>, tensor<8xbf16>)
                       outs(%b : tensor<4xbf16>) -> tensor<4xbf16>
    // becomes
    %init = arith.extf %b : tensor<4xbf16> to tensor<4xf32>
    %sum = linalg.generic ...
             ins(%W, %x : tensor<4x8xbf16>, tensor<8xbf16>) outs(%init : tensor<4xf32>) ... {
    ^bb0(%w: bf16, %v: bf16, %acc: f32):
      %w1 = arith.extf %w : bf16 to f32
      %v1 = arith.extf %v : bf16 to f32
      %p = arith.mulf %w1, %v1 : f32
      %s = arith.addf %acc, %p : f32
      linalg.yield %s : f32
    } -> tensor<4xf32>
    %y = arith.truncf %sum : tensor<4xf32> to tensor<4xbf16>
    ```

    See test/Transforms/Kernels/widen-reductions.mlir.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect"];
}

#endif // BATCH_TRANSFORMS_KERNELS_PASSES_TD
