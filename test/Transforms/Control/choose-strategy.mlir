// RUN: batch-opt %s --split-input-file --batch-choose-strategy 2>/dev/null \
// RUN:   | FileCheck %s
// RUN: batch-opt %s --split-input-file --batch-choose-strategy -o /dev/null \
// RUN:   --remark-format=emitRemark --remarks-filter=batch 2>&1 \
// RUN:   | FileCheck %s --check-prefix=REMARK
// RUN: not batch-opt %s --split-input-file --batch-choose-strategy=gpu -o /dev/null \
// RUN:   --remark-format=emitRemark --remarks-filter=batch 2>&1 \
// RUN:   | FileCheck %s --check-prefix=GPU
// RUN: batch-opt %s --split-input-file --batch-choose-strategy=strategy=mask \
// RUN:   | FileCheck %s --check-prefix=MASK
// RUN: batch-opt %s --split-input-file --batch-choose-strategy=instances=1 -o /dev/null \
// RUN:   --remark-format=emitRemark --remarks-filter=batch 2>&1 \
// RUN:   | FileCheck %s --check-prefix=FEW
// RUN: batch-opt %s --split-input-file --batch-choose-strategy=instances=1 -o - 2>/dev/null \
// RUN:   --remark-format=emitRemark --remarks-filter=batch \
// RUN:   | FileCheck %s --check-prefix=ONE
// RUN: not batch-opt %s --split-input-file --batch-choose-strategy=strategy=lazy -o /dev/null \
// RUN:   --remark-format=emitRemark --remarks-filter=batch 2>&1 \
// RUN:   | FileCheck %s --check-prefix=LAZY
// RUN: not batch-opt %s --split-input-file --batch-choose-strategy=strategy=eager 2>&1 \
// RUN:   | FileCheck %s --check-prefix=UNKNOWN

// UNKNOWN: invalid value 'eager'; expected 'auto', 'none', 'linearize', 'lockstep', 'mask', 'lazy' or 'replicate'

// Control flow reads only the inputs.
// ONE-LABEL:   func.func @ahead
// ONE-SAME:      batch.strategy = #batch.strategy<linearize>
// REMARK: [[#@LINE+5]]:1: remark: {{.*}}strategy 'linearize': control flow reads only the inputs
// CHECK-LABEL: func.func @ahead
// CHECK-SAME:    batch.strategy = #batch.strategy<linearize>
// MASK-LABEL:  func.func @ahead
// MASK-SAME:     batch.strategy = #batch.strategy<mask>
func.func @ahead(%n: index, %x: tensor<64xf32>) -> tensor<64xf32>
    attributes {batch.entry} {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %y = scf.for %i = %zero to %n step %one iter_args(%a = %x) -> tensor<64xf32> {
    %b = math.tanh %a : tensor<64xf32>
    scf.yield %b : tensor<64xf32>
  }
  return %y : tensor<64xf32>
}

// -----

// Control flow reads an element of an input.
// REMARK: [[#@LINE+3]]:1: remark: {{.*}}strategy 'linearize': control flow reads only the inputs
// CHECK-LABEL: func.func @element
// CHECK-SAME:    batch.strategy = #batch.strategy<linearize>
func.func @element(%x: tensor<64xf32>) -> tensor<64xf32> attributes {batch.entry} {
  %zero = arith.constant 0 : index
  %bound = arith.constant 1.0 : f32
  %e = tensor.extract %x[%zero] : tensor<64xf32>
  %c = arith.cmpf olt, %e, %bound : f32
  %y = scf.if %c -> tensor<64xf32> {
    %z = math.tanh %x : tensor<64xf32>
    scf.yield %z : tensor<64xf32>
  } else {
    scf.yield %x : tensor<64xf32>
  }
  return %y : tensor<64xf32>
}

// -----

// A computed tensor determines the branch. Workers of a CPU, or blocks of a GPU, run the
// control flow of all instances. If the mini-batch has one instance, all units run it together.
// ONE-LABEL:   func.func @branch
// ONE-SAME:      batch.strategy = #batch.strategy<replicate>
// REMARK: [[#@LINE+9]]:8: remark: {{.*}}strategy 'replicate': control flow depends on a tensor here, and every unit runs the control flow of all instances
// REMARK: [[#@LINE+8]]:8: remark: {{.*}}this element decides which branch of the conditional at choose-strategy.mlir:{{.*}} runs; every unit reads it after it is computed
// GPU: [[#@LINE+7]]:8: remark: {{.*}}strategy 'replicate': control flow depends on a tensor here, and every unit runs the control flow of all instances
// CHECK-LABEL: func.func @branch
// CHECK-SAME:    batch.strategy = #batch.strategy<replicate>
func.func @branch(%x: tensor<64xf32>) -> tensor<64xf32> attributes {batch.entry} {
  %zero = arith.constant 0 : index
  %bound = arith.constant 1.0 : f32
  %v = math.exp %x : tensor<64xf32>
  %e = tensor.extract %v[%zero] : tensor<64xf32>
  %c = arith.cmpf olt, %e, %bound : f32
  %y = scf.if %c -> tensor<64xf32> {
    %z = math.tanh %x : tensor<64xf32>
    scf.yield %z : tensor<64xf32>
  } else {
    scf.yield %x : tensor<64xf32>
  }
  return %y : tensor<64xf32>
}

// -----

// A program that recurs over numbers waits or runs in lock step. This program computes
// little between two waits, so it runs in lock step.
// REMARK: [[#@LINE+24]]:8: remark: {{.*}}strategy 'lockstep': control flow depends on a tensor here, and an instance computes 96 operations between two waits, fewer than
// REMARK: [[#@LINE+19]]:14: remark: {{.*}}strategy 'replicate' is not legal: strategy 'replicate' does not support this call
// REMARK-NOT: is not legal
// CHECK-LABEL: func.func @lanes
// CHECK-SAME:    batch.strategy = #batch.strategy<lockstep>
func.func private @count(%n: i64) -> i64 {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %more = arith.cmpi sgt, %n, %zero : i64
  %m = scf.if %more -> i64 {
    %less = arith.subi %n, %one : i64
    %k = func.call @count(%less) : (i64) -> i64
    scf.yield %k : i64
  } else {
    scf.yield %n : i64
  }
  return %m : i64
}
func.func @lanes(%x: tensor<64xf32>) -> tensor<64xf32> attributes {batch.entry} {
  %any = arith.constant 3 : i64
  %counted = func.call @count(%any) : (i64) -> i64
  %zero = arith.constant 0 : index
  %bound = arith.constant 1.0 : f32
  %v = math.exp %x : tensor<64xf32>
  %e = tensor.extract %v[%zero] : tensor<64xf32>
  %c = arith.cmpf olt, %e, %bound : f32
  %y = scf.if %c -> tensor<64xf32> {
    %z = math.tanh %x : tensor<64xf32>
    scf.yield %z : tensor<64xf32>
  } else {
    scf.yield %x : tensor<64xf32>
  }
  return %y : tensor<64xf32>
}

// -----

// This program has many operations: 2 * 2048 * 2048 in the product, and 2 * 2048
// in elementwise ops.
// REMARK: [[#@LINE+29]]:10: remark: {{.*}}strategy 'lazy': control flow depends on a tensor here, and an instance computes 8392704 operations between two waits, at least
// REMARK: [[#@LINE+23]]:14: remark: {{.*}}strategy 'replicate' is not legal
// REMARK-NOT: is not legal
// GPU: [[#@LINE+26]]:10: remark: {{.*}}strategy 'lockstep': control flow depends on a tensor here"
// GPU: [[#@LINE+20]]:14: remark: {{.*}}strategy 'replicate' is not legal
// GPU: [[#@LINE+24]]:10: remark: {{.*}}strategy 'lazy' is not legal: control flow can wait for tensors only on CPUs
// CHECK-LABEL: func.func @much
// CHECK-SAME:    batch.strategy = #batch.strategy<lazy>
func.func private @count(%n: i64) -> i64 {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %more = arith.cmpi sgt, %n, %zero : i64
  %m = scf.if %more -> i64 {
    %less = arith.subi %n, %one : i64
    %k = func.call @count(%less) : (i64) -> i64
    scf.yield %k : i64
  } else {
    scf.yield %n : i64
  }
  return %m : i64
}
func.func @much(%x: tensor<2048xf32>, %W: tensor<2048x2048xf32> {batch.shared = "W"})
    -> tensor<2048xf32> attributes {batch.entry} {
  %any = arith.constant 3 : i64
  %counted = func.call @count(%any) : (i64) -> i64
  %zero = arith.constant 0 : index
  %bound = arith.constant 1.0 : f32
  %half = arith.constant dense<0.5> : tensor<2048xf32>
  %y = scf.while (%a = %x) : (tensor<2048xf32>) -> tensor<2048xf32> {
    %e = tensor.extract %a[%zero] : tensor<2048xf32>
    %c = arith.cmpf olt, %e, %bound : f32
    scf.condition(%c) %a : tensor<2048xf32>
  } do {
  ^bb0(%a: tensor<2048xf32>):
    %h = arith.mulf %a, %half : tensor<2048xf32>
    %t = math.tanh %h : tensor<2048xf32>
    %b = linalg.matvec ins(%W, %t : tensor<2048x2048xf32>, tensor<2048xf32>)
        outs(%x : tensor<2048xf32>) -> tensor<2048xf32>
    scf.yield %b : tensor<2048xf32>
  }
  return %y : tensor<2048xf32>
}

// -----

// An element that only tensor code reads does not affect control flow.
// CHECK-LABEL: func.func @scale
// CHECK-SAME:    batch.strategy = #batch.strategy<linearize>
func.func @scale(%x: tensor<64xf32>) -> tensor<64xf32> attributes {batch.entry} {
  %zero = arith.constant 0 : index
  %v = math.exp %x : tensor<64xf32>
  %e = tensor.extract %v[%zero] : tensor<64xf32>
  %s = tensor.splat %e : tensor<64xf32>
  %y = arith.mulf %x, %s : tensor<64xf32>
  return %y : tensor<64xf32>
}

// -----

// A strategy in the source remains.
// GPU: [[#@LINE+5]]:1: error: strategy 'mask' calls functions on the host stack, which GPU blocks do not have
// CHECK-LABEL: func.func @said
// CHECK-SAME:    batch.strategy = #batch.strategy<mask>
// MASK-LABEL:  func.func @said
// MASK-SAME:     batch.strategy = #batch.strategy<mask>
func.func @said(%x: tensor<64xf32>) -> tensor<64xf32>
    attributes {batch.entry, batch.strategy = #batch.strategy<mask>} {
  return %x : tensor<64xf32>
}

// -----

rec.adt @Nat {
  rec.variant @zero(word: index)
  rec.variant @succ(pred: !rec.adt<@Nat>)
}
// Strategy lockstep does not support data structures, so control flow waits for the tensor. On a
// GPU, units run the control flow.
// REMARK: [[#@LINE+10]]:8: remark: {{.*}}strategy 'lazy': control flow depends on a tensor here"
// REMARK: [[#@LINE+4]]:18: remark: {{.*}}strategy 'lockstep' is not legal: this value of type '!rec.adt<@Nat>' is a data structure
// GPU: [[#@LINE+8]]:8: remark: {{.*}}strategy 'replicate': control flow depends on a tensor here, and every unit runs the control flow of all instances
// CHECK-LABEL: func.func @waits
// CHECK-SAME:    batch.strategy = #batch.strategy<lazy>
func.func @waits(%t: !rec.adt<@Nat>, %x: tensor<64xf32>) -> tensor<64xf32>
    attributes {batch.entry} {
  %zero = arith.constant 0 : index
  %bound = arith.constant 1.0 : f32
  %v = math.exp %x : tensor<64xf32>
  %e = tensor.extract %v[%zero] : tensor<64xf32>
  %c = arith.cmpf olt, %e, %bound : f32
  %y = scf.if %c -> tensor<64xf32> {
    %z = math.tanh %x : tensor<64xf32>
    scf.yield %z : tensor<64xf32>
  } else {
    scf.yield %x : tensor<64xf32>
  }
  return %y : tensor<64xf32>
}

// -----

rec.adt @Nat {
  rec.variant @zero(word: index)
  rec.variant @succ(pred: !rec.adt<@Nat>)
}
// With an additional recursion over numbers, no strategy is legal on a GPU.
// REMARK: [[#@LINE+27]]:8: remark: {{.*}}strategy 'lazy': control flow depends on a tensor here"
// REMARK: [[#@LINE+22]]:14: remark: {{.*}}strategy 'replicate' is not legal: strategy 'replicate' does not support this call
// GPU: [[#@LINE+25]]:8: warning: the program is not batched and runs one instance at a time: control flow depends on a tensor here
// GPU: [[#@LINE+20]]:14: note: strategy 'replicate' is not legal either: strategy 'replicate' does not support this call
// GPU: [[#@LINE+23]]:8: note: strategy 'lazy' is not legal either: control flow can wait for tensors only on CPUs
// CHECK-LABEL: func.func @nodes
// CHECK-SAME:    batch.strategy = #batch.strategy<lazy>
func.func private @count(%n: i64) -> i64 {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %more = arith.cmpi sgt, %n, %zero : i64
  %m = scf.if %more -> i64 {
    %less = arith.subi %n, %one : i64
    %k = func.call @count(%less) : (i64) -> i64
    scf.yield %k : i64
  } else {
    scf.yield %n : i64
  }
  return %m : i64
}
func.func @nodes(%t: !rec.adt<@Nat>, %x: tensor<64xf32>) -> tensor<64xf32>
    attributes {batch.entry} {
  %any = arith.constant 3 : i64
  %counted = func.call @count(%any) : (i64) -> i64
  %zero = arith.constant 0 : index
  %bound = arith.constant 1.0 : f32
  %v = math.exp %x : tensor<64xf32>
  %e = tensor.extract %v[%zero] : tensor<64xf32>
  %c = arith.cmpf olt, %e, %bound : f32
  %y = scf.if %c -> tensor<64xf32> {
    %z = math.tanh %x : tensor<64xf32>
    scf.yield %z : tensor<64xf32>
  } else {
    scf.yield %x : tensor<64xf32>
  }
  return %y : tensor<64xf32>
}

// -----

rec.adt @Nat {
  rec.variant @zero(word: index)
  rec.variant @succ(pred: !rec.adt<@Nat>)
}
// No strategy is legal. A warning reports the obstacle, and an attribute of the
// entry stores it.
// CHECK-LABEL: func.func @alone
// CHECK-SAME:    batch.not_batched = "{{.*}}choose-strategy.mlir:{{[0-9]+}}:8: control flow depends on a tensor here
// CHECK-SAME:    batch.strategy = #batch.strategy<none>
func.func @alone(%t: !rec.adt<@Nat>, %x: tensor<?x4xf32>, %k: tensor<64xf32>)
    -> tensor<64xf32>
    attributes {batch.entry} {
  %zero = arith.constant 0 : index
  %bound = arith.constant 1.0 : f32
  %v = math.exp %x : tensor<?x4xf32>
  %e = tensor.extract %v[%zero, %zero] : tensor<?x4xf32>
  %c = arith.cmpf olt, %e, %bound : f32
  %y = scf.if %c -> tensor<64xf32> {
    %z = math.tanh %k : tensor<64xf32>
    scf.yield %z : tensor<64xf32>
  } else {
    scf.yield %k : tensor<64xf32>
  }
  return %y : tensor<64xf32>
}

// -----

// Control flow reads no tensors, but running layer after layer pays off for one
// instance.
!vec = tensor<256xf32>
!mat = tensor<256x256xf32>
// CHECK-LABEL: func.func @layers
// CHECK-SAME:    batch.strategy = #batch.strategy<linearize>
// FEW: [[#@LINE+7]]:10: remark: {{.*}}strategy 'replicate': layers of this loop read parameters once for many rounds, and a mini-batch has 1 instance
// ONE-LABEL: func.func @layers
// ONE-SAME:    batch.strategy = #batch.strategy<replicate>
func.func @layers(%n: index, %W: !mat {batch.shared = "W"}) -> !vec attributes {batch.entry} {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %h0 = arith.constant dense<0.1> : !vec
  %y:2 = scf.for %i = %zero to %n step %one iter_args(%h = %h0, %g = %h0) -> (!vec, !vec) {
    %next = math.tanh %h : !vec
    %x = linalg.matvec ins(%W, %next : !mat, !vec) outs(%h0 : !vec) -> !vec
    %s = arith.addf %x, %g : !vec
    scf.yield %next, %s : !vec, !vec
  }
  return %y#1 : !vec
}

// -----

// If a program has loops over tensors of few elements, each worker runs its own instances.
// REMARK: [[#@LINE+7]]:1: remark: {{.*}}strategy 'replicate', with one worker per instance: no tensor of an instance has more than 16 elements, so each worker runs its instances in registers
// GPU: [[#@LINE+10]]:10: remark: {{.*}}strategy 'replicate': control flow depends on a tensor here
// CHECK-LABEL: func.func @few
// CHECK-SAME:    batch.entry, batch.per_unit, batch.strategy = #batch.strategy<replicate>
// MASK-LABEL:  func.func @few
// MASK-NOT:      batch.per_unit
// MASK-SAME:     batch.strategy = #batch.strategy<mask>
func.func @few(%x: tensor<16xf32>) -> tensor<16xf32> attributes {batch.entry} {
  %zero = arith.constant 0 : index
  %bound = arith.constant 1.0 : f32
  %y = scf.while (%v = %x) : (tensor<16xf32>) -> tensor<16xf32> {
    %e = tensor.extract %v[%zero] : tensor<16xf32>
    %c = arith.cmpf olt, %e, %bound : f32
    scf.condition(%c) %v : tensor<16xf32>
  } do {
  ^bb0(%v: tensor<16xf32>):
    %z = arith.addf %v, %v : tensor<16xf32>
    scf.yield %z : tensor<16xf32>
  }
  return %y : tensor<16xf32>
}

// -----

// Control flow can depend on an element that an earlier round of the loop computed.
// REMARK: [[#@LINE+12]]:10: remark: {{.*}}control flow reads this element; every unit reads it after it is computed
// LAZY: [[#@LINE+11]]:10: remark: {{.*}}control flow reads this element; the instance waits for a flush that computes it
// CHECK-LABEL: func.func @later
func.func @later(%x: tensor<64xf32>) -> tensor<64xf32> attributes {batch.entry} {
  %zero = arith.constant 0 : index
  %bound = arith.constant 1.0 : f32
  %y:2 = scf.while (%v = %x, %last = %bound) : (tensor<64xf32>, f32) -> (tensor<64xf32>, f32) {
    %c = arith.cmpf ole, %last, %bound : f32
    scf.condition(%c) %v, %last : tensor<64xf32>, f32
  } do {
  ^bb0(%v: tensor<64xf32>, %last: f32):
    %z = math.exp %v : tensor<64xf32>
    %e = tensor.extract %z[%zero] : tensor<64xf32>
    scf.yield %z, %e : tensor<64xf32>, f32
  }
  return %y#0 : tensor<64xf32>
}
