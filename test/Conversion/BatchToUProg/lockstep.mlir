// RUN: batch-opt %s --batch-outline-blocks --batch-vectorize-kernels --batch-lockstep \
// RUN:   --split-input-file | FileCheck %s

// One loop: the next block, its lanes, its kernel, what becomes of its results.
// CHECK-LABEL: uprog.program @main.execute(
// CHECK-SAME:    %[[LANES:.*]]: !batch.lanes) level(block) attributes {batch.executor} {
// CHECK-NEXT:    batch.start_lanes %[[LANES]] @main.machine
// CHECK-NEXT:    uprog.while {
// CHECK-NEXT:      %[[BLOCKS:.*]] = arith.constant 3 : index
// CHECK-NEXT:      %[[KEYS:.*]]:2, %[[LEAST:.*]]:2 = uprog.reduce min %[[I:.*]] < %[[BLOCKS]] {
// CHECK-NEXT:        %[[PREFERENCE:.*]], %[[SINCE:.*]] = batch.block_keys %[[LANES]][%[[I]]]
// CHECK-NEXT:        uprog.yield %[[PREFERENCE]], %[[SINCE]] : i64, i64
// CHECK-NEXT:      }
// CHECK-NEXT:      %[[BLOCK:.*]], %[[ANY:.*]] = batch.next_block %[[LANES]] of %[[LEAST]]#0, %[[LEAST]]#1 since %[[KEYS]]#1
// CHECK-NEXT:      uprog.condition(%[[ANY]]) %[[BLOCK]] : index
// CHECK-NEXT:    } do {
// CHECK-NEXT:    ^bb0(%[[B:.*]]: index):
// CHECK-NEXT:      %[[ALL:.*]], %[[LIST:.*]] = batch.lane_list %[[LANES]] : memref<?xi32>
// CHECK-NEXT:      %[[COUNT:.*]] = uprog.compact %[[LANE:.*]] < %[[ALL]] into %[[LIST]] : memref<?xi32> {
// CHECK-NEXT:        %[[RUNS:.*]] = batch.enter_block %[[LANES]][%[[LANE]]], %[[B]]
// CHECK-NEXT:        uprog.condition(%[[RUNS]])
// CHECK-NEXT:      }
// CHECK-NEXT:      %[[STEP:.*]] = uprog.take_lanes %[[LANES]][%[[B]]] tasks(%[[COUNT]])
// CHECK-NEXT:      uprog.branch %[[B]] uniform
// CHECK-NEXT:      case 0 {
// CHECK-NEXT:        %[[N:.*]] = uprog.step_tasks %[[STEP]]
// CHECK-NEXT:        uprog.run @first.rows step(%[[STEP]]) tasks(%[[N]])
// CHECK-NEXT:        batch.lane_ops %[[LANES]] @main.machine::@first
// CHECK-NEXT:      }
// CHECK-NEXT:      case 1 {
// CHECK-NEXT:        batch.lane_ops %[[LANES]] @main.machine::@second prologue
// CHECK:             uprog.run @second.rows step
// CHECK-NEXT:        batch.lane_ops %[[LANES]] @main.machine::@second
// CHECK-NEXT:      }
// CHECK-NEXT:      case 2 {
// CHECK-NEXT:        batch.lane_ops %[[LANES]] @main.machine::@third
// CHECK-NEXT:      }
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

// Without cached tops a read is a copy from a stack, before the kernel. With
// frames a call runs the loop again, for its lanes only.
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
