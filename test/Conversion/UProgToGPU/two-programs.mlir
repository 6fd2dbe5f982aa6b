// RUN: batch-opt %s --convert-uprog-to-gpu | FileCheck %s

// Several programs call the same functions. A stage waits for its rows
// only if it can wait in each of these programs.
// CHECK-LABEL: func.func private @k.rows.stage0(
// CHECK-SAME:    %{{.*}}: i64, %{{.*}}: i64) {
// CHECK-NEXT:    return
// CHECK-LABEL: gpu.func @a_execute(
// CHECK:         func.call @k.rows.stage0(%{{[^)]*}}) : (!llvm.ptr<1>, !llvm.ptr<1>, i64, i64) -> ()
// CHECK:         func.call @device_barrier(
// CHECK-LABEL: gpu.func @b_execute(
// CHECK:         func.call @k.rows.stage0(%{{[^)]*}}) : (!llvm.ptr<1>, !llvm.ptr<1>, i64, i64) -> ()
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
uprog.program @a.execute(%plan: !batch.plan) level(device) {
  %i = arith.constant 0 : index
  %step = uprog.plan_step %plan[%i]
  uprog.run @k.rows step(%step) tasks(%i)
  uprog.barrier device
  uprog.yield
}
uprog.program @one(%task: index, %plan: !batch.plan) level(block) {
  %step = uprog.plan_step %plan[%task]
  uprog.run @k.rows step(%step) tasks(%task)
  uprog.yield
}
uprog.program @b.execute(%plan: !batch.plan) level(device) {
  %i = arith.constant 0 : index
  uprog.run @one(%plan) tasks(%i) : !batch.plan
  uprog.yield
}
