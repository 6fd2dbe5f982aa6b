// RUN: batch-opt %s --batch-verify-planned --split-input-file --verify-diagnostics

// An inspector has no tensors: no results,
func.func @main.inspect(%h: !batch.handle) attributes {batch.inspector} {
  // expected-error @+1 {{uses a tensor in an inspector, where handles stand for tensors; run batch-linearize first}}
  %x = arith.constant dense<0.0> : tensor<4xf32>
  return
}

// -----

// no arguments,
// expected-error @+1 {{uses a tensor in an inspector}}
func.func @main.inspect(%x: tensor<4xf32>) attributes {batch.inspector} {
  return
}

// -----

// no arguments of regions,
func.func @main.inspect(%xs: !rec.list<tensor<4xf32>>)
    attributes {batch.inspector} {
  // expected-error @+1 {{uses a tensor in an inspector}}
  rec.map %x in %xs : !rec.list<tensor<4xf32>> {
    rec.yield
  }
  return
}

// -----

// nor have functions that it calls,
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

// or that are traversed.
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

// It records and invokes nothing.
batch.kernel @k() {
  batch.yield
}
func.func @main.inspect() attributes {batch.inspector} {
  // expected-error @+1 {{uses a tensor in an inspector}}
  batch.invoke @k() : () -> ()
  return
}

// -----

// A step has to know how it reads,
batch.kernel @k(%i: index) {
  batch.yield
}
func.func @main.inspect(%i: index) attributes {batch.inspector} {
  // expected-error @+1 {{argument #0 of kernel @k has no 'batch.read'; run batch-assign-slots first}}
  batch.record @k(%i) depth(%i) : (index) -> ()
  return
}

// -----

// and where it writes.
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

// Rows lie in tables that there are, be it results of the inspector,
// expected-error @+1 {{there is no batch.table @t}}
func.func @main.inspect(%h: !batch.handle) -> (!batch.handle {batch.in_table = @t})
    attributes {batch.inspector} {
  return %h : !batch.handle
}

// -----

// its arguments,
batch.table @t : tensor<4xf32> group(0)
// expected-error @+1 {{there is no batch.source @t}}
func.func @main.inspect(%h: !batch.handle {batch.in_source = @t})
    attributes {batch.inspector} {
  return
}

// -----

// or fields.
rec.adt @States {
  // expected-error @+1 {{there is no batch.table @t}}
  rec.variant @leaf(h: tensor<4xf32>) {batch.in_table = {h = @t}}
}

// -----

batch.table @t : tensor<4xf32> group(0)
rec.adt @States {
  // expected-error @+1 {{there is no batch.source @s}}
  rec.variant @leaf(h: tensor<4xf32>) {batch.in_table = {h = @t}, batch.in_source = {h = @s}}
}
