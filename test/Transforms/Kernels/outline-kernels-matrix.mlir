// RUN: batch-opt %s --batch-outline-kernels | FileCheck %s
// RUN: batch-opt %s --batch-outline-kernels=coarsen=false | FileCheck %s --check-prefix=SINGLE

// If only products read a matrix at a constant position of a parameter, kernels take the parameter
// and read the matrix themselves. Products then read it in panels. Other matrices are rows of the
// parameter, and kernels take the rows.
// CHECK:      batch.kernel @main_output(
// CHECK-SAME:   %[[W:[^:]*]]: tensor<3x4x4xf32> {batch.parameter = 0 : i64, batch.shared},
// CHECK-SAME:   %[[X:[^:]*]]: tensor<4xf32>, %[[CHOSEN:[^:]*]]: tensor<4x4xf32>, %[[ADDED:[^:]*]]: tensor<4x4xf32>)
// CHECK:        %[[M:.*]] = tensor.extract_slice %[[W]][1, 0, 0] [1, 4, 4] [1, 1, 1]
// CHECK-NEXT:   %[[Y:.*]] = linalg.matvec ins(%[[M]], %[[X]] :
// CHECK-NEXT:   linalg.matvec ins(%[[CHOSEN]], %[[Y]] :
// CHECK-NEXT:   arith.addf %[[ADDED]], %[[CHOSEN]]
// CHECK:      func.func @main
// CHECK-NEXT:   %[[TWO:.*]] = tensor.extract_slice %{{.*}}[2, 0, 0] [1, 4, 4] [1, 1, 1]
// CHECK-NEXT:   %[[ANY:.*]] = tensor.extract_slice %{{.*}}[%{{.*}}, 0, 0] [1, 4, 4] [1, 1, 1]
// CHECK-NEXT:   batch.invoke @main_output(%{{.*}}, %{{.*}}, %[[ANY]], %[[TWO]])

// SINGLE:      tensor.extract_slice %{{.*}}[1, 0, 0] [1, 4, 4] [1, 1, 1]
// SINGLE-NEXT: linalg.matvec
// SINGLE-NEXT: batch.yield
func.func @main(%W: tensor<3x4x4xf32> {batch.shared = "W"}, %x: tensor<4xf32> {batch.name = "x"},
                %i: index {batch.name = "i"})
    -> (tensor<4xf32> {batch.name = "y"}, tensor<4xf32> {batch.name = "z"}, tensor<4x4xf32> {batch.name = "s"})
    attributes {batch.entry} {
  %zeros = arith.constant dense<0.0> : tensor<4xf32>
  %fixed = tensor.extract_slice %W[1, 0, 0] [1, 4, 4] [1, 1, 1] : tensor<3x4x4xf32> to tensor<4x4xf32>
  %y = linalg.matvec ins(%fixed, %x : tensor<4x4xf32>, tensor<4xf32>) outs(%zeros : tensor<4xf32>) -> tensor<4xf32>
  %chosen = tensor.extract_slice %W[%i, 0, 0] [1, 4, 4] [1, 1, 1] : tensor<3x4x4xf32> to tensor<4x4xf32>
  %z = linalg.matvec ins(%chosen, %y : tensor<4x4xf32>, tensor<4xf32>) outs(%zeros : tensor<4xf32>) -> tensor<4xf32>
  %added = tensor.extract_slice %W[2, 0, 0] [1, 4, 4] [1, 1, 1] : tensor<3x4x4xf32> to tensor<4x4xf32>
  %s = arith.addf %added, %chosen : tensor<4x4xf32>
  return %y, %z, %s : tensor<4xf32>, tensor<4xf32>, tensor<4x4xf32>
}
