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
  let summary = "say whether code for a GPU can be made";
  let description = [{
    Changes nothing. Makes errors of what would otherwise go wrong long after, in
    LLVM or in a toolkit: chips that nobody knows, chips that lack what
    a persistent kernel or its options need, formats whose tools are not installed.

    ```mlir
    // error: unknown chip 'sm_1'
    module {}
    ```

    See test/Pipelines/gpu-persistent-invalid.test.
  }];
  let options = [
    Option<"chip", "chip", "std::string", /*default=*/"\"\"",
           "Chip to make code for; empty: none">,
    Option<"format", "format", "::mlir::batch::CodeFormat",
           /*default=*/"::mlir::batch::CodeFormat::LLVM",
           "What becomes of the kernel: llvm, isa, bin or fatbin">,
    Option<"executor", "executor", "::mlir::batch::Executor",
           /*default=*/"::mlir::batch::Executor::Auto",
           "What runs a plan: device, cluster, block or auto">,
    Option<"precision", "precision", "::mlir::batch::Precision",
           /*default=*/"::mlir::batch::Precision::F32",
           "What factors of products with parameters are rounded to: f32, tf32 "
           "or bf16">,
  ];
}

def ChooseExecutorPass : Pass<"batch-choose-executor", "::mlir::ModuleOp"> {
  let summary = "choose which blocks of a GPU run a plan together";
  let description = [{
    Gives programs, and their barriers, the level of the group of blocks that
    runs a plan: `device`, `cluster` or `block`. Barriers of smaller groups cost
    less, and a mini-batch has a plan for each of them; but each reads all parameters,
    and a task has only the group's blocks. Where clusters run programs, the module
    gets `uprog.cluster_size`.

    `auto` takes the group with which a step of each kernel takes least, of a mini-batch
    of `instances` with a task for each, or the largest one within 5 % of it. A kernel
    that runs at one step of a plan only does not count, if there are others. A group has its share of the tasks. What
    its blocks then do is counted as the remark `Work` of convert-operators-to-gpu
    counts it, but for loads and instructions that wait for each other, which only code
    has: there are two, and a hundred. With what blocks keep in shared memory, warps
    without work and parameters that do not fit cost what they cost; products of two
    tensors of a task are left out. Barriers between stages and steps
    come to that, and what the host does for a step of each plan. Clusters have
    `cluster-size` blocks; 0: what `uprog.cluster_size` says already, else 8, or 16
    where the chip has such and they take less. Without a chip there are none. The remark
    `Executor` says which it is and why.

    A program on lanes runs on blocks, each with lanes of its own; asking for
    anything else is an error. A program that others run keeps its level if that
    is below theirs, and they get one above it.

    ```mlir
    uprog.program @main.execute() level(device) {
      uprog.barrier device
      uprog.yield
    }
    // becomes, with instances=1, where a step takes least on a block,
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
           "What runs a plan: device, cluster, block or auto">,
    Option<"chip", "chip", "std::string", /*default=*/"\"\"",
           "Chip to choose for; empty: any">,
    Option<"clusterSize", "cluster-size", "int64_t", /*default=*/"0",
           "Blocks of a cluster; 0: 8, or 16 where `auto` takes these">,
    Option<"instances", "instances", "int64_t", /*default=*/"64",
           "Instances that a mini-batch will have">,
    Option<"blockSize", "block-size", "int64_t", /*default=*/"256",
           "Threads of a block">,
    Option<"sharedMemory", "shared-memory", "int64_t", /*default=*/"101376",
           "Bytes of shared memory that a block may have">,
    Option<"blocks", "blocks", "int64_t", /*default=*/"108",
           "Blocks of a launch, as far as is known">,
    Option<"precision", "precision", "::mlir::batch::Precision",
           /*default=*/"::mlir::batch::Precision::F32",
           "What factors of products with parameters are rounded to">,
  ];
}

def ConvertUProgToGPUPass : Pass<"convert-uprog-to-gpu", "::mlir::ModuleOp"> {
  let summary = "make one persistent kernel of a program";
  let description = [{
    A `uprog.program` becomes one kernel of `gpu.module @device`
    and a host function with one `gpu.launch_func`. Its arguments are the plans to
    run and their number, the forms of parameters, the control words of the
    barrier (all addresses in global memory), the number of blocks, and how many
    nanoseconds a block may wait for others (0: for ever).

    A group of blocks runs one plan after the other; every block takes its share
    of every step, and the blocks of a group wait for each other where a step
    says so, and between the stages of an operator. The level of the program
    says what a group is:

    | level | a group is | its barrier |
    |---|---|---|
    | `device` | all blocks | a barrier in global memory |
    | `cluster` | a thread-block cluster | the cluster's hardware barrier |
    | `block` | a block | the block's barrier |

    Before that, all threads call `@load_parameters` of the `gpu.module`, if there is
    one: it fills the block's shared memory with parameters. Each block keeps its
    share, as one of the blocks of its group of level `uprog.level`. The launch adds
    the module's `batch.added_bytes` of that memory.

    Where a program only runs steps of plans, blocks wait for each other in the
    functions of stages, at `uprog.await_rows`: loads of the next step's plan are
    on their way meanwhile. Elsewhere, barriers are where the program has them.

    The barrier in global memory: the first thread of a block makes what its block
    wrote visible (a release fence), counts its arrival, and waits with acquire
    loads until as many have arrived as this barrier and those before it need.
    A block that waits for too long writes a record, and all blocks leave.

    A `uprog.run` of a program of a level below becomes a loop, in which each block,
    or each cluster, of a group runs every so many of its tasks: in these there are
    no other blocks. Where a module has programs of level `cluster`, its kernels are
    launched in clusters of `uprog.cluster_size`, whatever the level of the program that the
    host starts.

    Every block runs a program on lanes by itself, on lanes of its own: the
    kernel's arguments are then the context, which names them, and the number of
    blocks. The threads of a block share out the lanes and wait at its barrier.
    A machine with `frames` is an error: a block has no stack for calls.

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
    ...  // the host learns that the block has ended
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
           "Threads of a block">,
    Option<"chip", "chip", "std::string", /*default=*/"\"\"",
           "Chip to make the kernel for; empty: any of NVIDIA's. AMD's have other "
           "names for scopes, and no watchdog, for want of a clock">,
  ];
  let dependentDialects = ["::mlir::func::FuncDialect",
                           "::mlir::gpu::GPUDialect",
                           "::mlir::scf::SCFDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::LLVM::LLVMDialect",
                           "::mlir::NVVM::NVVMDialect"];
}

#endif // BATCH_CONVERSION_UPROGTOGPU_PASSES_TD
