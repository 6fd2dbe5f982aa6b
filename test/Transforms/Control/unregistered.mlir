// RUN: batch-opt %s --allow-unregistered-dialect --batch-choose-strategy --verify-diagnostics --mlir-print-op-on-diagnostic=false
// RUN: not batch-opt %s --allow-unregistered-dialect --batch-linearize 2>&1 | FileCheck %s
// RUN: not batch-opt %s --allow-unregistered-dialect --batch-recursion-to-stack 2>&1 | FileCheck %s --check-prefix=STACK

// The effects of an unregistered op are unknown.
// CHECK: error: 'nobody.knows' has an unknown flow of values
// STACK: error: 'nobody.knows' has effects; strategies 'lockstep' and 'mask' can only run code without effects
func.func @main(%n: i64) -> i64 attributes {batch.entry} {
  // expected-error @+1 {{has an unknown flow of values}}
  %m = "nobody.knows"(%n) : (i64) -> i64
  return %m : i64
}
