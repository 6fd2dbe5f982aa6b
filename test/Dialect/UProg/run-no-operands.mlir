// RUN: batch-opt %s | batch-opt | FileCheck %s

uprog.operator @k.rows(%n: index) {
  uprog.yield
}

// An operator without operands, of a constant kernel, is run like any other.
// CHECK:      uprog.program @p(%[[STEP:.*]]: !batch.step, %[[N:.*]]: index) level(device) {
// CHECK-NEXT:   uprog.run @k.rows step(%[[STEP]] : !batch.step) tasks(%[[N]])
uprog.program @p(%step: !batch.step, %n: index) level(device) {
  "uprog.run"(%step, %n) <{callee = @k.rows}> : (!batch.step, index) -> ()
  uprog.yield
}
