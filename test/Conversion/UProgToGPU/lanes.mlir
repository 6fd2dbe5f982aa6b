// RUN: batch-opt %s --batch-outline-blocks --batch-vectorize-kernels --batch-lockstep \
// RUN:   --uprog-stage-operators=target=gpu --batch-choose-executor --convert-operators-to-gpu --convert-uprog-to-gpu | FileCheck %s
// RUN: batch-opt %s --batch-outline-blocks --batch-vectorize-kernels --batch-lockstep \
// RUN:   --uprog-stage-operators=target=gpu --batch-choose-executor -o /dev/null --remark-format=emitRemark --remarks-filter=batch 2>&1 \
// RUN:   | FileCheck %s --check-prefix=REMARK
// RUN: batch-opt %s --batch-outline-blocks --batch-vectorize-kernels --batch-lockstep \
// RUN:   --gpu-persistent="chip=sm_80 format=isa" | FileCheck %s --check-prefix=PTX
// RUN: batch-opt %s --batch-outline-blocks --batch-vectorize-kernels --batch-lockstep \
// RUN:   --gpu-persistent="chip=gfx90a format=llvm" | FileCheck %s --check-prefix=AMD

// A block runs the whole program on lanes of its own.
// REMARK: Executor {{.*}}program @main.execute: executor block, every block runs lanes of its own

// CHECK:       func.func @main.execute(%[[ARG:.*]]: !llvm.ptr<1>, %[[BLOCKS:.*]]: i64)
// CHECK-SAME:    executor = "block"
// CHECK:         %[[GRID:.*]] = arith.index_cast %[[BLOCKS]]
// CHECK:         gpu.launch_func @device::@main_execute blocks in (%[[GRID]],

// A lane takes an instance from the counter of all blocks, and waits for the
// first block of the program.
// CHECK-LABEL: func.func private @main.machine.next_instance(
// CHECK-SAME:    %{{.*}}: !llvm.ptr<1>, %[[HEAD:.*]]: !llvm.ptr<1>, %[[LANE:.*]]: i64, %[[DONE:.*]]: i1)
// CHECK:         scf.if %[[DONE]] {
// CHECK:         %[[NEXT:.*]] = llvm.atomicrmw add %{{.*}} syncscope("device") monotonic : !llvm.ptr<1>, i64
// CHECK:         llvm.atomicrmw add %{{.*}} syncscope("block") monotonic : !llvm.ptr<1>, i64

// CHECK-LABEL: gpu.func @main_execute(
// CHECK-SAME:    %[[CONTEXT:.*]]: !llvm.ptr<1>, %{{.*}}: i64) kernel
// CHECK:         %[[ID:.*]] = gpu.thread_id x
// CHECK:         %[[THREAD:.*]] = arith.index_cast %[[ID]] : index to i64
// CHECK:         %[[LANES:.*]] = llvm.inttoptr %{{.*}} : i64 to !llvm.ptr<1>

// Variables begin as zeros; threads share out the lanes.
// CHECK:         scf.for %{{.*}} = %[[THREAD]] to
// CHECK:           llvm.store %{{.*}} : i64, !llvm.ptr<1>
// CHECK:         scf.for %{{.*}} = %[[THREAD]] to
// CHECK:           llvm.store %{{.*}} : i32, !llvm.ptr<1>
// CHECK:         gpu.barrier
// CHECK:         scf.for %[[LANE:.*]] = %[[THREAD]] to
// CHECK:           func.call @main.machine.next_instance(%[[CONTEXT]], %[[LANES]], %[[LANE]],
// CHECK:         gpu.barrier

// The threads of a warp share out the blocks and reduce what they found, 64 bits
// in two parts; all look into a table of states where the choice is a learned one;
// the first one counts the step.
// CHECK:         scf.while
// CHECK:           %[[OF_WARP:.*]] = arith.andi %{{.*}}, %c31_i64{{.*}} : i64
// CHECK:           scf.for %{{.*}} = %[[OF_WARP]] to %{{.*}} step %c32_i64
// CHECK-COUNT-40:  gpu.shuffle xor
// CHECK-NOT:       gpu.shuffle
// CHECK:           scf.if
// CHECK:             scf.for
// CHECK:               arith.xori
// CHECK:               arith.muli
// CHECK:             %[[HASH:.*]] = arith.ori
// CHECK:             %[[SLOT:.*]] = arith.andi
// CHECK:             scf.while (%{{.*}} = %[[SLOT]])
// CHECK:               arith.cmpi ne, %{{.*}}, %[[HASH]]
// CHECK:           gpu.barrier
// CHECK:           scf.if
// CHECK:             llvm.store
// CHECK:           scf.condition
// CHECK:         } do {

// A warp lists the lanes, and its first thread tells the others how many.
// CHECK:           %[[CELL:.*]] = llvm.mlir.addressof @compact.count : !llvm.ptr<3>
// CHECK:           gpu.barrier
// CHECK:           %[[WARP:.*]] = arith.cmpi slt, %[[SELF:.*]], %c32_i64{{.*}} : i64
// CHECK:           scf.if %[[WARP]] {
// CHECK:             %[[COUNT:.*]] = scf.for
// CHECK-COUNT-5:       gpu.shuffle up
// CHECK:               gpu.shuffle idx
// CHECK:             %[[FIRST:.*]] = arith.cmpi eq, %[[SELF]], %c0_i64{{.*}} : i64
// CHECK-NEXT:        scf.if %[[FIRST]] {
// CHECK-NEXT:          llvm.store %[[COUNT]], %[[CELL]] : i64, !llvm.ptr<3>
// CHECK:           gpu.barrier
// CHECK-NEXT:      llvm.load %[[CELL]] : !llvm.ptr<3> -> i64
// CHECK:           gpu.barrier
// CHECK:           scf.index_switch
// CHECK-NEXT:      case 0 {

// What the kernel computed is read by other threads.
// CHECK:             func.call @call.rows.stage0(%{{.*}}, %{{.*}}, %c0_i64{{.*}}, %c1_i64{{.*}})
// CHECK-NEXT:        gpu.barrier
// A thread pushes the number of a lane; all threads copy rows of 15, of which
// five lie together, and meet before depths change.
// CHECK:             scf.for %{{.*}} = %[[THREAD]] to
// CHECK:               llvm.store %{{.*}} : i64, !llvm.ptr<1>
// CHECK:             gpu.barrier
// CHECK:             scf.for %[[I:.*]] = %[[THREAD]] to
// CHECK:               arith.divui %[[I]], %[[PIECES:c15_i64.*]] : i64
// CHECK:               %[[PIECE:.*]] = arith.remui %[[I]], %[[PIECES]] : i64
// CHECK:               arith.divui %[[PIECE]], %c5_i64
// CHECK:               %[[ROW:.*]] = llvm.load %{{.*}} : !llvm.ptr<1> -> i32
// CHECK:               llvm.store %[[ROW]], %{{.*}} : i32, !llvm.ptr<1>
// CHECK:             gpu.barrier
// CHECK:             llvm.atomicrmw add %{{.*}} syncscope("block") monotonic
// CHECK:             func.call @main.machine.next_instance(
// CHECK:             gpu.barrier
// CHECK-NEXT:        scf.yield
// CHECK:           case 1 {

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
