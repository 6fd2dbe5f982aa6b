// RUN: batch-opt %s --batch-outline-kernels | FileCheck %s

// A row of a product of parameters is computed in the kernel that reads it.

// CHECK-LABEL: batch.kernel @main_once
// CHECK:         %[[SQUARE:.*]] = linalg.matmul
// CHECK:         %[[ROW:.*]] = tensor.extract_slice %[[SQUARE]]
// CHECK:         %[[PRODUCT:.*]] = linalg.matvec ins(%{{.*}}, %[[ROW]] :
// CHECK-NEXT:    batch.yield %[[PRODUCT]] : tensor<2xf32>
// CHECK-LABEL: func.func @main
// CHECK-NOT:     tensor.extract_slice
// CHECK:         %[[ONCE:.*]] = batch.invoke @main_once(%{{.*}}) : (tensor<2x2xf32>) -> tensor<2xf32>
// CHECK-NEXT:    batch.invoke @main_0(%[[ONCE]], %{{.*}})
func.func @main(%P: tensor<2x2xf32> {batch.shared = "P"}, %x: tensor<2xf32>)
    -> tensor<2xf32> attributes {batch.entry} {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<2x2xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<2x2xf32>) -> tensor<2x2xf32>
  %square = linalg.matmul ins(%P, %P : tensor<2x2xf32>, tensor<2x2xf32>)
      outs(%init : tensor<2x2xf32>) -> tensor<2x2xf32>
  %row = tensor.extract_slice %square[0, 0] [1, 2] [1, 1] : tensor<2x2xf32> to tensor<2xf32>
  %none = tensor.empty() : tensor<2xf32>
  %start = linalg.fill ins(%zero : f32) outs(%none : tensor<2xf32>) -> tensor<2xf32>
  %product = linalg.matvec ins(%P, %row : tensor<2x2xf32>, tensor<2xf32>)
      outs(%start : tensor<2xf32>) -> tensor<2xf32>
  %y = linalg.add ins(%product, %x : tensor<2xf32>, tensor<2xf32>)
      outs(%none : tensor<2xf32>) -> tensor<2xf32>
  return %y : tensor<2xf32>
}
