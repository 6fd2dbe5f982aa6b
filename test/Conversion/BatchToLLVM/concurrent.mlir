// RUN: batch-opt %s --convert-batch-to-llvm | FileCheck %s
// RUN: batch-opt %s --convert-batch-to-llvm | FileCheck %s --check-prefix=CLONES

batch.table @h : tensor<4xf32> group(0)
func.func private @cell.rows(!llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr, i64, i64, i64, i64, i64, i64)
    attributes {uprog.code = #uprog.code<stages = 1, task_scratch = 0, workers = <
        fixed_scratch = 0, task_scratch = 0, most_scratch = 0,
        row_split = 1, stage_rows = 0, share_tasks = 1>>}
batch.kernel @cell(%x: tensor<4xf32>) -> (tensor<4xf32> {batch.in_table = @h}) {
  batch.yield %x : tensor<4xf32>
}

// A frame of the caller contains the values that branches read (two handles and an
// index), then the results (a handle and an f32). Each branch has its own copies of the constants
// that it uses: here, one in the last region, and one in the last region of the inner
// batch.concurrent.
// CLONES-COUNT-3: arith.constant 3 : index
// CLONES-NOT:     arith.constant 3 : index
// CHECK-LABEL: func.func private @main.inspect
// CHECK-SAME:    (%[[CONTEXT:.*]]: !llvm.ptr, %[[X:.*]]: i64, %[[I:.*]]: index, %{{.*}}: i64)
// CHECK:         llvm.alloca
// CHECK:         %[[CELLS:.*]] = arith.constant 5 : i64
// CHECK:         %[[FRAME:.*]] = llvm.alloca %[[CELLS]] x i64
// CHECK:         %[[AT:.*]] = llvm.getelementptr %[[FRAME]][%{{.*}}]
// CHECK-NEXT:    llvm.store %{{.*}}, %[[AT]]
// CHECK:         %[[CODE:.*]] = llvm.mlir.addressof @main.inspect.branch0
// CHECK:         llvm.call %{{.*}}(%[[CONTEXT]], %[[CODE]], %[[FRAME]], %{{.*}}) : !llvm.ptr, (!llvm.ptr, !llvm.ptr, !llvm.ptr, i64) -> ()
// CHECK:         llvm.load
// CHECK:         arith.bitcast %{{.*}} : i32 to f32
// CHECK:         llvm.mlir.addressof @main.inspect.branch1
// CHECK-NOT:     scf.for
// CHECK:         return

// Each region has a case. The last region contains another batch.concurrent.
// CHECK-LABEL: llvm.func internal @main.inspect.branch0
// CHECK-SAME:    (%[[CONTEXT:.*]]: !llvm.ptr, %[[FRAME:.*]]: !llvm.ptr, %[[NUMBER:.*]]: i64)
// CHECK:         %[[CASE:.*]] = arith.index_cast %[[NUMBER]] : i64 to index
// CHECK:         scf.index_switch %[[CASE]]
// CHECK-NEXT:    case 0 {
// CHECK:           llvm.store
// CHECK:         default {
// CHECK:           llvm.mlir.addressof @main.inspect.branch0.branch2
// CHECK:         llvm.return

// A round of the map becomes a function that stores the round's result in the list.
// CHECK-LABEL: llvm.func internal @main.inspect.branch1
// CHECK-SAME:    (%{{.*}}: !llvm.ptr, %{{.*}}: !llvm.ptr, %[[NUMBER:.*]]: i64)
// CHECK:         arith.addi %{{.*}}, %[[NUMBER]] : i64
// CHECK:         llvm.return
// CHECK-LABEL: llvm.func internal @main.inspect.branch0.branch2
func.func @main.inspect(%x: !batch.handle, %i: index, %l: !rec.list<!batch.handle>)
    -> (!batch.handle, f32, !rec.list<f32>) attributes {batch.inspector} {
  %zero = arith.constant 0 : index
  %three = arith.constant 3 : index
  %h = batch.record @cell(%x) depth(%zero) : (!batch.handle) -> !batch.handle
  %y, %f = batch.concurrent : !batch.handle, f32 {
    %e = batch.await %h[%i] number(0) table(@h) : tensor<4xf32>
    batch.yield %x : !batch.handle
  }, {
    %e:2 = batch.concurrent : f32, f32 {
      %a = batch.await %h[%i] number(0) table(@h) : tensor<4xf32>
      batch.yield %a : f32
    }, {
      %b = batch.await %h[%three] number(0) table(@h) : tensor<4xf32>
      batch.yield %b : f32
    }
    %s = arith.addf %e#0, %e#1 : f32
    batch.yield %s : f32
  }
  %m = rec.map %r in %l : !rec.list<!batch.handle> -> !rec.list<f32>
      attributes {batch.concurrent_rounds} {
    %e = batch.await %r[%i] number(1) table(@h) : tensor<4xf32>
    rec.yield %e : f32
  }
  return %y, %f, %m : !batch.handle, f32, !rec.list<f32>
}
func.func @main(%x: tensor<4xf32> {batch.name = "x"}, %i: index {batch.name = "i"},
                %l: tensor<?x4xf32> {batch.name = "rows"})
    -> (tensor<4xf32> {batch.name = "y"}, f32 {batch.name = "f"},
        !rec.list<f32> {batch.name = "l"}) attributes {batch.entry} {
  %f = arith.constant 0.0 : f32
  %m = rec.map %r in %l : tensor<?x4xf32> -> !rec.list<f32> {
    rec.yield %f : f32
  }
  return %x, %f, %m : tensor<4xf32>, f32, !rec.list<f32>
}
