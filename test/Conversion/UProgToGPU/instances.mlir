// RUN: batch-opt %s --convert-uprog-to-gpu | FileCheck %s

// All blocks run instances together, one after the other, or each block runs
// instances by itself. The executor contains the code of both programs.
gpu.module @device {
  func.func private @k.rows.stage0(%step: !llvm.ptr<1>, %packings: !llvm.ptr<1>, %unit: i64, %units: i64) {
    return
  }
  func.func private @k.rows.stage1(%step: !llvm.ptr<1>, %packings: !llvm.ptr<1>, %unit: i64, %units: i64) {
    return
  }
}
batch.kernel @k(%x: tensor<4xf32>) -> tensor<4xf32> {
  batch.yield %x : tensor<4xf32>
}
uprog.operator @k.rows(%n: index, %x: tensor<?x4xf32> {uprog.operand = #uprog.operand<gather>})
    attributes {uprog.code = #uprog.code<stages = 2, task_scratch = 0>} {
  uprog.yield
}
// CHECK-LABEL: gpu.func @main_execute(
// CHECK-SAME:      %[[CONTEXT:.*]]: !llvm.ptr<1>, %[[CONTROL:.*]]: !llvm.ptr<1>, %[[BLOCKS:.*]]: i64, %[[WATCHDOG:.*]]: i64)
// CHECK:         %[[ID:.*]] = gpu.block_id x
// CHECK:         %[[BLOCK:.*]] = arith.index_cast %[[ID]] : index to i64
// CHECK-NEXT:    %[[NONE:.*]] = arith.constant 0 : i64
// CHECK-NEXT:    %[[ONE:.*]] = arith.constant 1 : i64
// CHECK:         %[[X:.*]] = gpu.thread_id x
// CHECK:         %[[THREAD:.*]] = arith.index_cast %[[X]] : index to i64
// CHECK:         %[[PROGRESS:.*]] = llvm.getelementptr %{{.*}}[8]
// CHECK:         %[[PACKINGS:.*]] = llvm.load {{.*}} -> !llvm.ptr<1>

// Addresses of the unit's own memory and of the common memory, and cells of the
// thread
// CHECK:         llvm.inttoptr
// CHECK:         %[[OWN:.*]] = llvm.load {{.*}} -> i64
// CHECK:         %[[COMMON:.*]] = llvm.load {{.*}} -> i64
// CHECK:         %[[INSTANCE:.*]] = llvm.alloca
// CHECK:         %[[ROUNDS:.*]] = llvm.alloca
// CHECK:         %[[NOW:.*]] = llvm.alloca
// CHECK:         %[[SHARES:.*]] = llvm.alloca

// Buffers are cleared, the common ones by all blocks. Each address is computed where
// it is used.
// CHECK:         %[[P1:.*]] = llvm.inttoptr %[[COMMON]]
// CHECK-NEXT:    %[[O1:.*]] = llvm.intr.launder.invariant.group %[[P1]]
// CHECK-NEXT:    %[[A1:.*]] = llvm.ptrtoint %[[O1]]
// CHECK:         %[[ALLS:.*]] = arith.addi %[[A1]]
// CHECK:         scf.for
// CHECK-NEXT:      arith.addi %[[ALLS]]
// CHECK:         %[[P2:.*]] = llvm.inttoptr %[[OWN]]
// CHECK-NEXT:    %[[O2:.*]] = llvm.intr.launder.invariant.group %[[P2]]
// CHECK-NEXT:    %[[A2:.*]] = llvm.ptrtoint %[[O2]]
// CHECK:         %[[OWNS:.*]] = arith.addi %[[A2]]
// CHECK:         scf.for
// CHECK-NEXT:      arith.addi %[[OWNS]]
// CHECK:         func.call @device_barrier

// If a block runs an instance, its first thread stores the step.
// CHECK:         scf.for %[[TASK:.*]] = %[[BLOCK]] to %{{.*}} step %[[BLOCKS]]
// CHECK:           llvm.store %{{.*}}, %[[INSTANCE]]
// CHECK:           %[[P3:.*]] = llvm.inttoptr %[[OWN]]
// CHECK-NEXT:      %[[O3:.*]] = llvm.intr.launder.invariant.group %[[P3]]
// CHECK-NEXT:      %[[A3:.*]] = llvm.ptrtoint %[[O3]]
// CHECK:           %[[ROW:.*]] = arith.addi %[[A3]]
// CHECK:           scf.if
// CHECK-NEXT:        llvm.store %{{.*}}, %[[PROGRESS]] atomic syncscope("device") monotonic
// CHECK:           %[[P4:.*]] = llvm.inttoptr %[[OWN]]
// CHECK-NEXT:      %[[O4:.*]] = llvm.intr.launder.invariant.group %[[P4]]
// CHECK-NEXT:      %[[A4:.*]] = llvm.ptrtoint %[[O4]]
// CHECK:           %[[PLACE:.*]] = arith.addi %[[A4]]
// CHECK:           %[[STEP:.*]] = llvm.inttoptr %[[PLACE]]
// CHECK-NEXT:      gpu.barrier
// CHECK:           %[[LEADER:.*]] = arith.cmpi eq, %[[THREAD]]
// CHECK-NEXT:      scf.if %[[LEADER]] {
// CHECK:             llvm.store %[[ROW]],
// CHECK:           gpu.barrier
// CHECK:           func.call @k.rows.stage0(%[[STEP]], %[[PACKINGS]], %[[NONE]], %[[ONE]])
// CHECK-NEXT:      gpu.barrier
// CHECK-NEXT:      func.call @k.rows.stage1(%[[STEP]], %[[PACKINGS]], %[[NONE]], %[[ONE]])
// CHECK-NEXT:      gpu.barrier
// CHECK:           scf.for
// CHECK:             llvm.load {{.*}} -> vector<16xi32>
// CHECK:             llvm.store {{.*}} : vector<16xi32>

// A barrier of all blocks gets the number of the kernel that ran last.
// CHECK:         %[[LAST:.*]] = llvm.load %[[NOW]]
// CHECK:         %[[LOW:.*]] = arith.andi %[[LAST]]
// CHECK:         %[[KERNEL:.*]] = arith.trunci %[[LOW]] : i64 to i32
// CHECK-NEXT:    func.call @device_barrier(%[[CONTROL]], %{{.*}}, %[[KERNEL]], %[[WATCHDOG]])

// All blocks run an instance.
// CHECK:         scf.for
// CHECK:           %[[P5:.*]] = llvm.inttoptr %[[COMMON]]
// CHECK-NEXT:      %[[O5:.*]] = llvm.intr.launder.invariant.group %[[P5]]
// CHECK-NEXT:      %[[A5:.*]] = llvm.ptrtoint %[[O5]]
// CHECK:           %[[ROW:.*]] = arith.addi %[[A5]]
// CHECK:           llvm.store %{{.*}}, %[[SHARES]]
// CHECK:           %[[P6:.*]] = llvm.inttoptr %[[OWN]]
// CHECK-NEXT:      %[[O6:.*]] = llvm.intr.launder.invariant.group %[[P6]]
// CHECK-NEXT:      %[[A6:.*]] = llvm.ptrtoint %[[O6]]
// CHECK:           arith.addi %[[A6]]
// CHECK:           gpu.barrier
// CHECK:             llvm.store %[[ROW]],
// CHECK:           gpu.barrier
// CHECK:           func.call @k.rows.stage0(%{{.*}}, %[[PACKINGS]], %[[BLOCK]], %[[BLOCKS]])
// CHECK:           func.call @device_barrier
// CHECK:           func.call @k.rows.stage1(%{{.*}}, %[[PACKINGS]], %[[BLOCK]], %[[BLOCKS]])
// CHECK:           func.call @device_barrier

// Every thread loads the elements that control flow reads. One thread stores
// the result.
// CHECK:           %[[FIRST:.*]] = llvm.load {{.*}} : !llvm.ptr<1> -> f32
// CHECK:           %[[ANY:.*]] = arith.ori %[[BLOCK]], %[[THREAD]]
// CHECK:           %[[REPORTER:.*]] = arith.cmpi eq, %[[ANY]]
// CHECK-NEXT:      scf.if %[[REPORTER]] {
// CHECK:             arith.bitcast %[[FIRST]]
// CHECK:             llvm.store
// CHECK:         gpu.return
// CHECK-NOT:     uprog.buffer
uprog.buffer @b : tensor<4xf32> copies(2)
uprog.program @one(%instance: index) level(block) {
  uprog.enter_instance %instance
  %x = uprog.argument 0 of %instance : !uprog.row
  %y = uprog.row @b
  %step = uprog.site @k(%x : !uprog.row) into(%y)
  %one = arith.constant 1 : index
  uprog.run @k.rows step(%step) tasks(%one)
  uprog.barrier block
  uprog.result 0 of %instance = %y : !uprog.row, tensor<4xf32>
  uprog.yield
}
uprog.program @all(%instance: index) level(device) {
  uprog.enter_instance %instance
  %x = uprog.argument 0 of %instance : !uprog.row
  %y = uprog.row @b
  %step = uprog.site @k(%x : !uprog.row) into(%y)
  %one = arith.constant 1 : index
  uprog.run @k.rows step(%step) tasks(%one)
  uprog.barrier device
  %zero = arith.constant 0 : index
  %first = uprog.load %y[%zero] : tensor<4xf32>
  uprog.result 0 of %instance = %first : f32
  uprog.yield
}
uprog.program @main.execute() level(device) {
  %n = uprog.instances
  %units = uprog.units
  uprog.run @one tasks(%n)
  uprog.barrier device
  uprog.for %i = %units to %n {
    uprog.ref @all(%i) : index
  }
  uprog.yield
}
