// Inserts at data-dependent positions. Each result has its own reference in
// check_inserts.py.

!row = tensor<19xf32>
!x = tensor<9x19xf32>
#in = affine_map<(i, j) -> (i, j)>
#columns = affine_map<(i, j) -> (j)>

func.func @main(
    %x: !x {batch.name = "x"},
    %row: !row {batch.name = "row"},
    %ids: tensor<4xi64> {batch.name = "ids"},
    %words: tensor<8xi64> {batch.name = "words"},
    %n: index {batch.name = "n"},
    %P: tensor<7x19xf32> {batch.shared = "P"})
    -> (!x {batch.name = "dropped"}, !x {batch.name = "kept"},
        !x {batch.name = "window"}, !x {batch.name = "strided"},
        !x {batch.name = "partial"}, !x {batch.name = "element"},
        !x {batch.name = "constant"}, tensor<7x19xf32> {batch.name = "shared"},
        !row {batch.name = "vector"}, !row {batch.name = "spread"},
        !row {batch.name = "summed"}, !x {batch.name = "both"},
        tensor<8xi64> {batch.name = "integers"}, tensor<8xi1> {batch.name = "bits"},
        !x {batch.name = "scattered"}, !x {batch.name = "cache"},
        !row {batch.name = "attended"}, tensor<8xi64> {batch.name = "counts"},
        !x {batch.name = "newer"}, !x {batch.name = "older"},
        !x {batch.name = "two"}, !row {batch.name = "other"})
    attributes {batch.entry} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant 0.0 : f32
  %three = arith.constant dense<3.0> : !row
  %a64 = tensor.extract %ids[%c0] : tensor<4xi64>
  %b64 = tensor.extract %ids[%c1] : tensor<4xi64>
  %a = arith.index_cast %a64 : i64 to index
  %b = arith.index_cast %b64 : i64 to index

  // Inserts of slices: without and with the unit dimension, at two computed positions, with
  // strides, and into some of the columns.
  %dropped = tensor.insert_slice %row into %x[%a, 0] [1, 19] [1, 1] : !row into !x
  %row1 = tensor.expand_shape %row [[0, 1]] output_shape [1, 19] : !row into tensor<1x19xf32>
  %kept = tensor.insert_slice %row1 into %x[%b, 0] [1, 19] [1, 1] : tensor<1x19xf32> into !x
  %w = tensor.extract_slice %x[4, 2] [3, 5] [1, 1] : !x to tensor<3x5xf32>
  %window = tensor.insert_slice %w into %x[%a, %b] [3, 5] [1, 1] : tensor<3x5xf32> into !x
  %v = tensor.extract_slice %x[5, 3] [2, 4] [1, 1] : !x to tensor<2x4xf32>
  %strided = tensor.insert_slice %v into %x[%a, %b] [2, 4] [2, 3] : tensor<2x4xf32> into !x
  %p = tensor.extract_slice %row[6] [5] [1] : !row to tensor<5xf32>
  %partial = tensor.insert_slice %p into %x[%b, 2] [1, 5] [1, 1] : tensor<5xf32> into !x

  // Inserts of elements, and inserts into a constant, a parameter and vectors.
  %e = tensor.extract %row[%a] : !row
  %element = tensor.insert %e into %x[%a, %b] : !x
  %halves = arith.constant dense<0.5> : !x
  %third = arith.divf %row, %three : !row
  %constant = tensor.insert_slice %third into %halves[%b, 0] [1, 19] [1, 1] : !row into !x
  %shared = tensor.insert_slice %third into %P[%a, 0] [1, 19] [1, 1] : !row into tensor<7x19xf32>
  %vector = tensor.insert %e into %row[%b] : !row
  %four = tensor.extract_slice %row[0] [4] [1] : !row to tensor<4xf32>
  %spread = tensor.insert_slice %four into %third[1] [4] [3] : tensor<4xf32> into !row

  // Reads of the tensor after and before an insert, in the same kernel.
  %fresh = tensor.empty() : !row
  %start = linalg.fill ins(%zero : f32) outs(%fresh : !row) -> !row
  %summed = linalg.generic {indexing_maps = [#in, #columns], iterator_types = ["reduction", "parallel"]}
      ins(%constant : !x) outs(%start : !row) {
  ^bb0(%o: f32, %s: f32):
    %t = arith.addf %o, %s : f32
    linalg.yield %t : f32
  } -> !row
  %both = arith.addf %dropped, %x : !x

  // Inserts into tensors of integers and of bits.
  %integers = tensor.insert %a64 into %words[%b] : tensor<8xi64>
  %odd = arith.trunci %words : tensor<8xi64> to tensor<8xi1>
  %isEqual = arith.cmpi eq, %a64, %b64 : i64
  %bits = tensor.insert %isEqual into %odd[%a] : tensor<8xi1>

  // A loop inserts rows. If several rows have the same position, the last one remains.
  %scattered = scf.for %i = %c0 to %c4 step %c1 iter_args(%sum = %x) -> (!x) {
    %id64 = tensor.extract %ids[%i] : tensor<4xi64>
    %id = arith.index_cast %id64 : i64 to index
    %own = tensor.extract_slice %P[%i, 0] [1, 19] [1, 1] : tensor<7x19xf32> to !row
    %next = tensor.insert_slice %own into %sum[%id, 0] [1, 19] [1, 1] : !row into !x
    scf.yield %next : !x
  }

  // A cache that a loop fills and reads.
  %zeros = arith.constant dense<0.0> : !x
  %cache, %attended = scf.for %i = %c0 to %n step %c1 iter_args(%old = %zeros, %h = %row) -> (!x, !row) {
    %new = tensor.insert_slice %h into %old[%i, 0] [1, 19] [1, 1] : !row into !x
    %context = linalg.generic {indexing_maps = [#in, #columns], iterator_types = ["reduction", "parallel"]}
        ins(%new : !x) outs(%start : !row) {
    ^bb0(%o: f32, %s: f32):
      %t = arith.addf %o, %s : f32
      linalg.yield %t : f32
    } -> !row
    %next = arith.divf %context, %three : !row
    scf.yield %new, %next : !x, !row
  }
  %none = arith.constant dense<0> : tensor<8xi64>
  %counts = scf.for %i = %c0 to %n step %c1 iter_args(%old = %none) -> (tensor<8xi64>) {
    %word = tensor.extract %words[%i] : tensor<8xi64>
    %at = arith.index_cast %word : i64 to index
    %count = tensor.extract %old[%at] : tensor<8xi64>
    %one = arith.constant 1 : i64
    %more = arith.addi %count, %one : i64
    %new = tensor.insert %more into %old[%at] : tensor<8xi64>
    scf.yield %new : tensor<8xi64>
  }

  // The tensor before the last insert is a result as well.
  %newer, %older = scf.for %i = %c0 to %n step %c1 iter_args(%new = %x, %old = %zeros) -> (!x, !x) {
    %place = tensor.extract %words[%i] : tensor<8xi64>
    %at = arith.index_cast %place : i64 to index
    %next = tensor.insert_slice %row into %new[%at, 0] [1, 19] [1, 1] : !row into !x
    scf.yield %next, %new : !x, !x
  }

  // Two inserts into one tensor. Only a sum reads the first result. A third insert follows the second.
  %two, %other = scf.for %i = %c0 to %n step %c1 iter_args(%old = %x, %h = %row) -> (!x, !row) {
    %place = tensor.extract %words[%i] : tensor<8xi64>
    %at = arith.index_cast %place : i64 to index
    %one = tensor.insert_slice %h into %old[%at, 0] [1, 19] [1, 1] : !row into !x
    %mine = tensor.insert_slice %row into %old[%i, 0] [1, 19] [1, 1] : !row into !x
    %first = tensor.extract %row[%at] : !row
    %next = tensor.insert %first into %mine[%at, %i] : !x
    %sum = linalg.generic {indexing_maps = [#in, #columns], iterator_types = ["reduction", "parallel"]}
        ins(%one : !x) outs(%start : !row) {
    ^bb0(%o: f32, %s: f32):
      %t = arith.addf %o, %s : f32
      linalg.yield %t : f32
    } -> !row
    %third2 = arith.divf %sum, %three : !row
    scf.yield %next, %third2 : !x, !row
  }
  return %dropped, %kept, %window, %strided, %partial, %element, %constant,
      %shared, %vector, %spread, %summed, %both, %integers, %bits, %scattered,
      %cache, %attended, %counts, %newer, %older, %two, %other
      : !x, !x, !x, !x, !x, !x, !x, tensor<7x19xf32>, !row, !row, !row, !x,
        tensor<8xi64>, tensor<8xi1>, !x, !x, !row, tensor<8xi64>, !x, !x, !x, !row
}
