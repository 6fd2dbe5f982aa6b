// RUN: batch-opt %s --allow-unregistered-dialect --batch-choose-strategy --verify-diagnostics --mlir-print-op-on-diagnostic=false
// RUN: not batch-opt %s --allow-unregistered-dialect --batch-linearize 2>&1 | FileCheck %s
// RUN: not batch-opt %s --allow-unregistered-dialect --batch-recursion-to-stack 2>&1 | FileCheck %s --check-prefix=STACK

// Of an op that nobody registered nothing is known.
// CHECK: error: this op does not say how values flow through it
// STACK: error: this op has effects; strategies 'lockstep' and 'mask' can only run code without effects
func.func @main(%n: i64) -> i64 attributes {batch.entry} {
  // expected-error @+1 {{this op does not say how values flow through it}}
  %m = "nobody.knows"(%n) : (i64) -> i64
  return %m : i64
}
