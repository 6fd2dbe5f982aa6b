// RUN: batch-opt %s --convert-batch-to-llvm | FileCheck %s

rec.adt @Tree {
  rec.variant @leaf(word: index)
  rec.variant @node(kids: !rec.list<!rec.adt<@Tree>>)
}
batch.table @h : tensor<4xf32> group(0)
batch.source @E : tensor<4xf32> parameter(0)
func.func private @once.rows(!llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr, i64, i64, i64, i64, i64, i64)
    attributes {uprog.code = #uprog.code<stages = 1, task_scratch = 0, workers = <
        fixed_scratch = 0, task_scratch = 0, most_scratch = 0,
        row_split = 1, stage_rows = 0, share_tasks = 1>>}
func.func private @cell.rows(!llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr, i64, i64, i64, i64, i64, i64)
    attributes {uprog.code = #uprog.code<stages = 1, task_scratch = 64, workers = <
        fixed_scratch = 64, task_scratch = 16, most_scratch = 128,
        row_split = 1, stage_rows = 0, share_tasks = 1>>}
func.func private @padded.rows(!llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr, i64, i64, i64, i64, i64, i64)
    attributes {uprog.code = #uprog.code<stages = 1, task_scratch = 0, workers = <
        fixed_scratch = 0, task_scratch = 0, most_scratch = 0,
        row_split = 1, stage_rows = 0, share_tasks = 1>>}
func.func private @either.rows(!llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr, i64, i64, i64, i64, i64, i64)
    attributes {uprog.code = #uprog.code<stages = 1, task_scratch = 0, workers = <
        fixed_scratch = 0, task_scratch = 0, most_scratch = 0,
        row_split = 1, stage_rows = 0, share_tasks = 1>>}
batch.kernel @once() -> (tensor<4xf32> {batch.in_table = @h}) {
  %zero = arith.constant dense<0.0> : tensor<4xf32>
  batch.yield %zero : tensor<4xf32>
}
batch.kernel @cell(%x: tensor<4xf32>, %n: index)
    -> (tensor<4xf32> {batch.in_table = @h}, tensor<4xf32> {batch.in_table = @h}) {
  batch.yield %x, %x : tensor<4xf32>, tensor<4xf32>
}

batch.kernel @padded(%x: tensor<4xf32>, %y: tensor<4xf32>)
    -> (tensor<4xf32> {batch.in_table = @h}) {
  %z = arith.addf %x, %y : tensor<4xf32>
  batch.yield %z : tensor<4xf32>
}
batch.kernel @either(%x: tensor<4xf32>) -> (tensor<4xf32> {batch.in_table = @h}) {
  batch.yield %x : tensor<4xf32>
}

func.func private @visit(%t: !rec.adt<@Tree>) -> index {
  %n = arith.constant 1 : index
  return %n : index
}

// A task that reads only rows at constant indices is recorded once per run if all records
// of its kernel have the same indices. A task without operands is also recorded once.
// CHECK-LABEL: func.func private @visit.inspect
// CHECK-COUNT-2: arith.cmpi uge
// CHECK:         arith.ori
// CHECK:         %[[KNOWN:.*]] = llvm.load %{{.*}} : !llvm.ptr -> i64
// CHECK-NEXT:    %[[ZERO:.*]] = arith.constant 0 : i64
// CHECK-NEXT:    %[[NEW:.*]] = arith.cmpi slt, %[[KNOWN]], %[[ZERO]] : i64
// CHECK-NEXT:    scf.if %[[NEW]] -> (i64) {
// CHECK:         return
func.func private @visit.inspect(%t: !rec.adt<@Tree>) -> index {
  %n = arith.constant 1 : index
  %p = batch.row @E[%n]
  %two = arith.constant 2 : index
  %q = batch.row @E[%two]
  %d = batch.depth()
  %z = batch.record @padded(%p, %q) depth(%d) : (!batch.handle, !batch.handle) -> !batch.handle
  %e = batch.record @either(%p) depth(%d) : (!batch.handle) -> !batch.handle
  %f = batch.record @either(%q) depth(%d) : (!batch.handle) -> !batch.handle
  return %n : index
}

// The entry of the instance program remains. Without recursion, it needs no wrapper function.
// CHECK-LABEL: func.func private @main(
func.func @main(%t: !rec.adt<@Tree> {batch.name = "tree"}, %word: index,
                %E: tensor<?x4xf32> {batch.shared = "E"})
    -> (tensor<4xf32> {batch.name = "h"}) attributes {batch.entry} {
  %n = call @visit(%t) : (!rec.adt<@Tree>) -> index
  %x = tensor.extract_slice %E[%word, 0] [1, 4] [1, 1] : tensor<?x4xf32> to tensor<4xf32>
  return %x : tensor<4xf32>
}

// A handle is a cell. The handle of a row contains the row's number and its
// source. A missing row ends the run.
// CHECK-LABEL: func.func private @main.inspect
// CHECK-SAME:    (%[[CTX:.*]]: !llvm.ptr, %[[T:.*]]: i64, %[[WORD:.*]]: index) -> i64
// CHECK:         %[[INDEX:.*]] = arith.index_cast %[[WORD]] : index to i64
// CHECK:         %[[OUTSIDE:.*]] = arith.cmpi uge, %[[INDEX]], %{{.*}} : i64
// CHECK-NEXT:    scf.if %[[OUTSIDE]] {
// CHECK:           llvm.call %{{.*}}(%[[CTX]], %{{.*}}, %[[INDEX]], %{{.*}})
// CHECK:         }
// CHECK:         %[[X:.*]] = arith.ori %[[INDEX]], %{{.*}} : i64

// A task without operands is recorded once per run: its handle is stored.
// CHECK:         %[[KNOWN:.*]] = llvm.load %{{.*}} : !llvm.ptr -> i64
// CHECK:         %[[NEW:.*]] = arith.cmpi slt, %[[KNOWN]], %{{.*}} : i64
// CHECK-NEXT:    %[[ONCE:.*]] = scf.if %[[NEW]] -> (i64) {
// CHECK:         } else {
// CHECK-NEXT:      scf.yield %[[KNOWN]] : i64
// CHECK-NEXT:    }

// batch.depth returns the largest depth of its handles.
// CHECK:         %[[SHIFTED:.*]] = arith.shrui %[[ONCE]], %{{.*}} : i64
// CHECK:         %[[DEPTH:.*]] = arith.andi %[[SHIFTED]], %{{.*}} : i64
// CHECK-NEXT:    arith.maxsi %{{.*}}, %[[DEPTH]] : i64

// A record is appended to the queue of its kernel, which grows when it is full.
// The handle of a second result differs only in its position.
// CHECK:         %[[AVAILABLE:.*]] = arith.subi %{{.*}}, %{{.*}} : i64
// CHECK-NEXT:    %[[FULL:.*]] = arith.cmpi slt, %[[AVAILABLE]], %[[BYTES:.*]] : i64
// CHECK:         scf.if %[[FULL]] {
// CHECK:           llvm.call %{{.*}}(%[[CTX]], %{{.*}}, %[[BYTES]])
// CHECK:         }
// CHECK:         llvm.store %[[X]], %{{.*}} : i64, !llvm.ptr
// CHECK:         %[[H:.*]] = arith.ori %{{.*}}, %{{.*}} : i64
// CHECK:         %[[H1:.*]] = arith.ori %[[H]], %{{.*}} : i64
// A resolved handle has no depth.
// CHECK:         %[[MASK:.*]] = arith.constant -72057589742960641 : i64
// CHECK:         %[[S:.*]] = arith.andi %[[H1]], %[[MASK]] : i64
// CHECK:         return %[[S]] : i64
func.func @main.inspect(%t: !rec.adt<@Tree>, %word: index)
    -> (!batch.handle {batch.in_table = @h}) attributes {batch.inspector} {
  %x = batch.row @E[%word]
  %d0 = batch.depth()
  %z = batch.record @once() depth(%d0) : () -> !batch.handle
  %d = batch.depth(%z) : !batch.handle
  %h:2 = batch.record @cell(%x, %word) depth(%d)
      : (!batch.handle, index) -> (!batch.handle, !batch.handle)
  %two = arith.constant 2 : index
  %one = arith.constant 1 : index
  %p = batch.row @E[%one]
  %q = batch.row @E[%two]
  %again = batch.record @padded(%p, %q) depth(%d0) : (!batch.handle, !batch.handle) -> !batch.handle
  %n = batch.lookup @visit.inspect(%t) : (!rec.adt<@Tree>) -> index
  %s = batch.resolve %h#1 : !batch.handle
  return %s : !batch.handle
}

// A traversal runs a function on those nodes of the instance that have the function's
// ADT, and stores the results. The inspector looks up a result by its node.
// CHECK-LABEL: func.func private @main.traverse
// CHECK-SAME:    (%[[CTX:.*]]: !llvm.ptr, %[[FIRST:.*]]: i64, %[[END:.*]]: i64)
// CHECK:         scf.for %[[NODE:.*]] = %[[FIRST]] to %[[END]] step %{{.*}} {
// CHECK:           %[[OURS:.*]] = arith.cmpi ult, %{{.*}}, %{{.*}} : i64
// CHECK-NEXT:      scf.if %[[OURS]] {
// CHECK-NEXT:        %[[N:.*]] = func.call @visit.inspect(%[[CTX]], %[[NODE]]) : (!llvm.ptr, i64) -> index
// CHECK:             llvm.store %{{.*}}, %{{.*}} : i64, !llvm.ptr
func.func @main.traverse() attributes {batch.traversal} {
  batch.traverse [@visit.inspect]
  return
}

// The object has its entry points and its descriptor. The declarations of
// kernels, tables, sources and ADTs are removed: the descriptor describes them.
// CHECK-NOT:   batch.
// CHECK:       llvm.func internal @batch.inspect(%[[CTX:.*]]: !llvm.ptr, %[[BEGIN:.*]]: i64, %[[END:.*]]: i64) {
// CHECK:         scf.for %{{.*}} = %[[BEGIN]] to %[[END]] step
// CHECK:           func.call @main.traverse(%[[CTX]], %{{.*}}, %{{.*}})
// CHECK:           func.call @main.inspect(%[[CTX]],
// CHECK:       llvm.func internal @batch.unbatched(%[[CTX:.*]]: !llvm.ptr, %{{.*}}: i64) {
// CHECK:         func.call @main(%[[CTX]],
// CHECK:       llvm.mlir.global internal constant @batch.descriptor("{\22abi\22:
// CHECK-SAME:    {\22constant\22:true,\22deferred\22:false,\22name\22:\22once\22
// CHECK-SAME:    {\22constant\22:false,\22deferred\22:false,\22name\22:\22cell\22
// CHECK-SAME:    {\22position\22:1,\22siblings\22:2,\22table\22:0}]
// CHECK-SAME:    \22workerScratch\22:[64,16,128]
// CHECK-SAME:    {\22constant\22:true,\22deferred\22:false,\22lines\22:{\22inspector.mlir\22:[36]},\22name\22:\22padded\22
// CHECK-SAME:    {\22constant\22:false,\22deferred\22:false,\22name\22:\22either\22
// CHECK-SAME:    \22separable\22:true
// CHECK:       llvm.mlir.global external constant @batch_object()
// CHECK:         llvm.mlir.addressof @batch.descriptor
// CHECK:         llvm.mlir.addressof @batch.inspect
// CHECK:         llvm.mlir.zero
// CHECK:         llvm.mlir.addressof @batch.unbatched
// CHECK-NOT:   rec.
