// RUN: batch-opt %s --split-input-file --verify-diagnostics \
// RUN:   --batch-choose-strategy=gpu --mlir-print-op-on-diagnostic=false

// On a GPU, a strategy that is not legal is an error at once. The note lists
// only strategies that are legal there.
func.func @waits(%x: tensor<4xf32>) -> tensor<4xf32>
    attributes {batch.entry, batch.strategy = #batch.strategy<lazy>} {
  %zero = arith.constant 0 : index
  %bound = arith.constant 1.0 : f32
  %v = math.exp %x : tensor<4xf32>
  // expected-error @+2 {{control flow can wait for tensors only on CPUs}}
  // expected-note @+1 {{legal strategies: 'lockstep', 'replicate' and 'none', which runs one instance at a time}}
  %e = tensor.extract %v[%zero] : tensor<4xf32>
  %c = arith.cmpf olt, %e, %bound : f32
  %y = scf.if %c -> tensor<4xf32> {
    %z = math.tanh %x : tensor<4xf32>
    scf.yield %z : tensor<4xf32>
  } else {
    scf.yield %x : tensor<4xf32>
  }
  return %y : tensor<4xf32>
}

// -----

// expected-error @+2 {{strategy 'mask' calls functions on the host stack, which GPU blocks do not have}}
// expected-note @+1 {{legal strategies: 'linearize', 'lockstep', 'lazy', 'replicate' and 'none', which runs one instance at a time}}
func.func @mask(%x: tensor<4xf32>) -> tensor<4xf32>
    attributes {batch.entry, batch.strategy = #batch.strategy<mask>} {
  %y = math.exp %x : tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// Without waits, strategy 'lazy' is legal.
func.func @plain(%x: tensor<4xf32>) -> tensor<4xf32>
    attributes {batch.entry, batch.strategy = #batch.strategy<lazy>} {
  %y = math.exp %x : tensor<4xf32>
  return %y : tensor<4xf32>
}
