// Reductions as importers write them, each over an input, a parameter and a
// computed tensor. Other operations use their results. check_reductions.py
// computes the expected results.

!x = tensor<5x19xf32>
!rows = tensor<5xf32>
!cols = tensor<19xf32>
!s = tensor<?x8xf32>
#all = affine_map<(i, j) -> (i, j)>
#i = affine_map<(i, j) -> (i)>
#j = affine_map<(i, j) -> (j)>

// PyTorch: the index counts the loop. A NaN is the maximum, and has no index.
func.func private @torch_argmax(%x: !x) -> (!rows, tensor<5xi64>) {
  %low = arith.constant 0xFF800000 : f32
  %none = arith.constant 0 : i64
  %e = tensor.empty() : !rows
  %ei = tensor.empty() : tensor<5xi64>
  %v0 = linalg.fill ins(%low : f32) outs(%e : !rows) -> !rows
  %k0 = linalg.fill ins(%none : i64) outs(%ei : tensor<5xi64>) -> tensor<5xi64>
  %r:2 = linalg.generic {indexing_maps = [#all, #i, #i], iterator_types = ["parallel", "reduction"]}
      ins(%x : !x) outs(%v0, %k0 : !rows, tensor<5xi64>) {
  ^bb0(%in: f32, %best: f32, %at: i64):
    %j = linalg.index 1 : index
    %k = arith.index_cast %j : index to i64
    %max = arith.maximumf %in, %best : f32
    %more = arith.cmpf ogt, %in, %best : f32
    %next = arith.select %more, %k, %at : i64
    linalg.yield %max, %next : f32, i64
  } -> (!rows, tensor<5xi64>)
  return %r#0, %r#1 : !rows, tensor<5xi64>
}

// Like @torch_argmax, with the minimum instead. The results keep the reduced dimension.
func.func private @torch_argmin(%x: !x) -> (tensor<1x19xf32>, tensor<1x19xi64>) {
  %high = arith.constant 0x7F800000 : f32
  %none = arith.constant 0 : i64
  %e = tensor.empty() : tensor<1x19xf32>
  %ei = tensor.empty() : tensor<1x19xi64>
  %v0 = linalg.fill ins(%high : f32) outs(%e : tensor<1x19xf32>) -> tensor<1x19xf32>
  %k0 = linalg.fill ins(%none : i64) outs(%ei : tensor<1x19xi64>) -> tensor<1x19xi64>
  %r:2 = linalg.generic {
      indexing_maps = [#all, affine_map<(i, j) -> (0, j)>, affine_map<(i, j) -> (0, j)>],
      iterator_types = ["reduction", "parallel"]}
      ins(%x : !x) outs(%v0, %k0 : tensor<1x19xf32>, tensor<1x19xi64>) {
  ^bb0(%in: f32, %best: f32, %at: i64):
    %i = linalg.index 0 : index
    %k = arith.index_cast %i : index to i64
    %min = arith.minimumf %in, %best : f32
    %less = arith.cmpf olt, %in, %best : f32
    %next = arith.select %less, %k, %at : i64
    linalg.yield %min, %next : f32, i64
  } -> (tensor<1x19xf32>, tensor<1x19xi64>)
  return %r#0, %r#1 : tensor<1x19xf32>, tensor<1x19xi64>
}

// JAX: positions are an operand; the first of equal values, and the last NaN.
func.func private @jax_argmax(%x: !x) -> tensor<5xi32> {
  %low = arith.constant 0xFF800000 : f32
  %none = arith.constant 0 : i32
  %ep = tensor.empty() : tensor<5x19xi32>
  %iota = linalg.generic {indexing_maps = [#all], iterator_types = ["parallel", "parallel"]}
      outs(%ep : tensor<5x19xi32>) {
  ^bb0(%out: i32):
    %j = linalg.index 1 : index
    %k = arith.index_cast %j : index to i32
    linalg.yield %k : i32
  } -> tensor<5x19xi32>
  %e = tensor.empty() : !rows
  %ei = tensor.empty() : tensor<5xi32>
  %v0 = linalg.fill ins(%low : f32) outs(%e : !rows) -> !rows
  %k0 = linalg.fill ins(%none : i32) outs(%ei : tensor<5xi32>) -> tensor<5xi32>
  %r:2 = linalg.generic {indexing_maps = [#all, #all, #i, #i], iterator_types = ["parallel", "reduction"]}
      ins(%x, %iota : !x, tensor<5x19xi32>) outs(%v0, %k0 : !rows, tensor<5xi32>) {
  ^bb0(%in: f32, %k: i32, %best: f32, %at: i32):
    %more = arith.cmpf ogt, %in, %best : f32
    %nan = arith.cmpf une, %in, %in : f32
    %taken = arith.ori %more, %nan : i1
    %same = arith.cmpf oeq, %in, %best : f32
    %earlier = arith.cmpi slt, %k, %at : i32
    %first = arith.andi %same, %earlier : i1
    %moved = arith.ori %taken, %first : i1
    %max = arith.select %taken, %in, %best : f32
    %next = arith.select %moved, %k, %at : i32
    linalg.yield %max, %next : f32, i32
  } -> (!rows, tensor<5xi32>)
  return %r#1 : tensor<5xi32>
}
func.func private @jax_argmin(%x: !x) -> tensor<19xi32> {
  %high = arith.constant 0x7F800000 : f32
  %none = arith.constant 0 : i32
  %ep = tensor.empty() : tensor<5x19xi32>
  %iota = linalg.generic {indexing_maps = [#all], iterator_types = ["parallel", "parallel"]}
      outs(%ep : tensor<5x19xi32>) {
  ^bb0(%out: i32):
    %i = linalg.index 0 : index
    %k = arith.index_cast %i : index to i32
    linalg.yield %k : i32
  } -> tensor<5x19xi32>
  %e = tensor.empty() : !cols
  %ei = tensor.empty() : tensor<19xi32>
  %v0 = linalg.fill ins(%high : f32) outs(%e : !cols) -> !cols
  %k0 = linalg.fill ins(%none : i32) outs(%ei : tensor<19xi32>) -> tensor<19xi32>
  %r:2 = linalg.generic {indexing_maps = [#all, #all, #j, #j], iterator_types = ["reduction", "parallel"]}
      ins(%x, %iota : !x, tensor<5x19xi32>) outs(%v0, %k0 : !cols, tensor<19xi32>) {
  ^bb0(%in: f32, %k: i32, %best: f32, %at: i32):
    %less = arith.cmpf olt, %in, %best : f32
    %nan = arith.cmpf une, %in, %in : f32
    %taken = arith.ori %less, %nan : i1
    %same = arith.cmpf oeq, %in, %best : f32
    %earlier = arith.cmpi slt, %k, %at : i32
    %first = arith.andi %same, %earlier : i1
    %moved = arith.ori %taken, %first : i1
    %min = arith.select %taken, %in, %best : f32
    %next = arith.select %moved, %k, %at : i32
    linalg.yield %min, %next : f32, i32
  } -> (!cols, tensor<19xi32>)
  return %r#1 : tensor<19xi32>
}

// Reductions by a single op along each dimension, along both, and along both with dimensions kept.
func.func private @plain(%x: !x)
    -> (!rows, !cols, !rows, !cols, !rows, !rows, tensor<f32>, tensor<1x1xf32>) {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %high = arith.constant 0x7F800000 : f32
  %e = tensor.empty() : !rows
  %ec = tensor.empty() : !cols
  %zeros = linalg.fill ins(%zero : f32) outs(%e : !rows) -> !rows
  %zerosc = linalg.fill ins(%zero : f32) outs(%ec : !cols) -> !cols
  %ones = linalg.fill ins(%one : f32) outs(%e : !rows) -> !rows
  %lows = linalg.fill ins(%low : f32) outs(%e : !rows) -> !rows
  %lowsc = linalg.fill ins(%low : f32) outs(%ec : !cols) -> !cols
  %highs = linalg.fill ins(%high : f32) outs(%e : !rows) -> !rows
  %sum = linalg.reduce { arith.addf } ins(%x : !x) outs(%zeros : !rows) dimensions = [1]
  %sumc = linalg.reduce { arith.addf } ins(%x : !x) outs(%zerosc : !cols) dimensions = [0]
  %product = linalg.reduce { arith.mulf } ins(%x : !x) outs(%ones : !rows) dimensions = [1]
  %max = linalg.reduce { arith.maximumf } ins(%x : !x) outs(%lowsc : !cols) dimensions = [0]
  %maxnum = linalg.reduce { arith.maxnumf } ins(%x : !x) outs(%lows : !rows) dimensions = [1]
  %min = linalg.reduce { arith.minimumf } ins(%x : !x) outs(%highs : !rows) dimensions = [1]
  %none = arith.constant dense<0.0> : tensor<f32>
  %total = linalg.reduce { arith.addf } ins(%x : !x) outs(%none : tensor<f32>) dimensions = [0, 1]
  %e1 = tensor.empty() : tensor<1x1xf32>
  %start = linalg.fill ins(%zero : f32) outs(%e1 : tensor<1x1xf32>) -> tensor<1x1xf32>
  %kept = linalg.generic {indexing_maps = [#all, affine_map<(i, j) -> (0, 0)>],
                          iterator_types = ["reduction", "reduction"]}
      ins(%x : !x) outs(%start : tensor<1x1xf32>) {
  ^bb0(%in: f32, %out: f32):
    %s = arith.addf %in, %out : f32
    linalg.yield %s : f32
  } -> tensor<1x1xf32>
  return %sum, %sumc, %product, %max, %maxnum, %min, %total, %kept
      : !rows, !cols, !rows, !cols, !rows, !rows, tensor<f32>, tensor<1x1xf32>
}

// Reductions with several results, over one operand and over two.
func.func private @several(%x: !x) -> (!rows, !rows, !rows, !rows) {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : !rows
  %zeros = linalg.fill ins(%zero : f32) outs(%e : !rows) -> !rows
  %lows = linalg.fill ins(%low : f32) outs(%e : !rows) -> !rows
  %moments:2 = linalg.generic {indexing_maps = [#all, #i, #i], iterator_types = ["parallel", "reduction"]}
      ins(%x : !x) outs(%zeros, %zeros : !rows, !rows) {
  ^bb0(%in: f32, %sum: f32, %squares: f32):
    %s = arith.addf %in, %sum : f32
    %q = arith.mulf %in, %in : f32
    %t = arith.addf %q, %squares : f32
    linalg.yield %s, %t : f32, f32
  } -> (!rows, !rows)
  %y = arith.negf %x : !x
  %both:2 = linalg.reduce ins(%x, %y : !x, !x) outs(%zeros, %lows : !rows, !rows) dimensions = [1]
    (%a: f32, %b: f32, %sum: f32, %max: f32) {
      %s = arith.addf %a, %sum : f32
      %m = arith.maximumf %b, %max : f32
      linalg.yield %s, %m : f32, f32
    }
  return %moments#0, %moments#1, %both#0, %both#1 : !rows, !rows, !rows, !rows
}

// Reductions of integers, and tests of whether any or all numbers are positive.
func.func private @integers(%x: !x)
    -> (tensor<5xi64>, tensor<19xi64>, tensor<5xi64>, tensor<19xi1>, tensor<5xi1>) {
  %eight = arith.constant dense<8.0> : !x
  %scaled = arith.mulf %x, %eight : !x
  %n = arith.fptosi %scaled : !x to tensor<5x19xi64>
  %zeros = arith.constant dense<0> : tensor<5xi64>
  %zerosc = arith.constant dense<0> : tensor<19xi64>
  %sum = linalg.reduce { arith.addi } ins(%n : tensor<5x19xi64>) outs(%zeros : tensor<5xi64>) dimensions = [1]
  %bits = linalg.reduce { arith.xori } ins(%n : tensor<5x19xi64>) outs(%zerosc : tensor<19xi64>) dimensions = [0]
  %max = linalg.reduce { arith.maxui } ins(%n : tensor<5x19xi64>) outs(%zeros : tensor<5xi64>) dimensions = [1]
  %zero = arith.constant dense<0.0> : !x
  %positive = arith.cmpf ogt, %x, %zero : !x
  %false = arith.constant dense<false> : tensor<19xi1>
  %true = arith.constant dense<true> : tensor<5xi1>
  %any = linalg.reduce { arith.ori } ins(%positive : tensor<5x19xi1>) outs(%false : tensor<19xi1>) dimensions = [0]
  %all = linalg.reduce { arith.andi } ins(%positive : tensor<5x19xi1>) outs(%true : tensor<5xi1>) dimensions = [1]
  return %sum, %bits, %max, %any, %all
      : tensor<5xi64>, tensor<19xi64>, tensor<5xi64>, tensor<19xi1>, tensor<5xi1>
}

// Reductions along two of four dimensions. The results have the other two in reverse order.
func.func private @deep(%x: !x) -> (tensor<2x4xf32>, tensor<3x5xf32>) {
  %zero = arith.constant dense<0.0> : tensor<2x4xf32>
  %low = arith.constant dense<0xFF800000> : tensor<3x5xf32>
  %f = tensor.extract_slice %x[0, 0] [5, 12] [1, 1] : !x to tensor<5x12xf32>
  %half = tensor.expand_shape %f [[0], [1, 2, 3]] output_shape [5, 2, 2, 3] : tensor<5x12xf32> into tensor<5x2x2x3xf32>
  %d = tensor.concat dim(1) %half, %half : (tensor<5x2x2x3xf32>, tensor<5x2x2x3xf32>) -> tensor<5x4x2x3xf32>
  %sum = linalg.generic {
      indexing_maps = [affine_map<(a, b, c, d) -> (a, b, c, d)>, affine_map<(a, b, c, d) -> (c, b)>],
      iterator_types = ["reduction", "parallel", "parallel", "reduction"]}
      ins(%d : tensor<5x4x2x3xf32>) outs(%zero : tensor<2x4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %s = arith.addf %in, %out : f32
    linalg.yield %s : f32
  } -> tensor<2x4xf32>
  %max = linalg.generic {
      indexing_maps = [affine_map<(a, b, c, d) -> (a, b, c, d)>, affine_map<(a, b, c, d) -> (d, a)>],
      iterator_types = ["parallel", "reduction", "reduction", "parallel"]}
      ins(%d : tensor<5x4x2x3xf32>) outs(%low : tensor<3x5xf32>) {
  ^bb0(%in: f32, %out: f32):
    %m = arith.maximumf %in, %out : f32
    linalg.yield %m : f32
  } -> tensor<3x5xf32>
  return %sum, %max : tensor<2x4xf32>, tensor<3x5xf32>
}

// Cumulative sums by a window, by a triangle, and by halves that interior padding merges.
func.func private @cumulative(%x: !x) -> (!x, !x, tensor<5x5xf32>) {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %e = tensor.empty() : !x
  %start = linalg.fill ins(%zero : f32) outs(%e : !x) -> !x
  %padded = tensor.pad %x low[0, 18] high[0, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %zero : f32
  } : !x to tensor<5x37xf32>
  %shape = tensor.empty() : tensor<1x19xf32>
  %window = linalg.generic {
      indexing_maps = [affine_map<(i, j, a, b) -> (i + a, j + b)>, affine_map<(i, j, a, b) -> (a, b)>,
                       affine_map<(i, j, a, b) -> (i, j)>],
      iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%padded, %shape : tensor<5x37xf32>, tensor<1x19xf32>) outs(%start : !x) {
  ^bb0(%in: f32, %unused: f32, %out: f32):
    %s = arith.addf %out, %in : f32
    linalg.yield %s : f32
  } -> !x
  %et = tensor.empty() : tensor<19x19xf32>
  %upper = linalg.generic {indexing_maps = [#all], iterator_types = ["parallel", "parallel"]}
      outs(%et : tensor<19x19xf32>) {
  ^bb0(%out: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %c = arith.cmpi ule, %i, %j : index
    %s = arith.select %c, %one, %zero : f32
    linalg.yield %s : f32
  } -> tensor<19x19xf32>
  %triangle = linalg.matmul ins(%x, %upper : !x, tensor<19x19xf32>) outs(%start : !x) -> !x
  %z = arith.constant dense<0.0> : tensor<5x5xf32>
  %even = tensor.extract_slice %x[0, 0] [5, 3] [1, 2] : !x to tensor<5x3xf32>
  %left = tensor.extract_slice %x[0, 0] [5, 2] [1, 2] : !x to tensor<5x2xf32>
  %odd = tensor.extract_slice %x[0, 1] [5, 2] [1, 2] : !x to tensor<5x2xf32>
  %pairs = arith.addf %left, %odd : tensor<5x2xf32>
  %a = tensor.insert_slice %even into %z[0, 0] [5, 3] [1, 2] : tensor<5x3xf32> into tensor<5x5xf32>
  %b = tensor.insert_slice %pairs into %z[0, 1] [5, 2] [1, 2] : tensor<5x2xf32> into tensor<5x5xf32>
  %merged = arith.addf %a, %b : tensor<5x5xf32>
  return %window, %triangle, %merged : !x, !x, tensor<5x5xf32>
}

// Windows: named, with strides and dilations, and with the place of each maximum.
func.func private @windows(%x: !x)
    -> (tensor<1x3x17x1xf32>, tensor<1x1x2x6xf32>, tensor<1x1x2x9xi64>, tensor<15xf32>, tensor<2x6xf32>) {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %one = arith.constant -1 : i64
  %x4 = tensor.expand_shape %x [[0, 1], [2, 3]] output_shape [1, 5, 19, 1] : !x into tensor<1x5x19x1xf32>
  %w3 = tensor.empty() : tensor<3x3xf32>
  %e3 = tensor.empty() : tensor<1x3x17x1xf32>
  %v3 = linalg.fill ins(%low : f32) outs(%e3 : tensor<1x3x17x1xf32>) -> tensor<1x3x17x1xf32>
  %max = linalg.pooling_nhwc_max {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>}
      ins(%x4, %w3 : tensor<1x5x19x1xf32>, tensor<3x3xf32>) outs(%v3 : tensor<1x3x17x1xf32>) -> tensor<1x3x17x1xf32>
  %y4 = tensor.expand_shape %x [[0, 1, 2], [3]] output_shape [1, 1, 5, 19] : !x into tensor<1x1x5x19xf32>
  %w2 = tensor.empty() : tensor<2x3xf32>
  %e2 = tensor.empty() : tensor<1x1x2x6xf32>
  %v2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<1x1x2x6xf32>) -> tensor<1x1x2x6xf32>
  %sum = linalg.pooling_nchw_sum {dilations = dense<[2, 1]> : vector<2xi64>, strides = dense<[2, 3]> : vector<2xi64>}
      ins(%y4, %w2 : tensor<1x1x5x19xf32>, tensor<2x3xf32>) outs(%v2 : tensor<1x1x2x6xf32>) -> tensor<1x1x2x6xf32>
  %wm = tensor.empty() : tensor<2x2xf32>
  %em = tensor.empty() : tensor<1x1x2x9xf32>
  %vm = linalg.fill ins(%low : f32) outs(%em : tensor<1x1x2x9xf32>) -> tensor<1x1x2x9xf32>
  %m = linalg.pooling_nchw_max {dilations = dense<1> : vector<2xi64>, strides = dense<2> : vector<2xi64>}
      ins(%y4, %wm : tensor<1x1x5x19xf32>, tensor<2x2xf32>) outs(%vm : tensor<1x1x2x9xf32>) -> tensor<1x1x2x9xf32>
  %ei = tensor.empty() : tensor<1x1x2x9xi64>
  %k0 = linalg.fill ins(%one : i64) outs(%ei : tensor<1x1x2x9xi64>) -> tensor<1x1x2x9xi64>
  %where = linalg.generic {
      indexing_maps = [affine_map<(a, b, c, d, e, f) -> (a, b, c, d)>, affine_map<(a, b, c, d, e, f) -> (e, f)>,
                       affine_map<(a, b, c, d, e, f) -> (a, b, c, d)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]}
      ins(%m, %wm : tensor<1x1x2x9xf32>, tensor<2x2xf32>) outs(%k0 : tensor<1x1x2x9xi64>) {
  ^bb0(%in: f32, %unused: f32, %at: i64):
    %c2 = arith.constant 2 : index
    %c19 = arith.constant 19 : index
    %a = linalg.index 0 : index
    %b = linalg.index 1 : index
    %c = linalg.index 2 : index
    %d = linalg.index 3 : index
    %e = linalg.index 4 : index
    %f = linalg.index 5 : index
    %row2 = arith.muli %c, %c2 : index
    %row = arith.addi %row2, %e : index
    %column2 = arith.muli %d, %c2 : index
    %column = arith.addi %column2, %f : index
    %value = tensor.extract %y4[%a, %b, %row, %column] : tensor<1x1x5x19xf32>
    %first = arith.muli %row, %c19 : index
    %flat = arith.addi %first, %column : index
    %number = arith.index_cast %flat : index to i64
    %is = arith.cmpf oeq, %value, %in : f32
    %next = arith.select %is, %number, %at : i64
    linalg.yield %next : i64
  } -> tensor<1x1x2x9xi64>
  %line = tensor.extract_slice %x[0, 0] [1, 19] [1, 1] : !x to !cols
  %filter = tensor.extract_slice %x[1, 0] [1, 5] [1, 1] : !x to tensor<5xf32>
  %none = arith.constant dense<0.0> : tensor<15xf32>
  %convolved = linalg.conv_1d ins(%line, %filter : !cols, tensor<5xf32>) outs(%none : tensor<15xf32>) -> tensor<15xf32>
  %ew = tensor.empty() : tensor<2x3xf32>
  %least = arith.constant dense<0x7F800000> : tensor<2x6xf32>
  %min = linalg.generic {
      indexing_maps = [affine_map<(i, j, a, b) -> (i * 3 + a, j * 3 + b)>, affine_map<(i, j, a, b) -> (a, b)>,
                       affine_map<(i, j, a, b) -> (i, j)>],
      iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%x, %ew : !x, tensor<2x3xf32>) outs(%least : tensor<2x6xf32>) {
  ^bb0(%in: f32, %unused: f32, %out: f32):
    %s = arith.minimumf %out, %in : f32
    linalg.yield %s : f32
  } -> tensor<2x6xf32>
  return %max, %sum, %where, %convolved, %min
      : tensor<1x3x17x1xf32>, tensor<1x1x2x6xf32>, tensor<1x1x2x9xi64>, tensor<15xf32>, tensor<2x6xf32>
}

// Reductions along a ragged extent, along the other dimension, and along both.
func.func private @ragged(%s: !s)
    -> (tensor<8xf32>, tensor<8xf32>, tensor<1x8xf32>, tensor<f32>, tensor<1x1xf32>, tensor<8xi1>, tensor<8xi1>,
        tensor<i64>, tensor<1xf32>) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %zeros = arith.constant dense<0.0> : tensor<8xf32>
  %lows = arith.constant dense<0xFF800000> : tensor<8xf32>
  %sum = linalg.reduce { arith.addf } ins(%s : !s) outs(%zeros : tensor<8xf32>) dimensions = [0]
  %max = linalg.reduce { arith.maximumf } ins(%s : !s) outs(%lows : tensor<8xf32>) dimensions = [0]
  %e8 = tensor.empty() : tensor<1x8xf32>
  %start = linalg.fill ins(%zero : f32) outs(%e8 : tensor<1x8xf32>) -> tensor<1x8xf32>
  %kept = linalg.generic {indexing_maps = [#all, affine_map<(i, j) -> (0, j)>],
                          iterator_types = ["reduction", "parallel"]}
      ins(%s : !s) outs(%start : tensor<1x8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %t = arith.mulf %in, %in : f32
    %u = arith.addf %t, %out : f32
    linalg.yield %u : f32
  } -> tensor<1x8xf32>
  %none = arith.constant dense<0.0> : tensor<f32>
  %total = linalg.reduce { arith.addf } ins(%s : !s) outs(%none : tensor<f32>) dimensions = [0, 1]
  %most = arith.constant dense<0xFF800000> : tensor<1x1xf32>
  %largest = linalg.generic {indexing_maps = [#all, affine_map<(i, j) -> (0, 0)>],
                             iterator_types = ["reduction", "reduction"]}
      ins(%s : !s) outs(%most : tensor<1x1xf32>) {
  ^bb0(%in: f32, %out: f32):
    %m = arith.maximumf %in, %out : f32
    linalg.yield %m : f32
  } -> tensor<1x1xf32>
  %n = tensor.dim %s, %c0 : !s
  %ei = tensor.empty(%n) : tensor<?x8xi1>
  %positive = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]}
      ins(%s : !s) outs(%ei : tensor<?x8xi1>) {
  ^bb0(%in: f32, %out: i1):
    %p = arith.cmpf ogt, %in, %zero : f32
    linalg.yield %p : i1
  } -> tensor<?x8xi1>
  %false = arith.constant dense<false> : tensor<8xi1>
  %true = arith.constant dense<true> : tensor<8xi1>
  %any = linalg.reduce { arith.ori } ins(%positive : tensor<?x8xi1>) outs(%false : tensor<8xi1>) dimensions = [0]
  %all = linalg.reduce { arith.andi } ins(%positive : tensor<?x8xi1>) outs(%true : tensor<8xi1>) dimensions = [0]
  // The position of each row's maximum, and the sum of these positions.
  %ev = tensor.empty(%n) : tensor<?x1xf32>
  %ek = tensor.empty(%n) : tensor<?x1xi64>
  %k = arith.constant 0 : i64
  %v0 = linalg.fill ins(%low : f32) outs(%ev : tensor<?x1xf32>) -> tensor<?x1xf32>
  %k0 = linalg.fill ins(%k : i64) outs(%ek : tensor<?x1xi64>) -> tensor<?x1xi64>
  %r:2 = linalg.generic {
      indexing_maps = [#all, affine_map<(i, j) -> (i, 0)>, affine_map<(i, j) -> (i, 0)>],
      iterator_types = ["parallel", "reduction"]}
      ins(%s : !s) outs(%v0, %k0 : tensor<?x1xf32>, tensor<?x1xi64>) {
  ^bb0(%in: f32, %best: f32, %at: i64):
    %j = linalg.index 1 : index
    %kj = arith.index_cast %j : index to i64
    %m = arith.maximumf %in, %best : f32
    %more = arith.cmpf ogt, %in, %best : f32
    %next = arith.select %more, %kj, %at : i64
    linalg.yield %m, %next : f32, i64
  } -> (tensor<?x1xf32>, tensor<?x1xi64>)
  %nothing = arith.constant dense<0> : tensor<i64>
  %positions = linalg.reduce { arith.addi } ins(%r#1 : tensor<?x1xi64>) outs(%nothing : tensor<i64>) dimensions = [0, 1]
  %zero1 = arith.constant dense<0.0> : tensor<1xf32>
  %maxima = linalg.reduce { arith.addf } ins(%r#0 : tensor<?x1xf32>) outs(%zero1 : tensor<1xf32>) dimensions = [0]
  return %sum, %max, %kept, %total, %largest, %any, %all, %positions, %maxima
      : tensor<8xf32>, tensor<8xf32>, tensor<1x8xf32>, tensor<f32>, tensor<1x1xf32>, tensor<8xi1>, tensor<8xi1>,
        tensor<i64>, tensor<1xf32>
}

// Control flow reads the position of the maximum, which ends the loop and selects a branch.
func.func private @greedy(%x: !x, %P: !x) -> (!cols, i64) {
  %c0 = arith.constant 0 : index
  %c5 = arith.constant 5 : index
  %none = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %rounds = arith.constant 6 : i64
  %end = arith.constant 7 : i64
  %middle = arith.constant 9 : i64
  %low = arith.constant dense<0xFF800000> : tensor<f32>
  %k0 = arith.constant dense<0> : tensor<i64>
  %first = tensor.extract_slice %x[0, 0] [1, 19] [1, 1] : !x to !cols
  %r:4 = scf.while (%v = %first, %n = %none, %sum = %none) : (!cols, i64, i64) -> (!cols, i64, i64, i64) {
    %best:2 = linalg.generic {
        indexing_maps = [affine_map<(j) -> (j)>, affine_map<(j) -> ()>, affine_map<(j) -> ()>],
        iterator_types = ["reduction"]}
        ins(%v : !cols) outs(%low, %k0 : tensor<f32>, tensor<i64>) {
    ^bb0(%in: f32, %max: f32, %at: i64):
      %j = linalg.index 0 : index
      %kj = arith.index_cast %j : index to i64
      %m = arith.maximumf %in, %max : f32
      %more = arith.cmpf ogt, %in, %max : f32
      %next = arith.select %more, %kj, %at : i64
      linalg.yield %m, %next : f32, i64
    } -> (tensor<f32>, tensor<i64>)
    %k = tensor.extract %best#1[] : tensor<i64>
    %s = arith.addi %sum, %k : i64
    %other = arith.cmpi ne, %k, %end : i64
    %early = arith.cmpi slt, %n, %rounds : i64
    %go = arith.andi %other, %early : i1
    scf.condition(%go) %v, %n, %s, %k : !cols, i64, i64, i64
  } do {
  ^bb0(%v: !cols, %n: i64, %sum: i64, %k: i64):
    %at = arith.index_cast %k : i64 to index
    %i = arith.remui %at, %c5 : index
    %row = tensor.extract_slice %P[%i, 0] [1, 19] [1, 1] : !x to !cols
    %low_half = arith.cmpi slt, %k, %middle : i64
    %w = scf.if %low_half -> (!cols) {
      %a = arith.addf %v, %row : !cols
      scf.yield %a : !cols
    } else {
      %b = arith.subf %row, %v : !cols
      scf.yield %b : !cols
    }
    %m = arith.addi %n, %one : i64
    scf.yield %w, %m, %sum : !cols, i64, i64
  }
  return %r#0, %r#2 : !cols, i64
}
