// RUN: batch-opt %s --split-input-file --batch-replicate --verify-diagnostics

// Recursion over something other than a data structure needs a stack.
func.func private @down(%x: tensor<4xf32>, %n: index) -> tensor<4xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %end = arith.cmpi eq, %n, %zero : index
  %y = scf.if %end -> tensor<4xf32> {
    scf.yield %x : tensor<4xf32>
  } else {
    %m = arith.subi %n, %one : index
    %z = func.call @down(%x, %m) : (tensor<4xf32>, index) -> tensor<4xf32>
    scf.yield %z : tensor<4xf32>
  }
  return %y : tensor<4xf32>
}
func.func @main(%x: tensor<4xf32>, %n: index) -> tensor<4xf32>
    attributes {batch.entry, batch.strategy = #batch.strategy<replicate>} {
  // expected-error @+2 {{strategy 'replicate' does not support this call}}
  // expected-note @+1 {{legal strategies: 'linearize', 'lockstep', 'mask', 'lazy' and 'none', which runs one instance at a time}}
  %y = func.call @down(%x, %n) : (tensor<4xf32>, index) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// Each value must be constructed from a node of the input.
rec.adt @Tree {
  rec.variant @leaf(word: index)
}
func.func @main(%n: index) -> !rec.adt<@Tree>
    attributes {batch.entry, batch.strategy = #batch.strategy<replicate>} {
  // expected-error @+2 {{strategy 'replicate' does not support 'rec.construct'}}
  // expected-note @+1 {{legal strategies}}
  %t = rec.construct @Tree::@leaf(%n) : (index) -> !rec.adt<@Tree>
  return %t : !rec.adt<@Tree>
}

// -----

rec.adt @Tree {
  rec.variant @leaf(word: index)
  rec.variant @node(part: !rec.adt<@Tree>)
}
func.func private @count(%t: !rec.adt<@Tree>) -> index {
  %one = arith.constant 1 : index
  %n = rec.match %t : !rec.adt<@Tree> -> index {
  case @leaf(%word: index) {
    rec.yield %one : index
  }
  case @node(%part: !rec.adt<@Tree>) {
    %m = func.call @count(%part) : (!rec.adt<@Tree>) -> index
    %k = arith.addi %m, %one : index
    rec.yield %k : index
  } }
  return %n : index
}
func.func @main(%t: !rec.adt<@Tree>, %n: index) -> index
    attributes {batch.entry, batch.strategy = #batch.strategy<replicate>} {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %sum = scf.for %i = %zero to %n step %one iter_args(%s = %zero) -> index {
    // expected-error @+2 {{strategy 'replicate' does not support a recursion inside a loop or another recursion}}
    // expected-note @+1 {{legal strategies}}
    %m = func.call @count(%t) : (!rec.adt<@Tree>) -> index
    %k = arith.addi %s, %m : index
    scf.yield %k : index
  }
  return %sum : index
}

// -----

// A recursion that omits some nodes is not a loop over all nodes.
rec.adt @Tree {
  rec.variant @leaf(word: index)
  rec.variant @node(left: !rec.adt<@Tree>, right: !rec.adt<@Tree>)
}
func.func private @last(%t: !rec.adt<@Tree>) -> index {
  %n = rec.match %t : !rec.adt<@Tree> -> index {
  case @leaf(%word: index) {
    rec.yield %word : index
  }
  case @node(%left: !rec.adt<@Tree>, %right: !rec.adt<@Tree>) {
    %m = func.call @last(%right) : (!rec.adt<@Tree>) -> index
    rec.yield %m : index
  } }
  return %n : index
}
func.func @main(%t: !rec.adt<@Tree>) -> index
    attributes {batch.entry, batch.strategy = #batch.strategy<replicate>} {
  // expected-error @+2 {{strategy 'replicate' does not support this call; it only supports recursion that visits all nodes of an argument, children first}}
  // expected-note @+1 {{legal strategies}}
  %n = func.call @last(%t) : (!rec.adt<@Tree>) -> index
  return %n : index
}

// -----

rec.adt @Tree {
  rec.variant @leaf(word: index)
  rec.variant @node(part: !rec.adt<@Tree>)
}
func.func private @walk(%t: !rec.adt<@Tree>) -> !rec.adt<@Tree> {
  %u = rec.match %t : !rec.adt<@Tree> -> !rec.adt<@Tree> {
  case @leaf(%word: index) {
    %v = rec.construct @Tree::@leaf(%word) : (index) -> !rec.adt<@Tree>
    rec.yield %v : !rec.adt<@Tree>
  }
  case @node(%part: !rec.adt<@Tree>) {
    %v = func.call @walk(%part) : (!rec.adt<@Tree>) -> !rec.adt<@Tree>
    rec.yield %v : !rec.adt<@Tree>
  } }
  return %u : !rec.adt<@Tree>
}
func.func @main(%t: !rec.adt<@Tree>) -> index
    attributes {batch.entry, batch.strategy = #batch.strategy<replicate>} {
  %u = func.call @walk(%t) : (!rec.adt<@Tree>) -> !rec.adt<@Tree>
  %zero = arith.constant 0 : index
  // expected-error @+2 {{strategy 'replicate' supports 'rec.match' only on values of the input}}
  // expected-note @+1 {{legal strategies}}
  %n = rec.match %u : !rec.adt<@Tree> -> index {
  case @leaf(%word: index) {
    rec.yield %word : index
  }
  case @node(%part: !rec.adt<@Tree>) {
    rec.yield %zero : index
  } }
  return %n : index
}

// -----

// The entry itself cannot construct a value, even if nothing uses the value.
rec.adt @Tree {
  rec.variant @leaf(word: index)
  rec.variant @node(left: !rec.adt<@Tree>, right: !rec.adt<@Tree>)
}
func.func @main(%n: index) -> index
    attributes {batch.entry, batch.strategy = #batch.strategy<replicate>} {
  // expected-error @+2 {{strategy 'replicate' does not support 'rec.construct'}}
  // expected-note @+1 {{legal strategies: 'linearize', 'lazy' and 'none'}}
  %t = rec.construct @Tree::@leaf(%n) : (index) -> !rec.adt<@Tree>
  return %n : index
}

// -----

// Effects are not allowed, because they would happen on each unit.
func.func @main(%n: index, %c: i1) -> index
    attributes {batch.entry, batch.strategy = #batch.strategy<replicate>} {
  // expected-error @+1 {{has an unknown flow of values: an op that has effects, contains control flow, or reads or creates lists or ADT values must implement RegionBranchOpInterface or rec::ValueFlowOpInterface}}
  cf.assert %c, "is not"
  return %n : index
}

// -----

// expected-error @+2 {{strategy 'replicate' requires structured control flow, but this function has several blocks}}
// expected-note @+1 {{legal strategies}}
func.func @main(%n: index, %c: i1) -> index
    attributes {batch.entry, batch.strategy = #batch.strategy<replicate>} {
  cf.br ^end(%n : index)
^end(%m: index):
  return %m : index
}

// -----

// Buffers must contain elements of types that kernels support.
func.func @main(%x: tensor<4xf8E5M2>, %n: index) -> index
    attributes {batch.entry, batch.strategy = #batch.strategy<replicate>} {
  // expected-error @+2 {{strategy 'replicate' does not support operands of type 'tensor<4xf8E5M2>'}}
  // expected-note @+1 {{legal strategies}}
  %e = tensor.extract %x[%n] : tensor<4xf8E5M2>
  return %n : index
}

// -----

// Memory is planned before the run: a loop cannot return a tensor of unknown
// extent.
func.func @main(%x: tensor<?xf32>, %n: index) -> index
    attributes {batch.entry, batch.strategy = #batch.strategy<replicate>} {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  // expected-error @+2 {{strategy 'replicate' does not support operands of type 'tensor<?xf32>'}}
  // expected-note @+1 {{legal strategies}}
  %y = scf.for %i = %zero to %n step %one iter_args(%a = %x) -> tensor<?xf32> {
    scf.yield %a : tensor<?xf32>
  }
  return %n : index
}

// -----

// A result cannot have an unknown extent.
// expected-error @+2 {{strategy 'replicate' does not support results of type 'tensor<?xf32>'}}
// expected-note @+1 {{legal strategies}}
func.func @main(%x: tensor<?xf32>) -> tensor<?xf32>
    attributes {batch.entry, batch.strategy = #batch.strategy<replicate>} {
  return %x : tensor<?xf32>
}

// -----

// If control flow reads elements of a parameter, the shape of its rows must be static.
func.func @main(%n: index, %W: tensor<?x?xf32> {batch.shared = "W"}) -> f32
    attributes {batch.entry, batch.strategy = #batch.strategy<replicate>} {
  // expected-error @+1 {{strategy 'replicate' does not support reading an element from a tensor of type 'tensor<?x?xf32>'; give the tensor a static shape}}
  %e = tensor.extract %W[%n, %n] : tensor<?x?xf32>
  return %e : f32
}

// -----

// Slices other than whole rows of parameters belong in kernels.
func.func @main(%x: tensor<8xf32>) -> tensor<4xf32>
    attributes {batch.entry, batch.strategy = #batch.strategy<replicate>} {
  // expected-error @+1 {{outside of kernels, strategy 'replicate' only supports slices that are whole rows of parameters}}
  %y = tensor.extract_slice %x[0] [4] [1] : tensor<8xf32> to tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// expected-error @+2 {{strategy 'replicate' does not support results of type '!rec.list<index>'}}
// expected-note @+1 {{legal strategies}}
func.func @main(%words: !rec.list<index>) -> !rec.list<index>
    attributes {batch.entry, batch.strategy = #batch.strategy<replicate>} {
  return %words : !rec.list<index>
}

// -----

batch.kernel @sum(%xs: tensor<?x4xf32>) -> tensor<4xf32> {
  %zero = arith.constant dense<0.0> : tensor<4xf32>
  %y = linalg.reduce { arith.addf } ins(%xs : tensor<?x4xf32>) outs(%zero : tensor<4xf32>)
      dimensions = [0]
  batch.yield %y : tensor<4xf32>
}
func.func @main(%xs: tensor<?x4xf32>) -> tensor<4xf32>
    attributes {batch.entry, batch.strategy = #batch.strategy<replicate>} {
  // expected-error @+2 {{strategy 'replicate' does not support operands of type 'tensor<?x4xf32>'}}
  // expected-note @+1 {{legal strategies}}
  %y = batch.invoke @sum(%xs) : (tensor<?x4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

batch.kernel @k(%x: tensor<4xf32>) -> tensor<4xf32> {
  batch.yield %x : tensor<4xf32>
}
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32>
    attributes {batch.entry, batch.strategy = #batch.strategy<replicate>} {
  // expected-error @+1 {{kernel @k has no operator; run batch-vectorize-kernels first}}
  %y = batch.invoke @k(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
