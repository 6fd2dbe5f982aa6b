// RUN: batch-opt %s --batch-linearize --batch-assign-slots --split-input-file | FileCheck %s

!vec = tensor<4xf32>
!mat = tensor<4x4xf32>
!emb = tensor<?x4xf32>
!tree = !rec.adt<@Tree>
!out = !rec.adt<@Out>

// Sources come first.
// CHECK-DAG:  batch.source @E : tensor<4xf32> parameter(0)
// CHECK-DAG:  batch.source @input : tensor<4xf32>{{$}}

// Tensors of inputs are in a source, and tensors that the program computes are in a
// table. The variants specify this for each field.
// CHECK:      rec.adt @Tree {
// CHECK-NEXT:   rec.variant @leaf(x: tensor<4xf32>, word: index) {batch.in_source = {x = @input}}
// CHECK:      rec.adt @Out {
// CHECK-NEXT:   rec.variant @leaf(h: tensor<4xf32>) {batch.in_table = {h = @h}}
rec.adt @Tree {
  rec.variant @leaf(x: !vec, word: index)
  rec.variant @node(left: !tree, right: !tree)
}
rec.adt @Out {
  rec.variant @leaf(h: !vec)
  rec.variant @node(left: !out, right: !out, h: !vec, c: !vec)
}

// Rows that are all in one table or source are gathered. Rows in several tables or
// sources are read by address. Scalars and parameters have their own kinds of reads. A
// kernel has attributes for its reads and for the places of its results.
// CHECK:      batch.kernel @leaf(
// CHECK-SAME:   tensor<4xf32> {batch.read = #batch.read<kind = gather, from = @input>},
// CHECK-SAME:   tensor<4xf32> {batch.read = #batch.read<kind = gather, from = @E>},
// CHECK-SAME:   index {batch.read = #batch.read<kind = scalar>})
// CHECK-SAME:   -> (tensor<4xf32> {batch.in_table = @h}, tensor<4xf32> {batch.in_table = @c})
batch.kernel @leaf(%x: !vec, %e: !vec, %n: index) -> (!vec, !vec) {
  batch.yield %x, %e : !vec, !vec
}
// CHECK:      batch.kernel @node(
// CHECK-SAME:   tensor<4xf32> {batch.read = #batch.read<kind = gather, from = @h>},
// CHECK-SAME:   tensor<4xf32> {batch.read = #batch.read<kind = gather, from = @c>},
// CHECK-SAME:   tensor<4xf32> {batch.read = #batch.read<kind = rows, from = @node_2>},
// CHECK-SAME:   tensor<4x4xf32> {batch.parameter = 1 : i64, batch.read = #batch.read<kind = shared>, batch.shared})
// CHECK-SAME:   -> (tensor<4xf32> {batch.in_table = @h}, tensor<4xf32> {batch.in_table = @c}, tensor<4xf32> {batch.in_table = @node_2})
batch.kernel @node(%h: !vec, %c: !vec, %m: !vec,
                   %w: !mat {batch.parameter = 1 : i64, batch.shared}) -> (!vec, !vec, !vec) {
  batch.yield %h, %c, %m : !vec, !vec, !vec
}

// Tables have the names of fields, or of the kernel that writes them. Tables
// that the same kernels write in the same way are one group.
// CHECK-DAG:  batch.table @h : tensor<4xf32> group([[G:[0-9]+]])
// CHECK-DAG:  batch.table @c : tensor<4xf32> group([[G]])
// CHECK-DAG:  batch.table @node_2 : tensor<4xf32> group({{[0-9]+}})
func.func private @encode(%t: !tree, %E: !emb, %W: !mat) -> (!vec, !vec, !vec, !out) {
  %h, %c, %m, %o = rec.match %t : !tree -> !vec, !vec, !vec, !out {
  case @leaf(%x: !vec, %word: index) {
    %e = tensor.extract_slice %E[%word, 0] [1, 4] [1, 1] : !emb to !vec
    %d = batch.depth()
    %f = tensor.extract_slice %E[%word, 0] [1, 4] [1, 1] : !emb to !vec
    %h, %c = batch.invoke @leaf(%x, %e, %word) depth(%d) : (!vec, !vec, index) -> (!vec, !vec)
    %o = rec.construct @Out::@leaf(%h) : (!vec) -> !out
    rec.yield %h, %c, %f, %o : !vec, !vec, !vec, !out
  }
  case @node(%l: !tree, %r: !tree) {
    %hl, %cl, %ml, %ol = func.call @encode(%l, %E, %W) : (!tree, !emb, !mat) -> (!vec, !vec, !vec, !out)
    %hr, %cr, %mr, %or = func.call @encode(%r, %E, %W) : (!tree, !emb, !mat) -> (!vec, !vec, !vec, !out)
    %d = batch.depth(%hl, %cr, %mr) : !vec, !vec, !vec
    %h, %c, %m = batch.invoke @node(%hl, %cr, %mr, %W) depth(%d) : (!vec, !vec, !vec, !mat) -> (!vec, !vec, !vec)
    %o = rec.construct @Out::@node(%ol, %or, %h, %c) : (!out, !out, !vec, !vec) -> !out
    rec.yield %h, %c, %m, %o : !vec, !vec, !vec, !out
  } }
  return %h, %c, %m, %o : !vec, !vec, !vec, !out
}

// Arguments and results of the inspector have attributes that name their sources or tables.
// CHECK-LABEL: func.func @main.inspect
// CHECK-SAME:    (%{{.*}}: !rec.adt<@Tree>, %{{.*}}: !batch.handle {batch.in_source = @input})
// CHECK-SAME:    -> (!rec.adt<@Out>, !batch.handle {batch.in_table = @h})

func.func @main(%t: !tree, %x: !vec, %E: !emb {batch.shared = "E"},
                %W: !mat {batch.shared = "W"}) -> (!out, !vec)
    attributes {batch.entry} {
  %h, %c, %m, %o = call @encode(%t, %E, %W) : (!tree, !emb, !mat) -> (!vec, !vec, !vec, !out)
  return %o, %h : !out, !vec
}

// -----

!vec = tensor<4xf32>
!tree = !rec.adt<@Tree>

rec.adt @Tree {
  rec.variant @node(kids: !rec.list<!tree>, xs: !rec.list<!vec>)
}

// Ragged operands are segments of rows that are read by address.
// CHECK-LABEL: batch.kernel @sum
// CHECK-SAME:    tensor<?x4xf32> {batch.read = #batch.read<kind = rows, from = @sum_0, segments = true>}
batch.kernel @sum(%hs: tensor<?x4xf32>) -> !vec {
  %zero = arith.constant dense<0.0> : !vec
  %s = linalg.reduce { arith.addf } ins(%hs : tensor<?x4xf32>) outs(%zero : !vec) dimensions = [0]
  batch.yield %s : !vec
}
// Two results of one class are adjacent rows of one table.
// CHECK-LABEL: batch.kernel @split
// CHECK-SAME:    -> (tensor<4xf32> {batch.in_table = @sum_0}, tensor<4xf32> {batch.in_table = @sum_0})
batch.kernel @split(%x: !vec) -> (!vec, !vec) {
  batch.yield %x, %x : !vec, !vec
}
// CHECK:       batch.table @sum_0 : tensor<4xf32> group(0)
// CHECK-NOT:   batch.table

func.func private @encode(%t: !tree) -> !vec {
  %h = rec.match %t : !tree -> !vec {
  case @node(%kids: !rec.list<!tree>, %xs: !rec.list<!vec>) {
    %hs = rec.map %k in %kids : !rec.list<!tree> -> tensor<?x4xf32> {
      %hk = func.call @encode(%k) : (!tree) -> !vec
      rec.yield %hk : !vec
    }
    %d = batch.depth(%hs) : tensor<?x4xf32>
    %s = batch.invoke @sum(%hs) depth(%d) : (tensor<?x4xf32>) -> !vec
    %e = batch.depth(%s) : !vec
    %a, %b = batch.invoke @split(%s) depth(%e) : (!vec) -> (!vec, !vec)
    %f = batch.depth(%b) : !vec
    %p, %q = batch.invoke @split(%b) depth(%f) : (!vec) -> (!vec, !vec)
    %n = rec.length %kids : !rec.list<!tree>
    %zero = arith.constant 0 : index
    %some = arith.cmpi ne, %n, %zero : index
    %h = scf.if %some -> !vec {
      scf.yield %p : !vec
    } else {
      scf.yield %q : !vec
    }
    rec.yield %h : !vec
  } }
  return %h : !vec
}

func.func @ragged(%t: !tree) -> !vec attributes {batch.entry} {
  %h = call @encode(%t) : (!tree) -> !vec
  return %h : !vec
}

// -----

// Long rows share slots only with rows of the same length.
// CHECK-DAG:  batch.table @make_0 : tensor<4xf32> group([[SHORT:[0-9]+]])
// CHECK-DAG:  batch.table @make_1 : tensor<1024xf32> group([[LONG:[0-9]+]])
// CHECK-DAG:  batch.table @make_2 : tensor<32x32xf32> group([[LONG]])
// CHECK-DAG:  batch.table @make_3 : tensor<1023xf32> group([[SHORT]])
batch.kernel @make(%x: tensor<4xf32>)
    -> (tensor<4xf32>, tensor<1024xf32>, tensor<32x32xf32>, tensor<1023xf32>) {
  %long = tensor.empty() : tensor<1024xf32>
  %square = tensor.empty() : tensor<32x32xf32>
  %less = tensor.empty() : tensor<1023xf32>
  batch.yield %x, %long, %square, %less
    : tensor<4xf32>, tensor<1024xf32>, tensor<32x32xf32>, tensor<1023xf32>
}
func.func @main(%x: tensor<4xf32>)
    -> (tensor<4xf32>, tensor<1024xf32>, tensor<32x32xf32>, tensor<1023xf32>)
    attributes {batch.entry} {
  %d = batch.depth()
  %0:4 = batch.invoke @make(%x) depth(%d)
    : (tensor<4xf32>) -> (tensor<4xf32>, tensor<1024xf32>, tensor<32x32xf32>, tensor<1023xf32>)
  return %0#0, %0#1, %0#2, %0#3
    : tensor<4xf32>, tensor<1024xf32>, tensor<32x32xf32>, tensor<1023xf32>
}

// -----

// A list without appends has no rows, so it has no table.
// CHECK-LABEL: batch.kernel @sum
// CHECK-SAME:    tensor<?x4xf32> {batch.read = #batch.read<kind = rows, segments = true>}
// CHECK-NOT:   batch.table @{{.*}} : tensor<4xf32> group(1)
batch.kernel @sum(%x: tensor<4xf32>, %xs: tensor<?x4xf32>) -> tensor<4xf32> {
  batch.yield %x : tensor<4xf32>
}
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> attributes {batch.entry} {
  %none = rec.empty : tensor<?x4xf32>
  %d = batch.depth()
  %y = batch.invoke @sum(%x, %none) depth(%d)
      : (tensor<4xf32>, tensor<?x4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
