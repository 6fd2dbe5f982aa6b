// RUN: batch-opt %s --batch-linearize --split-input-file | FileCheck %s

!vec = tensor<4xf32>
!emb = tensor<?x4xf32>
!tree = !rec.adt<@Tree>

rec.adt @Tree {
  rec.variant @leaf(word: index)
  rec.variant @node(word: index, left: !tree, right: !tree)
}
batch.kernel @cell(%l: !vec, %r: !vec, %b: !vec {batch.parameter = 1 : i64, batch.shared}) -> !vec {
  %h = arith.addf %l, %r : !vec
  batch.yield %h : !vec
}

// Rows of a parameter are one source, for any number of reads.
// CHECK:      batch.source @E : tensor<4xf32> parameter(0)
// CHECK-NOT:  batch.source

// The instance program remains unchanged.
// CHECK-LABEL: func.func private @encode(
// CHECK:         tensor.extract_slice
// CHECK:         func.call @encode(
// CHECK:         batch.invoke @cell

// The inspector contains handles instead of tensors, and no parameters. A row
// is a handle of its source, an invocation records a task, and results of a
// traversal are looked up.
// CHECK-LABEL: func.func private @encode.inspect
// CHECK-SAME:    (%[[T:.*]]: !rec.adt<@Tree>) -> (!batch.handle, index) {
// CHECK:         %[[R:.*]]:2 = rec.match %[[T]] : !rec.adt<@Tree> -> !batch.handle, index {
// CHECK-NEXT:    case @leaf(%[[WORD:.*]]: index) {
// CHECK-NEXT:      %[[X:.*]] = batch.row @E[%[[WORD]]]
// CHECK-NEXT:      rec.yield %[[X]], %[[WORD]] : !batch.handle, index
// CHECK:         case @node(%[[WORD:.*]]: index, %[[L:.*]]: !rec.adt<@Tree>, %[[R:.*]]: !rec.adt<@Tree>) {
// CHECK-NEXT:      %[[X:.*]] = batch.row @E[%[[WORD]]]
// CHECK-NEXT:      %[[HL:.*]]:2 = batch.lookup @encode.inspect(%[[L]]) : (!rec.adt<@Tree>) -> (!batch.handle, index)
// CHECK-NEXT:      %[[HR:.*]]:2 = batch.lookup @encode.inspect(%[[R]])
// CHECK-NEXT:      %[[D0:.*]] = batch.depth()
// CHECK-NEXT:      %[[W:.*]] = batch.record @cell(%[[X]], %[[X]]) depth(%[[D0]])
// CHECK-NEXT:      %[[D1:.*]] = batch.depth(%[[HL]]#0, %[[HR]]#0) : !batch.handle, !batch.handle
// CHECK-NEXT:      %[[H:.*]] = batch.record @cell(%[[HL]]#0, %[[HR]]#0) depth(%[[D1]]) : (!batch.handle, !batch.handle) -> !batch.handle
// CHECK-NEXT:      %[[N:.*]] = arith.addi %[[HL]]#1, %[[HR]]#1 : index
// CHECK-NEXT:      rec.yield %[[H]], %[[N]]
// CHECK:         return
func.func private @encode(%t: !tree, %E: !emb, %b: !vec) -> (!vec, index) {
  %h, %n = rec.match %t : !tree -> !vec, index {
  case @leaf(%word: index) {
    %x = tensor.extract_slice %E[%word, 0] [1, 4] [1, 1] : !emb to !vec
    rec.yield %x, %word : !vec, index
  }
  case @node(%word: index, %l: !tree, %r: !tree) {
    %x = tensor.extract_slice %E[%word, 0] [1, 4] [1, 1] : !emb to !vec
    %hl, %nl = func.call @encode(%l, %E, %b) : (!tree, !emb, !vec) -> (!vec, index)
    %hr, %nr = func.call @encode(%r, %E, %b) : (!tree, !emb, !vec) -> (!vec, index)
    %d0 = batch.depth()
    %w = batch.invoke @cell(%x, %x, %b) depth(%d0) : (!vec, !vec, !vec) -> !vec
    %d1 = batch.depth(%hl, %hr) : !vec, !vec
    %h = batch.invoke @cell(%hl, %hr, %b) depth(%d1) : (!vec, !vec, !vec) -> !vec
    %n = arith.addi %nl, %nr : index
    rec.yield %h, %n : !vec, index
  } }
  return %h, %n : !vec, index
}

// The entry's inspector is public and keeps the names of arguments and results.
// Bottom-up recursion over all nodes is one traversal, which runs before the inspector.
// CHECK-LABEL: func.func @main(
// CHECK-LABEL: func.func @main.inspect
// CHECK-SAME:    (%[[T:.*]]: !rec.adt<@Tree> {batch.name = "tree"}) -> (!batch.handle {batch.name = "h"})
// CHECK-SAME:    attributes {batch.inspector}
// CHECK-NEXT:    %[[R:.*]]:2 = batch.lookup @encode.inspect(%[[T]])
// CHECK-NEXT:    return %[[R]]#0 : !batch.handle
// CHECK-LABEL: func.func @main.traverse() attributes {batch.traversal}
// CHECK-NEXT:    batch.traverse [@encode.inspect]
// CHECK-NEXT:    return
func.func @main(%t: !tree {batch.name = "tree"}, %E: !emb {batch.shared = "E"},
                %b: !vec {batch.shared = "b"})
    -> (!vec {batch.name = "h"}) attributes {batch.entry} {
  %h, %n = call @encode(%t, %E, %b) : (!tree, !emb, !vec) -> (!vec, index)
  return %h : !vec
}

// -----

!vec = tensor<4xf32>
!tree = !rec.adt<@Tree>

rec.adt @Tree {
  rec.variant @leaf(x: !vec)
  rec.variant @node(left: !tree, right: !tree)
}
batch.kernel @cell(%l: !vec, %s: !vec) -> !vec {
  batch.yield %l : !vec
}

// State from the parent differs from call to call, so the inspector recurses and
// stores the results of its calls. A parameter that is passed as a value has its
// own row.
// CHECK:       batch.source @s : tensor<4xf32> parameter(0)
// CHECK-LABEL: func.func private @down(
// CHECK-LABEL: func.func private @down.inspect
// CHECK-SAME:    (%[[T:.*]]: !rec.adt<@Tree>, %[[S:.*]]: !batch.handle) -> !batch.handle
// CHECK-SAME:    attributes {batch.memoized}
// CHECK:         case @node(%[[L:.*]]: !rec.adt<@Tree>, %[[R:.*]]: !rec.adt<@Tree>)
// CHECK-NEXT:      %[[HL:.*]] = func.call @down.inspect(%[[L]], %[[S]])
// CHECK-NEXT:      func.call @down.inspect(%[[R]], %[[HL]])
func.func private @down(%t: !tree, %s: !vec) -> !vec {
  %h = rec.match %t : !tree -> !vec {
  case @leaf(%x: !vec) {
    %d = batch.depth(%s) : !vec
    %y = batch.invoke @cell(%x, %s) depth(%d) : (!vec, !vec) -> !vec
    rec.yield %y : !vec
  }
  case @node(%l: !tree, %r: !tree) {
    %hl = func.call @down(%l, %s) : (!tree, !vec) -> !vec
    %hr = func.call @down(%r, %hl) : (!tree, !vec) -> !vec
    rec.yield %hr : !vec
  } }
  return %h : !vec
}
// CHECK-LABEL: func.func @top_down.inspect
// CHECK-SAME:    (%[[T:.*]]: !rec.adt<@Tree>) -> !batch.handle
// CHECK:         %[[ZERO:.*]] = arith.constant 0 : index
// CHECK-NEXT:    %[[S:.*]] = batch.row @s[%[[ZERO]]]
// CHECK-NEXT:    call @down.inspect(%[[T]], %[[S]])
// CHECK-NOT:   batch.traverse
func.func @top_down(%t: !tree, %s: !vec {batch.shared = "s"}) -> !vec
    attributes {batch.entry} {
  %h = call @down(%t, %s) : (!tree, !vec) -> !vec
  return %h : !vec
}

// -----

!tree = !rec.adt<@Tree>

rec.adt @Tree {
  rec.variant @leaf(n: index)
  rec.variant @node(left: !tree, right: !tree)
}
// A child that the program does not visit must not be inspected, so the
// inspector recurses.
// CHECK-LABEL: func.func private @leftmost.inspect
// CHECK-SAME:    attributes {batch.memoized}
// CHECK:         func.call @leftmost.inspect
func.func private @leftmost(%t: !tree) -> index {
  %n = rec.match %t : !tree -> index {
  case @leaf(%n: index) {
    rec.yield %n : index
  }
  case @node(%l: !tree, %r: !tree) {
    %n = func.call @leftmost(%l) : (!tree) -> index
    rec.yield %n : index
  } }
  return %n : index
}
// CHECK-LABEL: func.func @skipped_child.inspect
// CHECK-NOT:   batch.traverse
func.func @skipped_child(%t: !tree) -> index attributes {batch.entry} {
  %n = call @leftmost(%t) : (!tree) -> index
  return %n : index
}

// -----

!tree = !rec.adt<@Tree>

rec.adt @Tree {
  rec.variant @leaf(n: index)
  rec.variant @node(flag: i1, left: !tree)
}
// If a child is visited only under a condition, the inspector recurses.
// CHECK-LABEL: func.func private @some.inspect
// CHECK-SAME:    attributes {batch.memoized}
// CHECK:         scf.if %{{.*}} -> (index) {
// CHECK-NEXT:      func.call @some.inspect
func.func private @some(%t: !tree) -> index {
  %n = rec.match %t : !tree -> index {
  case @leaf(%n: index) {
    rec.yield %n : index
  }
  case @node(%flag: i1, %l: !tree) {
    %n = scf.if %flag -> index {
      %m = func.call @some(%l) : (!tree) -> index
      scf.yield %m : index
    } else {
      %zero = arith.constant 0 : index
      scf.yield %zero : index
    }
    rec.yield %n : index
  } }
  return %n : index
}
// CHECK-LABEL: func.func @conditional_child.inspect
// CHECK-NOT:   batch.traverse
func.func @conditional_child(%t: !tree) -> index attributes {batch.entry} {
  %n = call @some(%t) : (!tree) -> index
  return %n : index
}

// -----

!even = !rec.adt<@Even>
!odd = !rec.adt<@Odd>

rec.adt @Even {
  rec.variant @zero(x: tensor<4xf32>)
  rec.variant @succ(pred: !odd)
}
rec.adt @Odd {
  rec.variant @succ(preds: !rec.list<!even>)
}
batch.kernel @sum(%xs: tensor<?x4xf32>, %n: index) -> tensor<4xf32> {
  %zero = arith.constant dense<0.0> : tensor<4xf32>
  %s = linalg.reduce { arith.addf } ins(%xs : tensor<?x4xf32>) outs(%zero : tensor<4xf32>) dimensions = [0]
  batch.yield %s : tensor<4xf32>
}
// Mutual recursion over ADTs that contain each other is one traversal of both.
// A ragged tensor is a list of handles, and its extent is the length of the
// list.
// CHECK-LABEL: func.func private @even.inspect
// CHECK:         batch.lookup @odd.inspect
func.func private @even(%t: !even) -> tensor<4xf32> {
  %h = rec.match %t : !even -> tensor<4xf32> {
  case @zero(%x: tensor<4xf32>) {
    rec.yield %x : tensor<4xf32>
  }
  case @succ(%pred: !odd) {
    %h = func.call @odd(%pred) : (!odd) -> tensor<4xf32>
    rec.yield %h : tensor<4xf32>
  } }
  return %h : tensor<4xf32>
}
// CHECK-LABEL: func.func private @odd.inspect
// CHECK:         %[[HS:.*]] = rec.map %[[P:.*]] in %{{.*}} : !rec.list<!rec.adt<@Even>> -> !rec.list<!batch.handle> {
// CHECK-NEXT:      %[[H:.*]] = batch.lookup @even.inspect(%[[P]])
// CHECK-NEXT:      rec.yield %[[H]] : !batch.handle
// CHECK:         %[[N:.*]] = rec.length %[[HS]] : !rec.list<!batch.handle>
// CHECK:         %[[D:.*]] = batch.depth(%[[HS]]) : !rec.list<!batch.handle>
// CHECK-NEXT:    batch.record @sum(%[[HS]], %[[N]]) depth(%[[D]]) : (!rec.list<!batch.handle>, index) -> !batch.handle
func.func private @odd(%t: !odd) -> tensor<4xf32> {
  %h = rec.match %t : !odd -> tensor<4xf32> {
  case @succ(%preds: !rec.list<!even>) {
    %hs = rec.map %p in %preds : !rec.list<!even> -> tensor<?x4xf32> {
      %h = func.call @even(%p) : (!even) -> tensor<4xf32>
      rec.yield %h : tensor<4xf32>
    }
    %zero = arith.constant 0 : index
    %n = tensor.dim %hs, %zero : tensor<?x4xf32>
    %d = batch.depth(%hs) : tensor<?x4xf32>
    %h = batch.invoke @sum(%hs, %n) depth(%d) : (tensor<?x4xf32>, index) -> tensor<4xf32>
    rec.yield %h : tensor<4xf32>
  } }
  return %h : tensor<4xf32>
}
// CHECK-LABEL: func.func @mutual.inspect
// CHECK-LABEL: func.func @mutual.traverse
// CHECK-NEXT:    batch.traverse [@even.inspect, @odd.inspect]
func.func @mutual(%t: !even) -> tensor<4xf32> attributes {batch.entry} {
  %h = call @even(%t) : (!even) -> tensor<4xf32>
  return %h : tensor<4xf32>
}

// -----

!tree = !rec.adt<@Tree>

rec.adt @Tree {
  rec.variant @leaf(n: index)
  rec.variant @node(left: !tree, right: !tree)
}
// In mutual recursion on nodes of one ADT, the path to a node determines which
// function visits it, so the inspector recurses.
// CHECK-LABEL: func.func private @min.inspect
// CHECK-SAME:    attributes {batch.memoized}
// CHECK:         call @max.inspect
func.func private @min(%t: !tree) -> index {
  %n = rec.match %t : !tree -> index {
  case @leaf(%n: index) {
    rec.yield %n : index
  }
  case @node(%l: !tree, %r: !tree) {
    %a = func.call @max(%l) : (!tree) -> index
    %b = func.call @max(%r) : (!tree) -> index
    %n = arith.minsi %a, %b : index
    rec.yield %n : index
  } }
  return %n : index
}
// CHECK-LABEL: func.func private @max.inspect
// CHECK-SAME:    attributes {batch.memoized}
// CHECK:         call @min.inspect
func.func private @max(%t: !tree) -> index {
  %n = rec.match %t : !tree -> index {
  case @leaf(%n: index) {
    rec.yield %n : index
  }
  case @node(%l: !tree, %r: !tree) {
    %a = func.call @min(%l) : (!tree) -> index
    %b = func.call @min(%r) : (!tree) -> index
    %n = arith.maxsi %a, %b : index
    rec.yield %n : index
  } }
  return %n : index
}
// CHECK-LABEL: func.func @minimax.inspect
// CHECK-NOT:   batch.traverse
func.func @minimax(%t: !tree) -> index attributes {batch.entry} {
  %n = call @min(%t) : (!tree) -> index
  return %n : index
}

// -----

!vec = tensor<4xf32>
!rows = !rec.adt<@Rows>

rec.adt @Rows {
  rec.variant @end()
  rec.variant @row(row: !vec, rest: !rows)
}
batch.kernel @sum(%x: !vec, %xs: tensor<?x4xf32>) -> !vec {
  batch.yield %x : !vec
}

// Only parameters are omitted from calls. Values computed from constants and
// parameters may differ between calls, so they remain arguments. A loop over the
// nodes has no such arguments, so the inspector recurses.
// CHECK-LABEL: func.func private @visit.inspect
// CHECK-SAME:    (%[[R:.*]]: !rec.adt<@Rows>, %[[S:.*]]: !rec.adt<@Rows>, %[[N:.*]]: index) -> !batch.handle
// CHECK-SAME:    attributes {batch.memoized}
// CHECK:         rec.elements %[[S]] : !rec.adt<@Rows> -> !rec.list<!batch.handle>
// CHECK:         call @visit.inspect(%{{.*}}, %[[S]], %[[N]])
func.func private @visit(%r: !rows, %s: !rows, %n: index, %w: !vec) -> !vec {
  %h = rec.match %r : !rows -> !vec {
  case @end() {
    rec.yield %w : !vec
  }
  case @row(%x: !vec, %rest: !rows) {
    %xs = rec.elements %s : !rows -> tensor<?x4xf32>
    %d = batch.depth(%x, %xs) : !vec, tensor<?x4xf32>
    %y = batch.invoke @sum(%x, %xs) depth(%d) : (!vec, tensor<?x4xf32>) -> !vec
    %z = func.call @visit(%rest, %s, %n, %w) : (!rows, !rows, index, !vec) -> !vec
    rec.yield %z : !vec
  } }
  return %h : !vec
}
// CHECK-LABEL: func.func @main.inspect
// CHECK:         call @visit.inspect(%{{.*}}, %{{.*}}, %{{.*}}) : (!rec.adt<@Rows>, !rec.adt<@Rows>, index) -> !batch.handle
// CHECK-NOT:   batch.traverse
func.func @main(%r: !rows, %w: !vec {batch.shared = "w"}) -> !vec
    attributes {batch.entry} {
  %two = arith.constant 2 : index
  %end = rec.construct @Rows::@end() : () -> !rows
  %s = rec.construct @Rows::@row(%w, %end) : (!vec, !rows) -> !rows
  %h = call @visit(%r, %s, %two, %w) : (!rows, !rows, index, !vec) -> !vec
  return %h : !vec
}

// -----

!vec = tensor<4xf32>
!rows = tensor<?x4xf32>

batch.kernel @attend(%x: !vec, %xs: !rows) -> !vec {
  batch.yield %x : !vec
}

// A history of rows is a list of handles. A row of a parameter also has a
// handle.
// CHECK-LABEL: func.func @history.inspect
// CHECK-SAME:    (%[[X:.*]]: !batch.handle) -> !rec.list<!batch.handle>
// CHECK:         %[[NONE:.*]] = rec.empty : !rec.list<!batch.handle>
// CHECK:         %[[W:.*]] = batch.row @
// CHECK-NEXT:    %[[ONE:.*]] = rec.append %[[NONE]], %[[W]] : !rec.list<!batch.handle>
// CHECK:         %[[Y:.*]] = batch.record @attend(%[[X]], %[[ONE]])
// CHECK-NEXT:    rec.append %[[ONE]], %[[Y]] : !rec.list<!batch.handle>
func.func @history(%x: !vec, %w: !vec {batch.shared = "w"}) -> !rows
    attributes {batch.entry} {
  %none = rec.empty : !rows
  %one = rec.append %none, %w : !rows
  %d = batch.depth(%one) : !rows
  %y = batch.invoke @attend(%x, %one) depth(%d) : (!vec, !rows) -> !vec
  %two = rec.append %one, %y : !rows
  return %two : !rows
}

// -----

// A program with an inspector remains unchanged.
// CHECK-LABEL: func.func @done
// CHECK-LABEL: func.func @done.inspect
// CHECK-NOT:   func.func
func.func @done(%n: index) -> index attributes {batch.entry} {
  return %n : index
}
func.func @done.inspect(%n: index) -> index attributes {batch.inspector} {
  return %n : index
}

// -----

rec.adt @Step {
  rec.variant @stop()
  rec.variant @go(times: tensor<3xi32>, rest: !rec.adt<@Step>)
}

// The sources are the rows of a parameter with a dynamic first extent, and a
// whole static parameter.
// CHECK:       batch.source @E : tensor<5xf32> parameter(0)
// CHECK:       batch.source @v : tensor<3xf16> parameter(1)

// A tensor in a field is a handle. Control flow reads elements of its row.
// CHECK-LABEL: func.func private @walk.inspect
// CHECK-SAME:    (%{{.*}}: !rec.adt<@Step>, %[[WHICH:.*]]: index) -> i32
// CHECK:         case @go(%[[TIMES:.*]]: !batch.handle, %{{.*}}: !rec.adt<@Step>) {
// CHECK-NEXT:      %[[T:.*]] = batch.extract %[[TIMES]][%[[WHICH]]] : tensor<3xi32>
// CHECK:           arith.addi %[[T]]
func.func private @walk(%s: !rec.adt<@Step>, %which: index) -> i32 {
  %n = rec.match %s : !rec.adt<@Step> -> i32 {
  case @stop() {
    %zero = arith.constant 0 : i32
    rec.yield %zero : i32
  }
  case @go(%times: tensor<3xi32>, %rest: !rec.adt<@Step>) {
    %t = tensor.extract %times[%which] : tensor<3xi32>
    %m = func.call @walk(%rest, %which) : (!rec.adt<@Step>, index) -> i32
    %sum = arith.addi %t, %m : i32
    rec.yield %sum : i32
  } }
  return %n : i32
}

// The instance program reads tensors as before.
// CHECK-LABEL: func.func @reads(
// CHECK-COUNT-5: tensor.extract %
// CHECK-NOT:     batch.extract

// Control flow reads elements of inputs by their handles. A row of a ragged input is
// an element of a list. If the first extent of a parameter is dynamic, the first
// index of an element selects a row of the parameter. Otherwise, the whole tensor
// is one row.
// CHECK-LABEL: func.func @reads.inspect
// CHECK-SAME:    (%[[N:.*]]: !batch.handle, %[[X:.*]]: !batch.handle, %[[XS:.*]]: !rec.list<!batch.handle>,
// CHECK:         %[[ONE:.*]] = arith.constant 1 : index
// CHECK-NEXT:    %[[I:.*]] = batch.extract %[[N]][] : tensor<index>
// CHECK-NEXT:    %[[J64:.*]] = batch.extract %[[X]][%[[ONE]], %[[I]]] : tensor<2x8xi64>
// CHECK-NEXT:    %[[J:.*]] = arith.index_cast %[[J64]]
// CHECK-NEXT:    %[[ROW:.*]] = rec.element %[[XS]][%[[J]]] : !rec.list<!batch.handle> -> !batch.handle
// CHECK-NEXT:    %[[A:.*]] = batch.extract %[[ROW]][%[[ONE]]] : tensor<4xi64>
// CHECK-NEXT:    %[[EROW:.*]] = batch.row @E[%[[J]]]
// CHECK-NEXT:    %[[B:.*]] = batch.extract %[[EROW]][%[[I]]] : tensor<5xf32>
// CHECK-NEXT:    %[[ZERO:.*]] = arith.constant 0 : index
// CHECK-NEXT:    %[[V:.*]] = batch.row @v[%[[ZERO]]]
// CHECK-NEXT:    %[[C:.*]] = batch.extract %[[V]][%[[I]]] : tensor<3xf16>
// CHECK-NEXT:    %[[D:.*]] = call @walk.inspect(%{{.*}}, %[[I]])
// CHECK-NEXT:    return %[[A]], %[[B]], %[[C]], %[[D]]
func.func @reads(%n: tensor<index>, %x: tensor<2x8xi64>, %xs: tensor<?x4xi64>,
                 %s: !rec.adt<@Step>, %E: tensor<?x5xf32> {batch.shared = "E"},
                 %v: tensor<3xf16> {batch.shared = "v"})
    -> (i64, f32, f16, i32) attributes {batch.entry} {
  %one = arith.constant 1 : index
  %i = tensor.extract %n[] : tensor<index>
  %j64 = tensor.extract %x[%one, %i] : tensor<2x8xi64>
  %j = arith.index_cast %j64 : i64 to index
  %row = rec.element %xs[%j] : tensor<?x4xi64> -> tensor<4xi64>
  %a = tensor.extract %row[%one] : tensor<4xi64>
  %b = tensor.extract %E[%j, %i] : tensor<?x5xf32>
  %c = tensor.extract %v[%i] : tensor<3xf16>
  %d = func.call @walk(%s, %i) : (!rec.adt<@Step>, index) -> i32
  return %a, %b, %c, %d : i64, f32, f16, i32
}
