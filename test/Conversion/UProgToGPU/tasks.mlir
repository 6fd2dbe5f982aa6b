// RUN: batch-opt %s --convert-uprog-to-gpu | FileCheck %s --check-prefixes=CHECK,DEVICE
// RUN: batch-opt %s --batch-choose-executor="executor=cluster cluster-size=4" --convert-uprog-to-gpu \
// RUN:   | FileCheck %s --check-prefixes=CHECK,CLUSTER

// Each block runs a share of a program's tasks, whose code is inlined at the run. The
// block runs its tasks by itself, so only its threads wait for each other. For tasks of
// clusters, see tasks-of-clusters.mlir.
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
uprog.program @one(%task: index, %plan: !batch.plan, %first: index) level(block) {
  %i = arith.addi %first, %task : index
  %step = uprog.plan_step %plan[%i]
  %n = uprog.step_tasks %step
  uprog.run @k.rows step(%step) tasks(%n)
  uprog.barrier block
  uprog.yield
}
// CHECK-LABEL: gpu.func @main_execute(
// CHECK-SAME:      %{{.*}}: !llvm.ptr<1>, %{{.*}}: i64, %[[PACKINGS:.*]]: !llvm.ptr<1>, %{{.*}}: !llvm.ptr<1>, %[[BLOCKS:.*]]: i64, %{{.*}}: i64)
// DEVICE:        %[[ID:.*]] = gpu.block_id x
// DEVICE:        %[[UNIT:.*]] = arith.index_cast %[[ID]] : index to i64
// CHECK:         %[[NONE:.*]] = arith.constant 0 : i64
// CHECK-NEXT:    %[[ONE:.*]] = arith.constant 1 : i64
// CLUSTER:       %[[ID:.*]] = gpu.cluster_block_id x
// CLUSTER:       %[[UNIT:.*]] = arith.index_cast %[[ID]] : index to i64
// CLUSTER:       %[[DIM:.*]] = gpu.cluster_dim_blocks x
// CLUSTER:       %[[BLOCKS:.*]] = arith.index_cast %[[DIM]] : index to i64
// CHECK:         %[[FIRST:.*]] = scf.while (%{{.*}} = %{{.*}}) : (index) -> index {
// CHECK:         scf.for %[[NUMBER:.*]] = %[[UNIT]] to %{{.*}} step %[[BLOCKS]] : i64 {
// CHECK:           %[[TASK:.*]] = arith.index_cast %[[NUMBER]] : i64 to index
// CHECK:           arith.addi %[[FIRST]], %[[TASK]] : index
// CHECK:           func.call @k.rows.stage0(%{{.*}}, %[[PACKINGS]], %[[NONE]], %[[ONE]])
// CHECK-NEXT:      gpu.barrier
// CHECK-NEXT:      func.call @k.rows.stage1(%{{.*}}, %[[PACKINGS]], %[[NONE]], %[[ONE]])
// CHECK-NEXT:      gpu.barrier
// CHECK-NEXT:    }
// DEVICE:        func.call @device_barrier
// CLUSTER-NEXT:  nvvm.cluster.arrive
// CHECK:         gpu.return
// CHECK-NOT:     uprog.program
uprog.program @main.execute(%plan: !batch.plan) level(device) {
  %zero = arith.constant 0 : index
  %steps = uprog.plan_size %plan
  %first = uprog.while iter(%i = %zero) : index {
    %more = arith.cmpi slt, %i, %steps : index
    uprog.condition(%more) %i : index
  } do {
  ^bb0(%i: index):
    %next = arith.addi %i, %i : index
    uprog.yield %next : index
  }
  uprog.run @one(%plan, %first) tasks(%steps) : !batch.plan, index
  uprog.barrier device
  uprog.yield
}
