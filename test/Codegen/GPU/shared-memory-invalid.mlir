// RUN: batch-opt %s --convert-operators-to-gpu=shared-memory=-2 --verify-diagnostics
// RUN: batch-opt %s --convert-operators-to-gpu=blocks=0 --verify-diagnostics

// expected-error @unknown {{shared-memory must be at least 0, and blocks must be at least 1}}
module {
  uprog.operator @k.rows(%n: index, %x: tensor<?x4xf32> {uprog.operand = #uprog.operand<gather>}) -> tensor<?x4xf32> {
    uprog.yield %x : tensor<?x4xf32>
  }
}
