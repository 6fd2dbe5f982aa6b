// RUN: batch-opt %s --batch-verify-executor --split-input-file --verify-diagnostics

// A module with an inspector must have an executor, which runs the recorded tasks.
// expected-error @+1 {{the module has no executor; run convert-batch-to-uprog first}}
func.func @main.inspect() attributes {batch.inspector} {
  return
}

// -----

// A module with a machine must have an executor, which runs its lanes.
// expected-error @+1 {{the module has no executor; run batch-lockstep first}}
batch.machine @main.machine() {
  batch.block @b {
    batch.return
  }
}

// -----

// A module must not have two executors.
func.func @main.inspect() attributes {batch.inspector} {
  return
}
// expected-note @+1 {{the first executor is here}}
uprog.program @a(%plan: !batch.plan) level(device) attributes {batch.executor} {
  uprog.yield
}
// expected-error @+1 {{module has more than one executor}}
uprog.program @b(%plan: !batch.plan) level(device) attributes {batch.executor} {
  uprog.yield
}

// -----

// An executor must run each kernel that is recorded.
batch.kernel @k() {
  batch.yield
}
uprog.operator @k.rows(%n: index) {
  uprog.yield
}
func.func @main.inspect(%d: index) attributes {batch.inspector} {
  // expected-error @+1 {{executor @main.execute does not run operator @k.rows}}
  batch.record @k() depth(%d) : () -> ()
  return
}
uprog.program @main.execute(%plan: !batch.plan) level(device) attributes {batch.executor} {
  uprog.yield
}

// -----

// An executor must run each kernel that a block invokes.
batch.kernel @k() {
  batch.yield
}
batch.machine @main.machine() {
  batch.block @b {
    // expected-error @+1 {{executor @main.execute does not run operator @k.rows}}
    batch.invoke @k() : () -> ()
    batch.return
  }
}
uprog.program @main.execute(%lanes: !batch.lanes) level(block) attributes {batch.executor} {
  uprog.yield
}

// -----

// An executor does not run the operators of an unrelated program.
batch.kernel @k() {
  batch.yield
}
uprog.operator @k.rows(%n: index) {
  uprog.yield
}
func.func @main.inspect(%d: index) attributes {batch.inspector} {
  // expected-error @+1 {{does not run operator @k.rows}}
  batch.record @k() depth(%d) : () -> ()
  return
}
uprog.program @other(%plan: !batch.plan) level(device) {
  %i = arith.constant 0 : index
  %step = uprog.plan_step %plan[%i]
  uprog.run @k.rows step(%step) tasks(%i)
  uprog.yield
}
uprog.program @main.execute(%plan: !batch.plan) level(device) attributes {batch.executor} {
  uprog.yield
}

// -----

// Operators must consist of ops that code generators support.
uprog.operator @k.rows(%n: index) {
  // expected-error @+1 {{is not supported in an operator yet}}
  %c = complex.constant [1.0 : f32, 0.0 : f32] : complex<f32>
  uprog.yield
}

// -----

// Bodies of tensor code must also consist of supported ops.
uprog.operator @k.rows(%n: index, %x: tensor<?xf32> {uprog.operand = #uprog.operand<gather>}) -> tensor<?xf32> {
  %e = tensor.empty(%n) : tensor<?xf32>
  %y = linalg.map ins(%x : tensor<?xf32>) outs(%e : tensor<?xf32>)
    (%a: f32, %init: f32) {
      // expected-error @+1 {{is not supported in an operator yet}}
      %c = complex.create %a, %a : complex<f32>
      linalg.yield %a : f32
    }
  uprog.yield %y : tensor<?xf32>
}
