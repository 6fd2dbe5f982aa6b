// RUN: batch-opt %s --verify-diagnostics --batch-choose-strategy=strategy=none --mlir-print-op-on-diagnostic=false
// RUN: not batch-compile %s --strategy=none -o %t.so 2>&1 | FileCheck %s

// RUN: sed 's/, batch.strategy = #batch.strategy<lockstep>//' %s > %t.mlir
// RUN: not batch-opt %t.mlir --batch-recursion-to-stack --batch-choose-strategy=strategy=none 2>&1 | FileCheck %s --check-prefix=MACHINE

// MACHINE: error: the entry has strategy 'lockstep', but strategy 'none' is requested

// The requested strategy must be the strategy in the source, or that of an existing
// machine.
// CHECK: choose-strategy-contradicted.mlir:[[#@LINE+2]]:1: error: the entry has strategy 'lockstep', but strategy 'none' is requested
// expected-error @+1 {{the entry has strategy 'lockstep', but strategy 'none' is requested; omit the option or the attribute}}
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32>
    attributes {batch.entry, batch.strategy = #batch.strategy<lockstep>} {
  return %x : tensor<4xf32>
}
