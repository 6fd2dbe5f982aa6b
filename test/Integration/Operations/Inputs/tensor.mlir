// The tensor dialect.

// A cast to the same type does nothing.
// Ops: tensor.extract_slice tensor.collapse_shape tensor.expand_shape tensor.concat tensor.cast
// How: a view
func.func private @views(%x4x6: tensor<4x6xf32>, %W4x6: tensor<4x6xf32>)
    -> (tensor<2x3xf32>, tensor<24xf32>, tensor<2x2x6xf32>, tensor<4x12xf32>, tensor<4x6xf32>) {
  %a = tensor.extract_slice %x4x6[1, 0] [2, 3] [1, 2] : tensor<4x6xf32> to tensor<2x3xf32>
  %b = tensor.collapse_shape %x4x6 [[0, 1]] : tensor<4x6xf32> into tensor<24xf32>
  %c = tensor.expand_shape %x4x6 [[0, 1], [2]] output_shape [2, 2, 6] : tensor<4x6xf32> into tensor<2x2x6xf32>
  %d = tensor.concat dim(1) %x4x6, %W4x6 : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x12xf32>
  %e = tensor.cast %W4x6 : tensor<4x6xf32> to tensor<4x6xf32>
  return %a, %b, %c, %d, %e : tensor<2x3xf32>, tensor<24xf32>, tensor<2x2x6xf32>, tensor<4x12xf32>, tensor<4x6xf32>
}

// Ops: tensor.insert_slice
// How: a view of both tensors; with strides, views that are interleaved
func.func private @insert_slice(%x4x6: tensor<4x6xf32>, %W4x6: tensor<4x6xf32>)
    -> (tensor<4x6xf32>, tensor<4x6xf32>) {
  %a = tensor.extract_slice %x4x6[0, 0] [2, 3] [1, 1] : tensor<4x6xf32> to tensor<2x3xf32>
  %b = tensor.insert_slice %a into %W4x6[1, 2] [2, 3] [1, 1] : tensor<2x3xf32> into tensor<4x6xf32>
  %c = tensor.insert_slice %a into %W4x6[1, 1] [2, 3] [2, 2] : tensor<2x3xf32> into tensor<4x6xf32>
  return %b, %c : tensor<4x6xf32>, tensor<4x6xf32>
}

// Ops: tensor.insert tensor.insert_slice
// How: at computed positions a choice of the old or the new element, or a write in place
func.func private @inserts(%x4x6: tensor<4x6xf32>, %W4x6: tensor<4x6xf32>, %p: index, %at: tensor<2xi64>)
    -> (tensor<4x6xf32>, tensor<4x6xf32>) {
  %c0 = arith.constant 0 : index
  %k = tensor.extract %at[%c0] : tensor<2xi64>
  %i = arith.index_cast %k : i64 to index
  %f = tensor.extract %W4x6[%c0, %c0] : tensor<4x6xf32>
  %row = tensor.extract_slice %W4x6[1, 0] [1, 6] [1, 1] : tensor<4x6xf32> to tensor<6xf32>
  %a = tensor.insert %f into %x4x6[%p, %i] : tensor<4x6xf32>
  %b = tensor.insert_slice %row into %x4x6[%i, 0] [1, 6] [1, 1] : tensor<6xf32> into tensor<4x6xf32>
  return %a, %b : tensor<4x6xf32>, tensor<4x6xf32>
}

// Ops: tensor.extract_slice
// How: of a computed size, all rows that there can be, of which those there are count
func.func private @prefixes(%x4x6: tensor<4x6xf32>, %p: index, %at: tensor<2xi64>)
    -> (tensor<6xf32>, tensor<4x6xf32>) {
  %c0 = arith.constant 0 : index
  %k = tensor.extract %at[%c0] : tensor<2xi64>
  %i = arith.index_cast %k : i64 to index
  %zero = arith.constant dense<0.0> : tensor<6xf32>
  %a = tensor.extract_slice %x4x6[0, 0] [%i, 6] [1, 1] : tensor<4x6xf32> to tensor<?x6xf32>
  %b = linalg.reduce ins(%a : tensor<?x6xf32>) outs(%zero : tensor<6xf32>) dimensions = [0]
      (%e: f32, %acc: f32) {
    %sum = arith.addf %e, %acc : f32
    linalg.yield %sum : f32
  }
  %c = tensor.extract_slice %x4x6[1, 0] [%p, 6] [1, 1] : tensor<4x6xf32> to tensor<?x6xf32>
  %n = tensor.dim %c, %c0 : tensor<?x6xf32>
  %init = tensor.empty(%n) : tensor<?x6xf32>
  %d = linalg.exp ins(%c : tensor<?x6xf32>) outs(%init : tensor<?x6xf32>) -> tensor<?x6xf32>
  %f = tensor.insert_slice %d into %x4x6[0, 0] [%p, 6] [1, 1] : tensor<?x6xf32> into tensor<4x6xf32>
  return %b, %f : tensor<6xf32>, tensor<4x6xf32>
}

// Ops: tensor.extract tensor.extract_slice
// How: a read, at a position that may be computed
func.func private @picks(%x4x6: tensor<4x6xf32>, %W4x6: tensor<4x6xf32>, %p: index, %at: tensor<2xi64>)
    -> (tensor<1x3xf32>, tensor<6xf32>, tensor<2xf32>) {
  %c0 = arith.constant 0 : index
  %k = tensor.extract %at[%c0] : tensor<2xi64>
  %i = arith.index_cast %k : i64 to index
  %c = tensor.extract_slice %x4x6[%i, %p] [1, 3] [1, 1] : tensor<4x6xf32> to tensor<1x3xf32>
  %d = tensor.extract_slice %W4x6[%i, 0] [1, 6] [1, 1] : tensor<4x6xf32> to tensor<6xf32>
  %e = tensor.extract %x4x6[%p, %i] : tensor<4x6xf32>
  %f = tensor.extract %W4x6[%i, %p] : tensor<4x6xf32>
  %g = tensor.from_elements %e, %f : tensor<2xf32>
  return %c, %d, %g : tensor<1x3xf32>, tensor<6xf32>, tensor<2xf32>
}

// Ops: tensor.gather tensor.generate
// How: one more parallel loop, with a read at computed positions
func.func private @gather(%x4x6: tensor<4x6xf32>, %W4x6: tensor<4x6xf32>, %at: tensor<2xi64>)
    -> (tensor<2x6xf32>, tensor<2x4x1xf32>, tensor<3x2xf32>) {
  %i = arith.index_cast %at : tensor<2xi64> to tensor<2xindex>
  %j = tensor.expand_shape %i [[0, 1]] output_shape [2, 1] : tensor<2xindex> into tensor<2x1xindex>
  %a = tensor.gather %W4x6[%j] gather_dims([0]) : (tensor<4x6xf32>, tensor<2x1xindex>) -> tensor<2x6xf32>
  %b = tensor.gather %x4x6[%j] gather_dims([1]) : (tensor<4x6xf32>, tensor<2x1xindex>) -> tensor<2x4x1xf32>
  %g = tensor.generate {
  ^bb0(%r: index, %s: index):
    %t = arith.addi %r, %s : index
    %v = tensor.extract %x4x6[%t, %s] : tensor<4x6xf32>
    tensor.yield %v : f32
  } : tensor<3x2xf32>
  return %a, %b, %g : tensor<2x6xf32>, tensor<2x4x1xf32>, tensor<3x2xf32>
}

// Ops: tensor.pad tensor.yield
// How: a view, of a filled tensor, too
func.func private @pad(%x4x6: tensor<4x6xf32>, %f: f32)
    -> (tensor<7x9xf32>) {
  %p = tensor.pad %x4x6 low[1, 0] high[2, 3] {
  ^bb0(%r: index, %s: index):
    tensor.yield %f : f32
  } : tensor<4x6xf32> to tensor<7x9xf32>
  return %p : tensor<7x9xf32>
}

// Ops: tensor.from_elements tensor.splat tensor.empty
// How: made in the code that reads it
func.func private @made(%x: tensor<19xf32>, %f: f32, %g: f32, %i: i64)
    -> (tensor<2x2xf32>, tensor<3x4xi64>, tensor<19xf32>) {
  %a = tensor.from_elements %f, %g, %g, %f : tensor<2x2xf32>
  %b = tensor.splat %i : tensor<3x4xi64>
  %e = tensor.empty() : tensor<19xf32>
  %d = linalg.exp ins(%x : tensor<19xf32>) outs(%e : tensor<19xf32>) -> tensor<19xf32>
  return %a, %b, %d : tensor<2x2xf32>, tensor<3x4xi64>, tensor<19xf32>
}

// Ops: tensor.dim
// How: a constant; the rows of a ragged tensor, as the extent of another one
// Only: linearize
func.func private @extents(%x4x6: tensor<4x6xf32>, %rows: tensor<?x6xf32>)
    -> (tensor<6xf32>, index) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x4x6, %c0 : tensor<4x6xf32>
  %m = tensor.dim %rows, %c0 : tensor<?x6xf32>
  %e = tensor.empty(%m) : tensor<?x6xf32>
  %t = linalg.exp ins(%rows : tensor<?x6xf32>) outs(%e : tensor<?x6xf32>) -> tensor<?x6xf32>
  %zero = arith.constant dense<0.0> : tensor<6xf32>
  %y = linalg.reduce { arith.addf } ins(%t : tensor<?x6xf32>) outs(%zero : tensor<6xf32>) dimensions = [0]
  return %y, %n : tensor<6xf32>, index
}

// Ops: tensor.rank
// How: a constant
func.func private @rank(%x4x6: tensor<4x6xf32>)
    -> (index) {
  %n = tensor.rank %x4x6 : tensor<4x6xf32>
  return %n : index
}

// Ops: tensor.bitcast
// How: elementwise
func.func private @same_bits(%n: tensor<19xi32>, %W: tensor<19xf32>)
    -> (tensor<19xf32>, tensor<19xi32>) {
  %a = tensor.bitcast %n : tensor<19xi32> to tensor<19xf32>
  %b = tensor.bitcast %W : tensor<19xf32> to tensor<19xi32>
  return %a, %b : tensor<19xf32>, tensor<19xi32>
}

// Ops: tensor.reshape
// How: a view, if its extents are known
func.func private @reshape(%x4x6: tensor<4x6xf32>)
    -> (tensor<3x8xf32>) {
  %shape = arith.constant dense<[3, 8]> : tensor<2xi64>
  %r = tensor.reshape %x4x6(%shape) : (tensor<4x6xf32>, tensor<2xi64>) -> tensor<3x8xf32>
  return %r : tensor<3x8xf32>
}
