//===- Passes.td - Cleanup of imported programs ------------*- tablegen -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_TRANSFORMS_IMPORT_PASSES_TD
#define BATCH_TRANSFORMS_IMPORT_PASSES_TD

include "mlir/Pass/PassBase.td"

def ShareResourcesPass : Pass<"batch-share-resources", "::mlir::ModuleOp"> {
  let summary = "Turn resource constants into parameters";
  let description = [{
    Front ends emit parameters as `dense_resource` constants. Each constant
    becomes a parameter of the entry, named after its key, and is passed to the
    functions that use it. Its values are supplied like those of any other
    parameter. `batch-compile --write-params=FILE` writes the values that a
    module contains.

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
  let summary = "Replace conditionals in bodies of structured ops with selects";
  let description = [{
    Front ends emit an `scf.if` in a body to choose between elements, as in a
    gather at concatenated indices. After this pass, both branches run. In a
    branch that is not taken, reads use index 0 and integer divisions divide by
    one. A conditional remains if it reads a tensor of dynamic shape, which may
    have no elements.

    A reduction may skip some elements, as in `max(count ? x : so_far, so_far)`.
    The pass replaces such elements with the neutral element, so elements can be
    reduced in any order. A tensor becomes an operand if the body reads it at
    the indices of the loops. If an extent of the tensor is dynamic, it must
    equal the extent of the loop.

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
  let summary = "Initialize sums of products with their biases";
  let description = [{
    Front ends add a bias to a product that starts from zero, so a kernel needs
    an additional stage for the sum. This pass makes the product start from the
    bias instead, as some models already do. Nothing else may read the product,
    and the bias must be the same for all instances or known before the
    product's factors. For example, in `U h + (W x + b)`, where h comes from a
    call and x does not, `U h` starts from `W x + b`. A sum of rows starts from
    any value that is added to the sum, except another reduction. Sums may round
    differently after this pass.

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
  let summary = "Remove tensors without elements";
  let description = [{
    Front ends emit ops that compute tensors without elements. This pass
    replaces such ops with empty tensors and simplifies the ops that read them.
    A concatenation omits the empty tensor, an insert becomes its destination,
    and a reduction becomes its initial value.

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
  let summary = "Use scalars instead of rank-0 tensors for control flow";
  let description = [{
    Front ends write counters, conditions and positions as rank-0 tensors. This
    pass applies to tensors whose elements control flow reads. Only elementwise
    operations may compute such a tensor, from constants and from elements of
    inputs and parameters. `scf.for`, `scf.while` and `scf.if` may carry the
    tensor. These operations, the carried values and the positions of the
    elements become scalars, even in recursive functions. Analyses can then find
    that control flow is structural. Other tensors remain, so control flow does
    not wait for them earlier than without this pass.

    The pass also removes loop-carried values that the loop does not change,
    such as parameters. Later passes can then identify these values.

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
  let summary = "Update rows of stacked tensors in place";
  let description = [{
    A stack is a tensor of rows, such as the caches of all layers. If the
    program extracts a row, inserts into it, and puts the row back, the pass
    inserts into the stack instead. No op then copies the row. A loop over all
    rows may read one stack and fill another one with the changed rows, as
    `lax.scan` does. The pass makes such a loop start from the stack that it
    reads.

    ```mlir
    %row = tensor.extract_slice %stack[%l, 0, 0] [1, 8, 4] [1, 1, 1] : tensor<2x8x4xf32> to tensor<8x4xf32>
    %new = tensor.insert_slice %x into %row[%i, 0] [1, 4] [1, 1] : tensor<4xf32> into tensor<8x4xf32>
    %next = tensor.insert_slice %new into %stack[%l, 0, 0] [1, 8, 4] [1, 1, 1] : tensor<8x4xf32> into tensor<2x8x4xf32>
    // becomes
    %next = tensor.insert_slice %x into %stack[%l, %i, 0] [1, 1, 4] [1, 1, 1] : tensor<4xf32> into tensor<2x8x4xf32>
    ```

    The pass unrolls a loop over all rows if the unrolled code has at most
    `most-ops` ops. The rows then have constant positions, and kernels read them
    without a copy. If each round also selects the matrices of products, the
    limit is `most-ops-panels`: kernels read the selected matrices in panels.

    See test/Transforms/Import/update-stacks.mlir.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::tensor::TensorDialect"];
  let options = [
    Option<"mostOps", "most-ops", "int64_t", /*default=*/"512",
           "Unroll loops with at most this many ops in all rounds">,
    Option<"mostOpsPanels", "most-ops-panels", "int64_t", /*default=*/"5000",
           "Unroll loops that select the matrices of products if they have at "
           "most this many ops in all rounds">,
  ];
}

#endif // BATCH_TRANSFORMS_IMPORT_PASSES_TD
