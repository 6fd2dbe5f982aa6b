// RUN: batch-opt %s --split-input-file --batch-tensors-to-numbers --verify-diagnostics

func.func @large(%x: tensor<17xf32>) -> tensor<17xf32>
    attributes {batch.entry, batch.per_unit, batch.strategy = #batch.strategy<replicate>} {
  // expected-error @+1 {{'batch.per_unit' is not legal: this op reads argument #0, which is neither a number nor a tensor of at most 16 elements}}
  %y = math.tanh %x : tensor<17xf32>
  return %y : tensor<17xf32>
}

// -----

func.func @made(%x: f32) -> f32
    attributes {batch.entry, batch.per_unit, batch.strategy = #batch.strategy<replicate>} {
  %zero = arith.constant 0 : index
  // expected-error @+1 {{'batch.per_unit' is not legal: this op produces a value that is neither a number nor a tensor of at most 16 elements}}
  %y = tensor.splat %x : tensor<17xf32>
  %e = tensor.extract %y[%zero] : tensor<17xf32>
  return %e : f32
}

// -----

func.func @place(%x: tensor<4xf32>, %i: index) -> f32
    attributes {batch.entry, batch.per_unit, batch.strategy = #batch.strategy<replicate>} {
  // expected-error @+1 {{'batch.per_unit' is not legal: this op reads an element at a position that is not constant}}
  %e = tensor.extract %x[%i] : tensor<4xf32>
  return %e : f32
}

// -----

func.func @slice(%x: tensor<4xf32>, %i: index) -> tensor<1xf32>
    attributes {batch.entry, batch.per_unit, batch.strategy = #batch.strategy<replicate>} {
  // expected-error @+1 {{'batch.per_unit' is not legal: this op accesses a position that is not constant or is out of range}}
  %e = tensor.extract_slice %x[%i] [1] [1] : tensor<4xf32> to tensor<1xf32>
  return %e : tensor<1xf32>
}

// -----

func.func private @f(f32) -> f32
func.func @call(%x: f32) -> f32
    attributes {batch.entry, batch.per_unit, batch.strategy = #batch.strategy<replicate>} {
  // expected-error @+1 {{'batch.per_unit' is not legal: 'func.call' is not supported on numbers}}
  %y = func.call @f(%x) : (f32) -> f32
  return %y : f32
}

// -----

// expected-error @+1 {{'batch.per_unit' is not legal: this function has several blocks}}
func.func @blocks(%x: f32) -> f32
    attributes {batch.entry, batch.per_unit, batch.strategy = #batch.strategy<replicate>} {
  cf.br ^bb1(%x : f32)
^bb1(%y: f32):
  return %y : f32
}

// -----

// expected-error @+1 {{'batch.per_unit' must be a unit attribute of an entry with strategy 'replicate'}}
func.func @attribute() attributes {batch.per_unit} {
  return
}

// -----

func.func @constant(%x: f32) -> f32
    attributes {batch.entry, batch.per_unit, batch.strategy = #batch.strategy<replicate>} {
  %zero = arith.constant 0 : index
  // expected-error @+1 {{'batch.per_unit' is not legal: this constant has no dense elements; write it as dense<...>}}
  %c = arith.constant dense_resource<data> : tensor<2xf32>
  %e = tensor.extract %c[%zero] : tensor<2xf32>
  return %e : f32
}

{-#
  dialect_resources: {
    builtin: {
      data: "0x040000000000803F00000040"
    }
  }
#-}

// -----

#id = affine_map<(d0) -> (d0)>
func.func @body(%x: tensor<2xf32>, %i: index) -> tensor<2xf32>
    attributes {batch.entry, batch.per_unit, batch.strategy = #batch.strategy<replicate>} {
  // expected-error @+1 {{'batch.per_unit' is not legal: this op reads an element at a position that is not constant}}
  %y = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]}
      outs(%x : tensor<2xf32>) {
  ^bb0(%out: f32):
    %e = tensor.extract %x[%i] : tensor<2xf32>
    linalg.yield %e : f32
  } -> tensor<2xf32>
  return %y : tensor<2xf32>
}

// -----

#id = affine_map<(d0) -> (d0)>
func.func @branch(%x: tensor<2xf32>, %c: i1) -> tensor<2xf32>
    attributes {batch.entry, batch.per_unit, batch.strategy = #batch.strategy<replicate>} {
  // expected-error @+1 {{'batch.per_unit' is not legal: the body of this op has control flow or side effects}}
  %y = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]}
      outs(%x : tensor<2xf32>) {
  ^bb0(%out: f32):
    %e = scf.if %c -> f32 {
      scf.yield %out : f32
    } else {
      %f = math.exp %out : f32
      scf.yield %f : f32
    }
    linalg.yield %e : f32
  } -> tensor<2xf32>
  return %y : tensor<2xf32>
}

// -----

#all = affine_map<(d0, d1, d2) -> ()>
func.func @many(%x: tensor<16xf32>, %init: tensor<f32>) -> tensor<f32>
    attributes {batch.entry, batch.per_unit, batch.strategy = #batch.strategy<replicate>} {
  %y = linalg.generic {
      indexing_maps = [affine_map<(d0, d1, d2) -> (d0)>, affine_map<(d0, d1, d2) -> (d1)>,
                       affine_map<(d0, d1, d2) -> (d2)>, #all],
      iterator_types = ["reduction", "reduction", "reduction"]}
      ins(%x, %x, %x : tensor<16xf32>, tensor<16xf32>, tensor<16xf32>)
      outs(%init : tensor<f32>) {
  ^bb0(%a: f32, %b: f32, %c: f32, %out: f32):
    %d = arith.mulf %a, %b : f32
    // expected-error @+1 {{'batch.per_unit' is not legal: the code up to here takes more than 4096 operations on elements}}
    %e = arith.mulf %d, %c : f32
    %f = arith.addf %e, %out : f32
    linalg.yield %f : f32
  } -> tensor<f32>
  return %y : tensor<f32>
}

// -----

func.func @half(%x: tensor<2x2xf16>) -> tensor<2x2xf16>
    attributes {batch.entry, batch.per_unit, batch.strategy = #batch.strategy<replicate>} {
  // expected-error @+1 {{'batch.per_unit' is not legal: f16 and bf16 reductions are not supported here, because kernels compute their sums in f32}}
  %y = linalg.matmul ins(%x, %x : tensor<2x2xf16>, tensor<2x2xf16>)
      outs(%x : tensor<2x2xf16>) -> tensor<2x2xf16>
  return %y : tensor<2x2xf16>
}

// -----

func.func @outside(%x: tensor<2xf32>, %e: f32) -> tensor<2xf32>
    attributes {batch.entry, batch.per_unit, batch.strategy = #batch.strategy<replicate>} {
  %c5 = arith.constant 5 : index
  // expected-error @+1 {{'batch.per_unit' is not legal: this op accesses a position that is not constant or is out of range}}
  %y = tensor.insert %e into %x[%c5] : tensor<2xf32>
  return %y : tensor<2xf32>
}

// -----

// An op of the math dialect counts as 16 ops.
func.func @functions(%v0: tensor<16xf32>) -> tensor<16xf32>
    attributes {batch.entry, batch.per_unit, batch.strategy = #batch.strategy<replicate>} {
  %v1 = math.exp %v0 : tensor<16xf32>
  %v2 = math.exp %v1 : tensor<16xf32>
  %v3 = math.exp %v2 : tensor<16xf32>
  %v4 = math.exp %v3 : tensor<16xf32>
  %v5 = math.exp %v4 : tensor<16xf32>
  %v6 = math.exp %v5 : tensor<16xf32>
  %v7 = math.exp %v6 : tensor<16xf32>
  %v8 = math.exp %v7 : tensor<16xf32>
  %v9 = math.exp %v8 : tensor<16xf32>
  %v10 = math.exp %v9 : tensor<16xf32>
  %v11 = math.exp %v10 : tensor<16xf32>
  %v12 = math.exp %v11 : tensor<16xf32>
  %v13 = math.exp %v12 : tensor<16xf32>
  %v14 = math.exp %v13 : tensor<16xf32>
  %v15 = math.exp %v14 : tensor<16xf32>
  %v16 = math.exp %v15 : tensor<16xf32>
  // expected-error @+1 {{'batch.per_unit' is not legal: the code up to here takes more than 4096 operations on elements}}
  %v17 = math.exp %v16 : tensor<16xf32>
  return %v17 : tensor<16xf32>
}

// -----

// expected-error @+1 {{'batch.per_unit' must be a unit attribute of an entry with strategy 'replicate'}}
func.func @lockstep(%x: f32) -> f32
    attributes {batch.entry, batch.per_unit, batch.strategy = #batch.strategy<lockstep>} {
  return %x : f32
}
