// RUN: batch-opt %s --batch-scf-to-cf | FileCheck %s --implicit-check-not=scf.
// RUN: batch-opt %s --batch-scf-to-cf --batch-scf-to-cf | FileCheck %s

// Nested ops become branches. Block arguments represent the results that later ops
// use.
// CHECK-LABEL: func.func @nested
// CHECK-SAME:    %[[X:.*]]: i64, %[[C:.*]]: i1
// CHECK:         cf.br ^[[HEAD:.*]](%[[X]] : i64)
// CHECK:       ^[[HEAD]](%[[H:.*]]: i64):
// CHECK:         cf.cond_br %[[C]], ^[[BODY:.*]](%[[H]] : i64), ^[[END:.*]]{{$}}
// CHECK:       ^[[BODY]](%[[I:.*]]: i64):
// CHECK:         cf.cond_br %[[C]], ^[[THEN:.*]], ^[[ELSE:.*]]{{$}}
// CHECK:       ^[[THEN]]:
// CHECK:         cf.br ^[[JOIN:.*]](%[[I]] : i64)
// CHECK:       ^[[ELSE]]:
// CHECK:         %[[M:.*]] = arith.addi %[[I]], %[[X]]
// CHECK:         cf.br ^[[JOIN]](%[[M]] : i64)
// CHECK:       ^[[JOIN]](%[[N:.*]]: i64):
// CHECK:         cf.br ^[[LATCH:.*]]{{$}}
// CHECK:       ^[[LATCH]]:
// CHECK:         cf.br ^[[HEAD]](%[[N]] : i64)
// CHECK:       ^[[END]]:
// CHECK:         return %[[H]]
func.func @nested(%x: i64, %c: i1) -> i64 {
  %w = scf.while (%h = %x) : (i64) -> i64 {
    scf.condition(%c) %h : i64
  } do {
  ^bb0(%h: i64):
    %n = scf.if %c -> i64 {
      scf.yield %h : i64
    } else {
      %m = arith.addi %h, %x : i64
      scf.yield %m : i64
    }
    scf.yield %n : i64
  }
  return %w : i64
}

// If a pattern creates other scf ops, these are also lowered.
// CHECK-LABEL: func.func @several
// CHECK:         cf.switch
// CHECK:         cf.cond_br
// CHECK:         return
func.func @several(%i: index, %n: index) -> index {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %s = scf.index_switch %i -> index
  case 0 {
    scf.yield %zero : index
  }
  default {
    scf.yield %one : index
  }
  %t = scf.for %j = %zero to %n step %one iter_args(%a = %s) -> (index) {
    %b = arith.addi %a, %j : index
    scf.yield %b : index
  }
  return %t : index
}
