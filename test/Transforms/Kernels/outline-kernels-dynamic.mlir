// RUN: batch-opt %s --split-input-file --batch-outline-kernels | FileCheck %s

// A row of a computed ragged tensor is not an element of a list: the kernel that
// computes the tensor also reads the row.
// CHECK-LABEL: batch.kernel @row_for(
// CHECK-SAME:    %[[XS:.*]]: tensor<?x4xf32>, %[[I:.*]]: index,
// CHECK:         %[[TWICE:.*]] = linalg.add ins(%[[XS]], %[[XS]]
// CHECK:         tensor.extract_slice %[[TWICE]][%[[I]], 0] [1, 4] [1, 1]
// CHECK-LABEL: func.func @row
// CHECK-NOT:     rec.element
func.func @row(%xs: tensor<?x4xf32>) -> tensor<4xf32> attributes {batch.entry} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0.0> : tensor<4xf32>
  %n = tensor.dim %xs, %c0 : tensor<?x4xf32>
  %y = scf.for %i = %c0 to %n step %c1 iter_args(%a = %zero) -> (tensor<4xf32>) {
    %init = tensor.empty(%n) : tensor<?x4xf32>
    %twice = linalg.add ins(%xs, %xs : tensor<?x4xf32>, tensor<?x4xf32>)
        outs(%init : tensor<?x4xf32>) -> tensor<?x4xf32>
    %row = tensor.extract_slice %twice[%i, 0] [1, 4] [1, 1]
        : tensor<?x4xf32> to tensor<4xf32>
    %b = arith.subf %row, %a : tensor<4xf32>
    scf.yield %b : tensor<4xf32>
  }
  return %y : tensor<4xf32>
}

// -----

// If several kernels read a computed ragged tensor, each of them computes it: here the
// kernel before the loop and the kernel in the loop.
// CHECK:         batch.kernel @[[BEFORE:.*]](%[[XS:.*]]: tensor<?x4xf32>) -> tensor<4xf32>
// CHECK:         math.tanh %[[XS]]
// CHECK:         linalg.reduce
// CHECK:         batch.kernel @[[IN:.*]](%{{.*}}) -> tensor<4xf32>
// CHECK:         math.tanh
// CHECK:         tensor.extract_slice
// CHECK-LABEL: func.func @twice
// CHECK:         batch.invoke @[[BEFORE]]
// CHECK:         scf.for
// CHECK:           batch.invoke @[[IN]]
func.func @twice(%xs: tensor<?x4xf32>) -> tensor<4xf32> attributes {batch.entry} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0.0> : tensor<4xf32>
  %n = tensor.dim %xs, %c0 : tensor<?x4xf32>
  %h = math.tanh %xs : tensor<?x4xf32>
  %sum = linalg.reduce { arith.addf } ins(%h : tensor<?x4xf32>) outs(%zero : tensor<4xf32>)
      dimensions = [0]
  %y = scf.for %i = %c0 to %n step %c1 iter_args(%a = %sum) -> (tensor<4xf32>) {
    %row = tensor.extract_slice %h[%i, 0] [1, 4] [1, 1] : tensor<?x4xf32> to tensor<4xf32>
    %b = arith.subf %row, %a : tensor<4xf32>
    scf.yield %b : tensor<4xf32>
  }
  return %y : tensor<4xf32>
}

// -----

// Two kernels need the extent of a computed ragged tensor. Each kernel computes the
// tensor, and no code for it remains in the function.
// CHECK-LABEL: batch.kernel @extent_0(
// CHECK:         %[[H:.*]] = math.tanh
// CHECK:         tensor.dim %[[H]]
// CHECK-LABEL: batch.kernel @extent_for(
// CHECK:         %[[H:.*]] = math.tanh
// CHECK:         tensor.dim %[[H]]
// CHECK-LABEL: func.func @extent(
// CHECK-NOT:     math.tanh
// CHECK-NOT:     tensor.empty
// CHECK:         return
func.func @extent(%xs: tensor<?x4xf32>) -> tensor<4xf32> attributes {batch.entry} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0.0> : tensor<4xf32>
  %n = tensor.dim %xs, %c0 : tensor<?x4xf32>
  %h = math.tanh %xs : tensor<?x4xf32>
  %m = tensor.dim %h, %c0 : tensor<?x4xf32>
  %e = tensor.empty(%m) : tensor<?x4xf32>
  %k = linalg.add ins(%h, %h : tensor<?x4xf32>, tensor<?x4xf32>)
      outs(%e : tensor<?x4xf32>) -> tensor<?x4xf32>
  %sum = linalg.reduce { arith.addf } ins(%k : tensor<?x4xf32>)
      outs(%zero : tensor<4xf32>) dimensions = [0]
  %y = scf.for %i = %c0 to %n step %c1 iter_args(%a = %sum) -> (tensor<4xf32>) {
    %init = tensor.empty(%m) : tensor<?x4xf32>
    %twice = linalg.add ins(%xs, %xs : tensor<?x4xf32>, tensor<?x4xf32>)
        outs(%init : tensor<?x4xf32>) -> tensor<?x4xf32>
    %row = tensor.extract_slice %twice[%i, 0] [1, 4] [1, 1]
        : tensor<?x4xf32> to tensor<4xf32>
    %b = arith.subf %row, %a : tensor<4xf32>
    scf.yield %b : tensor<4xf32>
  }
  return %y : tensor<4xf32>
}
