// RUN: batch-opt %s --sccp | FileCheck %s --check-prefix=CONSTANTS
// RUN: batch-opt %s --loop-invariant-code-motion | FileCheck %s --check-prefix=MOVED

// Constant propagation follows the values that control flow forwards.
// CONSTANTS-LABEL: uprog.program @constants
// CONSTANTS-NOT:     uprog.for
// CONSTANTS-NOT:     uprog.while
// CONSTANTS:         uprog.branch %c3
// CONSTANTS:         uprog.branch %c4
// CONSTANTS:         uprog.branch %c2
uprog.program @constants(%n: index) level(block) {
  %one = arith.constant 1 : index
  %two = arith.constant 2 : index
  %for = uprog.for %i = %one to %n iter(%a = %two) : index {
    uprog.yield %a : index
  }
  %three = arith.addi %for, %one : index
  uprog.branch %three
  case 3 {
    uprog.barrier block
  }
  %while = uprog.while iter(%a = %two) : index {
    %go = arith.cmpi slt, %a, %n : index
    %next = arith.addi %a, %one : index
    uprog.condition(%go) %next : index
  } do {
  ^bb0(%a: index):
    uprog.yield %two : index
  }
  %four = arith.addi %while, %one : index
  uprog.branch %four
  case 4 {
    uprog.barrier block
  }
  %branch = uprog.branch %n -> index
  case 0 {
    uprog.yield %one : index
  }
  default {
    uprog.yield %one : index
  }
  %sum = arith.addi %branch, %one : index
  uprog.branch %sum
  case 2 {
    uprog.barrier block
  }
  uprog.yield
}

// Ops on values that are equal in all iterations move out of the loops.
// MOVED-LABEL: uprog.program @invariant
// MOVED:         arith.muli
// MOVED-NEXT:    arith.addi
// MOVED-NEXT:    uprog.for
// MOVED-NEXT:      arith.addi
// MOVED:         arith.subi
// MOVED-NEXT:    uprog.while
uprog.program @invariant(%n: index, %c: i1) level(block) {
  %last = uprog.for %i = %n to %n iter(%a = %n) : index {
    %square = arith.muli %n, %n : index
    %outside = arith.addi %square, %n : index
    %sum = arith.addi %a, %outside : index
    uprog.yield %sum : index
  }
  uprog.while iter(%a = %n) : index {
    uprog.condition(%c) %a : index
  } do {
  ^bb0(%a: index):
    %less = arith.subi %n, %n : index
    %sum = arith.addi %a, %less : index
    uprog.yield %sum : index
  }
  uprog.yield
}
