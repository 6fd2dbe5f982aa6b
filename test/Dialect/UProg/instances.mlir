// RUN: batch-opt %s | batch-opt | FileCheck %s
// RUN: batch-opt %s --mlir-print-op-generic | batch-opt | FileCheck %s
// RUN: batch-opt %s --canonicalize --cse --loop-invariant-code-motion \
// RUN:   | FileCheck %s --check-prefix=MOVED

batch.source @E : tensor<4xf32> parameter(0)
batch.kernel @cell(%x: tensor<4xf32>, %w: tensor<4x4xf32> {batch.shared}, %i: index)
    -> (tensor<4xf32>, tensor<i1>) {
  %c = arith.constant dense<true> : tensor<i1>
  batch.yield %x, %c : tensor<4xf32>, tensor<i1>
}
uprog.operator @cell.rows(%n: index) {
  uprog.yield
}

batch.kernel @input(%x: tensor<4xf32>, %i: index) -> tensor<4xf32> {
  batch.yield %x : tensor<4xf32>
}
uprog.operator @input.rows(%n: index) {
  uprog.yield
}

// Buffers are memory for tensors, with one or more copies.
// CHECK: uprog.buffer @x : tensor<4xf32> copies(2)
uprog.buffer @x : tensor<4xf32> copies(2)
uprog.buffer @c : tensor<i1> copies(1)
uprog.buffer @xs : tensor<64x4xf32> copies(1)

// In a program of one instance, control flow passes the locations of tensors.
// CHECK-LABEL: uprog.program @instance(
// CHECK-SAME:    %[[I:.*]]: index) level(device) {
// CHECK:         uprog.enter_instance %[[I]]
// CHECK:         %[[X:.*]] = uprog.argument 0 of %[[I]] : !uprog.row
// CHECK:         %[[LIST:.*]] = uprog.argument 1 of %[[I]] : !rec.list<index>
// CHECK:         %[[N:.*]] = uprog.list_length %[[LIST]] : !rec.list<index>
// CHECK:         %{{.*}} = uprog.list_element %[[LIST]][%{{.*}}] : !rec.list<index> -> index
// CHECK:         %[[ROW:.*]] = uprog.parameter_row @E[%{{.*}}]
// CHECK:         uprog.while iter(%[[NOW:.*]] = %[[X]]) : !uprog.row {
// CHECK:           %[[NEXT:.*]] = uprog.row @x avoiding(%[[NOW]])
// CHECK:           %[[C:.*]] = uprog.row @c
// CHECK:           %[[STEP:.*]] = uprog.site @cell(%[[NOW]], %{{.*}} : !uprog.row, index) into(%[[NEXT]], %[[C]])
// CHECK:           uprog.run @cell.rows step(%[[STEP]])
// CHECK:           %[[GO:.*]] = uprog.load %[[C]][] : tensor<i1>
// CHECK:           %[[MAY:.*]] = uprog.next_round "a loop"
// CHECK:           uprog.next_round "a counted loop" count(%{{.*}})
// CHECK:         uprog.copy %{{.*}} to %{{.*}} : tensor<4xf32>
// CHECK:         %[[TASKS:.*]] = uprog.tasks @input capacity(64)
// CHECK:         uprog.put_task %[[TASKS]][%{{.*}}] = %[[ROW]], %{{.*}} : !uprog.row, index
// CHECK:         %{{.*}} = uprog.batch %[[TASKS]] count(%{{.*}}) into(%[[XS:.*]])
// CHECK:         %{{.*}} = uprog.slice %[[XS]][%{{.*}}] : tensor<64x4xf32>
// CHECK:         uprog.result 0 of %[[I]] = %[[N]] : index
// CHECK:         uprog.result 1 of %[[I]] = %{{.*}} : !uprog.row, tensor<4xf32>

// Loads that control flow depends on remain in the loop, after the barrier.
// MOVED:       uprog.while
// MOVED:         uprog.run @cell.rows
// MOVED-NEXT:    uprog.barrier device
// MOVED-NEXT:    uprog.load
uprog.program @instance(%i: index) level(device) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  uprog.enter_instance %i
  %x = uprog.argument 0 of %i : !uprog.row
  %list = uprog.argument 1 of %i : !rec.list<index>
  %n = uprog.list_length %list : !rec.list<index>
  %word = uprog.list_element %list[%zero] : !rec.list<index> -> index
  %row = uprog.parameter_row @E[%word]
  %last = uprog.while iter(%now = %x) : !uprog.row {
    %next = uprog.row @x avoiding(%now)
    %c = uprog.row @c
    %step = uprog.site @cell(%now, %n : !uprog.row, index) into(%next, %c)
    uprog.run @cell.rows step(%step) tasks(%one)
    uprog.barrier device
    %go = uprog.load %c[] : tensor<i1>
    %may = uprog.next_round "a loop"
    %all = uprog.next_round "a counted loop" count(%n)
    %again = arith.andi %go, %may : i1
    uprog.condition(%again) %next : !uprog.row
  } do {
  ^bb0(%now: !uprog.row):
    uprog.yield %now : !uprog.row
  }
  %own = uprog.row @x avoiding(%last)
  uprog.copy %last to %own : tensor<4xf32>
  %tasks = uprog.tasks @input capacity(64)
  uprog.put_task %tasks[%zero] = %row, %n : !uprog.row, index
  %xs = uprog.row @xs
  %step = uprog.batch %tasks count(%one) into(%xs)
  uprog.run @input.rows step(%step) tasks(%one)
  %first = uprog.slice %xs[%zero] : tensor<64x4xf32>
  uprog.result 0 of %i = %n : index
  uprog.result 1 of %i = %first : !uprog.row, tensor<4xf32>
  uprog.yield
}

// CHECK: uprog.instances
// CHECK: uprog.units
uprog.program @main.execute() level(device) {
  %n = uprog.instances
  %units = uprog.units
  uprog.for %i = %n to %units {
    uprog.ref @instance(%i) : index
  }
  uprog.yield
}
