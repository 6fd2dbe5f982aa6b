// RUN: batch-opt %s --batch-linearize --batch-assign-slots | FileCheck %s

// A kernel without invocations has no table.
// CHECK:       batch.kernel @unused
// CHECK-NOT:   batch.table
batch.kernel @unused(%x: tensor<8xf32>) -> tensor<8xf32> {
  batch.yield %x : tensor<8xf32>
}
func.func @main(%n: index) -> index attributes {batch.entry} {
  return %n : index
}
