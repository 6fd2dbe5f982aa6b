// RUN: batch-opt %s --batch-linearize --split-input-file | FileCheck %s

!tree = !rec.adt<@Tree>

rec.adt @Tree {
  rec.variant @leaf(n: index)
  rec.variant @node(left: !tree, right: !tree)
}

// A traversal visits the nodes of inputs. A function called for children of a
// value constructed by the program is not a traversal.
// CHECK-LABEL: func.func private @count.inspect
// CHECK-SAME:    attributes {batch.memoized}
func.func private @count(%t: !tree) -> index {
  %n = rec.match %t : !tree -> index {
  case @leaf(%n: index) {
    rec.yield %n : index
  }
  case @node(%l: !tree, %r: !tree) {
    %a = func.call @count(%l) : (!tree) -> index
    %b = func.call @count(%r) : (!tree) -> index
    %n = arith.addi %a, %b : index
    rec.yield %n : index
  } }
  return %n : index
}
// CHECK-LABEL: func.func @from_entry.inspect
// CHECK:         func.call @count.inspect
func.func @from_entry(%t: !tree) -> index attributes {batch.entry} {
  %made = rec.construct @Tree::@node(%t, %t) : (!tree, !tree) -> !tree
  %pair = rec.construct @Tree::@node(%made, %t) : (!tree, !tree) -> !tree
  %n = rec.match %pair : !tree -> index {
  case @leaf(%n: index) {
    rec.yield %n : index
  }
  case @node(%l: !tree, %r: !tree) {
    %n = func.call @count(%l) : (!tree) -> index
    rec.yield %n : index
  } }
  return %n : index
}

// -----

!tree = !rec.adt<@Tree>

rec.adt @Tree {
  rec.variant @leaf(n: index)
  rec.variant @node(left: !tree, right: !tree)
}

// A function that constructs the values it is called for is not a traversal either.
// CHECK-LABEL: func.func private @grow.inspect
// CHECK-SAME:    attributes {batch.memoized}
func.func private @grow(%t: !tree) -> index {
  %n = rec.match %t : !tree -> index {
  case @leaf(%n: index) {
    rec.yield %n : index
  }
  case @node(%l: !tree, %r: !tree) {
    %a = func.call @grow(%l) : (!tree) -> index
    %b = func.call @grow(%r) : (!tree) -> index
    %leaf = rec.construct @Tree::@leaf(%a) : (index) -> !tree
    %made = rec.construct @Tree::@node(%leaf, %leaf) : (!tree, !tree) -> !tree
    %c = rec.match %made : !tree -> index {
    case @leaf(%n: index) {
      rec.yield %n : index
    }
    case @node(%ml: !tree, %mr: !tree) {
      %d = func.call @grow(%ml) : (!tree) -> index
      rec.yield %d : index
    } }
    %n = arith.addi %b, %c : index
    rec.yield %n : index
  } }
  return %n : index
}
// CHECK-LABEL: func.func @from_itself.inspect
// CHECK:         call @grow.inspect
func.func @from_itself(%t: !tree) -> index attributes {batch.entry} {
  %n = call @grow(%t) : (!tree) -> index
  return %n : index
}
