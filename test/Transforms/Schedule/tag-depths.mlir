// RUN: batch-opt %s --batch-tag-depths --split-input-file | FileCheck %s

!vec = tensor<4xf32>
!emb = tensor<?x4xf32>
!tree = !rec.adt<@Tree>
!out = !rec.adt<@Out>

rec.adt @Tree {
  rec.variant @node(word: index, kids: !rec.list<!tree>)
}
rec.adt @Out {
  rec.variant @node(kids: !rec.list<!out>, y: !vec)
}

batch.kernel @input(%x: !vec) -> !vec {
  batch.yield %x : !vec
}
batch.kernel @cell(%x: !vec, %y: !vec, %hs: tensor<?x4xf32>, %n: index) -> !vec {
  batch.yield %x : !vec
}
batch.kernel @output(%h: !vec) -> !vec attributes {phase = 1 : i64} {
  batch.yield %h : !vec
}
batch.kernel @after(%y: !vec, %h: !vec) -> !vec attributes {phase = 1 : i64} {
  batch.yield %y : !vec
}

// CHECK-LABEL: func.func private @encode
// CHECK-SAME:    (%{{.*}}: !rec.adt<@Tree>, %[[E:.*]]: tensor<?x4xf32>)
func.func private @encode(%t: !tree, %E: !emb) -> (!vec, !out) {
  %h, %o = rec.match %t : !tree -> !vec, !out {
  case @node(%word: index, %kids: !rec.list<!tree>) {
    // CHECK: %[[X:.*]] = tensor.extract_slice %[[E]]
    %x = tensor.extract_slice %E[%word, 0] [1, 4] [1, 1] : !emb to !vec
    // CHECK: %[[MAP:.*]]:2 = rec.map
    %hs, %os = rec.map %k in %kids : !rec.list<!tree> -> tensor<?x4xf32>, !rec.list<!out> {
      %hk, %ok = func.call @encode(%k, %E) : (!tree, !emb) -> (!vec, !out)
      rec.yield %hk, %ok : !vec, !out
    }
    // A task that reads only rows of parameters is hoisted: its depth is 0.
    // CHECK: %[[D0:.*]] = batch.depth(){{$}}
    // CHECK-NEXT: %[[I:.*]] = batch.invoke @input(%[[X]]) depth(%[[D0]])
    %i = batch.invoke @input(%x) : (!vec) -> !vec
    // The depth of any other task is one more than the largest depth of its operands,
    // each named once. Rows of parameters and scalars do not count.
    // CHECK: %[[D1:.*]] = batch.depth(%[[I]], %[[MAP]]#0) : tensor<4xf32>, tensor<?x4xf32>
    // CHECK-NEXT: %[[H:.*]] = batch.invoke @cell(%[[I]], %[[I]], %[[MAP]]#0, %{{.*}}) depth(%[[D1]])
    %h = batch.invoke @cell(%i, %i, %hs, %word) : (!vec, !vec, tensor<?x4xf32>, index) -> !vec
    // Results of an earlier phase exist when a later phase begins.
    // CHECK: %[[D2:.*]] = batch.depth(){{$}}
    // CHECK-NEXT: %[[Y:.*]] = batch.invoke @output(%[[H]]) depth(%[[D2]])
    %y = batch.invoke @output(%h) : (!vec) -> !vec
    // CHECK: %[[D3:.*]] = batch.depth(%[[Y]]) : tensor<4xf32>
    // CHECK-NEXT: batch.invoke @after(%[[Y]], %[[H]]) depth(%[[D3]])
    %z = batch.invoke @after(%y, %h) : (!vec, !vec) -> !vec
    %o = rec.construct @Out::@node(%os, %z) : (!rec.list<!out>, !vec) -> !out
    rec.yield %h, %o : !vec, !out
  } }
  return %h, %o : !vec, !out
}

// CHECK-LABEL: func.func @main
func.func @main(%t: !tree, %E: !emb {batch.shared = "E"}) -> !out
    attributes {batch.entry} {
  %h, %o = call @encode(%t, %E) : (!tree, !emb) -> (!vec, !out)
  return %o : !out
}

// -----

batch.kernel @k(%x: tensor<4xf32>) -> tensor<4xf32> {
  batch.yield %x : tensor<4xf32>
}

// An existing depth remains, so the pass can run twice.
// CHECK-LABEL: func.func @tagged
// CHECK-SAME:    (%[[X:.*]]: tensor<4xf32>, %[[D:.*]]: index)
// CHECK-NEXT:    batch.invoke @k(%[[X]]) depth(%[[D]])
func.func @tagged(%x: tensor<4xf32>, %d: index) -> tensor<4xf32>
    attributes {batch.entry} {
  %y = batch.invoke @k(%x) depth(%d) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

batch.kernel @k(%x: tensor<4xf32>) -> tensor<4xf32> {
  batch.yield %x : tensor<4xf32>
}

// A value that a loop carries may be computed, though its initial value is not.
// In every round, the depth is computed from the accumulator.
// CHECK-LABEL: func.func @carried
func.func @carried(%xs: !rec.list<index>, %x: tensor<4xf32>) -> tensor<4xf32>
    attributes {batch.entry} {
  // CHECK: rec.fold %{{.*}} in %{{.*}} init(%[[ACC:.*]] = %{{.*}})
  // CHECK-NEXT: %[[D:.*]] = batch.depth(%[[ACC]]) : tensor<4xf32>
  // CHECK-NEXT: batch.invoke @k(%[[ACC]]) depth(%[[D]])
  %h = rec.fold %i in %xs init(%acc = %x) : !rec.list<index> -> tensor<4xf32> {
    %y = batch.invoke @k(%acc) : (tensor<4xf32>) -> tensor<4xf32>
    rec.yield %y : tensor<4xf32>
  }
  return %h : tensor<4xf32>
}

// -----

!vec = tensor<4xf32>
!tree = !rec.adt<@Tree>
!out = !rec.adt<@Out>

rec.adt @Tree {
  rec.variant @leaf(x: !vec)
  rec.variant @node(kid: !tree)
}
rec.adt @Out {
  rec.variant @leaf(h: !vec)
  rec.variant @node(kid: !out)
}

batch.kernel @up(%x: !vec) -> !vec {
  batch.yield %x : !vec
}
batch.kernel @down(%x: !vec) -> !vec attributes {phase = 1 : i64} {
  batch.yield %x : !vec
}

func.func private @rise(%t: !tree) -> !vec {
  %h = rec.match %t : !tree -> !vec {
  case @leaf(%x: !vec) {
    rec.yield %x : !vec
  }
  case @node(%kid: !tree) {
    // Within a phase, depths continue across calls.
    // CHECK: %[[K:.*]] = func.call @rise
    // CHECK-NEXT: %[[D:.*]] = batch.depth(%[[K]])
    %k = func.call @rise(%kid) : (!tree) -> !vec
    %h = batch.invoke @up(%k) : (!vec) -> !vec
    rec.yield %h : !vec
  } }
  return %h : !vec
}

// CHECK-LABEL: func.func private @fall
func.func private @fall(%t: !tree, %s: !vec) -> !out {
  %o = rec.match %t : !tree -> !out {
  case @leaf(%x: !vec) {
    %o = rec.construct @Out::@leaf(%s) : (!vec) -> !out
    rec.yield %o : !out
  }
  case @node(%kid: !tree) {
    // CHECK: %[[D:.*]] = batch.depth(%[[S:.*]]) : tensor<4xf32>
    // CHECK-NEXT: %[[N:.*]] = batch.invoke @down(%[[S]]) depth(%[[D]])
    // CHECK-NEXT: func.call @fall(%{{.*}}, %[[N]])
    %n = batch.invoke @down(%s) : (!vec) -> !vec
    %k = func.call @fall(%kid, %n) : (!tree, !vec) -> !out
    %o = rec.construct @Out::@node(%k) : (!out) -> !out
    rec.yield %o : !out
  } }
  return %o : !out
}

// Results of the way up are resolved on the way down, as are initial values of a
// loop of the later phase.
// CHECK-LABEL: func.func @main
func.func @main(%t: !tree, %ns: !rec.list<index>) -> (!out, !vec) attributes {batch.entry} {
  // CHECK: %[[H:.*]] = call @rise
  %h = call @rise(%t) : (!tree) -> !vec
  // CHECK: %[[RESOLVED:.*]] = batch.resolve %[[H]] : tensor<4xf32>
  // CHECK-NEXT: call @fall(%{{.*}}, %[[RESOLVED]])
  %o = call @fall(%t, %h) : (!tree, !vec) -> !out
  // CHECK: %[[INIT:.*]] = batch.resolve %[[H]] : tensor<4xf32>
  // CHECK-NEXT: rec.fold %{{.*}} in %{{.*}} init(%{{.*}} = %[[INIT]])
  %f = rec.fold %n in %ns init(%a = %h) : !rec.list<index> -> !vec {
    %b = batch.invoke @down(%a) : (!vec) -> !vec
    rec.yield %b : !vec
  }
  return %o, %f : !out, !vec
}

// -----

// A kernel of the same phase may read the tensor that is passed down, so the tensor keeps its
// depth.

!vec = tensor<4xf32>
!tree = !rec.adt<@Tree>

rec.adt @Tree {
  rec.variant @leaf(x: !vec)
  rec.variant @node(kid: !tree)
}
batch.kernel @up(%x: !vec) -> !vec {
  batch.yield %x : !vec
}
batch.kernel @down(%x: !vec) -> !vec attributes {phase = 1 : i64} {
  batch.yield %x : !vec
}
func.func private @fall(%t: !tree, %s: !vec) -> !vec {
  %o = rec.match %t : !tree -> !vec {
  case @leaf(%x: !vec) {
    %y = batch.invoke @up(%s) : (!vec) -> !vec
    rec.yield %y : !vec
  }
  case @node(%kid: !tree) {
    %n = batch.invoke @down(%s) : (!vec) -> !vec
    %k = func.call @fall(%kid, %n) : (!tree, !vec) -> !vec
    rec.yield %k : !vec
  } }
  return %o : !vec
}
// CHECK-LABEL: func.func @main
// CHECK-NOT:     batch.resolve
func.func @main(%t: !tree, %x: !vec) -> !vec attributes {batch.entry} {
  %h = batch.invoke @up(%x) : (!vec) -> !vec
  %o = call @fall(%t, %h) : (!tree, !vec) -> !vec
  return %o : !vec
}

// -----

!vec = tensor<4xf32>
!rows = tensor<?x4xf32>

batch.kernel @next(%x: !vec) -> !vec {
  batch.yield %x : !vec
}
batch.kernel @attend(%x: !vec, %xs: !rows) -> !vec {
  batch.yield %x : !vec
}

// A task that reads a history is one deeper than the deepest task in it. An append
// is not a task and has no depth.
// CHECK-LABEL: func.func @history
// CHECK:         scf.for {{.*}} iter_args(%[[H:.*]] = %{{.*}}, %[[BEFORE:.*]] = %{{.*}})
// CHECK-NEXT:      %[[D0:.*]] = batch.depth(%[[H]]) : tensor<4xf32>
// CHECK-NEXT:      %[[Y:.*]] = batch.invoke @next(%[[H]]) depth(%[[D0]])
// CHECK-NEXT:      %[[AFTER:.*]] = rec.append %[[BEFORE]], %[[Y]]
// CHECK-NEXT:      %[[D1:.*]] = batch.depth(%[[H]], %[[AFTER]]) : tensor<4xf32>, tensor<?x4xf32>
// CHECK-NEXT:      batch.invoke @attend(%[[H]], %[[AFTER]]) depth(%[[D1]])
func.func @history(%x: !vec, %n: index) -> (!vec, !rows) attributes {batch.entry} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %none = rec.empty : !rows
  %last, %rows = scf.for %i = %c0 to %n step %c1
      iter_args(%h = %x, %before = %none) -> (!vec, !rows) {
    %y = batch.invoke @next(%h) : (!vec) -> !vec
    %after = rec.append %before, %y : !rows
    %z = batch.invoke @attend(%h, %after) : (!vec, !rows) -> !vec
    scf.yield %z, %after : !vec, !rows
  }
  return %last, %rows : !vec, !rows
}
