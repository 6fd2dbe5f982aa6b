// BiRNN: classifies each word of a sentence with one recurrent network that runs forward
// and one that runs backward.
//
//   f(t)      = sigmoid(W_f [E[word t]; f(t - 1)] + b_f), from h0_f
//   b(t)      = sigmoid(W_b [E[word t]; b(t + 1)] + b_b), from h0_b
//   logits(t) = C [f(t); b(t)] + c, cls(t) = argmax logits(t) (first index on ties)
//
// Run it:
//   batch-run test/models/birnn.mlir --params=random:0 \
//     --inputs=examples/data/sentences.jsonl --batch=10 --check-unbatched

!vec = tensor<256xf32>
!rows = tensor<?x256xf32>
!two = tensor<512xf32>
!pair = tensor<256x512xf32>
!emb = tensor<?x256xf32>
!out = tensor<16x512xf32>
!classes = tensor<16xf32>
!scalar = tensor<f32>
!tag = tensor<i32>
!words = !rec.list<index>
!chain = !rec.adt<@Chain>

module attributes {batch.sizes = {H = 256 : index}} {
  // A linked list of rows, to which rows are added at the front.
  rec.adt @Chain {
    rec.variant @end()
    rec.variant @row(row: !vec, rest: !chain)
  }

  func.func private @cell(%x: !vec, %h: !vec, %W: !pair, %b: !vec) -> !vec {
    %xh = tensor.concat dim(0) %x, %h : (!vec, !vec) -> !two
    %a = linalg.matvec ins(%W, %xh : !pair, !two) outs(%b : !vec) -> !vec
    %one = arith.constant dense<1.0> : !vec
    %n = arith.negf %a : !vec
    %e = math.exp %n : !vec
    %d = arith.addf %one, %e : !vec
    %y = arith.divf %one, %d : !vec
    return %y : !vec
  }

  // Returns the first position of the largest logit.
  func.func private @argmax(%logits: !classes) -> !tag {
    %low = arith.constant dense<0xFF800000> : !scalar
    %most = linalg.reduce { arith.maximumf } ins(%logits : !classes) outs(%low : !scalar)
        dimensions = [0]
    %none = arith.constant dense<2147483647> : !tag
    %tag = linalg.generic {
        indexing_maps = [affine_map<(d) -> (d)>, affine_map<(d) -> ()>, affine_map<(d) -> ()>],
        iterator_types = ["reduction"]}
        ins(%logits, %most : !classes, !scalar) outs(%none : !tag) {
    ^bb0(%logit: f32, %max: f32, %first: i32):
      %position = linalg.index 0 : index
      %here = arith.index_cast %position : index to i32
      %is = arith.cmpf oeq, %logit, %max : f32
      %candidate = arith.select %is, %here, %first : i32
      %least = arith.minsi %candidate, %first : i32
      linalg.yield %least : i32
    } -> !tag
    return %tag : !tag
  }

  func.func @main(%tokens: !words {batch.name = "tokens"}, %E: !emb {batch.shared = "E"},
                  %W_f: !pair {batch.shared = "W_f"}, %b_f: !vec {batch.shared = "b_f"},
                  %h0_f: !vec {batch.shared = "h0_f"},
                  %W_b: !pair {batch.shared = "W_b"}, %b_b: !vec {batch.shared = "b_b"},
                  %h0_b: !vec {batch.shared = "h0_b"},
                  %C: !out {batch.shared = "out.W"}, %c: !classes {batch.shared = "out.b"})
      -> (tensor<?x16xf32> {batch.name = "logits"}, tensor<?xi32> {batch.name = "cls"})
      attributes {batch.entry} {
    %xs = rec.map %word in %tokens : !words -> !rows {
      %x = tensor.extract_slice %E[%word, 0] [1, 256] [1, 1] : !emb to !vec
      rec.yield %x : !vec
    }
    %end = rec.construct @Chain::@end() : () -> !chain
    %back, %f, %last_f = rec.fold %x in %xs init(%xs_before = %end, %rest = %end, %hs = %h0_f)
        : !rows -> !chain, !chain, !vec {
      %xs_here = rec.construct @Chain::@row(%x, %xs_before) : (!vec, !chain) -> !chain
      %h = func.call @cell(%x, %hs, %W_f, %b_f) : (!vec, !vec, !pair, !vec) -> !vec
      %all = rec.construct @Chain::@row(%h, %rest) : (!vec, !chain) -> !chain
      rec.yield %xs_here, %all, %h : !chain, !chain, !vec
    }
    %b, %last_b = rec.fold %x: !vec in %back init(%rest = %end, %hs = %h0_b)
        : !chain -> !chain, !vec {
      %h = func.call @cell(%x, %hs, %W_b, %b_b) : (!vec, !vec, !pair, !vec) -> !vec
      %all = rec.construct @Chain::@row(%h, %rest) : (!vec, !chain) -> !chain
      rec.yield %all, %h : !chain, !vec
    }
    %forward = rec.fold %h: !vec in %f init(%rest = %end) : !chain -> !chain {
      %all = rec.construct @Chain::@row(%h, %rest) : (!vec, !chain) -> !chain
      rec.yield %all : !chain
    }
    %logits, %cls = rec.map (%hf: !vec, %hb: !vec) in (%forward, %b)
        : !chain, !chain -> tensor<?x16xf32>, tensor<?xi32> {
      %both = tensor.concat dim(0) %hf, %hb : (!vec, !vec) -> !two
      %scores = linalg.matvec ins(%C, %both : !out, !two) outs(%c : !classes) -> !classes
      %tag = func.call @argmax(%scores) : (!classes) -> !tag
      rec.yield %scores, %tag : !classes, !tag
    }
    return %logits, %cls : tensor<?x16xf32>, tensor<?xi32>
  }
}
