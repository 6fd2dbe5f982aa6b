// RUN: batch-opt %s --convert-operators-to-cpu --split-input-file --verify-diagnostics

// Operators are split into stages before this pass.
// expected-error @+1 {{this operator has no stages for a CPU; run uprog-stage-operators=target=cpu first}}
uprog.operator @k.rows(%n: index, %x: tensor<?x4xf32> {uprog.operand = #uprog.operand<gather>}) -> tensor<?x4xf32> {
  uprog.yield %x : tensor<?x4xf32>
}

// -----

// The stages have to be those of a CPU's vectors.
// expected-error @+1 {{this operator has no stages for a CPU; run uprog-stage-operators=target=cpu first}}
uprog.operator @k.rows(%n: index, %x: tensor<?x4xf32> {uprog.operand = #uprog.operand<gather>}) -> tensor<?x4xf32>
    attributes {uprog.staging = #uprog.staging<gpu, vector_bits = 128, lanes = 4>} {
  %0 = uprog.stage rows<tasks> shape [4] -> (tensor<?x4xf32>) {
    uprog.yield %x : tensor<?x4xf32>
  }
  uprog.yield %0 : tensor<?x4xf32>
}
