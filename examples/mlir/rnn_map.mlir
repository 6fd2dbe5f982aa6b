// RNN with a map (listing 1 of ACRoBat, Fegade et al., MLSys 2024): a recurrent network
// over a sentence, followed by an output layer at every word. The network is a fold over
// the words, and the output layer is a map over the states.
//
//   h(t) = sigmoid(W_i E[word t] + W_h h(t - 1) + b), from h0
//   y(t) = relu(C h(t) + c)
//
// Run it:
//   batch-run examples/mlir/rnn_map.mlir --params=random:0 \
//     --inputs=examples/data/sentences.jsonl --batch=10 --check-unbatched

!vec = tensor<256xf32>
!rows = tensor<?x256xf32>
!mat = tensor<256x256xf32>
!emb = tensor<?x256xf32>
!out = tensor<16x256xf32>
!classes = tensor<16xf32>
!words = !rec.list<index>
!chain = !rec.adt<@Chain>

// The number of classes is 16 and does not depend on H.
module attributes {batch.sizes = {H = 256 : index}} {
  // A list of states. A fold adds each state at the front, which reverses their order.
  rec.adt @Chain {
    rec.variant @end()
    rec.variant @row(row: !vec, rest: !chain)
  }

  func.func private @sigmoid(%x: !vec) -> !vec {
    %one = arith.constant dense<1.0> : !vec
    %n = arith.negf %x : !vec
    %e = math.exp %n : !vec
    %d = arith.addf %one, %e : !vec
    %y = arith.divf %one, %d : !vec
    return %y : !vec
  }

  func.func private @cell(%word: index, %h: !vec, %E: !emb, %W_i: !mat, %W_h: !mat,
                          %b: !vec) -> !vec {
    %x = tensor.extract_slice %E[%word, 0] [1, 256] [1, 1] : !emb to !vec
    %wx = linalg.matvec ins(%W_i, %x : !mat, !vec) outs(%b : !vec) -> !vec
    %a = linalg.matvec ins(%W_h, %h : !mat, !vec) outs(%wx : !vec) -> !vec
    %y = func.call @sigmoid(%a) : (!vec) -> !vec
    return %y : !vec
  }

  func.func @main(%tokens: !words {batch.name = "tokens"}, %E: !emb {batch.shared = "E"},
                  %W_i: !mat {batch.shared = "W_i"}, %W_h: !mat {batch.shared = "W_h"},
                  %b: !vec {batch.shared = "b"}, %h0: !vec {batch.shared = "h0"},
                  %C: !out {batch.shared = "out.W"}, %c: !classes {batch.shared = "out.b"})
      -> (!rows {batch.name = "h"}, tensor<?x16xf32> {batch.name = "y"})
      attributes {batch.entry} {
    %end = rec.construct @Chain::@end() : () -> !chain
    %back, %last = rec.fold %word in %tokens init(%rest = %end, %hs = %h0)
        : !words -> !chain, !vec {
      %h = func.call @cell(%word, %hs, %E, %W_i, %W_h, %b)
          : (index, !vec, !emb, !mat, !mat, !vec) -> !vec
      %all = rec.construct @Chain::@row(%h, %rest) : (!vec, !chain) -> !chain
      rec.yield %all, %h : !chain, !vec
    }
    %states = rec.fold %h: !vec in %back init(%rest = %end) : !chain -> !chain {
      %all = rec.construct @Chain::@row(%h, %rest) : (!vec, !chain) -> !chain
      rec.yield %all : !chain
    }
    %hs, %ys = rec.map %h: !vec in %states : !chain -> !rows, tensor<?x16xf32> {
      %a = linalg.matvec ins(%C, %h : !out, !vec) outs(%c : !classes) -> !classes
      %zero = arith.constant dense<0.0> : !classes
      %y = arith.maximumf %a, %zero : !classes
      rec.yield %h, %y : !vec, !classes
    }
    return %hs, %ys : !rows, tensor<?x16xf32>
  }
}
