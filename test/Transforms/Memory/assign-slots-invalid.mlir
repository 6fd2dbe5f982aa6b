// RUN: batch-opt %s --batch-linearize --batch-assign-slots --split-input-file --verify-diagnostics

// An argument with batch.shared is a parameter of the entry, and must specify the
// number of this parameter.
// expected-error @+1 {{argument #1 is shared, but has no attribute 'batch.parameter' that specifies the parameter}}
batch.kernel @k(%x: tensor<4xf32>, %w: tensor<4xf32> {batch.shared}) -> tensor<4xf32> {
  %y = arith.addf %x, %w : tensor<4xf32>
  batch.yield %y : tensor<4xf32>
}
func.func @main(%x: tensor<4xf32>, %w: tensor<4xf32> {batch.shared = "w"})
    -> tensor<4xf32> attributes {batch.entry} {
  %d = batch.depth()
  %y = batch.invoke @k(%x, %w) depth(%d) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// Each tensor that a kernel reads must be computed or be an input. A field is neither if
// the program never constructs the variant and no input contains the ADT.
rec.adt @Made {
  rec.variant @none()
  rec.variant @some(x: tensor<4xf32>)
}
// expected-error @+1 {{argument #0 is neither computed nor an input}}
batch.kernel @k(%x: tensor<4xf32>) -> tensor<4xf32> {
  batch.yield %x : tensor<4xf32>
}
batch.kernel @zero() -> tensor<4xf32> {
  %zero = arith.constant dense<0.0> : tensor<4xf32>
  batch.yield %zero : tensor<4xf32>
}
func.func @main(%n: index) -> tensor<4xf32> attributes {batch.entry} {
  %t = rec.construct @Made::@none() : () -> !rec.adt<@Made>
  %h = rec.match %t : !rec.adt<@Made> -> tensor<4xf32> {
  case @none() {
    %d = batch.depth()
    %z = batch.invoke @zero() depth(%d) : () -> tensor<4xf32>
    rec.yield %z : tensor<4xf32>
  }
  case @some(%x: tensor<4xf32>) {
    %d = batch.depth(%x) : tensor<4xf32>
    %y = batch.invoke @k(%x) depth(%d) : (tensor<4xf32>) -> tensor<4xf32>
    rec.yield %y : tensor<4xf32>
  } }
  return %h : tensor<4xf32>
}

// -----

// Tables depend on the origin of each tensor, which must be known.
batch.kernel @k(%x: tensor<4xf32>) -> tensor<4xf32> {
  batch.yield %x : tensor<4xf32>
}
func.func private @main.inspect(%xs: !rec.list<!batch.handle>) -> !batch.handle
    attributes {batch.inspector}
func.func @main(%xs: !rec.list<tensor<4xf32>>) -> tensor<4xf32>
    attributes {batch.entry} {
  // expected-error @+1 {{has an unknown flow of values}}
  %x = builtin.unrealized_conversion_cast %xs
      : !rec.list<tensor<4xf32>> to tensor<4xf32>
  %d = batch.depth(%x) : tensor<4xf32>
  %y = batch.invoke @k(%x) depth(%d) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
