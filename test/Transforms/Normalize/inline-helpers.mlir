// RUN: batch-opt %s --batch-inline-helpers --split-input-file | FileCheck %s

rec.adt @Nat {
  rec.variant @zero(n: index)
  rec.variant @succ(pred: !rec.adt<@Nat>)
}

// A helper that calls helpers is copied as a whole, and no call remains.
// CHECK-NOT: func.func private @twice
// CHECK-NOT: func.func private @once
func.func private @once(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = math.tanh %x : tensor<4xf32>
  return %y : tensor<4xf32>
}
func.func private @twice(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %y = call @once(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %z = call @once(%y) : (tensor<4xf32>) -> tensor<4xf32>
  return %z, %x : tensor<4xf32>, tensor<4xf32>
}

// Functions that call each other remain. Calls inside of their regions are
// replaced like any other call.
// CHECK-LABEL: func.func private @even
// CHECK-SAME:    (%[[T:.*]]: !rec.adt<@Nat>, %[[X:.*]]: tensor<4xf32>)
func.func private @even(%t: !rec.adt<@Nat>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %r = rec.match %t : !rec.adt<@Nat> -> tensor<4xf32> {
  // CHECK: case @zero
  case @zero(%n: index) {
    // CHECK-NEXT: %[[Y:.*]] = math.tanh %[[X]]
    // CHECK-NEXT: %[[Z:.*]] = math.tanh %[[Y]]
    // CHECK-NEXT: rec.yield %[[Z]]
    %y:2 = func.call @twice(%x) : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
    rec.yield %y#0 : tensor<4xf32>
  }
  // CHECK: case @succ(%[[PRED:.*]]: !rec.adt<@Nat>)
  case @succ(%pred: !rec.adt<@Nat>) {
    // CHECK-NEXT: func.call @odd(%[[PRED]], %[[X]])
    %y = func.call @odd(%pred, %x) : (!rec.adt<@Nat>, tensor<4xf32>) -> tensor<4xf32>
    rec.yield %y : tensor<4xf32>
  } }
  return %r : tensor<4xf32>
}

// CHECK-LABEL: func.func private @odd
// CHECK-SAME:    (%[[T:.*]]: !rec.adt<@Nat>, %[[X:.*]]: tensor<4xf32>)
// CHECK-NEXT:    %[[Y:.*]] = call @even(%[[T]], %[[X]])
// CHECK-NEXT:    return %[[Y]]
func.func private @odd(%t: !rec.adt<@Nat>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %y = call @even(%t, %x) : (!rec.adt<@Nat>, tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// The entry is the root of all calls and remains. A result that is an argument
// of the helper becomes the operand. Unused code of another result is removed.
// CHECK-LABEL: func.func @main
// CHECK-SAME:    (%[[T:.*]]: !rec.adt<@Nat>, %[[X:.*]]: tensor<4xf32>
// CHECK-NEXT:    %[[Y:.*]] = call @even(%[[T]], %[[X]])
// CHECK-NEXT:    return %[[Y]]
func.func @main(%t: !rec.adt<@Nat>, %x: tensor<4xf32>) -> tensor<4xf32>
    attributes {batch.entry} {
  %z:2 = call @twice(%x) : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  %y = call @even(%t, %z#1) : (!rec.adt<@Nat>, tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// A helper may also be called from functions that the entry does not reach. It
// is copied into callers that the entry reaches, and remains for other callers.
// CHECK-LABEL: func.func private @helper
func.func private @helper(%x: index) -> index {
  return %x : index
}
// CHECK-LABEL: func.func private @unreached
// CHECK:         call @helper
func.func private @unreached(%x: index) -> index {
  %y = call @helper(%x) : (index) -> index
  return %y : index
}
// CHECK-LABEL: func.func @main
// CHECK-SAME:    (%[[X:.*]]: index)
// CHECK-NEXT:    return %[[X]]
func.func @main(%x: index) -> index attributes {batch.entry} {
  %y = call @helper(%x) : (index) -> index
  return %y : index
}

// -----

// Functions of several blocks and functions without a body remain.
// CHECK-LABEL: func.func private @blocks
func.func private @blocks(%x: index) -> index {
  cf.br ^end
^end:
  return %x : index
}
// CHECK-LABEL: func.func private @declared
func.func private @declared(index) -> index
// CHECK-LABEL: func.func @main
// CHECK:         call @blocks
// CHECK:         call @declared
func.func @main(%x: index) -> index attributes {batch.entry} {
  %y = call @blocks(%x) : (index) -> index
  %z = call @declared(%y) : (index) -> index
  return %z : index
}

// -----

// A module without an entry is not a program: nothing changes.
// CHECK-LABEL: func.func @caller
// CHECK:         call @helper
func.func @caller(%x: index) -> index {
  %y = call @helper(%x) : (index) -> index
  return %y : index
}
func.func private @helper(%x: index) -> index {
  return %x : index
}

// -----

// A mark on a call applies to all of its inlined code.
func.func private @gate(%x: tensor<4xf32>) -> tensor<4xf32> {
  %n = arith.negf %x : tensor<4xf32>
  %y = math.tanh %n : tensor<4xf32>
  return %y : tensor<4xf32>
}
// CHECK-LABEL: func.func @marked
// CHECK-NEXT: arith.negf %{{.*}} {rec.backedge} : tensor<4xf32>
// CHECK-NEXT: math.tanh %{{.*}} {rec.backedge} : tensor<4xf32>
func.func @marked(%x: tensor<4xf32>) -> tensor<4xf32> attributes {batch.entry} {
  %y = call @gate(%x) {rec.backedge} : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// Unused code is removed completely, including conditionals.
func.func private @step(%x: tensor<4xf32>) -> tensor<4xf32> {
  %zero = arith.constant 0 : index
  %bound = arith.constant 0.0 : f32
  %t = math.tanh %x : tensor<4xf32>
  %e = tensor.extract %t[%zero] : tensor<4xf32>
  %c = arith.cmpf ogt, %e, %bound : f32
  %y = scf.if %c -> tensor<4xf32> {
    %m = math.exp %t : tensor<4xf32>
    scf.yield %m : tensor<4xf32>
  } else {
    scf.yield %t : tensor<4xf32>
  }
  return %y : tensor<4xf32>
}
// CHECK-LABEL: func.func @last
// CHECK-SAME:    (%[[X:.*]]: tensor<4xf32>)
// CHECK-NEXT:    return %[[X]]
func.func @last(%x: tensor<4xf32>) -> tensor<4xf32> attributes {batch.entry} {
  %y = call @step(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %z = call @step(%y) : (tensor<4xf32>) -> tensor<4xf32>
  return %x : tensor<4xf32>
}
