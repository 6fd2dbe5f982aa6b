//===- Passes.td - Conversion from batch to uprog ----------*- tablegen -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_CONVERSION_BATCHTOUPROG_PASSES_TD
#define BATCH_CONVERSION_BATCHTOUPROG_PASSES_TD

include "mlir/Pass/PassBase.td"

def VectorizeKernelsPass
    : Pass<"batch-vectorize-kernels", "::mlir::ModuleOp"> {
  let summary = "Add the batch dimension to kernels";
  let description = [{
    Creates a `uprog.operator @k.rows` for every `batch.kernel @k` that has
    none: the same tensor code for `n` tasks at once. Every per-task tensor gets
    a leading dimension. A `linalg.matvec` with a shared matrix becomes a
    `linalg.matmul`, and one with a per-task matrix becomes a batched matvec.
    Elementwise code gets one more parallel loop. Code that reads only shared
    operands is left unchanged. Ragged tensors are concatenated: reductions over
    their extent become `batch.segment_reduce`, and per-task operands of their
    elementwise code become `batch.segment_broadcast`.

    A read of an element or a slice at computed positions becomes a
    `linalg.generic` with a `tensor.extract`, which reads the tensor in place.
    The same applies to a body that reads a tensor at a computed position. A
    `cf.assert` before the read reports an index out of range, and 0 replaces
    the index. `tensor.gather`, `tensor.pad` and `tensor.generate` become such
    reads and slices too.

    An insert of an element or a slice at computed positions becomes a
    `linalg.generic`. For each element of the destination, the body selects the
    old or the inserted element. The insert becomes a `uprog.insert` if the
    kernel returns its result, and the destination is an argument that the
    kernel does not read afterwards. It becomes a `linalg.generic` nonetheless
    if storing old values that later code needs would cost as much as a copy.
    With `uprog.insert`, the kernel's result has `batch.in_place`. The remark
    `Inserts` reports the choice and the reason.

    With known extents, `tensor.reshape`, `linalg.pack` and `linalg.unpack`
    become views, and `tensor.bitcast` becomes `arith.bitcast`. A slice that is
    inserted with strides is interleaved with the destination's elements in
    between. Reductions may have any number of results. Reduced dimensions may
    remain with extent one, as in imported modules. A reduction over a ragged
    extent and other extents reduces each row first. Operations of other
    dialects are batched if they implement `BatchableOpInterface`.

    Operands are read as unbatched code passes them: scalars from cells, ragged
    tensors row by row, other tensors by number. `convert-batch-to-uprog`
    replaces this for operands that a step reads.

    ```mlir
    batch.kernel @k(%x: tensor<4xf32>,
                    %w: tensor<8x4xf32> {batch.shared, batch.parameter = 0})
        -> tensor<8xf32> {
      %zero = arith.constant dense<0.0> : tensor<8xf32>
      %y = linalg.matvec ins(%w, %x : tensor<8x4xf32>, tensor<4xf32>)
                         outs(%zero : tensor<8xf32>) -> tensor<8xf32>
      batch.yield %y : tensor<8xf32>
    }
    // becomes the input plus:
    uprog.operator @k.rows of @k(
        %n: index, %x: tensor<?x4xf32> {uprog.operand = #uprog.operand<gather>},
        %w: tensor<8x4xf32> {uprog.operand = #uprog.operand<shared(0)>})
        -> tensor<?x8xf32> {
      ...
      %y = linalg.matmul indexing_maps = [...]
             ins(%x, %w : tensor<?x4xf32>, tensor<8x4xf32>)
             outs(%zero : tensor<?x8xf32>) -> tensor<?x8xf32>
      uprog.yield %y : tensor<?x8xf32>
    }
    ```

    See test/Conversion/BatchToUProg/vectorize-kernels.mlir.
  }];
  let dependentDialects = ["::mlir::uprog::UProgDialect",
                           "::mlir::batch::BatchDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::cf::ControlFlowDialect"];
}

def LockstepPass : Pass<"batch-lockstep", "::mlir::ModuleOp"> {
  let summary = "Run the blocks of a machine on many lanes at a time";
  let description = [{
    Creates the executor of a `batch.machine`: a `uprog.program` in which lanes
    take instances. One block after another runs for all lanes that wait for it
    (program-counter autobatching, Radul et al., MLSys 2020, algorithm 2). Units
    share nothing, so this is a block-level program: each unit runs it by
    itself, on its own lanes.

    ```mlir
    batch.machine @main.machine() {
      batch.variable @n : tensor<i64> argument(0) result(0)
      batch.block @main.0 {
        %n = batch.top @n : tensor<i64>
        %m = batch.invoke @main.0(%n) : (tensor<i64>) -> tensor<i64>
        batch.set @n, %m : tensor<i64>
        batch.return
      }
    }
    // becomes the input plus:
    uprog.program @main.execute(%lanes: !batch.lanes) level(block) ... {
      batch.start_lanes %lanes @main.machine
      %last = uprog.while {
        %blocks = arith.constant 1 : index
        %keys:2, %least:2 = uprog.reduce min %i < %blocks {
          %preference, %since = batch.block_keys %lanes[%i]
          uprog.yield %preference, %since : i64, i64
        }
        %next, %any = batch.next_block %lanes of %least#0, %least#1 since %keys#1
        uprog.condition(%any) %next : index
      } do {
      ^bb0(%block: index):
        %all, %list = batch.lane_list %lanes : memref<?xi32>
        %count = uprog.compact %lane < %all into %list : memref<?xi32> {
          %runs = batch.enter_block %lanes[%lane], %block
          uprog.condition(%runs)
        }
        %step = uprog.take_lanes %lanes[%block] tasks(%count)
        uprog.branch %block
        case 0 {
          batch.lane_ops %lanes @main.machine::@main.0 prologue
          %tasks = uprog.step_tasks %step
          uprog.run @main.0.rows step(%step) tasks(%tasks)
          batch.lane_ops %lanes @main.machine::@main.0
        }
        uprog.yield
      }
      uprog.yield
    }
    ```

    See test/Conversion/BatchToUProg/lockstep.mlir.
  }];
  let dependentDialects = ["::mlir::uprog::UProgDialect",
                           "::mlir::batch::BatchDialect",
                           "::mlir::arith::ArithDialect"];
}

def ConvertBatchToUProgPass
    : Pass<"convert-batch-to-uprog", "::mlir::ModuleOp"> {
  let summary = "Create the uprog.program that runs a plan";
  let description = [{
    Creates the executor of an entry that has an inspector: a loop over the
    steps of a plan, which all units run together. A uniform branch on the
    number of the step's kernel has a case for each kernel with recorded tasks.
    In each case, a `uprog.run` runs the operator of the kernel. All units wait
    for each other only after steps that require it.

    The pass sets `uprog.operand` and `uprog.result` of operators from their
    kernels and from tables. These attributes specify how a step reads operands
    and where it writes results. Operands of a kernel that belong to one ragged
    domain get the same `batch.ragged`.

    ```mlir
    func.func @main.inspect(%word: index) -> (!batch.handle {batch.in_table = @h})
        attributes {batch.inspector} {
      %d = arith.constant 0 : index
      %h = batch.record @leaf(%word) depth(%d) : (index) -> !batch.handle
      return %h : !batch.handle
    }
    // becomes the input plus:
    uprog.program @main.execute(%plan: !batch.plan) level(device) ... {
      %zero = arith.constant 0 : index
      %steps = uprog.plan_size %plan
      uprog.for %i = %zero to %steps {
        %step = uprog.plan_step %plan[%i]
        %kernel = uprog.step_kernel %step
        uprog.branch %kernel
        case 0 {
          %tasks = uprog.step_tasks %step
          uprog.run @leaf.rows step(%step) tasks(%tasks)
        }
        %barrier = uprog.step_barrier %step
        uprog.branch %barrier
        case 1 {
          uprog.barrier device
        }
      }
      uprog.yield
    }
    ```

    See test/Conversion/BatchToUProg.
  }];
  let dependentDialects = ["::mlir::uprog::UProgDialect",
                           "::mlir::arith::ArithDialect"];
}

def ReplicatePass : Pass<"batch-replicate", "::mlir::ModuleOp"> {
  let summary = "Run the control flow of an instance on all units";
  let description = [{
    Creates the executor of an entry with strategy `replicate`. Every unit
    computes the control flow of the instance by itself, from elements that
    kernels have written. The tasks are divided among the units (Cocktailer,
    Zhang et al., OSDI 2023). Loops and branches carry the locations of tensors,
    so no tensor is copied. The buffer of a result has as many copies as are
    read while the result is written, plus one. A slice that is inserted into a
    tensor changes it in place if nothing else reads the tensor.

    A recursion over a data structure becomes a loop over the nodes, children
    first. The data structure must be an argument. The recursion must visit all
    nodes of the data structure. No other argument may change from call to call.
    A recursive call becomes a read of the value that the loop has stored for
    the child. Tensors that other nodes or the host read have a row for each
    node.

    | `level` | an instance runs on |
    |---|---|
    | `block` | one unit |
    | `cluster` | a cluster of a GPU's blocks, or all workers of a CPU |
    | `device` | all units; several instances can run as a *set* |

    In a set, each unit computes the control flow of all instances. Each path of
    a branch runs for the instances that take the path, and a loop runs for the
    instances that are still in it. Tasks of these instances form batches.

    On a CPU, `auto` uses sets if they are faster than running each instance on
    one unit. Otherwise, each unit runs the same number of instances. All units
    together run the remaining instances if that is faster than running them on
    one unit. On a GPU, `auto` uses the fastest of sets, one unit, all units,
    and clusters (`cluster-size`) for all instances.

    If several units run an instance, one of them runs steps that cost less than
    the barriers between them (`uprog.run` with a level). Estimates determine
    these steps, from the inner loops and branches to the outer ones, and the
    remark `Units` reports them. A `tuning` file can override the estimates
    (docs/reference/formats.md).

    ```mlir
    func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> attributes {
        batch.entry, batch.strategy = #batch.strategy<replicate>} {
      %y = batch.invoke @f(%x) : (tensor<4xf32>) -> tensor<4xf32>
      return %y : tensor<4xf32>
    }
    // becomes, with level=device and instances=1, the input plus:
    uprog.buffer @f.0 : tensor<4xf32> copies(1)
    ...
    uprog.program @main.instance.all_units(%i: index) level(device) {
      uprog.enter_instance %i
      %x = uprog.argument 0 of %i : !uprog.row
      %y = uprog.row @f.0
      %step = uprog.site @f(%x : !uprog.row) into(%y)
      %one = arith.constant 1 : index
      uprog.run @f.rows step(%step) tasks(%one)
      uprog.result 0 of %i = %y : !uprog.row, tensor<4xf32>
      uprog.yield
    }
    uprog.program @main.execute() level(device) ... {
      %n = uprog.instances
      %first = arith.constant 0 : index
      uprog.for %i = %first to %n {
        uprog.ref @main.instance.all_units(%i) : index
      }
      uprog.yield
    }
    ```

    `uprog-insert-barriers` inserts the barriers; this pass does not. See
    test/Conversion/BatchToUProg/replicate.mlir, and for data structures
    test/Conversion/BatchToUProg/replicate-nodes.mlir.
  }];
  let options = [
    Option<"level", "level", "::mlir::batch::InstanceLevel",
           /*default=*/"::mlir::batch::InstanceLevel::Auto",
           "Run an instance on one unit ('block'), the blocks of a cluster "
           "('cluster'), all units ('device') or the level with the shortest "
           "estimated time ('auto')">,
    Option<"instances", "instances", "int64_t", /*default=*/"64",
           "Expect mini-batches of this many instances (1: no sets)">,
    Option<"gpu", "gpu", "bool", /*default=*/"false",
           "Estimate times for the blocks of a GPU instead of workers">,
    Option<"clusterSize", "cluster-size", "int64_t", /*default=*/"0",
           "Let 'auto' use clusters of this many blocks (0: no clusters)">,
    Option<"rounds", "rounds", "int64_t", /*default=*/"::mlir::batch::kUnknownRounds",
           "Assume this many rounds for a loop without a static number">,
    Option<"tuning", "tuning", "std::string", /*default=*/"\"\"",
           "Read choices for levels and units from this file">,
  ];
  let dependentDialects = ["::mlir::uprog::UProgDialect",
                           "::mlir::batch::BatchDialect",
                           "::mlir::arith::ArithDialect"];
}

#endif // BATCH_CONVERSION_BATCHTOUPROG_PASSES_TD
