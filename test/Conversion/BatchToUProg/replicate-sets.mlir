// RUN: batch-opt %s --split-input-file --batch-replicate=level=device | FileCheck %s
// RUN: batch-opt %s --split-input-file --batch-replicate=level=device \
// RUN:   --uprog-insert-barriers | FileCheck %s --check-prefix=AFTER

// Each member of a set of instances has its own numbers and locations of tensors. The
// members that run a task are one batch, and each member has a row in its own buffer.
batch.kernel @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  batch.yield %x : tensor<4xf32>
}
uprog.operator @f.rows of @f(
    %n: index,
    %x0: tensor<?x4xf32> {uprog.operand = #uprog.operand<gather>})
    -> tensor<?x4xf32> {
  uprog.yield %x0 : tensor<?x4xf32>
}
batch.kernel @g(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<i1>) {
  %c = tensor.empty() : tensor<i1>
  batch.yield %x, %c : tensor<4xf32>, tensor<i1>
}
uprog.operator @g.rows of @g(
    %n: index,
    %x: tensor<?x4xf32> {uprog.operand = #uprog.operand<gather>})
    -> (tensor<?x4xf32>, tensor<?xi1>) {
  %c = tensor.empty(%n) : tensor<?xi1>
  uprog.yield %x, %c : tensor<?x4xf32>, tensor<?xi1>
}
// A step contains the address of each row that a task reads or writes.
// CHECK:       batch.kernel @f(%{{.*}}: tensor<4xf32> {batch.read = #batch.read<kind = rows>}) -> (tensor<4xf32> {batch.row_list})

// CHECK:       uprog.program @main.instance.set(%[[FIRST:.*]]: index, %[[COUNT:.*]]: index) level(device) {
// CHECK:         uprog.each %[[I:.*]] < %[[COUNT]] {
// CHECK:           %[[INSTANCE:.*]] = arith.addi %[[FIRST]], %[[I]]
// CHECK:           uprog.argument 0 of %[[INSTANCE]]

// Members that are still in the loop
// CHECK:         %[[IN:.*]] = uprog.compact %{{.*}} < %[[COUNT]] into %[[LIST:.*]] : memref<?xi32>
// CHECK:         uprog.while iter(%[[STILL:.*]] = %[[IN]]) : index {
// CHECK:           %[[TASKS:.*]] = uprog.tasks @g capacity(64)
// CHECK:           uprog.each %[[K:.*]] < %[[STILL]] {
// CHECK:             %[[M:.*]] = uprog.member %[[LIST]][%[[K]]]
// CHECK:             %[[NEXT:.*]] = uprog.row @g.0 avoiding(%{{.*}}) member(%[[M]])
// CHECK:             uprog.put_task %[[TASKS]][%[[K]]] = %{{.*}} : !uprog.row into(%[[NEXT]], %{{.*}})
// CHECK:           %[[STEP:.*]] = uprog.batch %[[TASKS]] count(%[[STILL]])
// CHECK-NEXT:      uprog.run @g.rows step(%[[STEP]]) tasks(%[[STILL]])
// CHECK:           uprog.barrier device
// CHECK:           uprog.each %{{.*}} < %[[STILL]] {
// CHECK:             uprog.load
// CHECK:             uprog.next_round "a loop at {{.*}}" after(%{{.*}})
// CHECK:           %[[GO:.*]] = uprog.compact %{{.*}} < %[[STILL]] into %[[GOING:.*]] : memref<?xi32>
// CHECK:           %[[ANY:.*]] = arith.cmpi ne, %[[GO]]
// CHECK:           uprog.condition(%[[ANY]]) %[[GO]] : index
// CHECK:         } do {
// CHECK:         ^bb0(%[[NOW:.*]]: index):

// Members that take a branch, and members that do not
// CHECK:           %[[TAKERS:.*]] = uprog.compact %{{.*}} < %[[NOW]] into
// CHECK:           uprog.branch
// CHECK-NEXT:      case 1 {
// CHECK:             uprog.run @f.rows step(%{{.*}}) tasks(%[[TAKERS]])
// CHECK:           %[[OTHERS:.*]] = uprog.compact %{{.*}} < %[[NOW]] into
// CHECK:           uprog.branch
// CHECK-NOT:         uprog.run
// CHECK:           uprog.yield %{{.*}} : index

// Results, one after the other
// CHECK:         uprog.for %[[J:.*]] = %{{.*}} to %[[COUNT]] {
// CHECK:           uprog.result 0 of %{{.*}} = %{{.*}} : !uprog.row, tensor<4xf32>

// A single instance needs no set, and a set has at most 64 instances.
// CHECK:       uprog.program @main.execute
// CHECK:         %[[N:.*]] = uprog.instances
// CHECK:         arith.cmpi ugt, %[[N]], %{{.*}}
// CHECK:         uprog.branch
// CHECK-NEXT:    case 1 {
// CHECK:           uprog.for %[[F:.*]] = %{{.*}} to %[[N]] step %{{.*}} {
// CHECK:             %[[SIZE:.*]] = arith.minui
// CHECK:             uprog.ref @main.instance.set(%[[F]], %[[SIZE]]) : index, index
// CHECK:         default {
// CHECK:             uprog.ref @main.instance.all_units

// The program of a set gets its barriers from a later pass.
// AFTER:       uprog.program @main.instance.set
// AFTER:           uprog.put_task
// AFTER-NEXT:      }
// AFTER-NEXT:      uprog.barrier device
// AFTER-NEXT:      %{{.*}} = uprog.batch
// AFTER-NEXT:      uprog.run @g.rows
// AFTER-NEXT:      uprog.barrier device
// AFTER-NEXT:      uprog.each
func.func @main(%x: tensor<4xf32>, %n: i64) -> tensor<4xf32>
    attributes {batch.entry, batch.strategy = #batch.strategy<replicate>} {
  %one = arith.constant 1 : i64
  %y, %m = scf.while (%a = %x, %k = %n) : (tensor<4xf32>, i64) -> (tensor<4xf32>, i64) {
    %b, %c = batch.invoke @g(%a) : (tensor<4xf32>) -> (tensor<4xf32>, tensor<i1>)
    %go = tensor.extract %c[] : tensor<i1>
    scf.condition(%go) %b, %k : tensor<4xf32>, i64
  } do {
  ^bb0(%a: tensor<4xf32>, %k: i64):
    %odd = arith.trunci %k : i64 to i1
    %b = scf.if %odd -> tensor<4xf32> {
      %t = batch.invoke @f(%a) : (tensor<4xf32>) -> tensor<4xf32>
      scf.yield %t : tensor<4xf32>
    } else {
      scf.yield %a : tensor<4xf32>
    }
    %l = arith.addi %k, %one : i64
    scf.yield %b, %l : tensor<4xf32>, i64
  }
  return %y : tensor<4xf32>
}

// -----

// A loop that runs the same number of rounds for all members remains one loop, and a
// scalar branch is in one `uprog.each`.
batch.kernel @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  batch.yield %x : tensor<4xf32>
}
uprog.operator @f.rows of @f(
    %n: index,
    %x0: tensor<?x4xf32> {uprog.operand = #uprog.operand<gather>})
    -> tensor<?x4xf32> {
  uprog.yield %x0 : tensor<?x4xf32>
}
// CHECK:       uprog.program @main.instance.set(%{{.*}}: index, %[[COUNT:.*]]: index)
// CHECK-NOT:     uprog.while
// CHECK:         uprog.for %{{.*}} = %{{.*}} to %{{.*}} {
// CHECK-NOT:       uprog.compact
// CHECK:           uprog.run @f.rows step(%{{.*}}) tasks(%[[COUNT]])
// CHECK:         uprog.each %{{.*}} < %[[COUNT]] {
// CHECK:           uprog.branch %{{.*}} -> index
// CHECK:           uprog.result 1
func.func @main(%x: tensor<4xf32>, %c: i1) -> (tensor<4xf32>, index)
    attributes {batch.entry, batch.strategy = #batch.strategy<replicate>} {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %ten = arith.constant 10 : index
  %y = scf.for %i = %zero to %ten step %one iter_args(%a = %x) -> tensor<4xf32> {
    %b = batch.invoke @f(%a) : (tensor<4xf32>) -> tensor<4xf32>
    scf.yield %b : tensor<4xf32>
  }
  %n = scf.if %c -> index {
    scf.yield %ten : index
  } else {
    scf.yield %one : index
  }
  return %y, %n : tensor<4xf32>, index
}
