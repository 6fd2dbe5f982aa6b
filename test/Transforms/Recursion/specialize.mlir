// RUN: batch-opt %s --rec-specialize --split-input-file | FileCheck %s --check-prefix=FREE
// RUN: batch-opt %s --rec-specialize=test=leaf --split-input-file | FileCheck %s
// RUN: batch-opt %s --rec-specialize="test=node(leaf,leaf)" --split-input-file | FileCheck %s --check-prefix=BOTH
// RUN: batch-opt %s --rec-specialize="test=node(_,node)" --split-input-file | FileCheck %s --check-prefix=RIGHT
// RUN: batch-opt %s --rec-specialize=test=leaf --split-input-file --remarks-filter=batch --remark-format=emitRemark -o %t 2>&1 | FileCheck %s --check-prefix=WHY

// The test of a child moves to the caller: the code of the leaf and its parent
// becomes straight-line code. `leaf` creates code for all four combinations.
// `node(leaf,leaf)` tests the right child if the left one is a leaf. Any
// variant may be tested: `node(_,node)` runs two levels on the right.

rec.adt @Tree kind tree {
  rec.variant @leaf(x: tensor<4xf32>)
  rec.variant @node(left: !rec.adt<@Tree>, right: !rec.adt<@Tree>)
}

// FREE-LABEL: func.func private @encode(
// FREE-COUNT-1: rec.match
// FREE-NOT: rec.match
// FREE-LABEL: func.func @tree(

// CHECK-LABEL: func.func private @encode(
// CHECK: rec.match %arg0
// CHECK: case @node(%[[L:.*]]: !rec.adt<@Tree>, %[[R:.*]]: !rec.adt<@Tree>)
// CHECK-NEXT: %[[RESULT:.*]] = rec.match %[[L]]
// CHECK-NEXT: case @leaf(%[[XL:.*]]: tensor<4xf32>)
// CHECK-NEXT: %[[LEAF:.*]] = rec.match %[[R]]
// CHECK-NEXT: case @leaf(%[[XR:.*]]: tensor<4xf32>)
// CHECK-NEXT: %[[HL:.*]] = math.exp %[[XL]]
// CHECK-NEXT: %[[HR:.*]] = math.exp %[[XR]]
// CHECK-NEXT: %[[SUM:.*]] = arith.addf %[[HL]], %[[HR]]
// CHECK-NEXT: %[[H:.*]] = math.tanh %[[SUM]]
// CHECK-NEXT: rec.yield %[[H]]
// CHECK: case @node(
// CHECK-NEXT: %[[HL:.*]] = math.exp %[[XL]]
// CHECK-NEXT: %[[HR:.*]] = func.call @encode(%[[R]])
// CHECK: rec.yield %[[LEAF]]
// CHECK: case @node(
// CHECK-NEXT: rec.match %[[R]]
// CHECK-NEXT: case @leaf(%[[XR:.*]]: tensor<4xf32>)
// CHECK-NEXT: func.call @encode(%[[L]])
// CHECK-NEXT: math.exp %[[XR]]
// CHECK: case @node(
// CHECK-NEXT: func.call @encode(%[[L]])
// CHECK-NEXT: func.call @encode(%[[R]])
// CHECK: rec.yield %[[RESULT]]

// BOTH-LABEL: func.func private @encode(
// BOTH: case @node(%[[L:.*]]: !rec.adt<@Tree>, %[[R:.*]]: !rec.adt<@Tree>)
// BOTH-NEXT: rec.match %[[L]]
// BOTH-NEXT: case @leaf(
// BOTH-NEXT: rec.match %[[R]]
// BOTH-NEXT: case @leaf(
// BOTH-NEXT: math.exp
// BOTH-NEXT: math.exp
// BOTH: case @node(
// BOTH-NEXT: math.exp
// BOTH-NEXT: func.call @encode(%[[R]])
// BOTH: case @node(
// BOTH-NEXT: func.call @encode(%[[L]])
// BOTH-NEXT: func.call @encode(%[[R]])
// BOTH-NOT: rec.match
// BOTH-LABEL: func.func @tree(

// RIGHT-LABEL: func.func private @encode(
// RIGHT: case @node(%[[L:.*]]: !rec.adt<@Tree>, %[[R:.*]]: !rec.adt<@Tree>)
// RIGHT-NEXT: rec.match %[[R]]
// RIGHT-NEXT: case @leaf(
// RIGHT-NEXT: func.call @encode(%[[L]])
// RIGHT-NEXT: func.call @encode(%[[R]])
// RIGHT: case @node(%[[RL:.*]]: !rec.adt<@Tree>, %[[RR:.*]]: !rec.adt<@Tree>)
// RIGHT-NEXT: %[[H1:.*]] = func.call @encode(%[[L]])
// RIGHT-NEXT: %[[H2:.*]] = func.call @encode(%[[RL]])
// RIGHT-NEXT: %[[H3:.*]] = func.call @encode(%[[RR]])
// RIGHT-NEXT: %[[S:.*]] = arith.addf %[[H2]], %[[H3]]
// RIGHT-NEXT: %[[H4:.*]] = math.tanh %[[S]]
// RIGHT-NEXT: arith.addf %[[H1]], %[[H4]]
func.func private @encode(%t: !rec.adt<@Tree>) -> tensor<4xf32> {
  %r = rec.match %t : !rec.adt<@Tree> -> tensor<4xf32> {
  case @leaf(%x: tensor<4xf32>) {
    %h = math.exp %x : tensor<4xf32>
    rec.yield %h : tensor<4xf32>
  }
  case @node(%left: !rec.adt<@Tree>, %right: !rec.adt<@Tree>) {
    // WHY-DAG: :[[# @LINE + 1]]:{{.*}} Specialize {{.*}}"code specialized for 'leaf'"
    %l = func.call @encode(%left) : (!rec.adt<@Tree>) -> tensor<4xf32>
    %r = func.call @encode(%right) : (!rec.adt<@Tree>) -> tensor<4xf32>
    %sum = arith.addf %l, %r : tensor<4xf32>
    %h = math.tanh %sum : tensor<4xf32>
    rec.yield %h : tensor<4xf32>
  } }
  return %r : tensor<4xf32>
}
func.func @tree(%t: !rec.adt<@Tree>) -> tensor<4xf32> attributes {batch.entry} {
  %h = call @encode(%t) : (!rec.adt<@Tree>) -> tensor<4xf32>
  return %h : tensor<4xf32>
}

// -----

// Elements of lists are children, too. If two functions take the same child, their calls
// are replaced together. `node(leaf,leaf)` fits only the variant @node of @Other, so
// the code for @Tree remains unchanged.

rec.adt @Tree kind tree {
  rec.variant @leaf(x: tensor<4xf32>)
  rec.variant @node(kids: !rec.list<!rec.adt<@Tree>>)
}
rec.adt @Other {
  rec.variant @node(left: !rec.adt<@Pair>, right: !rec.adt<@Pair>)
}
rec.adt @Pair {
  rec.variant @leaf()
  rec.variant @node()
}

// CHECK-LABEL: func.func private @up(
// CHECK: rec.map %[[K:.*]] in
// CHECK-NEXT: rec.match %[[K]]
// CHECK-NEXT: case @leaf(%[[X:.*]]: tensor<4xf32>)
// CHECK-NEXT: %[[H:.*]] = math.exp %[[X]]
// CHECK-NEXT: arith.addf %[[H]], %[[X]]
// CHECK: case @node(
// CHECK-NEXT: func.call @up(%[[K]])
// CHECK-NEXT: func.call @down(%[[K]])
// BOTH-LABEL: func.func private @up(
// BOTH-NOT: rec.match %{{[^a]}}
// BOTH-LABEL: func.func private @down(
func.func private @up(%t: !rec.adt<@Tree>) -> tensor<4xf32> {
  %r = rec.match %t : !rec.adt<@Tree> -> tensor<4xf32> {
  case @leaf(%x: tensor<4xf32>) {
    %h = math.exp %x : tensor<4xf32>
    rec.yield %h : tensor<4xf32>
  }
  case @node(%kids: !rec.list<!rec.adt<@Tree>>) {
    %hs = rec.map %k in %kids : !rec.list<!rec.adt<@Tree>> -> tensor<?x4xf32> {
      %a = func.call @up(%k) : (!rec.adt<@Tree>) -> tensor<4xf32>
      %b = func.call @down(%k) : (!rec.adt<@Tree>) -> tensor<4xf32>
      %c = arith.addf %a, %b : tensor<4xf32>
      rec.yield %c : tensor<4xf32>
    }
    %zero = arith.constant dense<0.0> : tensor<4xf32>
    %sum = linalg.reduce { arith.addf } ins(%hs : tensor<?x4xf32>) outs(%zero : tensor<4xf32>) dimensions = [0]
    rec.yield %sum : tensor<4xf32>
  } }
  return %r : tensor<4xf32>
}
func.func private @down(%t: !rec.adt<@Tree>) -> tensor<4xf32> {
  %r = rec.match %t : !rec.adt<@Tree> -> tensor<4xf32> {
  case @leaf(%x: tensor<4xf32>) {
    rec.yield %x : tensor<4xf32>
  }
  case @node(%kids: !rec.list<!rec.adt<@Tree>>) {
    %h = func.call @up(%t) : (!rec.adt<@Tree>) -> tensor<4xf32>
    rec.yield %h : tensor<4xf32>
  } }
  return %r : tensor<4xf32>
}
func.func @list(%t: !rec.adt<@Tree>) -> tensor<4xf32> attributes {batch.entry} {
  %h = call @up(%t) : (!rec.adt<@Tree>) -> tensor<4xf32>
  return %h : tensor<4xf32>
}

// -----

// A match inside a case of a match on the same value is resolved without any
// option, for any order of cases. If no recursive call takes a child that the
// option tests, a remark reports it.

rec.adt @Tree {
  rec.variant @leaf(n: index)
  rec.variant @node(left: index, right: index)
}
rec.adt @Unused {
  rec.variant @leaf()
  rec.variant @node(left: !rec.adt<@Unused>, right: !rec.adt<@Unused>)
}

// WHY-DAG: Specialize {{.*}}"no recursive call takes a child that 'leaf' tests"
// FREE-LABEL: func.func @twice(
// FREE: case @leaf(%[[N:.*]]: index)
// FREE-NEXT: rec.yield %[[N]], %[[N]]
// FREE: case @node(%[[A:.*]]: index, %[[B:.*]]: index)
// FREE-NEXT: %[[S:.*]] = arith.addi %[[A]], %[[B]]
// FREE-NEXT: %[[P:.*]] = arith.muli %[[S]], %[[B]]
// FREE-NEXT: rec.yield %[[S]], %[[P]]
func.func @twice(%t: !rec.adt<@Tree>) -> (index, index) attributes {batch.entry} {
  %a, %b = rec.match %t : !rec.adt<@Tree> -> index, index {
  case @leaf(%n: index) {
    %m = rec.match %t : !rec.adt<@Tree> -> index {
    case @leaf(%again: index) {
      rec.yield %again : index
    }
    case @node(%l: index, %r: index) {
      rec.yield %l : index
    } }
    rec.yield %n, %m : index, index
  }
  case @node(%left: index, %right: index) {
    %s = arith.addi %left, %right : index
    %m = rec.match %t : !rec.adt<@Tree> -> index {
    case @node(%l: index, %r: index) {
      %p = arith.muli %s, %r : index
      rec.yield %p : index
    }
    case @leaf(%again: index) {
      rec.yield %again : index
    } }
    rec.yield %s, %m : index, index
  } }
  return %a, %b : index, index
}
