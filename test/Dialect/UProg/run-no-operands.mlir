// RUN: batch-opt %s | batch-opt | FileCheck %s

uprog.operator @k.rows(%n: index) {
  uprog.yield
}

// The operator of a constant kernel has no operands, but runs like any other operator.
// CHECK:      uprog.program @p(%[[STEP:.*]]: !uprog.step, %[[N:.*]]: index) level(device) {
// CHECK-NEXT:   uprog.run @k.rows step(%[[STEP]]) tasks(%[[N]])
uprog.program @p(%step: !uprog.step, %n: index) level(device) {
  "uprog.run"(%step, %n) <{callee = @k.rows, operandSegmentSizes = array<i32: 1, 1, 0>}> : (!uprog.step, index) -> ()
  uprog.yield
}
