// RUN: batch-opt %s --convert-uprog-to-gpu | FileCheck %s

// A barrier says at which step it is, for the watchdog; behind a loop over steps,
// or before it, that is at none of them.
// CHECK-LABEL: gpu.func @p(
// CHECK:         %[[NONE:.*]] = arith.constant 0 : i32
// CHECK-NEXT:    func.call @device_barrier(%{{.*}}, %{{.*}}, %[[NONE]], %{{.*}})
// CHECK:         scf.for %[[I:.*]] =
// CHECK:           %[[STEP:.*]] = arith.index_cast %[[I]] : index to i32
// CHECK-NEXT:      func.call @device_barrier(%{{.*}}, %{{.*}}, %[[STEP]], %{{.*}})
// CHECK:         }
// CHECK:         %[[LAST:.*]] = arith.constant 0 : i32
// CHECK-NEXT:    func.call @device_barrier(%{{.*}}, %{{.*}}, %[[LAST]], %{{.*}})
gpu.module @device {
}
uprog.program @p(%plan: !batch.plan) level(device) {
  uprog.barrier device
  %zero = arith.constant 0 : index
  %steps = uprog.plan_size %plan
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
