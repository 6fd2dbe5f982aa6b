// RUN: batch-opt %s --canonicalize --cse --split-input-file | FileCheck %s

batch.kernel @cell(%x: tensor<4xf32>) -> tensor<4xf32> {
  batch.yield %x : tensor<4xf32>
}

// The depth of a task with a computed operand is unknown here.
// CHECK-LABEL: func.func @computed
// CHECK-SAME:    (%[[X:.*]]: tensor<4xf32>)
func.func @computed(%x: tensor<4xf32>) -> index {
  // CHECK: %[[D:.*]] = batch.depth(%[[X]]) : tensor<4xf32>
  // CHECK: return %[[D]]
  %d = batch.depth(%x) : tensor<4xf32>
  return %d : index
}

// A task with unused results is removed, together with its depth.
// CHECK-LABEL: func.func @dead
func.func @dead(%x: tensor<4xf32>) {
  // CHECK-NEXT: return
  %d = batch.depth(%x) : tensor<4xf32>
  %y = batch.invoke @cell(%x) depth(%d) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// Equal invocations become one.
// CHECK-LABEL: func.func @equal
// CHECK-SAME:    (%[[X:.*]]: tensor<4xf32>)
func.func @equal(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK: %[[Y:.*]] = batch.invoke @cell(%[[X]])
  // CHECK-NEXT: return %[[Y]], %[[Y]]
  %y = batch.invoke @cell(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %z = batch.invoke @cell(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %y, %z : tensor<4xf32>, tensor<4xf32>
}

// -----

rec.adt @Tree {
  rec.variant @leaf(word: index)
}
batch.table @h : tensor<4xf32> group(0)
batch.kernel @cell(%x: index) -> tensor<4xf32> {
  %zero = arith.constant dense<0.0> : tensor<4xf32>
  batch.yield %zero : tensor<4xf32>
}

// Recorded tasks and traversals have effects, so none of them is removed.
// CHECK-LABEL: func.func @effects
// CHECK:         batch.record @cell
// CHECK:         batch.traverse [@visit]
func.func @effects(%n: index) {
  %h = batch.record @cell(%n) depth(%n) : (index) -> !batch.handle
  batch.traverse [@visit]
  return
}

func.func @visit(%t: !rec.adt<@Tree>) {
  return
}
