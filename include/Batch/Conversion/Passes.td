//===- Passes.td - Passes between levels -------------------*- tablegen -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_CONVERSION_PASSES_TD
#define BATCH_CONVERSION_PASSES_TD

include "mlir/Pass/PassBase.td"

def ConvertBatchToUProgPass
    : Pass<"convert-batch-to-uprog", "::mlir::ModuleOp"> {
  let summary = "make a uprog.program of the executor";
  let description = [{
    The executor's loop becomes a `uprog.for` that all units run in step, its
    choice of a kernel a uniform `uprog.branch`, each launch the `uprog.run` of
    the kernel's operator. All units meet at the end of a step: the next one
    reads what this one wrote, and that is the only dependence the loop carries.

    See test/Conversion/BatchToUProg.
  }];
  let dependentDialects = ["::mlir::uprog::UProgDialect"];
}

def ConvertUProgToCPUPass
    : Pass<"convert-uprog-to-cpu", "::mlir::ModuleOp"> {
  let summary = "lower programs to code that every worker of a pool runs";
  let description = [{
    A `uprog.program` of device level becomes a function over (context, worker,
    workers); a unit is a worker thread. `uprog.run` shares its tasks out in one
    of two ways, by their number: large batches by rows, so that no worker waits
    inside a kernel; small ones by columns, so that each worker reads its own
    part of the weights only and row tiles stay full. What is large,
    `convert-operators-to-cpu` has decided kernel by kernel from the size of its
    weights and its work per task (the remark `Sharing` says how).

    See test/Conversion/UProgToCPU.
  }];
  let options = [
    Option<"rowSplit", "row-split", "int64_t", /*default=*/"0",
           "Share batches by rows from this many tasks per worker on, whatever "
           "the kernel says; 0: as it says">,
    Option<"rowBlock", "row-block", "int64_t", /*default=*/"-1",
           "Run all stages on this many tasks before the next ones, whatever the "
           "kernel says; 0: on all, -1: as it says">,
  ];
  let dependentDialects = ["::mlir::func::FuncDialect",
                           "::mlir::scf::SCFDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::LLVM::LLVMDialect"];
}

def ConvertBatchToLLVMPass
    : Pass<"convert-batch-to-llvm", "::mlir::ModuleOp"> {
  let summary = "lower inspector and instance functions, make the object";
  let description = [{
    Lowers the functions that run on the host, `rec` included, to scf, arith and
    llvm over a `BatchContext`: the inspector, where `batch.record` appends to a
    kernel's queue, and the instance program, where `batch.invoke` calls the
    kernel function with one task. Adds what a compiled object exports: the
    global `batch_object` with its entry points and its descriptor (see
    docs/ABI.md).

    See test/Conversion/BatchToLLVM.
  }];
  let options = [
    Option<"targetTriple", "triple", "std::string", "\"\"",
           "Target triple, for the descriptor">,
    Option<"targetCPU", "cpu", "std::string", "\"\"",
           "Target CPU, for the descriptor">,
    ListOption<"targetFeatures", "features", "std::string",
               "CPU features that the object needs, for the descriptor">,
  ];
  let dependentDialects = ["::mlir::func::FuncDialect",
                           "::mlir::scf::SCFDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::LLVM::LLVMDialect",
                           "::mlir::rec::RecDialect"];
}

def ConvertOperatorsToCPUPass
    : Pass<"convert-operators-to-cpu", "::mlir::ModuleOp"> {
  let summary = "lower batched operators to CPU kernel functions";
  let description = [{
    Turns every `uprog.operator @k.rows` into a function `@k.rows` over raw rows:
    a sequence of stages, each one pass over row tiles and column blocks with
    its elementwise code fused behind its contractions. Register tiles are
    derived from the vector width and the number of vector registers. Every row
    tile, the single row included, adds up in the same order, so a row's bits do
    not depend on the batch it runs in.

    Elements are index, i1, i8, i16, i32, i64, f16, bf16, f32 or f64; contractions
    of f32 and of f64 with parameters run in register tiles. All vectors of an
    operator have as many lanes as fit of its widest type; the order in which a
    reduction adds up follows from the type of its result alone. An integer
    division whose divisor is zero, or whose quotient does not fit, gives any
    number: kernels may run on rows that nobody reads, and must not trap there.

    Attributes that it reads: on arguments `uprog.read = "gather" | "rows" |
    "contiguous" | "scalar"` (how ABI.h says the operand lies; default
    `"gather"`), on results `uprog.siblings` (rows of a task in the result's
    table; default 1) and `uprog.position` (which of them it is; default 0), on
    both `uprog.layout` and `uprog.block_bytes` (where elements and slots lie, as
    `batch.table` has it; default: in row-major order). Attributes that it makes: on the function
    `batch.kernel_info = {stages, task_scratch, ragged_scratch,
    worker_scratch, row_split, row_block, share_tasks}`: sizes in bytes per
    task, per row of each ragged domain and [fixed, per task, most] of a worker,
    which needs min(fixed + n * per task, most) for n tasks, and how workers
    share tasks (the remark `Sharing` says it); on the module `batch.forms`, the
    forms of parameters that kernels index.

    See test/Conversion/OperatorsToCPU.
  }];
  let options = [
    Option<"vectorBits", "vector-bits", "int64_t", /*default=*/"512",
           "Width of a vector register of the target in bits">,
    Option<"vectorRegisters", "vector-registers", "int64_t", /*default=*/"32",
           "Number of vector registers of the target">,
    Option<"tuning", "tuning", "std::string", /*default=*/"\"\"",
           "File of batch-run --tune with measured choices">,
  ];
  let dependentDialects = ["::mlir::func::FuncDialect",
                           "::mlir::scf::SCFDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::math::MathDialect",
                           "::mlir::vector::VectorDialect",
                           "::mlir::LLVM::LLVMDialect"];
}

def ConvertOperatorsToGPUPass
    : Pass<"convert-operators-to-gpu", "::mlir::ModuleOp"> {
  let summary = "make functions for thread blocks of batched operators";
  let description = [{
    Makes the `gpu.module @device` with a function `@k.rows.stageN` for each stage
    of each `uprog.operator @k.rows`, over raw rows in global memory. Warps take
    tiles of 32 elements. In a contraction the lanes share out the reduction and
    add up their parts in a fixed order; everything else is one lane per element,
    in registers, behind the contractions. The blocks that own a tile of columns
    are the same at every step, and so are the weights that they read.

    A block keeps these weights in its shared memory for the whole launch, as far
    as there is room: the function `@load_weights` begins to fill it, and has the
    attribute `batch.kept_bytes`; stages that read it wait first. Weights of kernels that run at one step only are not kept.
    First come those that most rows of a task are multiplied with. The level of the
    program says how many blocks share out a stage, and so how many tiles are a
    block's; of all blocks `blocks` is a guess. Where a block has more tiles in the
    end, their weights are read from global memory. The remark `Weights` says what is kept.

    With a `precision` other than f32 warps compute products with weights on tensor
    cores, in tiles of 16 rows by 8 columns: lanes load f32, round it and multiply
    with `nvvm.mma.sync`, of shape m16n8k8 for tf32 and m16n8k16 for bf16. Sums are
    f32, and every lane gets four of them. Other products are f32 as before, and
    all products of an operator that holds f64 have the types it says.

    The operators stay, for the unbatched code; their `batch.kernel_info =
    {stages, task_scratch, ragged_scratch}` says what the functions need.

    See test/Conversion/OperatorsToGPU.
  }];
  let options = [
    Option<"blockSize", "block-size", "int64_t", /*default=*/"256",
           "Threads of a block">,
    Option<"sharedMemory", "shared-memory", "int64_t", /*default=*/"101376",
           "Bytes of shared memory that a block may keep weights in; 0: none">,
    Option<"blocks", "blocks", "int64_t", /*default=*/"108",
           "Blocks of a launch, as far as is known">,
    Option<"clusterSize", "cluster-size", "int64_t", /*default=*/"8",
           "Blocks of a cluster">,
    Option<"asyncCopies", "async-copies", "bool", /*default=*/"true",
           "The chip can copy to shared memory while threads do other things: "
           "sm_80 and later">,
    Option<"precision", "precision", "std::string", /*default=*/"\"f32\"",
           "What factors of products with weights are rounded to: f32, tf32 or "
           "bf16">,
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

def ConvertUProgToGPUPass : Pass<"convert-uprog-to-gpu", "::mlir::ModuleOp"> {
  let summary = "make one persistent kernel of a program";
  let description = [{
    A `uprog.program` becomes one kernel of `gpu.module @device`
    and a host function with one `gpu.launch_func`. Its arguments are the plans to
    run and their number, the forms of parameters, the control words of the
    barrier (all addresses in global memory), the number of blocks, and how many
    nanoseconds a block may wait for others (0: for ever).

    A group of blocks runs one plan after the other; every block takes its part
    of every step, and the blocks of a group meet where a step says so, and
    between the stages of an operator. The level of the program says what a group
    is:

    | level | a group is | it meets at |
    |---|---|---|
    | `device` | all blocks | a barrier in global memory |
    | `cluster` | a thread-block cluster | the cluster's hardware barrier |
    | `block` | a block | the block's barrier |

    Before that, all threads call the function of the `gpu.module` that has
    `batch.kept_bytes`, if there is one: it fills the block's shared memory with
    weights. The launch adds as much.

    The barrier in global memory: the first thread of a block makes what its block
    wrote visible (a release fence), counts its arrival, and waits for the
    generation to change with acquire loads; the last one to arrive changes it.
    A block that waits for too long writes a record, and all blocks leave.

    Every block runs a program on lanes by itself, on lanes of its own: the
    kernel's arguments are then the context, which names them, and the number of
    blocks. The threads of a block share out the lanes and meet at its barrier. A
    machine with `frames` is an error: a block has no stack for calls.

    See test/Conversion/UProgToGPU.
  }];
  let options = [
    Option<"blockSize", "block-size", "int64_t", /*default=*/"256",
           "Threads of a block">,
    Option<"clusterSize", "cluster-size", "int64_t", /*default=*/"8",
           "Blocks of a cluster">,
    Option<"amd", "amd", "bool", /*default=*/"false",
           "For AMD: its name of the scope of a device, and no watchdog, whose "
           "clock only NVIDIA has">,
  ];
  let dependentDialects = ["::mlir::func::FuncDialect",
                           "::mlir::gpu::GPUDialect",
                           "::mlir::scf::SCFDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::LLVM::LLVMDialect",
                           "::mlir::NVVM::NVVMDialect"];
}

def CheckGPUTargetPass : Pass<"batch-check-gpu-target", "::mlir::ModuleOp"> {
  let summary = "say whether code for a GPU can be made";
  let description = [{
    Changes nothing. Makes errors of what would otherwise go wrong long after, in
    LLVM or in a toolkit: formats and chips that nobody knows, chips that lack what
    a persistent kernel or its options need, formats whose tools are not installed.

    See test/Pipelines/gpu-persistent-invalid.test.
  }];
  let options = [
    Option<"chip", "chip", "std::string", /*default=*/"\"\"",
           "Chip to make code for; empty: none">,
    Option<"format", "format", "std::string", /*default=*/"\"llvm\"",
           "What becomes of the kernel: llvm, isa, bin or fatbin">,
    Option<"executor", "executor", "std::string", /*default=*/"\"auto\"",
           "What runs a plan: device, cluster, block or auto">,
    Option<"precision", "precision", "std::string", /*default=*/"\"f32\"",
           "What factors of products with weights are rounded to">,
  ];
}

def ChooseExecutorPass : Pass<"batch-choose-executor", "::mlir::ModuleOp"> {
  let summary = "choose which blocks of a GPU run a plan together";
  let description = [{
    Gives programs, and their barriers, the level of the group of blocks that runs
    a plan: `device`, `cluster` or `block`. Smaller groups meet sooner, but each
    reads all weights, and a task has only the group's blocks.

    `auto` takes the smallest group that

    - can hold the weights of all kernels in its shared memory, and
    - computes the largest stage of a task in no more time than all blocks take to
      meet at a barrier in global memory: 2¹⁸ FLOP for each of its blocks.

    That is a block, else a cluster where the chip has them, else the device. What
    contractions read and compute counts, weights once for each kernel. Without a
    chip it counts on what all have from sm_80 on. The remark `Executor` says which
    it is and why.

    A program on lanes runs on blocks, each with lanes of its own; asking for
    anything else is an error.

    See test/Conversion/UProgToGPU/choose-executor.mlir.
  }];
  let options = [
    Option<"executor", "executor", "std::string", /*default=*/"\"auto\"",
           "What runs a plan: device, cluster, block or auto">,
    Option<"chip", "chip", "std::string", /*default=*/"\"\"",
           "Chip to choose for; empty: any">,
    Option<"clusterSize", "cluster-size", "int64_t", /*default=*/"8",
           "Blocks of a cluster">,
  ];
}

def MathToIntrinsicsPass : Pass<"batch-math-to-intrinsics"> {
  let summary = "turn math into intrinsics that GPUs have instructions for";
  let description = [{
    Upstream's conversions for GPUs call a library for most of `math`, which comes
    with the toolkit of the GPU only. This turns `math` on floats into the LLVM
    intrinsics that code generators for GPUs know; what they do not know is an
    error. To be run behind `batch-expand-math`, and before those conversions.

    See test/Conversion/ExpandMath.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

def ExpandMathPass : Pass<"batch-expand-math"> {
  let summary = "expand exp, log, sin and others to polynomials with stated errors";
  let description = [{
    Replaces cos, exp, expm1, log, log1p, sin and tanh of `math` on scalars and
    vectors of f32 and f64 by range reduction and polynomials in `math.fma`. The
    same operations run for scalars and for vectors of every width, so results do
    not depend on either, and on a GPU they are the CPU's.

    | error | f32 | f64 |
    |---|---|---|
    | cos, sin: absolute | 1e-7 for \|x\| < 2²⁰ | 2e-16 for \|x\| < 2⁴⁹ |
    | others: relative, above the smallest normal number | 1e-6 | 1e-15 |

    From these bounds on, cos and sin are 0, 1 or -1. Subnormal results are off
    by one step at most; infinities, NaN and signed zeros are exact cases.
    `math.sqrt` stays: all targets have an instruction that rounds correctly.

    See test/Conversion/ExpandMath.
  }];
  let options = [
    Option<"share", "share", "bool", /*default=*/"false",
           "Expand once per kind and type, in a function that is called; LLVM "
           "inlines it">,
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::func::FuncDialect",
                           "::mlir::math::MathDialect",
                           "::mlir::vector::VectorDialect"];
}

def ConvertGPUToHostEmulationPass
    : Pass<"convert-gpu-to-host-emulation", "::mlir::ModuleOp"> {
  let summary = "make functions for the GPU emulator of kernels";
  let description = [{
    Turns every kernel `@k` of a `gpu.module` into a function `@k.emulate` that
    the emulator of the runtime library calls for each thread (see
    docs/Emulator.md), and the module's other functions into private ones. The
    `gpu.module` is gone afterwards, and so are all `gpu.launch_func`: whoever
    runs the object launches.

    `@k.emulate` takes the thread and an array with the addresses of the kernel's
    arguments. Identifiers are read from the thread. Barriers, shuffles, atomics,
    fences and fragment products become calls through the thread's table of
    functions; plain loads and stores, masked ones included, stay and get such a
    call before them that checks the access. All pointers are the host's;
    variables in shared memory are offsets into that of the thread's block. The
    attribute `batch.shared_bytes` of `@k.emulate` says how many bytes they take;
    what a launch adds, a variable without size, lies behind.

    ```mlir
    gpu.module @m {
      gpu.func @k(%p: !llvm.ptr<1>) kernel {
        %x = llvm.load %p : !llvm.ptr<1> -> f32
        ...
    // becomes
    func.func @k.emulate(%thread: !llvm.ptr, %arguments: !llvm.ptr) {
      %p = llvm.load %arguments ... // of the address, then the argument
      llvm.call %read(%thread, %p, %bytes, %alignment, %space, %where) : ...
      %x = llvm.load %p : !llvm.ptr -> f32
    ```

    Other operations with effects, and those of other dialects than arith, cf,
    math, scf, vector and llvm, are errors.

    See test/Conversion/GPUToHostEmulation.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::func::FuncDialect",
                           "::mlir::LLVM::LLVMDialect"];
}

def ConvertRecToLLVMPass
    : Pass<"convert-rec-to-llvm", "::mlir::ModuleOp"> {
  let summary = "lower rec to scf, arith and llvm over a context";
  let description = [{
    Gives every function the context as its first argument and replaces values
    of ADTs, lists and tensors by cells: a match becomes a switch over the
    variant of a node, a construction takes a new node of the forest, a map
    fills new entries of the list pool. The declarations of ADTs stay.

    The pipelines use the patterns together with those of `batch`; alone they
    serve programs without tensor code.

    See test/Conversion/RecToLLVM.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::scf::SCFDialect"];
}

#endif // BATCH_CONVERSION_PASSES_TD
