// RUN: batch-opt %s --uprog-stage-operators --convert-operators-to-cpu --split-input-file --verify-diagnostics

// Control flow inside an operator has no CPU code yet.
uprog.operator @loop.rows(%n: index, %x: tensor<?x4xf32> {uprog.operand = #uprog.operand<gather>}) -> tensor<?x4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  // expected-error @+1 {{is not supported in an operator yet}}
  %y = scf.for %i = %c0 to %c3 step %c1 iter_args(%a = %x) -> tensor<?x4xf32> {
    %b = arith.addf %a, %a : tensor<?x4xf32>
    scf.yield %b : tensor<?x4xf32>
  }
  uprog.yield %y : tensor<?x4xf32>
}

// -----

// expected-error @+1 {{operand 1 must be a tensor with a dynamic first dimension and static other dimensions}}
uprog.operator @static.rows(%n: index, %x: tensor<?x?xf32> {uprog.operand = #uprog.operand<gather>}) -> tensor<?x?xf32> {
  uprog.yield %x : tensor<?x?xf32>
}

// -----

uprog.operator @dynamic.rows(%n: index, %x: tensor<?x4xf32> {uprog.operand = #uprog.operand<gather>}) -> tensor<?x4xf32> {
  // expected-error @+1 {{has a dynamic dimension other than the first}}
  %e = tensor.empty(%n, %n) : tensor<?x?xf32>
  uprog.yield %x : tensor<?x4xf32>
}

// -----

uprog.operator @unknown.rows(%n: index, %x: tensor<?x4xf32> {uprog.operand = #uprog.operand<gather>}) -> tensor<?x4xf32> {
  %zero = arith.constant 0.0 : f32
  %c7 = arith.constant 7 : index
  %e = tensor.empty(%c7) : tensor<?x4xf32>
  %p = tensor.empty(%n) : tensor<?x4xf32>
  // expected-error @+1 {{must have one row per task or the rows of a ragged operand}}
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?x4xf32>) -> tensor<?x4xf32>
  uprog.yield %x : tensor<?x4xf32>
}

// -----

uprog.operator @across.rows(%n: index, %x: tensor<?x4xf32> {uprog.operand = #uprog.operand<gather>}) -> tensor<?x4xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  // expected-error @+1 {{reduces over a dynamic dimension}}
  %s = linalg.reduce { arith.addf } ins(%x : tensor<?x4xf32>) outs(%f : tensor<4xf32>) dimensions = [0]
  uprog.yield %x : tensor<?x4xf32>
}

// -----

uprog.operator @concat.rows(%n: index, %x: tensor<?x4xf32> {uprog.operand = #uprog.operand<gather>}) -> tensor<?x4xf32> {
  // expected-error @+1 {{concatenates along the rows of tasks; concatenate within a row}}
  %y = tensor.concat dim(0) %x, %x : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  uprog.yield %y : tensor<?x4xf32>
}

// -----

uprog.operator @slice.rows(%n: index, %x: tensor<?x4xf32> {uprog.operand = #uprog.operand<gather>}) -> tensor<?x2xf32> {
  // expected-error @+1 {{has offsets, sizes or strides that are not static, or does not cover all rows}}
  %y = tensor.extract_slice %x[1, 0] [%n, 2] [1, 1] : tensor<?x4xf32> to tensor<?x2xf32>
  uprog.yield %y : tensor<?x2xf32>
}

// -----

// Code inside an elementwise op must be elementwise itself.
uprog.operator @body.rows(%n: index, %x: tensor<?x4xf32> {uprog.operand = #uprog.operand<gather>},
                          %w: tensor<4xf32> {uprog.operand = #uprog.operand<shared(0)>}) -> tensor<?x4xf32> {
  %e = tensor.empty(%n) : tensor<?x4xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(r, n) -> (r, n)>, affine_map<(r, n) -> (r, n)>],
                       iterator_types = ["parallel", "parallel"]}
         ins(%x : tensor<?x4xf32>) outs(%e : tensor<?x4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %j = linalg.index 1 : index
    // expected-error @+1 {{is not supported in an operator yet}}
    %v = tensor.dim %w, %j : tensor<4xf32>
    linalg.yield %a : f32
  } -> tensor<?x4xf32>
  uprog.yield %y : tensor<?x4xf32>
}

// -----

uprog.operator @wide.rows(%n: index, %x: tensor<?x16xi64> {uprog.operand = #uprog.operand<gather>}) -> tensor<?x16xi1> {
  // expected-error @+1 {{produces elements of type 'i128', which operators do not support}}
  %w = arith.extsi %x : tensor<?x16xi64> to tensor<?x16xi128>
  %y = arith.trunci %w : tensor<?x16xi128> to tensor<?x16xi1>
  uprog.yield %y : tensor<?x16xi1>
}

// -----

// expected-error @+1 {{operand 1 has elements of type 'complex<f32>', which operators do not support}}
uprog.operator @complex.rows(%n: index, %x: tensor<?x16xcomplex<f32>> {uprog.operand = #uprog.operand<gather>},
                             %y: tensor<?x16xf32> {uprog.operand = #uprog.operand<gather>}) -> tensor<?x16xf32> {
  uprog.yield %y : tensor<?x16xf32>
}

// -----

// The operator concatenates a constant without dense elements.
uprog.operator @resource.rows(%n: index, %x: tensor<?x4xf32> {uprog.operand = #uprog.operand<gather>}) -> tensor<?x8xf32> {
  // expected-error @+1 {{is a constant without dense elements; write it as dense<...>}}
  %r = arith.constant dense_resource<values> : tensor<4xf32>
  %e = tensor.empty(%n) : tensor<?x4xf32>
  %b = linalg.broadcast ins(%r : tensor<4xf32>) outs(%e : tensor<?x4xf32>) dimensions = [0]
  %c = tensor.concat dim(1) %b, %x : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x8xf32>
  uprog.yield %c : tensor<?x8xf32>
}

{-#
  dialect_resources: { builtin: { values: "0x040000000000803F000000400000404000008040" } }
#-}

// -----

// An insert must write into the row of an operand.
uprog.operator @computed.rows(%n: index, %x: tensor<?x4xf32> {uprog.operand = #uprog.operand<gather>},
    %r: tensor<?x2xf32> {uprog.operand = #uprog.operand<gather>}) -> tensor<?x4xf32> {
  %z = arith.addf %x, %x : tensor<?x4xf32>
  // expected-error @+1 {{inserts into a value that is neither an operand with one row per task nor the result of another insert}}
  %y = uprog.insert %r into %z [1] sizes [2] strides [1] : tensor<?x2xf32> into tensor<?x4xf32>
  uprog.yield %y : tensor<?x4xf32>
}

// -----

// The result of an insert must be a result of the operator.
uprog.operator @inner.rows(%n: index, %x: tensor<?x4xf32> {uprog.operand = #uprog.operand<gather>},
    %r: tensor<?x2xf32> {uprog.operand = #uprog.operand<gather>}) -> tensor<?x4xf32> {
  // expected-error @+1 {{inserts into rows that the operator does not return; yield the result of the last insert}}
  %y = uprog.insert %r into %x [1] sizes [2] strides [1] : tensor<?x2xf32> into tensor<?x4xf32>
  %z = math.exp %y : tensor<?x4xf32>
  uprog.yield %z : tensor<?x4xf32>
}

// -----

// No op may read both the old row and the new row.
// expected-error @+1 {{this operator reads rows after inserts that change them}}
uprog.operator @both.rows(%n: index, %x: tensor<?x4xf32> {uprog.operand = #uprog.operand<gather>},
    %r: tensor<?x2xf32> {uprog.operand = #uprog.operand<gather>}) -> (tensor<?x4xf32>, tensor<?x4xf32>) {
  %y = uprog.insert %r into %x [1] sizes [2] strides [1] : tensor<?x2xf32> into tensor<?x4xf32>
  %z = arith.addf %y, %x : tensor<?x4xf32>
  uprog.yield %y, %z : tensor<?x4xf32>, tensor<?x4xf32>
}

// -----

// The result of a reduction must be indexed by the parallel loops, not by reduction loops.
uprog.operator @permuted.rows(%n: index, %x: tensor<?x4xf32> {uprog.operand = #uprog.operand<gather>}) -> tensor<?x4xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty(%n) : tensor<?x4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?x4xf32>) -> tensor<?x4xf32>
  // expected-error @+1 {{has results whose indexing maps are not the same permutation of the parallel loops}}
  %y = linalg.generic {indexing_maps = [affine_map<(r, i, k) -> (r, i)>, affine_map<(r, i, k) -> (r, k)>],
                       iterator_types = ["parallel", "parallel", "reduction"]}
         ins(%x : tensor<?x4xf32>) outs(%f : tensor<?x4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %o, %a : f32
    linalg.yield %s : f32
  } -> tensor<?x4xf32>
  uprog.yield %y : tensor<?x4xf32>
}
