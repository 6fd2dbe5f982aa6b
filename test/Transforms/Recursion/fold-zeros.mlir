// RUN: batch-opt %s --rec-fold-zeros --split-input-file | FileCheck %s
// RUN: batch-opt %s --rec-fold-zeros=assume-finite --split-input-file | FileCheck %s --check-prefix=FINITE
// RUN: batch-opt %s --rec-fold-zeros --split-input-file --remarks-filter=batch --remark-format=emitRemark -o %t 2>&1 | FileCheck %s --check-prefix=WHY
// RUN: batch-opt %s --rec-fold-zeros=assume-finite --split-input-file --remarks-filter=batch --remark-format=emitRemark -o %t 2>&1 | FileCheck %s --check-prefix=REMOVED

// The product of a parameter and zeros is computed once for all tasks and added to %wx. The sum is
// bit-identical to the product whose initial value is %wx. If values are finite, the result is %wx.

// CHECK-LABEL: func.func @product(
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>, %[[W:.*]]: tensor<4x4xf32> {{.*}}, %[[U:.*]]: tensor<4x4xf32> {{.*}}, %[[B:.*]]: tensor<4xf32>
// CHECK-DAG: %[[ZERO:.*]] = arith.constant dense<0.0
// CHECK-DAG: %[[MINUS:.*]] = arith.constant dense<-0.0
// CHECK-DAG: %[[WX:.*]] = linalg.matvec ins(%[[W]], %[[X]] : {{.*}}) outs(%[[B]] :
// CHECK-DAG: %[[ONCE:.*]] = linalg.matvec ins(%[[U]], %[[ZERO]] : {{.*}}) outs(%[[MINUS]] :
// CHECK: %[[SUM:.*]] = arith.addf %[[WX]], %[[ONCE]]
// CHECK: return %[[SUM]]
// FINITE-LABEL: func.func @product(
// FINITE-NEXT: %[[WX:.*]] = linalg.matvec
// FINITE-NEXT: return %[[WX]]
func.func @product(%x: tensor<4xf32>, %W: tensor<4x4xf32> {batch.shared = "W"},
                   %U: tensor<4x4xf32> {batch.shared = "U"},
                   %b: tensor<4xf32> {batch.shared = "b"})
    -> tensor<4xf32> attributes {batch.entry} {
  %zero = arith.constant dense<0.0> : tensor<4xf32>
  %wx = linalg.matvec ins(%W, %x : tensor<4x4xf32>, tensor<4xf32>) outs(%b : tensor<4xf32>) -> tensor<4xf32>
  // WHY-DAG: :[[# @LINE + 2]]:{{.*}} FoldZeros {{.*}}"separated a product with a zero operand, so that it is computed once for all tasks"
  // REMOVED: :[[# @LINE + 1]]:{{.*}} FoldZeros {{.*}}"removed a product with a zero operand"
  %a = linalg.matvec ins(%U, %zero : tensor<4x4xf32>, tensor<4xf32>) outs(%wx : tensor<4xf32>) -> tensor<4xf32>
  return %a : tensor<4xf32>
}

// -----

// A sum that starts from a parameter is already equal for all tasks, and a
// product with a matrix of the instance is not. Both remain unless values are finite.

// CHECK-LABEL: func.func @stays(
// CHECK-SAME: %[[M:.*]]: tensor<4x4xf32>, %[[U:.*]]: tensor<4x4xf32> {{.*}}, %[[B:.*]]: tensor<4xf32>
// CHECK: %[[Y:.*]] = linalg.matvec ins(%[[U]], {{.*}}) outs(%[[B]] :
// CHECK: %[[Z:.*]] = linalg.matvec ins(%[[M]], {{.*}}) outs(%[[B]] :
// CHECK: return %[[Y]], %[[Z]]
// FINITE-LABEL: func.func @stays(
// FINITE: return %[[B:.*]], %[[B]]
func.func @stays(%M: tensor<4x4xf32>, %U: tensor<4x4xf32> {batch.shared = "U"},
                 %b: tensor<4xf32> {batch.shared = "b"})
    -> (tensor<4xf32>, tensor<4xf32>) attributes {batch.entry} {
  %zero = arith.constant dense<0.0> : tensor<4xf32>
  %y = linalg.matvec ins(%U, %zero : tensor<4x4xf32>, tensor<4xf32>) outs(%b : tensor<4xf32>) -> tensor<4xf32>
  %z = linalg.matvec ins(%M, %zero : tensor<4x4xf32>, tensor<4xf32>) outs(%b : tensor<4xf32>) -> tensor<4xf32>
  return %y, %z : tensor<4xf32>, tensor<4xf32>
}

// -----

// Zeros are followed through shape ops, sums, selects and reductions, and
// through products with other values only if infinity is excluded. A gate
// whose only use is a product with zeros is removed with this product.

// CHECK-LABEL: func.func @follow(
// CHECK: %[[GATE:.*]] = math.tanh
// CHECK: %[[STATE:.*]] = arith.mulf %[[GATE]], %{{.*}}
// CHECK: %[[CONCAT:.*]] = tensor.concat
// CHECK: %[[ONCE:.*]] = linalg.matvec ins(%{{.*}}, %[[CONCAT]]
// CHECK: %[[A:.*]] = arith.addf %arg0, %[[ONCE]]
// CHECK: %[[B:.*]] = arith.addf %[[A]], %[[STATE]]
// CHECK: return %[[B]]
// FINITE-LABEL: func.func @follow(
// FINITE-SAME: %[[X:.*]]: tensor<4xf32>,
// FINITE-NEXT: return %[[X]]
func.func @follow(%x: tensor<4xf32>, %bit: i1,
                  %U: tensor<4x8xf32> {batch.shared = "U"})
    -> tensor<4xf32> attributes {batch.entry} {
  %rows = arith.constant dense<0.0> : tensor<3x4xf32>
  %minus = arith.constant dense<-0.0> : tensor<4xf32>
  %empty = tensor.empty() : tensor<4xf32>
  %scalar = arith.constant 0.0 : f32
  %zero = linalg.fill ins(%scalar : f32) outs(%empty : tensor<4xf32>) -> tensor<4xf32>
  %sum = linalg.reduce { arith.addf } ins(%rows : tensor<3x4xf32>) outs(%zero : tensor<4xf32>) dimensions = [0]
  %either = arith.select %bit, %sum, %minus : tensor<4xf32>
  %difference = arith.subf %either, %zero : tensor<4xf32>
  %gate = math.tanh %x : tensor<4xf32>
  %state = arith.mulf %gate, %zero : tensor<4xf32>
  %e = tensor.concat dim(0) %difference, %sum : (tensor<4xf32>, tensor<4xf32>) -> tensor<8xf32>
  %a = linalg.matvec ins(%U, %e : tensor<4x8xf32>, tensor<8xf32>) outs(%x : tensor<4xf32>) -> tensor<4xf32>
  %b = arith.addf %a, %state : tensor<4xf32>
  return %b : tensor<4xf32>
}

// -----

// A reduction of zeros that is not a sum, or whose start value is not zero, does not
// count as zero. A sum over zeros is its start value if values are finite.

// CHECK-LABEL: func.func @reductions(
// CHECK: linalg.reduce
// CHECK: linalg.reduce
// CHECK: linalg.matvec
// CHECK: linalg.matvec
// FINITE-LABEL: func.func @reductions(
// FINITE-SAME: %[[X:.*]]: tensor<4xf32>,
// FINITE-NOT: arith.addf
// FINITE: %[[MAX:.*]] = linalg.reduce { arith.maximumf }
// FINITE: linalg.matvec ins(%{{.*}}, %[[X]] :
// FINITE: linalg.matvec ins(%{{.*}}, %[[MAX]] :
func.func @reductions(%x: tensor<4xf32>, %U: tensor<4x4xf32> {batch.shared = "U"})
    -> tensor<4xf32> attributes {batch.entry} {
  %rows = arith.constant dense<0.0> : tensor<3x4xf32>
  %sum = linalg.reduce { arith.addf } ins(%rows : tensor<3x4xf32>) outs(%x : tensor<4xf32>) dimensions = [0]
  %max = linalg.reduce { arith.maximumf } ins(%rows : tensor<3x4xf32>) outs(%x : tensor<4xf32>) dimensions = [0]
  %a = linalg.matvec ins(%U, %sum : tensor<4x4xf32>, tensor<4xf32>) outs(%x : tensor<4xf32>) -> tensor<4xf32>
  %b = linalg.matvec ins(%U, %max : tensor<4x4xf32>, tensor<4xf32>) outs(%a : tensor<4xf32>) -> tensor<4xf32>
  return %b : tensor<4xf32>
}

// -----

// A recursion that starts with a state of zeros: the first cell has its own
// code, in the entry, and the recursion remains unchanged.

rec.adt @List {
  rec.variant @nil()
  rec.variant @cons(x: tensor<4xf32>, rest: !rec.adt<@List>)
}

// CHECK-LABEL: func.func private @chain(
// CHECK-NOT: arith.addf
// CHECK-LABEL: func.func @start(
// CHECK: rec.match
// CHECK: case @cons(%[[X:.*]]: tensor<4xf32>, %[[REST:.*]]: !rec.adt<@List>)
// CHECK: %[[ONCE:.*]] = linalg.matvec
// CHECK: %[[H:.*]] = arith.addf %[[X]], %[[ONCE]]
// CHECK: func.call @chain(%[[REST]], %[[H]],
// FINITE-LABEL: func.func private @chain(
// FINITE: linalg.matvec
// FINITE-LABEL: func.func @start(
// FINITE: case @cons(%[[X:.*]]: tensor<4xf32>, %[[REST:.*]]: !rec.adt<@List>)
// FINITE-NEXT: func.call @chain(%[[REST]], %[[X]],
func.func private @chain(%l: !rec.adt<@List>, %h: tensor<4xf32>, %U: tensor<4x4xf32>) -> tensor<4xf32> {
  %r = rec.match %l : !rec.adt<@List> -> tensor<4xf32> {
  case @nil() {
    rec.yield %h : tensor<4xf32>
  }
  case @cons(%x: tensor<4xf32>, %rest: !rec.adt<@List>) {
    %next = linalg.matvec ins(%U, %h : tensor<4x4xf32>, tensor<4xf32>) outs(%x : tensor<4xf32>) -> tensor<4xf32>
    %last = func.call @chain(%rest, %next, %U) : (!rec.adt<@List>, tensor<4xf32>, tensor<4x4xf32>) -> tensor<4xf32>
    rec.yield %last : tensor<4xf32>
  } }
  return %r : tensor<4xf32>
}
func.func @start(%l: !rec.adt<@List>, %U: tensor<4x4xf32> {batch.shared = "U"}) -> tensor<4xf32> attributes {batch.entry} {
  %zero = arith.constant dense<0.0> : tensor<4xf32>
  // WHY-DAG: :[[# @LINE + 1]]:{{.*}} FoldZeros {{.*}}"recursion starts with zeros: its first level is peeled"
  %h = call @chain(%l, %zero, %U) : (!rec.adt<@List>, tensor<4xf32>, tensor<4x4xf32>) -> tensor<4xf32>
  return %h : tensor<4xf32>
}

// -----

// An argument that is the same constant in all calls becomes the constant. No
// level of the recursion is copied.

rec.adt @Tree {
  rec.variant @leaf(x: tensor<4xf32>)
  rec.variant @node(kid: !rec.adt<@Tree>)
}

// CHECK-LABEL: func.func private @visit(
// CHECK-SAME: %[[T:.*]]: !rec.adt<@Tree>, %[[H:.*]]: tensor<4xf32>,
// CHECK: %[[ZERO:.*]] = arith.constant dense<0.0
// CHECK: %[[ONCE:.*]] = linalg.matvec ins(%{{.*}}, %[[ZERO]]
// CHECK: func.call @visit(%{{.*}}, %[[ZERO]],
// CHECK-LABEL: func.func @same(
// CHECK-NEXT: arith.constant
// CHECK-NEXT: call @visit
// FINITE-LABEL: func.func private @visit(
// FINITE-NOT: linalg.matvec
// FINITE-LABEL: func.func @same(
func.func private @visit(%t: !rec.adt<@Tree>, %h: tensor<4xf32>, %U: tensor<4x4xf32>) -> tensor<4xf32> {
  %r = rec.match %t : !rec.adt<@Tree> -> tensor<4xf32> {
  case @leaf(%x: tensor<4xf32>) {
    %y = linalg.matvec ins(%U, %h : tensor<4x4xf32>, tensor<4xf32>) outs(%x : tensor<4xf32>) -> tensor<4xf32>
    rec.yield %y : tensor<4xf32>
  }
  case @node(%kid: !rec.adt<@Tree>) {
    %y = func.call @visit(%kid, %h, %U) : (!rec.adt<@Tree>, tensor<4xf32>, tensor<4x4xf32>) -> tensor<4xf32>
    rec.yield %y : tensor<4xf32>
  } }
  return %r : tensor<4xf32>
}
func.func @same(%t: !rec.adt<@Tree>, %U: tensor<4x4xf32> {batch.shared = "U"}) -> tensor<4xf32> attributes {batch.entry} {
  %zero = arith.constant dense<0.0> : tensor<4xf32>
  %h = call @visit(%t, %zero, %U) : (!rec.adt<@Tree>, tensor<4xf32>, tensor<4x4xf32>) -> tensor<4xf32>
  return %h : tensor<4xf32>
}

// -----

// An argument remains if code that the entry does not reach may pass a different value.

// CHECK-LABEL: func.func private @helper(
// CHECK-NEXT: math.tanh %arg0
func.func private @helper(%h: tensor<4xf32>) -> tensor<4xf32> {
  %y = math.tanh %h : tensor<4xf32>
  return %y : tensor<4xf32>
}
func.func @reached(%x: tensor<4xf32>) -> tensor<4xf32> attributes {batch.entry} {
  %zero = arith.constant dense<0.0> : tensor<4xf32>
  %h = call @helper(%zero) : (tensor<4xf32>) -> tensor<4xf32>
  return %h : tensor<4xf32>
}
func.func @other(%x: tensor<4xf32>) -> tensor<4xf32> {
  %h = call @helper(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %h : tensor<4xf32>
}
