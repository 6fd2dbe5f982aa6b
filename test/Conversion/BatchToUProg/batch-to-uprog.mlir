// RUN: batch-opt %s --convert-batch-to-uprog --split-input-file -o %t.mlir
// RUN: FileCheck %s < %t.mlir
// RUN: FileCheck %s --check-prefix=CASES < %t.mlir
// RUN: FileCheck %s --check-prefix=BARRIER < %t.mlir

batch.table @h : tensor<4xf32> group(0)
batch.source @E : tensor<4xf32> parameter(0)

// The operator gets attributes that specify how its operands are read.
batch.kernel @leaf(%x: tensor<4xf32> {batch.read = #batch.read<kind = gather, from = @E>},
                   %n: index {batch.read = #batch.read<kind = scalar>},
                   %w: tensor<4x4xf32> {batch.shared, batch.read = #batch.read<kind = shared>, batch.parameter = 1 : i64})
    -> (tensor<4xf32> {batch.in_table = @h}) {
  batch.yield %x : tensor<4xf32>
}
// CHECK:      uprog.operator @leaf.rows of @leaf(%{{.*}}: index,
// CHECK-SAME:   %{{.*}}: tensor<?x4xf32> {uprog.operand = #uprog.operand<gather>},
// CHECK-SAME:   %{{.*}}: tensor<?xindex> {uprog.operand = #uprog.operand<scalar>},
// CHECK-SAME:   %{{.*}}: tensor<4x4xf32> {uprog.operand = #uprog.operand<shared(1)>}) -> tensor<?x4xf32>
uprog.operator @leaf.rows of @leaf(
    %n: index, %x: tensor<?x4xf32> {uprog.operand = #uprog.operand<rows>},
    %i: tensor<?xindex> {uprog.operand = #uprog.operand<gather>},
    %w: tensor<4x4xf32> {uprog.operand = #uprog.operand<shared(1)>})
    -> tensor<?x4xf32> {
  uprog.yield %x : tensor<?x4xf32>
}
// A kernel that nothing records is not run.
batch.kernel @unused(%x: tensor<4xf32>) -> tensor<4xf32> {
  batch.yield %x : tensor<4xf32>
}
// Each ragged operand of a kernel gets an attribute that specifies its domain.
// CHECK:      batch.kernel @pair(
// CHECK-SAME:   tensor<?x4xf32> {batch.ragged = 0 : i64, batch.read = #batch.read<kind = rows, from = @h, segments = true>})
batch.kernel @pair(%x: tensor<4xf32> {batch.read = #batch.read<kind = gather, from = @h>},
                   %xs: tensor<?x4xf32> {batch.read = #batch.read<kind = rows, from = @h, segments = true>})
    -> (tensor<4xf32> {batch.in_table = @h}, tensor<4xf32> {batch.in_table = @h}) {
  batch.yield %x, %x : tensor<4xf32>, tensor<4xf32>
}
// Two results in one table are siblings.
// CHECK:      uprog.operator @pair.rows of @pair(%{{.*}}: index,
// CHECK-SAME:   %{{.*}}: tensor<?x4xf32> {uprog.operand = #uprog.operand<gather>},
// CHECK-SAME:   %{{.*}}: tensor<?x4xf32> {uprog.operand = #uprog.operand<rows ragged(0)>},
// CHECK-SAME:   %{{.*}}: tensor<?xindex> {uprog.operand = #uprog.operand<offsets(0)>})
// CHECK-SAME:   -> (tensor<?x4xf32> {uprog.result = #uprog.result<siblings = 2>}, tensor<?x4xf32> {uprog.result = #uprog.result<siblings = 2, position = 1>})
uprog.operator @pair.rows of @pair(
    %n: index, %x: tensor<?x4xf32> {uprog.operand = #uprog.operand<gather>},
    %xs: tensor<?x4xf32> {uprog.operand = #uprog.operand<gather ragged(0)>},
    %o: tensor<?xindex> {uprog.operand = #uprog.operand<offsets(0)>})
    -> (tensor<?x4xf32>, tensor<?x4xf32>) {
  uprog.yield %x, %x : tensor<?x4xf32>, tensor<?x4xf32>
}

func.func @main(%n: index, %E: tensor<?x4xf32> {batch.shared = "E"},
                %W: tensor<4x4xf32> {batch.shared = "W"}) attributes {batch.entry} {
  return
}
func.func @main.inspect(%n: index, %hs: !rec.list<!batch.handle>) attributes {batch.inspector} {
  %x = batch.row @E[%n]
  %d = arith.constant 0 : index
  %e = arith.constant 1 : index
  %h = batch.record @leaf(%x, %n) depth(%d) : (!batch.handle, index) -> !batch.handle
  %p:2 = batch.record @pair(%h, %hs) depth(%e)
      : (!batch.handle, !rec.list<!batch.handle>) -> (!batch.handle, !batch.handle)
  return
}

// The executor is a loop over a plan's steps. All units run each step together.
// CHECK-LABEL: uprog.program @main.execute
// CHECK-SAME:    (%[[PLAN:.*]]: !batch.plan) level(device) attributes {batch.executor} {
// CHECK:         %[[STEPS:.*]] = uprog.plan_size %[[PLAN]]
// CHECK:         uprog.for %[[I:.*]] = %{{.*}} to %[[STEPS]] {
// CHECK:           uprog.plan_step %[[PLAN]][%[[I]]]

// A uniform branch selects the operator of the step's kernel. Kernels are
// numbered in module order. A kernel that is not recorded has no case.
// CASES:         %[[KERNEL:.*]] = uprog.step_kernel %[[STEP:.*]]
// CASES:         uprog.branch %[[KERNEL]]
// CASES:         case 0 {
// CASES:           uprog.run @leaf.rows step(%[[STEP]]) tasks(%{{.*}})
// CASES-NOT:     case 1 {
// CASES:         case 2 {
// CASES:           uprog.run @pair.rows step(%[[STEP]]) tasks(%{{.*}})

// All units wait for each other only at the end of a step that requires it.
// BARRIER-LABEL: uprog.program @main.execute
// BARRIER-NOT:   uprog.barrier
// BARRIER:       %[[WAIT:.*]] = uprog.step_barrier %{{.*}}
// BARRIER-NEXT:  uprog.branch %[[WAIT]]
// BARRIER-NEXT:  case 1 {
// BARRIER-NEXT:    uprog.barrier device
// BARRIER-NOT:   uprog.barrier
// BARRIER-LABEL: batch.table @t

// -----

// The attributes of operands and results also specify where rows are stored in their
// tables. The rows of @t and @u alternate, with 128 bytes each, and @v has a layout.
batch.table @t : tensor<32xf32> group(0)
batch.table @u : tensor<32xf32> group(0) next_to(@t)
batch.table @v : tensor<32xf32> group(0)
  layout(affine_map<(d0, d1) -> (d0 floordiv 4, d1 floordiv 16, d0 mod 4, d1 mod 16)>)
batch.kernel @swap(%x: tensor<32xf32> {batch.read = #batch.read<kind = gather, from = @t>},
                   %y: tensor<32xf32> {batch.read = #batch.read<kind = rows, from = @v>})
    -> (tensor<32xf32> {batch.in_table = @v}, tensor<32xf32> {batch.in_table = @u}) {
  batch.yield %x, %y : tensor<32xf32>, tensor<32xf32>
}
// CHECK:      uprog.operator @swap.rows of @swap(%{{.*}}: index,
// CHECK-SAME:   tensor<?x32xf32> {uprog.operand = #uprog.operand<gather block_bytes(256)>},
// CHECK-SAME:   tensor<?x32xf32> {uprog.operand = #uprog.operand<rows layout((d0, d1) -> (d0 floordiv 4, d1 floordiv 16, d0 mod 4, d1 mod 16))>})
// CHECK-SAME:   -> (tensor<?x32xf32> {uprog.result = #uprog.result<layout = (d0, d1) -> (d0 floordiv 4, d1 floordiv 16, d0 mod 4, d1 mod 16)>},
// CHECK-SAME:       tensor<?x32xf32> {uprog.result = #uprog.result<block_bytes = 256>})
uprog.operator @swap.rows of @swap(
    %n: index, %x: tensor<?x32xf32> {uprog.operand = #uprog.operand<gather>},
    %y: tensor<?x32xf32> {uprog.operand = #uprog.operand<gather>})
    -> (tensor<?x32xf32>, tensor<?x32xf32>) {
  uprog.yield %x, %y : tensor<?x32xf32>, tensor<?x32xf32>
}

// -----

// The input contains no ops of the output dialects. Without tasks, the executor
// selects nothing.
// CHECK-LABEL: uprog.program @run.execute(%{{.*}}: !batch.plan) level(device) attributes {batch.executor} {
// CHECK-NOT:     case {{[0-9]}}
// CHECK:         uprog.step_barrier
// CHECK-NOT:     uprog.program
func.func @run() attributes {batch.entry} {
  return
}
func.func @run.inspect() attributes {batch.inspector} {
  return
}

// -----

// Without an inspector, no plan runs.
// CHECK-LABEL: func.func @alone
// CHECK-NOT:   uprog.program
func.func @alone() attributes {batch.entry} {
  return
}
