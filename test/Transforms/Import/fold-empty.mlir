// RUN: batch-opt %s --batch-fold-empty | FileCheck %s
// RUN: batch-run %s --inputs=random:1,5 --check-unbatched | FileCheck %s --check-prefix=SAME
// RUN: batch-run %s --inputs=random:1,5 --check-unbatched --strategy=lockstep | FileCheck %s --check-prefix=SAME

// SAME: unbatched: the same, largest relative error 0

// CHECK-LABEL: func.func @main
// CHECK-SAME:    %[[X:[a-z0-9]*]]: tensor<3x4xf32>
// CHECK-SAME:    %[[INIT:[a-z0-9]*]]: tensor<4xf32>
// CHECK-NOT:     tensor<0x4xf32>
// CHECK:         return %[[X]], %[[INIT]], %[[X]], %{{.*}} :
func.func @main(%nothing: tensor<0x4xf32> {batch.name = "nothing"},
                %x: tensor<3x4xf32> {batch.name = "x"},
                %init: tensor<4xf32> {batch.name = "init"})
    -> (tensor<3x4xf32> {batch.name = "concat"}, tensor<4xf32> {batch.name = "sum"},
        tensor<3x4xf32> {batch.name = "insert"}, tensor<6x4xf32> {batch.name = "twice"})
    attributes {batch.entry} {
  %two = arith.addf %nothing, %nothing : tensor<0x4xf32>
  %y = tensor.concat dim(0) %two, %x : (tensor<0x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  %s = linalg.reduce {arith.addf} ins(%two : tensor<0x4xf32>) outs(%init : tensor<4xf32>) dimensions = [0]
  %piece = tensor.extract_slice %x[1, 0] [0, 4] [1, 1] : tensor<3x4xf32> to tensor<0x4xf32>
  %z = tensor.insert_slice %piece into %x[2, 0] [0, 4] [1, 1] : tensor<0x4xf32> into tensor<3x4xf32>
  %w = tensor.concat dim(0) %x, %piece, %y : (tensor<3x4xf32>, tensor<0x4xf32>, tensor<3x4xf32>) -> tensor<6x4xf32>
  return %y, %s, %z, %w : tensor<3x4xf32>, tensor<4xf32>, tensor<3x4xf32>, tensor<6x4xf32>
}
