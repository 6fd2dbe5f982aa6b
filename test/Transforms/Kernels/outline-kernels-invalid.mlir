// RUN: batch-opt %s --batch-outline-kernels --split-input-file --verify-diagnostics

// A ragged result is not a row of a table.
func.func @main(%xs: tensor<?x4xf32>) -> tensor<?x4xf32> attributes {batch.entry} {
  // expected-error @+1 {{a tensor of dynamic shape is used outside of its kernel, but only static tensors can be stored as rows of a table; reduce over the dynamic extent in the same block, or give the tensor a static shape}}
  %ys = math.tanh %xs : tensor<?x4xf32>
  return %ys : tensor<?x4xf32>
}

// -----

// A ragged tensor in a data structure is not a row of a table either.
rec.adt @Tree {
  rec.variant @leaf(hs: !rec.list<tensor<4xf32>>)
}
func.func @main(%xs: tensor<?x4xf32>) -> !rec.adt<@Tree> attributes {batch.entry} {
  // expected-error @+1 {{a tensor of dynamic shape is used outside of its kernel}}
  %ys = math.tanh %xs : tensor<?x4xf32>
  %t = rec.construct @Tree::@leaf(%ys) : (tensor<?x4xf32>) -> !rec.adt<@Tree>
  return %t : !rec.adt<@Tree>
}

// -----

// The origin of a tensor has to be known: an op that reads a list has to
// specify the source of its result.
func.func @main(%xs: !rec.list<tensor<4xf32>>) -> tensor<4xf32>
    attributes {batch.entry} {
  // expected-error @+1 {{has an unknown flow of values: an op that has effects, contains control flow, or reads or creates lists or ADT values must implement RegionBranchOpInterface or rec::ValueFlowOpInterface}}
  %y = builtin.unrealized_conversion_cast %xs
      : !rec.list<tensor<4xf32>> to tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// An op with unknown effects may do anything, so it is an error.
func.func private @f(tensor<4xf32>) -> tensor<4xf32>
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> attributes {batch.entry} {
  %f = constant @f : (tensor<4xf32>) -> tensor<4xf32>
  // expected-error @+1 {{has an unknown flow of values}}
  %y = call_indirect %f(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
