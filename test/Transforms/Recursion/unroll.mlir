// RUN: batch-opt %s --rec-unroll --split-input-file | FileCheck %s --check-prefix=ONCE
// RUN: batch-opt %s --rec-unroll=factor=2 --split-input-file | FileCheck %s
// RUN: batch-opt %s --rec-unroll=factor=3 --split-input-file | FileCheck %s --check-prefix=THREE
// RUN: batch-opt %s --rec-unroll=factor=2 --split-input-file --remarks-filter=batch --remark-format=emitRemark -o %t 2>&1 | FileCheck %s --check-prefix=WHY

// One call computes two or three elements, in straight-line code.

rec.adt @List kind sequence {
  rec.variant @nil(x: tensor<4xf32>)
  rec.variant @cons(x: tensor<4xf32>, rest: !rec.adt<@List>)
}

// ONCE-LABEL: func.func private @chain(
// ONCE-COUNT-1: rec.match
// ONCE-NOT: rec.match
// ONCE-LABEL: func.func @list(

// CHECK-LABEL: func.func private @chain(
// CHECK: case @cons(%[[X:.*]]: tensor<4xf32>, %[[REST:.*]]: !rec.adt<@List>)
// CHECK-NEXT: %[[R:.*]] = rec.match %[[REST]]
// CHECK-NEXT: case @nil(%[[X1:.*]]: tensor<4xf32>)
// CHECK-NEXT: %[[S:.*]] = arith.addf %[[X1]], %[[X]]
// CHECK-NEXT: math.tanh %[[S]]
// CHECK: case @cons(%[[X1:.*]]: tensor<4xf32>, %[[REST1:.*]]: !rec.adt<@List>)
// CHECK-NEXT: %[[H2:.*]] = func.call @chain(%[[REST1]])
// CHECK-NEXT: %[[S1:.*]] = arith.addf %[[H2]], %[[X1]]
// CHECK-NEXT: %[[H1:.*]] = math.tanh %[[S1]]
// CHECK-NEXT: %[[S:.*]] = arith.addf %[[H1]], %[[X]]
// CHECK-NEXT: %[[H:.*]] = math.tanh %[[S]]
// CHECK-NEXT: rec.yield %[[H]]
// CHECK: rec.yield %[[R]]
// CHECK-LABEL: func.func @list(

// THREE-LABEL: func.func private @chain(
// THREE-COUNT-3: case @cons(
// THREE: func.call @chain(
// THREE-COUNT-3: math.tanh
// THREE-LABEL: func.func @list(
func.func private @chain(%l: !rec.adt<@List>) -> tensor<4xf32> {
  %r = rec.match %l : !rec.adt<@List> -> tensor<4xf32> {
  case @nil(%x: tensor<4xf32>) {
    rec.yield %x : tensor<4xf32>
  }
  case @cons(%x: tensor<4xf32>, %rest: !rec.adt<@List>) {
    // WHY-DAG: :[[# @LINE + 1]]:{{.*}} Unroll {{.*}}"recursion unrolled by 2"
    %h = func.call @chain(%rest) : (!rec.adt<@List>) -> tensor<4xf32>
    %s = arith.addf %h, %x : tensor<4xf32>
    %y = math.tanh %s : tensor<4xf32>
    rec.yield %y : tensor<4xf32>
  } }
  return %r : tensor<4xf32>
}
func.func @list(%l: !rec.adt<@List>) -> tensor<4xf32> attributes {batch.entry} {
  %h = call @chain(%l) : (!rec.adt<@List>) -> tensor<4xf32>
  return %h : tensor<4xf32>
}

// -----

// A node computes both of its children, for each combination of their variants.
// Only the children of the children are computed by calls.

rec.adt @Tree kind tree {
  rec.variant @leaf(x: tensor<4xf32>)
  rec.variant @node(left: !rec.adt<@Tree>, right: !rec.adt<@Tree>)
}

// CHECK-LABEL: func.func private @encode(
// CHECK: case @node(%[[L:.*]]: !rec.adt<@Tree>, %[[R:.*]]: !rec.adt<@Tree>)
// CHECK-NEXT: rec.match %[[L]]
// CHECK-NEXT: case @leaf(
// CHECK-NEXT: rec.match %[[R]]
// CHECK: case @node(
// CHECK: case @node(%[[LL:.*]]: !rec.adt<@Tree>, %[[LR:.*]]: !rec.adt<@Tree>)
// CHECK-NEXT: rec.match %[[R]]
// CHECK-NEXT: case @leaf(
// CHECK: case @node(%[[RL:.*]]: !rec.adt<@Tree>, %[[RR:.*]]: !rec.adt<@Tree>)
// CHECK-NEXT: %[[H1:.*]] = func.call @encode(%[[LL]])
// CHECK-NEXT: %[[H2:.*]] = func.call @encode(%[[LR]])
// CHECK-NEXT: %[[HL:.*]] = arith.addf %[[H1]], %[[H2]]
// CHECK-NEXT: %[[H3:.*]] = func.call @encode(%[[RL]])
// CHECK-NEXT: %[[H4:.*]] = func.call @encode(%[[RR]])
// CHECK-NEXT: %[[HR:.*]] = arith.addf %[[H3]], %[[H4]]
// CHECK-NEXT: %[[H:.*]] = arith.addf %[[HL]], %[[HR]]
// CHECK-NEXT: rec.yield %[[H]]
func.func private @encode(%t: !rec.adt<@Tree>) -> tensor<4xf32> {
  %r = rec.match %t : !rec.adt<@Tree> -> tensor<4xf32> {
  case @leaf(%x: tensor<4xf32>) {
    rec.yield %x : tensor<4xf32>
  }
  case @node(%left: !rec.adt<@Tree>, %right: !rec.adt<@Tree>) {
    %l = func.call @encode(%left) : (!rec.adt<@Tree>) -> tensor<4xf32>
    %r = func.call @encode(%right) : (!rec.adt<@Tree>) -> tensor<4xf32>
    %sum = arith.addf %l, %r : tensor<4xf32>
    rec.yield %sum : tensor<4xf32>
  } }
  return %r : tensor<4xf32>
}
func.func @tree(%t: !rec.adt<@Tree>) -> tensor<4xf32> attributes {batch.entry} {
  %h = call @encode(%t) : (!rec.adt<@Tree>) -> tensor<4xf32>
  return %h : tensor<4xf32>
}

// -----

// A recursive function that takes no node is copied into itself.

// CHECK-LABEL: func.func private @count(
// CHECK: scf.if
// CHECK: scf.if
// CHECK: func.call @count(
// CHECK-NOT: scf.if
// CHECK-LABEL: func.func @number(
func.func private @count(%n: index, %x: tensor<4xf32>) -> tensor<4xf32> {
  %zero = arith.constant 0 : index
  %end = arith.cmpi eq, %n, %zero : index
  %r = scf.if %end -> (tensor<4xf32>) {
    scf.yield %x : tensor<4xf32>
  } else {
    %one = arith.constant 1 : index
    %m = arith.subi %n, %one : index
    %y = math.tanh %x : tensor<4xf32>
    %z = func.call @count(%m, %y) : (index, tensor<4xf32>) -> tensor<4xf32>
    scf.yield %z : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}
func.func @number(%n: index, %x: tensor<4xf32>) -> tensor<4xf32> attributes {batch.entry} {
  %h = call @count(%n, %x) : (index, tensor<4xf32>) -> tensor<4xf32>
  return %h : tensor<4xf32>
}
