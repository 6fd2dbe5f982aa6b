// RUN: batch-opt %s --batch-verify-kernels --split-input-file --verify-diagnostics

// A function that the entry calls must have a body.
// expected-error @+1 {{this function is only declared; functions that the entry calls require a body}}
func.func private @f(%n: index) -> index
func.func @main(%n: index) -> index attributes {batch.entry} {
  %m = call @f(%n) : (index) -> index
  return %m : index
}

// -----

// An op of a dialect that kernels do not support must not compute a tensor.
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> attributes {batch.entry} {
  // expected-error @+1 {{computes a tensor outside of kernels; batch-outline-kernels moves ops of linalg, tensor, arith and math, and ops that implement BatchableOpInterface, into kernels}}
  %y = tosa.tanh %x : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// An op of a dialect that kernels do not support must not compute a tensor in a region either.
func.func private @f(%x: tensor<4xf32>, %c: i1) -> tensor<4xf32> {
  %z = scf.if %c -> tensor<4xf32> {
    // expected-error @+1 {{computes a tensor outside of kernels}}
    %y = tosa.tanh %x : (tensor<4xf32>) -> tensor<4xf32>
    scf.yield %y : tensor<4xf32>
  } else {
    scf.yield %x : tensor<4xf32>
  }
  return %z : tensor<4xf32>
}
func.func @main(%x: tensor<4xf32>, %c: i1) -> tensor<4xf32>
    attributes {batch.entry} {
  %y = call @f(%x, %c) : (tensor<4xf32>, i1) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// An op outside of kernels must not compute an unranked tensor either.
func.func @main(%x: tensor<4xf32>) attributes {batch.entry} {
  // expected-error @+1 {{computes a tensor outside of kernels}}
  %y = tensor.cast %x : tensor<4xf32> to tensor<*xf32>
  return
}

// -----

// An op that no pass has moved into a kernel must not compute a tensor.
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> attributes {batch.entry} {
  // expected-error @+1 {{computes a tensor outside of kernels}}
  %y = math.tanh %x : tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// Control flow must not read a slice that is not a row of a parameter.
func.func @main(%x: tensor<8xf32>) -> tensor<4xf32> attributes {batch.entry} {
  // expected-error @+1 {{slices a tensor outside of kernels; only a row of a parameter can be read there}}
  %y = tensor.extract_slice %x[0] [4] [1] : tensor<8xf32> to tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// Control flow must not read a row of an instance's tensor.
func.func @main(%x: tensor<8x4xf32>, %i: index) -> tensor<4xf32>
    attributes {batch.entry} {
  // expected-error @+1 {{slices a tensor outside of kernels}}
  %y = tensor.extract_slice %x[%i, 0] [1, 4] [1, 1] : tensor<8x4xf32> to tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// Control flow must not read a row of a kernel's result, even if the kernel
// reads only parameters.
batch.kernel @k(%e: tensor<8x4xf32> {batch.shared}) -> tensor<8x4xf32> {
  %y = math.tanh %e : tensor<8x4xf32>
  batch.yield %y : tensor<8x4xf32>
}
func.func @main(%i: index, %e: tensor<8x4xf32> {batch.shared = "e"})
    -> tensor<4xf32> attributes {batch.entry} {
  %d = batch.depth()
  %t = batch.invoke @k(%e) depth(%d) : (tensor<8x4xf32>) -> tensor<8x4xf32>
  // expected-error @+1 {{slices a tensor outside of kernels}}
  %y = tensor.extract_slice %t[%i, 0] [1, 4] [1, 1] : tensor<8x4xf32> to tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// Control flow may pass tensors only through structured ops that have a lowering.
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> attributes {batch.entry} {
  // expected-error @+1 {{is not supported as control flow; use 'scf.if', 'scf.index_switch', 'scf.for' or 'scf.while'}}
  %y = scf.execute_region -> tensor<4xf32> {
    scf.yield %x : tensor<4xf32>
  }
  return %y : tensor<4xf32>
}

// -----

// Structured ops with a lowering belong to scf and rec, not to other dialects.
func.func @main(%n: index) -> index attributes {batch.entry} {
  // expected-error @+1 {{is not supported as control flow}}
  %m = affine.for %i = 0 to 4 iter_args(%a = %n) -> index {
    affine.yield %i : index
  }
  return %m : index
}

// -----

// The number of rows of a parameter is known only if its rows are static.
func.func @main(%E: tensor<?x?xf32> {batch.shared = "E"}) -> index
    attributes {batch.entry} {
  %zero = arith.constant 0 : index
  // expected-error @+1 {{reads an extent that control flow cannot read; expected the first extent of a ragged tensor, or of a parameter whose other extents are static}}
  %n = tensor.dim %E, %zero : tensor<?x?xf32>
  return %n : index
}

// -----

// The dimension of an extent has to be known.
func.func @main(%x: tensor<?x4xf32>, %i: index) -> index
    attributes {batch.entry} {
  // expected-error @+1 {{reads an extent that control flow cannot read}}
  %n = tensor.dim %x, %i : tensor<?x4xf32>
  return %n : index
}

// -----

// Control flow must read elements from rows, which are static.
func.func @main(%x: tensor<?x4xf32>, %i: index) -> f32 attributes {batch.entry} {
  // expected-error @+1 {{cannot read an element of 'tensor<?x4xf32>' outside of kernels; only elements of static tensors and of static rows of parameters can be read there}}
  %y = tensor.extract %x[%i, %i] : tensor<?x4xf32>
  return %y : f32
}

// -----

// Tasks must have depths.
batch.kernel @k(%x: tensor<4xf32>) -> tensor<4xf32> {
  batch.yield %x : tensor<4xf32>
}
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> attributes {batch.entry} {
  // expected-error @+1 {{'batch.invoke' op has no depth; run batch-tag-depths first}}
  %y = batch.invoke @k(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
