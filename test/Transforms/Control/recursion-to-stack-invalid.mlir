// RUN: batch-opt %s --split-input-file --verify-diagnostics --batch-recursion-to-stack --mlir-print-op-on-diagnostic=false

rec.adt @Tree {
  rec.variant @leaf(word: index)
}

// Strategies `lockstep` and `mask` do not support data structures. All other strategies do.
// expected-error @+2 {{this value of type '!rec.adt<@Tree>' is a data structure, which strategies 'lockstep' and 'mask' do not support}}
// expected-note @+1 {{legal strategies: 'linearize', 'lazy', 'replicate' and 'none', which runs one instance at a time}}
func.func @main(%t: !rec.adt<@Tree>) -> i64 attributes {batch.entry} {
  %zero = arith.constant 0 : i64
  return %zero : i64
}

// -----

rec.adt @Tree {
  rec.variant @leaf(word: index)
}

// If control flow needs a computed tensor, linearize is not legal either.
func.func @main(%x: tensor<4xf32>, %i: index) -> f32 attributes {batch.entry} {
  %c = arith.constant 0.0 : f32
  %t = math.sin %x : tensor<4xf32>
  %e = tensor.extract %t[%i] : tensor<4xf32>
  %positive = arith.cmpf ogt, %e, %c : f32
  // expected-error @+2 {{uses a data structure, which strategies 'lockstep' and 'mask' do not support}}
  // expected-note @+1 {{legal strategies: 'lazy' and 'none', which runs one instance at a time}}
  %leaf = rec.construct @Tree::@leaf(%i) : (index) -> !rec.adt<@Tree>
  %r = scf.if %positive -> f32 {
    scf.yield %e : f32
  } else {
    scf.yield %c : f32
  }
  return %r : f32
}

// -----

// A ragged tensor to which a program appends rows is a data structure, too.
func.func @main(%x: tensor<4xf32>, %i: index) -> index attributes {batch.entry} {
  // expected-error @+2 {{uses a data structure, which strategies 'lockstep' and 'mask' do not support}}
  // expected-note @+1 {{legal strategies: 'linearize', 'lazy' and 'none', which runs one instance at a time}}
  %none = rec.empty : tensor<?x4xf32>
  %rows = rec.append %none, %x : tensor<?x4xf32>
  %n = rec.length %rows : tensor<?x4xf32>
  return %n : index
}

// -----

// A row of a variable has a static size.
// expected-error @+2 {{type 'tensor<?x4xf32>' of a value that is stored between steps is not supported: strategies 'lockstep' and 'mask' can only store integers of at most 64 bits, index, f16, bf16, f32, f64 and nonempty static tensors of them}}
// expected-note @+1 {{legal strategies: 'linearize', 'lazy' and 'none', which runs one instance at a time}}
func.func @main(%x: tensor<?x4xf32>) -> index attributes {batch.entry} {
  %zero = arith.constant 0 : index
  %n = tensor.dim %x, %zero : tensor<?x4xf32>
  return %n : index
}

// -----

// expected-error @+2 {{result #1: type 'f80' is not supported: strategies 'lockstep' and 'mask' can only store integers of at most 64 bits, index, f16, bf16, f32, f64 and nonempty static tensors of them}}
// expected-note @+1 {{legal strategies: 'linearize', 'lazy' and 'none', which runs one instance at a time}}
func.func @main(%x: f32) -> (f32, f80) attributes {batch.entry} {
  %y = arith.extf %x : f32 to f80
  return %x, %y : f32, f80
}

// -----

// All calls of a function must pass the same parameters.
func.func private @f(%x: tensor<4xf32>, %w: tensor<4x4xf32>) -> tensor<4xf32> {
  %y = linalg.matvec ins(%w, %x : tensor<4x4xf32>, tensor<4xf32>)
                     outs(%x : tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
func.func @main(%x: tensor<4xf32>, %v: tensor<4x4xf32> {batch.shared = "v"},
                %w: tensor<4x4xf32> {batch.shared = "w"})
    -> tensor<4xf32> attributes {batch.entry} {
  %y = call @f(%x, %v) : (tensor<4xf32>, tensor<4x4xf32>) -> tensor<4xf32>
  // expected-error @+2 {{this call and another one pass different parameters as argument #1 of @f; run batch-duplicate-functions before batch-recursion-to-stack}}
  // expected-note @+1 {{legal strategies: 'linearize', 'lazy' and 'none', which runs one instance at a time}}
  %z = call @f(%y, %w) : (tensor<4xf32>, tensor<4x4xf32>) -> tensor<4xf32>
  return %z : tensor<4xf32>
}

// -----

// A parameter of the entry always has the value from the parameter file.
func.func @main(%n: i64, %v: tensor<4xf32> {batch.shared = "v"},
                %w: tensor<4xf32> {batch.shared = "w"})
    -> tensor<4xf32> attributes {batch.entry} {
  // expected-error @+2 {{argument #1 of the entry is a parameter, but this call passes another value; call a function that is not the entry}}
  // expected-note @+1 {{legal strategies: 'linearize', 'lazy' and 'none', which runs one instance at a time}}
  %z = call @main(%n, %w, %v) : (i64, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %z : tensor<4xf32>
}

// -----

// expected-error @+1 {{this function is only declared; functions that the entry calls require a body}}
func.func private @f(i64) -> i64
func.func @main(%n: i64) -> i64 attributes {batch.entry} {
  %m = call @f(%n) : (i64) -> i64
  return %m : i64
}

// -----

// A block may run for any lanes in any order, so it must not have effects.
func.func @main(%c: i1) -> i1 attributes {batch.entry} {
  // expected-error @+1 {{has effects; strategies 'lockstep' and 'mask' can only run code without effects}}
  cf.assert %c, "no"
  return %c : i1
}

// -----

func.func private @f(%i: index) -> i64 {
  %x = arith.index_cast %i : index to i64
  return %x : i64
}
func.func @main() -> tensor<4xi64> attributes {batch.entry} {
  %t = tensor.generate {
  ^bb0(%i: index):
    // expected-error @+1 {{calls in the body of a tensor op are not supported; inline the called function}}
    %x = func.call @f(%i) : (index) -> i64
    tensor.yield %x : i64
  } : tensor<4xi64>
  return %t : tensor<4xi64>
}

// -----

// expected-error @+1 {{this argument is a parameter and must be a tensor; pass a scalar as a tensor of rank 0}}
func.func @main(%n: f32, %s: f32 {batch.shared = "s"}) -> f32
    attributes {batch.entry} {
  %sum = arith.addf %n, %s : f32
  return %sum : f32
}

// -----

// expected-error @+2 {{type 'tensor<2x0xi64>' of a value that is stored between steps is not supported: strategies 'lockstep' and 'mask' can only store integers of at most 64 bits, index, f16, bf16, f32, f64 and nonempty static tensors of them}}
// expected-note @+1 {{legal strategies: 'linearize', 'lazy' and 'none', which runs one instance at a time}}
func.func @main(%x: tensor<2x0xi64>) -> tensor<2x0xi64> attributes {batch.entry} {
  return %x : tensor<2x0xi64>
}

// -----

func.func @main(%n: index, %x: tensor<4xf32>) -> tensor<4xf32> attributes {batch.entry} {
  %zero = arith.constant 0.0 : f32
  // expected-error @+1 {{is not supported by any strategy; write it as 'scf.for' or as tensor code}}
  %y = scf.forall (%i) in (%n) shared_outs(%o = %x) -> tensor<4xf32> {
    %e = tensor.splat %zero : tensor<1xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %e into %o[%i] [1] [1] : tensor<1xf32> into tensor<4xf32>
    }
  }
  return %y : tensor<4xf32>
}
