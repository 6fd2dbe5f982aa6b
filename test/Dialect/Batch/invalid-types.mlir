// RUN: batch-opt %s --split-input-file --verify-diagnostics

// What stands for a tensor in the inspector is a handle.
batch.kernel @k(%x: tensor<4xf32>) {
  batch.yield
}
func.func @f(%d: index, %x: f64) {
  // expected-error @+1 {{'batch.record' op operand #0 must be '!batch.handle' for argument #0 of kernel @k, got 'f64'}}
  batch.record @k(%x) depth(%d) : (f64) -> ()
  return
}

// -----

// A traversed function knows nodes of one ADT only.
rec.adt @Tree {
  rec.variant @leaf()
}
func.func private @g(!rec.adt<@Tree>) -> index
func.func @f(%x: f32) {
  // expected-error @+1 {{'batch.lookup' op node is of type 'f32', which @g does not take}}
  %r = batch.lookup @g(%x) : (f32) -> index
  return
}

// -----

// A table is read by arguments of its row's type.
batch.table @t : tensor<8xf32> group(0)
// expected-error @+1 {{'batch.kernel' op argument #0 is read from table @t with rows 'tensor<8xf32>', but is 'tensor<4xf32>'}}
batch.kernel @k(%x: tensor<4xf32> {batch.read = #batch.read<kind = gather, from = @t>}) {
  batch.yield
}
