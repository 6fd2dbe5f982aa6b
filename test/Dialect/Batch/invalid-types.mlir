// RUN: batch-opt %s --split-input-file --verify-diagnostics

// In the inspector, a handle must represent each tensor operand.
batch.kernel @k(%x: tensor<4xf32>) {
  batch.yield
}
func.func @f(%d: index, %x: f64) {
  // expected-error @+1 {{'batch.record' op operand #0 must be '!batch.handle' for argument #0 of kernel @k, got 'f64'}}
  batch.record @k(%x) depth(%d) : (f64) -> ()
  return
}

// -----

// The node of a lookup must be of the ADT whose nodes the traversed function takes.
rec.adt @Tree {
  rec.variant @leaf()
}
func.func private @g(!rec.adt<@Tree>) -> index
func.func @f(%x: f32) {
  // expected-error @+1 {{'batch.lookup' op node must have the type of the last argument of @g, got 'f32'}}
  %r = batch.lookup @g(%x) : (f32) -> index
  return
}

// -----

// An argument that is read from a table must have the type of the table's rows.
batch.table @t : tensor<8xf32> group(0)
// expected-error @+1 {{'batch.kernel' op argument #0 expects rows of type 'tensor<4xf32>', but table @t has rows of type 'tensor<8xf32>'}}
batch.kernel @k(%x: tensor<4xf32> {batch.read = #batch.read<kind = gather, from = @t>}) {
  batch.yield
}
