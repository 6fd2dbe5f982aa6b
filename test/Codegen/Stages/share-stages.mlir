// RUN: batch-opt %s --uprog-stage-operators | FileCheck %s
// RUN: batch-opt %s --uprog-stage-operators | batch-opt | FileCheck %s
// RUN: batch-opt %s --uprog-stage-operators=target=gpu | FileCheck %s --check-prefix=GPU

// Only the workers of a CPU share stages in the way that this file tests.
// GPU-NOT: {{^ *%.* = uprog.stage .*barrier}}
// GPU-NOT: shared_dims

#x = affine_map<(r, n, k) -> (r, k)>
#w = affine_map<(r, n, k) -> (n, k)>
#y = affine_map<(r, n, k) -> (r, n)>

// A product reads all columns of its left factor. Each worker has computed some
// of these columns, so all workers wait.
// CHECK-LABEL: uprog.operator @columns.rows
// CHECK:         uprog.stage rows<tasks> shape [64] reads
// CHECK:         uprog.stage rows<tasks> shape [64] barrier ->
uprog.operator @columns.rows(%n: index, %x: tensor<?x64xf32> {uprog.operand = #uprog.operand<gather>},
                             %w: tensor<64x64xf32> {uprog.operand = #uprog.operand<shared(0)>})
    -> tensor<?x64xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty(%n) : tensor<?x64xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x64xf32>) -> tensor<?x64xf32>
  %t = math.tanh %x : tensor<?x64xf32>
  %p = linalg.matmul indexing_maps = [#x, #w, #y] ins(%t, %w : tensor<?x64xf32>, tensor<64x64xf32>)
      outs(%start : tensor<?x64xf32>) -> tensor<?x64xf32>
  uprog.yield %p : tensor<?x64xf32>
}

// The worker that sums columns over a task's rows has also computed these columns. No
// worker waits before the sum.
// CHECK-LABEL: uprog.operator @segments.rows
// CHECK:         uprog.stage rows<ragged(0)> shape [64] reads
// CHECK:         uprog.stage rows<tasks> shape [64] ->
uprog.operator @segments.rows(%n: index, %q: tensor<?x64xf32> {uprog.operand = #uprog.operand<gather>},
                              %x: tensor<?x64xf32> {uprog.operand = #uprog.operand<gather ragged(0)>},
                              %offsets: tensor<?xindex> {uprog.operand = #uprog.operand<offsets(0)>})
    -> tensor<?x64xf32> {
  %t = math.tanh %x : tensor<?x64xf32>
  %y = batch.segment_reduce add %t by %offsets into %q : tensor<?x64xf32>, tensor<?xindex>
  uprog.yield %y : tensor<?x64xf32>
}

// A stage that no worker waits for runs before the next barrier, or after the
// last one: three stages, one barrier.
// CHECK-LABEL: uprog.operator @childsum.rows
// CHECK-COUNT-1: barrier
// CHECK-NOT:     barrier
// CHECK-LABEL: uprog.operator @reversed.rows
uprog.operator @childsum.rows(%n: index, %x: tensor<?x64xf32> {uprog.operand = #uprog.operand<gather ragged(0)>},
                              %c: tensor<?x64xf32> {uprog.operand = #uprog.operand<gather ragged(0)>},
                              %w: tensor<64x64xf32> {uprog.operand = #uprog.operand<shared(0)>},
                              %u: tensor<64x64xf32> {uprog.operand = #uprog.operand<shared(1)>},
                              %offsets: tensor<?xindex> {uprog.operand = #uprog.operand<offsets(0)>})
    -> tensor<?x64xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty(%n) : tensor<?x64xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x64xf32>) -> tensor<?x64xf32>
  %sum = batch.segment_reduce add %x by %offsets into %start : tensor<?x64xf32>, tensor<?xindex>
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x64xf32>
  %some = tensor.empty(%m) : tensor<?x64xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%some : tensor<?x64xf32>) -> tensor<?x64xf32>
  %f = linalg.matmul indexing_maps = [#x, #w, #y] ins(%x, %w : tensor<?x64xf32>, tensor<64x64xf32>)
      outs(%zeros : tensor<?x64xf32>) -> tensor<?x64xf32>
  %g = math.tanh %f : tensor<?x64xf32>
  %fc = arith.mulf %g, %c : tensor<?x64xf32>
  %i = linalg.matmul indexing_maps = [#x, #w, #y] ins(%sum, %u : tensor<?x64xf32>, tensor<64x64xf32>)
      outs(%start : tensor<?x64xf32>) -> tensor<?x64xf32>
  %h = batch.segment_reduce add %fc by %offsets into %i : tensor<?x64xf32>, tensor<?xindex>
  uprog.yield %h : tensor<?x64xf32>
}

// If columns are read in reversed order, another worker has computed them, so workers wait.
// CHECK:         uprog.stage rows<tasks> shape [64] reads
// CHECK:         uprog.stage rows<tasks> shape [64] barrier scalar ->
uprog.operator @reversed.rows(%n: index, %x: tensor<?x64xf32> {uprog.operand = #uprog.operand<gather>})
    -> (tensor<?x64xf32>, tensor<?x64xf32>) {
  %empty = tensor.empty(%n) : tensor<?x64xf32>
  %t = math.tanh %x : tensor<?x64xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(r, n) -> (r, 63 - n)>, affine_map<(r, n) -> (r, n)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%t : tensor<?x64xf32>) outs(%empty : tensor<?x64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %e = math.exp %a : f32
    linalg.yield %e : f32
  } -> tensor<?x64xf32>
  uprog.yield %t, %r : tensor<?x64xf32>, tensor<?x64xf32>
}

#heads = affine_map<(r, h, n) -> (r, h, n)>
#head = affine_map<(r, h, n) -> (r, h)>

// Workers share the work by heads. No stage needs a barrier, not even the sum, which
// computes one number for each head.
// CHECK-LABEL: uprog.operator @heads.rows
// CHECK-COUNT-2: uprog.stage rows<tasks> shape [12, 64] shared_dims 1
// CHECK:         uprog.stage rows<tasks> shape [12] shared_dims 1 ->
// CHECK:         uprog.stage rows<tasks> shape [12, 64] shared_dims 1
// CHECK-NOT:     barrier
// CHECK-LABEL: uprog.operator @few_columns.rows
uprog.operator @heads.rows(%n: index, %q: tensor<?x12x64xf32> {uprog.operand = #uprog.operand<rows>},
                           %w: tensor<12x64x64xf32> {uprog.operand = #uprog.operand<shared(0)>},
                           %keys: tensor<?x12x64x64xf32> {uprog.operand = #uprog.operand<rows>})
    -> tensor<?x12x64xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty(%n) : tensor<?x12x64xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x12x64xf32>) -> tensor<?x12x64xf32>
  %p = linalg.generic {indexing_maps = [affine_map<(r, h, n, k) -> (h, n, k)>, affine_map<(r, h, n, k) -> (r, h, k)>,
                                        affine_map<(r, h, n, k) -> (r, h, n)>],
                       iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%w, %q : tensor<12x64x64xf32>, tensor<?x12x64xf32>) outs(%start : tensor<?x12x64xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %m = arith.mulf %a, %b : f32
    %s = arith.addf %o, %m : f32
    linalg.yield %s : f32
  } -> tensor<?x12x64xf32>
  %scores = linalg.generic {indexing_maps = [affine_map<(r, h, n, k) -> (r, h, n, k)>, affine_map<(r, h, n, k) -> (r, h, k)>,
                                             affine_map<(r, h, n, k) -> (r, h, n)>],
                            iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%keys, %p : tensor<?x12x64x64xf32>, tensor<?x12x64xf32>) outs(%start : tensor<?x12x64xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %m = arith.mulf %a, %b : f32
    %s = arith.addf %o, %m : f32
    linalg.yield %s : f32
  } -> tensor<?x12x64xf32>
  %e = tensor.empty(%n) : tensor<?x12xf32>
  %none = linalg.fill ins(%zero : f32) outs(%e : tensor<?x12xf32>) -> tensor<?x12xf32>
  %sum = linalg.generic {indexing_maps = [#heads, #head], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%scores : tensor<?x12x64xf32>) outs(%none : tensor<?x12xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %o, %a : f32
    linalg.yield %s : f32
  } -> tensor<?x12xf32>
  %y = linalg.generic {indexing_maps = [#heads, #head, #heads], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%scores, %sum : tensor<?x12x64xf32>, tensor<?x12xf32>) outs(%empty : tensor<?x12x64xf32>) {
  ^bb0(%a: f32, %s: f32, %o: f32):
    %d = arith.divf %a, %s : f32
    linalg.yield %d : f32
  } -> tensor<?x12x64xf32>
  uprog.yield %y : tensor<?x12x64xf32>
}

// If all columns are in a single panel, workers share only rows. In a convolution,
// the rows are positions.
// CHECK:         uprog.stage rows<tasks> shape [100, 16] shared_dims 1
uprog.operator @few_columns.rows(%n: index, %x: tensor<?x100x40xf32> {uprog.operand = #uprog.operand<gather>},
                                 %w: tensor<16x40xf32> {uprog.operand = #uprog.operand<shared(0)>})
    -> tensor<?x100x16xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty(%n) : tensor<?x100x16xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x100x16xf32>) -> tensor<?x100x16xf32>
  %p = linalg.generic {indexing_maps = [affine_map<(r, i, n, k) -> (r, i, k)>, affine_map<(r, i, n, k) -> (n, k)>,
                                        affine_map<(r, i, n, k) -> (r, i, n)>],
                       iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<?x100x40xf32>, tensor<16x40xf32>) outs(%start : tensor<?x100x16xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %m = arith.mulf %a, %b : f32
    %s = arith.addf %o, %m : f32
    linalg.yield %s : f32
  } -> tensor<?x100x16xf32>
  uprog.yield %p : tensor<?x100x16xf32>
}

// If each head writes a slice into its own share of a cache, the same worker reads
// the slice. If a head writes into the share of another head, all workers wait.
// CHECK-LABEL: uprog.operator @cache.rows
// CHECK:         uprog.stage rows<tasks> shape [12, 8, 64] shared_dims 1
// CHECK-NOT:     barrier
// CHECK:         uprog.insert
// CHECK-NOT:     barrier
// CHECK-LABEL: uprog.operator @shifted.rows
uprog.operator @cache.rows(%n: index, %x: tensor<?x12x64xf32> {uprog.operand = #uprog.operand<gather>},
                           %cache: tensor<?x12x8x64xf32> {uprog.operand = #uprog.operand<rows>})
    -> (tensor<?x12x8x64xf32>, tensor<?x12xf32>) {
  %zero = arith.constant 0.0 : f32
  %t = math.tanh %x : tensor<?x12x64xf32>
  %new = uprog.insert %t into %cache[0, 3, 0] sizes [12, 1, 64] strides [1, 1, 1]
      : tensor<?x12x64xf32> into tensor<?x12x8x64xf32>
  %e = tensor.empty(%n) : tensor<?x12xf32>
  %none = linalg.fill ins(%zero : f32) outs(%e : tensor<?x12xf32>) -> tensor<?x12xf32>
  %sum = linalg.generic {indexing_maps = [affine_map<(r, h, i, n) -> (r, h, i, n)>, affine_map<(r, h, i, n) -> (r, h)>],
                         iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%new : tensor<?x12x8x64xf32>) outs(%none : tensor<?x12xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %o, %a : f32
    linalg.yield %s : f32
  } -> tensor<?x12xf32>
  uprog.yield %new, %sum : tensor<?x12x8x64xf32>, tensor<?x12xf32>
}

// CHECK:         uprog.insert
// CHECK:         uprog.stage rows<tasks> shape [13] {{.*}}barrier
uprog.operator @shifted.rows(%n: index, %x: tensor<?x12x64xf32> {uprog.operand = #uprog.operand<gather>},
                             %cache: tensor<?x13x8x64xf32> {uprog.operand = #uprog.operand<rows>})
    -> (tensor<?x13x8x64xf32>, tensor<?x13xf32>) {
  %zero = arith.constant 0.0 : f32
  %t = math.tanh %x : tensor<?x12x64xf32>
  %new = uprog.insert %t into %cache[1, 3, 0] sizes [12, 1, 64] strides [1, 1, 1]
      : tensor<?x12x64xf32> into tensor<?x13x8x64xf32>
  %e = tensor.empty(%n) : tensor<?x13xf32>
  %none = linalg.fill ins(%zero : f32) outs(%e : tensor<?x13xf32>) -> tensor<?x13xf32>
  %sum = linalg.generic {indexing_maps = [affine_map<(r, h, i, n) -> (r, h, i, n)>, affine_map<(r, h, i, n) -> (r, h)>],
                         iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%new : tensor<?x13x8x64xf32>) outs(%none : tensor<?x13xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %o, %a : f32
    linalg.yield %s : f32
  } -> tensor<?x13xf32>
  uprog.yield %new, %sum : tensor<?x13x8x64xf32>, tensor<?x13xf32>
}
