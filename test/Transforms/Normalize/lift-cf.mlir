// RUN: batch-opt %s --batch-lift-cf | FileCheck %s

// A loop with an exit at its head, and with a second exit in its body that returns a
// result

// CHECK-LABEL: func.func @main(
// CHECK-SAME:    %[[N:.*]]: i64, %[[X:.*]]: tensor<4xf32>)
// CHECK-DAG:     %[[NONE:.*]] = arith.constant dense<0.000000e+00> : tensor<4xf32>
// CHECK:         %[[LOOP:.*]]:3 = scf.while (%[[I:.*]] = %[[N]], %[[Y:.*]] = %[[X]], %{{.*}} = %[[NONE]])
// CHECK:           %[[MORE:.*]] = arith.cmpi sgt, %[[I]]
// CHECK:           scf.if %[[MORE]]
// CHECK:             %[[Z:.*]] = math.tanh %[[Y]]
// CHECK:             scf.if
// CHECK:               scf.yield %{{.*}}, %[[NONE]], %[[Z]]
// CHECK:               %[[W:.*]] = arith.addf %[[Z]], %[[Y]]
// CHECK:               scf.yield %{{.*}}, %[[W]], %[[NONE]]
// CHECK:           scf.condition
// CHECK-NOT:     {{ cf\.}}
// CHECK-NOT:     {{ ub\.}}
// CHECK:         return %[[LOOP]]#2
func.func @main(%n: i64, %x: tensor<4xf32>) -> tensor<4xf32>
    attributes {batch.entry} {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %quarter = arith.constant 0.25 : f32
  %c0 = arith.constant 0 : index
  cf.br ^loop(%n, %x : i64, tensor<4xf32>)
^loop(%i: i64, %y: tensor<4xf32>):
  %more = arith.cmpi sgt, %i, %zero : i64
  cf.cond_br %more, ^body, ^exit(%y : tensor<4xf32>)
^body:
  %z = math.tanh %y : tensor<4xf32>
  %e = tensor.extract %z[%c0] : tensor<4xf32>
  %large = arith.cmpf ogt, %e, %quarter : f32
  cf.cond_br %large, ^exit(%z : tensor<4xf32>), ^next
^next:
  %w = arith.addf %z, %y : tensor<4xf32>
  %j = arith.subi %i, %one : i64
  cf.br ^loop(%j, %w : i64, tensor<4xf32>)
^exit(%r: tensor<4xf32>):
  return %r : tensor<4xf32>
}

// Several returns and a switch, and a block without predecessors

// CHECK-LABEL: func.func private @choose(
// CHECK:         %[[R:.*]] = scf.index_switch %{{.*}} -> i64
// CHECK-NEXT:    case 3 {
// CHECK-NEXT:      scf.yield %{{.*}}
// CHECK:         default {
// CHECK:           func.call @choose
// CHECK:         return %[[R]]
// CHECK-NEXT:  }
func.func private @choose(%i: i64) -> i64 {
  %one = arith.constant 1 : i64
  cf.switch %i : i64, [default: ^again, 3: ^end(%one : i64)]
^again:
  %j = arith.subi %i, %one : i64
  %r = func.call @choose(%j) : (i64) -> i64
  return %r : i64
^end(%s: i64):
  return %s : i64
^nowhere:
  %t = arith.addi %one, %one : i64
  cf.br ^end(%t : i64)
}

// If a value of an ADT is defined on all paths, it needs no zero value.

rec.adt @Tree {
  rec.variant @leaf(word: index)
}

// CHECK-LABEL: func.func private @pick(
// CHECK-SAME:    %[[BIT:.*]]: i1, %[[A:.*]]: !rec.adt<@Tree>, %[[B:.*]]: !rec.adt<@Tree>)
// CHECK:         %[[T:.*]] = scf.if %[[BIT]] -> (!rec.adt<@Tree>)
// CHECK-NEXT:      scf.yield %[[A]]
// CHECK-NEXT:    } else {
// CHECK-NEXT:      scf.yield %[[B]]
func.func private @pick(%bit: i1, %a: !rec.adt<@Tree>, %b: !rec.adt<@Tree>)
    -> !rec.adt<@Tree> {
  cf.cond_br %bit, ^end(%a : !rec.adt<@Tree>), ^end(%b : !rec.adt<@Tree>)
^end(%t: !rec.adt<@Tree>):
  return %t : !rec.adt<@Tree>
}

// A function without a body remains unchanged.

// CHECK-LABEL: func.func private @declared(i64) -> i64
func.func private @declared(i64) -> i64
