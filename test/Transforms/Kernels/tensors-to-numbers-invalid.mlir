// RUN: batch-opt %s --split-input-file --batch-tensors-to-numbers --verify-diagnostics

func.func @large(%x: tensor<17xf32>) -> tensor<17xf32>
    attributes {batch.apart, batch.entry, batch.strategy = #batch.strategy<replicate>} {
  // expected-error @+1 {{'batch.apart' is not legal: this reads argument 0, which is no number and no tensor of at most 16 elements}}
  %y = math.tanh %x : tensor<17xf32>
  return %y : tensor<17xf32>
}

// -----

func.func @made(%x: f32) -> f32
    attributes {batch.apart, batch.entry, batch.strategy = #batch.strategy<replicate>} {
  %zero = arith.constant 0 : index
  // expected-error @+1 {{'batch.apart' is not legal: this makes something else than numbers and tensors of at most 16 elements}}
  %y = tensor.splat %x : tensor<17xf32>
  %e = tensor.extract %y[%zero] : tensor<17xf32>
  return %e : f32
}

// -----

func.func @place(%x: tensor<4xf32>, %i: index) -> f32
    attributes {batch.apart, batch.entry, batch.strategy = #batch.strategy<replicate>} {
  // expected-error @+1 {{'batch.apart' is not legal: the place of the element that this reads is computed}}
  %e = tensor.extract %x[%i] : tensor<4xf32>
  return %e : f32
}

// -----

func.func @slice(%x: tensor<4xf32>, %i: index) -> tensor<1xf32>
    attributes {batch.apart, batch.entry, batch.strategy = #batch.strategy<replicate>} {
  // expected-error @+1 {{'batch.apart' is not legal: the place of the slice is computed}}
  %e = tensor.extract_slice %x[%i] [1] [1] : tensor<4xf32> to tensor<1xf32>
  return %e : tensor<1xf32>
}

// -----

func.func private @f(f32) -> f32
func.func @call(%x: f32) -> f32
    attributes {batch.apart, batch.entry, batch.strategy = #batch.strategy<replicate>} {
  // expected-error @+1 {{'batch.apart' is not legal: 'func.call' has no form on numbers}}
  %y = func.call @f(%x) : (f32) -> f32
  return %y : f32
}

// -----

// expected-error @+1 {{'batch.apart' is not legal: this function has several blocks}}
func.func @blocks(%x: f32) -> f32
    attributes {batch.apart, batch.entry, batch.strategy = #batch.strategy<replicate>} {
  cf.br ^bb1(%x : f32)
^bb1(%y: f32):
  return %y : f32
}

// -----

// expected-error @+1 {{'batch.apart' must be a unit attribute of the entry}}
func.func @attribute() attributes {batch.apart} {
  return
}
