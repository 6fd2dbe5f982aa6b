// A sequential GRU with the formulas of torch.nn.GRU: the counterpart of the GRU of cuDNN.
//
//   r, z = sigmoid(W_* x + U_* h + b_*)
//   n = tanh(W_n x + b_n + r * (U_n h + d_n))
//   h' = n + z * (h - n), x = E[word]
//
// Run it:
//   batch-run benchmarks/gpu/models/gru.mlir --params=random:0 \
//     --inputs=random:1,4 --check-unbatched

!vec = tensor<256xf32>
!mat = tensor<256x256xf32>
!emb = tensor<?x256xf32>

module attributes {batch.sizes = {H = 256 : index}} {
  func.func private @gate(%x: !vec, %h: !vec, %W: !mat, %U: !mat, %b: !vec)
      -> !vec {
    %wx = linalg.matvec ins(%W, %x : !mat, !vec) outs(%b : !vec) -> !vec
    %a = linalg.matvec ins(%U, %h : !mat, !vec) outs(%wx : !vec) -> !vec
    %one = arith.constant dense<1.0> : !vec
    %n = arith.negf %a : !vec
    %e = math.exp %n : !vec
    %d = arith.addf %one, %e : !vec
    %y = arith.divf %one, %d : !vec
    return %y : !vec
  }

  func.func @main(%words: !rec.list<index> {batch.name = "words"},
                  %E: !emb {batch.shared = "E"},
                  %W_r: !mat {batch.shared = "W_r"},
                  %W_z: !mat {batch.shared = "W_z"},
                  %W_n: !mat {batch.shared = "W_n"},
                  %U_r: !mat {batch.shared = "U_r"},
                  %U_z: !mat {batch.shared = "U_z"},
                  %U_n: !mat {batch.shared = "U_n"},
                  %b_r: !vec {batch.shared = "b_r"},
                  %b_z: !vec {batch.shared = "b_z"},
                  %b_n: !vec {batch.shared = "b_n"},
                  %d_n: !vec {batch.shared = "d_n"})
      -> (!vec {batch.name = "h"}) attributes {batch.entry} {
    %zero = arith.constant dense<0.0> : !vec
    %last = rec.fold %word in %words init(%h = %zero)
        : !rec.list<index> -> !vec {
      %x = tensor.extract_slice %E[%word, 0] [1, 256] [1, 1] : !emb to !vec
      %r = func.call @gate(%x, %h, %W_r, %U_r, %b_r)
          : (!vec, !vec, !mat, !mat, !vec) -> !vec
      %z = func.call @gate(%x, %h, %W_z, %U_z, %b_z)
          : (!vec, !vec, !mat, !mat, !vec) -> !vec
      %wn = linalg.matvec ins(%W_n, %x : !mat, !vec) outs(%b_n : !vec) -> !vec
      %un = linalg.matvec ins(%U_n, %h : !mat, !vec) outs(%d_n : !vec) -> !vec
      %run = arith.mulf %r, %un : !vec
      %an = arith.addf %wn, %run : !vec
      %n = math.tanh %an : !vec
      %hn = arith.subf %h, %n : !vec
      %zhn = arith.mulf %z, %hn : !vec
      %next = arith.addf %n, %zhn : !vec
      rec.yield %next : !vec
    }
    return %last : !vec
  }
}
