// RUN: batch-opt %s --batch-outline-kernels --split-input-file --verify-diagnostics

// A ragged result has no row of a table to lie in.
func.func @main(%xs: tensor<?x4xf32>) -> tensor<?x4xf32> attributes {batch.entry} {
  // expected-error @+1 {{a tensor of dynamic shape leaves straight-line code; only static tensors can be stored as rows of a table: reduce over the dynamic extent in the same block, or give it a static shape}}
  %ys = math.tanh %xs : tensor<?x4xf32>
  return %ys : tensor<?x4xf32>
}

// -----

// Neither has one that control reads.
rec.adt @Tree {
  rec.variant @leaf(hs: !rec.list<tensor<4xf32>>)
}
func.func @main(%xs: tensor<?x4xf32>) -> !rec.adt<@Tree> attributes {batch.entry} {
  // expected-error @+1 {{a tensor of dynamic shape leaves straight-line code}}
  %ys = math.tanh %xs : tensor<?x4xf32>
  %t = rec.construct @Tree::@leaf(%ys) : (tensor<?x4xf32>) -> !rec.adt<@Tree>
  return %t : !rec.adt<@Tree>
}
