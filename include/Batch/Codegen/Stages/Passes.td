//===- Passes.td - Operators as stages ---------------------*- tablegen -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_CODEGEN_STAGES_PASSES_TD
#define BATCH_CODEGEN_STAGES_PASSES_TD

include "mlir/Pass/PassBase.td"

def ConvolutionsToProductsPass
    : Pass<"uprog-convolutions-to-products", "::mlir::ModuleOp"> {
  let summary = "Prepare convolutions and poolings for CPU code";
  let description = [{
    Rewrites convolutions and poolings in the operators of a module. These may
    be linalg ops in any layout, or equivalent generic ops
    (`inferConvolutionDims`). The rules are:

    - Padding, and everything else that is computed or selected for each element
      of an image, is computed once. A `linalg.copy` before a convolution or a
      pooling stores it in memory. Results of reductions, and operands, are read
      in place.
    - A convolution whose columns are pixels gets one dimension of pixels
      instead of the image's dimensions. Vectors can then cross from one line of
      the image to the next. The result is reshaped. The filter multiplies the
      image from the left.
    - The dimensions of the reduction follow the order of the filter's
      dimensions, so a filter of any rank is a matrix in memory.

    The last two rules apply to convolutions whose filter is a parameter.
    Operators that already have stages are left unchanged.

    ```mlir
    %padded = tensor.insert_slice %x into %zeros[0, 0, 1, 1] [%n, 3, 8, 8] [1, 1, 1, 1]
        : tensor<?x3x8x8xf32> into tensor<?x3x10x10xf32>
    %y = linalg.generic {indexing_maps = [#image, #filter, #result],
        iterator_types = ["parallel", "parallel", "parallel", "parallel",
                          "reduction", "reduction", "reduction"]}
        ins(%padded, %w : tensor<?x3x10x10xf32>, tensor<5x3x3x3xf32>)
        outs(%start : tensor<?x5x8x8xf32>) {
    ^bb0(%a: f32, %b: f32, %s: f32):
      %p = arith.mulf %a, %b : f32
      %q = arith.addf %s, %p : f32
      linalg.yield %q : f32
    } -> tensor<?x5x8x8xf32>
    // becomes, with (c, p floordiv 8 + i, p mod 8 + j) of the image for pixel p,
    %padded = tensor.insert_slice %x into %zeros...
    ...
    %image = linalg.copy ins(%padded : tensor<?x3x10x10xf32>) ...
    %pixels = linalg.generic ... ins(%image, %w : tensor<?x3x10x10xf32>, tensor<5x3x3x3xf32>)
        outs(%zero_pixels : tensor<?x5x64xf32>) { ...
    } -> tensor<?x5x64xf32>
    ...
    %y = tensor.expand_shape %pixels [[0], [1], [2, 3]] ...
    ```

    See test/Codegen/Stages/convolutions-to-products.mlir.
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect"];
}

def StageOperatorsPass : Pass<"uprog-stage-operators", "::mlir::ModuleOp"> {
  let summary = "Split operators into stages for a target";
  let description = [{
    The body of each `uprog.operator` becomes a sequence of `uprog.stage` ops,
    each of which is one pass over rows of the same shape. An op that reads
    another value only element by element is in the stage of that value. For an
    op that reads other elements, an earlier stage stores the value in scratch
    memory. That stage is as late as the readers of the value allow. Views, and
    elementwise code of low cost over operands, are copied to their readers. An
    attribute on each reduction specifies how it runs. Contractions with
    parameters read panels, which are packed when the parameters are bound.

    For a CPU, a stage specifies how workers divide it when there are few tasks.
    They divide it by columns, or by rows, such as the heads of an attention
    layer (`shared_dims`). Workers wait for each other before a stage
    (`barrier`) only if one of them reads or writes data that another one
    writes. A stage that reads only columns or rows that the same worker has
    computed needs no barrier. The pass considers all choices that are equal for
    stages of the same rank. It selects the choice with the least work and the
    fewest barriers.

    The stages of an operator depend on the number of vector lanes. For a CPU,
    the stages replace the body. For a GPU, the pass stages a copy of the
    operator in `gpu.module @device`, because the operator also becomes
    unbatched CPU code. The data layout of that module aligns integers as the
    host does. Operators that already have stages are left unchanged.

    ```mlir
    uprog.operator @k.rows(
        %n: index, %x: tensor<?x64xf32> {uprog.operand = #uprog.operand<gather>})
        -> tensor<?x64xf32> {
      %y = math.tanh %x : tensor<?x64xf32>
      uprog.yield %y : tensor<?x64xf32>
    }
    // becomes
    uprog.operator @k.rows(
        %n: index, %x: tensor<?x64xf32> {uprog.operand = #uprog.operand<gather>})
        -> tensor<?x64xf32>
        attributes {uprog.staging = #uprog.staging<cpu, vector_bits = 512, lanes = 16>} {
      %h = uprog.stage rows<tasks> shape [64] reads(%x : tensor<?x64xf32>)
          -> (tensor<?x64xf32>) {
        %y = math.tanh %x : tensor<?x64xf32>
        uprog.yield %y : tensor<?x64xf32>
      }
      uprog.yield %h : tensor<?x64xf32>
    }
    ```

    See test/Codegen/Stages/stage-operators.mlir,
    test/Codegen/Stages/share-stages.mlir.
  }];
  let options = [
    Option<"target", "target", "::mlir::uprog::StageTarget",
           /*default=*/"::mlir::uprog::StageTarget::CPU",
           "Split operators into stages for this target">,
    Option<"vectorBits", "vector-bits", "int64_t", /*default=*/"512",
           "Assume CPU vector registers of this many bits; GPU lanes load 128">,
  ];
  let dependentDialects = ["::mlir::DLTIDialect", "::mlir::gpu::GPUDialect",
                           "::mlir::tensor::TensorDialect",
                           "::mlir::uprog::UProgDialect"];
}

#endif // BATCH_CODEGEN_STAGES_PASSES_TD
