// RUN: batch-opt %s --batch-choose-executor="executor=device cluster-size=4" --convert-uprog-to-gpu | FileCheck %s

// The blocks of a cluster run an instance together. Buffers are in the memory of the first
// block. The first block counts the steps that all blocks share, and the
// barriers.
gpu.module @device {
  func.func private @k.rows.stage0(%step: !llvm.ptr<1>, %packings: !llvm.ptr<1>, %unit: i64, %units: i64) {
    return
  }
}
batch.kernel @k(%x: tensor<4xf32>) -> tensor<4xf32> {
  batch.yield %x : tensor<4xf32>
}
uprog.operator @k.rows(%n: index, %x: tensor<?x4xf32> {uprog.operand = #uprog.operand<gather>})
    attributes {uprog.code = #uprog.code<stages = 1, task_scratch = 0>} {
  uprog.yield
}
// CHECK-LABEL: gpu.func @main_execute(
// CHECK:         %[[ID:.*]] = gpu.block_id x
// CHECK:         %[[BLOCK:.*]] = arith.index_cast %[[ID]] : index to i64
// CHECK:         gpu.cluster_block_id x
// CHECK-NEXT:    %[[RANK:.*]] = arith.index_cast
// CHECK:         gpu.cluster_dim_blocks x
// CHECK-NEXT:    %[[SIZE:.*]] = arith.index_cast

// The state of this block, then the state of the first block
// CHECK:         llvm.inttoptr
// CHECK:         %[[OWN:.*]] = llvm.load {{.*}} -> i64
// CHECK:         %[[COMMON:.*]] = llvm.load {{.*}} -> i64
// CHECK:         %[[FIRST:.*]] = arith.subi %[[BLOCK]], %[[RANK]] : i64
// CHECK:         llvm.getelementptr %{{.*}}[%[[FIRST]]]
// CHECK:         %[[STATE:.*]] = llvm.load {{.*}} -> i64
// CHECK:         llvm.inttoptr %[[STATE]]
// CHECK:         %[[MEMORY:.*]] = llvm.load {{.*}} -> i64

// All blocks wait until each has cleared its own memory.
// CHECK:         llvm.inttoptr %[[COMMON]]
// CHECK:         llvm.inttoptr %[[OWN]]
// CHECK:         func.call @device_barrier

// CHECK:         scf.for
// CHECK:           %[[P:.*]] = llvm.inttoptr %[[MEMORY]]
// CHECK-NEXT:      llvm.intr.launder.invariant.group %[[P]]
// CHECK:           %[[IS_FIRST:.*]] = arith.cmpi eq, %[[RANK]], %{{.*}} : i64
// CHECK:           %[[STEPS:.*]] = arith.select %[[IS_FIRST]], %{{.*}}, %{{.*}} : i64
// CHECK:           %[[SHARES:.*]] = arith.select %[[IS_FIRST]], %{{.*}}, %{{.*}} : i64
// CHECK:           llvm.inttoptr %[[OWN]]
// CHECK:           func.call @k.rows.stage0(%{{.*}}, %{{.*}}, %[[RANK]], %[[SIZE]])
// CHECK:           %[[COUNTS:.*]] = arith.cmpi eq, %[[RANK]], %{{.*}} : i64
// CHECK-NEXT:      arith.extui %[[COUNTS]] : i1 to i64
// CHECK:           nvvm.cluster.arrive
// CHECK-NEXT:      nvvm.cluster.wait
// CHECK-NOT:     device_barrier
// CHECK:         gpu.return
// CHECK:       batch.kernel_launch = {block_size = 256 : i64, cluster_size = 4 : i64, executor = "device"
uprog.buffer @b : tensor<4xf32> copies(1)
uprog.program @one(%instance: index) level(cluster) {
  uprog.enter_instance %instance
  %x = uprog.argument 0 of %instance : !uprog.row
  %y = uprog.row @b
  %step = uprog.site @k(%x : !uprog.row) into(%y)
  %one = arith.constant 1 : index
  uprog.run @k.rows step(%step) tasks(%one)
  uprog.barrier cluster
  uprog.result 0 of %instance = %y : !uprog.row, tensor<4xf32>
  uprog.yield
}
uprog.program @main.execute() level(device) {
  %n = uprog.instances
  uprog.run @one tasks(%n)
  uprog.yield
}
