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
  let summary = "prepare convolutions and poolings for the code of a CPU";
  let description = [{
    In the operators of a module, which may be linalg's convolutions in any layout or
    generics of the same shape (`inferConvolutionDims`):

    - padding, and whatever else is computed or chosen for each element of an image,
      is computed once: a `linalg.copy` in front of a convolution or a pooling stays
      in memory. What a reduction computes or an operand has is read where it lies;
    - a convolution whose columns are pixels gets one dimension of pixels in place of
      the image's, so that vectors cross from one line of the image to the next; the
      result is reshaped. The filter multiplies it from the left;
    - the reduction's dimensions have the order of the filter's, so that a filter of
      any rank is a matrix in memory.

    Operators that have stages stay as they are.

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
  let summary = "split operators into stages for a target";
  let description = [{
    The body of each `uprog.operator` becomes a sequence of `uprog.stage` ops,
    each one pass over rows of the same shape. What reads another value only
    element by element is in its stage; what reads other elements of it has an
    earlier stage before it, as late as its readers allow, which stores to
    scratch memory. Views and elementwise code of low cost over operands are
    copied to where they are read. An attribute at each reduction says how it
    runs: contractions with parameters read panels, which are packed when
    parameters are bound.

    For the workers of a CPU, a stage says how they share it when there are few tasks: by
    columns, or by rows, such as the heads of an attention layer (`shared_dims`). Workers
    wait for each other before a stage (`barrier`) only if one reads or writes what
    another one writes: a stage that reads the columns, or the rows, that the same
    worker has made needs no barrier. Of all ways that are the same for stages of the same
    rank, the one with the least work and barriers is taken.

    How an operator falls into stages depends on the number of vector lanes. For a
    CPU the stages replace the body; for a GPU they are those of a copy of the
    operator in `gpu.module @device`, since the operator becomes unbatched CPU code
    too. That module's data layout aligns integers as the host does. Operators that have
    stages stay as they are.

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

    See test/Codegen/Stages/stage-operators.mlir, test/Codegen/Stages/share-stages.mlir.
  }];
  let options = [
    Option<"target", "target", "::mlir::uprog::StageTarget",
           /*default=*/"::mlir::uprog::StageTarget::CPU", "For what">,
    Option<"vectorBits", "vector-bits", "int64_t", /*default=*/"512",
           "Width of a vector register of the CPU in bits; a GPU's lanes load 128">,
  ];
  let dependentDialects = ["::mlir::DLTIDialect", "::mlir::gpu::GPUDialect",
                           "::mlir::tensor::TensorDialect",
                           "::mlir::uprog::UProgDialect"];
}

#endif // BATCH_CODEGEN_STAGES_PASSES_TD
