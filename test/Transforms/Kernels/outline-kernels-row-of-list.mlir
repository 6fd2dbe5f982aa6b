// RUN: batch-opt %s --split-input-file --batch-outline-kernels | FileCheck %s

// A ragged tensor is a list of rows. If control flow can compute the position of a
// row, the row is an element of the list. No kernel then has to slice the tensor.
// CHECK-LABEL: func.func @row
// CHECK-SAME:    (%[[XS:.*]]: tensor<?x8xf32>, %[[I:.*]]: index)
// CHECK-NEXT:    %[[X:.*]] = rec.element %[[XS]][%[[I]]] : tensor<?x8xf32> -> tensor<8xf32>
// CHECK-NEXT:    batch.invoke @{{.*}}(%[[X]]) : (tensor<8xf32>) -> tensor<8xf32>
func.func @row(%xs: tensor<?x8xf32>, %i: index) -> tensor<8xf32>
    attributes {batch.entry} {
  %x = tensor.extract_slice %xs[%i, 0] [1, 8] [1, 1] : tensor<?x8xf32> to tensor<8xf32>
  %y = math.tanh %x : tensor<8xf32>
  return %y : tensor<8xf32>
}

// -----

// The slice may keep the first dimension, and may contain only some columns of the row.
// CHECK:       batch.kernel @{{.*}}(%[[ROW:[^:]*]]: tensor<8xf32>) -> tensor<1x4xf32>
// CHECK-NEXT:    %[[WIDE:.*]] = tensor.expand_shape %[[ROW]] {{\[\[}}0, 1]] output_shape [1, 8]
// CHECK-NEXT:    tensor.extract_slice %[[WIDE]][0, 4] [1, 4] [1, 1]
// CHECK-LABEL: func.func @piece
// CHECK-SAME:    (%[[XS:.*]]: tensor<?x8xf32>, %[[I:.*]]: index)
// CHECK-NEXT:    %[[X:.*]] = rec.element %[[XS]][%[[I]]]
// CHECK-NEXT:    batch.invoke @{{.*}}(%[[X]])
func.func @piece(%xs: tensor<?x8xf32>, %i: index) -> tensor<1x4xf32>
    attributes {batch.entry} {
  %x = tensor.extract_slice %xs[%i, 4] [1, 4] [1, 1] : tensor<?x8xf32> to tensor<1x4xf32>
  %y = math.tanh %x : tensor<1x4xf32>
  return %y : tensor<1x4xf32>
}

// -----

// The position is an element of a tensor, so control flow does not read the row.
// CHECK-LABEL: func.func @data
// CHECK-NOT:     rec.element
func.func @data(%xs: tensor<?x8xf32>, %t: tensor<1xindex>) -> tensor<8xf32>
    attributes {batch.entry} {
  %c0 = arith.constant 0 : index
  %i = tensor.extract %t[%c0] : tensor<1xindex>
  %x = tensor.extract_slice %xs[%i, 0] [1, 8] [1, 1] : tensor<?x8xf32> to tensor<8xf32>
  %y = math.tanh %x : tensor<8xf32>
  return %y : tensor<8xf32>
}

// -----

// If control flow reads an element of a ragged tensor, it reads the row from the list.
// Reads of elements of parameters remain unchanged.
// CHECK-LABEL: func.func @element
// CHECK-SAME:    (%[[XS:.*]]: tensor<?x4xi64>, %[[E:.*]]: tensor<?x4xi64> {{.*}}, %[[I:.*]]: index,
// CHECK:         %[[ONE:.*]] = arith.constant 1 : index
// CHECK-NEXT:    %[[ROW:.*]] = rec.element %[[XS]][%[[I]]] : tensor<?x4xi64> -> tensor<4xi64>
// CHECK-NEXT:    %[[J64:.*]] = tensor.extract %[[ROW]][%[[ONE]]] : tensor<4xi64>
// CHECK-NEXT:    %[[J:.*]] = arith.index_cast %[[J64]]
// CHECK-NEXT:    %[[N64:.*]] = tensor.extract %[[E]][%[[J]], %[[ONE]]] : tensor<?x4xi64>
// CHECK-NEXT:    %[[N:.*]] = arith.index_cast %[[N64]]
// CHECK-NEXT:    scf.for %{{.*}} to %[[N]]
func.func @element(%xs: tensor<?x4xi64>, %E: tensor<?x4xi64> {batch.shared = "E"},
                   %i: index, %x: tensor<4xf32>) -> tensor<4xf32>
    attributes {batch.entry} {
  %c1 = arith.constant 1 : index
  %j64 = tensor.extract %xs[%i, %c1] : tensor<?x4xi64>
  %j = arith.index_cast %j64 : i64 to index
  %n64 = tensor.extract %E[%j, %c1] : tensor<?x4xi64>
  %n = arith.index_cast %n64 : i64 to index
  %r = scf.for %k = %c1 to %n step %c1 iter_args(%h = %x) -> (tensor<4xf32>) {
    %y = math.tanh %h : tensor<4xf32>
    scf.yield %y : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// -----

// If the body of a tensor op reads an element, the read remains in the kernel.
// CHECK-LABEL: func.func @body
// CHECK-NOT:     rec.element
func.func @body(%xs: tensor<?x4xf32>, %x: tensor<4xf32>, %i: index) -> tensor<4xf32>
    attributes {batch.entry} {
  %y = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      outs(%x : tensor<4xf32>) {
  ^bb0(%o: f32):
    %j = linalg.index 0 : index
    %v = tensor.extract %xs[%i, %j] : tensor<?x4xf32>
    linalg.yield %v : f32
  } -> tensor<4xf32>
  return %y : tensor<4xf32>
}
