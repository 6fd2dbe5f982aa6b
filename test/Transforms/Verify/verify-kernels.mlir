// RUN: batch-opt %s --batch-verify-kernels | FileCheck %s

// Control flow may forward tensors, take rows of parameters, read elements, and read
// lengths.
rec.adt @Tree {
  rec.variant @leaf(word: index)
  rec.variant @node(left: !rec.adt<@Tree>, right: !rec.adt<@Tree>)
}
batch.kernel @k(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %z = arith.addf %x, %y : tensor<4xf32>
  batch.yield %z : tensor<4xf32>
}
// CHECK-LABEL: @encode
func.func private @encode(%t: !rec.adt<@Tree>, %E: tensor<?x4xf32>) -> tensor<4xf32> {
  %h = rec.match %t : !rec.adt<@Tree> -> tensor<4xf32> {
  case @leaf(%word: index) {
    %x = tensor.extract_slice %E[%word, 0] [1, 4] [1, 1] : tensor<?x4xf32> to tensor<4xf32>
    rec.yield %x : tensor<4xf32>
  }
  case @node(%l: !rec.adt<@Tree>, %r: !rec.adt<@Tree>) {
    %hl = func.call @encode(%l, %E) : (!rec.adt<@Tree>, tensor<?x4xf32>) -> tensor<4xf32>
    %hr = func.call @encode(%r, %E) : (!rec.adt<@Tree>, tensor<?x4xf32>) -> tensor<4xf32>
    %d = batch.depth(%hl, %hr) : tensor<4xf32>, tensor<4xf32>
    %y = batch.invoke @k(%hl, %hr) depth(%d) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    rec.yield %y : tensor<4xf32>
  } }
  return %h : tensor<4xf32>
}
// CHECK-LABEL: @main
func.func @main(%t: !rec.adt<@Tree>, %xs: tensor<?x4xf32>,
                %E: tensor<?x4xf32> {batch.shared = "E"}) -> tensor<4xf32>
    attributes {batch.entry} {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %xn = tensor.dim %xs, %zero : tensor<?x4xf32>
  %n = call @region(%xn) : (index) -> index
  %rows = tensor.dim %E, %zero : tensor<?x4xf32>
  %h = call @encode(%t, %E) : (!rec.adt<@Tree>, tensor<?x4xf32>) -> tensor<4xf32>
  %v = tensor.extract %h[%zero] : tensor<4xf32>
  %c = arith.cmpf ogt, %v, %v : f32
  %y = scf.if %c -> tensor<4xf32> {
    scf.yield %h : tensor<4xf32>
  } else {
    %z = scf.for %i = %n to %rows step %one iter_args(%a = %h) -> tensor<4xf32> {
      scf.yield %a : tensor<4xf32>
    }
    scf.yield %z : tensor<4xf32>
  }
  return %y : tensor<4xf32>
}

// Any op of scf that returns only scalars is supported, because its result types do not change.
// CHECK-LABEL: @region
func.func private @region(%n: index) -> index {
  %m = scf.execute_region -> index {
    scf.yield %n : index
  }
  return %m : index
}

// Functions that the entry does not call are not checked, because they never run.
// CHECK-LABEL: @other
func.func private @other(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = math.tanh %x : tensor<4xf32>
  return %y : tensor<4xf32>
}
