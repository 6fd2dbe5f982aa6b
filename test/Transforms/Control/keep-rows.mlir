// RUN: batch-opt %s --batch-keep-rows | FileCheck %s
// RUN: batch-opt %s --batch-keep-rows --split-input-file \
// RUN:   | batch-opt --split-input-file | FileCheck %s

batch.table @score : tensor<f32> group(0) transient
batch.table @h : tensor<256xf32> group(1) transient

batch.kernel @cell(%x: tensor<256xf32>) -> tensor<256xf32> {
  batch.yield %x : tensor<256xf32>
}

// batch.keep lists the rows that are read after the wait, including the row that
// control flow waits for. Rows of sources always exist.
// CHECK-LABEL: func.func @read
// CHECK-SAME:    (%[[S:.*]]: !batch.handle, %[[H:.*]]: !batch.handle, %[[C:.*]]: !batch.handle
// CHECK:         batch.keep(%[[S]], %[[H]] : !batch.handle, !batch.handle)
// CHECK-NEXT:    batch.await
// CHECK:         batch.record @cell(%[[H]])
batch.source @E : tensor<256xf32> parameter(0)
func.func @read(%s: !batch.handle, %h: !batch.handle, %c: !batch.handle, %i: index)
    -> (f32, !batch.handle) {
  %row = batch.row @E[%i]
  %y = batch.record @cell(%c) depth(%i) : (!batch.handle) -> !batch.handle
  %e = batch.await %s[] number(0) table(@score) : tensor<f32>
  %z = batch.record @cell(%h) depth(%i) : (!batch.handle) -> !batch.handle
  %x = batch.record @cell(%row) depth(%i) : (!batch.handle) -> !batch.handle
  return %e, %z : f32, !batch.handle
}

// Before a call, rows read after the call are kept, except its results. The callee keeps its own.
// CHECK-LABEL: func.func @call
// CHECK-SAME:    (%[[S:.*]]: !batch.handle, %[[H:.*]]: !batch.handle
// CHECK-NEXT:    batch.keep(%[[H]] : !batch.handle)
// CHECK-NEXT:    call @read
// CHECK-NEXT:    batch.keep()
// CHECK-NEXT:    call @read
// CHECK-NEXT:    return
func.func @call(%s: !batch.handle, %h: !batch.handle, %i: index) -> (f32, !batch.handle) {
  %e:2 = call @read(%s, %s, %s, %i)
      : (!batch.handle, !batch.handle, !batch.handle, index) -> (f32, !batch.handle)
  %f:2 = call @read(%h, %h, %h, %i)
      : (!batch.handle, !batch.handle, !batch.handle, index) -> (f32, !batch.handle)
  return %f#0, %f#1 : f32, !batch.handle
}

// The next round of a loop reads rows from outside the loop again, but not the rows that
// the current round has received.
// CHECK-LABEL: func.func @loop
// CHECK-SAME:    (%[[START:.*]]: !batch.handle, %[[ALL:.*]]: !batch.handle, %[[AFTER:.*]]: !batch.handle
// CHECK:         scf.while (%[[H:.*]] = %[[START]])
// CHECK:           %[[S:.*]] = batch.record @cell(%[[ALL]])
// CHECK:           batch.keep(%[[H]], %[[S]], %[[ALL]], %[[AFTER]] : !batch.handle, !batch.handle, !batch.handle, !batch.handle)
// CHECK-NEXT:      batch.await %[[S]]
// CHECK:         } do {
// CHECK:         ^bb0(%[[G:.*]]: !batch.handle):
// CHECK:           %[[NEXT:.*]] = batch.record @cell(%[[G]])
// CHECK:           batch.keep(%[[NEXT]], %[[ALL]], %[[AFTER]] : !batch.handle, !batch.handle, !batch.handle)
// CHECK-NEXT:      func.call @read
func.func @loop(%start: !batch.handle, %all: !batch.handle, %after: !batch.handle,
                %i: index) -> (!batch.handle, !batch.handle) {
  %zero = arith.constant 0.0 : f32
  %h = scf.while (%h = %start) : (!batch.handle) -> !batch.handle {
    %s = batch.record @cell(%all) depth(%i) : (!batch.handle) -> !batch.handle
    %e = batch.await %s[] number(1) table(@score) : tensor<f32>
    %more = arith.cmpf ogt, %e, %zero : f32
    scf.condition(%more) %h : !batch.handle
  } do {
  ^bb0(%g: !batch.handle):
    %next = batch.record @cell(%g) depth(%i) : (!batch.handle) -> !batch.handle
    %f:2 = func.call @read(%g, %g, %g, %i)
        : (!batch.handle, !batch.handle, !batch.handle, index) -> (f32, !batch.handle)
    scf.yield %next : !batch.handle
  }
  return %h, %after : !batch.handle, !batch.handle
}

// The other branch of a conditional does not run, so its rows are not kept.
// CHECK-LABEL: func.func @choice
// CHECK-SAME:    (%[[S:.*]]: !batch.handle, %[[A:.*]]: !batch.handle, %[[B:.*]]: !batch.handle
// CHECK:         scf.if
// CHECK-NEXT:      batch.keep(%[[S]], %[[A]] : !batch.handle, !batch.handle)
// CHECK-NEXT:      batch.await
// CHECK:         } else {
// CHECK-NEXT:      scf.yield %[[B]]
func.func @choice(%s: !batch.handle, %a: !batch.handle, %b: !batch.handle, %c: i1)
    -> !batch.handle {
  %y = scf.if %c -> !batch.handle {
    %e = batch.await %s[] number(2) table(@score) : tensor<f32>
    scf.yield %a : !batch.handle
  } else {
    scf.yield %b : !batch.handle
  }
  return %y : !batch.handle
}

// A batch.keep before batch.concurrent keeps the rows that any of its
// branches reads. Each branch keeps its own rows.
// CHECK-LABEL: func.func @branches
// CHECK-SAME:    (%[[S:.*]]: !batch.handle, %[[A:.*]]: !batch.handle, %[[AFTER:.*]]: !batch.handle
// CHECK-NEXT:    batch.keep(%[[S]], %[[A]], %[[AFTER]] : !batch.handle, !batch.handle, !batch.handle)
// CHECK-NEXT:    batch.concurrent
// CHECK:           %[[OWN:.*]] = batch.record @cell(%[[A]])
// CHECK-NEXT:      batch.keep(%[[OWN]] : !batch.handle)
// CHECK-NEXT:      batch.await %[[S]]
// CHECK:         }, {
// CHECK-NEXT:      batch.keep(){{$}}
// CHECK-NEXT:      func.call @read
func.func @branches(%s: !batch.handle, %a: !batch.handle, %after: !batch.handle,
                    %i: index) -> (!batch.handle, !batch.handle) {
  %y:2 = batch.concurrent : !batch.handle, f32 {
    %own = batch.record @cell(%a) depth(%i) : (!batch.handle) -> !batch.handle
    %e = batch.await %s[] number(3) table(@score) : tensor<f32>
    batch.yield %own : !batch.handle
  }, {
    %f:2 = func.call @read(%s, %a, %a, %i)
        : (!batch.handle, !batch.handle, !batch.handle, index) -> (f32, !batch.handle)
    batch.yield %f#0 : f32
  }
  return %y#0, %after : !batch.handle, !batch.handle
}
