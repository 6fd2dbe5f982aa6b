// RUN: batch-opt %s --uprog-stage-operators --convert-operators-to-cpu | FileCheck %s

// Register tiles also compute products in which one of the two matrices differs
// between tasks. The tiles read both operands in place.

#left = affine_map<(t, i, j, k) -> (i, k)>
#right = affine_map<(t, i, j, k) -> (t, k, j)>
#out = affine_map<(t, i, j, k) -> (t, i, j)>
#taskleft = affine_map<(t, i, j, k) -> (t, i, k)>

// The pieces of the concatenation are multiplied separately, and the second product adds to
// the tile of the first one. The strides are those of W (128) and of a matrix
// (64). No row is packed, and a block has the rows of one task.
// CHECK-LABEL: func.func private @pair.rows.stage0
// CHECK:         scf.for
// CHECK-NOT:     llvm.store
// CHECK:           call @batch.tiles.v2.a128.b64.c80.near(
// CHECK:           call @batch.tiles.v2.a128.b64.c80.add.near(
uprog.operator @pair.rows(%n: index, %a: tensor<?x64x64xf32> {uprog.operand = #uprog.operand<gather>},
                          %b: tensor<?x64x64xf32> {uprog.operand = #uprog.operand<gather>},
                          %w: tensor<64x128xf32> {uprog.operand = #uprog.operand<shared(0)>})
    -> tensor<?x64x64xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty(%n) : tensor<?x64x64xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x64x64xf32>) -> tensor<?x64x64xf32>
  %ab = tensor.concat dim(1) %a, %b
      : (tensor<?x64x64xf32>, tensor<?x64x64xf32>) -> tensor<?x128x64xf32>
  %y = linalg.generic {indexing_maps = [#left, #right, #out],
      iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%w, %ab : tensor<64x128xf32>, tensor<?x128x64xf32>)
      outs(%start : tensor<?x64x64xf32>) {
  ^bb0(%u: f32, %v: f32, %s: f32):
    %p = arith.mulf %u, %v : f32
    %q = arith.addf %s, %p : f32
    linalg.yield %q : f32
  } -> tensor<?x64x64xf32>
  uprog.yield %y : tensor<?x64x64xf32>
}

// Both matrices may differ between tasks. Rows of 8 columns have a stride of
// 16, which is one vector.
// CHECK-LABEL: func.func private @both.rows.stage0
// CHECK:           call @batch.tiles.v1.a16.b16.{{.*}}.near(
uprog.operator @both.rows(%n: index, %a: tensor<?x8x8xf32> {uprog.operand = #uprog.operand<gather>},
                          %b: tensor<?x8x8xf32> {uprog.operand = #uprog.operand<gather>})
    -> tensor<?x8x8xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty(%n) : tensor<?x8x8xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x8x8xf32>) -> tensor<?x8x8xf32>
  %y = linalg.batch_matmul ins(%a, %b : tensor<?x8x8xf32>, tensor<?x8x8xf32>)
      outs(%start : tensor<?x8x8xf32>) -> tensor<?x8x8xf32>
  uprog.yield %y : tensor<?x8x8xf32>
}

// Rows of 48 columns are shorter than two panels of 32 columns. The tiles would read past
// the last row, so both operands are copied.
// CHECK-LABEL: func.func private @narrow.rows.stage0
// CHECK:           call @batch.tiles.v2.a64.b32.c80.near(
uprog.operator @narrow.rows(%n: index, %a: tensor<?x48x48xf32> {uprog.operand = #uprog.operand<gather>},
                            %b: tensor<?x48x48xf32> {uprog.operand = #uprog.operand<gather>})
    -> tensor<?x48x48xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty(%n) : tensor<?x48x48xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x48x48xf32>) -> tensor<?x48x48xf32>
  %y = linalg.batch_matmul ins(%a, %b : tensor<?x48x48xf32>, tensor<?x48x48xf32>)
      outs(%start : tensor<?x48x48xf32>) -> tensor<?x48x48xf32>
  uprog.yield %y : tensor<?x48x48xf32>
}

// A computed operand cannot be read in place. It is computed when it is copied,
// once for all rows of a task.
// CHECK-LABEL: func.func private @computed.rows.stage0
// CHECK-COUNT-1:   arith.addf %{{.*}} : vector<16xf32>
// CHECK-NOT:       arith.addf %{{.*}} : vector<16xf32>
// CHECK:           call @batch.tiles.v2.a80.b32.c80.near(
uprog.operator @computed.rows(%n: index, %a: tensor<?x64x64xf32> {uprog.operand = #uprog.operand<gather>},
                              %b: tensor<?x64x64xf32> {uprog.operand = #uprog.operand<gather>})
    -> tensor<?x64x64xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty(%n) : tensor<?x64x64xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x64x64xf32>) -> tensor<?x64x64xf32>
  %c = arith.addf %a, %b : tensor<?x64x64xf32>
  %y = linalg.batch_matmul ins(%a, %c : tensor<?x64x64xf32>, tensor<?x64x64xf32>)
      outs(%start : tensor<?x64x64xf32>) -> tensor<?x64x64xf32>
  uprog.yield %y : tensor<?x64x64xf32>
}

// If each head has its own matrix, the tiles of each head read the head's
// matrix. A right operand is transposed if its elements along the reduction are
// adjacent.
#q = affine_map<(t, h, i, j, k) -> (t, i, h, k)>
#keys = affine_map<(t, h, i, j, k) -> (t, j, h, k)>
#values = affine_map<(t, h, i, j, k) -> (t, k, h, j)>
#heads = affine_map<(t, h, i, j, k) -> (t, h, i, j)>
// CHECK-LABEL: func.func private @heads.rows.stage0
// CHECK:           vector.shuffle
// CHECK:           call @batch.tiles.v2.a80.b32.c80.near(
// CHECK:           call @batch.tiles.v2.a256.b256.c80.near(
uprog.operator @heads.rows(%n: index, %q: tensor<?x64x4x64xf32> {uprog.operand = #uprog.operand<gather>},
                           %k: tensor<?x64x4x64xf32> {uprog.operand = #uprog.operand<gather>})
    -> (tensor<?x4x64x64xf32>, tensor<?x4x64x64xf32>) {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty(%n) : tensor<?x4x64x64xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x4x64x64xf32>) -> tensor<?x4x64x64xf32>
  %s = linalg.generic {indexing_maps = [#q, #keys, #heads],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
      ins(%q, %k : tensor<?x64x4x64xf32>, tensor<?x64x4x64xf32>)
      outs(%start : tensor<?x4x64x64xf32>) {
  ^bb0(%u: f32, %v: f32, %o: f32):
    %p = arith.mulf %u, %v : f32
    %r = arith.addf %o, %p : f32
    linalg.yield %r : f32
  } -> tensor<?x4x64x64xf32>
  %y = linalg.generic {indexing_maps = [#q, #values, #heads],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
      ins(%q, %k : tensor<?x64x4x64xf32>, tensor<?x64x4x64xf32>)
      outs(%start : tensor<?x4x64x64xf32>) {
  ^bb0(%u: f32, %v: f32, %o: f32):
    %p = arith.mulf %u, %v : f32
    %r = arith.addf %o, %p : f32
    linalg.yield %r : f32
  } -> tensor<?x4x64x64xf32>
  uprog.yield %s, %y : tensor<?x4x64x64xf32>, tensor<?x4x64x64xf32>
}
