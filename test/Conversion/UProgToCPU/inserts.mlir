// RUN: batch-opt %s --convert-uprog-to-cpu | FileCheck %s

func.func private @first.rows(!llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr, i64, i64, i64, i64, i64, i64)
    attributes {uprog.code = #uprog.code<stages = 1, task_scratch = 0, workers = <
        fixed_scratch = 0, task_scratch = 0, most_scratch = 0,
        row_split = 12, stage_rows = 0, share_tasks = 1>>}

// The kernel inserts a result into the variable's row. In a masked block, whose kernel computes
// rows for all lanes, the result has its own row and is copied to the variable. A result that is
// not inserted into the row of a variable is always copied.
// CHECK-LABEL: func.func private @main.execute.0(
// CHECK:         call @first.rows(
// CHECK:         %[[COUNT:.*]] = llvm.load
// CHECK:         %[[NUMBER:.*]] = llvm.load
// CHECK:         %[[MASKED:.*]] = arith.cmpi ne, %[[NUMBER]], %{{.*}} : i64
// CHECK:         %[[COPIES:.*]] = arith.select %[[MASKED]], %[[COUNT]], %{{.*}} : i64
// CHECK:         scf.for %{{.*}} = %{{.*}} to %[[COPIES]] step
// CHECK:           llvm.store
// CHECK-NOT:     arith.select
// CHECK:         scf.for
batch.kernel @first(%x: tensor<2xf32>, %z: tensor<2xf32>)
    -> (tensor<2xf32> {batch.in_place = 0 : i64}, tensor<2xf32> {batch.in_place = 0 : i64}) attributes {phase = 0 : i64} {
  batch.yield %x, %z : tensor<2xf32>, tensor<2xf32>
}
batch.machine @main.machine() attributes {cached_tops} {
  batch.variable @x : tensor<2xf32> argument(0) result(0)
  batch.variable @z : tensor<2xf32>
  batch.block @first {
    %x = batch.top @x : tensor<2xf32>
    %z = batch.top @z : tensor<2xf32>
    %y:2 = batch.invoke @first(%x, %z) : (tensor<2xf32>, tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>)
    batch.set @x, %y#0 : tensor<2xf32>
    batch.set @z, %y#1 : tensor<2xf32>
    batch.jump @second
  }
  batch.block @second {
    batch.return
  }
}
uprog.program @main.execute(%lanes: !batch.lanes) level(block) attributes {batch.executor} {
  batch.start_lanes %lanes @main.machine
  uprog.while {
    %two = arith.constant 2 : index
    %keys:2, %least:2 = uprog.reduce min %i < %two {
      %preference, %since = batch.block_keys %lanes[%i]
      uprog.yield %preference, %since : i64, i64
    }
    %block, %any = batch.next_block %lanes of %least#0, %least#1 since %keys#1
    uprog.condition(%any) %block : index
  } do {
  ^bb0(%block: index):
    %all, %list = batch.lane_list %lanes : memref<?xi32>
    %count = uprog.compact %lane < %all into %list : memref<?xi32> {
      %runs = batch.enter_block %lanes[%lane], %block
      uprog.condition(%runs)
    }
    %step = uprog.take_lanes %lanes[%block] tasks(%count)
    uprog.branch %block
    case 0 {
      %n = uprog.step_tasks %step
      uprog.run @first.rows step(%step) tasks(%n)
      batch.lane_ops %lanes @main.machine::@first
    }
    case 1 {
      batch.lane_ops %lanes @main.machine::@second
    }
    uprog.yield
  }
  uprog.yield
}
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> attributes {batch.entry} {
  return %x : tensor<2xf32>
}
