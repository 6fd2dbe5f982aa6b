// RUN: batch-opt %s --batch-assign-phases --split-input-file | FileCheck %s
// RUN: batch-opt %s --batch-assign-phases=phases=false --split-input-file | FileCheck %s --check-prefix=FLAT

// Without phases, all kernels have phase 0, even if the source has marks.
// FLAT-NOT: phase = {{[1-9]}}

!vec = tensor<4xf32>
!tree = !rec.adt<@Tree>
!out = !rec.adt<@Out>

rec.adt @Tree {
  rec.variant @leaf(x: !vec)
  rec.variant @node(left: !tree, right: !tree)
}
rec.adt @Out {
  rec.variant @leaf(y: !vec)
  rec.variant @node(left: !out, right: !out, y: !vec)
}

// The recursion, and the kernels whose results it reads, have phase 0.
// CHECK-LABEL: batch.kernel @input
// CHECK-SAME:    phase = 0
batch.kernel @input(%x: !vec) -> !vec {
  batch.yield %x : !vec
}
// CHECK-LABEL: batch.kernel @cell
// CHECK-SAME:    phase = 0
batch.kernel @cell(%l: !vec, %r: !vec) -> !vec {
  %h = arith.addf %l, %r : !vec
  batch.yield %h : !vec
}
// A kernel that reads the results of a recursion comes after it, for all
// instances.
// CHECK-LABEL: batch.kernel @output
// CHECK-SAME:    phase = 1
batch.kernel @output(%h: !vec) -> !vec {
  batch.yield %h : !vec
}
// A non-recursive kernel that reads an output is ordered by its depth.
// CHECK-LABEL: batch.kernel @after
// CHECK-SAME:    phase = 1
batch.kernel @after(%y: !vec) -> !vec {
  batch.yield %y : !vec
}
// A second recursion, over results of the first, has a later phase. Phases in
// the input are ignored.
// CHECK-LABEL: batch.kernel @sum
// CHECK-SAME:    phase = 1
batch.kernel @sum(%l: !vec, %r: !vec, %y: !vec) -> !vec attributes {phase = 7 : i64} {
  %h = arith.addf %l, %r : !vec
  %s = arith.addf %h, %y : !vec
  batch.yield %s : !vec
}
// CHECK-LABEL: batch.kernel @last
// CHECK-SAME:    phase = 2
batch.kernel @last(%s: !vec) -> !vec {
  batch.yield %s : !vec
}
// A kernel that is never invoked has no place in the order, so its phase is 0.
// CHECK-LABEL: batch.kernel @unused
// CHECK-SAME:    phase = 0
batch.kernel @unused(%x: !vec) -> !vec {
  batch.yield %x : !vec
}

// CHECK-LABEL: func.func private @encode
func.func private @encode(%t: !tree) -> (!vec, !out) {
  %h, %o = rec.match %t : !tree -> !vec, !out {
  case @leaf(%x: !vec) {
    %h = batch.invoke @input(%x) : (!vec) -> !vec
    %y = batch.invoke @output(%h) : (!vec) -> !vec
    %o = rec.construct @Out::@leaf(%y) : (!vec) -> !out
    rec.yield %h, %o : !vec, !out
  }
  case @node(%l: !tree, %r: !tree) {
    %hl, %ol = func.call @encode(%l) : (!tree) -> (!vec, !out)
    %hr, %or = func.call @encode(%r) : (!tree) -> (!vec, !out)
    %h = batch.invoke @cell(%hl, %hr) : (!vec, !vec) -> !vec
    %y = batch.invoke @output(%h) : (!vec) -> !vec
    %z = batch.invoke @after(%y) : (!vec) -> !vec
    %o = rec.construct @Out::@node(%ol, %or, %z) : (!out, !out, !vec) -> !out
    rec.yield %h, %o : !vec, !out
  } }
  return %h, %o : !vec, !out
}

// CHECK-LABEL: func.func private @total
func.func private @total(%o: !out) -> !vec {
  %s = rec.match %o : !out -> !vec {
  case @leaf(%y: !vec) {
    rec.yield %y : !vec
  }
  case @node(%l: !out, %r: !out, %y: !vec) {
    %sl = func.call @total(%l) : (!out) -> !vec
    %sr = func.call @total(%r) : (!out) -> !vec
    %s = batch.invoke @sum(%sl, %sr, %y) : (!vec, !vec, !vec) -> !vec
    rec.yield %s : !vec
  } }
  return %s : !vec
}

// CHECK-LABEL: func.func @main
func.func @main(%t: !tree) -> !vec attributes {batch.entry} {
  %h, %o = call @encode(%t) : (!tree) -> (!vec, !out)
  %s = call @total(%o) : (!out) -> !vec
  %y = batch.invoke @last(%s) : (!vec) -> !vec
  return %y : !vec
}

// -----

// Two kernels that feed each other in a loop are one recursion.
// CHECK-LABEL: batch.kernel @a
// CHECK-SAME:    phase = 0
batch.kernel @a(%x: tensor<4xf32>) -> tensor<4xf32> {
  batch.yield %x : tensor<4xf32>
}
// CHECK-LABEL: batch.kernel @b
// CHECK-SAME:    phase = 0
batch.kernel @b(%x: tensor<4xf32>) -> tensor<4xf32> {
  batch.yield %x : tensor<4xf32>
}
// CHECK-LABEL: batch.kernel @c
// CHECK-SAME:    phase = 1
batch.kernel @c(%x: tensor<4xf32>) -> tensor<4xf32> {
  batch.yield %x : tensor<4xf32>
}
// CHECK-LABEL: func.func @loop
func.func @loop(%xs: !rec.list<index>, %x: tensor<4xf32>) -> tensor<4xf32>
    attributes {batch.entry} {
  %h = rec.fold %i in %xs init(%acc = %x) : !rec.list<index> -> tensor<4xf32> {
    %a = batch.invoke @a(%acc) : (tensor<4xf32>) -> tensor<4xf32>
    %b = batch.invoke @b(%a) : (tensor<4xf32>) -> tensor<4xf32>
    rec.yield %b : tensor<4xf32>
  }
  %c = batch.invoke @c(%h) : (tensor<4xf32>) -> tensor<4xf32>
  return %c : tensor<4xf32>
}
