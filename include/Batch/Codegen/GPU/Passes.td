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
  let summary = "make functions for thread blocks of batched operators";
  let description = [{
    Makes the `gpu.module @device` with a function `@k.rows.stageN` for each stage
    of each `uprog.operator @k.rows` in it (uprog-stage-operators), over raw rows in
    global memory. Blocks share out the columns of a stage, in tiles of 8 where it
    multiplies by parameters; those that are left share the rows of a tile. A
    block has the same columns at every step, and so the same parameters.

    Of its rows, a block copies those that parameters are multiplied by to shared
    memory, as many at a time as have room. Its warps share out the products: a warp
    takes one share of k, of one product, in one tile of 4 rows by 8 columns, or two
    of its columns where there is a single row. Its lanes share out k and add up
    their sums in a fixed order. Everything else is one lane per element, in
    registers. Shares depend on sizes only, so a row has the same bits in every
    mini-batch and on any number of blocks.

    A block keeps its parameters in shared memory for the whole launch, as far as
    there is room: the function `@load_parameters` begins to fill it, and has the
    attribute `uprog.level`; stages that read it wait first. Parameters of kernels
    that run at one step only are not kept. First come those that most rows of a
    task are multiplied with. The level of the programs that run operators says
    how many blocks share out a stage, and so how many tiles are a block's; of all
    blocks `blocks` is a guess, and of a cluster `uprog.cluster_size` of the module
    is the number. If these have several levels, nothing is kept. Where
    a block has more tiles in the end, their parameters are read from global
    memory. The remark `Parameters` says what is kept. `batch.added_bytes` of the
    module is what a launch has to add: for parameters, sums and rows.

    With a `precision` other than f32 warps compute products with parameters on
    tensor cores, in tiles of 16 rows by 8 columns: rows and kept parameters are
    rounded once, when they are copied, and multiplied with `nvvm.mma.sync`, of
    shape m16n8k8 for tf32 and m16n8k16 for bf16. Sums are f32, and every lane gets
    four of them. Other products are f32 as before, and all products of an
    operator that holds f64 have the types it says.

    For each number of rows of `count-rows`, of tasks or of a ragged domain, the
    remark `Work` says of each stage what the blocks do that are expected to share it
    out: how many warps have something to do, the products, barriers and bytes of
    global memory of the block or warp that has most, and of up to 16 blocks how many
    sums each warp leaves in shared memory; and an estimate of its cycles from that. It
    counts with the functions that make the code.

    `uprog.await_rows` stands where a stage first reads rows of earlier steps.

    The operators stay, for the unbatched code; their
    `uprog.code = #uprog.code<...>` says what the functions need.

    ```mlir
    uprog.operator @k.rows(
        %n: index, %x: tensor<?x64xf32> {uprog.operand = #uprog.operand<gather>})
        -> tensor<?x64xf32> {
      %y = math.tanh %x : tensor<?x64xf32>
      uprog.yield %y : tensor<?x64xf32>
    }
    // becomes, after uprog-stage-operators=target=gpu, besides,
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
           "Threads of a block">,
    Option<"sharedMemory", "shared-memory", "int64_t", /*default=*/"101376",
           "Bytes of shared memory that a block may keep parameters in; 0: none">,
    Option<"blocks", "blocks", "int64_t", /*default=*/"108",
           "Blocks of a launch, as far as is known">,
    Option<"asyncCopies", "async-copies", "bool", /*default=*/"true",
           "The chip can copy to shared memory while threads do other things: "
           "sm_80 and later">,
    Option<"precision", "precision", "::mlir::batch::Precision",
           /*default=*/"::mlir::batch::Precision::F32",
           "What factors of products with parameters are rounded to: f32, tf32 "
           "or bf16">,
    ListOption<"countRows", "count-rows", "int64_t",
               "Numbers of rows for which the remark `Work` says what the blocks "
               "do in a stage">,
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
