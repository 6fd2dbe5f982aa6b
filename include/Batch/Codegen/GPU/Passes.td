//===- Passes.td - Operators as code for a GPU -------------*- tablegen -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_CODEGEN_GPU_PASSES_TD
#define BATCH_CODEGEN_GPU_PASSES_TD

include "mlir/Pass/PassBase.td"

def ConvertOperatorsToGPUPass
    : Pass<"convert-operators-to-gpu", "::mlir::ModuleOp"> {
  let summary = "Lower batched operators to functions for thread blocks";
  let description = [{
    For each stage of each `uprog.operator @k.rows` in the `gpu.module @device`
    (uprog-stage-operators), creates a function `@k.rows.stageN` in this module.
    The functions run over raw rows in global memory. The columns of a stage are
    divided among blocks, in tiles of 8 if the stage multiplies by parameters.
    If there are more blocks than tiles, several blocks share the rows of a
    tile. If there are few rows, they also share its columns. A block has the
    same tiles, and therefore the same parameters, at every step.

    A block copies the rows that it multiplies by parameters to shared memory,
    as many at a time as fit. The products are divided among its warps: a warp
    takes one share of k of one product, in one tile of 4 rows by 8 columns. If
    the block has at most 4 rows, a warp takes only 2 of these columns where
    that gives work to more warps or blocks. The lanes of a warp divide k among
    them and add their sums in a fixed order. One lane computes each other
    element, in registers. Shares depend only on sizes, so a row has the same
    bits in every mini-batch and on any number of blocks.

    For the whole launch, a block keeps as many of its parameters in shared
    memory as fit. The function `@load_parameters`, with the attribute
    `uprog.level`, begins to fill this memory. Before a stage reads this memory,
    it waits until the memory is filled. Parameters of kernels that run at only
    one step, or on one block by itself, are not resident. Parameters that are
    multiplied by the most rows of a task have priority.

    The level of the programs that run operators determines how many blocks run
    a stage, and thus how many tiles a block has. The number of all blocks is an
    estimate (`blocks`). The number of blocks of a cluster is
    `uprog.cluster_size` of the module. If programs have several levels, no
    parameters are resident. At run time, a block that has more tiles than
    estimated reads their parameters from global memory. The remark `Parameters`
    reports the resident parameters. `batch.added_bytes` of the module is the
    number of bytes that a launch must add for parameters, sums and rows.

    With a `precision` other than f32, warps compute products with parameters on
    tensor cores, in tiles of 16 rows by 8 columns. Rows and resident parameters
    are rounded once, when they are copied. `nvvm.mma.sync` multiplies them,
    with shape m16n8k8 for tf32 and m16n8k16 for bf16. Sums are f32, and every
    lane gets four of them. Other products remain in f32. All products of an
    operator with f64 have the types that the operator specifies.

    For each stage, the remark `Work` reports the work of the blocks that are
    expected to run the stage. It does so for each number of rows in
    `count-rows`. The rows are those of tasks or of a ragged domain. The remark
    contains the number of warps that have work. It also contains the largest
    numbers of products, barriers and bytes of global memory of any block or
    warp. From these numbers, the pass estimates the cycles. For up to 16
    blocks, the remark also contains the number of sums that each warp stores in
    shared memory. The functions that emit the code count the work.

    `uprog.await_rows` is inserted where a stage first reads rows of earlier
    steps.

    The operators remain for the unbatched code. Their attribute `uprog.code` (a
    `#uprog.code`) specifies the requirements of the functions.

    ```mlir
    uprog.operator @k.rows(
        %n: index, %x: tensor<?x64xf32> {uprog.operand = #uprog.operand<gather>})
        -> tensor<?x64xf32> {
      %y = math.tanh %x : tensor<?x64xf32>
      uprog.yield %y : tensor<?x64xf32>
    }
    // becomes, after uprog-stage-operators=target=gpu, the input plus:
    gpu.module @device attributes {...} {
      func.func private @k.rows.stage0(
          %step: !llvm.ptr<1>, %packed: !llvm.ptr<1>, %unit: i64, %units: i64) ... {
        ...
        %y = math.tanh %x : f32
        ...
      }
    }
    ```

    See test/Codegen/GPU.
  }];
  let options = [
    Option<"blockSize", "block-size", "int64_t", /*default=*/"256",
           "Use this many threads per block">,
    Option<"sharedMemory", "shared-memory", "int64_t", /*default=*/"101376",
           "Use this many bytes of shared memory (0: no resident parameters)">,
    Option<"blocks", "blocks", "int64_t", /*default=*/"108",
           "Expect launches of this many blocks">,
    Option<"asyncCopies", "async-copies", "bool", /*default=*/"true",
           "Copy to shared memory while threads do other work; needs sm_80 or "
           "later">,
    Option<"precision", "precision", "::mlir::batch::Precision",
           /*default=*/"::mlir::batch::Precision::F32",
           "Round factors of products with parameters to this type: f32, tf32 "
           "or bf16">,
    ListOption<"countRows", "count-rows", "int64_t",
               "Report the work of the blocks in each stage for each of these "
               "numbers of rows (remark `Work`)">,
  ];
  let dependentDialects = ["::mlir::func::FuncDialect",
                           "::mlir::gpu::GPUDialect",
                           "::mlir::scf::SCFDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::math::MathDialect",
                           "::mlir::vector::VectorDialect",
                           "::mlir::LLVM::LLVMDialect",
                           "::mlir::NVVM::NVVMDialect"];
}

#endif // BATCH_CODEGEN_GPU_PASSES_TD
