// RUN: batch-opt %s --convert-batch-to-uprog --split-input-file --verify-diagnostics

// A recorded kernel must have an operator.
batch.kernel @k() {
  batch.yield
}
func.func @main() attributes {batch.entry} {
  return
}
func.func @main.inspect() attributes {batch.inspector} {
  %d = arith.constant 0 : index
  // expected-error @+1 {{kernel @k has no operator; run batch-vectorize-kernels first}}
  batch.record @k() depth(%d) : () -> ()
  return
}

// -----

// Each argument of a recorded kernel must specify how a step reads it.
batch.kernel @k(%i: index) {
  batch.yield
}
uprog.operator @k.rows of @k(%n: index, %i: tensor<?xindex> {uprog.operand = #uprog.operand<scalar>}) {
  uprog.yield
}
func.func @main(%i: index) attributes {batch.entry} {
  return
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
uprog.operator @k.rows of @k(%n: index) -> tensor<?x4xf32> {
  %x = tensor.empty(%n) : tensor<?x4xf32>
  uprog.yield %x : tensor<?x4xf32>
}
func.func @main() attributes {batch.entry} {
  return
}
func.func @main.inspect() attributes {batch.inspector} {
  %d = arith.constant 0 : index
  // expected-error @+1 {{result #0 of kernel @k has no table; run batch-assign-slots first}}
  %h = batch.record @k() depth(%d) : () -> !batch.handle
  return
}
