// RUN: batch-opt %s --batch-lockstep --split-input-file --verify-diagnostics

// A machine requires an entry, from which its lanes get their arguments.
// expected-error @+1 {{'batch.machine' op requires an entry; mark the function for one instance with 'attributes {batch.entry}'}}
batch.machine @main.machine() {
  batch.variable @x : index argument(0) result(0)
  batch.block @b {
    batch.return
  }
}
func.func @main(%x: index) -> index {
  return %x : index
}

// -----

// A block requires an operator for its kernel.
batch.kernel @k(%x: tensor<2xf32>) -> tensor<2xf32> {
  %y = arith.negf %x : tensor<2xf32>
  batch.yield %y : tensor<2xf32>
}
batch.machine @main.machine() {
  batch.variable @x : tensor<2xf32> argument(0) result(0)
  batch.block @b {
    %d = arith.constant 0 : index
    %x = batch.top @x : tensor<2xf32>
    // expected-error @+1 {{kernel @k has no operator; run batch-vectorize-kernels first}}
    %y = batch.invoke @k(%x) depth(%d) : (tensor<2xf32>) -> tensor<2xf32>
    batch.set @x, %y : tensor<2xf32>
    batch.return
  }
}
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> attributes {batch.entry} {
  return %x : tensor<2xf32>
}
