// RUN: batch-opt %s | batch-opt | FileCheck %s
// RUN: batch-opt %s --mlir-print-op-generic | batch-opt | FileCheck %s

// In a set of instances, each member has its own values. A list contains the members that
// take a path.
batch.kernel @cell(%x: tensor<4xf32>) -> (tensor<4xf32> {batch.row_list}) {
  batch.yield %x : tensor<4xf32>
}
uprog.operator @cell.rows of @cell(
    %n: index, %x: tensor<?x4xf32> {uprog.operand = #uprog.operand<rows>})
    -> (tensor<?x4xf32> {uprog.result = #uprog.result<rows = true>}) {
  uprog.yield %x : tensor<?x4xf32>
}
uprog.buffer @x : tensor<4xf32> copies(1)

// CHECK:       uprog.program @set(%{{.*}}: index, %[[N:.*]]: index) level(device) {
// CHECK-NEXT:    %[[CELLS:.*]] = uprog.cells capacity(64) : !uprog.cells<index>
// CHECK-NEXT:    %[[ROWS:.*]] = uprog.cells capacity(64) : !uprog.cells<!uprog.row>
// CHECK-NEXT:    %[[LIST:.*]] = uprog.members capacity(64) : memref<?xi32>
// CHECK-NEXT:    %[[COUNT:.*]] = uprog.compact %[[I:.*]] < %[[N]] into %[[LIST]] : memref<?xi32> {
// CHECK-NEXT:      %[[ROUNDS:.*]] = uprog.get %[[CELLS]][%[[I]]] : !uprog.cells<index>
// CHECK-NEXT:      arith.cmpi
// CHECK-NEXT:      uprog.condition(%{{.*}}) %[[I]] : index
// CHECK:         %[[TASKS:.*]] = uprog.tasks @cell capacity(64)
// CHECK-NEXT:    uprog.each %[[K:.*]] < %[[COUNT]] {
// CHECK-NEXT:      %[[MEMBER:.*]] = uprog.member %[[LIST]][%[[K]]] : memref<?xi32>
// CHECK-NEXT:      %[[X:.*]] = uprog.get %[[ROWS]][%[[MEMBER]]] : !uprog.cells<!uprog.row>
// CHECK-NEXT:      uprog.next_round "a loop" after(%[[K]])
// CHECK-NEXT:      %[[Y:.*]] = uprog.row @x member(%[[MEMBER]])
// CHECK-NEXT:      uprog.put_task %[[TASKS]][%[[K]]] = %[[X]] : !uprog.row into(%[[Y]])
// CHECK-NEXT:      uprog.put %[[ROWS]][%[[MEMBER]]] = %[[Y]] : !uprog.cells<!uprog.row>
// CHECK-NEXT:    }
// CHECK-NEXT:    %[[STEP:.*]] = uprog.batch %[[TASKS]] count(%[[COUNT]])
// CHECK-NEXT:    uprog.run @cell.rows step(%[[STEP]]) tasks(%[[COUNT]])
uprog.program @set(%first: index, %n: index) level(device) {
  %cells = uprog.cells capacity(64) : !uprog.cells<index>
  %rows = uprog.cells capacity(64) : !uprog.cells<!uprog.row>
  %list = uprog.members capacity(64) : memref<?xi32>
  %count = uprog.compact %i < %n into %list : memref<?xi32> {
    %rounds = uprog.get %cells[%i] : !uprog.cells<index>
    %few = arith.cmpi ult, %rounds, %n : index
    uprog.condition(%few) %i : index
  }
  %tasks = uprog.tasks @cell capacity(64)
  uprog.each %k < %count {
    %member = uprog.member %list[%k] : memref<?xi32>
    %x = uprog.get %rows[%member] : !uprog.cells<!uprog.row>
    %may = uprog.next_round "a loop" after(%k)
    %y = uprog.row @x member(%member)
    uprog.put_task %tasks[%k] = %x : !uprog.row into(%y)
    uprog.put %rows[%member] = %y : !uprog.cells<!uprog.row>
  }
  %step = uprog.batch %tasks count(%count)
  uprog.run @cell.rows step(%step) tasks(%count)
  uprog.yield
}
