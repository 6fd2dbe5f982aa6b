// The linalg dialect: elementwise operations, copies, reductions, products.

// Ops: linalg.abs linalg.ceil linalg.erf linalg.exp linalg.floor linalg.log linalg.negf
//   linalg.reciprocal linalg.round linalg.rsqrt linalg.sqrt linalg.square linalg.tanh linalg.copy
//   linalg.add linalg.sub linalg.mul linalg.div linalg.max linalg.min linalg.powf
//   linalg.div_unsigned linalg.select linalg.elementwise
// How: one more parallel loop
func.func private @elementwise(%x: tensor<19xf32>, %W: tensor<19xf32>, %n: tensor<19xi32>, %K: tensor<19xi32>)
    -> (tensor<19xf32>, tensor<19xf32>, tensor<19xf32>, tensor<19xf32>, tensor<19xf32>, tensor<19xf32>, tensor<19xf32>, tensor<19xf32>, tensor<19xf32>, tensor<19xf32>, tensor<19xf32>, tensor<19xf32>, tensor<19xf32>, tensor<19xf32>, tensor<19xf32>, tensor<19xf32>, tensor<19xf32>, tensor<19xf32>, tensor<19xf32>, tensor<19xf32>, tensor<19xf32>, tensor<19xi32>, tensor<19xf32>, tensor<19xf32>) {
  %e = tensor.empty() : tensor<19xf32>
  %en = tensor.empty() : tensor<19xi32>
  %c = arith.cmpf olt, %x, %W : tensor<19xf32>
  %0 = linalg.abs ins(%x : tensor<19xf32>) outs(%e : tensor<19xf32>) -> tensor<19xf32>
  %1 = linalg.ceil ins(%x : tensor<19xf32>) outs(%e : tensor<19xf32>) -> tensor<19xf32>
  %2 = linalg.erf ins(%x : tensor<19xf32>) outs(%e : tensor<19xf32>) -> tensor<19xf32>
  %3 = linalg.exp ins(%x : tensor<19xf32>) outs(%e : tensor<19xf32>) -> tensor<19xf32>
  %4 = linalg.floor ins(%x : tensor<19xf32>) outs(%e : tensor<19xf32>) -> tensor<19xf32>
  %5 = linalg.log ins(%x : tensor<19xf32>) outs(%e : tensor<19xf32>) -> tensor<19xf32>
  %6 = linalg.negf ins(%x : tensor<19xf32>) outs(%e : tensor<19xf32>) -> tensor<19xf32>
  %7 = linalg.reciprocal ins(%x : tensor<19xf32>) outs(%e : tensor<19xf32>) -> tensor<19xf32>
  %8 = linalg.round ins(%x : tensor<19xf32>) outs(%e : tensor<19xf32>) -> tensor<19xf32>
  %9 = linalg.rsqrt ins(%x : tensor<19xf32>) outs(%e : tensor<19xf32>) -> tensor<19xf32>
  %10 = linalg.sqrt ins(%x : tensor<19xf32>) outs(%e : tensor<19xf32>) -> tensor<19xf32>
  %11 = linalg.square ins(%x : tensor<19xf32>) outs(%e : tensor<19xf32>) -> tensor<19xf32>
  %12 = linalg.tanh ins(%x : tensor<19xf32>) outs(%e : tensor<19xf32>) -> tensor<19xf32>
  %13 = linalg.copy ins(%x : tensor<19xf32>) outs(%e : tensor<19xf32>) -> tensor<19xf32>
  %14 = linalg.add ins(%x, %W : tensor<19xf32>, tensor<19xf32>) outs(%e : tensor<19xf32>) -> tensor<19xf32>
  %15 = linalg.sub ins(%x, %W : tensor<19xf32>, tensor<19xf32>) outs(%e : tensor<19xf32>) -> tensor<19xf32>
  %16 = linalg.mul ins(%x, %W : tensor<19xf32>, tensor<19xf32>) outs(%e : tensor<19xf32>) -> tensor<19xf32>
  %17 = linalg.div ins(%x, %W : tensor<19xf32>, tensor<19xf32>) outs(%e : tensor<19xf32>) -> tensor<19xf32>
  %18 = linalg.max ins(%x, %W : tensor<19xf32>, tensor<19xf32>) outs(%e : tensor<19xf32>) -> tensor<19xf32>
  %19 = linalg.min ins(%x, %W : tensor<19xf32>, tensor<19xf32>) outs(%e : tensor<19xf32>) -> tensor<19xf32>
  %20 = linalg.powf ins(%x, %W : tensor<19xf32>, tensor<19xf32>) outs(%e : tensor<19xf32>) -> tensor<19xf32>
  %21 = linalg.div_unsigned ins(%n, %K : tensor<19xi32>, tensor<19xi32>) outs(%en : tensor<19xi32>) -> tensor<19xi32>
  %22 = linalg.select ins(%c, %x, %W : tensor<19xi1>, tensor<19xf32>, tensor<19xf32>) outs(%e : tensor<19xf32>) -> tensor<19xf32>
  %23 = linalg.elementwise kind=#linalg.elementwise_kind<sub> ins(%x, %W : tensor<19xf32>, tensor<19xf32>) outs(%e : tensor<19xf32>) -> tensor<19xf32>
  return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23 : tensor<19xf32>, tensor<19xf32>, tensor<19xf32>, tensor<19xf32>, tensor<19xf32>, tensor<19xf32>, tensor<19xf32>, tensor<19xf32>, tensor<19xf32>, tensor<19xf32>, tensor<19xf32>, tensor<19xf32>, tensor<19xf32>, tensor<19xf32>, tensor<19xf32>, tensor<19xf32>, tensor<19xf32>, tensor<19xf32>, tensor<19xf32>, tensor<19xf32>, tensor<19xf32>, tensor<19xi32>, tensor<19xf32>, tensor<19xf32>
}

// Ops: linalg.transpose linalg.broadcast linalg.fill linalg.map
// How: one more parallel loop; one that only moves elements is a view
func.func private @moved(%x4x6: tensor<4x6xf32>, %f: f32, %x: tensor<19xf32>)
    -> (tensor<6x4xf32>, tensor<3x19xf32>, tensor<19xf32>, tensor<19xf32>) {
  %ea = tensor.empty() : tensor<6x4xf32>
  %eb = tensor.empty() : tensor<3x19xf32>
  %ec = tensor.empty() : tensor<19xf32>
  %a = linalg.transpose ins(%x4x6 : tensor<4x6xf32>) outs(%ea : tensor<6x4xf32>) permutation = [1, 0]
  %b = linalg.broadcast ins(%x : tensor<19xf32>) outs(%eb : tensor<3x19xf32>) dimensions = [0]
  %c = linalg.fill ins(%f : f32) outs(%ec : tensor<19xf32>) -> tensor<19xf32>
  %d = linalg.map { math.exp } ins(%x : tensor<19xf32>) outs(%ec : tensor<19xf32>)
  return %a, %b, %c, %d : tensor<6x4xf32>, tensor<3x19xf32>, tensor<19xf32>, tensor<19xf32>
}

// Ops: linalg.generic linalg.index linalg.yield linalg.reduce
// How: one more parallel loop
func.func private @bodies(%x4x6: tensor<4x6xf32>, %W4x6: tensor<4x6xf32>)
    -> (tensor<4x6xf32>, tensor<4xf32>, tensor<f32>, tensor<i64>) {
  %e = tensor.empty() : tensor<4x6xf32>
  %a = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%x4x6, %W4x6 : tensor<4x6xf32>, tensor<4x6xf32>) outs(%e : tensor<4x6xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %i = linalg.index 1 : index
    %k = arith.index_cast %i : index to i64
    %g = arith.sitofp %k : i64 to f32
    %r = math.fma %p, %q, %g : f32
    linalg.yield %r : f32
  } -> tensor<4x6xf32>
  %zero = arith.constant dense<0.0> : tensor<4xf32>
  %b = linalg.reduce { arith.addf } ins(%x4x6 : tensor<4x6xf32>) outs(%zero : tensor<4xf32>) dimensions = [1]
  %low = arith.constant dense<0xFF800000> : tensor<f32>
  %none = arith.constant dense<0> : tensor<i64>
  %m:2 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> ()>, affine_map<(i, j) -> ()>], iterator_types = ["reduction", "reduction"]}
      ins(%x4x6 : tensor<4x6xf32>) outs(%low, %none : tensor<f32>, tensor<i64>) {
  ^bb0(%p: f32, %best: f32, %at: i64):
    %i = linalg.index 1 : index
    %k = arith.index_cast %i : index to i64
    %g = arith.maximumf %p, %best : f32
    %c = arith.cmpf ogt, %p, %best : f32
    %r = arith.select %c, %k, %at : i64
    linalg.yield %g, %r : f32, i64
  } -> (tensor<f32>, tensor<i64>)
  return %a, %b, %m#0, %m#1 : tensor<4x6xf32>, tensor<4xf32>, tensor<f32>, tensor<i64>
}

// Ops: linalg.dot linalg.matvec linalg.vecmat linalg.matmul linalg.batch_matmul linalg.batch_matvec
//   linalg.batch_vecmat linalg.batch_reduce_matmul linalg.mmt4d linalg.batch_mmt4d linalg.contract
// How: one more parallel loop; with a parameter, one product for all tasks
func.func private @products(%x: tensor<19xf32>, %W: tensor<19xf32>, %W5x19: tensor<5x19xf32>, %x5: tensor<5xf32>, %x4x6: tensor<4x6xf32>, %W6x5: tensor<6x5xf32>, %x2x4x6: tensor<2x4x6xf32>, %W2x6x5: tensor<2x6x5xf32>, %W2x4x6: tensor<2x4x6xf32>, %x2x6: tensor<2x6xf32>, %x2x3x4x5: tensor<2x3x4x5xf32>, %W3x3x2x5: tensor<3x3x2x5xf32>, %x2x2x3x4x5: tensor<2x2x3x4x5xf32>, %W2x3x3x2x5: tensor<2x3x3x2x5xf32>)
    -> (tensor<f32>, tensor<5xf32>, tensor<19xf32>, tensor<4x5xf32>, tensor<2x4x5xf32>, tensor<2x4xf32>, tensor<2x5xf32>, tensor<4x5xf32>, tensor<2x3x4x2xf32>, tensor<2x2x3x4x2xf32>, tensor<4x5xf32>) {
  %z_dot = arith.constant dense<0.0> : tensor<f32>
  %z_matvec = arith.constant dense<0.0> : tensor<5xf32>
  %z_vecmat = arith.constant dense<0.0> : tensor<19xf32>
  %z_matmul = arith.constant dense<0.0> : tensor<4x5xf32>
  %z_batch_matmul = arith.constant dense<0.0> : tensor<2x4x5xf32>
  %z_batch_matvec = arith.constant dense<0.0> : tensor<2x4xf32>
  %z_batch_vecmat = arith.constant dense<0.0> : tensor<2x5xf32>
  %z_batch_reduce_matmul = arith.constant dense<0.0> : tensor<4x5xf32>
  %z_mmt4d = arith.constant dense<0.0> : tensor<2x3x4x2xf32>
  %z_batch_mmt4d = arith.constant dense<0.0> : tensor<2x2x3x4x2xf32>
  %0 = linalg.dot ins(%x, %W : tensor<19xf32>, tensor<19xf32>) outs(%z_dot : tensor<f32>) -> tensor<f32>
  %1 = linalg.matvec ins(%W5x19, %x : tensor<5x19xf32>, tensor<19xf32>) outs(%z_matvec : tensor<5xf32>) -> tensor<5xf32>
  %2 = linalg.vecmat ins(%x5, %W5x19 : tensor<5xf32>, tensor<5x19xf32>) outs(%z_vecmat : tensor<19xf32>) -> tensor<19xf32>
  %3 = linalg.matmul ins(%x4x6, %W6x5 : tensor<4x6xf32>, tensor<6x5xf32>) outs(%z_matmul : tensor<4x5xf32>) -> tensor<4x5xf32>
  %4 = linalg.batch_matmul ins(%x2x4x6, %W2x6x5 : tensor<2x4x6xf32>, tensor<2x6x5xf32>) outs(%z_batch_matmul : tensor<2x4x5xf32>) -> tensor<2x4x5xf32>
  %5 = linalg.batch_matvec ins(%W2x4x6, %x2x6 : tensor<2x4x6xf32>, tensor<2x6xf32>) outs(%z_batch_matvec : tensor<2x4xf32>) -> tensor<2x4xf32>
  %6 = linalg.batch_vecmat ins(%x2x6, %W2x6x5 : tensor<2x6xf32>, tensor<2x6x5xf32>) outs(%z_batch_vecmat : tensor<2x5xf32>) -> tensor<2x5xf32>
  %7 = linalg.batch_reduce_matmul ins(%x2x4x6, %W2x6x5 : tensor<2x4x6xf32>, tensor<2x6x5xf32>) outs(%z_batch_reduce_matmul : tensor<4x5xf32>) -> tensor<4x5xf32>
  %8 = linalg.mmt4d ins(%x2x3x4x5, %W3x3x2x5 : tensor<2x3x4x5xf32>, tensor<3x3x2x5xf32>) outs(%z_mmt4d : tensor<2x3x4x2xf32>) -> tensor<2x3x4x2xf32>
  %9 = linalg.batch_mmt4d ins(%x2x2x3x4x5, %W2x3x3x2x5 : tensor<2x2x3x4x5xf32>, tensor<2x3x3x2x5xf32>) outs(%z_batch_mmt4d : tensor<2x2x3x4x2xf32>) -> tensor<2x2x3x4x2xf32>
  %10 = linalg.contract indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>] ins(%x4x6, %W6x5 : tensor<4x6xf32>, tensor<6x5xf32>) outs(%z_matmul : tensor<4x5xf32>) -> tensor<4x5xf32>
  return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10 : tensor<f32>, tensor<5xf32>, tensor<19xf32>, tensor<4x5xf32>, tensor<2x4x5xf32>, tensor<2x4xf32>, tensor<2x5xf32>, tensor<4x5xf32>, tensor<2x3x4x2xf32>, tensor<2x2x3x4x2xf32>, tensor<4x5xf32>
}

// Ops: linalg.quantized_matmul linalg.quantized_batch_matmul
// How: one more parallel loop
func.func private @quantized(%b4x6: tensor<4x6xi8>, %B6x5: tensor<6x5xi8>, %b2x4x6: tensor<2x4x6xi8>, %B2x6x5: tensor<2x6x5xi8>, %h: i32, %k: i32)
    -> (tensor<4x5xi32>, tensor<2x4x5xi32>) {
  %z0 = arith.constant dense<0> : tensor<4x5xi32>
  %z1 = arith.constant dense<0> : tensor<2x4x5xi32>
  %0 = linalg.quantized_matmul ins(%b4x6, %B6x5, %h, %k : tensor<4x6xi8>, tensor<6x5xi8>, i32, i32) outs(%z0 : tensor<4x5xi32>) -> tensor<4x5xi32>
  %1 = linalg.quantized_batch_matmul ins(%b2x4x6, %B2x6x5, %h, %k : tensor<2x4x6xi8>, tensor<2x6x5xi8>, i32, i32) outs(%z1 : tensor<2x4x5xi32>) -> tensor<2x4x5xi32>
  return %0, %1 : tensor<4x5xi32>, tensor<2x4x5xi32>
}

// Ops: linalg.softmax
// How: maximum, exponential, sum and quotient, each with one more parallel loop
func.func private @softmax(%x4x6: tensor<4x6xf32>)
    -> (tensor<4x6xf32>) {
  %e = tensor.empty() : tensor<4x6xf32>
  %s = linalg.softmax dimension(1) ins(%x4x6 : tensor<4x6xf32>) outs(%e : tensor<4x6xf32>) -> tensor<4x6xf32>
  return %s : tensor<4x6xf32>
}

// Ops: linalg.fill_rng_2d
// How: one more parallel loop
func.func private @random(%r: i32, %l: f64, %u: f64)
    -> (tensor<4x6xf32>) {
  %e = tensor.empty() : tensor<4x6xf32>
  %s = linalg.fill_rng_2d ins(%l, %u, %r : f64, f64, i32) outs(%e : tensor<4x6xf32>) -> tensor<4x6xf32>
  return %s : tensor<4x6xf32>
}

// Ops: linalg.pack linalg.unpack
// How: a view of a transposition, and padding
func.func private @packed(%x4x6: tensor<4x6xf32>)
    -> (tensor<2x2x2x3xf32>, tensor<4x6xf32>) {
  %e = tensor.empty() : tensor<2x2x2x3xf32>
  %p = linalg.pack %x4x6 inner_dims_pos = [0, 1] inner_tiles = [2, 3] into %e : tensor<4x6xf32> -> tensor<2x2x2x3xf32>
  %f = tensor.empty() : tensor<4x6xf32>
  %q = linalg.unpack %p inner_dims_pos = [0, 1] inner_tiles = [2, 3] into %f : tensor<2x2x2x3xf32> -> tensor<4x6xf32>
  return %p, %q : tensor<2x2x2x3xf32>, tensor<4x6xf32>
}
