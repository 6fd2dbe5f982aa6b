// RUN: batch-opt %s --convert-batch-to-llvm | FileCheck %s
// RUN: sed 's/ table(@h)//' %s | not batch-opt --convert-batch-to-llvm 2>&1 \
// RUN:   | FileCheck %s --check-prefix=NONE

// NONE: waits for a row without a table; run batch-assign-slots before convert-batch-to-llvm

batch.table @other : tensor<4xf32> group(1)
batch.table @h : tensor<4xf32> group(0)
func.func private @cell.rows(!llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr, i64, i64, i64, i64, i64, i64)
    attributes {uprog.code = #uprog.code<stages = 1, task_scratch = 0, workers = <
        fixed_scratch = 0, task_scratch = 0, most_scratch = 0,
        row_split = 1, stage_rows = 0, share_tasks = 1>>}
batch.kernel @cell(%x: tensor<4xf32>) -> (tensor<4xf32> {batch.in_table = @h}) {
  batch.yield %x : tensor<4xf32>
}

// The runtime returns the address of the row in table 1. The index of the element
// is checked.
// CHECK-LABEL: func.func private @main.inspect
// CHECK:         arith.ori
// CHECK:         %[[H:.*]] = arith.ori
// CHECK:         %[[TABLE:.*]] = arith.constant 1 : i64
// CHECK:         %[[ROW:.*]] = llvm.call %{{.*}}(%{{.*}}, %[[H]], %[[TABLE]]) : !llvm.ptr, (!llvm.ptr, i64, i64) -> i64
// CHECK:         arith.cmpi uge
// CHECK:         %[[AT:.*]] = arith.addi %[[ROW]], %{{.*}} : i64
// CHECK:         %[[POINTER:.*]] = llvm.inttoptr %[[AT]] : i64 to !llvm.ptr
// CHECK:         llvm.load %[[POINTER]] : !llvm.ptr -> f32

// A task that has run counts as depth 0, unless a ghost has raised the depth in its handle.
// CHECK:         %[[Y:.*]] = scf.if
// CHECK:         %[[DEPTH:.*]] = arith.andi %{{.*}}, %{{.*}} : i64
// CHECK:         %[[TASK:.*]] = arith.andi %[[H]], %{{.*}} : i64
// CHECK:         %[[BEFORE:.*]] = arith.cmpi ult, %[[TASK]], %{{.*}} : i64
// CHECK:         %[[BIT:.*]] = arith.constant 36028797018963968 : i64
// CHECK:         %[[RAISED:.*]] = arith.andi %[[H]], %[[BIT]] : i64
// CHECK:         %[[NOT:.*]] = arith.cmpi eq, %[[RAISED]], %{{.*}} : i64
// CHECK:         %[[DROPPED:.*]] = arith.andi %[[BEFORE]], %[[NOT]] : i1
// CHECK:         arith.select %[[DROPPED]], %{{.*}}, %[[DEPTH]] : i64

// A ghost returns a handle of its operand's row, with a higher depth. A bit of the handle marks this depth.
// CHECK:         %[[OWN:.*]] = arith.select
// CHECK:         %[[ABOVE:.*]] = arith.addi
// CHECK:         %[[MOST:.*]] = arith.maxsi %[[OWN]], %[[ABOVE]] : i64
// CHECK:         %[[FIELD:.*]] = arith.shli %[[MOST]], %{{.*}} : i64
// CHECK:         %[[CLEAR:.*]] = arith.constant -72057589742960641 : i64
// CHECK:         %[[ROW:.*]] = arith.andi %[[Y]], %[[CLEAR]] : i64
// CHECK:         %[[HIGH:.*]] = arith.ori %[[ROW]], %[[FIELD]] : i64
// CHECK:         %[[BIT1:.*]] = arith.constant 36028797018963968 : i64
// CHECK:         %[[G:.*]] = arith.ori %[[HIGH]], %[[BIT1]] : i64
// CHECK:         return %[[G]] : i64
func.func @main.inspect(%x: !batch.handle, %i: index) -> !batch.handle
    attributes {batch.inspector} {
  %zero = arith.constant 0 : index
  %h = batch.record @cell(%x) depth(%zero) : (!batch.handle) -> !batch.handle
  %e = batch.await %h[%i] number(0) table(@h) : tensor<4xf32>
  %bound = arith.constant 0.0 : f32
  %c = arith.cmpf olt, %e, %bound : f32
  %y = scf.if %c -> !batch.handle {
    %d = batch.depth(%h) : !batch.handle
    %g = batch.record @cell(%h) depth(%d) : (!batch.handle) -> !batch.handle
    scf.yield %g : !batch.handle
  } else {
    scf.yield %h : !batch.handle
  }
  %r = batch.ghost %y depth(%i) : !batch.handle
  return %r : !batch.handle
}

// If control flow waits, rounds of loops are counted, because nothing else
// limits them.
// CHECK-LABEL: func.func private @main
// CHECK-SAME:    (%[[CONTEXT:.*]]: !llvm.ptr
// CHECK:         scf.while
// CHECK:         } do {
// Each round checks whether the run has been cancelled.
// CHECK:         %[[WORD:.*]] = llvm.load %{{.*}} atomic monotonic {alignment = 4 : i64} : !llvm.ptr -> i32
// CHECK:         %[[ENDS:.*]] = arith.cmpi ne, %[[WORD]], %{{.*}} : i32
// CHECK-NEXT:    scf.if %[[ENDS]] {
// CHECK:           llvm.call %{{.*}}(%[[CONTEXT]], %{{.*}}, %{{.*}}, %{{.*}})
// CHECK:           llvm.intr.assume
// CHECK:         %[[LEFT:.*]] = llvm.load %[[FIELD:.*]] {{.*}} : !llvm.ptr -> i64
// CHECK:         %[[ENDED:.*]] = arith.cmpi sle, %[[LEFT]], %{{.*}} : i64
// CHECK:         scf.if %[[ENDED]]
// CHECK:         llvm.call
// CHECK:         arith.subi %[[LEFT]], %{{.*}} : i64
// CHECK:         llvm.store
// CHECK:         counted\22:[\22a loop at waits.mlir:
func.func @main(%x: tensor<4xf32> {batch.name = "x"}, %i: index {batch.name = "i"})
    -> (tensor<4xf32> {batch.name = "y"}) attributes {batch.entry} {
  %one = arith.constant 1 : index
  %big = arith.constant 100 : index
  %n = scf.while (%j = %i) : (index) -> index {
    %c = arith.cmpi ult, %j, %big : index
    scf.condition(%c) %j : index
  } do {
  ^bb0(%j: index):
    %next = arith.addi %j, %one : index
    scf.yield %next : index
  }
  return %x : tensor<4xf32>
}
