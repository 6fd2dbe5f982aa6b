// RUN: batch-opt %s --batch-recursion-to-stack --batch-linearize | FileCheck %s

// The pass creates no inspector for a program that already runs in lockstep.
// CHECK:     func.func @main(
// CHECK:     batch.machine @main.machine
// CHECK-NOT: batch.inspector
func.func @main(%n: i64) -> i64 attributes {batch.entry} {
  %m = arith.addi %n, %n : i64
  return %m : i64
}
