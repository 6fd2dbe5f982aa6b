// RUN: batch-opt %s --batch-linearize --split-input-file --verify-diagnostics

// Control flow that reads an element of a computed tensor is not structural. The error
// lists the legal strategies.
func.func @main(%x: tensor<4xf32>) -> f32 attributes {batch.entry} {
  %zero = arith.constant 0 : index
  %t = math.tanh %x : tensor<4xf32>
  // expected-error @+2 {{control flow depends on a tensor here, so the program is not structural and strategy 'linearize' cannot batch it}}
  // expected-note @+1 {{legal strategies: 'lockstep', 'mask', 'lazy', 'replicate' and 'none', which runs one instance at a time}}
  %v = tensor.extract %t[%zero] : tensor<4xf32>
  return %v : f32
}

// -----

// Control flow with a forced tensor is not structural.
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> attributes {batch.entry} {
  // expected-error @+2 {{control flow depends on a tensor here}}
  // expected-note @+1 {{legal strategies}}
  %v = batch.force %x : tensor<4xf32>
  return %v : tensor<4xf32>
}

// -----

// A loop that runs while a tensor is true is not structural, in any function.
func.func private @loop(%x: tensor<i1>) {
  scf.while : () -> () {
    // expected-error @+2 {{control flow depends on a tensor here}}
    // expected-note @+1 {{legal strategies}}
    %c = tensor.extract %x[] : tensor<i1>
    scf.condition(%c)
  } do {
    scf.yield
  }
  return
}
func.func @main(%x: tensor<i1>, %y: tensor<i1>) attributes {batch.entry} {
  %z = arith.xori %x, %y : tensor<i1>
  call @loop(%z) : (tensor<i1>) -> ()
  return
}

// -----

// Control flow between several blocks is not structured.
// expected-error @+2 {{control flow depends on a tensor here}}
// expected-note @+1 {{legal strategies}}
func.func @main(%n: index) -> index attributes {batch.entry} {
  cf.br ^end
^end:
  return %n : index
}

// -----

// A read of an element in a kernel is not control flow.
batch.kernel @k(%x: tensor<4xf32>) -> tensor<4xf32> {
  %zero = arith.constant 0 : index
  %v = tensor.extract %x[%zero] : tensor<4xf32>
  %y = tensor.splat %v : tensor<4xf32>
  batch.yield %y : tensor<4xf32>
}
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> attributes {batch.entry} {
  %d = batch.depth()
  %y = batch.invoke @k(%x) depth(%d) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// Tasks must have depths.
batch.kernel @k(%x: tensor<4xf32>) -> tensor<4xf32> {
  batch.yield %x : tensor<4xf32>
}
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> attributes {batch.entry} {
  // expected-error @+1 {{'batch.invoke' op has no depth; run batch-tag-depths before batch-linearize}}
  %y = batch.invoke @k(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// Tensor code must be in kernels.
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> attributes {batch.entry} {
  // expected-error @+1 {{computes a tensor outside of kernels; run batch-outline-kernels before batch-linearize}}
  %y = math.tanh %x : tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// A tensor computed from parameters is equal for all instances, but is not a row of a source.
func.func @main(%x: tensor<4xf32>, %w: tensor<4xf32> {batch.shared = "w"})
    -> tensor<4xf32> attributes {batch.entry} {
  %y = math.tanh %w : tensor<4xf32>
  // expected-error @+1 {{uses a tensor that no kernel computes; run batch-outline-kernels before batch-linearize}}
  return %y : tensor<4xf32>
}

// -----

// Earlier passes must have converted walks over list-shaped ADTs to walks over lists.
rec.adt @Words {
  rec.variant @end()
  rec.variant @word(word: index, rest: !rec.adt<@Words>)
}
func.func @main(%words: !rec.adt<@Words>, %n: index) -> index
    attributes {batch.entry} {
  // expected-error @+1 {{walks a value of a list-shaped ADT; run batch-list-elements before batch-linearize}}
  %m = rec.fold %w: index in %words init(%a = %n) : !rec.adt<@Words> -> index {
    rec.yield %w : index
  }
  return %m : index
}

// -----

// Control flow can read the number of rows of a parameter only if its rows have a static shape.
func.func @main(%n: index, %E: tensor<?x?xf32> {batch.shared = "E"}) -> index
    attributes {batch.entry} {
  %zero = arith.constant 0 : index
  // expected-error @+1 {{reads an extent that control flow cannot read; expected the first extent of a ragged tensor, or of a parameter whose other extents are static}}
  %m = tensor.dim %E, %zero : tensor<?x?xf32>
  return %m : index
}

// -----

// Earlier passes must have converted elements of ragged tensors to elements of rows.
func.func @main(%xs: tensor<?x4xf32>, %i: index) -> f32 attributes {batch.entry} {
  // expected-error @+1 {{reads an element that control flow cannot read; run batch-outline-kernels before batch-linearize}}
  %e = tensor.extract %xs[%i, %i] : tensor<?x4xf32>
  return %e : f32
}

// -----

// Earlier passes must have numbered the waits.
func.func @main(%x: tensor<4xf32>, %i: index) -> f32
    attributes {batch.entry, batch.strategy = #batch.strategy<lazy>} {
  // expected-error @+1 {{has no number; run batch-insert-forces before batch-linearize}}
  %f = batch.force %x : tensor<4xf32>
  %e = tensor.extract %f[%i] : tensor<4xf32>
  return %e : f32
}
