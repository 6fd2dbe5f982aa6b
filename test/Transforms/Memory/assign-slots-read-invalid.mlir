// RUN: batch-opt %s --batch-assign-slots="layout='k_0: split(1, 16)'" --verify-diagnostics

// Control flow reads elements only from row-major rows.
batch.kernel @k(%x: tensor<40xf32>) -> tensor<40xf32> {
  %y = arith.negf %x : tensor<40xf32>
  batch.yield %y : tensor<40xf32>
}
func.func @main(%x: tensor<40xf32>) -> f32 attributes {batch.entry} {
  %i = arith.constant 0 : index
  %d = batch.depth(%x) : tensor<40xf32>
  %y = batch.invoke @k(%x) depth(%d) : (tensor<40xf32>) -> tensor<40xf32>
  // expected-error @+1 {{'tensor.extract' op reads an element of a row of table 'k_0', so rows of this table must be row-major; split only its slots}}
  %e = tensor.extract %y[%i] : tensor<40xf32>
  return %e : f32
}
func.func private @main.inspect(!batch.handle) -> f32 attributes {batch.inspector}
