// RUN: batch-opt %s | batch-opt | FileCheck %s
// RUN: batch-opt %s --mlir-print-op-generic | batch-opt | FileCheck %s

rec.adt @Tree {
  rec.variant @leaf(word: index)
  rec.variant @node(left: !rec.adt<@Tree>, right: !rec.adt<@Tree>)
}

// CHECK: #[[LAYOUT:.*]] = affine_map<(d0, d1, d2) -> (d0 floordiv 8, d2 floordiv 16, d0 mod 8, d1, d2 mod 16)>

// A table has rows of one type, and belongs to a group. A source may be a parameter.
// CHECK:      batch.table @h : tensor<4xf32> group(0)
// CHECK-NEXT: batch.table @c : tensor<4xf32> group(0) next_to(@h)
// CHECK-NEXT: batch.table @m : tensor<3x32xf32> group(1) layout(#[[LAYOUT]])
// CHECK-NEXT: batch.source @E : tensor<4xf32> parameter(0)
// CHECK-NEXT: batch.source @input : tensor<3x32x32xf32>
batch.table @h : tensor<4xf32> group(0)
batch.table @c : tensor<4xf32> group(0) next_to(@h)
batch.table @m : tensor<3x32xf32> group(1)
    layout(affine_map<(s, i, j) -> (s floordiv 8, j floordiv 16, s mod 8, i, j mod 16)>)
batch.source @E : tensor<4xf32> parameter(0)
batch.source @input : tensor<3x32x32xf32>

// A kernel takes shared, static, ragged and scalar arguments. Its phase is
// printed.
// CHECK:      batch.kernel @cell
// CHECK-SAME:   (%[[X:.*]]: tensor<4xf32>, %{{.*}}: tensor<?x4xf32> {batch.ragged = 0 : i64}, %{{.*}}: index,
// CHECK-SAME:   %{{.*}}: tensor<4x4xf32> {batch.parameter = 0 : i64, batch.shared})
// CHECK-SAME:   -> tensor<4xf32> attributes {phase = 1 : i64} {
// CHECK-NEXT:   batch.yield %[[X]] : tensor<4xf32>
batch.kernel @cell(%x: tensor<4xf32>, %hs: tensor<?x4xf32> {batch.ragged = 0 : i64}, %n: index,
                   %w: tensor<4x4xf32> {batch.parameter = 0 : i64, batch.shared})
    -> tensor<4xf32> attributes {phase = 1 : i64} {
  batch.yield %x : tensor<4xf32>
}

// A parameter may have any shape; phase 0 is the default.
// CHECK:      batch.kernel private @twice(%{{.*}}: tensor<?x?xf32> {batch.shared})
// CHECK-SAME:   -> (tensor<4xf32> {batch.in_table = @h}, tensor<4xf32>) attributes {phase = 0 : i64} {
batch.kernel private @twice(%e: tensor<?x?xf32> {batch.shared})
    -> (tensor<4xf32> {batch.in_table = @h}, tensor<4xf32>) {
  %zero = arith.constant dense<0.0> : tensor<4xf32>
  batch.yield %zero, %zero : tensor<4xf32>, tensor<4xf32>
}

// A kernel may have no results.
// CHECK:      batch.kernel @nothing()
// CHECK-NEXT:   batch.yield{{$}}
batch.kernel @nothing() {
  batch.yield
}

// An instance function invokes kernels, with or without depths.
// CHECK-LABEL: func.func @instance
// CHECK-SAME:    (%[[X:.*]]: tensor<4xf32>, %[[HS:.*]]: tensor<?x4xf32>, %[[N:.*]]: index, %[[W:.*]]: tensor<4x4xf32>)
func.func @instance(%x: tensor<4xf32>, %hs: tensor<?x4xf32>, %n: index,
                    %w: tensor<4x4xf32>) -> tensor<4xf32> {
  // CHECK: %[[D0:.*]] = batch.depth(){{$}}
  %d0 = batch.depth()
  // CHECK: batch.resolve %[[X]] : tensor<4xf32>
  %resolved = batch.resolve %x : tensor<4xf32>
  // CHECK: batch.ghost %[[X]] depth(%[[D0]]) : tensor<4xf32>
  %ghost = batch.ghost %x depth(%d0) : tensor<4xf32>
  // CHECK: batch.invoke @nothing() : () -> ()
  batch.invoke @nothing() : () -> ()
  // CHECK: %[[D:.*]] = batch.depth(%[[X]], %[[HS]]) : tensor<4xf32>, tensor<?x4xf32>
  %d = batch.depth(%x, %hs) : tensor<4xf32>, tensor<?x4xf32>
  // CHECK: %[[Y:.*]] = batch.invoke @cell(%[[X]], %[[HS]], %[[N]], %[[W]]) depth(%[[D]]) :
  // CHECK-SAME: (tensor<4xf32>, tensor<?x4xf32>, index, tensor<4x4xf32>) -> tensor<4xf32>
  %y = batch.invoke @cell(%x, %hs, %n, %w) depth(%d)
      : (tensor<4xf32>, tensor<?x4xf32>, index, tensor<4x4xf32>) -> tensor<4xf32>
  // CHECK: %[[V:.*]] = batch.force %[[Y]] : tensor<4xf32>
  %v = batch.force %y : tensor<4xf32>
  return %v : tensor<4xf32>
}

// The entry names its parameters, arguments and results.
// CHECK-LABEL: func.func @main
// CHECK-SAME:    (%{{.*}}: !rec.adt<@Tree> {batch.name = "tree"}, %{{.*}}: tensor<?x4xf32> {batch.shared = "E"})
// CHECK-SAME:    -> (index {batch.name = "n"}) attributes {batch.entry}
func.func @main(%t: !rec.adt<@Tree> {batch.name = "tree"},
                %E: tensor<?x4xf32> {batch.shared = "E"})
    -> (index {batch.name = "n"}) attributes {batch.entry} {
  %n = batch.depth()
  return %n : index
}

// An inspector function records tasks: handles represent tensors, and lists of
// handles represent ragged tensors. Shared operands are omitted.
// CHECK-LABEL: func.func @inspector
// CHECK-SAME:    (%[[WORDS:.*]]: !rec.list<index>) -> !batch.handle
func.func @inspector(%words: !rec.list<index>) -> !batch.handle {
  // CHECK: %[[WORD:.*]] = arith.constant 7 : index
  %word = arith.constant 7 : index
  // CHECK: batch.num_rows @E
  %n = batch.num_rows @E
  // CHECK: %[[X:.*]] = batch.row @E[%[[WORD]]]
  %x = batch.row @E[%word]
  // CHECK: %{{.*}} = batch.await %[[X]][%[[WORD]]] number(2) : tensor<4xf32>
  %awaited = batch.await %x[%word] number(2) : tensor<4xf32>
  // CHECK: %{{.*}} = batch.extract %[[X]][%[[WORD]]] : tensor<4xf32>
  %element = batch.extract %x[%word] : tensor<4xf32>
  // CHECK: %[[HS:.*]] = rec.map %{{.*}} in %[[WORDS]] : !rec.list<index>
  // CHECK-SAME: -> !rec.list<!batch.handle>
  %hs = rec.map %e in %words : !rec.list<index> -> !rec.list<!batch.handle> {
    %h = batch.row @E[%e]
    rec.yield %h : !batch.handle
  }
  // CHECK: %[[D:.*]] = batch.depth(%[[X]], %[[HS]]) : !batch.handle, !rec.list<!batch.handle>
  %d = batch.depth(%x, %hs) : !batch.handle, !rec.list<!batch.handle>
  // CHECK: batch.ghost %[[X]] depth(%[[D]]) : !batch.handle
  %ghost = batch.ghost %x depth(%d) : !batch.handle
  // CHECK: %[[H:.*]] = batch.record @cell(%[[X]], %[[HS]], %[[WORD]]) depth(%[[D]])
  // CHECK-SAME: : (!batch.handle, !rec.list<!batch.handle>, index) -> !batch.handle
  %h = batch.record @cell(%x, %hs, %word) depth(%d)
      : (!batch.handle, !rec.list<!batch.handle>, index) -> !batch.handle
  // CHECK: %{{.*}}:2 = batch.record @twice() depth(%[[D]]) : () -> (!batch.handle, !batch.handle)
  %two:2 = batch.record @twice() depth(%d) : () -> (!batch.handle, !batch.handle)
  return %h : !batch.handle
}

// Control flow reads elements from rows of any rank and any element type.
// CHECK-LABEL: func.func @read
// CHECK-SAME:    (%[[N:.*]]: !batch.handle, %[[M:.*]]: !batch.handle) -> i1
func.func @read(%n: !batch.handle, %m: !batch.handle) -> i1 {
  // CHECK: %[[I:.*]] = batch.extract %[[N]][] : tensor<index>
  %i = batch.extract %n[] : tensor<index>
  // CHECK: batch.extract %[[M]][%[[I]], %[[I]]] : tensor<2x3xi1>
  %bit = batch.extract %m[%i, %i] : tensor<2x3xi1>
  return %bit : i1
}

// A traversal stores the results of functions for each node.
func.func private @visit(!rec.adt<@Tree>) -> !batch.handle
// CHECK-LABEL: func.func @traverse
// CHECK-SAME:    (%[[T:.*]]: !rec.adt<@Tree>)
func.func @traverse(%t: !rec.adt<@Tree>) -> !batch.handle {
  // CHECK: batch.traverse [@visit]
  batch.traverse [@visit]
  // CHECK: %[[H:.*]] = batch.lookup @visit(%[[T]]) : (!rec.adt<@Tree>) -> !batch.handle
  %h = batch.lookup @visit(%t) : (!rec.adt<@Tree>) -> !batch.handle
  return %h : !batch.handle
}

// A kernel specifies how a step reads its operands, and where it stores
// results. Each kind of read is printed.
// CHECK-LABEL: batch.kernel @placed
// CHECK-SAME:    tensor<4xf32> {batch.read = #batch.read<kind = gather, from = @h>}
// CHECK-SAME:    tensor<?x4xf32> {batch.read = #batch.read<kind = rows, from = @h, segments = true>}
// CHECK-SAME:    index {batch.read = #batch.read<kind = scalar>}
// CHECK-SAME:    tensor<4x4xf32> {batch.read = #batch.read<kind = shared>, batch.shared}
// CHECK-SAME:    -> (tensor<4xf32> {batch.in_table = @h})
batch.kernel @placed(%x: tensor<4xf32> {batch.read = #batch.read<kind = gather, from = @h>},
    %xs: tensor<?x4xf32> {batch.read = #batch.read<kind = rows, from = @h, segments = true>},
    %n: index {batch.read = #batch.read<kind = scalar>},
    %w: tensor<4x4xf32> {batch.read = #batch.read<kind = shared>, batch.shared})
    -> (tensor<4xf32> {batch.in_table = @h}) {
  batch.yield %x : tensor<4xf32>
}

// Segments are combined and repeated according to their offsets.
// CHECK-LABEL: func.func @segments
// CHECK-SAME:    (%[[ROWS:.*]]: tensor<?x4xf32>, %[[OFFSETS:.*]]: tensor<?xindex>, %[[INIT:.*]]: tensor<?x4xf32>)
func.func @segments(%rows: tensor<?x4xf32>, %offsets: tensor<?xindex>,
                    %init: tensor<?x4xf32>) -> tensor<?x4xf32> {
  // CHECK: %[[A:.*]] = batch.segment_reduce add %[[ROWS]] by %[[OFFSETS]] into %[[INIT]] : tensor<?x4xf32>, tensor<?xindex>
  %a = batch.segment_reduce add %rows by %offsets into %init
      : tensor<?x4xf32>, tensor<?xindex>
  // CHECK: batch.segment_reduce mul
  %b = batch.segment_reduce mul %rows by %offsets into %a
      : tensor<?x4xf32>, tensor<?xindex>
  // CHECK: batch.segment_reduce max
  %c = batch.segment_reduce max %rows by %offsets into %b
      : tensor<?x4xf32>, tensor<?xindex>
  // CHECK: batch.segment_reduce min
  %d = batch.segment_reduce min %rows by %offsets into %c
      : tensor<?x4xf32>, tensor<?xindex>
  // CHECK: batch.segment_broadcast %[[A]] by %[[OFFSETS]] : tensor<?x4xf32>, tensor<?xindex>
  %e = batch.segment_broadcast %a by %offsets : tensor<?x4xf32>, tensor<?xindex>
  return %e : tensor<?x4xf32>
}

// A policy specifies how the next batch is selected.
// CHECK-LABEL: func.func private @policy
// CHECK-SAME:    attributes {policy = #batch.policy<depth>}
func.func private @policy() attributes {policy = #batch.policy<depth>}
