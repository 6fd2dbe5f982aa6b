// RUN: batch-opt %s --split-input-file --batch-insert-forces -o %t.1
// RUN: FileCheck %s < %t.1
// RUN: batch-opt %t.1 --split-input-file --batch-insert-forces | cmp - %t.1
// RUN: batch-opt %s --split-input-file --batch-insert-forces -o /dev/null \
// RUN:   --remark-format=emitRemark --remarks-filter=batch 2>&1 \
// RUN:   | FileCheck %s --check-prefix=REMARK

// Control flow waits for an element of a computed tensor. It does not wait for an
// element of an input, or for one that only tensor code reads.
// REMARK: [[#@LINE+13]]:8: remark: {{.*}}control flow waits here for a row of 16 bytes
// CHECK-LABEL: func.func @main
// CHECK-NOT:     batch.force
// CHECK:         %[[V:.*]] = math.exp
// CHECK-NEXT:    %[[F:.*]] = batch.force %[[V]] number(0) : tensor<4xf32>
// CHECK-NEXT:    tensor.extract %[[F]][
// CHECK-NOT:     batch.force
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32>
    attributes {batch.entry, batch.strategy = #batch.strategy<lazy>} {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %bound = tensor.extract %x[%one] : tensor<4xf32>
  %v = math.exp %x : tensor<4xf32>
  %e = tensor.extract %v[%zero] : tensor<4xf32>
  %c = arith.cmpf olt, %e, %bound : f32
  %y = scf.if %c -> tensor<4xf32> {
    %d = tensor.extract %v[%one] : tensor<4xf32>
    %s = tensor.splat %d : tensor<4xf32>
    scf.yield %s : tensor<4xf32>
  } else {
    scf.yield %x : tensor<4xf32>
  }
  return %y : tensor<4xf32>
}

// -----

// Waits are numbered across the whole program. A force in the source is numbered, too.
// CHECK-LABEL: func.func private @step
// CHECK:         batch.force %{{.*}} number(0)
// CHECK-LABEL: func.func @two
// CHECK:         batch.force %{{.*}} number(1)
// CHECK-NOT:     batch.force
func.func private @step(%x: tensor<1xi64>) -> i64 {
  %zero = arith.constant 0 : index
  %v = arith.addi %x, %x : tensor<1xi64>
  %e = tensor.extract %v[%zero] : tensor<1xi64>
  return %e : i64
}
func.func @two(%x: tensor<1xi64>) -> i64
    attributes {batch.entry, batch.strategy = #batch.strategy<lazy>} {
  %zero = arith.constant 0 : index
  %a = func.call @step(%x) : (tensor<1xi64>) -> i64
  %v = arith.muli %x, %x : tensor<1xi64>
  %f = batch.force %v : tensor<1xi64>
  %e = tensor.extract %f[%zero] : tensor<1xi64>
  %s = arith.addi %a, %e : i64
  return %s : i64
}

// -----

// The pass inserts forces only for strategy `lazy`.
// CHECK-LABEL: func.func @lanes
// CHECK-NOT:     batch.force
func.func @lanes(%x: tensor<1xi64>) -> i64
    attributes {batch.entry, batch.strategy = #batch.strategy<lockstep>} {
  %zero = arith.constant 0 : index
  %v = arith.muli %x, %x : tensor<1xi64>
  %e = tensor.extract %v[%zero] : tensor<1xi64>
  return %e : i64
}

// -----

// A remark reports for each loop and recursion whether it waits, directly or in
// a call.
// REMARK-DAG: [[#@LINE+4]]:1: remark: {{.*}}recursion waits for tensors"
// REMARK-DAG: [[#@LINE+21]]:8: remark: {{.*}}loop is linear: it runs without waiting for tensors"
// REMARK-DAG: [[#@LINE+24]]:8: remark: {{.*}}loop waits for tensors"
// CHECK-LABEL: func.func private @halve
func.func private @halve(%x: tensor<4xf32>) -> tensor<4xf32> {
  %zero = arith.constant 0 : index
  %bound = arith.constant 1.0 : f32
  %v = arith.addf %x, %x : tensor<4xf32>
  %e = tensor.extract %v[%zero] : tensor<4xf32>
  %c = arith.cmpf olt, %e, %bound : f32
  %y = scf.if %c -> tensor<4xf32> {
    %z = func.call @halve(%v) : (tensor<4xf32>) -> tensor<4xf32>
    scf.yield %z : tensor<4xf32>
  } else {
    scf.yield %v : tensor<4xf32>
  }
  return %y : tensor<4xf32>
}
func.func @regions(%x: tensor<4xf32>, %n: index) -> tensor<4xf32>
    attributes {batch.entry, batch.strategy = #batch.strategy<lazy>} {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %h = scf.for %i = %zero to %n step %one iter_args(%a = %x) -> tensor<4xf32> {
    %b = math.sin %a : tensor<4xf32>
    scf.yield %b : tensor<4xf32>
  }
  %y = scf.for %i = %zero to %n step %one iter_args(%a = %h) -> tensor<4xf32> {
    %b = func.call @halve(%a) : (tensor<4xf32>) -> tensor<4xf32>
    scf.yield %b : tensor<4xf32>
  }
  return %y : tensor<4xf32>
}
