//===- Passes.td - The one crossing from batch to uprog ----*- tablegen -*-===//
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
  let summary = "add the batch dimension to kernels";
  let description = [{
    Makes a `uprog.operator @k.rows` for every `batch.kernel @k` that has none:
    the same tensor code for `n` tasks at once. Every per-task tensor gets a
    leading dimension; `linalg.matvec` with a shared matrix becomes
    `linalg.matmul`, with a per-task matrix a batched matvec; elementwise code
    gets one more parallel loop. Ragged tensors are concatenated: reductions
    over their extent become `batch.segment_reduce`, per-task operands of their
    elementwise code `batch.segment_broadcast`. Code of shared operands alone
    stays as it is. An element or a slice at computed positions, or a body that
    reads a tensor at one, becomes a `linalg.generic` with a `tensor.extract`:
    it reads the tensor where it lies. A `cf.assert` before it says so if an
    index is out of range, and 0 takes its place. `tensor.gather`, `tensor.pad`
    and `tensor.generate` are such reads and slices too. An element or a slice
    that is inserted at computed positions becomes a `linalg.generic` that
    chooses, for each element of the whole, between the old one and the inserted
    one; or, if the whole is an argument that the kernel does not read
    afterwards, and the result is one of the kernel, a `uprog.insert`: then the
    kernel's result has `batch.in_place`. The remark `Inserts` says which it is,
    and why. `tensor.reshape`, `tensor.bitcast`, `linalg.pack` and `linalg.unpack`
    of known extents are views, and bits as other elements, in another form; a
    slice that is inserted with strides is interleaved with what lies between its
    elements. Reductions have any number of results, and may keep their dimensions
    with extent one, as importers write it; one over a ragged extent and others
    reduces each row first. Operations of other dialects are batched if they
    implement `BatchableOpInterface`.

    Operands are read as unbatched code hands them in: scalars from cells, ragged
    tensors row by row, other tensors by number. `convert-batch-to-uprog` knows
    better of those that a step reads.

    ```mlir
    batch.kernel @k(%x: tensor<4xf32>,
                    %w: tensor<8x4xf32> {batch.shared, batch.parameter = 0})
        -> tensor<8xf32> {
      %zero = arith.constant dense<0.0> : tensor<8xf32>
      %y = linalg.matvec ins(%w, %x : tensor<8x4xf32>, tensor<4xf32>)
                         outs(%zero : tensor<8xf32>) -> tensor<8xf32>
      batch.yield %y : tensor<8xf32>
    }
    // becomes, besides,
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
  let summary = "run the blocks of a machine for many lanes at a time";
  let description = [{
    Makes the executor of a `batch.machine`: a `uprog.program` in which lanes
    take instances, and one block after the other runs for all lanes that wait
    for it (program-counter autobatching, Radul et al., MLSys 2020, algorithm
    2). Units share nothing, so the program has block level: each runs it by
    itself, on lanes of its own.

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
    // becomes, besides,
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
  let summary = "make the uprog.program that runs a plan";
  let description = [{
    Makes the executor of an entry that has an inspector: a loop over the steps
    of a plan, which all units run in step. A uniform branch on the number of
    the step's kernel has a `uprog.run` of the operator of each kernel that
    tasks are recorded of. All units wait for each other after a step that says
    so, and nowhere else.

    Operators learn from their kernels and from tables how a step reads operands
    (`uprog.operand`) and where it writes results (`uprog.result`), kernels which
    of their operands are of one ragged domain (`batch.ragged`).

    ```mlir
    func.func @main.inspect(%word: index) -> (!batch.handle {batch.in_table = @h})
        attributes {batch.inspector} {
      %d = arith.constant 0 : index
      %h = batch.record @leaf(%word) depth(%d) : (index) -> !batch.handle
      return %h : !batch.handle
    }
    // becomes, besides,
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
  let summary = "run the control of an instance on all units";
  let description = [{
    Makes the executor of an entry of strategy `replicate`: every unit computes the
    control of the instance for itself, from elements that kernels have written, and
    the units share out the tasks (Cocktailer, Zhang et al., OSDI 2023). Loops and
    branches hand on where tensors lie, so that none is copied; a result gets a buffer
    with as many copies as are read while it is written, and one more. A slice that
    is inserted into a tensor changes it in place, where nothing else reads it.

    A recursion over a data structure that is an argument, which visits all its nodes and
    takes nothing else that changes, becomes a loop over the nodes, children first; a
    recursive call is what the loop remembers of the child. Tensors that other nodes or
    the host read have a row for each node.

    With `level` `block`, each unit runs instances of its own; with `cluster`, each
    cluster of a GPU's blocks (the workers of a CPU are one). With `device`, all units
    run one instance, or several as a *set*: each unit computes the control of all, a
    branch runs each way for those that take it, a loop for those that are still in it,
    and a task becomes a batch of theirs. On a CPU, `auto` takes sets if they are faster
    than instances of one unit each; where it does not, all units together run those
    instances that are too few for each to get as many, if that is faster than on one.
    On a GPU, `auto` takes the fastest of these, or of clusters (`cluster-size`), for all.
    Where several run one, steps that are smaller than the barriers between them are for one unit
    (`uprog.run` with a level): decided from the inner loops and branches to the outer
    ones by estimates, which a remark tells (`Units`). `tuning` names a file that can
    decide instead (docs/Formats.md).

    ```mlir
    func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> attributes {
        batch.entry, batch.strategy = #batch.strategy<replicate>} {
      %y = batch.invoke @f(%x) : (tensor<4xf32>) -> tensor<4xf32>
      return %y : tensor<4xf32>
    }
    // becomes, besides, with level=device and instances=1,
    uprog.buffer @f.0 : tensor<4xf32> copies(1)
    ...
    uprog.program @main.instance.together(%i: index) level(device) {
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
        uprog.ref @main.instance.together(%i) : index
      }
      uprog.yield
    }
    ```

    Barriers are missing still: `uprog-insert-barriers` places them. See
    test/Conversion/BatchToUProg/replicate.mlir, for data structures
    test/Conversion/BatchToUProg/replicate-nodes.mlir.
  }];
  let options = [
    Option<"level", "level", "::mlir::batch::InstanceLevel",
           /*default=*/"::mlir::batch::InstanceLevel::Auto",
           "Who runs an instance: 'block', one unit; 'cluster', the blocks of a "
           "cluster; 'device', all together; 'auto'">,
    Option<"instances", "instances", "int64_t", /*default=*/"64",
           "Instances that a mini-batch has: with one there are no sets">,
    Option<"gpu", "gpu", "bool", /*default=*/"false",
           "Estimate for the blocks of a GPU, not for workers">,
    Option<"clusterSize", "cluster-size", "int64_t", /*default=*/"0",
           "Blocks of a cluster that level 'auto' may take; 0: none">,
    Option<"rounds", "rounds", "int64_t", /*default=*/"::mlir::batch::kUnknownRounds",
           "Estimated rounds of a loop whose number of rounds is not static">,
    Option<"tuning", "tuning", "std::string", /*default=*/"\"\"",
           "File with choices for levels and units">,
  ];
  let dependentDialects = ["::mlir::uprog::UProgDialect",
                           "::mlir::batch::BatchDialect",
                           "::mlir::arith::ArithDialect"];
}

#endif // BATCH_CONVERSION_BATCHTOUPROG_PASSES_TD
