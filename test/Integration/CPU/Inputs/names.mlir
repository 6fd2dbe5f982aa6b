// The entry is named like an object's symbol. Its loop calls a helper named like a C function.
func.func @memcpy(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = math.exp %x : tensor<4xf32>
  return %y : tensor<4xf32>
}
func.func @batch_object(%x: tensor<4xf32>, %n: index) -> tensor<4xf32> attributes {batch.entry} {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %y = scf.for %i = %zero to %n step %one iter_args(%h = %x) -> tensor<4xf32> {
    %z = func.call @memcpy(%h) : (tensor<4xf32>) -> tensor<4xf32>
    scf.yield %z : tensor<4xf32>
  }
  return %y : tensor<4xf32>
}
