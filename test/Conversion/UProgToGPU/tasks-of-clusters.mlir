// RUN: batch-opt %s --batch-choose-executor="executor=device cluster-size=4" --convert-uprog-to-gpu | FileCheck %s

// Each cluster runs a share of a program's tasks. The blocks of a cluster share the steps and
// wait at the cluster's barrier, or one block runs a step by itself. They also run the tasks
// of a program of level `block`. Before the tasks, the blocks of all clusters run a step
// together. The kernel is launched in clusters.
gpu.module @device {
  func.func private @k.rows.stage0(%step: !llvm.ptr<1>, %packings: !llvm.ptr<1>, %unit: i64, %units: i64) {
    return
  }
  func.func private @k.rows.stage1(%step: !llvm.ptr<1>, %packings: !llvm.ptr<1>, %unit: i64, %units: i64) {
    return
  }
}
uprog.operator @k.rows(%n: index, %x: tensor<?x4xf32> {uprog.operand = #uprog.operand<gather>})
    attributes {uprog.code = #uprog.code<stages = 2, task_scratch = 0>} {
  uprog.yield
}
uprog.program @small(%task: index, %step: !uprog.step) level(block) {
  uprog.run @k.rows step(%step) tasks(%task)
  uprog.yield
}
uprog.program @one(%task: index, %plan: !batch.plan) level(cluster) {
  %step = uprog.plan_step %plan[%task]
  %n = uprog.step_tasks %step
  uprog.run @k.rows step(%step) tasks(%n)
  uprog.barrier cluster
  uprog.run @k.rows step(%step) tasks(%n) level(block)
  uprog.run @small(%step) tasks(%n) : !uprog.step
  %units = uprog.units
  uprog.run @k.rows step(%step) tasks(%units)
  uprog.yield
}
// CHECK-LABEL: gpu.func @main_execute(
// CHECK-SAME:      %{{.*}}: !llvm.ptr<1>, %{{.*}}: i64, %[[PACKINGS:.*]]: !llvm.ptr<1>, %{{.*}}: !llvm.ptr<1>, %[[BLOCKS:.*]]: i64, %{{.*}}: i64) kernel
// CHECK-SAME:      known_cluster_size = array<i32: 4, 1, 1>
// CHECK:         %[[ID:.*]] = gpu.block_id x
// CHECK:         %[[BLOCK:.*]] = arith.index_cast %[[ID]] : index to i64
// CHECK:         %[[ZERO:.*]] = arith.constant 0 : i64
// CHECK-NEXT:    %[[ONE:.*]] = arith.constant 1 : i64
// CHECK:         gpu.cluster_block_id x
// CHECK:         %[[RANK:.*]] = arith.index_cast
// CHECK:         gpu.cluster_dim_blocks x
// CHECK:         %[[SIZE:.*]] = arith.index_cast
// CHECK:         gpu.cluster_id x
// CHECK:         %[[CLUSTER:.*]] = arith.index_cast
// CHECK:         gpu.cluster_dim x
// CHECK:         %[[CLUSTERS:.*]] = arith.index_cast
// CHECK:         call @k.rows.stage0(%{{.*}}, %[[PACKINGS]], %[[BLOCK]], %[[BLOCKS]])
// CHECK:         call @device_barrier
// CHECK:         call @k.rows.stage1(%{{.*}}, %[[PACKINGS]], %[[BLOCK]], %[[BLOCKS]])
// CHECK:         call @device_barrier
// CHECK:         scf.for %{{.*}} = %[[CLUSTER]] to %{{.*}} step %[[CLUSTERS]] : i64 {
// CHECK:           call @k.rows.stage0(%{{.*}}, %[[PACKINGS]], %[[RANK]], %[[SIZE]])
// CHECK-NEXT:      nvvm.cluster.arrive {aligned}
// CHECK-NEXT:      nvvm.cluster.wait {aligned}
// CHECK-NEXT:      func.call @k.rows.stage1(%{{.*}}, %[[PACKINGS]], %[[RANK]], %[[SIZE]])
// CHECK-NEXT:      nvvm.cluster.arrive {aligned}
// CHECK-NEXT:      nvvm.cluster.wait {aligned}
// CHECK:           %[[FIRST:.*]] = arith.cmpi eq, %[[RANK]], %{{.*}} : i64
// CHECK-NEXT:      scf.if %[[FIRST]] {
// CHECK-NEXT:        func.call @k.rows.stage0(%{{.*}}, %[[PACKINGS]], %[[ZERO]], %[[ONE]])
// CHECK-NEXT:        gpu.barrier
// CHECK-NEXT:        func.call @k.rows.stage1(%{{.*}}, %[[PACKINGS]], %[[ZERO]], %[[ONE]])
// CHECK-NEXT:      }
// CHECK:           scf.for %{{.*}} = %[[RANK]] to %{{.*}} step %[[SIZE]] : i64 {
// CHECK:             call @k.rows.stage0(%{{.*}}, %[[PACKINGS]], %[[ZERO]], %[[ONE]])
// CHECK-NEXT:        gpu.barrier
// CHECK-NEXT:        func.call @k.rows.stage1(%{{.*}}, %[[PACKINGS]], %[[ZERO]], %[[ONE]])
// CHECK-NEXT:      }
// CHECK-NOT:       device_barrier
// CHECK:           nvvm.cluster.wait {aligned}
// CHECK-NOT:     device_barrier
// CHECK:         gpu.return
// CHECK-NOT:     uprog.program
// CHECK:       gpu.launch_func @device::@main_execute clusters in (
uprog.program @main.execute(%plan: !batch.plan) level(device) {
  %zero = arith.constant 0 : index
  %steps = uprog.plan_size %plan
  %step = uprog.plan_step %plan[%zero]
  uprog.run @k.rows step(%step) tasks(%steps)
  uprog.barrier device
  uprog.run @one(%plan) tasks(%steps) : !batch.plan
  uprog.yield
}
