// RUN: batch-opt %s --rec-refactor --split-input-file | FileCheck %s
// RUN: batch-opt %s --rec-refactor --split-input-file | batch-opt --rec-refactor --split-input-file | FileCheck %s
// RUN: batch-opt %s --rec-refactor --split-input-file --remarks-filter=batch --remark-format=emitRemark -o %t 2>&1 | FileCheck %s --check-prefix=WHY
// RUN: batch-opt %s --autobatch --split-input-file | FileCheck %s --check-prefix=OFF
// RUN: batch-opt %s --autobatch=refactor --split-input-file | FileCheck %s --check-prefix=ON

// The mark is in a case. The caller computes the tail of each child, together with the caller's
// own sum. Callers have code for each variant of the child. Head and tail both contain the
// constants and parameters that they need. These are not results of the head.

rec.adt @Tree kind tree {
  rec.variant @leaf(x: tensor<4xf32>)
  rec.variant @node(left: !rec.adt<@Tree>, right: !rec.adt<@Tree>)
}

// CHECK-LABEL: func.func private @encode_head(
// CHECK-SAME: %[[L:[a-z0-9]+]]: !rec.adt<@Tree>, %[[W:[a-z0-9]+]]: tensor<4xf32>, %[[R:[a-z0-9]+]]: !rec.adt<@Tree>) -> (tensor<4xf32>, tensor<4xf32>)
// CHECK-NEXT: rec.match %[[L]]
// CHECK-NEXT: case @leaf(%[[XL:.*]]: tensor<4xf32>)
// CHECK-NEXT: rec.match %[[R]]
// CHECK-NEXT: case @leaf(%[[XR:.*]]: tensor<4xf32>)
// CHECK-NOT: call
// CHECK: case @node(
// CHECK: case @node(%[[LL:.*]]: !rec.adt<@Tree>, %[[LR:.*]]: !rec.adt<@Tree>)
// CHECK-NEXT: rec.match %[[R]]
// CHECK-NEXT: case @leaf(
// CHECK: case @node(%[[RL:.*]]: !rec.adt<@Tree>, %[[RR:.*]]: !rec.adt<@Tree>)
// CHECK-NEXT: %[[TWO:.*]] = arith.constant dense<2.0
// CHECK-NEXT: %[[CL:.*]]:2 = func.call @encode_head(%[[LL]], %[[W]], %[[LR]])
// CHECK-NEXT: %[[TWOL:.*]] = arith.constant dense<2.0
// CHECK-NEXT: %[[TL:.*]] = math.tanh %[[CL]]#1 :
// CHECK-NEXT: %[[PL:.*]] = arith.mulf %[[TL]], %[[TWOL]]
// CHECK-NEXT: %[[QL:.*]] = arith.addf %[[PL]], %[[CL]]#0
// CHECK-NEXT: %[[HL:.*]] = arith.mulf %[[QL]], %[[W]]
// CHECK-NEXT: %[[CR:.*]]:2 = func.call @encode_head(%[[RL]], %[[W]], %[[RR]])
// CHECK:      %[[HR:.*]] = arith.mulf %{{.*}}, %[[W]]
// CHECK-NEXT: %[[SUM:.*]] = arith.addf %[[HL]], %[[HR]]
// CHECK-NEXT: %[[S:.*]] = arith.mulf %[[SUM]], %[[TWO]]
// CHECK-NEXT: rec.yield %[[HL]], %[[S]]

// The tail is also copied into callers outside the recursion. No call of @encode remains.
// CHECK-NOT: @encode(
// CHECK-LABEL: func.func @tree(
// CHECK-NEXT: rec.match
// CHECK-NEXT: case @leaf(%[[X:.*]]: tensor<4xf32>)
// CHECK-NEXT: rec.yield %[[X]]
// CHECK: func.call @encode_head(
// CHECK: math.tanh

// OFF: batch.kernel @encode_node(
// ON: batch.kernel @encode_head_node_node(
func.func private @encode(%t: !rec.adt<@Tree>, %w: tensor<4xf32>) -> tensor<4xf32> {
  %h = rec.match %t : !rec.adt<@Tree> -> tensor<4xf32> {
  case @leaf(%x: tensor<4xf32>) {
    rec.yield %x : tensor<4xf32>
  }
  case @node(%left: !rec.adt<@Tree>, %right: !rec.adt<@Tree>) {
    %l = func.call @encode(%left, %w) : (!rec.adt<@Tree>, tensor<4xf32>) -> tensor<4xf32>
    %r = func.call @encode(%right, %w) : (!rec.adt<@Tree>, tensor<4xf32>) -> tensor<4xf32>
    %sum = arith.addf %l, %r : tensor<4xf32>
    %two = arith.constant dense<2.0> : tensor<4xf32>
    %s = arith.mulf %sum, %two : tensor<4xf32>
    // WHY: :[[# @LINE + 1]]:{{.*}} Refactor {{.*}}"the marked ops moved to the callers of @encode, which call @encode_head for the rest"
    %a = math.tanh %s {rec.backedge} : tensor<4xf32>
    %b = arith.mulf %a, %two : tensor<4xf32>
    %c = arith.addf %b, %l : tensor<4xf32>
    %y = arith.mulf %c, %w : tensor<4xf32>
    rec.yield %y : tensor<4xf32>
  } }
  return %h : tensor<4xf32>
}
func.func @tree(%t: !rec.adt<@Tree>, %w: tensor<4xf32> {batch.shared = "w"}) -> tensor<4xf32> attributes {batch.entry} {
  %h = call @encode(%t, %w) : (!rec.adt<@Tree>, tensor<4xf32>) -> tensor<4xf32>
  return %h : tensor<4xf32>
}

// -----

// The mark is after the match, so the tail is the same for all variants. No code
// is copied for variants, and the recursion keeps its form. The entry itself is
// recursive: it remains, and calls the head.

rec.adt @Tree kind tree {
  rec.variant @leaf(x: tensor<4xf32>)
  rec.variant @node(left: !rec.adt<@Tree>, right: !rec.adt<@Tree>)
}

// CHECK-LABEL: func.func @encode(
// CHECK-NEXT: %[[C:.*]] = call @encode_head(
// CHECK-NEXT: %[[H:.*]] = math.tanh %[[C]]
// CHECK-NEXT: return %[[H]]

// CHECK-LABEL: func.func private @encode_head(
// CHECK-SAME: %[[T:[a-z0-9]+]]: !rec.adt<@Tree>)
// CHECK-NEXT: %[[M:.*]] = rec.match %[[T]]
// CHECK-NEXT: case @leaf(%[[X:.*]]: tensor<4xf32>)
// CHECK-NEXT: rec.yield %[[X]]
// CHECK: case @node(%[[L:.*]]: !rec.adt<@Tree>, %[[R:.*]]: !rec.adt<@Tree>)
// CHECK-NEXT: %[[CL:.*]] = func.call @encode_head(%[[L]])
// CHECK-NEXT: %[[HL:.*]] = math.tanh %[[CL]]
// CHECK-NEXT: %[[CR:.*]] = func.call @encode_head(%[[R]])
// CHECK-NEXT: %[[HR:.*]] = math.tanh %[[CR]]
// CHECK-NEXT: %[[S:.*]] = arith.addf %[[HL]], %[[HR]]
// CHECK-NEXT: rec.yield %[[S]]
// CHECK: return %[[M]]
func.func @encode(%t: !rec.adt<@Tree>) -> tensor<4xf32> attributes {batch.entry} {
  %s = rec.match %t : !rec.adt<@Tree> -> tensor<4xf32> {
  case @leaf(%x: tensor<4xf32>) {
    rec.yield %x : tensor<4xf32>
  }
  case @node(%left: !rec.adt<@Tree>, %right: !rec.adt<@Tree>) {
    %l = func.call @encode(%left) : (!rec.adt<@Tree>) -> tensor<4xf32>
    %r = func.call @encode(%right) : (!rec.adt<@Tree>) -> tensor<4xf32>
    %sum = arith.addf %l, %r : tensor<4xf32>
    rec.yield %sum : tensor<4xf32>
  } }
  %h = math.tanh %s {rec.backedge} : tensor<4xf32>
  return %h : tensor<4xf32>
}

// -----

// Trees and lists of trees alternate. The mark is in one function, which the other
// function calls.

rec.adt @Tree kind tree {
  rec.variant @node(x: tensor<4xf32>, kids: !rec.adt<@Forest>)
}
rec.adt @Forest kind tree {
  rec.variant @none()
  rec.variant @some(first: !rec.adt<@Tree>, rest: !rec.adt<@Forest>)
}

// CHECK-LABEL: func.func private @sum(
// CHECK: case @some(%[[FIRST:.*]]: !rec.adt<@Tree>, %[[REST:.*]]: !rec.adt<@Forest>)
// CHECK-NEXT: rec.match %[[FIRST]]
// CHECK-NEXT: case @node(%[[X:.*]]: tensor<4xf32>, %[[KIDS:.*]]: !rec.adt<@Forest>)
// CHECK-NEXT: %[[C:.*]] = func.call @encode_head(%[[KIDS]])
// CHECK-NEXT: %[[A:.*]] = arith.addf %[[C]], %[[X]]
// CHECK-NEXT: %[[H:.*]] = math.tanh %[[A]]
// CHECK-NEXT: %[[S:.*]] = func.call @sum(%[[REST]])
// CHECK-NEXT: arith.addf %[[H]], %[[S]]
func.func private @sum(%f: !rec.adt<@Forest>) -> tensor<4xf32> {
  %h = rec.match %f : !rec.adt<@Forest> -> tensor<4xf32> {
  case @none() {
    %zero = arith.constant dense<0.0> : tensor<4xf32>
    rec.yield %zero : tensor<4xf32>
  }
  case @some(%first: !rec.adt<@Tree>, %rest: !rec.adt<@Forest>) {
    %a = func.call @encode(%first) : (!rec.adt<@Tree>) -> tensor<4xf32>
    %b = func.call @sum(%rest) : (!rec.adt<@Forest>) -> tensor<4xf32>
    %s = arith.addf %a, %b : tensor<4xf32>
    rec.yield %s : tensor<4xf32>
  } }
  return %h : tensor<4xf32>
}

// CHECK-LABEL: func.func private @encode_head(
// CHECK-NEXT: call @sum(
// CHECK-NEXT: return
func.func private @encode(%t: !rec.adt<@Tree>) -> tensor<4xf32> {
  %h = rec.match %t : !rec.adt<@Tree> -> tensor<4xf32> {
  case @node(%x: tensor<4xf32>, %kids: !rec.adt<@Forest>) {
    %s = func.call @sum(%kids) : (!rec.adt<@Forest>) -> tensor<4xf32>
    %a = arith.addf %s, %x {rec.backedge} : tensor<4xf32>
    %y = math.tanh %a : tensor<4xf32>
    rec.yield %y : tensor<4xf32>
  } }
  return %h : tensor<4xf32>
}
func.func @tree(%t: !rec.adt<@Tree>) -> tensor<4xf32> attributes {batch.entry} {
  %h = call @encode(%t) : (!rec.adt<@Tree>) -> tensor<4xf32>
  return %h : tensor<4xf32>
}

// -----

// Both functions of a recursion are cut: only their heads remain in the recursion.

rec.adt @Tree kind tree {
  rec.variant @node(x: tensor<4xf32>, kids: !rec.adt<@Forest>)
}
rec.adt @Forest kind tree {
  rec.variant @none()
  rec.variant @some(first: !rec.adt<@Tree>, rest: !rec.adt<@Forest>)
}

// CHECK-NOT: @sum(
// CHECK-LABEL: func.func private @sum_head(
// CHECK-NOT: @encode(
// CHECK: case @some(%[[FIRST:.*]]: !rec.adt<@Tree>, %[[REST:.*]]: !rec.adt<@Forest>)
// CHECK-NEXT: func.call @encode_head(
// CHECK-NEXT: math.tanh
// CHECK-NEXT: %[[C:.*]]:2 = func.call @sum_head(%[[FIRST]], %[[REST]])
// CHECK-NEXT: arith.addf %[[C]]#0, %[[C]]#1
// CHECK-LABEL: func.func private @encode_head(
// CHECK: func.call @sum_head(
// CHECK-NEXT: arith.addf
// CHECK-LABEL: func.func @tree(
func.func private @sum(%f: !rec.adt<@Forest>) -> tensor<4xf32> {
  %h = rec.match %f : !rec.adt<@Forest> -> tensor<4xf32> {
  case @none() {
    %zero = arith.constant dense<0.0> : tensor<4xf32>
    rec.yield %zero : tensor<4xf32>
  }
  case @some(%first: !rec.adt<@Tree>, %rest: !rec.adt<@Forest>) {
    %a = func.call @encode(%first) : (!rec.adt<@Tree>) -> tensor<4xf32>
    %b = func.call @sum(%rest) : (!rec.adt<@Forest>) -> tensor<4xf32>
    %s = arith.addf %a, %b {rec.backedge} : tensor<4xf32>
    rec.yield %s : tensor<4xf32>
  } }
  return %h : tensor<4xf32>
}
func.func private @encode(%t: !rec.adt<@Tree>) -> tensor<4xf32> {
  %h = rec.match %t : !rec.adt<@Tree> -> tensor<4xf32> {
  case @node(%x: tensor<4xf32>, %kids: !rec.adt<@Forest>) {
    %s = func.call @sum(%kids) : (!rec.adt<@Forest>) -> tensor<4xf32>
    %y = math.tanh %s {rec.backedge} : tensor<4xf32>
    rec.yield %y : tensor<4xf32>
  } }
  return %h : tensor<4xf32>
}
func.func @tree(%t: !rec.adt<@Tree>) -> tensor<4xf32> attributes {batch.entry} {
  %h = call @encode(%t) : (!rec.adt<@Tree>) -> tensor<4xf32>
  return %h : tensor<4xf32>
}

// -----

// Without marks, nothing changes.

// CHECK-LABEL: func.func @main(
// CHECK-NEXT: math.tanh
// WHY: Refactor {{.*}}"no op is marked 'rec.backedge'"
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> attributes {batch.entry} {
  %y = math.tanh %x : tensor<4xf32>
  return %y : tensor<4xf32>
}
