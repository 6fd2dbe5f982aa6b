// The first t rows of a tensor, where t is an index, and values computed from them.
// check_prefixes.py computes the expected values.

!row = tensor<19xf32>
!rows = tensor<?x19xf32>
!cache = tensor<12x19xf32>

#all = affine_map<(i) -> (i)>
#none = affine_map<(i) -> ()>
#rows = affine_map<(i, j) -> (i, j)>
#columns = affine_map<(i, j) -> (j)>

func.func @main(
    %cache: !cache {batch.name = "cache"},
    %q: !row {batch.name = "q"},
    %ids: tensor<12xi64> {batch.name = "ids"},
    %numbers: tensor<12xi32> {batch.name = "numbers"},
    %t: index {batch.name = "t"},
    %o: tensor<i64> {batch.name = "o"},
    %n: index {batch.name = "n"},
    %E: tensor<?x19xf32> {batch.shared = "E"})
    -> (!row {batch.name = "weighed"}, !row {batch.name = "attended"},
        tensor<f32> {batch.name = "largest"}, tensor<i32> {batch.name = "unsigned"},
        tensor<i64> {batch.name = "where"}, tensor<f32> {batch.name = "last"},
        !row {batch.name = "row"}, !row {batch.name = "window"},
        tensor<15x21xf32> {batch.name = "padded"}, !cache {batch.name = "inserted"},
        !row {batch.name = "looked"}, !row {batch.name = "computed"},
        tensor<12xf32> {batch.name = "both"}, !row {batch.name = "walked"})
    attributes {batch.entry} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %zero = arith.constant 0.0 : f32
  %low = arith.constant -1000.0 : f32
  %empty = arith.constant dense<0.0> : !row
  %none = arith.constant dense<0.0> : tensor<f32>
  %least = arith.constant dense<-1000.0> : tensor<f32>

  // The first t rows, weighted by their scores.
  %keys = tensor.extract_slice %cache[0, 0] [%t, 19] [1, 1] : !cache to !rows
  %init = tensor.empty(%t) : tensor<?xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%init : tensor<?xf32>) -> tensor<?xf32>
  %scores = linalg.matvec ins(%keys, %q : !rows, !row) outs(%zeros : tensor<?xf32>)
      -> tensor<?xf32>
  %weighed = linalg.vecmat ins(%scores, %keys : tensor<?xf32>, !rows)
      outs(%empty : !row) -> !row
  %soft = linalg.softmax dimension(0) ins(%scores : tensor<?xf32>)
      outs(%init : tensor<?xf32>) -> tensor<?xf32>
  %attended = linalg.vecmat ins(%soft, %keys : tensor<?xf32>, !rows)
      outs(%empty : !row) -> !row

  // Reductions that are not sums.
  %largest = linalg.reduce ins(%scores : tensor<?xf32>) outs(%least : tensor<f32>)
      dimensions = [0] (%e: f32, %acc: f32) {
    %m = arith.maxnumf %e, %acc : f32
    linalg.yield %m : f32
  }
  %first = tensor.extract_slice %numbers[0] [%t] [1] : tensor<12xi32> to tensor<?xi32>
  %zero32 = arith.constant dense<0> : tensor<i32>
  %unsigned = linalg.reduce ins(%first : tensor<?xi32>) outs(%zero32 : tensor<i32>)
      dimensions = [0] (%e: i32, %acc: i32) {
    %m = arith.maxui %e, %acc : i32
    linalg.yield %m : i32
  }
  %nowhere = arith.constant dense<-1> : tensor<i64>
  %m:2 = linalg.generic {indexing_maps = [#all, #none, #none], iterator_types = ["reduction"]}
      ins(%scores : tensor<?xf32>) outs(%least, %nowhere : tensor<f32>, tensor<i64>) {
  ^bb0(%e: f32, %most: f32, %at: i64):
    %i = linalg.index 0 : index
    %here = arith.index_cast %i : index to i64
    %more = arith.cmpf ogt, %e, %most : f32
    %next = arith.select %more, %e, %most : f32
    %place = arith.select %more, %here, %at : i64
    linalg.yield %next, %place : f32, i64
  } -> (tensor<f32>, tensor<i64>)

  // An element and a row of a tensor with t rows.
  %tripled = arith.addf %scores, %scores : tensor<?xf32>
  %before = arith.subi %t, %c1 : index
  %final = tensor.extract %tripled[%before] : tensor<?xf32>
  %last = tensor.from_elements %final : tensor<f32>
  %doubled = arith.addf %keys, %keys : !rows
  %o64 = tensor.extract %o[] : tensor<i64>
  %from = arith.index_cast %o64 : i64 to index
  %row = tensor.extract_slice %doubled[%from, 0] [1, 19] [1, 1] : !rows to !row

  // A window of 12 rows that begins at a computed position, and t / 2 rows of this window.
  %window = tensor.extract_slice %E[%from, 0] [12, 19] [1, 1] : tensor<?x19xf32> to !cache
  %half = arith.divui %t, %c2 : index
  %some = tensor.extract_slice %window[%from, 0] [%half, 19] [1, 1] : !cache to !rows
  %summed = linalg.reduce ins(%some : !rows) outs(%empty : !row) dimensions = [0]
      (%e: f32, %acc: f32) {
    %s = arith.addf %e, %acc : f32
    linalg.yield %s : f32
  }

  // A padding and an insert, whose results have static shapes.
  %c13 = arith.constant 13 : index
  %rest = arith.subi %c13, %t : index
  %padded = tensor.pad %doubled low[2, 1] high[%rest, 1] {
  ^bb0(%i: index, %j: index):
    tensor.yield %low : f32
  } : !rows to tensor<15x21xf32>
  %inserted = tensor.insert_slice %doubled into %cache[0, 0] [%t, 19] [1, 1]
      : !rows into !cache

  // Rows of a table at the first t indices. The other indices may be any numbers.
  %known = tensor.extract_slice %ids[0] [%t] [1] : tensor<12xi64> to tensor<?xi64>
  %table = tensor.empty(%t) : !rows
  %looked = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i)>, #rows],
                            iterator_types = ["parallel", "parallel"]}
      ins(%known : tensor<?xi64>) outs(%table : !rows) {
  ^bb0(%id: i64, %unused: f32):
    %i = arith.index_cast %id : i64 to index
    %j = linalg.index 1 : index
    %e = tensor.extract %E[%i, %j] : tensor<?x19xf32>
    linalg.yield %e : f32
  } -> !rows
  %found = linalg.reduce ins(%looked : !rows) outs(%empty : !row) dimensions = [0]
      (%e: f32, %acc: f32) {
    %s = arith.addf %e, %acc : f32
    linalg.yield %s : f32
  }

  // The size is read from a tensor.
  %count64 = linalg.reduce ins(%first : tensor<?xi32>) outs(%zero32 : tensor<i32>)
      dimensions = [0] (%e: i32, %acc: i32) {
    %three = arith.constant 3 : i32
    %bits = arith.andi %e, %three : i32
    %larger = arith.maxsi %bits, %acc : i32
    linalg.yield %larger : i32
  }
  %count32 = tensor.extract %count64[] : tensor<i32>
  %count = arith.index_cast %count32 : i32 to index
  %few = tensor.extract_slice %cache[1, 0] [%count, 19] [3, 1] : !cache to !rows
  %computed = linalg.reduce ins(%few : !rows) outs(%empty : !row) dimensions = [0]
      (%e: f32, %acc: f32) {
    %s = arith.addf %e, %acc : f32
    linalg.yield %s : f32
  }

  // Both dimensions are computed: some columns of t rows.
  %corner = tensor.extract_slice %cache[0, 0] [%t, %count] [1, 1] : !cache to tensor<?x?xf32>
  %sums = linalg.reduce ins(%corner : tensor<?x?xf32>) outs(%zeros : tensor<?xf32>)
      dimensions = [1] (%e: f32, %acc: f32) {
    %s = arith.addf %e, %acc : f32
    linalg.yield %s : f32
  }
  %wide = arith.constant dense<7.0> : tensor<12xf32>
  %both = tensor.insert_slice %sums into %wide[0] [%t] [1] : tensor<?xf32> into tensor<12xf32>

  // A loop fills a cache, and reads the rows that it has filled.
  %walked:2 = scf.for %i = %c0 to %n step %c1 iter_args(%x = %q, %filled = %cache)
      -> (!row, !cache) {
    %c = tensor.insert_slice %x into %filled[%i, 0] [1, 19] [1, 1] : !row into !cache
    %now = arith.addi %i, %c1 : index
    %past = tensor.extract_slice %c[0, 0] [%now, 19] [1, 1] : !cache to !rows
    %y = linalg.reduce ins(%past : !rows) outs(%empty : !row) dimensions = [0]
        (%e: f32, %acc: f32) {
      %m2 = arith.maximumf %e, %acc : f32
      linalg.yield %m2 : f32
    }
    %z = arith.subf %y, %x : !row
    scf.yield %z, %c : !row, !cache
  }
  return %weighed, %attended, %largest, %unsigned, %m#1, %last, %row, %summed, %padded,
      %inserted, %found, %computed, %both, %walked#0
      : !row, !row, tensor<f32>, tensor<i32>, tensor<i64>, tensor<f32>, !row, !row,
        tensor<15x21xf32>, !cache, !row, !row, tensor<12xf32>, !row
}
