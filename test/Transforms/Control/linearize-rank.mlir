// RUN: batch-opt %s --batch-linearize | FileCheck %s

// The rank of a tensor is a constant.
// CHECK-LABEL: func.func @main.inspect
// CHECK:         %[[RANK:.*]] = arith.constant 2 : index
// CHECK:         return %[[RANK]] : index
func.func @main(%x: tensor<4x2xf32>) -> index attributes {batch.entry} {
  %rank = tensor.rank %x : tensor<4x2xf32>
  return %rank : index
}
