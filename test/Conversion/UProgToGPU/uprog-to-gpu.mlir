// RUN: batch-opt %s --convert-uprog-to-gpu | FileCheck %s --check-prefixes=CHECK,DEVICE,NVIDIA
// RUN: batch-opt %s --convert-uprog-to-gpu=chip=gfx90a | FileCheck %s --check-prefixes=CHECK,DEVICE,AMD
// RUN: batch-opt %s --batch-choose-executor="executor=cluster cluster-size=4" --convert-uprog-to-gpu \
// RUN:   | FileCheck %s --check-prefixes=CHECK,CLUSTER
// RUN: batch-opt %s --batch-choose-executor=executor=block --convert-uprog-to-gpu=block-size=64 \
// RUN:   | FileCheck %s --check-prefixes=CHECK,BLOCK

// CHECK: module attributes {gpu.container_module}
gpu.module @device attributes {batch.added_bytes = 4096 : i64} {
  func.func private @k.rows.stage0(%step: !llvm.ptr<1>, %packings: !llvm.ptr<1>, %unit: i64, %units: i64) {
    uprog.await_rows
    return
  }
  func.func private @k.rows.stage1(%step: !llvm.ptr<1>, %packings: !llvm.ptr<1>, %unit: i64, %units: i64) {
    uprog.await_rows
    return
  }
  // Fills a block's shared memory.
  func.func private @load_parameters(%packings: !llvm.ptr<1>, %unit: i64, %units: i64) {
    return
  }
}
uprog.operator @k.rows(%n: index, %x: tensor<?x4xf32> {uprog.operand = #uprog.operand<gather>})
    attributes {uprog.code = #uprog.code<stages = 2, task_scratch = 0>} {
  uprog.yield
}

// In a stage, code that depends only on the plan comes first. Then, if an argument
// requests it, the stage waits for rows, together with all blocks of its group.
// CHECK-LABEL:  func.func private @k.rows.stage0(
// DEVICE-SAME:      i64, %[[WAITS:[^:]*]]: i1, %[[CONTROL:.*]]: !llvm.ptr<1>, %[[BLOCKS:.*]]: i32, %[[STEP:.*]]: i32, %[[WATCHDOG:.*]]: i64)
// DEVICE-NEXT:    scf.if %[[WAITS]] {
// DEVICE-NEXT:      func.call @device_barrier(%[[CONTROL]], %[[BLOCKS]], %[[STEP]], %[[WATCHDOG]])
// CLUSTER-SAME:     i64, %[[WAITS:[^:]*]]: i1) {
// CLUSTER-NEXT:   scf.if %[[WAITS]] {
// CLUSTER-NEXT:     nvvm.cluster.arrive {aligned}
// CLUSTER-NEXT:     nvvm.cluster.wait {aligned}
// BLOCK-SAME:       i64, %[[WAITS:[^:]*]]: i1) {
// BLOCK-NEXT:     scf.if %[[WAITS]] {
// BLOCK-NEXT:       gpu.barrier
// CHECK-NEXT:     }
// CHECK-NEXT:     return
// CHECK-NOT:    uprog.await_rows

// The barrier in global memory: writes of a block are visible before its
// arrival is counted. All blocks wait until all arrivals at this barrier are
// counted. Each block also counts its arrivals in its own words.
// NVIDIA:       llvm.mlir.global internal @[[LEFT:device_barrier.left]]() {addr_space = 3 : i32
// AMD-NOT:      @device_barrier.left
// DEVICE-LABEL: func.func private @device_barrier(
// DEVICE-SAME:      %[[CONTROL:.*]]: !llvm.ptr<1>, %[[BLOCKS:.*]]: i32, %{{.*}}: i32, %{{.*}}: i64)
// DEVICE:         %[[OWN:.*]] = llvm.getelementptr %{{.*}}[%{{.*}}] {{.*}} !llvm.array<16 x i8>
// DEVICE:         %[[BEFORE:.*]] = scf.if %[[LEADER:.*]] -> (i32) {
// NVIDIA-NEXT:      llvm.load %[[OWN]] atomic syncscope("device") monotonic
// AMD-NEXT:         llvm.load %[[OWN]] atomic syncscope("agent") monotonic
// DEVICE:         gpu.barrier
// DEVICE-NEXT:    scf.if %[[LEADER]] {
// NVIDIA:           llvm.fence syncscope("device") release
// NVIDIA-NEXT:      llvm.atomicrmw add %[[CONTROL]], %{{.*}} syncscope("device") monotonic
// NVIDIA-NEXT:      %[[AFTER:.*]] = arith.addi %[[BEFORE]]
// NVIDIA-NEXT:      llvm.store %[[AFTER]], %[[OWN]] atomic syncscope("device") monotonic
// NVIDIA-NEXT:      %[[ALL:.*]] = arith.muli %[[AFTER]], %[[BLOCKS]]
// NVIDIA:           scf.while
// NVIDIA-NEXT:        %[[NOW:.*]] = llvm.load %[[CONTROL]] atomic syncscope("device") acquire
// NVIDIA-NEXT:        %[[BEYOND:.*]] = arith.subi %[[NOW]], %[[ALL]]
// NVIDIA-NEXT:        arith.cmpi slt, %[[BEYOND]]
// The barrier reads the clock every 16 rounds.
// NVIDIA:               %[[TURN:.*]] = arith.andi %{{.*}}, %c15_i32
// NVIDIA-NEXT:          %[[DUE:.*]] = arith.cmpi eq, %[[TURN]], %c0_i32
// NVIDIA-NEXT:          %[[LOOKS:.*]] = arith.andi %[[DUE]], %{{.*}} : i1
// NVIDIA-NEXT:          scf.if %[[LOOKS]] -> (i1, i64) {
// NVIDIA-NEXT:            nvvm.read.ptx.sreg.globaltimer
// AMD:                scf.while
// AMD-NEXT:             llvm.load %[[CONTROL]] atomic syncscope("agent") acquire
// DEVICE:         gpu.barrier
// Only NVIDIA GPUs have the clock that the watchdog reads.
// AMD-NOT:        globaltimer
// AMD-NOT:        nvvm
// NVIDIA:         %[[WORD:.*]] = llvm.mlir.addressof @[[LEFT]] : !llvm.ptr<3>
// NVIDIA-NEXT:    llvm.load %[[WORD]] : !llvm.ptr<3> -> i32
// NVIDIA:         nvvm.exit
// CLUSTER-NOT:  @device_barrier
// BLOCK-NOT:    @device_barrier

// A group of blocks runs one plan after the other. Its blocks are the units
// that share a step. The first thread of each block stores the block's progress
// in the block's control words.
// CHECK-LABEL: gpu.func @main_execute(
// CHECK-SAME:      %[[PLANS:.*]]: !llvm.ptr<1>, %[[NUM_PLANS:.*]]: i64, %[[PACKINGS:.*]]: !llvm.ptr<1>, %[[CONTROL:.*]]: !llvm.ptr<1>, %[[BLOCKS:.*]]: i64, %[[WATCHDOG:.*]]: i64) kernel
// NVIDIA-SAME:     known_block_size = array<i32: 256, 1, 1>, nvvm.minctasm = 1 : i32
// CLUSTER-SAME:    known_cluster_size = array<i32: 4, 1, 1>
// BLOCK-SAME:      known_block_size = array<i32: 64, 1, 1>
// DEVICE:        %[[ID:.*]] = gpu.block_id x
// DEVICE:        %[[UNIT:.*]] = arith.index_cast %[[ID]] : index to i64
// DEVICE:        %[[IS_FIRST:.*]] = arith.cmpi eq, %{{.*}}, %c0_i64
// DEVICE:        %[[DISTANCE:.*]] = arith.muli %[[UNIT]], %c16_i64
// DEVICE-NEXT:   %[[WORDS:.*]] = llvm.getelementptr %[[CONTROL]][256]
// DEVICE-NEXT:   %[[OWN:.*]] = llvm.getelementptr %[[WORDS]][%[[DISTANCE]]]
// DEVICE-NEXT:   %[[PROGRESS:.*]] = llvm.getelementptr %[[OWN]][8]
// CLUSTER:       %[[NUMBER:.*]] = gpu.block_id x
// CLUSTER:       %[[WHICH:.*]] = arith.index_cast %[[NUMBER]] : index to i64
// CLUSTER:       %[[ID:.*]] = gpu.cluster_block_id x
// CLUSTER:       %[[UNIT:.*]] = arith.index_cast %[[ID]] : index to i64
// CLUSTER:       %[[DIM:.*]] = gpu.cluster_dim_blocks x
// CLUSTER:       %[[UNITS:.*]] = arith.index_cast %[[DIM]] : index to i64
// CLUSTER:       %[[GROUP:.*]] = gpu.cluster_id x
// CLUSTER:       %[[FIRST:.*]] = arith.index_cast %[[GROUP]] : index to i64
// CLUSTER:       %[[COUNT:.*]] = gpu.cluster_dim x
// CLUSTER:       %[[GROUPS:.*]] = arith.index_cast %[[COUNT]] : index to i64
// CLUSTER:       %[[IS_FIRST:.*]] = arith.cmpi eq, %{{.*}}, %c0_i64
// CLUSTER:       %[[DISTANCE:.*]] = arith.muli %[[WHICH]], %c16_i64
// CLUSTER-NEXT:  %[[WORDS:.*]] = llvm.getelementptr %[[CONTROL]][256]
// CLUSTER-NEXT:  %[[OWN:.*]] = llvm.getelementptr %[[WORDS]][%[[DISTANCE]]]
// CLUSTER-NEXT:  %[[PROGRESS:.*]] = llvm.getelementptr %[[OWN]][8]
// BLOCK:         %[[ID:.*]] = gpu.block_id x
// BLOCK:         %[[FIRST:.*]] = arith.index_cast %[[ID]] : index to i64
// BLOCK:         %[[IS_FIRST:.*]] = arith.cmpi eq, %{{.*}}, %c0_i64
// BLOCK:         %[[DISTANCE:.*]] = arith.muli %[[FIRST]], %c16_i64
// BLOCK-NEXT:    %[[WORDS:.*]] = llvm.getelementptr %[[CONTROL]][256]
// BLOCK-NEXT:    %[[OWN:.*]] = llvm.getelementptr %[[WORDS]][%[[DISTANCE]]]
// BLOCK-NEXT:    %[[PROGRESS:.*]] = llvm.getelementptr %[[OWN]][8]
// The flag specifies whether the next stage waits. The first stage does not.
// CHECK:         %[[PENDING:.*]] = llvm.alloca %{{.*}} x i1
// CHECK-NEXT:    %[[NOTYET:.*]] = arith.constant false
// CHECK-NEXT:    llvm.store %[[NOTYET]], %[[PENDING]]
// DEVICE-NEXT:   func.call @load_parameters(%[[PACKINGS]], %[[UNIT]], %[[BLOCKS]])
// DEVICE-NEXT:   scf.for %[[PLAN:.*]] = %c0_i64 to %[[NUM_PLANS]] step %c1_i64
// CLUSTER-NEXT:  func.call @load_parameters(%[[PACKINGS]], %[[UNIT]], %[[UNITS]])
// CLUSTER-NEXT:  scf.for %[[PLAN:.*]] = %[[FIRST]] to %[[NUM_PLANS]] step %[[GROUPS]]
// BLOCK-NEXT:    func.call @load_parameters(%[[PACKINGS]], %c0_i64, %c1_i64)
// BLOCK-NEXT:    scf.for %[[PLAN:.*]] = %[[FIRST]] to %[[NUM_PLANS]] step %[[BLOCKS]]
// CHECK:           %[[PLAN_NUMBER:.*]] = arith.addi %[[PLAN]], %c1_i64
// CHECK:           %[[HIGH:.*]] = arith.shli %[[PLAN_NUMBER]], %c32_i64
// CHECK:           llvm.getelementptr %[[PLANS]][
// CHECK:           %[[STEPS:.*]] = llvm.load %{{.*}} : !llvm.ptr<1> -> !llvm.ptr<1>

// One store by one thread reports that the step has begun. Nothing waits for
// it.
// CHECK:           scf.for %[[I:.*]] = %
// CHECK-NEXT:        %[[LOW:.*]] = arith.index_cast %[[I]] : index to i64
// CHECK-NEXT:        %[[AT:.*]] = arith.ori %[[HIGH]], %[[LOW]] : i64
// CHECK-NEXT:        scf.if %[[IS_FIRST]] {
// CHECK-NEXT:          llvm.store %[[AT]], %[[PROGRESS]] atomic syncscope("{{device|agent}}") monotonic {alignment = 8 : i64}
// CHECK-NEXT:        }

// Blocks exchange rows between stages; after the last one, only if the step has a barrier.
// CHECK:             %[[STEP:.*]] = llvm.getelementptr %[[STEPS]][
// CHECK:             scf.index_switch
// CHECK-NEXT:        case 3 {
// CHECK:               %[[WAITS0:.*]] = llvm.load %[[PENDING]]
// DEVICE:              func.call @k.rows.stage0(%[[STEP]], %[[PACKINGS]], %[[UNIT]], %[[BLOCKS]], %[[WAITS0]], %[[CONTROL]], %{{.*}}, %{{.*}}, %[[WATCHDOG]])
// CLUSTER-NEXT:        func.call @k.rows.stage0(%[[STEP]], %[[PACKINGS]], %[[UNIT]], %[[UNITS]], %[[WAITS0]])
// BLOCK-NEXT:          func.call @k.rows.stage0(%[[STEP]], %[[PACKINGS]], %c0_i64, %c1_i64, %[[WAITS0]])
// CHECK-NEXT:          %[[DONE0:.*]] = arith.constant false
// CHECK-NEXT:          llvm.store %[[DONE0]], %[[PENDING]]
// CHECK-NEXT:          %[[BETWEEN:.*]] = arith.constant true
// CHECK-NEXT:          llvm.store %[[BETWEEN]], %[[PENDING]]
// CHECK-NEXT:          %[[WAITS1:.*]] = llvm.load %[[PENDING]]
// DEVICE:              func.call @k.rows.stage1(%[[STEP]], %[[PACKINGS]], %[[UNIT]], %[[BLOCKS]], %[[WAITS1]], %[[CONTROL]], %{{.*}}, %{{.*}}, %[[WATCHDOG]])
// CLUSTER-NEXT:        func.call @k.rows.stage1(%[[STEP]], %[[PACKINGS]], %[[UNIT]], %[[UNITS]], %[[WAITS1]])
// BLOCK-NEXT:          func.call @k.rows.stage1(%[[STEP]], %[[PACKINGS]], %c0_i64, %c1_i64, %[[WAITS1]])
// CHECK-NEXT:          %[[DONE1:.*]] = arith.constant false
// CHECK-NEXT:          llvm.store %[[DONE1]], %[[PENDING]]
// CHECK-NEXT:          scf.yield

// The next step waits at a barrier if field 5 of this step is 1.
// CHECK:             %[[FIELD:.*]] = llvm.getelementptr %[[STEP]][5]
// CHECK-NEXT:        %[[WORD:.*]] = llvm.load %[[FIELD]]
// CHECK-NEXT:        %[[WAITS:.*]] = arith.index_cast %[[WORD]] : i64 to index
// CHECK-NEXT:        scf.index_switch %[[WAITS]]
// CHECK-NEXT:        case 1 {
// CHECK-NEXT:          %[[BEHIND:.*]] = arith.constant true
// CHECK-NEXT:          llvm.store %[[BEHIND]], %[[PENDING]]
// CHECK-NEXT:          scf.yield

// The first thread reports the end of the block after all threads of the block have
// finished.
// CHECK:         gpu.barrier
// CHECK-NEXT:    %[[ENDED:.*]] = llvm.getelementptr %[[OWN]][4]
// CHECK:         scf.if %[[IS_FIRST]] {
// CHECK-NEXT:      llvm.store %{{.*}}, %[[ENDED]] atomic syncscope("{{device|agent}}") monotonic {alignment = 4 : i64} : i32
// CHECK-NEXT:    }
// CHECK-NEXT:    gpu.return

// One launch, and its attributes for the host
// CHECK-LABEL: func.func @main.execute(
// DEVICE-SAME:     batch.kernel_launch = {block_size = 256 : i64, cluster_size = 1 : i64, executor = "device", kernel = "main_execute", shared_bytes = 4096 : i64}
// CLUSTER-SAME:    batch.kernel_launch = {block_size = 256 : i64, cluster_size = 4 : i64, executor = "cluster", kernel = "main_execute", shared_bytes = 4096 : i64}
// BLOCK-SAME:      batch.kernel_launch = {block_size = 64 : i64, cluster_size = 1 : i64, executor = "block", kernel = "main_execute", shared_bytes = 4096 : i64}
// CHECK:         %[[GRID:.*]] = arith.index_cast %arg4 : i64 to index
// DEVICE:        gpu.launch_func @device::@main_execute blocks in (%[[GRID]], %c1, %c1) threads in (%c256, %c1, %c1) dynamic_shared_memory_size %c4096_i32
// CLUSTER:       gpu.launch_func @device::@main_execute clusters in (%c4, %c1, %c1) blocks in (%[[GRID]], %c1, %c1)
// BLOCK:         gpu.launch_func @device::@main_execute blocks in (%[[GRID]], %c1, %c1) threads in (%c64, %c1, %c1) dynamic_shared_memory_size %c4096_i32
// CHECK-NOT:     gpu.launch_func
// CHECK-NOT:     uprog.program
uprog.program @main.execute(%plan: !batch.plan) level(device) {
  %c0 = arith.constant 0 : index
  %steps = uprog.plan_size %plan
  uprog.for %i = %c0 to %steps {
    %step = uprog.plan_step %plan[%i]
    %k = uprog.step_kernel %step
    uprog.branch %k
    case 3 {
      %n = uprog.step_tasks %step
      uprog.run @k.rows step(%step) tasks(%n)
    }
    %barrier = uprog.step_barrier %step
    uprog.branch %barrier
    case 1 {
      uprog.barrier device
    }
  }
  uprog.yield
}
