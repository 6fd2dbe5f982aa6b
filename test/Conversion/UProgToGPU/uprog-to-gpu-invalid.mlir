// RUN: batch-opt %s --convert-uprog-to-gpu --split-input-file --verify-diagnostics

// expected-error @+1 {{this program runs no operators, so a device has nothing to do; compile it for the CPU}}
uprog.program @p() level(device) {
  uprog.yield
}

// -----

uprog.operator @k.rows(%n: index, %x: tensor<?x4xf32> {uprog.operand = #uprog.operand<gather>}) {
  uprog.yield
}
// expected-error @+1 {{missing gpu.module @device; run convert-operators-to-gpu first}}
uprog.program @p() level(device) {
  uprog.yield
}

// -----

gpu.module @device {
}
uprog.operator @k.rows(%n: index, %x: tensor<?x4xf32> {uprog.operand = #uprog.operand<gather>}) {
  uprog.yield
}
uprog.program @p(%plan: !batch.plan, %x: tensor<?x4xf32>) level(device) {
  %i = arith.constant 0 : index
  %step = uprog.plan_step %plan[%i]
  // expected-error @+1 {{operator @k.rows has no functions for thread blocks yet; run convert-operators-to-gpu first}}
  uprog.run @k.rows step(%step) tasks(%i)
  uprog.yield
}

// -----

// The operator's attribute specifies two stages, but only one is compiled.
gpu.module @device {
  func.func private @k.rows.stage0(%step: !llvm.ptr<1>, %packings: !llvm.ptr<1>, %unit: i64, %units: i64) {
    return
  }
}
uprog.operator @k.rows(%n: index, %x: tensor<?x4xf32> {uprog.operand = #uprog.operand<gather>}) attributes {uprog.code = #uprog.code<stages = 2, task_scratch = 0>} {
  uprog.yield
}
uprog.program @p(%plan: !batch.plan, %x: tensor<?x4xf32>) level(device) {
  %i = arith.constant 0 : index
  %step = uprog.plan_step %plan[%i]
  // expected-error @+1 {{gpu.module @device has no function @k.rows.stage1}}
  uprog.run @k.rows step(%step) tasks(%i)
  uprog.yield
}

// -----

gpu.module @device {
}
uprog.program @p() level(device) {
  // expected-error @+1 {{cannot be lowered to a persistent kernel}}
  %m = memref.alloc() : memref<4xf32>
  uprog.yield
}

// -----

// A barrier must be for all blocks that run a plan together, or for the threads of a block.
gpu.module @device {
}
uprog.program @p() level(device) {
  // expected-error @+1 {{cannot be lowered to a persistent kernel}}
  uprog.barrier cluster
  uprog.yield
}

// -----

gpu.module @device {
}
// expected-error @+1 {{argument #0 of this program has type 'f32', which the host cannot pass; run this program from another program}}
uprog.program @p(%x: f32) level(device) {
  uprog.yield
}

// -----

// The code of a program that calls itself would be infinite.
gpu.module @device {
}
uprog.operator @k.rows(%n: index, %x: tensor<?x4xf32> {uprog.operand = #uprog.operand<gather>}) {
  uprog.yield
}
uprog.program @p() level(device) {
  // expected-error @+1 {{cannot be lowered to a persistent kernel}}
  uprog.ref @p()
  uprog.yield
}

// -----

// The host starts programs on all blocks. Programs of other units take the addresses of an
// instance from a task.
gpu.module @device {
}
// expected-error @+1 {{this cluster-level program runs single instances; run it with uprog.run from a device-level program}}
uprog.program @p() level(cluster) {
  %n = uprog.instances
  uprog.yield
}

// -----

gpu.module @device {
  // expected-error @+1 {{this function divides parameters among the blocks of a cluster, but the module has no cluster-level program}}
  func.func private @load_parameters(%packings: !llvm.ptr<1>, %unit: i64, %units: i64) attributes {uprog.level = "cluster"} {
    return
  }
}
uprog.program @p() level(device) {
  uprog.yield
}
