// RUN: batch-opt %s --convert-uprog-to-scf | FileCheck %s

// A loop runs from its lower bound to its upper bound.
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
  uprog.branch %size
  case 7 {
    uprog.barrier device
  }
  uprog.yield
}

// The body takes the values that a condition passes. A loop in the body is
// lowered, too.
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

// Values carried by control flow become values carried by scf ops.
// CHECK-LABEL: uprog.program @numbers
// CHECK-SAME:    %[[N:.*]]: index, %[[X:.*]]: f32
// CHECK:         %[[FOR:.*]]:2 = scf.for %[[I:.*]] = %[[N]] to %[[N]] step %[[N]] iter_args(%[[A:.*]] = %[[N]], %[[B:.*]] = %[[X]]) -> (index, f32) {
// CHECK-NEXT:      %[[SUM:.*]] = arith.addi %[[A]], %[[I]]
// CHECK-NEXT:      scf.yield %[[SUM]], %[[B]] : index, f32
// CHECK:         %[[WHILE:.*]]:2 = scf.while (%[[C:.*]] = %[[FOR]]#0) : (index) -> (index, f32) {
// CHECK:           scf.condition(%{{.*}}) %[[C]], %[[X]] : index, f32
// CHECK-NEXT:    } do {
// CHECK-NEXT:    ^bb0(%[[D:.*]]: index, %{{.*}}: f32):
// CHECK:           scf.yield %[[D]] : index
// CHECK:         %[[BRANCH:.*]] = scf.index_switch %[[WHILE]]#0 -> f32
// CHECK-NEXT:    case 2 {
// CHECK-NEXT:      scf.yield %[[X]] : f32
// CHECK-NEXT:    }
// CHECK-NEXT:    default {
// CHECK-NEXT:      scf.yield %[[WHILE]]#1 : f32
// CHECK-NEXT:    }
// CHECK-NEXT:    scf.index_switch %[[N]]
// CHECK-NEXT:    default {
// CHECK-NEXT:      uprog.barrier block
// CHECK-NEXT:    }
uprog.program @numbers(%n: index, %x: f32) level(block) {
  %for:2 = uprog.for %i = %n to %n step %n iter(%a = %n, %b = %x) : index, f32 {
    %sum = arith.addi %a, %i : index
    uprog.yield %sum, %b : index, f32
  }
  %while:2 = uprog.while iter(%c = %for#0) : index {
    %less = arith.cmpi slt, %c, %n : index
    uprog.condition(%less) %c, %x : index, f32
  } do {
  ^bb0(%d: index, %y: f32):
    uprog.yield %d : index
  }
  %branch = uprog.branch %while#0 -> f32
  case 2 {
    uprog.yield %x : f32
  }
  default {
    uprog.yield %while#1 : f32
  }
  uprog.branch %n
  default {
    uprog.barrier block
  }
  uprog.yield
}

// The threads of a unit may share the ops below, so the target lowers these ops.
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
