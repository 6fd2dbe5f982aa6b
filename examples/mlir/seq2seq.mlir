// Decoder of Seq2seq (Sutskever et al. 2014), with the sizes of Cocktailer (Zhang et al., OSDI
// 2023). An LSTM writes words until it has written 50 words or the word that ends a sentence. A
// tensor of each step thus determines whether the loop ends. Result rows after the end are zeros.
// H is the size of a state, and V is the number of words.
//
//   w = start; do: (h, c) = lstm(E[w], h, c), y = W h + b,
//                  w = argmax y (the first if several are largest), write w and h
//   while w != end and fewer than 50 are written
//   lstm : i, f, o = sigmoid(W_* x + U_* h + b_*), g = tanh(W_g x + U_g h + b_g)
//          c' = f * c + i * g, h' = o * tanh(c')
//
// Run it:
//   batch-run examples/mlir/seq2seq.mlir --params=random:0 \
//     --inputs=random:1,10 --batch=10 --check-unbatched

!vec = tensor<256xf32>
!mat = tensor<256x256xf32>
!table = tensor<3797x256xf32>
!logits = tensor<3797xf32>
!words = tensor<50xi32>
!states = tensor<50x256xf32>
!scalar = tensor<f32>
!number = tensor<i32>

module attributes {batch.sizes = {H = 256 : index, V = 3797 : index}} {
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

  // Returns the first position of the largest logit.
  func.func private @argmax(%logits: !logits) -> i32 {
    %low = arith.constant dense<0xFF800000> : !scalar
    %most = linalg.reduce { arith.maximumf } ins(%logits : !logits) outs(%low : !scalar)
        dimensions = [0]
    %none = arith.constant dense<2147483647> : !number
    %first = linalg.generic {
        indexing_maps = [affine_map<(d) -> (d)>, affine_map<(d) -> ()>, affine_map<(d) -> ()>],
        iterator_types = ["reduction"]}
        ins(%logits, %most : !logits, !scalar) outs(%none : !number) {
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

  // Writes `word` to position t of the words.
  func.func private @put_word(%words: !words, %word: i32, %t: index) -> !words {
    %next = tensor.insert %word into %words[%t] : !words
    return %next : !words
  }

  // Writes h to row t of the states.
  func.func private @put_state(%states: !states, %h: !vec, %t: index) -> !states {
    %next = tensor.insert_slice %h into %states[%t, 0] [1, 256] [1, 1]
        : !vec into !states
    return %next : !states
  }

  func.func @main(%h0: !vec {batch.name = "h0"}, %c0: !vec {batch.name = "c0"},
                  %E: !table {batch.shared = "E"},
                  %W_i: !mat {batch.shared = "l.W_i"},
                  %U_i: !mat {batch.shared = "l.U_i"},
                  %b_i: !vec {batch.shared = "l.b_i"},
                  %W_f: !mat {batch.shared = "l.W_f"},
                  %U_f: !mat {batch.shared = "l.U_f"},
                  %b_f: !vec {batch.shared = "l.b_f"},
                  %W_g: !mat {batch.shared = "l.W_g"},
                  %U_g: !mat {batch.shared = "l.U_g"},
                  %b_g: !vec {batch.shared = "l.b_g"},
                  %W_o: !mat {batch.shared = "l.W_o"},
                  %U_o: !mat {batch.shared = "l.U_o"},
                  %b_o: !vec {batch.shared = "l.b_o"},
                  %W_out: !table {batch.shared = "out.W"},
                  %b_out: !logits {batch.shared = "out.b"})
      -> (i32 {batch.name = "count"}, !words {batch.name = "out"},
          !states {batch.name = "h"}) attributes {batch.entry} {
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    %most = arith.constant 50 : index
    %start = arith.constant 1 : i32
    %end = arith.constant 0 : i32
    %no_words = arith.constant dense<0> : !words
    %no_states = arith.constant dense<0.0> : !states
    %r:6 = scf.while (%t = %zero, %word = %start, %hs = %h0, %cs = %c0,
                      %words = %no_words, %states = %no_states)
        : (index, i32, !vec, !vec, !words, !states)
        -> (index, i32, !vec, !vec, !words, !states) {
      %w = arith.index_cast %word : i32 to index
      %x = tensor.extract_slice %E[%w, 0] [1, 256] [1, 1] : !table to !vec
      %h, %c = func.call @lstm(%x, %hs, %cs, %W_i, %U_i, %b_i, %W_f, %U_f, %b_f,
          %W_g, %U_g, %b_g, %W_o, %U_o, %b_o)
          : (!vec, !vec, !vec, !mat, !mat, !vec, !mat, !mat, !vec,
             !mat, !mat, !vec, !mat, !mat, !vec) -> (!vec, !vec)
      %y = linalg.matvec ins(%W_out, %h : !table, !vec) outs(%b_out : !logits) -> !logits
      %next = func.call @argmax(%y) : (!logits) -> i32
      %words_next = func.call @put_word(%words, %next, %t) : (!words, i32, index) -> !words
      %states_next = func.call @put_state(%states, %h, %t)
          : (!states, !vec, index) -> !states
      %count = arith.addi %t, %one : index
      %goes_on = arith.cmpi ne, %next, %end : i32
      %has_room = arith.cmpi ult, %count, %most : index
      %again = arith.andi %goes_on, %has_room : i1
      scf.condition(%again) %count, %next, %h, %c, %words_next, %states_next
          : index, i32, !vec, !vec, !words, !states
    } do {
    ^bb0(%t: index, %word: i32, %hs: !vec, %cs: !vec, %words: !words, %states: !states):
      scf.yield %t, %word, %hs, %cs, %words, %states
          : index, i32, !vec, !vec, !words, !states
    }
    %count = arith.index_cast %r#0 : index to i32
    return %count, %r#4, %r#5 : i32, !words, !states
  }
}
