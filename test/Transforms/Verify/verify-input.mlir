// RUN: batch-opt %s --batch-verify-input | FileCheck %s

// Functions that the entry does not call may contain anything.
// CHECK-LABEL: func.func @main
// CHECK:         math.tanh
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> attributes {batch.entry} {
  %y = math.tanh %x : tensor<4xf32>
  return %y : tensor<4xf32>
}
// CHECK-LABEL: func.func @other
// CHECK:         linalg.fill
func.func @other(%m: memref<4xf32>) {
  %c = arith.constant 0.0 : f32
  linalg.fill ins(%c : f32) outs(%m : memref<4xf32>)
  return
}
