// RUN: batch-opt %s --batch-outline-kernels | FileCheck %s

// A slice of a row is read through a view of the row, like a whole row.
// CHECK:       batch.kernel @main_0(%[[ROW:[^:]*]]: tensor<8xf32>) -> tensor<4xf32>
// CHECK-NEXT:    tensor.extract_slice %[[ROW]][4] [4] [1]
// CHECK-LABEL: func.func @main
// CHECK-SAME:    (%[[I:.*]]: index, %[[E:.*]]: tensor<?x8xf32>
// CHECK-NEXT:    %[[ROW:.*]] = tensor.extract_slice %[[E]][%[[I]], 0] [1, 8] [1, 1]
// CHECK-NEXT:    batch.invoke @main_0(%[[ROW]])
func.func @main(%i: index, %E: tensor<?x8xf32> {batch.shared = "E"}) -> tensor<4xf32>
    attributes {batch.entry} {
  %x = tensor.extract_slice %E[%i, 4] [1, 4] [1, 1] : tensor<?x8xf32> to tensor<4xf32>
  %y = math.tanh %x : tensor<4xf32>
  return %y : tensor<4xf32>
}
