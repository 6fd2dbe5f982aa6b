// RUN: batch-opt %s | FileCheck %s
// RUN: batch-opt %s | batch-opt | FileCheck %s
// RUN: batch-opt %s -mlir-print-op-generic | batch-opt | FileCheck %s

// The fields have each supported kind of type. A variant without fields may omit
// the parentheses.
// CHECK-LABEL: rec.adt @Tree {
// CHECK-NEXT:    rec.variant @nil()
// CHECK-NEXT:    rec.variant @leaf(word: index, "odd name": i1, weight: f32, x: tensor<4x3xbf16>)
// CHECK-NEXT:    rec.variant @node(left: !rec.adt<@Tree>, others: !rec.list<!rec.list<!rec.adt<@Other>>>)
rec.adt @Tree {
  rec.variant @nil
  rec.variant @leaf(word: index, "odd name": i1, weight: f32,
                    x: tensor<4x3xbf16>)
  rec.variant @node(left: !rec.adt<@Tree>,
                    others: !rec.list<!rec.list<!rec.adt<@Other>>>)
}

// CHECK: rec.adt @Sequence kind sequence attributes {mark} {
rec.adt @Sequence kind sequence attributes {mark} {
  rec.variant @end(tree: !rec.adt<@Tree>, trees: !rec.list<!rec.adt<@Tree>>)
  rec.variant @more(rest: !rec.adt<@Sequence>)
}

// CHECK: rec.adt @Shared kind dag {
rec.adt @Shared kind dag {
  rec.variant @node(parts: !rec.list<!rec.adt<@Shared>>)
}

// CHECK: rec.adt @Unshared kind tree arity 3 {
rec.adt @Unshared kind tree arity 3 {
  rec.variant @node(parts: !rec.list<!rec.adt<@Unshared>>)
}

// Fields of other ADTs are not children.
// CHECK: rec.adt @Flat arity 0 {
rec.adt @Flat arity 0 {
  rec.variant @node(part: !rec.adt<@Shared>)
}

// CHECK: rec.adt @Other attributes {mark} {
rec.adt @Other attributes {mark} {
  rec.variant @other(h: tensor<4xf32>, hs: !rec.list<tensor<4xf32>>,
                     ns: !rec.list<index>) {mark}
}

// CHECK-LABEL: func.func @construct
func.func @construct(%h: tensor<4xf32>, %hs: !rec.list<tensor<4xf32>>,
                     %ns: !rec.list<index>) -> !rec.adt<@Tree> {
  // CHECK: rec.construct @Tree::@nil() : () -> !rec.adt<@Tree>
  %nil = rec.construct @Tree::@nil() : () -> !rec.adt<@Tree>
  // CHECK: rec.construct @Other::@other(%{{.*}}, %{{.*}}, %{{.*}}) : (tensor<4xf32>, !rec.list<tensor<4xf32>>, !rec.list<index>) -> !rec.adt<@Other>
  %other = rec.construct @Other::@other(%h, %hs, %ns)
      : (tensor<4xf32>, !rec.list<tensor<4xf32>>, !rec.list<index>)
      -> !rec.adt<@Other>
  return %nil : !rec.adt<@Tree>
}

// Handles represent tensors, even in lists.
// CHECK-LABEL: func.func @inspector
func.func @inspector(%h: !batch.handle, %ns: !rec.list<index>)
    -> !batch.handle {
  // CHECK: rec.map {{.*}} -> !rec.list<!batch.handle>
  %hs = rec.map %n in %ns : !rec.list<index> -> !rec.list<!batch.handle> {
    rec.yield %h : !batch.handle
  }
  // CHECK: rec.construct @Other::@other({{.*}}) : (!batch.handle, !rec.list<!batch.handle>, !rec.list<index>)
  %other = rec.construct @Other::@other(%h, %hs, %ns)
      : (!batch.handle, !rec.list<!batch.handle>, !rec.list<index>)
      -> !rec.adt<@Other>
  %r = rec.match %other : !rec.adt<@Other> -> !batch.handle {
  // CHECK: case @other(%{{.*}}: !batch.handle, %{{.*}}: !rec.list<!batch.handle>, %{{.*}}: !rec.list<index>) {
  case @other(%a: !batch.handle, %as: !rec.list<!batch.handle>,
              %is: !rec.list<index>) {
    rec.yield %a : !batch.handle
  } }
  return %r : !batch.handle
}

// A ragged tensor is the list of its rows, even in fields.
// CHECK-LABEL: func.func @ragged
func.func @ragged(%h: tensor<4xf32>, %hs: tensor<?x4xf32>,
                  %ns: !rec.list<index>) -> tensor<?x4xf32> {
  // CHECK: rec.construct @Other::@other({{.*}}) : (tensor<4xf32>, tensor<?x4xf32>, !rec.list<index>)
  %other = rec.construct @Other::@other(%h, %hs, %ns)
      : (tensor<4xf32>, tensor<?x4xf32>, !rec.list<index>) -> !rec.adt<@Other>
  %r = rec.match %other : !rec.adt<@Other> -> tensor<?x4xf32> {
  // CHECK: case @other(%{{.*}}: tensor<4xf32>, %{{.*}}: tensor<?x4xf32>, %{{.*}}: !rec.list<index>) {
  case @other(%a: tensor<4xf32>, %as: tensor<?x4xf32>, %is: !rec.list<index>) {
    rec.yield %as : tensor<?x4xf32>
  } }
  return %r : tensor<?x4xf32>
}

// Several results may be in parentheses; cases may be in any order.
// CHECK-LABEL: func.func @match
func.func @match(%t: !rec.adt<@Tree>, %h: tensor<4xf32>)
    -> (tensor<4xf32>, index) {
  // CHECK:      %{{.*}}:2 = rec.match %{{.*}} : !rec.adt<@Tree> -> tensor<4xf32>, index attributes {mark} {
  // CHECK-NEXT: case @leaf(%[[WORD:.*]]: index, %{{.*}}: i1, %{{.*}}: f32, %{{.*}}: tensor<4x3xbf16>) {
  // CHECK-NEXT:   rec.yield %{{.*}}, %[[WORD]] : tensor<4xf32>, index
  // CHECK-NEXT: }
  // CHECK-NEXT: case @nil() {
  // CHECK:      case @node(
  // CHECK:      }
  // CHECK-NEXT: }
  %r:2 = rec.match %t : !rec.adt<@Tree> -> (tensor<4xf32>, index)
      attributes {mark} {
  case @leaf(%word: index, %b: i1, %f: f32, %x: tensor<4x3xbf16>) {
    rec.yield %h, %word : tensor<4xf32>, index
  }
  case @nil {
    %zero = arith.constant 0 : index
    rec.yield %h, %zero : tensor<4xf32>, index
  }
  case @node(%l: !rec.adt<@Tree>,
             %others: !rec.list<!rec.list<!rec.adt<@Other>>>) {
    %n = rec.length %others : !rec.list<!rec.list<!rec.adt<@Other>>>
    rec.yield %h, %n : tensor<4xf32>, index
  } }
  return %r#0, %r#1 : tensor<4xf32>, index
}

// A match without results needs no yields.
// CHECK-LABEL: func.func @match_without_results
func.func @match_without_results(%o: !rec.adt<@Other>) {
  // CHECK:      rec.match %{{.*}} : !rec.adt<@Other> {
  // CHECK-NEXT: case @other(
  // CHECK-NEXT:   rec.phase "other"
  // CHECK-NEXT: }
  rec.match %o : !rec.adt<@Other> {
  case @other(%a: tensor<4xf32>, %as: !rec.list<tensor<4xf32>>,
              %is: !rec.list<index>) {
    rec.phase "other"
  } }
  return
}

// A map gathers tensors in a ragged tensor or a list, and other values in a list.
// The elements of a ragged tensor are its rows.
// CHECK-LABEL: func.func @map
func.func @map(%ns: !rec.list<index>, %hs: tensor<?x4x3xf32>,
               %ss: tensor<?xf32>) {
  // CHECK: %{{.*}}:3 = rec.map %[[N:.*]] in %{{.*}} : !rec.list<index> -> tensor<?xindex>, !rec.list<tensor<index>>, !rec.list<index> {
  %a:3 = rec.map %n in %ns : !rec.list<index>
      -> tensor<?xindex>, !rec.list<tensor<index>>, !rec.list<index> {
    // CHECK: tensor.from_elements %[[N]]
    %t = tensor.from_elements %n : tensor<index>
    rec.yield %t, %t, %n : tensor<index>, tensor<index>, index
  }
  // CHECK: rec.map (%{{.*}}, %{{.*}}) in (%{{.*}}, %{{.*}}) : tensor<?x4x3xf32>, tensor<?xf32> -> tensor<?x4x3xf32>, tensor<?xf32> {
  // CHECK-NEXT: rec.yield %{{.*}}, %{{.*}} : tensor<4x3xf32>, tensor<f32>
  %b:2 = rec.map (%h, %s) in (%hs, %ss) : tensor<?x4x3xf32>, tensor<?xf32>
      -> (tensor<?x4x3xf32>, tensor<?xf32>) {
    rec.yield %h, %s : tensor<4x3xf32>, tensor<f32>
  }
  // CHECK: rec.map %{{.*}} in %{{.*}} : tensor<?xf32> attributes {mark} {
  rec.map %s in %ss : tensor<?xf32> attributes {mark} {
    rec.phase "map"
  }
  return
}

// CHECK-LABEL: func.func @fold
func.func @fold(%ns: !rec.list<index>, %hs: tensor<?x4xf32>,
                %h0: tensor<4xf32>, %n0: index) -> tensor<4xf32> {
  // CHECK: %[[R:.*]]:2 = rec.fold (%[[H:.*]], %[[N:.*]]) in (%{{.*}}, %{{.*}}) init(%[[A:.*]] = %{{.*}}, %[[B:.*]] = %{{.*}}) : tensor<?x4xf32>, !rec.list<index> -> tensor<4xf32>, index attributes {mark} {
  %r:2 = rec.fold (%h, %n) in (%hs, %ns) init(%a = %h0, %b = %n0)
      : tensor<?x4xf32>, !rec.list<index> -> tensor<4xf32>, index
      attributes {mark} {
    // CHECK-NEXT: arith.addf %[[A]], %[[H]]
    %s = arith.addf %a, %h : tensor<4xf32>
    // CHECK-NEXT: arith.addi %[[B]], %[[N]]
    %m = arith.addi %b, %n : index
    rec.yield %s, %m : tensor<4xf32>, index
  }
  // CHECK: rec.fold %{{.*}} in %{{.*}} init() : !rec.list<index> {
  rec.fold %n in %ns init() : !rec.list<index> {
    rec.phase "fold"
  }
  return %r#0 : tensor<4xf32>
}

rec.adt @Words {
  rec.variant @word(rest: !rec.adt<@Words>, word: index)
  rec.variant @end(mark: i1)
}
rec.adt @Rows {
  rec.variant @end()
  rec.variant @row(row: tensor<4xf32>, rest: !rec.adt<@Rows>)
}

// The variants and fields of a list-shaped ADT may be in any order. The types of
// elements must be written if the types of the lists do not determine them. Otherwise,
// they are optional.
// CHECK-LABEL: func.func @list_shaped
func.func @list_shaped(%words: !rec.adt<@Words>, %rows: !rec.adt<@Rows>,
                       %ns: !rec.list<index>, %zero: index) -> index {
  // CHECK: rec.elements %{{.*}} : !rec.adt<@Words> -> !rec.list<index>
  %es = rec.elements %words : !rec.adt<@Words> -> !rec.list<index>
  // CHECK: rec.elements %{{.*}} : !rec.adt<@Rows> -> tensor<?x4xf32>
  %hs = rec.elements %rows : !rec.adt<@Rows> -> tensor<?x4xf32>
  // CHECK: rec.map %[[W:.*]]: index in %{{.*}} : !rec.adt<@Words> -> !rec.list<index> {
  // CHECK-NEXT: rec.yield %[[W]] : index
  %ws = rec.map %w: index in %words : !rec.adt<@Words> -> !rec.list<index> {
    rec.yield %w : index
  }
  // CHECK: rec.fold (%{{.*}}, %{{.*}}: tensor<4xf32>) in (%{{.*}}, %{{.*}}) init(%{{.*}} = %{{.*}}) : !rec.list<index>, !rec.adt<@Rows> -> index {
  %r = rec.fold (%n: index, %h: tensor<4xf32>) in (%ns, %rows)
      init(%a = %zero) : !rec.list<index>, !rec.adt<@Rows> -> index {
    rec.yield %n : index
  }
  return %r : index
}

// The elements of a list-shaped ADT can be handles.
// CHECK-LABEL: func.func @list_shaped_inspector
func.func @list_shaped_inspector(%rows: !rec.adt<@Rows>)
    -> !rec.list<!batch.handle> {
  // CHECK: rec.elements %{{.*}} : !rec.adt<@Rows> -> !rec.list<!batch.handle>
  %hs = rec.elements %rows : !rec.adt<@Rows> -> !rec.list<!batch.handle>
  return %hs : !rec.list<!batch.handle>
}

// One element of a list, of a ragged tensor, and of a list of handles.
// CHECK-LABEL: func.func @element
func.func @element(%ns: !rec.list<index>, %xs: tensor<?x4xf32>,
                   %hs: !rec.list<!batch.handle>, %i: index) {
  // CHECK: rec.element %{{.*}}[%{{.*}}] : !rec.list<index> -> index
  %n = rec.element %ns[%i] : !rec.list<index> -> index
  // CHECK: rec.element %{{.*}}[%{{.*}}] : tensor<?x4xf32> -> tensor<4xf32>
  %x = rec.element %xs[%n] : tensor<?x4xf32> -> tensor<4xf32>
  // CHECK: rec.element %{{.*}}[%{{.*}}] : !rec.list<!batch.handle> -> !batch.handle
  %h = rec.element %hs[%n] : !rec.list<!batch.handle> -> !batch.handle
  return
}

// Lists, ragged tensors and lists of handles are empty at first, and grow.
// CHECK-LABEL: func.func @append
func.func @append(%n: index, %x: tensor<4xf32>, %h: !batch.handle) {
  // CHECK: %[[NS:.*]] = rec.empty : !rec.list<index>
  %ns = rec.empty : !rec.list<index>
  // CHECK: rec.append %[[NS]], %{{.*}} : !rec.list<index>
  %ms = rec.append %ns, %n : !rec.list<index>
  // CHECK: %[[XS:.*]] = rec.empty : tensor<?x4xf32>
  %xs = rec.empty : tensor<?x4xf32>
  // CHECK: rec.append %[[XS]], %{{.*}} {mark} : tensor<?x4xf32>
  %ys = rec.append %xs, %x {mark} : tensor<?x4xf32>
  // CHECK: %[[HS:.*]] = rec.empty : !rec.list<!batch.handle>
  %hs = rec.empty : !rec.list<!batch.handle>
  // CHECK: rec.append %[[HS]], %{{.*}} : !rec.list<!batch.handle>
  %gs = rec.append %hs, %h : !rec.list<!batch.handle>
  return
}
