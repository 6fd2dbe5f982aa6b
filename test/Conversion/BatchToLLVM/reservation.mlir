// RUN: batch-opt %s --convert-batch-to-llvm | FileCheck %s

// Before its loop over nodes, a traversal reserves space for everything that its function
// adds directly, so that these additions do not move memory. Additions in inner loops, and
// in called functions, reserve their space themselves.

rec.adt @Tree {
  rec.variant @leaf(word: index)
  rec.variant @node(kids: !rec.list<!rec.adt<@Tree>>)
}
rec.adt @Result {
  rec.variant @result(word: index)
}
batch.table @h : tensor<4xf32> group(0)
func.func private @once.rows(!llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr, i64, i64, i64, i64, i64, i64)
    attributes {uprog.code = #uprog.code<stages = 1, task_scratch = 0, workers = <
        fixed_scratch = 0, task_scratch = 0, most_scratch = 0,
        row_split = 1, stage_rows = 0, share_tasks = 1>>}
func.func private @a.rows(!llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr, i64, i64, i64, i64, i64, i64)
    attributes {uprog.code = #uprog.code<stages = 1, task_scratch = 0, workers = <
        fixed_scratch = 0, task_scratch = 0, most_scratch = 0,
        row_split = 1, stage_rows = 0, share_tasks = 1>>}
func.func private @b.rows(!llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr, i64, i64, i64, i64, i64, i64)
    attributes {uprog.code = #uprog.code<stages = 1, task_scratch = 0, workers = <
        fixed_scratch = 0, task_scratch = 0, most_scratch = 0,
        row_split = 1, stage_rows = 0, share_tasks = 1>>}
batch.kernel @once() -> (tensor<4xf32> {batch.in_table = @h}) {
  %x = arith.constant dense<0.0> : tensor<4xf32>
  batch.yield %x : tensor<4xf32>
}
batch.kernel @a(%n: index) -> (tensor<4xf32> {batch.in_table = @h}) {
  %x = arith.constant dense<0.0> : tensor<4xf32>
  batch.yield %x : tensor<4xf32>
}
batch.kernel @b(%n: index) -> (tensor<4xf32> {batch.in_table = @h}) {
  %x = arith.constant dense<1.0> : tensor<4xf32>
  batch.yield %x : tensor<4xf32>
}

func.func @main(%t: !rec.adt<@Tree>) -> index attributes {batch.entry} {
  %n = call @visit(%t) : (!rec.adt<@Tree>) -> index
  return %n : index
}
func.func private @visit(%t: !rec.adt<@Tree>) -> index {
  %n = call @helper(%t) : (!rec.adt<@Tree>) -> index
  return %n : index
}
func.func private @other(%t: !rec.adt<@Tree>) -> index {
  %n = arith.constant 1 : index
  return %n : index
}
func.func @main.inspect(%t: !rec.adt<@Tree>) -> index attributes {batch.inspector} {
  %n = batch.lookup @visit.inspect(%t) : (!rec.adt<@Tree>) -> index
  return %n : index
}

// One case has two records of @a, and the other case has one: at most two, of 16 bytes
// each. The records of @b are in a loop, and @once has only one record.
// CHECK-LABEL: func.func private @visit.inspect
// CHECK-COUNT-2: llvm.call {{.*}} : !llvm.ptr, (!llvm.ptr, i64, i64) -> ()
// CHECK-NOT:   llvm.call
// CHECK:         return
func.func private @visit.inspect(%t: !rec.adt<@Tree>) -> index {
  %n = rec.match %t : !rec.adt<@Tree> -> index {
  case @leaf(%word: index) {
    %d = batch.depth()
    %x = batch.record @a(%word) depth(%d) : (index) -> !batch.handle
    %o = batch.record @once() depth(%d) : () -> !batch.handle
    rec.yield %word : index
  }
  case @node(%kids: !rec.list<!rec.adt<@Tree>>) {
    %zero = arith.constant 0 : index
    %d = batch.depth()
    %r = rec.construct @Result::@result(%zero) : (index) -> !rec.adt<@Result>
    %x = batch.record @a(%zero) depth(%d) : (index) -> !batch.handle
    %y = batch.record @a(%zero) depth(%d) : (index) -> !batch.handle
    rec.map %kid in %kids : !rec.list<!rec.adt<@Tree>> {
      %z = batch.record @b(%zero) depth(%d) : (index) -> !batch.handle
      rec.yield
    }
    rec.yield %zero : index
  }
  }
  return %n : index
}

// CHECK-LABEL: func.func private @other.inspect
// CHECK:         llvm.call {{.*}} : !llvm.ptr, (!llvm.ptr, i64, i64) -> ()
func.func private @other.inspect(%t: !rec.adt<@Tree>) -> index {
  %zero = arith.constant 0 : index
  %d = batch.depth()
  %x = batch.record @a(%zero) depth(%d) : (index) -> !batch.handle
  %n = call @helper.inspect(%t) : (!rec.adt<@Tree>) -> index
  return %n : index
}
func.func private @helper(%t: !rec.adt<@Tree>) -> index {
  %n = arith.constant 1 : index
  return %n : index
}
func.func private @helper.inspect(%t: !rec.adt<@Tree>) -> index {
  %n = arith.constant 1 : index
  return %n : index
}

// CHECK-LABEL: func.func private @main.traverse
// CHECK:         arith.muli %[[NODES:.*]], %[[ONE:.*]] : i64
// CHECK:         scf.if
// CHECK:         %[[BYTES:.*]] = arith.constant 32 : i64
// CHECK:         arith.muli %[[NODES]], %[[BYTES]] : i64
// CHECK:         scf.if
// CHECK-NOT:     scf.if
// CHECK:         scf.for
// CHECK:           func.call @visit.inspect
// CHECK:         scf.for
// CHECK:           func.call @other.inspect
func.func @main.traverse() attributes {batch.traversal} {
  batch.traverse [@visit.inspect]
  batch.traverse [@other.inspect]
  return
}
