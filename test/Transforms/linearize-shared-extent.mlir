// RUN: batch-opt %s --batch-linearize | FileCheck %s
// XFAIL: *
// The parameter whose extent is asked becomes a source with ragged rows, which does not verify.

// The number of rows of a parameter is control's to ask: it is the same for all.
// CHECK-LABEL: func.func @main.inspect
// CHECK-SAME:    (%[[W:.*]]: index) -> !batch.handle
// CHECK:         %[[I:.*]] = arith.remui %[[W]], %{{.*}} : index
// CHECK-NEXT:    batch.row @E[%[[I]]]
func.func @main(%w: index, %E: tensor<?x4xf32> {batch.shared = "E"}) -> tensor<4xf32>
    attributes {batch.entry} {
  %zero = arith.constant 0 : index
  %n = tensor.dim %E, %zero : tensor<?x4xf32>
  %i = arith.remui %w, %n : index
  %x = tensor.extract_slice %E[%i, 0] [1, 4] [1, 1] : tensor<?x4xf32> to tensor<4xf32>
  return %x : tensor<4xf32>
}
