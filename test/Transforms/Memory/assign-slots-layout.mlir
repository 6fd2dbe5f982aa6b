// RUN: batch-opt %s --batch-linearize --batch-assign-slots="layout='m: split(2, 16) reorder(0, 2, 1, 3)'" | FileCheck %s --check-prefix=COLUMNS
// RUN: batch-opt %s --batch-linearize --batch-assign-slots="layout='m: split(0, 8) split(3, 16) reorder(0, 3, 1, 2, 4)'" | FileCheck %s --check-prefix=BLOCKS
// RUN: batch-opt %s --batch-linearize --batch-assign-slots="layout='m: fuse(0, 1)'" | FileCheck %s --check-prefix=FUSED
// RUN: batch-opt %s --batch-linearize --batch-assign-slots="layout='m: fuse(1, 2) split(1, 16); v: fuse(0, 1) split(0, 16)'" | FileCheck %s --check-prefix=AGAIN
// RUN: batch-opt %s --batch-linearize --batch-assign-slots="layout='v: next_to(@m)'" | FileCheck %s --check-prefix=NEXT-TO
// RUN: batch-opt %s --batch-linearize --batch-assign-slots="layout='split(0, 4); v: next_to(@m)'" | FileCheck %s --check-prefix=BOTH
// RUN: batch-opt %s --batch-linearize --batch-assign-slots | FileCheck %s --check-prefix=NONE

// Layout primitives move the elements of a table: dimension 0 is the slot, the
// other dimensions are those of a row.

// COLUMNS:   #[[MAP:.*]] = affine_map<(d0, d1, d2) -> (d0, d2 floordiv 16, d1, d2 mod 16)>
// COLUMNS:   batch.table @m : tensor<3x40xf32> group([[G:[0-9]+]]) layout(#[[MAP]])
// COLUMNS:   batch.table @v : tensor<40xf32> group([[G]]){{$}}

// Slots are in blocks of eight. In a block, the same 16 columns of all eight slots are adjacent.
// BLOCKS:    #[[MAP:.*]] = affine_map<(d0, d1, d2) -> (d0 floordiv 8, d2 floordiv 16, d0 mod 8, d1, d2 mod 16)>
// BLOCKS:    batch.table @m {{.*}} layout(#[[MAP]])

// A fused dimension may be split again, across its factors.
// FUSED:     #[[MAP:.*]] = affine_map<(d0, d1, d2) -> (d0 * 3 + d1, d2)>
// FUSED:     batch.table @m {{.*}} layout(#[[MAP]])
// AGAIN-DAG: #[[M:.*]] = affine_map<(d0, d1, d2) -> (d0, d1 * 3 + d2 floordiv 16, d2 mod 16)>
// AGAIN-DAG: #[[V:.*]] = affine_map<(d0, d1) -> (d0 * 3 + d1 floordiv 16, d1 mod 16)>
// AGAIN:     batch.table @m {{.*}} layout(#[[M]])
// AGAIN:     batch.table @v {{.*}} layout(#[[V]])

// The rows of a table follow those of another table, slot by slot.
// NEXT-TO:    batch.table @m : tensor<3x40xf32> group([[G:[0-9]+]]){{$}}
// NEXT-TO:    batch.table @v : tensor<40xf32> group([[G]]) next_to(@m){{$}}

// Without a name, the primitives apply to all tables.
// BOTH-DAG:  #[[M:.*]] = affine_map<(d0, d1, d2) -> (d0 floordiv 4, d0 mod 4, d1, d2)>
// BOTH-DAG:  #[[V:.*]] = affine_map<(d0, d1) -> (d0 floordiv 4, d0 mod 4, d1)>
// BOTH:      batch.table @m {{.*}} layout(#[[M]]){{$}}
// BOTH:      batch.table @v {{.*}} layout(#[[V]]) next_to(@m){{$}}

// NONE-NOT:  layout(
// NONE-NOT:  next_to(
rec.adt @Tree {
  rec.variant @leaf(x: tensor<40xf32>)
  rec.variant @node(left: !rec.adt<@Tree>, right: !rec.adt<@Tree>)
}
rec.adt @Out {
  rec.variant @node(m: tensor<3x40xf32>, v: tensor<40xf32>)
}
batch.kernel @leaf(%x: tensor<40xf32>) -> (tensor<3x40xf32>, tensor<40xf32>) {
  %m = arith.constant dense<0.0> : tensor<3x40xf32>
  %v = arith.addf %x, %x : tensor<40xf32>
  batch.yield %m, %v : tensor<3x40xf32>, tensor<40xf32>
}
batch.kernel @node(%m: tensor<3x40xf32>, %v: tensor<40xf32>) -> (tensor<3x40xf32>, tensor<40xf32>) {
  batch.yield %m, %v : tensor<3x40xf32>, tensor<40xf32>
}
func.func private @encode(%t: !rec.adt<@Tree>) -> (tensor<3x40xf32>, tensor<40xf32>, !rec.adt<@Out>) {
  %m, %v = rec.match %t : !rec.adt<@Tree> -> tensor<3x40xf32>, tensor<40xf32> {
  case @leaf(%x: tensor<40xf32>) {
    %d = batch.depth(%x) : tensor<40xf32>
    %m0, %v0 = batch.invoke @leaf(%x) depth(%d) : (tensor<40xf32>) -> (tensor<3x40xf32>, tensor<40xf32>)
    rec.yield %m0, %v0 : tensor<3x40xf32>, tensor<40xf32>
  }
  case @node(%l: !rec.adt<@Tree>, %r: !rec.adt<@Tree>) {
    %ml, %vl, %ol = func.call @encode(%l) : (!rec.adt<@Tree>) -> (tensor<3x40xf32>, tensor<40xf32>, !rec.adt<@Out>)
    %mr, %vr, %or = func.call @encode(%r) : (!rec.adt<@Tree>) -> (tensor<3x40xf32>, tensor<40xf32>, !rec.adt<@Out>)
    %d = batch.depth(%ml, %vr) : tensor<3x40xf32>, tensor<40xf32>
    %m1, %v1 = batch.invoke @node(%ml, %vr) depth(%d) : (tensor<3x40xf32>, tensor<40xf32>) -> (tensor<3x40xf32>, tensor<40xf32>)
    rec.yield %m1, %v1 : tensor<3x40xf32>, tensor<40xf32>
  }
  }
  %o = rec.construct @Out::@node(%m, %v) : (tensor<3x40xf32>, tensor<40xf32>) -> !rec.adt<@Out>
  return %m, %v, %o : tensor<3x40xf32>, tensor<40xf32>, !rec.adt<@Out>
}
func.func @main(%t: !rec.adt<@Tree> {batch.name = "tree"})
    -> (!rec.adt<@Out> {batch.name = "out"}) attributes {batch.entry} {
  %m, %v, %o = func.call @encode(%t) : (!rec.adt<@Tree>) -> (tensor<3x40xf32>, tensor<40xf32>, !rec.adt<@Out>)
  return %o : !rec.adt<@Out>
}
