// RUN: split-file %s %t
// RUN: batch-opt %t/block.mlir --convert-operators-to-gpu=block-size=33 --verify-diagnostics
// RUN: batch-opt %t/block.mlir --convert-operators-to-gpu=block-size=0 --verify-diagnostics
// RUN: batch-opt %t/block.mlir --convert-operators-to-gpu=block-size=2048 --verify-diagnostics
// RUN: batch-opt %t/precision.mlir --convert-operators-to-gpu=precision=fp8 --verify-diagnostics

//--- block.mlir
// A block is a number of whole warps.
// expected-error @+1 {{block-size must be a multiple of 32 up to 1024}}
module {
  uprog.operator @k.rows(%n: index, %x: tensor<?x4xf32> {uprog.operand = #uprog.operand<gather>}) -> tensor<?x4xf32> {
    uprog.yield %x : tensor<?x4xf32>
  }
}

//--- precision.mlir
// expected-error @+1 {{unknown precision 'fp8'; precisions are f32, tf32 and bf16}}
module {}
