// Reads at data-dependent indices. Each result has its own reference in
// check_reads.py.

!row = tensor<19xf32>
!x = tensor<9x19xf32>
#id = affine_map<(i, j) -> (i)>
#out = affine_map<(i, j) -> (i, j)>
#columns = affine_map<(i, j) -> (j)>
#rows = affine_map<(i, j) -> (i)>
#all = affine_map<(i) -> (i)>

func.func @main(
    %x: !x {batch.name = "x"},
    %ids: tensor<4xi64> {batch.name = "ids"},
    %order: tensor<19xi64> {batch.name = "order"},
    %words: tensor<8xi64> {batch.name = "words"},
    %n: index {batch.name = "n"},
    %E: tensor<?x19xf32> {batch.shared = "E"},
    %P: tensor<7x19xf32> {batch.shared = "P"})
    -> (!row {batch.name = "kept"}, !row {batch.name = "dropped"},
        tensor<3x5xf32> {batch.name = "window"},
        tensor<2x4xf32> {batch.name = "strided"},
        !row {batch.name = "computed"}, tensor<1xf32> {batch.name = "element"},
        tensor<2x3xf32> {batch.name = "several"},
        tensor<4x19xf32> {batch.name = "body"},
        tensor<4x19xf32> {batch.name = "clamped"},
        tensor<4x1x19xf32> {batch.name = "gathered"},
        tensor<4xf32> {batch.name = "pairs"},
        tensor<24xf32> {batch.name = "padded"},
        tensor<3x4xf32> {batch.name = "generated"},
        !row {batch.name = "same"}, !row {batch.name = "summed"},
        !row {batch.name = "permuted"}, !row {batch.name = "walked"})
    attributes {batch.entry} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %zero = arith.constant 0.0 : f32
  %half = arith.constant 0.5 : f32
  %a64 = tensor.extract %ids[%c0] : tensor<4xi64>
  %b64 = tensor.extract %ids[%c1] : tensor<4xi64>
  %a = arith.index_cast %a64 : i64 to index
  %b = arith.index_cast %b64 : i64 to index

  // Slices: with the unit dimension, without it, at two positions, with strides.
  %kept1 = tensor.extract_slice %P[%a, 0] [1, 19] [1, 1] : tensor<7x19xf32> to tensor<1x19xf32>
  %kept = tensor.collapse_shape %kept1 [[0, 1]] : tensor<1x19xf32> into !row
  %dropped = tensor.extract_slice %E[%b, 0] [1, 19] [1, 1] : tensor<?x19xf32> to !row
  %window = tensor.extract_slice %x[%a, %b] [3, 5] [1, 1] : !x to tensor<3x5xf32>
  %strided = tensor.extract_slice %x[%a, %b] [2, 4] [2, 3] : !x to tensor<2x4xf32>
  %c = arith.constant dense<3.0> : !x
  %y = arith.divf %x, %c : !x
  %computed = tensor.extract_slice %y[%b, 0] [1, 19] [1, 1] : !x to !row
  %e = tensor.extract %E[%a, %b] : tensor<?x19xf32>
  %element = tensor.from_elements %e : tensor<1xf32>
  %several = tensor.extract_slice %E[%a, %b] [2, 3] [1, 1] : tensor<?x19xf32> to tensor<2x3xf32>

  // Reads in the bodies of structured operations.
  %empty = tensor.empty() : tensor<4x19xf32>
  %body = linalg.generic {indexing_maps = [#id, #out], iterator_types = ["parallel", "parallel"]}
      ins(%ids : tensor<4xi64>) outs(%empty : tensor<4x19xf32>) {
  ^bb0(%id: i64, %o: f32):
    %i = arith.index_cast %id : i64 to index
    %j = linalg.index 1 : index
    %v = tensor.extract %E[%i, %j] : tensor<?x19xf32>
    linalg.yield %v : f32
  } -> tensor<4x19xf32>
  %clamped = linalg.generic {indexing_maps = [#id, #out], iterator_types = ["parallel", "parallel"]}
      ins(%ids : tensor<4xi64>) outs(%empty : tensor<4x19xf32>) {
  ^bb0(%id: i64, %o: f32):
    %last = arith.constant 2 : i64
    %first = arith.constant 1 : i64
    %low = arith.maxsi %id, %first : i64
    %high = arith.minsi %low, %last : i64
    %i = arith.index_cast %high : i64 to index
    %j = linalg.index 1 : index
    %v = tensor.extract %x[%i, %j] : !x
    %w = arith.addf %v, %v : f32
    linalg.yield %w : f32
  } -> tensor<4x19xf32>

  // Other operations of the tensor dialect.
  %indices = arith.index_cast %ids : tensor<4xi64> to tensor<4xindex>
  %indices1 = tensor.expand_shape %indices [[0, 1]] output_shape [4, 1] : tensor<4xindex> into tensor<4x1xindex>
  %gathered = tensor.gather %x[%indices1] gather_dims([0]) : (!x, tensor<4x1xindex>) -> tensor<4x1x19xf32>
  %twice = tensor.concat dim(1) %indices1, %indices1 : (tensor<4x1xindex>, tensor<4x1xindex>) -> tensor<4x2xindex>
  %pairs = tensor.gather %P[%twice] gather_dims([0, 1]) : (tensor<7x19xf32>, tensor<4x2xindex>) -> tensor<4xf32>
  %padded = tensor.pad %dropped low[2] high[3] {
  ^bb0(%i: index):
    tensor.yield %half : f32
  } : !row to tensor<24xf32>
  %generated = tensor.generate {
  ^bb0(%i: index, %j: index):
    %s = arith.addi %i, %j : index
    %v = tensor.extract %x[%s, %j] : !x
    tensor.yield %v : f32
  } : tensor<3x4xf32>
  %same = tensor.cast %kept : !row to !row

  // A sum of rows, and an index that differs from column to column.
  %fresh = tensor.empty() : !row
  %start = linalg.fill ins(%zero : f32) outs(%fresh : !row) -> !row
  %summed = linalg.generic {indexing_maps = [#rows, #columns], iterator_types = ["reduction", "parallel"]}
      ins(%ids : tensor<4xi64>) outs(%start : !row) {
  ^bb0(%id: i64, %sum: f32):
    %i = arith.index_cast %id : i64 to index
    %j = linalg.index 1 : index
    %v = tensor.extract %P[%i, %j] : tensor<7x19xf32>
    %next = arith.addf %v, %sum : f32
    linalg.yield %next : f32
  } -> !row
  %permuted = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel"]}
      ins(%order : tensor<19xi64>) outs(%fresh : !row) {
  ^bb0(%id: i64, %o: f32):
    %j = arith.index_cast %id : i64 to index
    %v = tensor.extract %x[%c2, %j] : !x
    linalg.yield %v : f32
  } -> !row

  // A loop counter selects a word, and the word selects a row.
  %walked = scf.for %t = %c0 to %n step %c1 iter_args(%sum = %start) -> (!row) {
    %w64 = tensor.extract %words[%t] : tensor<8xi64>
    %w = arith.index_cast %w64 : i64 to index
    %r1 = tensor.extract_slice %E[%w, 0] [1, 19] [1, 1] : tensor<?x19xf32> to tensor<1x19xf32>
    %r = tensor.collapse_shape %r1 [[0, 1]] : tensor<1x19xf32> into !row
    %next = arith.addf %sum, %r : !row
    scf.yield %next : !row
  }
  return %kept, %dropped, %window, %strided, %computed, %element, %several,
      %body, %clamped, %gathered, %pairs, %padded, %generated, %same, %summed,
      %permuted, %walked
      : !row, !row, tensor<3x5xf32>, tensor<2x4xf32>, !row, tensor<1xf32>,
        tensor<2x3xf32>, tensor<4x19xf32>, tensor<4x19xf32>, tensor<4x1x19xf32>,
        tensor<4xf32>, tensor<24xf32>, tensor<3x4xf32>, !row, !row, !row, !row
}
