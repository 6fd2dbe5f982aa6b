// RUN: batch-opt %s --batch-outline-kernels --batch-assign-phases | FileCheck %s

// Tensor code before a mark has an earlier phase than code after it.
// CHECK:       batch.kernel @[[BEFORE:.*]](%{{.*}}: tensor<4xf32>) -> tensor<4xf32> attributes {phase = 0 : i64} {
// CHECK-NEXT:    math.tanh
// CHECK:       batch.kernel @[[AFTER:.*]](%{{.*}}: tensor<4xf32>) -> tensor<4xf32> attributes {phase = 1 : i64} {
// CHECK-NEXT:    math.exp
// CHECK-LABEL: func.func @main
// CHECK-NEXT:    %[[Y:.*]] = batch.invoke @[[BEFORE]]
// CHECK-NEXT:    rec.phase "two"
// CHECK-NEXT:    batch.invoke @[[AFTER]](%[[Y]])
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> attributes {batch.entry} {
  %y = math.tanh %x : tensor<4xf32>
  rec.phase "two"
  %z = math.exp %y : tensor<4xf32>
  return %z : tensor<4xf32>
}
