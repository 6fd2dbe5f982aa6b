// RUN: batch-opt %s --batch-verify-planned --split-input-file --verify-diagnostics

// Ops of an inspector must not have tensors as results.
func.func @main.inspect(%h: !batch.handle) attributes {batch.inspector} {
  // expected-error @+1 {{uses a tensor in an inspector, where handles represent tensors; run batch-linearize first}}
  %x = arith.constant dense<0.0> : tensor<4xf32>
  return
}

// -----

// An inspector must not have tensors as arguments.
// expected-error @+1 {{uses a tensor in an inspector}}
func.func @main.inspect(%x: tensor<4xf32>) attributes {batch.inspector} {
  return
}

// -----

// Regions of an inspector must not have tensors as arguments.
func.func @main.inspect(%xs: !rec.list<tensor<4xf32>>)
    attributes {batch.inspector} {
  // expected-error @+1 {{uses a tensor in an inspector}}
  rec.map %x in %xs : !rec.list<tensor<4xf32>> {
    rec.yield
  }
  return
}

// -----

// Functions that an inspector calls must not use tensors.
func.func private @g.inspect() {
  // expected-error @+1 {{uses a tensor in an inspector}}
  %x = arith.constant dense<0.0> : tensor<4xf32>
  return
}
func.func @main.inspect() attributes {batch.inspector} {
  call @g.inspect() : () -> ()
  return
}

// -----

// Traversed functions must not use tensors.
rec.adt @Tree {
  rec.variant @leaf()
}
func.func private @f.inspect(%t: !rec.adt<@Tree>) {
  // expected-error @+1 {{uses a tensor in an inspector}}
  %x = arith.constant dense<0.0> : tensor<4xf32>
  return
}
func.func @main.traverse() attributes {batch.traversal} {
  batch.traverse [@f.inspect]
  return
}

// -----

// An inspector must record tasks, not invoke kernels.
batch.kernel @k() {
  batch.yield
}
func.func @main.inspect() attributes {batch.inspector} {
  // expected-error @+1 {{uses a tensor in an inspector}}
  batch.invoke @k() : () -> ()
  return
}

// -----

// Each argument of a recorded kernel must specify how a step reads it.
batch.kernel @k(%i: index) {
  batch.yield
}
func.func @main.inspect(%i: index) attributes {batch.inspector} {
  // expected-error @+1 {{argument #0 of kernel @k has no 'batch.read'; run batch-assign-slots first}}
  batch.record @k(%i) depth(%i) : (index) -> ()
  return
}

// -----

// Each result of a recorded kernel must specify where a step stores it.
batch.kernel @k() -> tensor<4xf32> {
  %x = arith.constant dense<0.0> : tensor<4xf32>
  batch.yield %x : tensor<4xf32>
}
func.func @main.inspect(%d: index) attributes {batch.inspector} {
  // expected-error @+1 {{result #0 of kernel @k has no table; run batch-assign-slots first}}
  %h = batch.record @k() depth(%d) : () -> !batch.handle
  return
}

// -----

// Rows of the inspector's results must be in existing tables.
// expected-error @+1 {{unknown table @t}}
func.func @main.inspect(%h: !batch.handle) -> (!batch.handle {batch.in_table = @t})
    attributes {batch.inspector} {
  return %h : !batch.handle
}

// -----

// Rows of the inspector's arguments must be in existing sources.
batch.table @t : tensor<4xf32> group(0)
// expected-error @+1 {{unknown source @t}}
func.func @main.inspect(%h: !batch.handle {batch.in_source = @t})
    attributes {batch.inspector} {
  return
}

// -----

// Rows of fields must be in existing tables.
rec.adt @States {
  // expected-error @+1 {{unknown table @t}}
  rec.variant @leaf(h: tensor<4xf32>) {batch.in_table = {h = @t}}
}

// -----

batch.table @t : tensor<4xf32> group(0)
rec.adt @States {
  // expected-error @+1 {{unknown source @s}}
  rec.variant @leaf(h: tensor<4xf32>) {batch.in_table = {h = @t}, batch.in_source = {h = @s}}
}
