//===- Passes.td - Programs on a pool of workers -----------*- tablegen -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_CONVERSION_UPROGTOCPU_PASSES_TD
#define BATCH_CONVERSION_UPROGTOCPU_PASSES_TD

include "mlir/Pass/PassBase.td"

def ConvertUProgToCPUPass
    : Pass<"convert-uprog-to-cpu", "::mlir::ModuleOp"> {
  let summary = "lower programs to code that every worker of a pool runs";
  let description = [{
    A `uprog.program` of device level becomes a function over (context, worker,
    workers); a unit is a worker thread. `uprog.run` shares its tasks out in one
    of two ways, by their number: large batches by rows, so that no worker waits
    inside a kernel; small ones stage by stage as the stages say, mostly by columns,
    so that each worker reads its own share of the parameters only and
    row tiles stay full. Workers wait for each other where a stage says so. What is
    large,
    `convert-operators-to-cpu` has decided kernel by kernel from the size of its
    parameters and its work per task (the remark `Sharing` says how).

    All workers are one cluster: they run a program of level `cluster` together, and its
    tasks one after the other.
    A program of block level each worker runs by itself. Others may run its tasks:
    then worker w takes those numbered w, w + workers and so on. What such a program
    takes beside plans and lanes are further arguments of its function. Where such a
    program computes with numbers alone, and has loops, there is a second function, which
    runs instances side by side in the elements of vectors. A loop goes on as long as one
    of them does, and the others keep what they have; a way of a branch runs if one takes
    it. A few instances run one by one, and so do all that would take more rounds than they
    may.

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
    func.func @main.execute(%context: !llvm.ptr, %worker: i64, %workers: i64) ... {
      ...
      scf.for %i = %zero to %steps step %one {
        ...
        scf.if %many {
          ...                                      // %begin to %end is the worker's share
          func.call @k.rows(..., %begin, %end, ...) : ...
        } else {
          ...                                      // all tasks, the worker's share of a stage
          func.call @k.rows(..., %worker, %workers, ...) : ...
        }
        ...
        llvm.call %barrier(%context, %worker) : !llvm.ptr, (!llvm.ptr, i64) -> ()
      }
      return
    }
    ```

    See test/Conversion/UProgToCPU.
  }];
  let options = [
    Option<"rowSplit", "row-split", "int64_t", /*default=*/"0",
           "Share batches by rows from this many tasks per worker on, whatever "
           "the kernel says; 0: as it says">,
    Option<"vectorBits", "vector-bits", "int64_t", /*default=*/"256",
           "Width of the vectors in which instances run side by side">,
    Option<"stageRows", "stage-rows", "int64_t", /*default=*/"-1",
           "Run all stages on this many tasks before the next ones, whatever the "
           "kernel says; 0: on all, -1: as it says">,
  ];
  let dependentDialects = ["::mlir::func::FuncDialect",
                           "::mlir::scf::SCFDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::vector::VectorDialect",
                           "::mlir::LLVM::LLVMDialect"];
}

#endif // BATCH_CONVERSION_UPROGTOCPU_PASSES_TD
