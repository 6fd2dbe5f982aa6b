// LatticeLSTM as in ED-Batch: an encoder of the characters of a sentence and
// of all dictionary words in it. The state of a position between
// characters is the sum of the results of all arcs that end there.
//
//   state(start)    = (h0, c0)
//   state(position) = the sum of lstm_char(E_c[char], state(position before)) and,
//                     for each word, of lstm_word(E_w[word], state(where it begins))
//   logits          = W_out h, at every position
//   lstm            : i, f, o = sigmoid(W_* x + U_* h + b_*)
//                     g = tanh(W_g x + U_g h + b_g)
//                     c' = f * c + i * g, h' = o * tanh(c')
//
// An instance is the last position, from which all other positions are reachable.
//
// Run it:
//   batch-run test/models/lattice_lstm_ed.mlir --params=random:0 \
//     --inputs=examples/data/lattices.jsonl --batch=10 --check-unbatched

!vec = tensor<256xf32>
!rows = tensor<?x256xf32>
!mat = tensor<256x256xf32>
!emb = tensor<?x256xf32>
!out = tensor<8x256xf32>
!classes = tensor<8xf32>
!position = !rec.adt<@Position>
!arc = !rec.adt<@Arc>
!arcs = !rec.list<!arc>
!states = !rec.adt<@States>

module attributes {batch.sizes = {H = 256 : index}} {
  // Positions between characters. The arcs that end at a position are the character before it
  // and the words that end there; words begin at earlier positions.
  rec.adt @Position kind dag {
    rec.variant @start()
    rec.variant @after(char: index, before: !position, words: !arcs)
  }
  rec.adt @Arc {
    rec.variant @word(word: index, begin: !position)
  }

  // Result of the model: h, c and logits of every position.
  rec.adt @States {
    rec.variant @start(h: !vec, c: !vec, logits: !classes)
    rec.variant @after(before: !states, h: !vec, c: !vec, logits: !classes)
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

  func.func private @embed(%i: index, %E: !emb) -> !vec {
    %x = tensor.extract_slice %E[%i, 0] [1, 256] [1, 1] : !emb to !vec
    return %x : !vec
  }

  func.func private @output(%h: !vec, %W_out: !out) -> !classes {
    %zero = arith.constant dense<0.0> : !classes
    %y = linalg.matvec ins(%W_out, %h : !out, !vec) outs(%zero : !classes) -> !classes
    return %y : !classes
  }

  func.func private @visit(%p: !position, %E_c: !emb, %E_w: !emb, %W_ic: !mat, %U_ic: !mat,
      %b_ic: !vec, %W_fc: !mat, %U_fc: !mat, %b_fc: !vec, %W_gc: !mat, %U_gc: !mat,
      %b_gc: !vec, %W_oc: !mat, %U_oc: !mat, %b_oc: !vec, %W_iw: !mat, %U_iw: !mat,
      %b_iw: !vec, %W_fw: !mat, %U_fw: !mat, %b_fw: !vec, %W_gw: !mat, %U_gw: !mat,
      %b_gw: !vec, %W_ow: !mat, %U_ow: !mat, %b_ow: !vec, %h0: !vec, %c0: !vec,
      %W_out: !out)
      -> (!vec, !vec, !states) {
    %h, %c, %s = rec.match %p : !position -> !vec, !vec, !states {
    case @start() {
      %logits = func.call @output(%h0, %W_out) : (!vec, !out) -> !classes
      %s = rec.construct @States::@start(%h0, %c0, %logits)
          : (!vec, !vec, !classes) -> !states
      rec.yield %h0, %c0, %s : !vec, !vec, !states
    }
    case @after(%char: index, %before: !position, %words: !arcs) {
      %hb, %cb, %sb = func.call @visit(%before, %E_c, %E_w, %W_ic, %U_ic, %b_ic, %W_fc,
          %U_fc, %b_fc, %W_gc, %U_gc, %b_gc, %W_oc, %U_oc, %b_oc, %W_iw, %U_iw, %b_iw,
          %W_fw, %U_fw, %b_fw, %W_gw, %U_gw, %b_gw, %W_ow, %U_ow, %b_ow, %h0, %c0, %W_out)
          : (!position, !emb, !emb, !mat, !mat, !vec, !mat, !mat, !vec, !mat, !mat, !vec,
             !mat, !mat, !vec, !mat, !mat, !vec, !mat, !mat, !vec, !mat, !mat, !vec, !mat,
             !mat, !vec, !vec, !vec, !out) -> (!vec, !vec, !states)
      %x = func.call @embed(%char, %E_c) : (index, !emb) -> !vec
      %hc, %cc = func.call @lstm(%x, %hb, %cb, %W_ic, %U_ic, %b_ic, %W_fc, %U_fc, %b_fc,
          %W_gc, %U_gc, %b_gc, %W_oc, %U_oc, %b_oc)
          : (!vec, !vec, !vec, !mat, !mat, !vec, !mat, !mat, !vec, !mat, !mat, !vec, !mat,
             !mat, !vec) -> (!vec, !vec)
      %hs, %cs = rec.map %a in %words : !arcs -> !rows, !rows {
        %ha, %ca = rec.match %a : !arc -> !vec, !vec {
        case @word(%word: index, %begin: !position) {
          %hw, %cw, %sw = func.call @visit(%begin, %E_c, %E_w, %W_ic, %U_ic, %b_ic, %W_fc,
              %U_fc, %b_fc, %W_gc, %U_gc, %b_gc, %W_oc, %U_oc, %b_oc, %W_iw, %U_iw, %b_iw,
              %W_fw, %U_fw, %b_fw, %W_gw, %U_gw, %b_gw, %W_ow, %U_ow, %b_ow, %h0, %c0,
              %W_out)
              : (!position, !emb, !emb, !mat, !mat, !vec, !mat, !mat, !vec, !mat, !mat,
                 !vec, !mat, !mat, !vec, !mat, !mat, !vec, !mat, !mat, !vec, !mat, !mat,
                 !vec, !mat, !mat, !vec, !vec, !vec, !out) -> (!vec, !vec, !states)
          %xw = func.call @embed(%word, %E_w) : (index, !emb) -> !vec
          %hn, %cn = func.call @lstm(%xw, %hw, %cw, %W_iw, %U_iw, %b_iw, %W_fw, %U_fw,
              %b_fw, %W_gw, %U_gw, %b_gw, %W_ow, %U_ow, %b_ow)
              : (!vec, !vec, !vec, !mat, !mat, !vec, !mat, !mat, !vec, !mat, !mat, !vec,
                 !mat, !mat, !vec) -> (!vec, !vec)
          rec.yield %hn, %cn : !vec, !vec
        } }
        rec.yield %ha, %ca : !vec, !vec
      }
      %h = linalg.reduce { arith.addf } ins(%hs : !rows) outs(%hc : !vec)
          dimensions = [0]
      %c = linalg.reduce { arith.addf } ins(%cs : !rows) outs(%cc : !vec)
          dimensions = [0]
      %logits = func.call @output(%h, %W_out) : (!vec, !out) -> !classes
      %s = rec.construct @States::@after(%sb, %h, %c, %logits)
          : (!states, !vec, !vec, !classes) -> !states
      rec.yield %h, %c, %s : !vec, !vec, !states
    } }
    return %h, %c, %s : !vec, !vec, !states
  }

  func.func @main(%end: !position {batch.name = "end"}, %E_c: !emb {batch.shared = "E_c"},
                  %E_w: !emb {batch.shared = "E_w"}, %W_ic: !mat {batch.shared = "W_ic"},
                  %U_ic: !mat {batch.shared = "U_ic"}, %b_ic: !vec {batch.shared = "b_ic"},
                  %W_fc: !mat {batch.shared = "W_fc"}, %U_fc: !mat {batch.shared = "U_fc"},
                  %b_fc: !vec {batch.shared = "b_fc"}, %W_gc: !mat {batch.shared = "W_gc"},
                  %U_gc: !mat {batch.shared = "U_gc"}, %b_gc: !vec {batch.shared = "b_gc"},
                  %W_oc: !mat {batch.shared = "W_oc"}, %U_oc: !mat {batch.shared = "U_oc"},
                  %b_oc: !vec {batch.shared = "b_oc"}, %W_iw: !mat {batch.shared = "W_iw"},
                  %U_iw: !mat {batch.shared = "U_iw"}, %b_iw: !vec {batch.shared = "b_iw"},
                  %W_fw: !mat {batch.shared = "W_fw"}, %U_fw: !mat {batch.shared = "U_fw"},
                  %b_fw: !vec {batch.shared = "b_fw"}, %W_gw: !mat {batch.shared = "W_gw"},
                  %U_gw: !mat {batch.shared = "U_gw"}, %b_gw: !vec {batch.shared = "b_gw"},
                  %W_ow: !mat {batch.shared = "W_ow"}, %U_ow: !mat {batch.shared = "U_ow"},
                  %b_ow: !vec {batch.shared = "b_ow"}, %h0: !vec {batch.shared = "h0"},
                  %c0: !vec {batch.shared = "c0"}, %W_out: !out {batch.shared = "W_out"})
      -> (!states {batch.name = "states"}) attributes {batch.entry} {
    %h, %c, %states = call @visit(%end, %E_c, %E_w, %W_ic, %U_ic, %b_ic, %W_fc, %U_fc,
        %b_fc, %W_gc, %U_gc, %b_gc, %W_oc, %U_oc, %b_oc, %W_iw, %U_iw, %b_iw, %W_fw, %U_fw,
        %b_fw, %W_gw, %U_gw, %b_gw, %W_ow, %U_ow, %b_ow, %h0, %c0, %W_out)
        : (!position, !emb, !emb, !mat, !mat, !vec, !mat, !mat, !vec, !mat, !mat, !vec,
           !mat, !mat, !vec, !mat, !mat, !vec, !mat, !mat, !vec, !mat, !mat, !vec, !mat,
           !mat, !vec, !vec, !vec, !out) -> (!vec, !vec, !states)
    return %states : !states
  }
}
