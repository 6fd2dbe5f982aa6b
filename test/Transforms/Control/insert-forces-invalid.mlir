// RUN: batch-opt %s --verify-diagnostics --batch-insert-forces --mlir-print-op-on-diagnostic=false

func.func @main(%x: tensor<?x4xf32>) -> f32
    attributes {batch.entry, batch.strategy = #batch.strategy<lazy>} {
  %zero = arith.constant 0 : index
  %v = math.tanh %x : tensor<?x4xf32>
  // expected-error @+2 {{control waits here for a tensor of dynamic shape, which no table holds}}
  // expected-note @+1 {{legal strategies: 'none', which runs one instance at a time}}
  %e = tensor.extract %v[%zero, %zero] : tensor<?x4xf32>
  return %e : f32
}
