// Attention with a cache of keys and values: one layer, and a step for each free slot.
// 32 of 64 slots are given. For each of 12 heads:
//
//   for t in 32 to 63: q = W_q x, K[t] = W_k x, V[t] = W_v x,
//                      a = softmax(K q / 8 at slots 0 to t), x = W_o (a V)
//
// Run it:
//   batch-run test/models/attention_masked.mlir --params=random:0 \
//     --inputs=random:1,10 --batch=10 --check-unbatched

!row = tensor<12x64xf32>
!weight = tensor<12x64x64xf32>
!cache = tensor<12x1009x64xf32>
!scores = tensor<12x1009xf32>
!rows = tensor<32x12x64xf32>

// Types have 1009 slots, so that the number of slots differs from D.
module attributes {batch.sizes = {D = 64 : index, HEADS = 12 : index,
                                  SLOTS = [1009 : index, 64 : index]}} {
  func.func private @product(%W: !weight, %x: !row) -> !row {
    %zero = arith.constant dense<0.0> : !row
    %y = linalg.batch_matvec ins(%W, %x : !weight, !row) outs(%zero : !row) -> !row
    return %y : !row
  }

  // Writes x to slot t of the cache.
  func.func private @put(%cache: !cache, %x: !row, %t: index) -> !cache {
    %next = tensor.insert_slice %x into %cache[0, %t, 0] [12, 1, 64] [1, 1, 1]
        : !row into !cache
    return %next : !cache
  }

  // Writes x to row i of %rows.
  func.func private @put_row(%rows: !rows, %x: !row, %i: index) -> !rows {
    %next = tensor.insert_slice %x into %rows[%i, 0, 0] [1, 12, 64] [1, 1, 1]
        : !row into !rows
    return %next : !rows
  }

  // Returns the scores of slots 0 to t, and minus infinity for the other slots.
  func.func private @mask(%scores: !scores, %t: index) -> !scores {
    %low = arith.constant 0xFF800000 : f32
    %masked = linalg.generic {
        indexing_maps = [affine_map<(h, n) -> (h, n)>],
        iterator_types = ["parallel", "parallel"]} outs(%scores : !scores) {
    ^bb0(%score: f32):
      %slot = linalg.index 1 : index
      %is = arith.cmpi ule, %slot, %t : index
      %y = arith.select %is, %score, %low : f32
      linalg.yield %y : f32
    } -> !scores
    return %masked : !scores
  }

  // softmax(K q / sqrt(D)) V
  func.func private @attend(%q: !row, %K: !cache, %V: !cache,
                                %t: index) -> !row {
    %zeros = arith.constant dense<0.0> : !scores
    %products = linalg.batch_matvec ins(%K, %q : !cache, !row) outs(%zeros : !scores)
        -> !scores
    %one = arith.constant 1 : index
    %size = tensor.dim %q, %one : !row
    %number = arith.index_cast %size : index to i32
    %square = arith.sitofp %number : i32 to f32
    %root = math.sqrt %square : f32
    %roots = tensor.splat %root : !scores
    %scores = arith.divf %products, %roots : !scores
    %filled = func.call @mask(%scores, %t) : (!scores, index) -> !scores
    %empty = tensor.empty() : !scores
    %a = linalg.softmax dimension(1) ins(%filled : !scores) outs(%empty : !scores) -> !scores
    %zero = arith.constant dense<0.0> : !row
    %y = linalg.batch_vecmat ins(%a, %V : !scores, !cache) outs(%zero : !row) -> !row
    return %y : !row
  }

  func.func @main(%x: !row {batch.name = "x"}, %K: !cache {batch.name = "K"},
                  %V: !cache {batch.name = "V"}, %W_q: !weight {batch.shared = "W_q"},
                  %W_k: !weight {batch.shared = "W_k"},
                  %W_v: !weight {batch.shared = "W_v"},
                  %W_o: !weight {batch.shared = "W_o"})
      -> (!rows {batch.name = "x"}, !cache {batch.name = "K"}, !cache {batch.name = "V"})
      attributes {batch.entry} {
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    %none = arith.constant dense<0.0> : !rows
    %slots = tensor.dim %K, %one : !cache
    %steps = tensor.dim %none, %zero : !rows
    %given = arith.subi %slots, %steps : index
    %last, %rows, %keys, %values = scf.for %i = %zero to %steps step %one
        iter_args(%xs = %x, %ys = %none, %Ks = %K, %Vs = %V)
        -> (!row, !rows, !cache, !cache) {
      %t = arith.addi %given, %i : index
      %q = func.call @product(%W_q, %xs) : (!weight, !row) -> !row
      %k = func.call @product(%W_k, %xs) : (!weight, !row) -> !row
      %v = func.call @product(%W_v, %xs) : (!weight, !row) -> !row
      %Kt = func.call @put(%Ks, %k, %t) : (!cache, !row, index) -> !cache
      %Vt = func.call @put(%Vs, %v, %t) : (!cache, !row, index) -> !cache
      %a = func.call @attend(%q, %Kt, %Vt, %t)
          : (!row, !cache, !cache, index) -> !row
      %y = func.call @product(%W_o, %a) : (!weight, !row) -> !row
      %next = func.call @put_row(%ys, %y, %i) : (!rows, !row, index) -> !rows
      scf.yield %y, %next, %Kt, %Vt : !row, !rows, !cache, !cache
    }
    return %rows, %keys, %values : !rows, !cache, !cache
  }
}
