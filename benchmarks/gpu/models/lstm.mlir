// A sequential LSTM with the formulas of torch.nn.LSTM: the counterpart of the LSTM of cuDNN.
//
//   i, f, o = sigmoid(W_* x + U_* h + b_*), g = tanh(W_g x + U_g h + b_g)
//   c' = f * c + i * g, h' = o * tanh(c'), x = E[word]
//
// Run it:
//   batch-run benchmarks/gpu/models/lstm.mlir --params=random:0 \
//     --inputs=random:1,4 --check-unbatched

!vec = tensor<256xf32>
!mat = tensor<256x256xf32>
!emb = tensor<?x256xf32>

module attributes {batch.sizes = {H = 256 : index}} {
  func.func private @gate(%x: !vec, %h: !vec, %W: !mat, %U: !mat, %b: !vec)
      -> !vec {
    %wx = linalg.matvec ins(%W, %x : !mat, !vec) outs(%b : !vec) -> !vec
    %a = linalg.matvec ins(%U, %h : !mat, !vec) outs(%wx : !vec) -> !vec
    return %a : !vec
  }

  func.func private @sigmoid(%x: !vec) -> !vec {
    %one = arith.constant dense<1.0> : !vec
    %n = arith.negf %x : !vec
    %e = math.exp %n : !vec
    %d = arith.addf %one, %e : !vec
    %y = arith.divf %one, %d : !vec
    return %y : !vec
  }

  func.func @main(%words: !rec.list<index> {batch.name = "words"},
                  %E: !emb {batch.shared = "E"},
                  %W_i: !mat {batch.shared = "W_i"},
                  %W_f: !mat {batch.shared = "W_f"},
                  %W_g: !mat {batch.shared = "W_g"},
                  %W_o: !mat {batch.shared = "W_o"},
                  %U_i: !mat {batch.shared = "U_i"},
                  %U_f: !mat {batch.shared = "U_f"},
                  %U_g: !mat {batch.shared = "U_g"},
                  %U_o: !mat {batch.shared = "U_o"},
                  %b_i: !vec {batch.shared = "b_i"},
                  %b_f: !vec {batch.shared = "b_f"},
                  %b_g: !vec {batch.shared = "b_g"},
                  %b_o: !vec {batch.shared = "b_o"})
      -> (!vec {batch.name = "h"}, !vec {batch.name = "c"})
      attributes {batch.entry} {
    %zero = arith.constant dense<0.0> : !vec
    %last:2 = rec.fold %word in %words init(%h = %zero, %c = %zero)
        : !rec.list<index> -> !vec, !vec {
      %x = tensor.extract_slice %E[%word, 0] [1, 256] [1, 1] : !emb to !vec
      %ai = func.call @gate(%x, %h, %W_i, %U_i, %b_i)
          : (!vec, !vec, !mat, !mat, !vec) -> !vec
      %af = func.call @gate(%x, %h, %W_f, %U_f, %b_f)
          : (!vec, !vec, !mat, !mat, !vec) -> !vec
      %ag = func.call @gate(%x, %h, %W_g, %U_g, %b_g)
          : (!vec, !vec, !mat, !mat, !vec) -> !vec
      %ao = func.call @gate(%x, %h, %W_o, %U_o, %b_o)
          : (!vec, !vec, !mat, !mat, !vec) -> !vec
      %i = func.call @sigmoid(%ai) : (!vec) -> !vec
      %f = func.call @sigmoid(%af) : (!vec) -> !vec
      %o = func.call @sigmoid(%ao) : (!vec) -> !vec
      %g = math.tanh %ag : !vec
      %ig = arith.mulf %i, %g : !vec
      %fc = arith.mulf %f, %c : !vec
      %next_c = arith.addf %fc, %ig : !vec
      %t = math.tanh %next_c : !vec
      %next_h = arith.mulf %o, %t : !vec
      rec.yield %next_h, %next_c : !vec, !vec
    }
    return %last#0, %last#1 : !vec, !vec
  }
}
