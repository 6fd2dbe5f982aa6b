// RUN: split-file %s %t
// RUN: batch-opt %t/block.mlir --convert-operators-to-gpu=block-size=33 --verify-diagnostics
// RUN: batch-opt %t/block.mlir --convert-operators-to-gpu=block-size=0 --verify-diagnostics
// RUN: batch-opt %t/block.mlir --convert-operators-to-gpu=block-size=2048 --verify-diagnostics
// RUN: not batch-opt %t/block.mlir --convert-operators-to-gpu=precision=fp8 2>&1 | FileCheck %s

// CHECK: for the --precision option: invalid value 'fp8'; expected 'f32', 'tf32' or 'bf16'

//--- block.mlir
// A block consists of whole warps.
// expected-error @unknown {{block-size must be a multiple of 32 up to 1024}}
module {
  uprog.operator @k.rows(%n: index, %x: tensor<?x4xf32> {uprog.operand = #uprog.operand<gather>}) -> tensor<?x4xf32> {
    uprog.yield %x : tensor<?x4xf32>
  }
}
