// RUN: batch-opt %s --batch-recursion-to-stack --batch-linearize | FileCheck %s

// A program that already runs in lockstep gets no inspector.
// CHECK:     func.func @main(
// CHECK:     batch.machine @main.machine
// CHECK-NOT: batch.inspector
func.func @main(%n: i64) -> i64 attributes {batch.entry} {
  %m = arith.addi %n, %n : i64
  return %m : i64
}
