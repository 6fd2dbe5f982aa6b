// RUN: batch-opt %s --uprog-stage-operators=target=gpu --batch-choose-executor=executor=block --convert-operators-to-gpu \
// RUN:   --convert-uprog-to-gpu --split-input-file --verify-diagnostics
// RUN: not batch-opt %s --uprog-stage-operators=target=gpu --batch-choose-executor=executor=device --split-input-file 2>&1 \
// RUN:   | FileCheck %s

// Calls with frames need a stack.
// CHECK: lanes-invalid.mlir:[[# @LINE + 5]]:1: error: this program runs lanes, which blocks do not share; expected executor=block or executor=auto, got 'device'
uprog.operator @b.rows(%n: index) {
  uprog.yield
}
// expected-error @+1 {{this program calls functions on the host stack, which GPU blocks do not have; compile with --strategy=lockstep}}
uprog.program @main.execute(%lanes: !batch.lanes) level(block) {
  batch.start_lanes %lanes @main.machine
  batch.leave_frame %lanes @main.machine
  uprog.yield
}
batch.machine @main.machine() attributes {frames} {
  batch.variable @x : tensor<i64> argument(0) result(0)
  batch.block @b {
    batch.return
  }
}

// -----

uprog.operator @b.rows(%n: index) {
  uprog.yield
}
uprog.program @main.execute(%lanes: !batch.lanes) level(block) {
  // expected-error @+1 {{requires the entry from which its machine was created; keep that function and its 'batch.entry'}}
  batch.start_lanes %lanes @main.machine
  uprog.yield
}
batch.machine @main.machine() {
  batch.variable @x : tensor<i64> argument(0) result(0)
  batch.block @b {
    batch.return
  }
}

// -----

uprog.operator @b.rows(%n: index) {
  uprog.yield
}
// expected-error @+1 {{this program has lanes, but the module has no batch.machine}}
uprog.program @main.execute(%lanes: !batch.lanes) level(block) {
  uprog.yield
}
