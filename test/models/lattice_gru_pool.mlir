// LatticeGRU (Su et al. 2017) with pooling: an encoder of the characters of a
// sentence and of all dictionary words in it.
//
//   h(start)    = h0
//   h(position) = the elementwise maximum of gru(E_c[char], h(position before))
//                 and, for each word, of gru(E_w[word], h(where it begins))
//   logits      = W_out h, at every position
//   gru         : r, z = sigmoid(W_* x + U_* h + b_*)
//                 n = tanh(W_h x + U_h (r * h) + b_h), h' = z * h + (1 - z) * n
//
// An instance is the last position, from which all other positions are reachable.
//
// Run it:
//   batch-run test/models/lattice_gru_pool.mlir --params=random:0 \
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
  // Positions between characters. The arcs that end at a position are the character before
  // it and the words that end there; words begin at earlier positions.
  rec.adt @Position kind dag {
    rec.variant @start()
    rec.variant @after(char: index, before: !position, words: !arcs)
  }
  rec.adt @Arc {
    rec.variant @word(word: index, begin: !position)
  }

  // Result of the model: h and logits of every position.
  rec.adt @States {
    rec.variant @start(h: !vec, logits: !classes)
    rec.variant @after(before: !states, h: !vec, logits: !classes)
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

  func.func private @gru(
      %x: !vec, %h: !vec, %W_r: !mat, %U_r: !mat, %b_r: !vec,
      %W_z: !mat, %U_z: !mat, %b_z: !vec, %W_h: !mat, %U_h: !mat, %b_h: !vec) -> !vec {
    %ar = func.call @gate(%x, %h, %W_r, %U_r, %b_r) : (!vec, !vec, !mat, !mat, !vec) -> !vec
    %az = func.call @gate(%x, %h, %W_z, %U_z, %b_z) : (!vec, !vec, !mat, !mat, !vec) -> !vec
    %r = func.call @sigmoid(%ar) : (!vec) -> !vec
    %z = func.call @sigmoid(%az) : (!vec) -> !vec
    %rh = arith.mulf %r, %h : !vec
    %an = func.call @gate(%x, %rh, %W_h, %U_h, %b_h)
        : (!vec, !vec, !mat, !mat, !vec) -> !vec
    %n = math.tanh %an : !vec
    %one = arith.constant dense<1.0> : !vec
    %rest = arith.subf %one, %z : !vec
    %zh = arith.mulf %z, %h : !vec
    %zn = arith.mulf %rest, %n : !vec
    %y = arith.addf %zh, %zn : !vec
    return %y : !vec
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

  func.func private @visit(%p: !position, %E_c: !emb, %E_w: !emb, %W_rc: !mat, %U_rc: !mat,
      %b_rc: !vec, %W_zc: !mat, %U_zc: !mat, %b_zc: !vec, %W_hc: !mat, %U_hc: !mat,
      %b_hc: !vec, %h0: !vec, %W_out: !out)
      -> (!vec, !states) {
    %h, %s = rec.match %p : !position -> !vec, !states {
    case @start() {
      %logits = func.call @output(%h0, %W_out) : (!vec, !out) -> !classes
      %s = rec.construct @States::@start(%h0, %logits) : (!vec, !classes) -> !states
      rec.yield %h0, %s : !vec, !states
    }
    case @after(%char: index, %before: !position, %words: !arcs) {
      %hb, %sb = func.call @visit(%before, %E_c, %E_w, %W_rc, %U_rc, %b_rc, %W_zc, %U_zc,
          %b_zc, %W_hc, %U_hc, %b_hc, %h0, %W_out)
          : (!position, !emb, !emb, !mat, !mat, !vec, !mat, !mat, !vec, !mat, !mat, !vec,
             !vec, !out) -> (!vec, !states)
      %x = func.call @embed(%char, %E_c) : (index, !emb) -> !vec
      %hc = func.call @gru(%x, %hb, %W_rc, %U_rc, %b_rc, %W_zc, %U_zc, %b_zc, %W_hc, %U_hc,
          %b_hc)
          : (!vec, !vec, !mat, !mat, !vec, !mat, !mat, !vec, !mat, !mat, !vec) -> !vec
      %hs = rec.map %a in %words : !arcs -> !rows {
        %ha = rec.match %a : !arc -> !vec {
        case @word(%word: index, %begin: !position) {
          %hw, %sw = func.call @visit(%begin, %E_c, %E_w, %W_rc, %U_rc, %b_rc, %W_zc, %U_zc,
              %b_zc, %W_hc, %U_hc, %b_hc, %h0, %W_out)
              : (!position, !emb, !emb, !mat, !mat, !vec, !mat, !mat, !vec, !mat, !mat,
                 !vec, !vec, !out) -> (!vec, !states)
          %xw = func.call @embed(%word, %E_w) : (index, !emb) -> !vec
          %hn = func.call @gru(%xw, %hw, %W_rc, %U_rc, %b_rc, %W_zc, %U_zc, %b_zc, %W_hc,
              %U_hc, %b_hc)
              : (!vec, !vec, !mat, !mat, !vec, !mat, !mat, !vec, !mat, !mat, !vec) -> !vec
          rec.yield %hn : !vec
        } }
        rec.yield %ha : !vec
      }
      %h = linalg.reduce { arith.maximumf } ins(%hs : !rows) outs(%hc : !vec)
          dimensions = [0]
      %logits = func.call @output(%h, %W_out) : (!vec, !out) -> !classes
      %s = rec.construct @States::@after(%sb, %h, %logits)
          : (!states, !vec, !classes) -> !states
      rec.yield %h, %s : !vec, !states
    } }
    return %h, %s : !vec, !states
  }

  func.func @main(%end: !position {batch.name = "end"}, %E_c: !emb {batch.shared = "E_c"},
                  %E_w: !emb {batch.shared = "E_w"}, %W_rc: !mat {batch.shared = "W_rc"},
                  %U_rc: !mat {batch.shared = "U_rc"}, %b_rc: !vec {batch.shared = "b_rc"},
                  %W_zc: !mat {batch.shared = "W_zc"}, %U_zc: !mat {batch.shared = "U_zc"},
                  %b_zc: !vec {batch.shared = "b_zc"}, %W_hc: !mat {batch.shared = "W_hc"},
                  %U_hc: !mat {batch.shared = "U_hc"}, %b_hc: !vec {batch.shared = "b_hc"},
                  %h0: !vec {batch.shared = "h0"}, %W_out: !out {batch.shared = "W_out"})
      -> (!states {batch.name = "states"}) attributes {batch.entry} {
    %h, %states = call @visit(%end, %E_c, %E_w, %W_rc, %U_rc, %b_rc, %W_zc, %U_zc,
        %b_zc, %W_hc, %U_hc, %b_hc, %h0, %W_out)
        : (!position, !emb, !emb, !mat, !mat, !vec, !mat, !mat, !vec, !mat, !mat, !vec,
           !vec, !out) -> (!vec, !states)
    return %states : !states
  }
}
