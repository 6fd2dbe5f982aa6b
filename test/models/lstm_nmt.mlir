// LSTM-NMT: translation by two recurrent networks. The decoder reads the reference, and
// starts with the last state of the encoder.
//
//   x(w)    = tanh(W_in E[w] + b_in), with separate parameters for encoder and decoder
//   encoder : for w in src: (h, c) = lstm(x(w), h, c), from (h0, c0)
//   decoder : for w in tgt: (h, c) = lstm(x(w), h, c), logits = W_out h + b_out,
//             nll = log(sum(exp(logits))) - logits[w]
//   lstm    : i, f, o = sigmoid(W_* x + U_* h + b_*), g = tanh(W_g x + U_g h + b_g)
//             c' = f * c + i * g, h' = o * tanh(c')
//
// Run it:
//   batch-run test/models/lstm_nmt.mlir --params=random:0 \
//     --inputs=examples/data/sentence_pairs.jsonl --batch=10 --check-unbatched

!vec = tensor<256xf32>
!mat = tensor<256x256xf32>
!emb = tensor<?x256xf32>
!out = tensor<1000x256xf32>
!classes = tensor<1000xf32>
!scalar = tensor<f32>
!words = !rec.list<index>
!steps = !rec.adt<@Steps>

module attributes {batch.sizes = {H = 256 : index, V = 1000 : index}} {
  // Result of the model: the decoder's steps, each with all steps before it.
  rec.adt @Steps {
    rec.variant @none()
    rec.variant @step(before: !steps, logits: !classes, nll: !scalar)
  }

  func.func private @sigmoid(%x: !vec) -> !vec {
    %one = arith.constant dense<1.0> : !vec
    %n = arith.negf %x : !vec
    %e = math.exp %n : !vec
    %d = arith.addf %one, %e : !vec
    %y = arith.divf %one, %d : !vec
    return %y : !vec
  }

  // W x + U h + b
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

  func.func private @input(%word: index, %E: !emb, %W: !mat, %b: !vec) -> !vec {
    %e = tensor.extract_slice %E[%word, 0] [1, 256] [1, 1] : !emb to !vec
    %a = linalg.matvec ins(%W, %e : !mat, !vec) outs(%b : !vec) -> !vec
    %x = math.tanh %a : !vec
    return %x : !vec
  }

  // log(sum(exp(logits))) - logits[word]
  func.func private @nll(%logits: !classes, %word: index) -> !scalar {
    %low = arith.constant dense<0xFF800000> : !scalar
    %most = linalg.reduce { arith.maximumf } ins(%logits : !classes) outs(%low : !scalar)
        dimensions = [0]
    %none = tensor.empty() : !classes
    %all = linalg.broadcast ins(%most : !scalar) outs(%none : !classes) dimensions = [0]
    %shifted = arith.subf %logits, %all : !classes
    %exp = math.exp %shifted : !classes
    %zero = arith.constant dense<0.0> : !scalar
    %sum = linalg.reduce { arith.addf } ins(%exp : !classes) outs(%zero : !scalar)
        dimensions = [0]
    %log = math.log %sum : !scalar
    %own = tensor.extract_slice %shifted[%word] [1] [1] : !classes to !scalar
    %nll = arith.subf %log, %own : !scalar
    return %nll : !scalar
  }

  func.func @main(%src: !words {batch.name = "src"}, %tgt: !words {batch.name = "tgt"},
                  %E_src: !emb {batch.shared = "E_src"},
                  %E_tgt: !emb {batch.shared = "E_tgt"},
                  %enc_in_W: !mat {batch.shared = "enc.in.W"},
                  %enc_in_b: !vec {batch.shared = "enc.in.b"},
                  %dec_in_W: !mat {batch.shared = "dec.in.W"},
                  %dec_in_b: !vec {batch.shared = "dec.in.b"},
                  %enc_W_i: !mat {batch.shared = "enc.W_i"},
                  %enc_U_i: !mat {batch.shared = "enc.U_i"},
                  %enc_b_i: !vec {batch.shared = "enc.b_i"},
                  %enc_W_f: !mat {batch.shared = "enc.W_f"},
                  %enc_U_f: !mat {batch.shared = "enc.U_f"},
                  %enc_b_f: !vec {batch.shared = "enc.b_f"},
                  %enc_W_g: !mat {batch.shared = "enc.W_g"},
                  %enc_U_g: !mat {batch.shared = "enc.U_g"},
                  %enc_b_g: !vec {batch.shared = "enc.b_g"},
                  %enc_W_o: !mat {batch.shared = "enc.W_o"},
                  %enc_U_o: !mat {batch.shared = "enc.U_o"},
                  %enc_b_o: !vec {batch.shared = "enc.b_o"},
                  %dec_W_i: !mat {batch.shared = "dec.W_i"},
                  %dec_U_i: !mat {batch.shared = "dec.U_i"},
                  %dec_b_i: !vec {batch.shared = "dec.b_i"},
                  %dec_W_f: !mat {batch.shared = "dec.W_f"},
                  %dec_U_f: !mat {batch.shared = "dec.U_f"},
                  %dec_b_f: !vec {batch.shared = "dec.b_f"},
                  %dec_W_g: !mat {batch.shared = "dec.W_g"},
                  %dec_U_g: !mat {batch.shared = "dec.U_g"},
                  %dec_b_g: !vec {batch.shared = "dec.b_g"},
                  %dec_W_o: !mat {batch.shared = "dec.W_o"},
                  %dec_U_o: !mat {batch.shared = "dec.U_o"},
                  %dec_b_o: !vec {batch.shared = "dec.b_o"},
                  %h0: !vec {batch.shared = "h0"}, %c0: !vec {batch.shared = "c0"},
                  %W_out: !out {batch.shared = "W_out"},
                  %b_out: !classes {batch.shared = "b_out"})
      -> (!steps {batch.name = "steps"}) attributes {batch.entry} {
    %h, %c = rec.fold %w in %src init(%hs = %h0, %cs = %c0) : !words -> !vec, !vec {
      %x = func.call @input(%w, %E_src, %enc_in_W, %enc_in_b)
          : (index, !emb, !mat, !vec) -> !vec
      %hn, %cn = func.call @lstm(%x, %hs, %cs, %enc_W_i, %enc_U_i, %enc_b_i, %enc_W_f,
          %enc_U_f, %enc_b_f, %enc_W_g, %enc_U_g, %enc_b_g, %enc_W_o, %enc_U_o, %enc_b_o)
          : (!vec, !vec, !vec, !mat, !mat, !vec, !mat, !mat, !vec,
             !mat, !mat, !vec, !mat, !mat, !vec) -> (!vec, !vec)
      rec.yield %hn, %cn : !vec, !vec
    }
    %none = rec.construct @Steps::@none() : () -> !steps
    %steps, %hl, %cl = rec.fold %w in %tgt init(%before = %none, %hs = %h, %cs = %c)
        : !words -> !steps, !vec, !vec {
      %x = func.call @input(%w, %E_tgt, %dec_in_W, %dec_in_b)
          : (index, !emb, !mat, !vec) -> !vec
      %hn, %cn = func.call @lstm(%x, %hs, %cs, %dec_W_i, %dec_U_i, %dec_b_i, %dec_W_f,
          %dec_U_f, %dec_b_f, %dec_W_g, %dec_U_g, %dec_b_g, %dec_W_o, %dec_U_o, %dec_b_o)
          : (!vec, !vec, !vec, !mat, !mat, !vec, !mat, !mat, !vec,
             !mat, !mat, !vec, !mat, !mat, !vec) -> (!vec, !vec)
      %logits = linalg.matvec ins(%W_out, %hn : !out, !vec)
                              outs(%b_out : !classes) -> !classes
      %nll = func.call @nll(%logits, %w) : (!classes, index) -> !scalar
      %step = rec.construct @Steps::@step(%before, %logits, %nll)
          : (!steps, !classes, !scalar) -> !steps
      rec.yield %step, %hn, %cn : !steps, !vec, !vec
    }
    return %steps : !steps
  }
}
