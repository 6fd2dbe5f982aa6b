// RUN: batch-opt %s --convert-uprog-to-scf | FileCheck %s

// A loop goes from one number to the next one.
// CHECK-LABEL: uprog.program @loop
// CHECK:         %[[LOWER:.*]] = arith.constant 0 : index
// CHECK:         %[[UPPER:.*]] = uprog.plan_size
// CHECK:         %[[ONE:.*]] = arith.constant 1 : index
// CHECK-NEXT:    scf.for %[[I:.*]] = %[[LOWER]] to %[[UPPER]] step %[[ONE]] {
// CHECK-NEXT:      uprog.plan_step %{{.*}}[%[[I]]]
// CHECK-NEXT:    }
// CHECK-NEXT:    uprog.yield
uprog.program @loop(%plan: !batch.plan) level(device) {
  %lower = arith.constant 0 : index
  %upper = uprog.plan_size %plan
  uprog.for %i = %lower to %upper {
    %step = uprog.plan_step %plan[%i]
  }
  uprog.yield
}

// A selector without a case does nothing.
// CHECK-LABEL: uprog.program @branch
// CHECK:         scf.index_switch %{{.*}}
// CHECK-NEXT:    case 7 {
// CHECK-NEXT:      uprog.barrier device
// CHECK-NEXT:      scf.yield
// CHECK-NEXT:    }
// CHECK-NEXT:    default {
// CHECK-NEXT:    }
uprog.program @branch(%plan: !batch.plan) level(device) {
  %size = uprog.plan_size %plan
  uprog.branch %size uniform
  case 7 {
    uprog.barrier device
  }
  uprog.yield
}

// What a condition passes on, the body takes; a loop in it is lowered too.
// CHECK-LABEL: uprog.program @while
// CHECK:         scf.while : () -> (index, !uprog.step) {
// CHECK:           %[[NUMBER:.*]] = uprog.plan_size
// CHECK:           %[[STEP:.*]] = uprog.plan_step
// CHECK:           scf.condition(%{{.*}}) %[[NUMBER]], %[[STEP]] : index, !uprog.step
// CHECK-NEXT:    } do {
// CHECK-NEXT:    ^bb0(%[[LAST:.*]]: index, %[[TAKEN:.*]]: !uprog.step):
// CHECK:           %[[TASKS:.*]] = uprog.step_tasks %[[TAKEN]]
// CHECK:           scf.for %{{.*}} = %[[LAST]] to %[[TASKS]]
// CHECK:           scf.yield
uprog.program @while(%plan: !batch.plan) level(device) {
  uprog.while {
    %number = uprog.plan_size %plan
    %step = uprog.plan_step %plan[%number]
    %any = arith.constant true
    uprog.condition(%any) %number, %step : index, !uprog.step
  } do {
  ^bb0(%last: index, %step: !uprog.step):
    %tasks = uprog.step_tasks %step
    uprog.for %i = %last to %tasks {
    }
    uprog.yield
  }
  uprog.yield
}

// The threads of a unit may share these out, so they are the target's.
// CHECK-LABEL: uprog.program @shared
// CHECK:         uprog.reduce min
// CHECK:           uprog.yield %{{.*}}, %{{.*}} : i64, i64
// CHECK:         uprog.compact
// CHECK:           uprog.condition(
uprog.program @shared(%lanes: !batch.lanes) level(block) {
  %two = arith.constant 2 : index
  %keys:2, %least:2 = uprog.reduce min %i < %two {
    %preference, %since = batch.block_keys %lanes[%i]
    uprog.yield %preference, %since : i64, i64
  }
  %all, %list = batch.lane_list %lanes : memref<?xi32>
  %count = uprog.compact %lane < %all into %list : memref<?xi32> {
    %runs = batch.enter_block %lanes[%lane], %least#0
    uprog.condition(%runs)
  }
  uprog.yield
}
