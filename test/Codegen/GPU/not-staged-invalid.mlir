// RUN: batch-opt %s --convert-operators-to-gpu --verify-diagnostics
// RUN: batch-opt %s --batch-choose-executor --verify-diagnostics

// The operator must already have a copy with stages.
// expected-error @+1 {{this operator has no stages for a GPU; run uprog-stage-operators=target=gpu first}}
uprog.operator @k.rows(%n: index, %x: tensor<?x4xf32> {uprog.operand = #uprog.operand<gather>}) -> tensor<?x4xf32> {
  uprog.yield %x : tensor<?x4xf32>
}
uprog.program @p() level(device) {
  uprog.yield
}
