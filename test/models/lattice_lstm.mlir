// LatticeLSTM (Zhang and Yang 2018): an encoder of the characters of a sentence.
// The state of each character includes the dictionary words that end there.
//
//   x = E_c[char], h and c of the character before (zero before the first)
//   i, o = sigmoid(W_* x + U_* h + b_*), g = tanh(W_g x + U_g h + b_g)
//   words that end here, with h_b, c_b of their first character:
//     f, iw = sigmoid(Ww_* E_w[word] + Uw_* h_b + bw_*), gw = tanh(...)
//     q = f * c_b + iw * gw, a = sigmoid(W_a x + U_a q + b_a)
//   without words   : c' = (1 - i) * c + i * g
//   with words      : c' = (exp(i) * g + sum of exp(a) * q) / (exp(i) + sum of exp(a))
//   h' = o * tanh(c')
//
// An instance is the last character, from which all other characters are reachable.
//
// Run it:
//   batch-run test/models/lattice_lstm.mlir --params=random:0 \
//     --inputs=examples/data/char_lattices.jsonl --batch=10 --check-unbatched

!vec = tensor<256xf32>
!rows = tensor<?x256xf32>
!mat = tensor<256x256xf32>
!emb = tensor<?x256xf32>
!char = !rec.adt<@Char>
!arc = !rec.adt<@Arc>
!arcs = !rec.list<!arc>
!states = !rec.adt<@States>

module attributes {batch.sizes = {H = 256 : index}} {
  // A character at which no word ends, one at which words end, or the start before
  // the first character.
  rec.adt @Char kind dag {
    rec.variant @none()
    rec.variant @plain(char: index, before: !char)
    rec.variant @joined(char: index, before: !char, words: !arcs)
  }
  rec.adt @Arc {
    rec.variant @word(word: index, begin: !char)
  }

  // Result of the model: h and c of every character.
  rec.adt @States {
    rec.variant @none()
    rec.variant @char(before: !states, h: !vec, c: !vec)
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

  func.func private @embed(%i: index, %E: !emb) -> !vec {
    %x = tensor.extract_slice %E[%i, 0] [1, 256] [1, 1] : !emb to !vec
    return %x : !vec
  }

  func.func private @gates(
      %x: !vec, %h: !vec, %W_i: !mat, %U_i: !mat, %b_i: !vec,
      %W_o: !mat, %U_o: !mat, %b_o: !vec, %W_g: !mat, %U_g: !mat, %b_g: !vec)
      -> (!vec, !vec, !vec) {
    %ai = func.call @gate(%x, %h, %W_i, %U_i, %b_i) : (!vec, !vec, !mat, !mat, !vec) -> !vec
    %ao = func.call @gate(%x, %h, %W_o, %U_o, %b_o) : (!vec, !vec, !mat, !mat, !vec) -> !vec
    %ag = func.call @gate(%x, %h, %W_g, %U_g, %b_g) : (!vec, !vec, !mat, !mat, !vec) -> !vec
    %i = func.call @sigmoid(%ai) : (!vec) -> !vec
    %o = func.call @sigmoid(%ao) : (!vec) -> !vec
    %g = math.tanh %ag : !vec
    return %i, %o, %g : !vec, !vec, !vec
  }

  func.func private @visit(%t: !char, %E_c: !emb, %E_w: !emb, %W_i: !mat, %U_i: !mat,
      %b_i: !vec, %W_o: !mat, %U_o: !mat, %b_o: !vec, %W_g: !mat, %U_g: !mat, %b_g: !vec,
      %Ww_f: !mat, %Uw_f: !mat, %bw_f: !vec, %Ww_i: !mat, %Uw_i: !mat, %bw_i: !vec,
      %Ww_g: !mat, %Uw_g: !mat, %bw_g: !vec, %W_a: !mat, %U_a: !mat, %b_a: !vec)
      -> (!vec, !vec, !states) {
    %h, %c, %s = rec.match %t : !char -> !vec, !vec, !states {
    case @none() {
      %zero = arith.constant dense<0.0> : !vec
      %s = rec.construct @States::@none() : () -> !states
      rec.yield %zero, %zero, %s : !vec, !vec, !states
    }
    case @plain(%char: index, %before: !char) {
      %hb, %cb, %sb = func.call @visit(%before, %E_c, %E_w, %W_i, %U_i, %b_i, %W_o, %U_o,
          %b_o, %W_g, %U_g, %b_g, %Ww_f, %Uw_f, %bw_f, %Ww_i, %Uw_i, %bw_i, %Ww_g, %Uw_g,
          %bw_g, %W_a, %U_a, %b_a)
          : (!char, !emb, !emb, !mat, !mat, !vec, !mat, !mat, !vec, !mat, !mat, !vec, !mat,
             !mat, !vec, !mat, !mat, !vec, !mat, !mat, !vec, !mat, !mat,
             !vec) -> (!vec, !vec, !states)
      %x = func.call @embed(%char, %E_c) : (index, !emb) -> !vec
      %i, %o, %g = func.call @gates(%x, %hb, %W_i, %U_i, %b_i, %W_o, %U_o, %b_o, %W_g, %U_g,
          %b_g)
          : (!vec, !vec, !mat, !mat, !vec, !mat, !mat, !vec, !mat, !mat,
             !vec) -> (!vec, !vec, !vec)
      %one = arith.constant dense<1.0> : !vec
      %f = arith.subf %one, %i : !vec
      %fc = arith.mulf %f, %cb : !vec
      %ig = arith.mulf %i, %g : !vec
      %c = arith.addf %fc, %ig : !vec
      %tc = math.tanh %c : !vec
      %h = arith.mulf %o, %tc : !vec
      %s = rec.construct @States::@char(%sb, %h, %c) : (!states, !vec, !vec) -> !states
      rec.yield %h, %c, %s : !vec, !vec, !states
    }
    case @joined(%char: index, %before: !char, %words: !arcs) {
      %hb, %cb, %sb = func.call @visit(%before, %E_c, %E_w, %W_i, %U_i, %b_i, %W_o, %U_o,
          %b_o, %W_g, %U_g, %b_g, %Ww_f, %Uw_f, %bw_f, %Ww_i, %Uw_i, %bw_i, %Ww_g, %Uw_g,
          %bw_g, %W_a, %U_a, %b_a)
          : (!char, !emb, !emb, !mat, !mat, !vec, !mat, !mat, !vec, !mat, !mat, !vec, !mat,
             !mat, !vec, !mat, !mat, !vec, !mat, !mat, !vec, !mat, !mat,
             !vec) -> (!vec, !vec, !states)
      %x = func.call @embed(%char, %E_c) : (index, !emb) -> !vec
      %i, %o, %g = func.call @gates(%x, %hb, %W_i, %U_i, %b_i, %W_o, %U_o, %b_o, %W_g, %U_g,
          %b_g)
          : (!vec, !vec, !mat, !mat, !vec, !mat, !mat, !vec, !mat, !mat,
             !vec) -> (!vec, !vec, !vec)
      %eas, %eqs = rec.map %arc in %words : !arcs -> !rows, !rows {
        %ea, %eq = rec.match %arc : !arc -> !vec, !vec {
        case @word(%word: index, %begin: !char) {
          %hw, %cw, %sw = func.call @visit(%begin, %E_c, %E_w, %W_i, %U_i, %b_i, %W_o, %U_o,
              %b_o, %W_g, %U_g, %b_g, %Ww_f, %Uw_f, %bw_f, %Ww_i, %Uw_i, %bw_i, %Ww_g,
              %Uw_g, %bw_g, %W_a, %U_a, %b_a)
              : (!char, !emb, !emb, !mat, !mat, !vec, !mat, !mat, !vec, !mat, !mat, !vec,
                 !mat, !mat, !vec, !mat, !mat, !vec, !mat, !mat, !vec, !mat, !mat,
                 !vec) -> (!vec, !vec, !states)
          %xw = func.call @embed(%word, %E_w) : (index, !emb) -> !vec
          %iw, %f, %gw = func.call @gates(%xw, %hw, %Ww_i, %Uw_i, %bw_i, %Ww_f, %Uw_f,
              %bw_f, %Ww_g, %Uw_g, %bw_g)
              : (!vec, !vec, !mat, !mat, !vec, !mat, !mat, !vec, !mat, !mat,
                 !vec) -> (!vec, !vec, !vec)
          %fc = arith.mulf %f, %cw : !vec
          %ig = arith.mulf %iw, %gw : !vec
          %q = arith.addf %fc, %ig : !vec
          %aa = func.call @gate(%x, %q, %W_a, %U_a, %b_a)
              : (!vec, !vec, !mat, !mat, !vec) -> !vec
          %a = func.call @sigmoid(%aa) : (!vec) -> !vec
          %e = math.exp %a : !vec
          %p = arith.mulf %e, %q : !vec
          rec.yield %e, %p : !vec, !vec
        } }
        rec.yield %ea, %eq : !vec, !vec
      }
      %ei = math.exp %i : !vec
      %eg = arith.mulf %ei, %g : !vec
      %all = linalg.reduce { arith.addf } ins(%eas : !rows) outs(%ei : !vec)
          dimensions = [0]
      %sum = linalg.reduce { arith.addf } ins(%eqs : !rows) outs(%eg : !vec)
          dimensions = [0]
      %c = arith.divf %sum, %all : !vec
      %tc = math.tanh %c : !vec
      %h = arith.mulf %o, %tc : !vec
      %s = rec.construct @States::@char(%sb, %h, %c) : (!states, !vec, !vec) -> !states
      rec.yield %h, %c, %s : !vec, !vec, !states
    } }
    return %h, %c, %s : !vec, !vec, !states
  }

  func.func @main(%end: !char {batch.name = "end"}, %E_c: !emb {batch.shared = "E_c"},
                  %E_w: !emb {batch.shared = "E_w"}, %W_i: !mat {batch.shared = "W_i"},
                  %U_i: !mat {batch.shared = "U_i"}, %b_i: !vec {batch.shared = "b_i"},
                  %W_o: !mat {batch.shared = "W_o"}, %U_o: !mat {batch.shared = "U_o"},
                  %b_o: !vec {batch.shared = "b_o"}, %W_g: !mat {batch.shared = "W_g"},
                  %U_g: !mat {batch.shared = "U_g"}, %b_g: !vec {batch.shared = "b_g"},
                  %Ww_f: !mat {batch.shared = "Ww_f"}, %Uw_f: !mat {batch.shared = "Uw_f"},
                  %bw_f: !vec {batch.shared = "bw_f"}, %Ww_i: !mat {batch.shared = "Ww_i"},
                  %Uw_i: !mat {batch.shared = "Uw_i"}, %bw_i: !vec {batch.shared = "bw_i"},
                  %Ww_g: !mat {batch.shared = "Ww_g"}, %Uw_g: !mat {batch.shared = "Uw_g"},
                  %bw_g: !vec {batch.shared = "bw_g"}, %W_a: !mat {batch.shared = "W_a"},
                  %U_a: !mat {batch.shared = "U_a"}, %b_a: !vec {batch.shared = "b_a"})
      -> (!states {batch.name = "states"}) attributes {batch.entry} {
    %h, %c, %states = call @visit(%end, %E_c, %E_w, %W_i, %U_i, %b_i, %W_o, %U_o, %b_o,
        %W_g, %U_g, %b_g, %Ww_f, %Uw_f, %bw_f, %Ww_i, %Uw_i, %bw_i, %Ww_g, %Uw_g, %bw_g,
        %W_a, %U_a, %b_a)
        : (!char, !emb, !emb, !mat, !mat, !vec, !mat, !mat, !vec, !mat, !mat, !vec, !mat,
           !mat, !vec, !mat, !mat, !vec, !mat, !mat, !vec, !mat, !mat,
           !vec) -> (!vec, !vec, !states)
    return %states : !states
  }
}
