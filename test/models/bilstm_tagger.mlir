// BiLSTM tagger: recognizes named entities with two forward and two backward LSTM
// layers over a sentence.
//
//   f(1..T)  = h of layer 2 over layer 1 over x(1), ..., x(T)
//   b(T..1)  = the same with separate parameters over x(T), ..., x(1)
//   logits   = W_tag tanh(W_mlp [f; b]), tag = argmax logits (first index on ties)
//   lstm     : i, f, o = sigmoid(W_* x + U_* h + b_*), g = tanh(W_g x + U_g h + b_g)
//              c' = f * c + i * g, h' = o * tanh(c'), from learned h0, c0
//
//   x(t)     = E[word]
//
// Run it:
//   batch-run test/models/bilstm_tagger.mlir --params=random:0 \
//     --inputs=examples/data/sentences.jsonl --batch=10 --check-unbatched

!vec = tensor<256xf32>
!rows = tensor<?x256xf32>
!pair = tensor<512xf32>
!mat = tensor<256x256xf32>
!wide = tensor<256x512xf32>
!emb = tensor<?x256xf32>
!out = tensor<9x256xf32>
!classes = tensor<9xf32>
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

  func.func private @sigmoid(%x: !vec) -> !vec {
    %one = arith.constant dense<1.0> : !vec
    %n = arith.negf %x : !vec
    %e = math.exp %n : !vec
    %d = arith.addf %one, %e : !vec
    %y = arith.divf %one, %d : !vec
    return %y : !vec
  }

  func.func private @gate(%x: !vec, %h: !vec, %W: !mat, %U: !mat, %b: !vec) -> !vec {
    %wx = linalg.matvec ins(%W, %x : !mat, !vec) outs(%b : !vec) -> !vec
    %a = linalg.matvec ins(%U, %h : !mat, !vec) outs(%wx : !vec) -> !vec
    return %a : !vec
  }

  func.func private @lstm(
      %x: !vec, %h: !vec, %c: !vec,
      %W_i: !mat, %U_i: !mat, %b_i: !vec, %W_f: !mat, %U_f: !mat, %b_f: !vec,
      %W_g: !mat, %U_g: !mat, %b_g: !vec, %W_o: !mat, %U_o: !mat, %b_o: !vec)
      -> (!vec, !vec) {
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
    %g = math.tanh %ag : !vec
    %o = func.call @sigmoid(%ao) : (!vec) -> !vec
    %fc = arith.mulf %f, %c : !vec
    %ig = arith.mulf %i, %g : !vec
    %next = arith.addf %fc, %ig : !vec
    %t = math.tanh %next : !vec
    %y = arith.mulf %o, %t : !vec
    return %y, %next : !vec, !vec
  }

  func.func private @embed(%i: index, %E: !emb) -> !vec {
    %x = tensor.extract_slice %E[%i, 0] [1, 256] [1, 1] : !emb to !vec
    return %x : !vec
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
                  %f0_W_i: !mat {batch.shared = "f0.W_i"},
                  %f0_U_i: !mat {batch.shared = "f0.U_i"},
                  %f0_b_i: !vec {batch.shared = "f0.b_i"},
                  %f0_W_f: !mat {batch.shared = "f0.W_f"},
                  %f0_U_f: !mat {batch.shared = "f0.U_f"},
                  %f0_b_f: !vec {batch.shared = "f0.b_f"},
                  %f0_W_g: !mat {batch.shared = "f0.W_g"},
                  %f0_U_g: !mat {batch.shared = "f0.U_g"},
                  %f0_b_g: !vec {batch.shared = "f0.b_g"},
                  %f0_W_o: !mat {batch.shared = "f0.W_o"},
                  %f0_U_o: !mat {batch.shared = "f0.U_o"},
                  %f0_b_o: !vec {batch.shared = "f0.b_o"},
                  %f0_h0: !vec {batch.shared = "f0.h0"},
                  %f0_c0: !vec {batch.shared = "f0.c0"},
                  %f1_W_i: !mat {batch.shared = "f1.W_i"},
                  %f1_U_i: !mat {batch.shared = "f1.U_i"},
                  %f1_b_i: !vec {batch.shared = "f1.b_i"},
                  %f1_W_f: !mat {batch.shared = "f1.W_f"},
                  %f1_U_f: !mat {batch.shared = "f1.U_f"},
                  %f1_b_f: !vec {batch.shared = "f1.b_f"},
                  %f1_W_g: !mat {batch.shared = "f1.W_g"},
                  %f1_U_g: !mat {batch.shared = "f1.U_g"},
                  %f1_b_g: !vec {batch.shared = "f1.b_g"},
                  %f1_W_o: !mat {batch.shared = "f1.W_o"},
                  %f1_U_o: !mat {batch.shared = "f1.U_o"},
                  %f1_b_o: !vec {batch.shared = "f1.b_o"},
                  %f1_h0: !vec {batch.shared = "f1.h0"},
                  %f1_c0: !vec {batch.shared = "f1.c0"},
                  %b0_W_i: !mat {batch.shared = "b0.W_i"},
                  %b0_U_i: !mat {batch.shared = "b0.U_i"},
                  %b0_b_i: !vec {batch.shared = "b0.b_i"},
                  %b0_W_f: !mat {batch.shared = "b0.W_f"},
                  %b0_U_f: !mat {batch.shared = "b0.U_f"},
                  %b0_b_f: !vec {batch.shared = "b0.b_f"},
                  %b0_W_g: !mat {batch.shared = "b0.W_g"},
                  %b0_U_g: !mat {batch.shared = "b0.U_g"},
                  %b0_b_g: !vec {batch.shared = "b0.b_g"},
                  %b0_W_o: !mat {batch.shared = "b0.W_o"},
                  %b0_U_o: !mat {batch.shared = "b0.U_o"},
                  %b0_b_o: !vec {batch.shared = "b0.b_o"},
                  %b0_h0: !vec {batch.shared = "b0.h0"},
                  %b0_c0: !vec {batch.shared = "b0.c0"},
                  %b1_W_i: !mat {batch.shared = "b1.W_i"},
                  %b1_U_i: !mat {batch.shared = "b1.U_i"},
                  %b1_b_i: !vec {batch.shared = "b1.b_i"},
                  %b1_W_f: !mat {batch.shared = "b1.W_f"},
                  %b1_U_f: !mat {batch.shared = "b1.U_f"},
                  %b1_b_f: !vec {batch.shared = "b1.b_f"},
                  %b1_W_g: !mat {batch.shared = "b1.W_g"},
                  %b1_U_g: !mat {batch.shared = "b1.U_g"},
                  %b1_b_g: !vec {batch.shared = "b1.b_g"},
                  %b1_W_o: !mat {batch.shared = "b1.W_o"},
                  %b1_U_o: !mat {batch.shared = "b1.U_o"},
                  %b1_b_o: !vec {batch.shared = "b1.b_o"},
                  %b1_h0: !vec {batch.shared = "b1.h0"},
                  %b1_c0: !vec {batch.shared = "b1.c0"},
                  %W_mlp: !wide {batch.shared = "W_mlp"},
                  %W_tag: !out {batch.shared = "W_tag"})
      -> (tensor<?x9xf32> {batch.name = "logits"}, tensor<?xi32> {batch.name = "tags"})
      attributes {batch.entry} {
    %xs = rec.map %word in %tokens : !words -> !rows {
      %x = func.call @embed(%word, %E) : (index, !emb) -> !vec
      rec.yield %x : !vec
    }
    %end = rec.construct @Chain::@end() : () -> !chain
    %back = rec.fold %x in %xs init(%rest = %end) : !rows -> !chain {
      %all = rec.construct @Chain::@row(%x, %rest) : (!vec, !chain) -> !chain
      rec.yield %all : !chain
    }
    %f, %f_h0n, %f_c0n, %f_h1n, %f_c1n = rec.fold %x in %xs
        init(%rest = %end, %ha = %f0_h0, %ca = %f0_c0, %hb = %f1_h0, %cb = %f1_c0)
        : !rows -> !chain, !vec, !vec, !vec, !vec {
      %han, %can = func.call @lstm(%x, %ha, %ca, %f0_W_i, %f0_U_i, %f0_b_i, %f0_W_f,
          %f0_U_f, %f0_b_f, %f0_W_g, %f0_U_g, %f0_b_g, %f0_W_o, %f0_U_o, %f0_b_o)
          : (!vec, !vec, !vec, !mat, !mat, !vec, !mat, !mat, !vec, !mat, !mat, !vec, !mat,
             !mat, !vec) -> (!vec, !vec)
      %hbn, %cbn = func.call @lstm(%han, %hb, %cb, %f1_W_i, %f1_U_i, %f1_b_i, %f1_W_f,
          %f1_U_f, %f1_b_f, %f1_W_g, %f1_U_g, %f1_b_g, %f1_W_o, %f1_U_o, %f1_b_o)
          : (!vec, !vec, !vec, !mat, !mat, !vec, !mat, !mat, !vec, !mat, !mat, !vec, !mat,
             !mat, !vec) -> (!vec, !vec)
      %all = rec.construct @Chain::@row(%hbn, %rest) : (!vec, !chain) -> !chain
      rec.yield %all, %han, %can, %hbn, %cbn : !chain, !vec, !vec, !vec, !vec
    }
    %b, %b_h0n, %b_c0n, %b_h1n, %b_c1n = rec.fold %x: !vec in %back
        init(%rest = %end, %ha = %b0_h0, %ca = %b0_c0, %hb = %b1_h0, %cb = %b1_c0)
        : !chain -> !chain, !vec, !vec, !vec, !vec {
      %han, %can = func.call @lstm(%x, %ha, %ca, %b0_W_i, %b0_U_i, %b0_b_i, %b0_W_f,
          %b0_U_f, %b0_b_f, %b0_W_g, %b0_U_g, %b0_b_g, %b0_W_o, %b0_U_o, %b0_b_o)
          : (!vec, !vec, !vec, !mat, !mat, !vec, !mat, !mat, !vec, !mat, !mat, !vec, !mat,
             !mat, !vec) -> (!vec, !vec)
      %hbn, %cbn = func.call @lstm(%han, %hb, %cb, %b1_W_i, %b1_U_i, %b1_b_i, %b1_W_f,
          %b1_U_f, %b1_b_f, %b1_W_g, %b1_U_g, %b1_b_g, %b1_W_o, %b1_U_o, %b1_b_o)
          : (!vec, !vec, !vec, !mat, !mat, !vec, !mat, !mat, !vec, !mat, !mat, !vec, !mat,
             !mat, !vec) -> (!vec, !vec)
      %all = rec.construct @Chain::@row(%hbn, %rest) : (!vec, !chain) -> !chain
      rec.yield %all, %han, %can, %hbn, %cbn : !chain, !vec, !vec, !vec, !vec
    }
    %forward = rec.fold %h: !vec in %f init(%rest = %end) : !chain -> !chain {
      %all = rec.construct @Chain::@row(%h, %rest) : (!vec, !chain) -> !chain
      rec.yield %all : !chain
    }
    %logits, %tags = rec.map (%hf: !vec, %hb: !vec) in (%forward, %b)
        : !chain, !chain -> tensor<?x9xf32>, tensor<?xi32> {
      %both = tensor.concat dim(0) %hf, %hb : (!vec, !vec) -> !pair
      %zero = arith.constant dense<0.0> : !vec
      %a = linalg.matvec ins(%W_mlp, %both : !wide, !pair) outs(%zero : !vec) -> !vec
      %y = math.tanh %a : !vec
      %none = arith.constant dense<0.0> : !classes
      %scores = linalg.matvec ins(%W_tag, %y : !out, !vec) outs(%none : !classes) -> !classes
      %tag = func.call @argmax(%scores) : (!classes) -> !tag
      rec.yield %scores, %tag : !classes, !tag
    }
    return %logits, %tags : tensor<?x9xf32>, tensor<?xi32>
  }
}
