// RUN: batch-opt %s --batch-tag-depths --verify-diagnostics

// Depths depend on the origin of each tensor, which must be known.
func.func @main(%xs: !rec.list<tensor<4xf32>>) -> tensor<4xf32>
    attributes {batch.entry} {
  // expected-error @+1 {{has an unknown flow of values}}
  %y = builtin.unrealized_conversion_cast %xs
      : !rec.list<tensor<4xf32>> to tensor<4xf32>
  return %y : tensor<4xf32>
}
