// RUN: batch-opt %s --split-input-file --batch-outline-kernels | FileCheck %s

// A ragged tensor is a list of rows: one at a position that control knows is an
// element of the list, which no kernel has to look for.
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

// The first dimension may remain, and the slice may be a piece of a row.
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

// The position is a tensor's: nothing for control.
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
