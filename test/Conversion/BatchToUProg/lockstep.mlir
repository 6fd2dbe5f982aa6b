// RUN: batch-opt %s --batch-outline-blocks --batch-vectorize-kernels --batch-lockstep \
// RUN:   --split-input-file -o %t.mlir
// RUN: FileCheck %s < %t.mlir
// RUN: FileCheck %s --check-prefix=WAITING < %t.mlir
// RUN: FileCheck %s --check-prefix=CASES < %t.mlir

// A loop runs the preferred block, or the block for which a lane has waited
// longest, until no lane waits.
// CHECK-LABEL: uprog.program @main.execute(
// CHECK-SAME:    %[[LANES:.*]]: !batch.lanes) level(block) attributes {batch.executor} {
// CHECK-NEXT:    batch.start_lanes %[[LANES]] @main.machine
// CHECK-NEXT:    uprog.while {
// CHECK:           %[[KEYS:.*]]:2, %[[LEAST:.*]]:2 = uprog.reduce min %[[I:.*]] < %c3 {
// CHECK-NEXT:        %[[PREFERENCE:.*]], %[[SINCE:.*]] = batch.block_keys %[[LANES]][%[[I]]]
// CHECK-NEXT:        uprog.yield %[[PREFERENCE]], %[[SINCE]]
// CHECK:           %[[BLOCK:.*]], %[[ANY:.*]] = batch.next_block %[[LANES]] of %[[LEAST]]#0, %[[LEAST]]#1 since %[[KEYS]]#1
// CHECK-NEXT:      uprog.condition(%[[ANY]]) %[[BLOCK]] : index

// The lanes of a step are those that wait for the block.
// WAITING:         ^bb0(%[[BLOCK:.*]]: index):
// WAITING:           %[[ALL:.*]], %[[LIST:.*]] = batch.lane_list %[[LANES:.*]] : memref<?xi32>
// WAITING:           %[[COUNT:.*]] = uprog.compact %[[LANE:.*]] < %[[ALL]] into %[[LIST]]
// WAITING-NEXT:        %[[RUNS:.*]] = batch.enter_block %[[LANES]][%[[LANE]]], %[[BLOCK]]
// WAITING-NEXT:        uprog.condition(%[[RUNS]])
// WAITING:           uprog.take_lanes %[[LANES]][%[[BLOCK]]] tasks(%[[COUNT]])

// Each block has a case: the reads of stacks before its kernel, the kernel if it
// has one, and the use of the results.
// CASES:         %[[STEP:.*]] = uprog.take_lanes
// CASES:         case 0 {
// CASES-NOT:       prologue
// CASES:           %[[N:.*]] = uprog.step_tasks %[[STEP]]
// CASES-NEXT:      uprog.run @first.rows step(%[[STEP]]) tasks(%[[N]])
// CASES-NEXT:      batch.lane_ops %{{.*}} @main.machine::@first{{$}}
// CASES:         case 1 {
// CASES-NEXT:      batch.lane_ops %{{.*}} @main.machine::@second prologue
// CASES:           uprog.run @second.rows
// CASES-NEXT:      batch.lane_ops %{{.*}} @main.machine::@second{{$}}
// CASES:         case 2 {
// CASES-NOT:       uprog.run
// CASES:           batch.lane_ops %{{.*}} @main.machine::@third{{$}}
batch.machine @main.machine(%w: tensor<2xf32> {batch.shared = "w"}) attributes {cached_tops} {
  batch.variable @x : tensor<2xf32> stack argument(0) result(0)
  batch.block @first {
    %x = batch.top @x : tensor<2xf32>
    %y = arith.addf %x, %w : tensor<2xf32>
    batch.push @x, %y : tensor<2xf32>
    batch.push_jump @third return_to(@second)
  }
  batch.block @second {
    batch.pop @x
    %x = batch.top @x : tensor<2xf32>
    %y = arith.mulf %x, %x : tensor<2xf32>
    batch.set @x, %y : tensor<2xf32>
    batch.return
  }
  batch.block @third {
    batch.return
  }
}
func.func @main(%x: tensor<2xf32>, %w: tensor<2xf32> {batch.shared = "w"}) -> tensor<2xf32>
    attributes {batch.entry} {
  return %x : tensor<2xf32>
}

// -----

// Without cached tops of stacks, a read copies from a stack before the kernel. With
// frames, a call runs the loop again, but only for the lanes of the call.
// CHECK-LABEL: uprog.program @main.execute(
// CHECK-NEXT:    batch.start_lanes %[[LANES:.*]] @main.machine
// CHECK-NEXT:    uprog.ref @main.frame(%[[LANES]]) : !batch.lanes
// CHECK-NEXT:    uprog.yield
// CHECK-LABEL: uprog.program @main.frame(
// CHECK-NOT:     batch.executor
// CHECK:         case 0 {
// CHECK-NEXT:      batch.lane_ops %[[LANES:.*]] @main.machine::@first prologue
// CHECK:           uprog.run @first.rows step
// CHECK-NEXT:      batch.lane_ops %[[LANES]] @main.machine::@first
// CHECK-NEXT:      uprog.ref @main.frame(%[[LANES]]) : !batch.lanes
// CHECK-NEXT:      batch.leave_frame %[[LANES]] @main.machine
// CHECK-NEXT:    }
// CHECK-NEXT:    case 1 {
// CHECK-NEXT:      batch.lane_ops %[[LANES]] @main.machine::@second
// CHECK-NEXT:    }
batch.machine @main.machine() attributes {frames} {
  batch.variable @x : tensor<2xf32> stack argument(0) result(0)
  batch.block @first {
    %x = batch.top @x : tensor<2xf32>
    %y = arith.addf %x, %x : tensor<2xf32>
    batch.set @x, %y : tensor<2xf32>
    batch.push_jump @second return_to(@second)
  }
  batch.block @second {
    batch.return
  }
}
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> attributes {batch.entry} {
  return %x : tensor<2xf32>
}
