// RUN: batch-opt %s --batch-linearize --batch-assign-slots | FileCheck %s
// RUN: sed '/batch.force/d; s/tensor.extract.*/arith.constant 0.0 : f32/' %s \
// RUN:   | batch-opt --batch-linearize --batch-assign-slots | FileCheck %s --check-prefix=AHEAD

// If control flow waits, rows of a table are transient unless a list, a data structure or a
// memoized call contains them. Transient rows have their own slots.
!vec = tensor<4xf32>
!tree = !rec.adt<@Tree>
rec.adt @Tree {
  rec.variant @leaf(word: index)
  rec.variant @node(left: !tree, right: !tree)
}
// CHECK-DAG: batch.table @step_0 : tensor<4xf32> group([[A:[0-9]+]]) transient
// CHECK-DAG: batch.table @step_1 : tensor<4xf32> group([[B:[0-9]+]]){{$}}
// CHECK-DAG: batch.table @sum_0 : tensor<4xf32> group({{[0-9]+}}){{$}}
// AHEAD-NOT: transient
batch.kernel @step(%x: !vec) -> (!vec, !vec) {
  %y = math.absf %x : !vec
  batch.yield %x, %y : !vec, !vec
}
batch.kernel @sum(%x: !vec, %y: !vec) -> !vec {
  %s = arith.addf %x, %y : !vec
  batch.yield %s : !vec
}
func.func private @f(%t: !tree, %x: !vec) -> !vec {
  %h = rec.match %t : !tree -> !vec {
  case @leaf(%word: index) {
    rec.yield %x : !vec
  }
  case @node(%l: !tree, %r: !tree) {
    %hl = func.call @f(%l, %x) : (!tree, !vec) -> !vec
    %hr = func.call @f(%r, %x) : (!tree, !vec) -> !vec
    %d = batch.depth(%hl, %hr) : !vec, !vec
    %s = batch.invoke @sum(%hl, %hr) depth(%d) : (!vec, !vec) -> !vec
    rec.yield %s : !vec
  } }
  return %h : !vec
}
func.func @main(%t: !tree {batch.name = "tree"}, %x: !vec {batch.name = "x"},
                %z: !vec {batch.name = "z"})
    -> (!vec {batch.name = "h"}, tensor<?x4xf32> {batch.name = "all"},
        !vec {batch.name = "f"}, f32 {batch.name = "e"})
    attributes {batch.entry, batch.strategy = #batch.strategy<lazy>} {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %four = arith.constant 4 : index
  %none = rec.empty : tensor<?x4xf32>
  %h, %all = scf.for %i = %zero to %four step %one iter_args(%g = %x, %list = %none)
      -> (!vec, tensor<?x4xf32>) {
    %d = batch.depth(%g) : !vec
    %y:2 = batch.invoke @step(%g) depth(%d) : (!vec) -> (!vec, !vec)
    %more = rec.append %list, %y#1 : tensor<?x4xf32>
    scf.yield %y#0, %more : !vec, tensor<?x4xf32>
  }
  %forced = batch.force %h number(0) : !vec
  %e = tensor.extract %forced[%zero] : !vec
  %f = call @f(%t, %z) : (!tree, !vec) -> !vec
  return %h, %all, %f, %e : !vec, tensor<?x4xf32>, !vec, f32
}
