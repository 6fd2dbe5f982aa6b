// RUN: batch-opt %s --canonicalize | FileCheck %s

batch.kernel @cell(%x: tensor<4xf32>) -> tensor<4xf32> {
  batch.yield %x : tensor<4xf32>
}

// A task without computed operands has depth 0.
// CHECK-LABEL: func.func @hoisted
func.func @hoisted(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NOT: batch.depth
  // CHECK: %[[ZERO:.*]] = arith.constant 0 : index
  // CHECK: batch.invoke @cell(%{{.*}}) depth(%[[ZERO]])
  %d = batch.depth()
  %y = batch.invoke @cell(%x) depth(%d) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
