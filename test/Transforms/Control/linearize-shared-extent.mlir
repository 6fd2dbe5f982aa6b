// RUN: batch-opt %s --batch-linearize | FileCheck %s
// RUN: batch-opt %s --autobatch | batch-opt --batch-linearize | FileCheck %s

// Control flow reads the number of rows of a parameter. This number is equal for all
// instances. Static extents are already known.
// CHECK:       batch.source @E : tensor<4xf32> parameter(0)
// CHECK-LABEL: func.func @main.inspect
// CHECK-SAME:    (%[[W:.*]]: index) -> !batch.handle
// CHECK:         %[[N:.*]] = batch.num_rows @E
// CHECK:         %[[D:.*]] = arith.constant 4 : index
// CHECK:         %[[SUM:.*]] = arith.addi %[[W]], %[[D]] : index
// CHECK-NEXT:    %[[I:.*]] = arith.remui %[[SUM]], %[[N]] : index
// CHECK-NEXT:    batch.row @E[%[[I]]]
func.func @main(%w: index, %E: tensor<?x4xf32> {batch.shared = "E"}) -> tensor<4xf32>
    attributes {batch.entry} {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %n = tensor.dim %E, %zero : tensor<?x4xf32>
  %d = tensor.dim %E, %one : tensor<?x4xf32>
  %sum = arith.addi %w, %d : index
  %i = arith.remui %sum, %n : index
  %x = tensor.extract_slice %E[%i, 0] [1, 4] [1, 1] : tensor<?x4xf32> to tensor<4xf32>
  return %x : tensor<4xf32>
}
