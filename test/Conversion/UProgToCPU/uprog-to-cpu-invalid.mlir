// RUN: batch-opt %s --convert-uprog-to-cpu --split-input-file --verify-diagnostics

// A run requires the code of the operator.
uprog.operator @k.rows(%n: index, %x: tensor<?x4xf32> {uprog.operand = #uprog.operand<gather>}) {
  uprog.yield
}
uprog.program @p(%plan: !batch.plan, %x: tensor<?x4xf32>) level(device) {
  %i = arith.constant 0 : index
  %step = uprog.plan_step %plan[%i]
  // expected-error @+1 {{operator @k.rows has no code for the CPU; run convert-operators-to-cpu first}}
  uprog.run @k.rows step(%step) tasks(%i)
  uprog.yield
}

// -----

// The operator's code must specify how workers share its tasks.
func.func private @k.rows(!llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr, i64, i64, i64, i64, i64, i64)
    attributes {uprog.code = #uprog.code<stages = 1, task_scratch = 0>}
uprog.program @p(%plan: !batch.plan, %x: tensor<?x4xf32>) level(device) {
  %i = arith.constant 0 : index
  %step = uprog.plan_step %plan[%i]
  // expected-error @+1 {{'uprog.code' of operator @k.rows has no 'workers', which specifies how workers share its tasks}}
  uprog.run @k.rows step(%step) tasks(%i)
  uprog.yield
}

// -----

// Operations such as allocations do not run on workers.
uprog.program @p() level(device) {
  // expected-error @+1 {{cannot be lowered to CPU workers}}
  %m = memref.alloc() : memref<4xf32>
  uprog.yield
}

// -----

// The host can pass only plans and lanes.
// expected-error @+1 {{argument #1 of this program has type 'index', which the host cannot pass; run this program from another program}}
uprog.program @p(%plan: !batch.plan, %n: index) level(device) {
  uprog.yield
}

// -----

// All workers form one cluster, so a step cannot run on one of several clusters.
func.func private @k.rows(!llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr, i64, i64, i64, i64, i64, i64)
    attributes {uprog.code = #uprog.code<stages = 1, task_scratch = 0>}
uprog.program @p(%plan: !batch.plan) level(device) {
  %i = arith.constant 0 : index
  %step = uprog.plan_step %plan[%i]
  // expected-error @+1 {{level(cluster) is not supported here, because all workers form one cluster; use level(block)}}
  uprog.run @k.rows step(%step) tasks(%i) level(cluster)
  uprog.yield
}
