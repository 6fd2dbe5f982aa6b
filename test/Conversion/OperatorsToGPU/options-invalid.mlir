// RUN: batch-opt %s --convert-operators-to-gpu=block-size=33 --verify-diagnostics
// RUN: batch-opt %s --convert-operators-to-gpu=block-size=0 --verify-diagnostics
// RUN: batch-opt %s --convert-operators-to-gpu=block-size=2048 --verify-diagnostics

// A block is a number of whole warps.
// expected-error @+1 {{block-size must be a multiple of 32 up to 1024}}
module {
  uprog.operator @k.rows(%n: index, %x: tensor<?x4xf32>) -> tensor<?x4xf32> {
    uprog.yield %x : tensor<?x4xf32>
  }
}
