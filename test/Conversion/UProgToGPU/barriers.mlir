// RUN: batch-opt %s --convert-uprog-to-gpu | FileCheck %s

// A program that runs other programs keeps its barriers, and its stages do not
// wait. A barrier passes the number of its step to the watchdog. Before or
// after a loop over steps, it passes 0.
// CHECK-LABEL: func.func private @k.rows.stage0(
// CHECK-SAME:    %{{.*}}: i64, %{{.*}}: i64) {
// CHECK-NEXT:    return
// CHECK-LABEL: gpu.func @p(
// CHECK:         %[[NONE:.*]] = arith.constant 0 : i32
// CHECK-NEXT:    func.call @device_barrier(%{{.*}}, %{{.*}}, %[[NONE]], %{{.*}})
// CHECK:         func.call @k.rows.stage0(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) :
// CHECK:         scf.for %[[I:.*]] =
// CHECK:           %[[STEP:.*]] = arith.index_cast %[[I]] : index to i32
// CHECK-NEXT:      func.call @device_barrier(%{{.*}}, %{{.*}}, %[[STEP]], %{{.*}})
// CHECK:         }
// CHECK:         %[[LAST:.*]] = arith.constant 0 : i32
// CHECK-NEXT:    func.call @device_barrier(%{{.*}}, %{{.*}}, %[[LAST]], %{{.*}})
// CHECK-NOT: uprog.await_rows
gpu.module @device {
  func.func private @k.rows.stage0(%step: !llvm.ptr<1>, %packings: !llvm.ptr<1>, %unit: i64, %units: i64) {
    uprog.await_rows
    return
  }
}
uprog.operator @k.rows(%n: index, %x: tensor<?x4xf32> {uprog.operand = #uprog.operand<gather>})
    attributes {uprog.code = #uprog.code<stages = 1, task_scratch = 0>} {
  uprog.yield
}
uprog.program @one(%task: index, %plan: !batch.plan) level(block) {
  %step = uprog.plan_step %plan[%task]
  %n = uprog.step_tasks %step
  uprog.run @k.rows step(%step) tasks(%n)
  uprog.yield
}
uprog.program @p(%plan: !batch.plan) level(device) {
  uprog.barrier device
  %zero = arith.constant 0 : index
  %steps = uprog.plan_size %plan
  uprog.run @one(%plan) tasks(%steps) : !batch.plan
  uprog.for %i = %zero to %steps {
    %step = uprog.plan_step %plan[%i]
    %barrier = uprog.step_barrier %step
    uprog.branch %barrier
    case 1 {
      uprog.barrier device
    }
  }
  uprog.barrier device
  uprog.yield
}
