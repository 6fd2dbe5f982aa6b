// RUN: batch-opt %s --convert-operators-to-cpu --split-input-file --verify-diagnostics

// Operators must be split into stages before this pass.
// expected-error @+1 {{this operator has no stages for a CPU; run uprog-stage-operators=target=cpu first}}
uprog.operator @k.rows(%n: index, %x: tensor<?x4xf32> {uprog.operand = #uprog.operand<gather>}) -> tensor<?x4xf32> {
  uprog.yield %x : tensor<?x4xf32>
}

// -----

// The stages of the operator must have been created for a CPU.
// expected-error @+1 {{this operator has no stages for a CPU; run uprog-stage-operators=target=cpu first}}
uprog.operator @k.rows(%n: index, %x: tensor<?x4xf32> {uprog.operand = #uprog.operand<gather>}) -> tensor<?x4xf32>
    attributes {uprog.staging = #uprog.staging<gpu, vector_bits = 128, lanes = 4>} {
  %0 = uprog.stage rows<tasks> shape [4] -> (tensor<?x4xf32>) {
    uprog.yield %x : tensor<?x4xf32>
  }
  uprog.yield %0 : tensor<?x4xf32>
}

// -----

// A tensor inside an elementwise op must consist of constants.
// expected-error @+1 {{reads a scalar that is not a constant}}
uprog.operator @k.rows(%n: index, %x: tensor<?x4xf32> {uprog.operand = #uprog.operand<gather>}) -> tensor<?x4xf32>
    attributes {uprog.staging = #uprog.staging<cpu, vector_bits = 512, lanes = 16>} {
  %0 = uprog.stage rows<tasks> shape [4] reads(%x : tensor<?x4xf32>) -> (tensor<?x4xf32>) {
    %e = tensor.empty(%n) : tensor<?x4xf32>
    %y = linalg.generic {indexing_maps = [affine_map<(r, i) -> (r, i)>, affine_map<(r, i) -> (r, i)>],
                         iterator_types = ["parallel", "parallel"]}
           ins(%x : tensor<?x4xf32>) outs(%e : tensor<?x4xf32>) {
    ^bb0(%a: f32, %o: f32):
      %zero = arith.constant 0 : index
      %t = tensor.splat %a : tensor<4xf32>
      %z = tensor.extract %t[%zero] : tensor<4xf32>
      linalg.yield %z : f32
    } -> tensor<?x4xf32>
    uprog.yield %y : tensor<?x4xf32>
  }
  uprog.yield %0 : tensor<?x4xf32>
}
