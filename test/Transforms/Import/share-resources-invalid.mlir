// RUN: batch-opt %s --batch-share-resources --split-input-file --verify-diagnostics

// expected-error @+1 {{resource 'w' is used with two types; use a constant of one type and reshape it}}
func.func @main(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<2x2xf32>) attributes {batch.entry} {
  %a = arith.constant dense_resource<w> : tensor<4xf32>
  %b = arith.constant dense_resource<w> : tensor<2x2xf32>
  %y = arith.addf %x, %a : tensor<4xf32>
  return %y, %b : tensor<4xf32>, tensor<2x2xf32>
}

// -----

// expected-error @+1 {{parameter 'w' has the same name as the resource of a constant; rename one of them}}
func.func @main(%x: tensor<4xf32>, %w: tensor<4xf32> {batch.shared = "w"}) -> tensor<4xf32>
    attributes {batch.entry} {
  %a = arith.constant dense_resource<w> : tensor<4xf32>
  %y = arith.addf %x, %a : tensor<4xf32>
  return %y : tensor<4xf32>
}
