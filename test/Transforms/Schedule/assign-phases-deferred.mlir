// RUN: batch-opt %s --split-input-file --batch-assign-phases -o %t.1
// RUN: FileCheck %s --check-prefixes=CHECK,DEFER < %t.1
// RUN: batch-opt %t.1 --split-input-file --batch-assign-phases | cmp - %t.1
// RUN: batch-opt %s --split-input-file --batch-assign-phases=defer=false | FileCheck %s --check-prefixes=CHECK,EAGER
// RUN: batch-opt %s --split-input-file --batch-assign-phases=phases=false | FileCheck %s --check-prefix=FLAT

// Without phases, deferred kernels still have a separate phase.
// FLAT:        batch.kernel @state{{.*}} attributes {phase = 0 : i64}
// FLAT:        batch.kernel @score{{.*}} attributes {phase = 0 : i64}
// FLAT:        batch.kernel @head{{.*}} attributes {deferred, phase = 1 : i64}
// FLAT:        batch.kernel @loss{{.*}} attributes {deferred, phase = 1 : i64}

// Control flow waits for the score, and so for the state from which the score is computed.
// No wait depends on the head, or on the loss, which reads the head.
!vec = tensor<4xf32>
// CHECK:       batch.kernel @state
// CHECK-NOT:   deferred
// CHECK:       batch.kernel @score
// CHECK-NOT:   deferred
// DEFER:       batch.kernel @head{{.*}} attributes {deferred, phase = 3 : i64}
// EAGER:       batch.kernel @head{{.*}} attributes {phase = 1 : i64}
// DEFER:       batch.kernel @loss{{.*}} attributes {deferred, phase = 3 : i64}
// EAGER:       batch.kernel @loss{{.*}} attributes {phase = 1 : i64}
batch.kernel @state(%x: !vec) -> !vec {
  batch.yield %x : !vec
}
batch.kernel @score(%x: !vec) -> tensor<1xf32> {
  %e = tensor.extract_slice %x[0] [1] [1] : !vec to tensor<1xf32>
  batch.yield %e : tensor<1xf32>
}
batch.kernel @head(%x: !vec) -> !vec {
  %y = math.exp %x : !vec
  batch.yield %y : !vec
}
batch.kernel @loss(%x: !vec) -> !vec {
  %y = math.log %x : !vec
  batch.yield %y : !vec
}
func.func @main(%x: !vec) -> !vec
    attributes {batch.entry, batch.strategy = #batch.strategy<lazy>} {
  %zero = arith.constant 0 : index
  %bound = arith.constant 1.0 : f32
  %h = scf.while (%a = %x) : (!vec) -> !vec {
    %s = batch.invoke @score(%a) : (!vec) -> tensor<1xf32>
    %f = batch.force %s number(0) : tensor<1xf32>
    %e = tensor.extract %f[%zero] : tensor<1xf32>
    %c = arith.cmpf olt, %e, %bound : f32
    scf.condition(%c) %a : !vec
  } do {
  ^bb0(%a: !vec):
    %b = batch.invoke @state(%a) : (!vec) -> !vec
    scf.yield %b : !vec
  }
  %y = batch.invoke @head(%h) : (!vec) -> !vec
  %l = batch.invoke @loss(%y) : (!vec) -> !vec
  return %l : !vec
}

// -----

// All tasks of a kernel run in the same phase. @other is not deferred, because a task of
// @state reads its result, even though no wait depends on that task.
!vec = tensor<4xf32>
// CHECK:       batch.kernel @state
// CHECK-NOT:   deferred
// CHECK:       batch.kernel @other
// CHECK-NOT:   deferred
// DEFER:       batch.kernel @head{{.*}} attributes {deferred,
batch.kernel @state(%x: !vec) -> !vec {
  batch.yield %x : !vec
}
batch.kernel @other(%x: !vec) -> !vec {
  %y = math.exp %x : !vec
  batch.yield %y : !vec
}
batch.kernel @head(%x: !vec) -> !vec {
  %y = math.log %x : !vec
  batch.yield %y : !vec
}
func.func @main(%x: !vec, %y: !vec) -> (!vec, f32)
    attributes {batch.entry, batch.strategy = #batch.strategy<lazy>} {
  %zero = arith.constant 0 : index
  %h = batch.invoke @state(%x) : (!vec) -> !vec
  %f = batch.force %h number(0) : !vec
  %e = tensor.extract %f[%zero] : !vec
  %o = batch.invoke @other(%y) : (!vec) -> !vec
  %g = batch.invoke @state(%o) : (!vec) -> !vec
  %l = batch.invoke @head(%g) : (!vec) -> !vec
  return %l, %e : !vec, f32
}
