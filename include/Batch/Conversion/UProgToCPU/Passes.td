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
  let summary = "Lower programs to code that every worker of a pool runs";
  let description = [{
    A device-level `uprog.program` becomes a function over (context, worker,
    workers); a unit is a worker thread. `uprog.run` divides its tasks among the
    workers in one of two ways, depending on their number. Large batches are
    divided by rows, so no worker waits inside a kernel. Small batches are
    divided stage by stage as the stages specify, mostly by columns. Each worker
    then reads only its own share of the parameters, and row tiles remain full.
    Workers wait for each other where a stage requires it.
    `convert-operators-to-cpu` decides for each kernel which batches are large,
    from the size of its parameters and its work per task (see the remark
    `Sharing`).

    All workers form one cluster. Together, they run the tasks of a
    cluster-level program one after another. Each worker runs a block-level
    program by itself. Other programs may run the tasks of a block-level
    program. Of n workers, worker w then takes every n-th task, starting at task
    w. The arguments of a block-level program, except plans and lanes, become
    additional arguments of its function.

    If a block-level program computes only with numbers and has loops, the pass
    also creates a second function. This function runs several instances at once
    in the elements of vectors. A loop continues while at least one of these
    instances is in it, and the values of the others do not change. A path of a
    branch runs if at least one instance takes it. If there are only a few
    instances, or an instance of a vector may exceed its limit of rounds, the
    instances run one by one.

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
           "Divide batches of at least this many tasks per worker by rows, "
           "overriding the kernel's number (0: use the kernel's)">,
    Option<"vectorBits", "vector-bits", "int64_t", /*default=*/"256",
           "Run several instances at once in vectors of this many bits">,
    Option<"stageRows", "stage-rows", "int64_t", /*default=*/"-1",
           "Run all stages on this many tasks before the next tasks, "
           "overriding the kernel's number (0: all tasks, -1: use the "
           "kernel's)">,
  ];
  let dependentDialects = ["::mlir::func::FuncDialect",
                           "::mlir::scf::SCFDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::vector::VectorDialect",
                           "::mlir::LLVM::LLVMDialect"];
}

#endif // BATCH_CONVERSION_UPROGTOCPU_PASSES_TD
