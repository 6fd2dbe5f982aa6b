// LSTM-NMT, greedy: translation by two recurrent networks. The decoder starts with the
// last state of the encoder. Each step reads the most likely word of the step before,
// until this word ends the sentence or `limit` words are written.
//
//   x(w)    = tanh(W_in E[w] + b_in), with separate parameters for encoder and decoder
//   encoder : for w in src: (h, c) = lstm(x(w), h, c), from (h0, c0)
//   decoder : w = 1; repeat (h, c) = lstm(x(w), h, c), w = argmax(W_out h + b_out)
//             until w == 0 or `limit` words are written
//   lstm    : i, f, o = sigmoid(W_* x + U_* h + b_*), g = tanh(W_g x + U_g h + b_g)
//             c' = f * c + i * g, h' = o * tanh(c')
//
// Run it:
//   batch-run test/models/lstm_nmt_greedy.mlir --params=random:0 \
//     --inputs=random:1,10 --strategy=lazy --check-unbatched

!vec = tensor<256xf32>
!mat = tensor<256x256xf32>
!emb = tensor<?x256xf32>
!out = tensor<4000x256xf32>
!classes = tensor<4000xf32>
!scalar = tensor<f32>
!number = tensor<i32>
!words = !rec.list<index>
!out_words = !rec.list<i32>
!rows = tensor<?x256xf32>

module attributes {batch.sizes = {H = 256 : index, V = 4000 : index}} {
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

  // The first position of the largest logit.
  func.func private @argmax(%logits: !classes) -> i32 {
    %low = arith.constant dense<0xFF800000> : !scalar
    %most = linalg.reduce { arith.maximumf } ins(%logits : !classes) outs(%low : !scalar)
        dimensions = [0]
    %none = arith.constant dense<2147483647> : !number
    %first = linalg.generic {
        indexing_maps = [affine_map<(d) -> (d)>, affine_map<(d) -> ()>, affine_map<(d) -> ()>],
        iterator_types = ["reduction"]}
        ins(%logits, %most : !classes, !scalar) outs(%none : !number) {
    ^bb0(%logit: f32, %max: f32, %before: i32):
      %position = linalg.index 0 : index
      %here = arith.index_cast %position : index to i32
      %is = arith.cmpf oeq, %logit, %max : f32
      %candidate = arith.select %is, %here, %before : i32
      %least = arith.minsi %candidate, %before : i32
      linalg.yield %least : i32
    } -> !number
    %word = tensor.extract %first[] : !number
    return %word : i32
  }

  func.func @main(%src: !words {batch.name = "src"}, %limit: i32 {batch.name = "limit"},
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
      -> (!out_words {batch.name = "out"}, !rows {batch.name = "h"})
      attributes {batch.entry} {
    %h, %c = rec.fold %w in %src init(%hs = %h0, %cs = %c0) : !words -> !vec, !vec {
      %x = func.call @input(%w, %E_src, %enc_in_W, %enc_in_b)
          : (index, !emb, !mat, !vec) -> !vec
      %hn, %cn = func.call @lstm(%x, %hs, %cs, %enc_W_i, %enc_U_i, %enc_b_i, %enc_W_f,
          %enc_U_f, %enc_b_f, %enc_W_g, %enc_U_g, %enc_b_g, %enc_W_o, %enc_U_o, %enc_b_o)
          : (!vec, !vec, !vec, !mat, !mat, !vec, !mat, !mat, !vec,
             !mat, !mat, !vec, !mat, !mat, !vec) -> (!vec, !vec)
      rec.yield %hn, %cn : !vec, !vec
    }
    %no_words = rec.empty : !out_words
    %no_rows = rec.empty : !rows
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %out, %states, %last, %hl, %cl, %count = scf.while (
        %words = %no_words, %rows = %no_rows, %word = %one, %hs = %h, %cs = %c, %t = %zero)
        : (!out_words, !rows, i32, !vec, !vec, i32)
          -> (!out_words, !rows, i32, !vec, !vec, i32) {
      %w = arith.index_cast %word : i32 to index
      %x = func.call @input(%w, %E_tgt, %dec_in_W, %dec_in_b)
          : (index, !emb, !mat, !vec) -> !vec
      %hn, %cn = func.call @lstm(%x, %hs, %cs, %dec_W_i, %dec_U_i, %dec_b_i, %dec_W_f,
          %dec_U_f, %dec_b_f, %dec_W_g, %dec_U_g, %dec_b_g, %dec_W_o, %dec_U_o, %dec_b_o)
          : (!vec, !vec, !vec, !mat, !mat, !vec, !mat, !mat, !vec,
             !mat, !mat, !vec, !mat, !mat, !vec) -> (!vec, !vec)
      %logits = linalg.matvec ins(%W_out, %hn : !out, !vec)
                              outs(%b_out : !classes) -> !classes
      %next = func.call @argmax(%logits) : (!classes) -> i32
      %words_and_next = rec.append %words, %next : !out_words
      %rows_and_next = rec.append %rows, %hn : !rows
      %written = arith.addi %t, %one : i32
      %goes_on = arith.cmpi ne, %next, %zero : i32
      %has_room = arith.cmpi slt, %written, %limit : i32
      %again = arith.andi %goes_on, %has_room : i1
      scf.condition(%again) %words_and_next, %rows_and_next, %next, %hn, %cn, %written
          : !out_words, !rows, i32, !vec, !vec, i32
    } do {
    ^bb0(%words: !out_words, %rows: !rows, %word: i32, %hs: !vec, %cs: !vec, %t: i32):
      scf.yield %words, %rows, %word, %hs, %cs, %t
          : !out_words, !rows, i32, !vec, !vec, i32
    }
    return %out, %states : !out_words, !rows
  }
}
