// RUN: batch-opt %s --batch-fork-calls | FileCheck %s
// RUN: batch-opt %s --batch-fork-calls | batch-opt --batch-fork-calls | FileCheck %s
// RUN: batch-opt %s --batch-fork-calls -o /dev/null \
// RUN:   --remark-format=emitRemark --remarks-filter=batch 2>&1 \
// RUN:   | FileCheck %s --check-prefix=REMARK

// REMARK-DAG: 2 calls do not depend on each other and wait concurrently
// REMARK-DAG: rounds do not depend on each other and wait concurrently

batch.table @t : tensor<1xf32> group(0)

batch.kernel @cell(%x: tensor<1xf32>) -> tensor<1xf32> {
  batch.yield %x : tensor<1xf32>
}

// @grow waits for its own row, so calls to @grow may be branches.
func.func private @grow(%h: !batch.handle, %i: index) -> f32 {
  %t = batch.record @cell(%h) depth(%i) : (!batch.handle) -> !batch.handle
  %e = batch.await %t[%i] number(0) table(@t) : tensor<1xf32>
  return %e : f32
}
func.func private @plain(%e: f32) -> f32 {
  return %e : f32
}

// Two calls run concurrently, together with ops that depend on only one of
// them. Ops that need neither call come first.
// CHECK-LABEL: func.func @two
// CHECK:         %[[N:.*]] = arith.constant 2.0
// CHECK-NEXT:    %[[R:.*]]:2 = batch.concurrent : f32, f32 {
// CHECK-NEXT:      %[[A:.*]] = func.call @grow(%arg0
// CHECK-NEXT:      %[[D:.*]] = arith.addf %[[A]], %[[A]]
// CHECK-NEXT:      batch.yield %[[D]]
// CHECK-NEXT:    }, {
// CHECK-NEXT:      %[[B:.*]] = func.call @grow(%arg1
// CHECK-NEXT:      batch.yield %[[B]]
// CHECK-NEXT:    }
// CHECK-NEXT:    %[[S:.*]] = arith.addf %[[R]]#0, %[[R]]#1
// CHECK-NEXT:    arith.mulf %[[S]], %[[N]]
func.func @two(%x: !batch.handle, %y: !batch.handle, %i: index) -> f32 {
  %a = func.call @grow(%x, %i) : (!batch.handle, index) -> f32
  %d = arith.addf %a, %a : f32
  %n = arith.constant 2.0 : f32
  %b = func.call @grow(%y, %i) : (!batch.handle, index) -> f32
  %s = arith.addf %d, %b : f32
  %r = arith.mulf %s, %n : f32
  return %r : f32
}

// A conditional waits if one of its branches waits. This conditional needs the result of the first
// call, so it follows that call in the same region.
// CHECK-LABEL: func.func @chains
// CHECK:         batch.concurrent : f32, f32 {
// CHECK-NEXT:      %[[A:.*]] = func.call @grow(%arg0
// CHECK-NEXT:      %[[C:.*]] = arith.cmpf ogt, %[[A]]
// CHECK-NEXT:      %[[B:.*]] = scf.if %[[C]]
// CHECK:           batch.yield %[[B]]
// CHECK-NEXT:    }, {
// CHECK-NEXT:      func.call @grow
// CHECK-NEXT:      batch.yield
func.func @chains(%x: !batch.handle, %y: !batch.handle, %i: index, %f: f32) -> f32 {
  %a = func.call @grow(%x, %i) : (!batch.handle, index) -> f32
  %c = arith.cmpf ogt, %a, %f : f32
  %b = scf.if %c -> f32 {
    %e = func.call @grow(%x, %i) : (!batch.handle, index) -> f32
    scf.yield %e : f32
  } else {
    scf.yield %f : f32
  }
  %d = func.call @grow(%y, %i) : (!batch.handle, index) -> f32
  %s = arith.addf %b, %d : f32
  return %s : f32
}

// Ops needed by two branches come before both, and ops that need both branches
// come after them.
// CHECK-LABEL: func.func @diamond
// CHECK:         %[[A:.*]] = call @grow
// CHECK:         arith.index_cast
// CHECK-NEXT:    %[[R:.*]]:2 = batch.concurrent : index, index {
// CHECK:         %[[S:.*]] = arith.addi %[[R]]#0, %[[R]]#1
// CHECK-NEXT:    call @step(%arg0, %[[S]])
func.func @diamond(%x: !batch.handle, %i: index) -> index {
  %a = func.call @grow(%x, %i) : (!batch.handle, index) -> f32
  %b = arith.fptoui %a : f32 to i64
  %j = arith.index_cast %b : i64 to index
  %l = func.call @step(%x, %j) : (!batch.handle, index) -> index
  %r = func.call @step(%x, %j) : (!batch.handle, index) -> index
  %s = arith.addi %l, %r : index
  %y = func.call @step(%x, %s) : (!batch.handle, index) -> index
  return %y : index
}
func.func private @step(%h: !batch.handle, %i: index) -> index {
  %t = batch.record @cell(%h) depth(%i) : (!batch.handle) -> !batch.handle
  %e = batch.await %t[%i] number(1) table(@t) : tensor<1xf32>
  %b = arith.fptoui %e : f32 to i64
  %j = arith.index_cast %b : i64 to index
  return %j : index
}

// The dependences are neither series nor parallel: c needs a, and d needs both a
// and b.
// CHECK-LABEL: func.func @crossed
// CHECK:         %[[R:.*]]:2 = batch.concurrent : index, index {
// CHECK:         %[[S:.*]] = arith.addi %[[R]]#0, %[[R]]#1
// CHECK:         batch.concurrent : index, index {
// CHECK-NEXT:      call @step(%arg0, %[[R]]#0)
// CHECK:         }, {
// CHECK-NEXT:      call @step(%arg0, %[[S]])
func.func @crossed(%x: !batch.handle, %i: index) -> (index, index) {
  %a = func.call @step(%x, %i) : (!batch.handle, index) -> index
  %b = func.call @step(%x, %i) : (!batch.handle, index) -> index
  %c = func.call @step(%x, %a) : (!batch.handle, index) -> index
  %s = arith.addi %a, %b : index
  %d = func.call @step(%x, %s) : (!batch.handle, index) -> index
  return %c, %d : index, index
}

// Only the first of two reads of a row waits, so the first read comes before both branches.
// CHECK-LABEL: func.func @reads
// CHECK:         %[[A:.*]] = batch.await %arg0[%arg1]
// CHECK-NEXT:    batch.concurrent : f32, f32 {
// CHECK-NEXT:      scf.if
// CHECK:         }, {
// CHECK-NEXT:      batch.await %arg0[%arg2]
// CHECK-NEXT:      arith.cmpf
// CHECK-NEXT:      scf.if
func.func @reads(%x: !batch.handle, %i: index, %j: index, %f: f32, %c: i1) -> (f32, f32) {
  %a = batch.await %x[%i] number(2) table(@t) : tensor<1xf32>
  %b = batch.await %x[%j] number(3) table(@t) : tensor<1xf32>
  %l = scf.if %c -> f32 {
    %e = func.call @grow(%x, %i) : (!batch.handle, index) -> f32
    %s = arith.addf %e, %a : f32
    scf.yield %s : f32
  } else {
    scf.yield %a : f32
  }
  %d = arith.cmpf ogt, %b, %f : f32
  %r = scf.if %d -> f32 {
    %e = func.call @grow(%x, %j) : (!batch.handle, index) -> f32
    scf.yield %e : f32
  } else {
    scf.yield %f : f32
  }
  return %l, %r : f32, f32
}

// A read is not a branch, because the tasks for which it waits run while the calls wait.
// Calls that do not wait, or that depend on each other, are not branches either.
// CHECK-LABEL: func.func @none
// CHECK-NOT:     batch.concurrent
func.func @none(%x: !batch.handle, %y: !batch.handle, %i: index) -> (f32, f32, index) {
  %a = func.call @grow(%x, %i) : (!batch.handle, index) -> f32
  %b = batch.await %y[%i] number(2) table(@t) : tensor<1xf32>
  %p = func.call @plain(%b) : (f32) -> f32
  %q = func.call @plain(%p) : (f32) -> f32
  %j = arith.fptoui %a : f32 to i64
  %k = arith.index_cast %j : i64 to index
  %c = func.call @step(%x, %k) : (!batch.handle, index) -> index
  return %p, %q, %c : f32, f32, index
}

// If rounds of a map wait, they wait concurrently. Rounds of a fold depend on each
// other.
// CHECK-LABEL: func.func @loops
// CHECK:         rec.map
// CHECK-NOT:     batch.concurrent_rounds
// CHECK:         batch.concurrent :
// CHECK:         rec.map
// CHECK-SAME:      attributes {batch.concurrent_rounds}
// CHECK:         rec.fold
// CHECK-NOT:     batch.concurrent_rounds
func.func @loops(%l: !rec.list<!batch.handle>, %i: index, %f: f32)
    -> (!rec.list<f32>, !rec.list<index>, f32) {
  %m = rec.map %h in %l : !rec.list<!batch.handle> -> !rec.list<f32> {
    %e = func.call @grow(%h, %i) : (!batch.handle, index) -> f32
    rec.yield %e : f32
  }
  %n = rec.map %h in %l : !rec.list<!batch.handle> -> !rec.list<index> {
    rec.yield %i : index
  }
  %s = rec.fold %h in %l init(%a = %f) : !rec.list<!batch.handle> -> f32 {
    %e = func.call @grow(%h, %i) : (!batch.handle, index) -> f32
    %b = arith.addf %a, %e : f32
    rec.yield %b : f32
  }
  return %m, %n, %s : !rec.list<f32>, !rec.list<index>, f32
}

// Forking a branch saves no flush if the branch waits only for earlier tasks: one flush runs
// these tasks. The same holds for calls, and for rounds over elements of a list.
// CHECK-LABEL: func.func @known
// CHECK-NOT:     batch.concurrent
func.func @known(%x: !batch.handle, %y: !batch.handle, %l: !rec.list<!batch.handle>,
                 %i: index, %c: i1, %f: f32) -> (f32, f32, !rec.list<f32>) {
  %a = scf.if %c -> f32 {
    %e = batch.await %x[%i] number(2) table(@t) : tensor<1xf32>
    scf.yield %e : f32
  } else {
    scf.yield %f : f32
  }
  %b = func.call @read(%y, %i) : (!batch.handle, index) -> f32
  %m = rec.map %h in %l : !rec.list<!batch.handle> -> !rec.list<f32> {
    %e = func.call @reads_both(%x, %h, %i) : (!batch.handle, !batch.handle, index) -> f32
    rec.yield %e : f32
  }
  return %a, %b, %m : f32, f32, !rec.list<f32>
}
func.func private @read(%h: !batch.handle, %i: index) -> f32 {
  %e = batch.await %h[%i] number(3) table(@t) : tensor<1xf32>
  return %e : f32
}
func.func private @reads_both(%x: !batch.handle, %y: !batch.handle, %i: index) -> f32 {
  %a = func.call @read(%x, %i) : (!batch.handle, index) -> f32
  %b = func.call @read(%y, %i) : (!batch.handle, index) -> f32
  %s = arith.addf %a, %b : f32
  return %s : f32
}

// If a round records a row and calls a function that reads the row, the round waits for the row.
// CHECK-LABEL: func.func @own
// CHECK:         rec.map
// CHECK-SAME:      attributes {batch.concurrent_rounds}
func.func @own(%l: !rec.list<!batch.handle>, %i: index) -> !rec.list<f32> {
  %m = rec.map %h in %l : !rec.list<!batch.handle> -> !rec.list<f32> {
    %t = batch.record @cell(%h) depth(%i) : (!batch.handle) -> !batch.handle
    %e = func.call @read(%t, %i) : (!batch.handle, index) -> f32
    rec.yield %e : f32
  }
  return %m : !rec.list<f32>
}

// Reads and conditions needed by branches come before all branches.
// CHECK-LABEL: func.func @conditions
// CHECK:         batch.await %arg0
// CHECK-NEXT:    arith.cmpf
// CHECK-NEXT:    batch.await %arg1
// CHECK-NEXT:    arith.cmpf
// CHECK-NEXT:    batch.concurrent : f32, f32 {
// CHECK-NEXT:      scf.if
// CHECK:         }, {
// CHECK-NEXT:      scf.if
func.func @conditions(%x: !batch.handle, %y: !batch.handle, %i: index, %f: f32) -> (f32, f32) {
  %a = batch.await %x[%i] number(2) table(@t) : tensor<1xf32>
  %c = arith.cmpf ogt, %a, %f : f32
  %l = scf.if %c -> f32 {
    %e = func.call @grow(%x, %i) : (!batch.handle, index) -> f32
    scf.yield %e : f32
  } else {
    scf.yield %f : f32
  }
  %b = batch.await %y[%i] number(3) table(@t) : tensor<1xf32>
  %d = arith.cmpf ogt, %b, %f : f32
  %r = scf.if %d -> f32 {
    %e = func.call @grow(%y, %i) : (!batch.handle, index) -> f32
    scf.yield %e : f32
  } else {
    scf.yield %f : f32
  }
  return %l, %r : f32, f32
}

// Reads that depend on other reads stay in their branches.
// CHECK-LABEL: func.func @chained_reads
// CHECK:         batch.await %arg0
// CHECK-NEXT:    arith.fptoui
// CHECK-NEXT:    arith.index_cast
// CHECK-NEXT:    %[[T:.*]] = batch.record
// CHECK-NEXT:    batch.await %arg1
// CHECK-NEXT:    arith.fptoui
// CHECK-NEXT:    arith.index_cast
// CHECK-NEXT:    %[[U:.*]] = batch.record
// CHECK-NEXT:    batch.concurrent : f32, f32 {
// CHECK-NEXT:      batch.await %[[T]]
// CHECK:         }, {
// CHECK-NEXT:      batch.await %[[U]]
func.func @chained_reads(%x: !batch.handle, %y: !batch.handle, %i: index) -> (f32, f32) {
  %a = batch.await %x[%i] number(2) table(@t) : tensor<1xf32>
  %a1 = arith.fptoui %a : f32 to i64
  %a2 = arith.index_cast %a1 : i64 to index
  %t = batch.record @cell(%x) depth(%a2) : (!batch.handle) -> !batch.handle
  %c = batch.await %t[%a2] number(4) table(@t) : tensor<1xf32>
  %c1 = arith.fptoui %c : f32 to i64
  %c2 = arith.index_cast %c1 : i64 to index
  %l = func.call @grow(%x, %c2) : (!batch.handle, index) -> f32
  %b = batch.await %y[%i] number(3) table(@t) : tensor<1xf32>
  %b1 = arith.fptoui %b : f32 to i64
  %b2 = arith.index_cast %b1 : i64 to index
  %u = batch.record @cell(%y) depth(%b2) : (!batch.handle) -> !batch.handle
  %d = batch.await %u[%b2] number(5) table(@t) : tensor<1xf32>
  %d1 = arith.fptoui %d : f32 to i64
  %d2 = arith.index_cast %d1 : i64 to index
  %r = func.call @grow(%y, %d2) : (!batch.handle, index) -> f32
  return %l, %r : f32, f32
}

// A branch that records a row between two calls waits for its own row.
// CHECK-LABEL: func.func @between
// CHECK:         batch.concurrent : f32, f32 {
// CHECK-NEXT:      call @read(%arg0
// CHECK:         }, {
// CHECK-NEXT:      call @read(%arg1
func.func @between(%x: !batch.handle, %y: !batch.handle, %i: index) -> (f32, f32) {
  %a = func.call @read(%x, %i) : (!batch.handle, index) -> f32
  %b = func.call @read(%y, %i) : (!batch.handle, index) -> f32
  %a1 = arith.fptoui %a : f32 to i64
  %a2 = arith.index_cast %a1 : i64 to index
  %b1 = arith.fptoui %b : f32 to i64
  %b2 = arith.index_cast %b1 : i64 to index
  %t = batch.record @cell(%x) depth(%a2) : (!batch.handle) -> !batch.handle
  %u = batch.record @cell(%y) depth(%b2) : (!batch.handle) -> !batch.handle
  %c = func.call @read(%t, %i) : (!batch.handle, index) -> f32
  %d = func.call @read(%u, %i) : (!batch.handle, index) -> f32
  return %c, %d : f32, f32
}

// Rounds run concurrently if each records a row before it waits: the first flush computes
// all of these rows.
// CHECK-LABEL: func.func @records_before
// CHECK:         rec.map
// CHECK-SAME:      attributes {batch.concurrent_rounds}
func.func @records_before(%l: !rec.list<!batch.handle>, %i: index)
    -> (!rec.list<!batch.handle>, !rec.list<f32>) {
  %m:2 = rec.map %h in %l : !rec.list<!batch.handle> -> !rec.list<!batch.handle>, !rec.list<f32> {
    %t = batch.record @cell(%h) depth(%i) : (!batch.handle) -> !batch.handle
    %e = func.call @read(%h, %i) : (!batch.handle, index) -> f32
    rec.yield %t, %e : !batch.handle, f32
  }
  return %m#0, %m#1 : !rec.list<!batch.handle>, !rec.list<f32>
}
