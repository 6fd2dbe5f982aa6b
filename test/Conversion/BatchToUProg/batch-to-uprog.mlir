// RUN: batch-opt %s --convert-batch-to-uprog --split-input-file | FileCheck %s

batch.table @h : tensor<4xf32> group(0)
batch.source @E : tensor<4xf32> parameter(0)

batch.kernel @leaf(%x: tensor<4xf32>, %n: index,
                   %w: tensor<4x4xf32> {batch.shared, uprog.parameter = 1 : i64})
    -> tensor<4xf32> {
  batch.yield %x : tensor<4xf32>
}
// The operator learns how its operands lie; the kernel which of them are of one
// ragged domain.
// CHECK:      uprog.operator @leaf.rows(%{{.*}}: index,
// CHECK-SAME:   %{{.*}}: tensor<?x4xf32> {uprog.read = "gather"},
// CHECK-SAME:   %{{.*}}: tensor<?xindex> {uprog.read = "scalar"},
// CHECK-SAME:   %{{.*}}: tensor<4x4xf32> {uprog.parameter = 1 : i64}) -> tensor<?x4xf32>
uprog.operator @leaf.rows(%n: index, %x: tensor<?x4xf32>, %i: tensor<?xindex>,
                          %w: tensor<4x4xf32> {uprog.parameter = 1 : i64})
    -> tensor<?x4xf32> {
  uprog.yield %x : tensor<?x4xf32>
}
// CHECK:      batch.kernel @pair(%{{.*}}: tensor<4xf32>, %{{.*}}: tensor<?x4xf32> {uprog.ragged = 0 : i64})
batch.kernel @pair(%x: tensor<4xf32>, %xs: tensor<?x4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  batch.yield %x, %x : tensor<4xf32>, tensor<4xf32>
}
// Two results in one table are siblings.
// CHECK:      uprog.operator @pair.rows(%{{.*}}: index,
// CHECK-SAME:   %{{.*}}: tensor<?x4xf32> {uprog.read = "contiguous"},
// CHECK-SAME:   %{{.*}}: tensor<?x4xf32> {uprog.ragged = 0 : i64, uprog.read = "rows"},
// CHECK-SAME:   %{{.*}}: tensor<?xindex> {uprog.offsets = 0 : i64})
// CHECK-SAME:   -> (tensor<?x4xf32> {uprog.siblings = 2 : i64}, tensor<?x4xf32> {uprog.position = 1 : i64, uprog.siblings = 2 : i64})
uprog.operator @pair.rows(%n: index, %x: tensor<?x4xf32>,
                          %xs: tensor<?x4xf32> {uprog.ragged = 0 : i64},
                          %o: tensor<?xindex> {uprog.offsets = 0 : i64})
    -> (tensor<?x4xf32>, tensor<?x4xf32>) {
  uprog.yield %x, %x : tensor<?x4xf32>, tensor<?x4xf32>
}

// The executor becomes a program of its name: its loop one that all units run
// in step, its choice a uniform branch, each launch a run. All units meet at the
// end of a step that says so, and nowhere else.
// CHECK-NOT:   func.func @main.execute
// CHECK-LABEL: uprog.program @main.execute
// CHECK-SAME:    (%[[PLAN:.*]]: !batch.plan, %[[E:.*]]: tensor<?x4xf32>, %[[W:.*]]: tensor<4x4xf32>)
// CHECK-SAME:    level(device) attributes {batch.executor} {
// CHECK:         %[[STEPS:.*]] = batch.plan_size %[[PLAN]]
// CHECK-NEXT:    uprog.for %[[I:.*]] = %{{.*}} to %[[STEPS]] {
// CHECK-NEXT:      %[[STEP:.*]] = batch.plan_step %[[PLAN]][%[[I]]]
// CHECK-NEXT:      %[[KERNEL:.*]] = batch.step_kernel %[[STEP]]
// CHECK-NEXT:      uprog.branch %[[KERNEL]] uniform
// CHECK-NEXT:      case 0 {
// CHECK-NEXT:        %[[N:.*]] = batch.step_tasks %[[STEP]]
// CHECK-NEXT:        %[[X:.*]] = batch.operand %[[STEP]][0] <kind = gather, from = @E> -> tensor<?x4xf32>
// CHECK-NEXT:        %[[S:.*]] = batch.operand %[[STEP]][1] <kind = scalar> -> tensor<?xindex>
// CHECK-NEXT:        uprog.run @leaf.rows(%[[X]], %[[S]], %[[W]] : {{.*}}) step(%[[STEP]] : !batch.step) tasks(%[[N]])
// CHECK-NEXT:      }
// CHECK-NEXT:      case 1 {
// CHECK-NEXT:        %[[N:.*]] = batch.step_tasks %[[STEP]]
// CHECK-NEXT:        %[[X:.*]] = batch.operand %[[STEP]][0] <kind = contiguous, from = @h>
// CHECK-NEXT:        %[[XS:.*]] = batch.operand %[[STEP]][1] <kind = rows, from = @h, segments = true>
// CHECK-NEXT:        uprog.run @pair.rows(%[[X]], %[[XS]] : {{.*}}) step(%[[STEP]] : !batch.step) tasks(%[[N]])
// CHECK-NEXT:      }
// CHECK-NEXT:      %[[MEETS:.*]] = batch.step_meets %[[STEP]]
// CHECK-NEXT:      uprog.branch %[[MEETS]] uniform
// CHECK-NEXT:      case 1 {
// CHECK-NEXT:        uprog.barrier device
// CHECK-NEXT:      }
// CHECK-NEXT:    }
// CHECK-NEXT:    uprog.yield
// CHECK-NOT:     uprog.barrier
func.func @main.execute(%plan: !batch.plan, %E: tensor<?x4xf32>, %w: tensor<4x4xf32>)
    attributes {batch.executor} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %steps = batch.plan_size %plan
  scf.for %i = %c0 to %steps step %c1 {
    %step = batch.plan_step %plan[%i]
    %k = batch.step_kernel %step
    scf.index_switch %k
    case 0 {
      batch.launch @leaf %step
          reads [#batch.read<kind = gather, from = @E>, #batch.read<kind = scalar>,
                 #batch.read<kind = shared>]
          shared(%w : tensor<4x4xf32>) writes [@h]
      scf.yield
    }
    case 1 {
      batch.launch @pair %step
          reads [#batch.read<kind = contiguous, from = @h>,
                 #batch.read<kind = rows, from = @h, segments = true>]
          writes [@h, @h]
      scf.yield
    }
    default {
    }
  }
  return
}

// -----

// The input has nothing of the dialect that this makes; other functions stay.
// CHECK-LABEL: uprog.program @run(%{{.*}}: !batch.plan) level(device) attributes {batch.executor} {
// CHECK-NEXT:    uprog.yield
// CHECK-LABEL: func.func @other
func.func @run(%plan: !batch.plan) attributes {batch.executor} {
  return
}
func.func @other(%plan: !batch.plan) {
  return
}
