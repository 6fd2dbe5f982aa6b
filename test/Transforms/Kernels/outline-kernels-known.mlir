// RUN: batch-opt %s --batch-outline-kernels | FileCheck %s

// Code of existing kernels is not outlined again.
// CHECK:       batch.kernel @given(
// CHECK-NOT:   batch.kernel
// CHECK-LABEL: func.func @known
// CHECK:         batch.invoke @given
batch.kernel @given(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = math.tanh %x : tensor<4xf32>
  batch.yield %y : tensor<4xf32>
}
func.func @known(%x: tensor<4xf32>) -> tensor<4xf32> attributes {batch.entry} {
  %y = math.tanh %x : tensor<4xf32>
  return %y : tensor<4xf32>
}
