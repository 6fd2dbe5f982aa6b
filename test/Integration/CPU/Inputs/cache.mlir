// Caches that a loop fills, one row per round. Each round inserts a row into each
// cache and reads all rows of both caches.

!row = tensor<32xf32>
!cache = tensor<64x32xf32>
#rows = affine_map<(i, j) -> (i, j)>
#columns = affine_map<(i, j) -> (j)>

func.func @main(
    %x: !row {batch.name = "x"}, %first: !cache {batch.name = "first"},
    %n: index {batch.name = "n"}, %W: tensor<32x32xf32> {batch.shared = "W"})
    -> (!row {batch.name = "h"}, !cache {batch.name = "keys"},
        !cache {batch.name = "values"})
    attributes {batch.entry} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %zeros = arith.constant dense<0.0> : !cache
  %empty = tensor.empty() : !row
  %start = linalg.fill ins(%zero : f32) outs(%empty : !row) -> !row
  %h, %keys, %values = scf.for %i = %c0 to %n step %c1
      iter_args(%old = %x, %k = %first, %v = %zeros) -> (!row, !cache, !cache) {
    %key = linalg.matvec ins(%W, %old : tensor<32x32xf32>, !row) outs(%start : !row) -> !row
    %nextK = tensor.insert_slice %key into %k[%i, 0] [1, 32] [1, 1] : !row into !cache
    %nextV = tensor.insert_slice %old into %v[%i, 0] [1, 32] [1, 1] : !row into !cache
    %sum = linalg.generic {indexing_maps = [#rows, #rows, #columns], iterator_types = ["reduction", "parallel"]}
        ins(%nextK, %nextV : !cache, !cache) outs(%start : !row) {
    ^bb0(%a: f32, %b: f32, %s: f32):
      %p = arith.mulf %a, %b : f32
      %t = arith.addf %s, %p : f32
      linalg.yield %t : f32
    } -> !row
    %next = math.tanh %sum : !row
    scf.yield %next, %nextK, %nextV : !row, !cache, !cache
  }
  return %h, %keys, %values : !row, !cache, !cache
}
