// RUN: batch-opt %s --convert-batch-to-llvm | FileCheck %s
// RUN: sed '/  batch.keep/d' %s | not batch-opt --convert-batch-to-llvm 2>&1 \
// RUN:   | FileCheck %s --check-prefix=MISSING

// MISSING: requires a batch.keep that lists the rows of transient tables that are needed after the wait; run batch-keep-rows before convert-batch-to-llvm

batch.table @h : tensor<4xf32> group(0) transient
func.func private @cell.rows(!llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr, i64, i64, i64, i64, i64, i64)
    attributes {uprog.code = #uprog.code<stages = 1, task_scratch = 0, workers = <
        fixed_scratch = 0, task_scratch = 0, most_scratch = 0,
        row_split = 1, stage_rows = 0, share_tasks = 1>>}
batch.kernel @cell(%x: tensor<4xf32>) -> (tensor<4xf32> {batch.in_table = @h}) {
  batch.yield %x : tensor<4xf32>
}

// A frame for two rows, the most that are kept at a time, is linked when the
// function begins, and unlinked when it ends. Each batch.keep refills the frame.
// CHECK-LABEL: func.func private @main.inspect
// CHECK:         %[[CELLS:.*]] = arith.constant 4 : i64
// CHECK:         %[[FRAME:.*]] = llvm.alloca %[[CELLS]] x i64
// CHECK:         %[[OUTER:.*]] = llvm.load %{{.*}} : !llvm.ptr -> !llvm.ptr
// CHECK:         llvm.ptrtoint %[[OUTER]]
// CHECK:         llvm.store %{{.*}}, %{{.*}} {{.*}} : !llvm.ptr, !llvm.ptr
// CHECK:         %[[AT:.*]] = llvm.getelementptr %[[FRAME]]
// CHECK-NEXT:    llvm.store %[[H:.*]], %[[AT]]
// CHECK:         %[[TWO:.*]] = arith.constant 2 : i64
// CHECK:         llvm.store %[[TWO]], %{{.*}} {{.*}} : i64, !llvm.ptr
// CHECK:         llvm.call

// The results of branches have their own frame, which is empty at first.
// CHECK:         %[[CODE:.*]] = llvm.mlir.addressof @main.inspect.branch0
// CHECK:         %[[NONE:.*]] = arith.constant -1 : i64
// CHECK:         llvm.store %[[NONE]]
// CHECK:         llvm.call %{{.*}}(%{{.*}}, %[[CODE]],
// CHECK:         llvm.store %{{.*}}, %{{.*}} {{.*}} : !llvm.ptr, !llvm.ptr
// CHECK:         llvm.store %[[OUTER]], %{{.*}} {{.*}} : !llvm.ptr, !llvm.ptr
// CHECK:         return

// A branch has a frame, too.
// CHECK-LABEL: llvm.func internal @main.inspect.branch0
// CHECK:         llvm.alloca
// CHECK:         llvm.store %{{.*}}, %{{.*}} {{.*}} : !llvm.ptr, !llvm.ptr
// CHECK:         llvm.return
// CHECK-NOT:   batch.keep
func.func @main.inspect(%x: !batch.handle, %i: index) -> !batch.handle
    attributes {batch.inspector} {
  %zero = arith.constant 0 : index
  %h = batch.record @cell(%x) depth(%zero) : (!batch.handle) -> !batch.handle
  batch.keep(%h, %x : !batch.handle, !batch.handle)
  %e = batch.await %h[%i] number(0) table(@h) : tensor<4xf32>
  batch.keep(%h : !batch.handle)
  %y, %f = batch.concurrent : !batch.handle, f32 {
    %own = batch.record @cell(%h) depth(%zero) : (!batch.handle) -> !batch.handle
    batch.keep(%own : !batch.handle)
    %a = batch.await %h[%zero] number(1) table(@h) : tensor<4xf32>
    batch.yield %own : !batch.handle
  }, {
    batch.keep()
    %b = batch.await %h[%zero] number(2) table(@h) : tensor<4xf32>
    batch.yield %b : f32
  }
  return %y : !batch.handle
}
func.func @main(%x: tensor<4xf32> {batch.name = "x"}, %i: index {batch.name = "i"})
    -> (tensor<4xf32> {batch.name = "y"}) attributes {batch.entry} {
  return %x : tensor<4xf32>
}
