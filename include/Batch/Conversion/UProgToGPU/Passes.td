//===- Passes.td - Programs as persistent kernels ----------*- tablegen -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_CONVERSION_UPROGTOGPU_PASSES_TD
#define BATCH_CONVERSION_UPROGTOGPU_PASSES_TD

include "mlir/Pass/PassBase.td"

def CheckGPUTargetPass : Pass<"batch-check-gpu-target", "::mlir::ModuleOp"> {
  let summary = "Check whether code for a GPU can be generated";
  let description = [{
    Reports errors early that LLVM or a toolkit would otherwise report: unknown
    chips, chips without a feature that a persistent kernel or its options need,
    and formats whose tools are not installed. The pass does not change the
    module. Control flow that waits for tensors is an error too, and so is
    `arith.remf` in an operator, because there is no GPU code for them.

    ```mlir
    // error: unknown chip 'sm_1'
    module {}
    ```

    See test/Pipelines/gpu-persistent-invalid.test.
  }];
  let options = [
    Option<"chip", "chip", "std::string", /*default=*/"\"\"",
           "Check this chip (empty: none)">,
    Option<"format", "format", "::mlir::batch::CodeFormat",
           /*default=*/"::mlir::batch::CodeFormat::LLVM",
           "Check this format of the kernel: llvm, isa, bin or fatbin">,
    Option<"executor", "executor", "::mlir::batch::Executor",
           /*default=*/"::mlir::batch::Executor::Auto",
           "Check this executor: device, cluster, block or auto">,
    Option<"precision", "precision", "::mlir::batch::Precision",
           /*default=*/"::mlir::batch::Precision::F32",
           "Check this precision of products with parameters: f32, tf32 or "
           "bf16">,
  ];
}

def ChooseExecutorPass : Pass<"batch-choose-executor", "::mlir::ModuleOp"> {
  let summary = "Choose which blocks of a GPU run a plan together";
  let description = [{
    Sets the level of programs, and of their barriers, to the level of the group
    of blocks that runs a plan: `device`, `cluster` or `block`. Barriers of
    smaller groups cost less, and a mini-batch has one plan per group. However,
    each group reads all parameters, and only the blocks of one group share a
    task. If clusters run programs, the module gets `uprog.cluster_size`.

    `auto` estimates a step of each kernel for a mini-batch of `instances`
    instances with one task each. It chooses the group whose steps take the
    fewest cycles, or the largest group within 5 % of that. A kernel that runs
    at only one step of a plan does not count, unless all kernels run at one
    step. Each group runs its share of the tasks. The pass counts the work of
    the group's blocks as the remark `Work` of convert-operators-to-gpu does.
    Chains of dependent loads and instructions are known only after code
    generation, so the pass assumes two loads and 100 instructions.

    The estimate accounts for parameters that blocks keep in shared memory or
    that do not fit there, and for warps without work. It omits products of two
    tensors of a task. It adds the barriers between stages and steps, and the
    work of the host for one step of each plan.

    Clusters have `cluster-size` blocks. With 0, they have `uprog.cluster_size`
    of the module, or else 8, and `auto` also considers 16 if the chip supports
    that. If no chip is given, `auto` does not consider clusters. The remark
    `Executor` reports the choice and the reason.

    A program on lanes runs on blocks, each with its own lanes, and any other
    executor is an error. A program that is run by other programs keeps its
    level if it is below their level. The other programs get a higher level.

    ```mlir
    uprog.program @main.execute() level(device) {
      uprog.barrier device
      uprog.yield
    }
    // becomes, with instances=1, for which a step is fastest on one block,
    uprog.program @main.execute() level(block) {
      uprog.barrier block
      uprog.yield
    }
    ```

    See test/Conversion/UProgToGPU/choose-executor.mlir.
  }];
  let options = [
    Option<"executor", "executor", "::mlir::batch::Executor",
           /*default=*/"::mlir::batch::Executor::Auto",
           "Use this executor: device, cluster, block or auto">,
    Option<"chip", "chip", "std::string", /*default=*/"\"\"",
           "Choose for this chip (empty: any)">,
    Option<"clusterSize", "cluster-size", "int64_t", /*default=*/"0",
           "Use this many blocks per cluster (0: 8; `auto`: 8 or 16)">,
    Option<"instances", "instances", "int64_t", /*default=*/"64",
           "Expect mini-batches of this many instances">,
    Option<"blockSize", "block-size", "int64_t", /*default=*/"256",
           "Use this many threads per block">,
    Option<"sharedMemory", "shared-memory", "int64_t", /*default=*/"101376",
           "Use at most this many bytes of shared memory per block">,
    Option<"blocks", "blocks", "int64_t", /*default=*/"108",
           "Expect launches of this many blocks">,
    Option<"precision", "precision", "::mlir::batch::Precision",
           /*default=*/"::mlir::batch::Precision::F32",
           "Round factors of products with parameters to this type">,
  ];
}

def ConvertUProgToGPUPass : Pass<"convert-uprog-to-gpu", "::mlir::ModuleOp"> {
  let summary = "Lower a program to one persistent kernel";
  let description = [{
    A `uprog.program` becomes one kernel of `gpu.module @device` and a host
    function with one `gpu.launch_func`. The arguments of the kernel are:

    - the plans to run and their number,
    - the packings of parameters,
    - the control words of the barrier,
    - the number of blocks,
    - the number of nanoseconds that a block may wait for others (0: no limit).

    All addresses are in global memory.

    A group of blocks runs one plan after another. Every block takes its share
    of every step. The blocks of a group wait for each other after a step that
    requires it, and between the stages of an operator. The level of the program
    determines the group:

    | level | a group is | its barrier |
    |---|---|---|
    | `device` | all blocks | a barrier in global memory |
    | `cluster` | a thread-block cluster | the cluster's hardware barrier |
    | `block` | a block | the block's barrier |

    First, all threads call `@load_parameters` of the `gpu.module`, if it
    exists. This function fills the block's shared memory with parameters. The
    blocks of a group, whose level is `uprog.level`, divide the parameters among
    them. The launch adds the module's `batch.added_bytes` of shared memory.

    If a program only runs steps of plans, blocks wait for each other in the
    functions of stages, at `uprog.await_rows`. Meanwhile, loads from the plan
    for the next step are in flight. In other programs, barriers remain in
    place.

    At the barrier in global memory, the first thread of a block publishes the
    writes of its block (a release fence) and counts its arrival. It waits with
    acquire loads until the count includes all arrivals at this barrier and at
    the previous ones. If a block waits for too long, it writes a record, and
    all blocks exit.

    A `uprog.run` of a lower-level program becomes a loop over its tasks. If a
    group has n blocks, or n clusters, each of them runs every n-th task by
    itself. If a module has cluster-level programs, all its kernels are launched
    in clusters of `uprog.cluster_size`, including kernels of other levels.

    Every block runs a program on lanes by itself, on its own lanes. The kernel
    then has three arguments: the context with the lanes, the control words, and
    the number of blocks. The threads of a block divide the lanes among them and
    wait at its barrier. A machine with `frames` is an error, because a block
    has no stack for calls.

    ```mlir
    uprog.program @main.execute(%plan: !batch.plan) level(device) {
      %zero = arith.constant 0 : index
      %steps = uprog.plan_size %plan
      uprog.for %i = %zero to %steps {
        %step = uprog.plan_step %plan[%i]
        %tasks = uprog.step_tasks %step
        uprog.run @k.rows step(%step) tasks(%tasks)
        uprog.barrier device
      }
      uprog.yield
    }
    // becomes
    gpu.module @device {
      ...
      gpu.func @main_execute(
          %plans: !llvm.ptr<1>, %count: i64, %packed: !llvm.ptr<1>,
          %control: !llvm.ptr<1>, %blocks: i64, %patience: i64) kernel ... {
        ...
        scf.for %plan = %zero to %count step %one : i64 {
          ...
          scf.for %i = ... {
            ...
            func.call @k.rows.stage0(%step, %packed, %block, %blocks) : ...
            ...
            func.call @device_barrier(%control, ...) : ...   // the barrier
          }
        }
    ...  // reports to the host that the block has ended
        gpu.return
      }
    }
    ...
    func.func @main.execute(...) ... {
      ...
      gpu.launch_func @device::@main_execute ...
      return
    }
    ```

    See test/Conversion/UProgToGPU.
  }];
  let options = [
    Option<"blockSize", "block-size", "int64_t", /*default=*/"256",
           "Use this many threads per block">,
    Option<"chip", "chip", "std::string", /*default=*/"\"\"",
           "Generate the kernel for this chip (empty: any NVIDIA chip); for "
           "AMD chips, use other scopes and omit the watchdog">,
  ];
  let dependentDialects = ["::mlir::func::FuncDialect",
                           "::mlir::gpu::GPUDialect",
                           "::mlir::scf::SCFDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::LLVM::LLVMDialect",
                           "::mlir::NVVM::NVVMDialect"];
}

def SerializeGPUModulesPass
    : Pass<"batch-serialize-gpu-modules", "::mlir::ModuleOp"> {
  let summary = "Compile each gpu.module to PTX, assembly or machine code";
  let description = [{
    Runs the upstream pass `gpu-module-to-binary`. Where no CUDA toolkit is
    installed, that pass cannot link the toolkit's library of device functions.
    It reports an error for each `gpu.module`, and then succeeds. This pass
    omits that error. Kernels call no function of the library, because
    `batch-expand-math` has replaced their math.

    ```mlir
    gpu.module @device [#nvvm.target<chip = "sm_90">] {
      llvm.func @kernel() attributes {nvvm.kernel} {
        llvm.return
      }
    }
    // becomes
    gpu.binary @device [#gpu.object<#nvvm.target<chip = "sm_90">, ...
    ```

    See test/Pipelines/gpu-without-toolkit.test.
  }];
  let options = [
    Option<"format", "format", "::mlir::batch::CodeFormat",
           /*default=*/"::mlir::batch::CodeFormat::ISA",
           "Format of the code: llvm, isa, bin or fatbin">,
  ];
}

#endif // BATCH_CONVERSION_UPROGTOGPU_PASSES_TD
