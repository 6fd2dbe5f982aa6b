// RUN: batch-opt %s --split-input-file --verify-diagnostics --batch-insert-forces --mlir-print-op-on-diagnostic=false

func.func @main(%x: tensor<?x4xf32>) -> f32
    attributes {batch.entry, batch.strategy = #batch.strategy<lazy>} {
  %zero = arith.constant 0 : index
  %v = math.tanh %x : tensor<?x4xf32>
  // expected-error @+2 {{control flow waits here for a tensor of dynamic shape, which cannot be stored in a table; read a slice of static shape}}
  // expected-note @+1 {{legal strategies: 'none', which runs one instance at a time}}
  %e = tensor.extract %v[%zero, %zero] : tensor<?x4xf32>
  return %e : f32
}

// -----

// Unstructured control flow cannot become an inspector.
// expected-error @+2 {{strategy 'lazy' requires structured control flow, but this function has several blocks}}
// expected-note @+1 {{legal strategies: 'lockstep', 'mask' and 'none', which runs one instance at a time}}
func.func @main(%n: i64) -> i64
    attributes {batch.entry, batch.strategy = #batch.strategy<lazy>} {
  %one = arith.constant 1 : i64
  cf.br ^next(%n : i64)
^next(%m: i64):
  %k = arith.addi %m, %one : i64
  return %k : i64
}
