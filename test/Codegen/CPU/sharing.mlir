// RUN: batch-opt %s --uprog-stage-operators --convert-operators-to-cpu --split-input-file --remark-format=emitRemark \
// RUN:     --remarks-filter=batch -o /dev/null 2>&1 | FileCheck %s

#x = affine_map<(r, n, k) -> (r, k)>
#w = affine_map<(r, n, k) -> (n, k)>
#y = affine_map<(r, n, k) -> (r, n)>

// A worker's cache holds 64 x 64 weights, so sharing by rows pays off for twelve or more
// rows per worker. Fewer than seven rows are too little work for two workers.
// CHECK: Sharing {{.*}} 16384 bytes of parameters, 8192 FLOP and 512 bytes per task; launches of 12 or more tasks per worker are divided by rows; smaller launches are divided stage by stage with 0 barriers; launches of fewer than 7 tasks run on one worker
uprog.operator @kept(%n: index, %x: tensor<?x64xf32> {uprog.operand = #uprog.operand<gather>},
                     %w: tensor<64x64xf32> {uprog.operand = #uprog.operand<shared(0)>}) -> tensor<?x64xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty(%n) : tensor<?x64xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x64xf32>) -> tensor<?x64xf32>
  %r = linalg.matmul indexing_maps = [#x, #w, #y] ins(%x, %w : tensor<?x64xf32>, tensor<64x64xf32>)
      outs(%start : tensor<?x64xf32>) -> tensor<?x64xf32>
  uprog.yield %r : tensor<?x64xf32>
}

// -----

#x = affine_map<(r, n, k) -> (r, k)>
#w = affine_map<(r, n, k) -> (n, k)>
#y = affine_map<(r, n, k) -> (r, n)>

// A worker's cache does not hold a parameter of 4 MiB. Each worker then reads the parameter,
// so sharing by rows pays off only if each worker has enough rows for each byte.
// CHECK: Sharing {{.*}} @streamed: {{.*}} launches of 96 or more tasks per worker are divided by rows; smaller launches are divided stage by stage with 0 barriers; launches of fewer than 1 tasks run on one worker
uprog.operator @streamed(%n: index, %x: tensor<?x1024xf32> {uprog.operand = #uprog.operand<gather>},
                         %w: tensor<1024x1024xf32> {uprog.operand = #uprog.operand<shared(0)>}) -> tensor<?x1024xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty(%n) : tensor<?x1024xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x1024xf32>) -> tensor<?x1024xf32>
  %r = linalg.matmul indexing_maps = [#x, #w, #y] ins(%x, %w : tensor<?x1024xf32>, tensor<1024x1024xf32>)
      outs(%start : tensor<?x1024xf32>) -> tensor<?x1024xf32>
  uprog.yield %r : tensor<?x1024xf32>
}

// -----

#x = affine_map<(r, n, k) -> (r, k)>
#w = affine_map<(r, n, k) -> (n, k)>
#y = affine_map<(r, n, k) -> (r, n)>

// 32 columns are one panel, so there are no columns to share.
// CHECK: Sharing {{.*}} @narrow: {{.*}} launches of 1 or more tasks per worker
uprog.operator @narrow(%n: index, %x: tensor<?x32xf32> {uprog.operand = #uprog.operand<gather>},
                       %w: tensor<32x32xf32> {uprog.operand = #uprog.operand<shared(0)>}) -> tensor<?x32xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty(%n) : tensor<?x32xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x32xf32>) -> tensor<?x32xf32>
  %r = linalg.matmul indexing_maps = [#x, #w, #y] ins(%x, %w : tensor<?x32xf32>, tensor<32x32xf32>)
      outs(%start : tensor<?x32xf32>) -> tensor<?x32xf32>
  uprog.yield %r : tensor<?x32xf32>
}

// -----

// Two stages over 64 KiB matrices: a worker runs groups of tasks whose matrices
// fit its cache, so that the second stage reads the cached operands of the
// first one.
// CHECK: Sharing {{.*}} 0 bytes of parameters, {{.*}} bytes per task; launches of 1 or more tasks per worker are divided by rows, in groups of 4
uprog.operator @blocks(%n: index, %a: tensor<?x128x128xf32> {uprog.operand = #uprog.operand<gather>},
                       %b: tensor<?x128x128xf32> {uprog.operand = #uprog.operand<gather>})
    -> tensor<?x128x128xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty(%n) : tensor<?x128x128xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x128x128xf32>) -> tensor<?x128x128xf32>
  %y = linalg.batch_matmul ins(%a, %b : tensor<?x128x128xf32>, tensor<?x128x128xf32>)
      outs(%start : tensor<?x128x128xf32>) -> tensor<?x128x128xf32>
  %z = linalg.batch_matmul ins(%a, %y : tensor<?x128x128xf32>, tensor<?x128x128xf32>)
      outs(%start : tensor<?x128x128xf32>) -> tensor<?x128x128xf32>
  uprog.yield %z : tensor<?x128x128xf32>
}
