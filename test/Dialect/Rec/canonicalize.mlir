// RUN: batch-opt %s --canonicalize | FileCheck %s
// RUN: batch-opt %s --loop-invariant-code-motion | FileCheck %s --check-prefix=LICM

rec.adt @Tree {
  rec.variant @leaf(word: index, weight: f32)
  rec.variant @node(left: !rec.adt<@Tree>, right: !rec.adt<@Tree>)
}

// A match on a value that has just been constructed has a known case.
// CHECK-LABEL: func.func @match_of_construct
// CHECK-SAME:    (%[[N:.*]]: index, %[[W:.*]]: f32)
func.func @match_of_construct(%n: index, %w: f32) -> (f32, index) {
  // CHECK-NEXT: %[[SUM:.*]] = arith.addi %[[N]], %[[N]]
  // CHECK-NEXT: return %[[W]], %[[SUM]]
  %t = rec.construct @Tree::@leaf(%n, %w) : (index, f32) -> !rec.adt<@Tree>
  %a, %b = rec.match %t : !rec.adt<@Tree> -> f32, index {
  case @node(%l: !rec.adt<@Tree>, %r: !rec.adt<@Tree>) {
    rec.yield %w, %n : f32, index
  }
  case @leaf(%word: index, %weight: f32) {
    %sum = arith.addi %word, %n : index
    rec.yield %weight, %sum : f32, index
  } }
  return %a, %b : f32, index
}

// Unused results are removed, together with the ops that only they need.
// CHECK-LABEL: func.func @unused_match_result
func.func @unused_match_result(%t: !rec.adt<@Tree>, %n: index) -> index {
  // CHECK:      %[[R:.*]] = rec.match %{{.*}} : !rec.adt<@Tree> -> index {
  // CHECK-NEXT: case @leaf(%[[WORD:.*]]: index, %{{.*}}: f32) {
  // CHECK-NEXT:   rec.yield %[[WORD]] : index
  // CHECK:      case @node(
  // CHECK-NEXT:   rec.yield %{{.*}} : index
  // CHECK:      return %[[R]]
  %a, %b = rec.match %t : !rec.adt<@Tree> -> f32, index {
  case @leaf(%word: index, %weight: f32) {
    %sum = arith.addf %weight, %weight : f32
    rec.yield %sum, %word : f32, index
  }
  case @node(%l: !rec.adt<@Tree>, %r: !rec.adt<@Tree>) {
    %zero = arith.constant 0.0 : f32
    rec.yield %zero, %n : f32, index
  } }
  return %b : index
}

// CHECK-LABEL: func.func @unused_map_result
func.func @unused_map_result(%ns: !rec.list<index>) -> !rec.list<index> {
  // CHECK:      %[[R:.*]] = rec.map %[[N:.*]] in %{{.*}} : !rec.list<index> -> !rec.list<index> {
  // CHECK-NEXT:   rec.yield %[[N]] : index
  // CHECK:      return %[[R]]
  %a, %b = rec.map %n in %ns : !rec.list<index>
      -> !rec.list<index>, !rec.list<index> {
    %sum = arith.addi %n, %n : index
    rec.yield %sum, %n : index, index
  }
  return %b : !rec.list<index>
}

// Ops with unused results are dead, unless an op inside has effects.
// CHECK-LABEL: func.func @dead
func.func @dead(%t: !rec.adt<@Tree>, %ns: !rec.list<index>, %n: index) {
  // CHECK-NEXT: rec.map
  // CHECK-NEXT:   rec.phase "kept"
  // CHECK-NEXT: }
  // CHECK-NEXT: return
  %u = rec.construct @Tree::@node(%t, %t)
      : (!rec.adt<@Tree>, !rec.adt<@Tree>) -> !rec.adt<@Tree>
  %a = rec.match %t : !rec.adt<@Tree> -> index {
  case @leaf(%word: index, %weight: f32) {
    rec.yield %word : index
  }
  case @node(%l: !rec.adt<@Tree>, %r: !rec.adt<@Tree>) {
    rec.yield %n : index
  } }
  %b = rec.map %m in %ns : !rec.list<index> -> !rec.list<index> {
    rec.yield %m : index
  }
  %c = rec.fold %m in %ns init(%x = %n) : !rec.list<index> -> index {
    rec.yield %m : index
  }
  rec.map %m in %ns : !rec.list<index> {
    rec.phase "kept"
  }
  return
}

// The result of a map has as many elements as the list that the map walks.
// CHECK-LABEL: func.func @length_of_map
// CHECK-SAME:    (%[[NS:.*]]: !rec.list<index>)
func.func @length_of_map(%ns: !rec.list<index>) -> index {
  // CHECK-NEXT: %[[LENGTH:.*]] = rec.length %[[NS]] : !rec.list<index>
  // CHECK-NEXT: return %[[LENGTH]]
  %a = rec.map %n in %ns : !rec.list<index> -> !rec.list<f32> {
    %f = arith.constant 1.0 : f32
    rec.yield %f : f32
  }
  %length = rec.length %a : !rec.list<f32>
  return %length : index
}

rec.adt @Words {
  rec.variant @end()
  rec.variant @word(word: index, rest: !rec.adt<@Words>)
}

// If a map walks an ADT and a list, its result has the length of the list.
// CHECK-LABEL: func.func @length_of_map_of_adt
// CHECK-SAME:    (%[[WS:.*]]: !rec.adt<@Words>, %[[NS:.*]]: !rec.list<index>)
func.func @length_of_map_of_adt(%ws: !rec.adt<@Words>, %ns: !rec.list<index>)
    -> (index, index) {
  // CHECK: %[[A:.*]] = rec.map
  %a = rec.map %w: index in %ws : !rec.adt<@Words> -> !rec.list<index> {
    rec.yield %w : index
  }
  %b = rec.map (%w: index, %n) in (%ws, %ns)
      : !rec.adt<@Words>, !rec.list<index> -> !rec.list<index> {
    rec.yield %n : index
  }
  // CHECK: rec.length %[[A]]
  %l = rec.length %a : !rec.list<index>
  // CHECK: rec.length %[[NS]]
  %m = rec.length %b : !rec.list<index>
  return %l, %m : index, index
}

// An op that does not depend on the element is moved out of the body. A walk
// over several lists is not moved, because it fails if their lengths differ.
// LICM-LABEL: func.func @hoist
func.func @hoist(%ns: !rec.list<index>, %n: index) {
  // LICM-NEXT: arith.muli
  // LICM-NEXT: rec.map
  // LICM-NEXT:   rec.fold (
  // LICM:        rec.yield
  // LICM:      rec.fold
  // LICM-NEXT:   rec.yield
  %a = rec.map %m in %ns : !rec.list<index> -> !rec.list<index> {
    %square = arith.muli %n, %n : index
    %sum = rec.fold (%x, %y) in (%ns, %ns) init(%acc = %square)
        : !rec.list<index>, !rec.list<index> -> index {
      rec.yield %x : index
    }
    rec.yield %sum : index
  }
  %b = rec.fold %m in %ns init(%acc = %n) : !rec.list<index> -> index {
    %length = rec.length %ns : !rec.list<index>
    rec.yield %length : index
  }
  return
}
