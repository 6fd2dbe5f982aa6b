// RUN: batch-opt %s --convert-operators-to-gpu=count-rows=1,0 --verify-diagnostics

// expected-error @unknown {{count-rows must be at least 1}}
module {
  uprog.operator @k.rows(%n: index, %x: tensor<?x4xf32> {uprog.operand = #uprog.operand<gather>}) -> tensor<?x4xf32> {
    uprog.yield %x : tensor<?x4xf32>
  }
}
