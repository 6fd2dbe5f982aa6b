// RUN: batch-opt %s --batch-scalarize --split-input-file | FileCheck %s

#none = affine_map<() -> ()>

// A loop as front ends write it: counter, limit and condition are rank-0
// tensors. The sum is still carried as a tensor.
// CHECK-LABEL: func.func @main
// CHECK-SAME:    %[[N:[a-z0-9]*]]: tensor<i32>
// CHECK:         scf.while (%[[I:.*]] = %{{.*}}, %{{.*}} = %{{.*}}) : (i32, tensor<4xf32>) -> (i32, tensor<4xf32>) {
// CHECK:           %[[LIMIT:.*]] = tensor.extract %[[N]][] : tensor<i32>
// CHECK:           %[[GO:.*]] = arith.cmpi slt, %[[I]], %[[LIMIT]] : i32
// CHECK:           scf.condition(%[[GO]]) %[[I]], %{{.*}} : i32, tensor<4xf32>
// CHECK:         ^bb0(%[[J:.*]]: i32, %{{.*}}: tensor<4xf32>):
// CHECK:           %[[NEXT:.*]] = arith.addi %[[J]], %{{.*}} : i32
// CHECK:           scf.yield %[[NEXT]], %{{.*}} : i32, tensor<4xf32>
func.func @main(%n: tensor<i32> {batch.name = "n"}, %x: tensor<4xf32> {batch.name = "x"})
    -> tensor<4xf32> attributes {batch.entry} {
  %zero = arith.constant dense<0> : tensor<i32>
  %one = arith.constant dense<1> : tensor<i32>
  %r:2 = scf.while (%i = %zero, %a = %x) : (tensor<i32>, tensor<4xf32>) -> (tensor<i32>, tensor<4xf32>) {
    %init = tensor.empty() : tensor<i1>
    %less = linalg.generic {indexing_maps = [#none, #none, #none], iterator_types = []}
        ins(%i, %n : tensor<i32>, tensor<i32>) outs(%init : tensor<i1>) {
    ^bb0(%l: i32, %m: i32, %o: i1):
      %c = arith.cmpi slt, %l, %m : i32
      linalg.yield %c : i1
    } -> tensor<i1>
    %go = tensor.extract %less[] : tensor<i1>
    scf.condition(%go) %i, %a : tensor<i32>, tensor<4xf32>
  } do {
  ^bb0(%j: tensor<i32>, %b: tensor<4xf32>):
    %next = arith.addi %j, %one : tensor<i32>
    %c = arith.addf %b, %b : tensor<4xf32>
    scf.yield %next, %c : tensor<i32>, tensor<4xf32>
  }
  return %r#1 : tensor<4xf32>
}

// -----

// A number computed from a tensor remains a tensor, so control flow waits only
// for the condition of the loop.
// CHECK-LABEL: func.func @main
// CHECK:         scf.while (%{{.*}} = %{{.*}}) : (tensor<f32>) -> tensor<f32>
// CHECK:           %[[LESS:.*]] = arith.cmpf olt, %{{.*}}, %{{.*}} : tensor<f32>
// CHECK:           tensor.extract %[[LESS]][] : tensor<i1>
func.func @main(%x: tensor<4xf32> {batch.name = "x"}) -> tensor<f32> attributes {batch.entry} {
  %limit = arith.constant dense<9.0> : tensor<f32>
  %sum = linalg.reduce {arith.addf} ins(%x : tensor<4xf32>) outs(%limit : tensor<f32>) dimensions = [0]
  %r = scf.while (%i = %sum) : (tensor<f32>) -> tensor<f32> {
    %less = arith.cmpf olt, %i, %limit : tensor<f32>
    %go = tensor.extract %less[] : tensor<i1>
    scf.condition(%go) %i : tensor<f32>
  } do {
  ^bb0(%j: tensor<f32>):
    %next = arith.addf %j, %j : tensor<f32>
    scf.yield %next : tensor<f32>
  }
  return %r : tensor<f32>
}

// -----

// A slice of one element of an input becomes a scalar, as does a number that a branch returns.
// CHECK-LABEL: func.func @main
// CHECK-SAME:    %[[S:[a-z0-9]*]]: tensor<8xi32>
// CHECK-SAME:    %[[AT:[a-z0-9]*]]: index
// CHECK:         %[[E:.*]] = tensor.extract %[[S]][%[[AT]]] : tensor<8xi32>
// CHECK:         %[[K:.*]] = scf.if %{{.*}} -> (i32) {
// CHECK:           scf.yield %[[E]] : i32
// CHECK:         arith.cmpi eq, %[[K]], %{{.*}} : i32
func.func @main(%s: tensor<8xi32> {batch.name = "s"}, %at: index {batch.name = "at"},
                %x: tensor<4xf32> {batch.name = "x"}) -> tensor<4xf32> attributes {batch.entry} {
  %c3 = arith.constant 3 : index
  %seven = arith.constant dense<7> : tensor<i32>
  %one = tensor.extract_slice %s[%at] [1] [1] : tensor<8xi32> to tensor<1xi32>
  %e = tensor.collapse_shape %one [] : tensor<1xi32> into tensor<i32>
  %low = arith.cmpi slt, %at, %c3 : index
  %k = scf.if %low -> (tensor<i32>) {
    scf.yield %e : tensor<i32>
  } else {
    scf.yield %seven : tensor<i32>
  }
  %equal = arith.cmpi eq, %k, %seven : tensor<i32>
  %decides = tensor.extract %equal[] : tensor<i1>
  %y = scf.if %decides -> (tensor<4xf32>) {
    %z = arith.addf %x, %x : tensor<4xf32>
    scf.yield %z : tensor<4xf32>
  } else {
    scf.yield %x : tensor<4xf32>
  }
  return %y : tensor<4xf32>
}

// -----

// Parameters that front ends carry through a loop are read from outside of the loop.
// CHECK-LABEL: func.func @main
// CHECK-SAME:    %[[W:[a-z0-9]*]]: tensor<4x4xf32> {batch.shared = "W"}
// CHECK:         scf.for {{.*}} iter_args(%[[A:.*]] = %{{.*}}) -> (tensor<4xf32>) {
// CHECK:           linalg.matvec ins(%[[W]], %[[A]] :
func.func @main(%n: index {batch.name = "n"}, %x: tensor<4xf32> {batch.name = "x"},
                %W: tensor<4x4xf32> {batch.shared = "W"}) -> tensor<4xf32> attributes {batch.entry} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x, %V = %W) -> (tensor<4xf32>, tensor<4x4xf32>) {
    %y = linalg.matvec ins(%V, %a : tensor<4x4xf32>, tensor<4xf32>) outs(%x : tensor<4xf32>) -> tensor<4xf32>
    scf.yield %y, %V : tensor<4xf32>, tensor<4x4xf32>
  }
  return %r#0 : tensor<4xf32>
}

// -----

// A recursive function passes the input on. Each node has a position and a threshold. Control flow
// compares the element of the input at this position with this threshold.
// CHECK-LABEL: func.func private @walk
// CHECK-SAME:    (%{{.*}}, %[[X:.*]]: tensor<16xf32>)
// CHECK:         case @split(%[[K:.*]]: i32, %[[T:.*]]: f32,
// CHECK:           %[[L:.*]] = arith.addi %[[K]], %{{.*}} : i32
// CHECK:           %[[I:.*]] = arith.index_cast %[[L]] : i32 to index
// CHECK:           %[[E:.*]] = tensor.extract %[[X]][%[[I]]] : tensor<16xf32>
// CHECK:           %[[C:.*]] = arith.cmpf ole, %[[E]], %[[T]] : f32
// CHECK-NEXT:      scf.if %[[C]]
rec.adt @Tree kind tree arity 2 {
  rec.variant @leaf(value: f32)
  rec.variant @split(feature: i32, threshold: f32, left: !rec.adt<@Tree>, right: !rec.adt<@Tree>)
}
func.func private @walk(%t: !rec.adt<@Tree>, %x: tensor<16xf32>) -> tensor<f32> {
  %one = arith.constant dense<1> : tensor<i32>
  %r = rec.match %t : !rec.adt<@Tree> -> tensor<f32> {
  case @leaf(%v: f32) {
    %w = tensor.from_elements %v : tensor<f32>
    rec.yield %w : tensor<f32>
  } case @split(%k: i32, %threshold: f32, %left: !rec.adt<@Tree>, %right: !rec.adt<@Tree>) {
    %k0 = tensor.from_elements %k : tensor<i32>
    %next = arith.addi %k0, %one : tensor<i32>
    %n = tensor.extract %next[] : tensor<i32>
    %at = arith.index_cast %n : i32 to index
    %slice = tensor.extract_slice %x[%at] [1] [1] : tensor<16xf32> to tensor<1xf32>
    %e = tensor.collapse_shape %slice [] : tensor<1xf32> into tensor<f32>
    %t0 = tensor.from_elements %threshold : tensor<f32>
    %less = arith.cmpf ole, %e, %t0 : tensor<f32>
    %c = tensor.extract %less[] : tensor<i1>
    %y = scf.if %c -> tensor<f32> {
      %a = func.call @walk(%left, %x) : (!rec.adt<@Tree>, tensor<16xf32>) -> tensor<f32>
      scf.yield %a : tensor<f32>
    } else {
      %b = func.call @walk(%right, %x) : (!rec.adt<@Tree>, tensor<16xf32>) -> tensor<f32>
      scf.yield %b : tensor<f32>
    }
    rec.yield %y : tensor<f32>
  } }
  return %r : tensor<f32>
}
func.func @main(%t: !rec.adt<@Tree> {batch.name = "t"}, %x: tensor<16xf32> {batch.name = "x"})
    -> tensor<f32> attributes {batch.entry} {
  %r = func.call @walk(%t, %x) : (!rec.adt<@Tree>, tensor<16xf32>) -> tensor<f32>
  return %r : tensor<f32>
}

// -----

// An argument is not an input if a call passes a computed tensor. Control flow then still waits
// only for the condition.
// CHECK-LABEL: func.func private @shrink
// CHECK:         arith.cmpf ogt, %{{.*}} : tensor<f32>
func.func private @shrink(%x: tensor<4xf32>) -> tensor<4xf32> {
  %limit = arith.constant dense<1.0> : tensor<f32>
  %slice = tensor.extract_slice %x[0] [1] [1] : tensor<4xf32> to tensor<1xf32>
  %e = tensor.collapse_shape %slice [] : tensor<1xf32> into tensor<f32>
  %more = arith.cmpf ogt, %e, %limit : tensor<f32>
  %c = tensor.extract %more[] : tensor<i1>
  %y = scf.if %c -> tensor<4xf32> {
    %half = math.sqrt %x : tensor<4xf32>
    %z = func.call @shrink(%half) : (tensor<4xf32>) -> tensor<4xf32>
    scf.yield %z : tensor<4xf32>
  } else {
    scf.yield %x : tensor<4xf32>
  }
  return %y : tensor<4xf32>
}
func.func @main(%x: tensor<4xf32> {batch.name = "x"}) -> tensor<4xf32> attributes {batch.entry} {
  %r = func.call @shrink(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}
