//===- Passes.td - What importers write --------------------*- tablegen -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_TRANSFORMS_IMPORT_PASSES_TD
#define BATCH_TRANSFORMS_IMPORT_PASSES_TD

include "mlir/Pass/PassBase.td"

def ShareResourcesPass : Pass<"batch-share-resources", "::mlir::ModuleOp"> {
  let summary = "make parameters of constants that are resources";
  let description = [{
    Front ends write parameters as `dense_resource` constants. Each becomes a
    parameter of the entry, named by its key, and is passed to the functions that
    use it. Its values are given like those of any parameter;
    `batch-compile --write-params=FILE` writes the ones that a module brings.

    ```mlir
    func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> attributes {batch.entry} {
      %w = arith.constant dense_resource<scale> : tensor<2xf32>
      %y = arith.mulf %x, %w : tensor<2xf32>
      return %y : tensor<2xf32>
    }
    // becomes
    func.func @main(%x: tensor<2xf32>, %w: tensor<2xf32> {batch.shared = "scale"}) -> tensor<2xf32> attributes {batch.entry} {
      %y = arith.mulf %x, %w : tensor<2xf32>
    ```

    See test/Transforms/Import/share-resources.mlir.
  }];
}

def FlattenBodiesPass : Pass<"batch-flatten-bodies", "::mlir::ModuleOp"> {
  let summary = "make selects of conditionals in bodies of structured operations";
  let description = [{
    Front ends choose between elements by `scf.if` in a body, as in a gather at
    concatenated indices. Both branches run; where one is not taken, its reads are at
    index 0 and its integer divisions by 1. A read of a tensor of dynamic shape, which
    may have no element, stays in its branch. A reduction that keeps what it has
    where an element does not count, `max(count ? x : so_far, so_far)`, takes the
    neutral number instead, so that elements can be reduced in any order. A tensor that is
    read where the loops are, along an extent that is not known but the loop's, is an operand.

    ```mlir
    %e = scf.if %first -> (i32) {
      %a = tensor.extract %x[%i] : tensor<3xi32>
      scf.yield %a : i32
    } else {
      scf.yield %b : i32
    }
    // becomes
    %at = arith.select %first, %i, %c0 : index
    %a = tensor.extract %x[%at] : tensor<3xi32>
    %e = arith.select %first, %a, %b : i32
    ```

    See test/Transforms/Import/flatten-bodies.mlir.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def FoldBiasesPass : Pass<"batch-fold-biases", "::mlir::ModuleOp"> {
  let summary = "let sums of products begin with their biases";
  let description = [{
    Front ends add a bias to a product that begins with zero; a kernel then needs
    a stage for the sum. A product begins with the bias instead, as in models that
    are written so, if nothing else reads the product, and the bias is the same for all
    instances, or known before the product's factors are: `U h + (W x + b)`, where
    h comes from a call and x does not, begins with `W x`. A sum of rows begins with
    whatever is added to it, but for other sums. Sums are rounded at other places.

    ```mlir
    %p = linalg.matvec ins(%W, %x : tensor<4x4xf32>, tensor<4xf32>) outs(%zero : tensor<4xf32>) -> tensor<4xf32>
    %y = arith.addf %p, %b : tensor<4xf32>
    // becomes
    %y = linalg.matvec ins(%W, %x : tensor<4x4xf32>, tensor<4xf32>) outs(%b : tensor<4xf32>) -> tensor<4xf32>
    ```

    See test/Transforms/Import/fold-biases.mlir.
  }];
}

def FoldEmptyPass : Pass<"batch-fold-empty", "::mlir::ModuleOp"> {
  let summary = "remove tensors without elements";
  let description = [{
    What computes a tensor without elements, as front ends write them, computes
    nothing; what reads one does without: a concatenation leaves it out, an insert
    keeps the whole, a reduction over it is its initial value.

    ```mlir
    %y = tensor.concat dim(0) %none, %x : (tensor<0x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
    %z = arith.addf %y, %y : tensor<3x4xf32>
    // becomes
    %z = arith.addf %x, %x : tensor<3x4xf32>
    ```

    See test/Transforms/Import/fold-empty.mlir.
  }];
  let dependentDialects = ["::mlir::tensor::TensorDialect"];
}

def ScalarizePass : Pass<"batch-scalarize", "::mlir::ModuleOp"> {
  let summary = "make scalars of rank-0 tensors that decide control";
  let description = [{
    Front ends write counters, conditions and positions as rank-0 tensors. Where
    control takes the element of one that follows from elements of inputs and
    parameters and from constants by elementwise operations alone, perhaps carried
    by `scf.for`, `scf.while` and `scf.if`, the operations and what is carried
    become scalars, as do positions of the elements, in recursive functions too:
    control is seen to be structural. Others stay, so that control waits for them
    as late as before. Loops no longer carry what they do not change, such as
    parameters, so that kernels know what it is.

    ```mlir
    %less = arith.cmpi slt, %i, %limit : tensor<i32>
    %go = tensor.extract %less[] : tensor<i1>
    %y = scf.if %go -> (tensor<4xf32>) {
    // becomes
    %i0 = tensor.extract %i[] : tensor<i32>
    %limit0 = tensor.extract %limit[] : tensor<i32>
    %go = arith.cmpi slt, %i0, %limit0 : i32
    ```

    See test/Transforms/Import/scalarize.mlir.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::tensor::TensorDialect"];
}

def UpdateStacksPass : Pass<"batch-update-stacks", "::mlir::ModuleOp"> {
  let summary = "update rows of stacked tensors in place";
  let description = [{
    A stack is a tensor of rows, such as the caches of all layers. If the program extracts
    a row, inserts into it, and puts it back, the pass inserts into the stack instead, and
    no op copies the row. A loop over all rows may read one stack and fill another one
    with the changed rows, as `lax.scan` does. The pass makes it start from the stack that
    it reads.

    ```mlir
    %row = tensor.extract_slice %stack[%l, 0, 0] [1, 8, 4] [1, 1, 1] : tensor<2x8x4xf32> to tensor<8x4xf32>
    %new = tensor.insert_slice %x into %row[%i, 0] [1, 4] [1, 1] : tensor<4xf32> into tensor<8x4xf32>
    %next = tensor.insert_slice %new into %stack[%l, 0, 0] [1, 8, 4] [1, 1, 1] : tensor<8x4xf32> into tensor<2x8x4xf32>
    // becomes
    %next = tensor.insert_slice %x into %stack[%l, %i, 0] [1, 1, 4] [1, 1, 1] : tensor<4xf32> into tensor<2x8x4xf32>
    ```

    The pass unrolls such a loop if the result has at most `most-ops` ops. Its rows then have
    constant positions, and kernels read them without a copy.

    See test/Transforms/Import/update-stacks.mlir.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::tensor::TensorDialect"];
  let options = [
    Option<"mostOps", "most-ops", "int64_t", /*default=*/"512",
           "Maximum number of ops that an unrolled loop has in all rounds">,
  ];
}

#endif // BATCH_TRANSFORMS_IMPORT_PASSES_TD
