// RUN: batch-opt %s --batch-outline-blocks --batch-vectorize-kernels --batch-lockstep \
// RUN:   --uprog-stage-operators=target=gpu --batch-choose-executor --convert-operators-to-gpu --convert-uprog-to-gpu -o %t.mlir
// RUN: FileCheck %s < %t.mlir
// RUN: FileCheck %s --check-prefix=START < %t.mlir
// RUN: FileCheck %s --check-prefix=PROGRESS < %t.mlir
// RUN: FileCheck %s --check-prefix=REDUCE < %t.mlir
// RUN: FileCheck %s --check-prefix=LEARNED < %t.mlir
// RUN: FileCheck %s --check-prefix=LIST < %t.mlir
// RUN: FileCheck %s --check-prefix=STEP < %t.mlir
// RUN: batch-opt %s --batch-outline-blocks --batch-vectorize-kernels --batch-lockstep \
// RUN:   --uprog-stage-operators=target=gpu --batch-choose-executor -o /dev/null --remark-format=emitRemark --remarks-filter=batch 2>&1 \
// RUN:   | FileCheck %s --check-prefix=REMARK
// RUN: batch-opt %s --batch-outline-blocks --batch-vectorize-kernels --batch-lockstep \
// RUN:   --gpu-persistent="chip=sm_80 format=isa" | FileCheck %s --check-prefix=PTX
// RUN: batch-opt %s --batch-outline-blocks --batch-vectorize-kernels --batch-lockstep \
// RUN:   --gpu-persistent="chip=gfx90a format=llvm" | FileCheck %s --check-prefix=AMD

// A thread block runs the whole program on its own lanes.
// REMARK: Executor {{.*}}program @main.execute: executor block, each block runs its own lanes

// CHECK:       func.func @main.execute(%[[ARG:.*]]: !llvm.ptr<1>, %{{.*}}: !llvm.ptr<1>, %[[BLOCKS:.*]]: i64)
// CHECK-SAME:    executor = "block"
// CHECK:         %[[GRID:.*]] = arith.index_cast %[[BLOCKS]]
// CHECK:         gpu.launch_func @device::@main_execute blocks in (%[[GRID]],

// A lane takes the next instance from a counter of all thread blocks. Then it
// waits for the first block of the program.
// CHECK-LABEL: func.func private @main.machine.next_instance(
// CHECK-SAME:    %{{.*}}: !llvm.ptr<1>, %[[HEAD:.*]]: !llvm.ptr<1>, %[[LANE:.*]]: i64, %[[DONE:.*]]: i1)
// CHECK:         scf.if %[[DONE]] {
// CHECK:         %[[NEXT:.*]] = llvm.atomicrmw add %{{.*}} syncscope("device") monotonic : !llvm.ptr<1>, i64
// CHECK:         llvm.atomicrmw add %{{.*}} syncscope("block") monotonic : !llvm.ptr<1>, i64

// Variables begin as zeros, and each lane begins with an instance. Threads share
// the lanes, and wait for each other before any lane runs.
// START-LABEL: gpu.func @main_execute(
// START-SAME:    %[[CONTEXT:.*]]: !llvm.ptr<1>, %{{.*}}: !llvm.ptr<1>, %{{.*}}: i64) kernel
// START:         %[[ID:.*]] = gpu.thread_id x
// START:         %[[THREAD:.*]] = arith.index_cast %[[ID]] : index to i64
// START:         %[[LANES:.*]] = llvm.inttoptr %{{.*}} : i64 to !llvm.ptr<1>
// START:         scf.for %{{.*}} = %[[THREAD]] to
// START:           llvm.store %{{.*}} : i64, !llvm.ptr<1>
// START:         scf.for %{{.*}} = %[[THREAD]] to
// START:           llvm.store %{{.*}} : i32, !llvm.ptr<1>
// START:         gpu.barrier
// START:         scf.for %[[LANE:.*]] = %[[THREAD]] to
// START:           func.call @main.machine.next_instance(%[[CONTEXT]], %[[LANES]], %[[LANE]],
// START:         gpu.barrier
// START:         scf.while

// The first thread stores the current step, if any, and the block of the program in the
// control words of its thread block. At the end, it stores that the thread block has
// ended.
// PROGRESS-LABEL: gpu.func @main_execute(
// PROGRESS-SAME:    %{{.*}}: !llvm.ptr<1>, %[[CONTROL:.*]]: !llvm.ptr<1>, %{{.*}}: i64) kernel
// PROGRESS:         %[[WORDS:.*]] = llvm.getelementptr %[[CONTROL]][256]
// PROGRESS-NEXT:    %[[OWN:.*]] = llvm.getelementptr %[[WORDS]][
// PROGRESS-NEXT:    %[[PROGRESS:.*]] = llvm.getelementptr %[[OWN]][8]
// PROGRESS:         scf.while
// PROGRESS:           scf.if
// PROGRESS:             %[[BEFORE:.*]] = arith.addi %[[NOW:.*]], %c-1_i64
// PROGRESS-NEXT:        %[[TOLD:.*]] = arith.select %[[ANY:.*]], %[[NOW]], %[[BEFORE]] : i64
// PROGRESS:             llvm.store %[[TOLD]],
// PROGRESS:             scf.if %[[ANY]] {
// PROGRESS:               %[[HIGH:.*]] = arith.shli %[[NOW]], %c32_i64
// PROGRESS-NEXT:          %[[WORD:.*]] = arith.ori %[[HIGH]], %
// PROGRESS-NEXT:          llvm.store %[[WORD]], %[[PROGRESS]] atomic syncscope("device") monotonic {alignment = 8 : i64}
// PROGRESS:           scf.condition
// PROGRESS:         %[[ENDED:.*]] = llvm.getelementptr %[[OWN]][4]
// PROGRESS:         scf.if
// PROGRESS-NEXT:      llvm.store %{{.*}}, %[[ENDED]] atomic syncscope("device") monotonic {alignment = 4 : i64} : i32
// PROGRESS-NEXT:    }
// PROGRESS-NEXT:    gpu.return

// The threads of a warp share the blocks. After exchanges at distances of 1 to
// 16, all of them have the least values of both keys.
// REDUCE-LABEL: gpu.func @main_execute(
// REDUCE:         scf.while
// REDUCE:           %[[OF_WARP:.*]] = arith.andi %{{.*}}, %c31_i64{{.*}} : i64
// REDUCE:           scf.for %{{.*}} = %[[OF_WARP]] to %{{.*}} step %c32_i64
// REDUCE:           gpu.shuffle xor %{{.*}}, %c1_i32
// REDUCE:           gpu.shuffle xor %{{.*}}, %c2_i32
// REDUCE:           gpu.shuffle xor %{{.*}}, %c4_i32
// REDUCE:           gpu.shuffle xor %{{.*}}, %c8_i32
// REDUCE:           gpu.shuffle xor %{{.*}}, %c16_i32
// REDUCE:           gpu.shuffle xor %{{.*}}, %c1_i32
// REDUCE:           gpu.shuffle xor %{{.*}}, %c2_i32
// REDUCE:           gpu.shuffle xor %{{.*}}, %c4_i32
// REDUCE:           gpu.shuffle xor %{{.*}}, %c8_i32
// REDUCE:           gpu.shuffle xor %{{.*}}, %c16_i32
// REDUCE-NOT:       gpu.shuffle xor %{{.*}}, %c{{[1248]}}_i32
// REDUCE:         scf.condition

// If the policy is learned, all threads read a table of states. The first thread counts
// the step.
// LEARNED-LABEL: gpu.func @main_execute(
// LEARNED:         scf.while
// LEARNED:           arith.xori
// LEARNED:           arith.muli
// LEARNED:           %[[HASH:.*]] = arith.ori
// LEARNED:           %[[SLOT:.*]] = arith.andi
// LEARNED:           scf.while (%{{.*}} = %[[SLOT]])
// LEARNED:             arith.cmpi ne, %{{.*}}, %[[HASH]]
// LEARNED:           gpu.barrier
// LEARNED:           scf.if
// LEARNED:             llvm.store
// LEARNED:           scf.condition

// A warp lists the lanes, and its first thread publishes their number.
// LIST:           %[[CELL:.*]] = llvm.mlir.addressof @compact.count : !llvm.ptr<3>
// LIST:           gpu.barrier
// LIST:           %[[WARP:.*]] = arith.cmpi slt, %[[SELF:.*]], %c32_i64{{.*}} : i64
// LIST:           scf.if %[[WARP]] {
// LIST:             %[[COUNT:.*]] = scf.for
// LIST-COUNT-5:       gpu.shuffle up
// LIST:               gpu.shuffle idx
// LIST:             %[[FIRST:.*]] = arith.cmpi eq, %[[SELF]], %c0_i64{{.*}} : i64
// LIST-NEXT:        scf.if %[[FIRST]] {
// LIST-NEXT:          llvm.store %[[COUNT]], %[[CELL]] : i64, !llvm.ptr<3>
// LIST:           gpu.barrier
// LIST-NEXT:      llvm.load %[[CELL]] : !llvm.ptr<3> -> i64
// LIST:           gpu.barrier
// LIST:           scf.index_switch

// Threads wait for the results of the kernel, which other threads computed. For
// each lane, one thread pushes @n. All threads copy rows of 15 words, in
// groups of five, and wait before depths change and lanes take instances.
// STEP:           case 0 {
// STEP:             func.call @call.rows.stage0(%{{.*}}, %{{.*}}, %c0_i64{{.*}}, %c1_i64{{.*}})
// STEP-NEXT:        gpu.barrier
// STEP:             scf.for %{{.*}} = %[[THREAD:.*]] to
// STEP:               llvm.store %{{.*}} : i64, !llvm.ptr<1>
// STEP:             gpu.barrier
// STEP:             scf.for %[[I:.*]] = %[[THREAD]] to
// STEP:               arith.divui %[[I]], %[[PIECES:c15_i64.*]] : i64
// STEP:               %[[PIECE:.*]] = arith.remui %[[I]], %[[PIECES]] : i64
// STEP:               arith.divui %[[PIECE]], %c5_i64
// STEP:               %[[ROW:.*]] = llvm.load %{{.*}} : !llvm.ptr<1> -> i32
// STEP:               llvm.store %[[ROW]], %{{.*}} : i32, !llvm.ptr<1>
// STEP:             gpu.barrier
// STEP:             llvm.atomicrmw add %{{.*}} syncscope("block") monotonic
// STEP:             func.call @main.machine.next_instance(
// STEP:             gpu.barrier
// STEP-NEXT:        scf.yield
// STEP:           case 1 {

// PTX: .visible .entry main_execute(
// PTX: atom.global.add.u64
// PTX: bar.sync
// AMD: atomicrmw add {{.*}} syncscope("agent") monotonic
// AMD: atomicrmw add {{.*}} syncscope("workgroup") monotonic

batch.machine @main.machine() attributes {cached_tops} {
  batch.variable @n : i64 stack argument(0) result(0)
  batch.variable @x : tensor<3x5xf32> stack argument(1)
  batch.block @call {
    %n = batch.top @n : i64
    %one = arith.constant 1 : i64
    %m = arith.subi %n, %one : i64
    batch.push @n, %m : i64
    batch.push @x
    batch.push_jump @test return_to(@back)
  }
  batch.block @test {
    %n = batch.top @n : i64
    %zero = arith.constant 0 : i64
    %more = arith.cmpi sgt, %n, %zero : i64
    batch.branch %more, @call, @end
  }
  batch.block @back {
    batch.pop @x
    batch.pop @n
    batch.return
  }
  batch.block @end {
    batch.return
  }
}
func.func @main(%n: i64, %x: tensor<3x5xf32>) -> i64 attributes {batch.entry} {
  return %n : i64
}
