// BiLSTM tagger: recognizes named entities with two forward and two backward LSTM
// layers over a sentence. The input contains the letters of rare words.
//
//   f(1..T)  = h of layer 2 over layer 1 over x(1), ..., x(T)
//   b(T..1)  = the same with separate parameters over x(T), ..., x(1)
//   logits   = W_tag tanh(W_mlp [f; b]), tag = argmax logits (first index on ties)
//   lstm     : i, f, o = sigmoid(W_* x + U_* h + b_*), g = tanh(W_g x + U_g h + b_g)
//              c' = f * c + i * g, h' = o * tanh(c'), from learned h0, c0
//
//   x(t)     = E[word], or for a rare word [the last h of two LSTM layers forward
//              over pad, letters, pad; the last h of two backward], half as wide
//
// Run it:
//   batch-run test/models/bilstm_tagger_char.mlir --params=random:0 \
//     --inputs=examples/data/spelled_sentences.jsonl --batch=10 --check-unbatched

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
!list = !rec.list<index>
!half = tensor<128xf32>
!char_mat = tensor<128x128xf32>
!char_in = tensor<128x256xf32>
!word = !rec.adt<@Word>
!words = !rec.list<!word>
!letters = !rec.adt<@Letters>
!chain = !rec.adt<@Chain>

module attributes {batch.sizes = {L = 128 : index}} {
  rec.adt @Word {
    rec.variant @known(word: index)
    rec.variant @rare(letters: !list)
  }
  rec.adt @Letters {
    rec.variant @end()
    rec.variant @letter(char: index, rest: !letters)
  }
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

  func.func private @sigmoid_half(%x: !half) -> !half {
    %one = arith.constant dense<1.0> : !half
    %n = arith.negf %x : !half
    %e = math.exp %n : !half
    %d = arith.addf %one, %e : !half
    %y = arith.divf %one, %d : !half
    return %y : !half
  }

  func.func private @char_gate0(%x: !vec, %h: !half, %W: !char_in, %U: !char_mat, %b: !half) -> !half {
    %wx = linalg.matvec ins(%W, %x : !char_in, !vec) outs(%b : !half) -> !half
    %a = linalg.matvec ins(%U, %h : !char_mat, !half) outs(%wx : !half) -> !half
    return %a : !half
  }

  func.func private @char_lstm0(
      %x: !vec, %h: !half, %c: !half,
      %W_i: !char_in, %U_i: !char_mat, %b_i: !half, %W_f: !char_in, %U_f: !char_mat, %b_f: !half,
      %W_g: !char_in, %U_g: !char_mat, %b_g: !half, %W_o: !char_in, %U_o: !char_mat, %b_o: !half)
      -> (!half, !half) {
    %ai = func.call @char_gate0(%x, %h, %W_i, %U_i, %b_i)
        : (!vec, !half, !char_in, !char_mat, !half) -> !half
    %af = func.call @char_gate0(%x, %h, %W_f, %U_f, %b_f)
        : (!vec, !half, !char_in, !char_mat, !half) -> !half
    %ag = func.call @char_gate0(%x, %h, %W_g, %U_g, %b_g)
        : (!vec, !half, !char_in, !char_mat, !half) -> !half
    %ao = func.call @char_gate0(%x, %h, %W_o, %U_o, %b_o)
        : (!vec, !half, !char_in, !char_mat, !half) -> !half
    %i = func.call @sigmoid_half(%ai) : (!half) -> !half
    %f = func.call @sigmoid_half(%af) : (!half) -> !half
    %g = math.tanh %ag : !half
    %o = func.call @sigmoid_half(%ao) : (!half) -> !half
    %fc = arith.mulf %f, %c : !half
    %ig = arith.mulf %i, %g : !half
    %next = arith.addf %fc, %ig : !half
    %t = math.tanh %next : !half
    %y = arith.mulf %o, %t : !half
    return %y, %next : !half, !half
  }

  func.func private @char_gate1(%x: !half, %h: !half, %W: !char_mat, %U: !char_mat, %b: !half) -> !half {
    %wx = linalg.matvec ins(%W, %x : !char_mat, !half) outs(%b : !half) -> !half
    %a = linalg.matvec ins(%U, %h : !char_mat, !half) outs(%wx : !half) -> !half
    return %a : !half
  }

  func.func private @char_lstm1(
      %x: !half, %h: !half, %c: !half,
      %W_i: !char_mat, %U_i: !char_mat, %b_i: !half, %W_f: !char_mat, %U_f: !char_mat, %b_f: !half,
      %W_g: !char_mat, %U_g: !char_mat, %b_g: !half, %W_o: !char_mat, %U_o: !char_mat, %b_o: !half)
      -> (!half, !half) {
    %ai = func.call @char_gate1(%x, %h, %W_i, %U_i, %b_i)
        : (!half, !half, !char_mat, !char_mat, !half) -> !half
    %af = func.call @char_gate1(%x, %h, %W_f, %U_f, %b_f)
        : (!half, !half, !char_mat, !char_mat, !half) -> !half
    %ag = func.call @char_gate1(%x, %h, %W_g, %U_g, %b_g)
        : (!half, !half, !char_mat, !char_mat, !half) -> !half
    %ao = func.call @char_gate1(%x, %h, %W_o, %U_o, %b_o)
        : (!half, !half, !char_mat, !char_mat, !half) -> !half
    %i = func.call @sigmoid_half(%ai) : (!half) -> !half
    %f = func.call @sigmoid_half(%af) : (!half) -> !half
    %g = math.tanh %ag : !half
    %o = func.call @sigmoid_half(%ao) : (!half) -> !half
    %fc = arith.mulf %f, %c : !half
    %ig = arith.mulf %i, %g : !half
    %next = arith.addf %fc, %ig : !half
    %t = math.tanh %next : !half
    %y = arith.mulf %o, %t : !half
    return %y, %next : !half, !half
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

  func.func private @spell(%chars: !list, %E_c: !emb, %cf0_W_i: !char_in,
      %cf0_U_i: !char_mat, %cf0_b_i: !half, %cf0_W_f: !char_in, %cf0_U_f: !char_mat,
      %cf0_b_f: !half, %cf0_W_g: !char_in, %cf0_U_g: !char_mat, %cf0_b_g: !half,
      %cf0_W_o: !char_in, %cf0_U_o: !char_mat, %cf0_b_o: !half, %cf0_h0: !half,
      %cf0_c0: !half, %cf1_W_i: !char_mat, %cf1_U_i: !char_mat, %cf1_b_i: !half,
      %cf1_W_f: !char_mat, %cf1_U_f: !char_mat, %cf1_b_f: !half, %cf1_W_g: !char_mat,
      %cf1_U_g: !char_mat, %cf1_b_g: !half, %cf1_W_o: !char_mat, %cf1_U_o: !char_mat,
      %cf1_b_o: !half, %cf1_h0: !half, %cf1_c0: !half, %cb0_W_i: !char_in,
      %cb0_U_i: !char_mat, %cb0_b_i: !half, %cb0_W_f: !char_in, %cb0_U_f: !char_mat,
      %cb0_b_f: !half, %cb0_W_g: !char_in, %cb0_U_g: !char_mat, %cb0_b_g: !half,
      %cb0_W_o: !char_in, %cb0_U_o: !char_mat, %cb0_b_o: !half, %cb0_h0: !half,
      %cb0_c0: !half, %cb1_W_i: !char_mat, %cb1_U_i: !char_mat, %cb1_b_i: !half,
      %cb1_W_f: !char_mat, %cb1_U_f: !char_mat, %cb1_b_f: !half, %cb1_W_g: !char_mat,
      %cb1_U_g: !char_mat, %cb1_b_g: !half, %cb1_W_o: !char_mat, %cb1_U_o: !char_mat,
      %cb1_b_o: !half, %cb1_h0: !half, %cb1_c0: !half)
      -> !vec {
    %zero = arith.constant 0 : index
    %pad = func.call @embed(%zero, %E_c) : (index, !emb) -> !vec
    %end = rec.construct @Letters::@end() : () -> !letters
    %back = rec.fold %char in %chars init(%rest = %end) : !list -> !letters {
      %all = rec.construct @Letters::@letter(%char, %rest) : (index, !letters) -> !letters
      rec.yield %all : !letters
    }
    %cfa, %cfb = func.call @char_lstm0(%pad, %cf0_h0, %cf0_c0, %cf0_W_i, %cf0_U_i, %cf0_b_i,
        %cf0_W_f, %cf0_U_f, %cf0_b_f, %cf0_W_g, %cf0_U_g, %cf0_b_g, %cf0_W_o, %cf0_U_o,
        %cf0_b_o)
        : (!vec, !half, !half, !char_in, !char_mat, !half, !char_in, !char_mat, !half,
           !char_in, !char_mat, !half, !char_in, !char_mat, !half) -> (!half, !half)
    %cfc, %cfd = func.call @char_lstm1(%cfa, %cf1_h0, %cf1_c0, %cf1_W_i, %cf1_U_i, %cf1_b_i,
        %cf1_W_f, %cf1_U_f, %cf1_b_f, %cf1_W_g, %cf1_U_g, %cf1_b_g, %cf1_W_o, %cf1_U_o,
        %cf1_b_o)
        : (!half, !half, !half, !char_mat, !char_mat, !half, !char_mat, !char_mat, !half,
           !char_mat, !char_mat, !half, !char_mat, !char_mat, !half) -> (!half, !half)
    %cfp, %cfq, %cfr, %cfs = rec.fold %char in %chars
        init(%ha = %cfa, %ca = %cfb, %hb = %cfc, %cb = %cfd)
        : !list -> !half, !half, !half, !half {
      %x = func.call @embed(%char, %E_c) : (index, !emb) -> !vec
      %han, %can = func.call @char_lstm0(%x, %ha, %ca, %cf0_W_i, %cf0_U_i, %cf0_b_i,
          %cf0_W_f, %cf0_U_f, %cf0_b_f, %cf0_W_g, %cf0_U_g, %cf0_b_g, %cf0_W_o, %cf0_U_o,
          %cf0_b_o)
          : (!vec, !half, !half, !char_in, !char_mat, !half, !char_in, !char_mat, !half,
             !char_in, !char_mat, !half, !char_in, !char_mat, !half) -> (!half, !half)
      %hbn, %cbn = func.call @char_lstm1(%han, %hb, %cb, %cf1_W_i, %cf1_U_i, %cf1_b_i,
          %cf1_W_f, %cf1_U_f, %cf1_b_f, %cf1_W_g, %cf1_U_g, %cf1_b_g, %cf1_W_o, %cf1_U_o,
          %cf1_b_o)
          : (!half, !half, !half, !char_mat, !char_mat, !half, !char_mat, !char_mat, !half,
             !char_mat, !char_mat, !half, !char_mat, !char_mat, !half) -> (!half, !half)
      rec.yield %han, %can, %hbn, %cbn : !half, !half, !half, !half
    }
    %cft, %cfu = func.call @char_lstm0(%pad, %cfp, %cfq, %cf0_W_i, %cf0_U_i, %cf0_b_i,
        %cf0_W_f, %cf0_U_f, %cf0_b_f, %cf0_W_g, %cf0_U_g, %cf0_b_g, %cf0_W_o, %cf0_U_o,
        %cf0_b_o)
        : (!vec, !half, !half, !char_in, !char_mat, !half, !char_in, !char_mat, !half,
           !char_in, !char_mat, !half, !char_in, !char_mat, !half) -> (!half, !half)
    %cfy, %cfz = func.call @char_lstm1(%cft, %cfr, %cfs, %cf1_W_i, %cf1_U_i, %cf1_b_i,
        %cf1_W_f, %cf1_U_f, %cf1_b_f, %cf1_W_g, %cf1_U_g, %cf1_b_g, %cf1_W_o, %cf1_U_o,
        %cf1_b_o)
        : (!half, !half, !half, !char_mat, !char_mat, !half, !char_mat, !char_mat, !half,
           !char_mat, !char_mat, !half, !char_mat, !char_mat, !half) -> (!half, !half)
    %cba, %cbb = func.call @char_lstm0(%pad, %cb0_h0, %cb0_c0, %cb0_W_i, %cb0_U_i, %cb0_b_i,
        %cb0_W_f, %cb0_U_f, %cb0_b_f, %cb0_W_g, %cb0_U_g, %cb0_b_g, %cb0_W_o, %cb0_U_o,
        %cb0_b_o)
        : (!vec, !half, !half, !char_in, !char_mat, !half, !char_in, !char_mat, !half,
           !char_in, !char_mat, !half, !char_in, !char_mat, !half) -> (!half, !half)
    %cbc, %cbd = func.call @char_lstm1(%cba, %cb1_h0, %cb1_c0, %cb1_W_i, %cb1_U_i, %cb1_b_i,
        %cb1_W_f, %cb1_U_f, %cb1_b_f, %cb1_W_g, %cb1_U_g, %cb1_b_g, %cb1_W_o, %cb1_U_o,
        %cb1_b_o)
        : (!half, !half, !half, !char_mat, !char_mat, !half, !char_mat, !char_mat, !half,
           !char_mat, !char_mat, !half, !char_mat, !char_mat, !half) -> (!half, !half)
    %cbp, %cbq, %cbr, %cbs = rec.fold %char: index in %back
        init(%ha = %cba, %ca = %cbb, %hb = %cbc, %cb = %cbd)
        : !letters -> !half, !half, !half, !half {
      %x = func.call @embed(%char, %E_c) : (index, !emb) -> !vec
      %han, %can = func.call @char_lstm0(%x, %ha, %ca, %cb0_W_i, %cb0_U_i, %cb0_b_i,
          %cb0_W_f, %cb0_U_f, %cb0_b_f, %cb0_W_g, %cb0_U_g, %cb0_b_g, %cb0_W_o, %cb0_U_o,
          %cb0_b_o)
          : (!vec, !half, !half, !char_in, !char_mat, !half, !char_in, !char_mat, !half,
             !char_in, !char_mat, !half, !char_in, !char_mat, !half) -> (!half, !half)
      %hbn, %cbn = func.call @char_lstm1(%han, %hb, %cb, %cb1_W_i, %cb1_U_i, %cb1_b_i,
          %cb1_W_f, %cb1_U_f, %cb1_b_f, %cb1_W_g, %cb1_U_g, %cb1_b_g, %cb1_W_o, %cb1_U_o,
          %cb1_b_o)
          : (!half, !half, !half, !char_mat, !char_mat, !half, !char_mat, !char_mat, !half,
             !char_mat, !char_mat, !half, !char_mat, !char_mat, !half) -> (!half, !half)
      rec.yield %han, %can, %hbn, %cbn : !half, !half, !half, !half
    }
    %cbt, %cbu = func.call @char_lstm0(%pad, %cbp, %cbq, %cb0_W_i, %cb0_U_i, %cb0_b_i,
        %cb0_W_f, %cb0_U_f, %cb0_b_f, %cb0_W_g, %cb0_U_g, %cb0_b_g, %cb0_W_o, %cb0_U_o,
        %cb0_b_o)
        : (!vec, !half, !half, !char_in, !char_mat, !half, !char_in, !char_mat, !half,
           !char_in, !char_mat, !half, !char_in, !char_mat, !half) -> (!half, !half)
    %cby, %cbz = func.call @char_lstm1(%cbt, %cbr, %cbs, %cb1_W_i, %cb1_U_i, %cb1_b_i,
        %cb1_W_f, %cb1_U_f, %cb1_b_f, %cb1_W_g, %cb1_U_g, %cb1_b_g, %cb1_W_o, %cb1_U_o,
        %cb1_b_o)
        : (!half, !half, !half, !char_mat, !char_mat, !half, !char_mat, !char_mat, !half,
           !char_mat, !char_mat, !half, !char_mat, !char_mat, !half) -> (!half, !half)
    %x = tensor.concat dim(0) %cfy, %cby : (!half, !half) -> !vec
    return %x : !vec
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
                  %W_tag: !out {batch.shared = "W_tag"}, %E_c: !emb {batch.shared = "E_c"},
                  %cf0_W_i: !char_in {batch.shared = "cf0.W_i"},
                  %cf0_U_i: !char_mat {batch.shared = "cf0.U_i"},
                  %cf0_b_i: !half {batch.shared = "cf0.b_i"},
                  %cf0_W_f: !char_in {batch.shared = "cf0.W_f"},
                  %cf0_U_f: !char_mat {batch.shared = "cf0.U_f"},
                  %cf0_b_f: !half {batch.shared = "cf0.b_f"},
                  %cf0_W_g: !char_in {batch.shared = "cf0.W_g"},
                  %cf0_U_g: !char_mat {batch.shared = "cf0.U_g"},
                  %cf0_b_g: !half {batch.shared = "cf0.b_g"},
                  %cf0_W_o: !char_in {batch.shared = "cf0.W_o"},
                  %cf0_U_o: !char_mat {batch.shared = "cf0.U_o"},
                  %cf0_b_o: !half {batch.shared = "cf0.b_o"},
                  %cf0_h0: !half {batch.shared = "cf0.h0"},
                  %cf0_c0: !half {batch.shared = "cf0.c0"},
                  %cf1_W_i: !char_mat {batch.shared = "cf1.W_i"},
                  %cf1_U_i: !char_mat {batch.shared = "cf1.U_i"},
                  %cf1_b_i: !half {batch.shared = "cf1.b_i"},
                  %cf1_W_f: !char_mat {batch.shared = "cf1.W_f"},
                  %cf1_U_f: !char_mat {batch.shared = "cf1.U_f"},
                  %cf1_b_f: !half {batch.shared = "cf1.b_f"},
                  %cf1_W_g: !char_mat {batch.shared = "cf1.W_g"},
                  %cf1_U_g: !char_mat {batch.shared = "cf1.U_g"},
                  %cf1_b_g: !half {batch.shared = "cf1.b_g"},
                  %cf1_W_o: !char_mat {batch.shared = "cf1.W_o"},
                  %cf1_U_o: !char_mat {batch.shared = "cf1.U_o"},
                  %cf1_b_o: !half {batch.shared = "cf1.b_o"},
                  %cf1_h0: !half {batch.shared = "cf1.h0"},
                  %cf1_c0: !half {batch.shared = "cf1.c0"},
                  %cb0_W_i: !char_in {batch.shared = "cb0.W_i"},
                  %cb0_U_i: !char_mat {batch.shared = "cb0.U_i"},
                  %cb0_b_i: !half {batch.shared = "cb0.b_i"},
                  %cb0_W_f: !char_in {batch.shared = "cb0.W_f"},
                  %cb0_U_f: !char_mat {batch.shared = "cb0.U_f"},
                  %cb0_b_f: !half {batch.shared = "cb0.b_f"},
                  %cb0_W_g: !char_in {batch.shared = "cb0.W_g"},
                  %cb0_U_g: !char_mat {batch.shared = "cb0.U_g"},
                  %cb0_b_g: !half {batch.shared = "cb0.b_g"},
                  %cb0_W_o: !char_in {batch.shared = "cb0.W_o"},
                  %cb0_U_o: !char_mat {batch.shared = "cb0.U_o"},
                  %cb0_b_o: !half {batch.shared = "cb0.b_o"},
                  %cb0_h0: !half {batch.shared = "cb0.h0"},
                  %cb0_c0: !half {batch.shared = "cb0.c0"},
                  %cb1_W_i: !char_mat {batch.shared = "cb1.W_i"},
                  %cb1_U_i: !char_mat {batch.shared = "cb1.U_i"},
                  %cb1_b_i: !half {batch.shared = "cb1.b_i"},
                  %cb1_W_f: !char_mat {batch.shared = "cb1.W_f"},
                  %cb1_U_f: !char_mat {batch.shared = "cb1.U_f"},
                  %cb1_b_f: !half {batch.shared = "cb1.b_f"},
                  %cb1_W_g: !char_mat {batch.shared = "cb1.W_g"},
                  %cb1_U_g: !char_mat {batch.shared = "cb1.U_g"},
                  %cb1_b_g: !half {batch.shared = "cb1.b_g"},
                  %cb1_W_o: !char_mat {batch.shared = "cb1.W_o"},
                  %cb1_U_o: !char_mat {batch.shared = "cb1.U_o"},
                  %cb1_b_o: !half {batch.shared = "cb1.b_o"},
                  %cb1_h0: !half {batch.shared = "cb1.h0"},
                  %cb1_c0: !half {batch.shared = "cb1.c0"})
      -> (tensor<?x9xf32> {batch.name = "logits"}, tensor<?xi32> {batch.name = "tags"})
      attributes {batch.entry} {
    %xs = rec.map %token in %tokens : !words -> !rows {
      %x = rec.match %token : !word -> !vec {
      case @known(%word: index) {
        %e = func.call @embed(%word, %E) : (index, !emb) -> !vec
        rec.yield %e : !vec
      }
      case @rare(%letters: !list) {
        %e = func.call @spell(%letters, %E_c, %cf0_W_i, %cf0_U_i, %cf0_b_i, %cf0_W_f,
            %cf0_U_f, %cf0_b_f, %cf0_W_g, %cf0_U_g, %cf0_b_g, %cf0_W_o, %cf0_U_o, %cf0_b_o,
            %cf0_h0, %cf0_c0, %cf1_W_i, %cf1_U_i, %cf1_b_i, %cf1_W_f, %cf1_U_f, %cf1_b_f,
            %cf1_W_g, %cf1_U_g, %cf1_b_g, %cf1_W_o, %cf1_U_o, %cf1_b_o, %cf1_h0, %cf1_c0,
            %cb0_W_i, %cb0_U_i, %cb0_b_i, %cb0_W_f, %cb0_U_f, %cb0_b_f, %cb0_W_g, %cb0_U_g,
            %cb0_b_g, %cb0_W_o, %cb0_U_o, %cb0_b_o, %cb0_h0, %cb0_c0, %cb1_W_i, %cb1_U_i,
            %cb1_b_i, %cb1_W_f, %cb1_U_f, %cb1_b_f, %cb1_W_g, %cb1_U_g, %cb1_b_g, %cb1_W_o,
            %cb1_U_o, %cb1_b_o, %cb1_h0, %cb1_c0)
            : (!list, !emb, !char_in, !char_mat, !half, !char_in, !char_mat, !half,
               !char_in, !char_mat, !half, !char_in, !char_mat, !half, !half, !half,
               !char_mat, !char_mat, !half, !char_mat, !char_mat, !half, !char_mat,
               !char_mat, !half, !char_mat, !char_mat, !half, !half, !half, !char_in,
               !char_mat, !half, !char_in, !char_mat, !half, !char_in, !char_mat, !half,
               !char_in, !char_mat, !half, !half, !half, !char_mat, !char_mat, !half,
               !char_mat, !char_mat, !half, !char_mat, !char_mat, !half, !char_mat,
               !char_mat, !half, !half, !half) -> !vec
        rec.yield %e : !vec
      } }
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
