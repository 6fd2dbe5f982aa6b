// RUN: batch-opt %s --convert-batch-to-llvm --split-input-file --verify-diagnostics

// An object runs an entry.
// expected-error @+1 {{has no entry: mark the function for one instance with 'attributes {batch.entry}'}}
module {
}

// -----

// What goes in and out of the entry is what values of programs are.
// expected-error @+1 {{a value of type 'memref<4xf32>' cannot be an argument or result of the entry}}
func.func @main(%m: memref<4xf32>) attributes {batch.entry} {
  return
}

// -----

// Parameters come from a file of tensors.
// expected-error @+1 {{shared argument #1 must be a tensor; scalars can be tensors of rank 0}}
func.func @main(%n: index, %s: index {batch.shared = "s"}) attributes {batch.entry} {
  return
}

// -----

// A kernel has a function.
// expected-error @+1 {{has no kernel function}}
batch.kernel @k() {
  batch.yield
}
func.func @main() attributes {batch.entry} {
  batch.invoke @k() : () -> ()
  return
}

// -----

// Only what a traversal did can be recalled.
rec.adt @Tree {
  rec.variant @leaf()
}
func.func private @visit(%t: !rec.adt<@Tree>) {
  return
}
func.func @main(%t: !rec.adt<@Tree>) attributes {batch.entry} {
  return
}
func.func @main.inspect(%t: !rec.adt<@Tree>) attributes {batch.inspector} {
  // expected-error @+1 {{function @visit is not traversed}}
  batch.recall @visit(%t) : (!rec.adt<@Tree>) -> ()
  return
}

// -----

// expected-error @+1 {{a value of type 'f80' cannot be an argument or result of the entry}}
func.func @main(%x: f80) attributes {batch.entry} {
  return
}

// -----

// expected-error @+1 {{a value of type 'tensor<4xi128>' cannot be an argument or result of the entry: its elements have no type of the runtime's}}
func.func @main(%x: tensor<4xi128>) attributes {batch.entry} {
  return
}
