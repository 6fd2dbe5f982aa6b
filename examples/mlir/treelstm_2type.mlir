// TreeLSTM-2Type, a workload of ED-Batch (Chen et al., ICML 2023): an N-ary TreeLSTM with
// two inner cells. A branch on the type of an inner node selects its weights, so tasks of two
// kinds compete for the next batch.
//
//   lstm(leaf w)      : i, o = sigmoid(W_* E[w] + b_*), u = tanh(W_u E[w] + b_u)
//                       c = i * u, h = o * tanh(c)
//   lstm(node l r t)  : e = [h_l; h_r]
//                       i, o = sigmoid(U_* e + b_*), u = tanh(U_u e + b_u)
//                       f_l = sigmoid(U_fl h_l + b_f)
//                       f_r = sigmoid(U_fr h_r + b_f)
//                       c = i * u + f_l * c_l + f_r * c_r, h = o * tanh(c)
//                       with the weights and biases of type t
//   logits            = W_out h
//
// Run it:
//   batch-run examples/mlir/treelstm_2type.mlir --params=random:0 \
//     --inputs=examples/data/typed_trees.jsonl --batch=10 --check-unbatched

!vec = tensor<256xf32>
!pair = tensor<512xf32>
!mat = tensor<256x256xf32>
!wide = tensor<256x512xf32>
!emb = tensor<?x256xf32>
!out = tensor<5x256xf32>
!classes = tensor<5xf32>
!tree = !rec.adt<@Tree>
!states = !rec.adt<@States>

module attributes {batch.sizes = {H = 256 : index}} {
  rec.adt @Tree kind tree arity 2 {
    rec.variant @leaf(word: index)
    rec.variant @node(left: !tree, right: !tree, type: index)
  }

  // Result of the model: h, c and logits of every node.
  rec.adt @States {
    rec.variant @leaf(h: !vec, c: !vec, logits: !classes)
    rec.variant @node(left: !states, right: !states,
                      h: !vec, c: !vec, logits: !classes)
  }

  func.func private @sigmoid(%x: !vec) -> !vec {
    %one = arith.constant dense<1.0> : !vec
    %n = arith.negf %x : !vec
    %e = math.exp %n : !vec
    %d = arith.addf %one, %e : !vec
    %y = arith.divf %one, %d : !vec
    return %y : !vec
  }

  func.func private @output(%h: !vec, %W_out: !out) -> !classes {
    %zero = arith.constant dense<0.0> : !classes
    %y = linalg.matvec ins(%W_out, %h : !out, !vec)
                       outs(%zero : !classes) -> !classes
    return %y : !classes
  }

  func.func private @cell(
      %hl: !vec, %cl: !vec, %hr: !vec, %cr: !vec,
      %U_i: !wide, %U_o: !wide, %U_u: !wide, %U_fl: !mat, %U_fr: !mat,
      %b_i: !vec, %b_o: !vec, %b_u: !vec, %b_f: !vec) -> (!vec, !vec) {
    %e = tensor.concat dim(0) %hl, %hr : (!vec, !vec) -> !pair
    %ai = linalg.matvec ins(%U_i, %e : !wide, !pair) outs(%b_i : !vec) -> !vec
    %ao = linalg.matvec ins(%U_o, %e : !wide, !pair) outs(%b_o : !vec) -> !vec
    %au = linalg.matvec ins(%U_u, %e : !wide, !pair) outs(%b_u : !vec) -> !vec
    %al = linalg.matvec ins(%U_fl, %hl : !mat, !vec) outs(%b_f : !vec) -> !vec
    %ar = linalg.matvec ins(%U_fr, %hr : !mat, !vec) outs(%b_f : !vec) -> !vec
    %i = func.call @sigmoid(%ai) : (!vec) -> !vec
    %o = func.call @sigmoid(%ao) : (!vec) -> !vec
    %u = math.tanh %au : !vec
    %fl = func.call @sigmoid(%al) : (!vec) -> !vec
    %fr = func.call @sigmoid(%ar) : (!vec) -> !vec
    %iu = arith.mulf %i, %u : !vec
    %fcl = arith.mulf %fl, %cl : !vec
    %fcr = arith.mulf %fr, %cr : !vec
    %c0 = arith.addf %iu, %fcl : !vec
    %c = arith.addf %c0, %fcr : !vec
    %tc = math.tanh %c : !vec
    %h = arith.mulf %o, %tc : !vec
    return %h, %c : !vec, !vec
  }

  func.func private @encode(%t: !tree, %E: !emb, %W_i: !mat, %W_o: !mat, %W_u: !mat,
      %U_i: !wide, %U_o: !wide, %U_u: !wide, %U_fl: !mat, %U_fr: !mat, %b_i: !vec,
      %b_o: !vec, %b_u: !vec, %b_f: !vec, %U_i1: !wide, %U_o1: !wide, %U_u1: !wide,
      %U_fl1: !mat, %U_fr1: !mat, %b_i1: !vec, %b_o1: !vec, %b_u1: !vec, %b_f1: !vec,
      %W_out: !out)
      -> (!vec, !vec, !states) {
    %h, %c, %s = rec.match %t : !tree -> !vec, !vec, !states {
    case @leaf(%word: index) {
      %x = tensor.extract_slice %E[%word, 0] [1, 256] [1, 1] : !emb to !vec
      %ai = linalg.matvec ins(%W_i, %x : !mat, !vec) outs(%b_i : !vec) -> !vec
      %ao = linalg.matvec ins(%W_o, %x : !mat, !vec) outs(%b_o : !vec) -> !vec
      %au = linalg.matvec ins(%W_u, %x : !mat, !vec) outs(%b_u : !vec) -> !vec
      %i = func.call @sigmoid(%ai) : (!vec) -> !vec
      %o = func.call @sigmoid(%ao) : (!vec) -> !vec
      %u = math.tanh %au : !vec
      %c = arith.mulf %i, %u : !vec
      %tc = math.tanh %c : !vec
      %h = arith.mulf %o, %tc : !vec
      %logits = func.call @output(%h, %W_out) : (!vec, !out) -> !classes
      %s = rec.construct @States::@leaf(%h, %c, %logits)
          : (!vec, !vec, !classes) -> !states
      rec.yield %h, %c, %s : !vec, !vec, !states
    }
    case @node(%l: !tree, %r: !tree, %type: index) {
      %hl, %cl, %sl = func.call @encode(%l, %E, %W_i, %W_o, %W_u, %U_i, %U_o, %U_u, %U_fl,
          %U_fr, %b_i, %b_o, %b_u, %b_f, %U_i1, %U_o1, %U_u1, %U_fl1, %U_fr1, %b_i1, %b_o1,
          %b_u1, %b_f1, %W_out)
          : (!tree, !emb, !mat, !mat, !mat, !wide, !wide, !wide, !mat, !mat, !vec, !vec,
             !vec, !vec, !wide, !wide, !wide, !mat, !mat, !vec, !vec, !vec, !vec,
             !out) -> (!vec, !vec, !states)
      %hr, %cr, %sr = func.call @encode(%r, %E, %W_i, %W_o, %W_u, %U_i, %U_o, %U_u, %U_fl,
          %U_fr, %b_i, %b_o, %b_u, %b_f, %U_i1, %U_o1, %U_u1, %U_fl1, %U_fr1, %b_i1, %b_o1,
          %b_u1, %b_f1, %W_out)
          : (!tree, !emb, !mat, !mat, !mat, !wide, !wide, !wide, !mat, !mat, !vec, !vec,
             !vec, !vec, !wide, !wide, !wide, !mat, !mat, !vec, !vec, !vec, !vec,
             !out) -> (!vec, !vec, !states)
      %zero = arith.constant 0 : index
      %first = arith.cmpi eq, %type, %zero : index
      %h, %c = scf.if %first -> (!vec, !vec) {
        %ht, %ct = func.call @cell(%hl, %cl, %hr, %cr, %U_i, %U_o, %U_u, %U_fl, %U_fr, %b_i,
            %b_o, %b_u, %b_f)
            : (!vec, !vec, !vec, !vec, !wide, !wide, !wide, !mat, !mat,
               !vec, !vec, !vec, !vec) -> (!vec, !vec)
        scf.yield %ht, %ct : !vec, !vec
      } else {
        %ht, %ct = func.call @cell(%hl, %cl, %hr, %cr, %U_i1, %U_o1, %U_u1, %U_fl1, %U_fr1,
            %b_i1, %b_o1, %b_u1, %b_f1)
            : (!vec, !vec, !vec, !vec, !wide, !wide, !wide, !mat, !mat,
               !vec, !vec, !vec, !vec) -> (!vec, !vec)
        scf.yield %ht, %ct : !vec, !vec
      }
      %logits = func.call @output(%h, %W_out) : (!vec, !out) -> !classes
      %s = rec.construct @States::@node(%sl, %sr, %h, %c, %logits)
          : (!states, !states, !vec, !vec, !classes) -> !states
      rec.yield %h, %c, %s : !vec, !vec, !states
    } }
    return %h, %c, %s : !vec, !vec, !states
  }

  func.func @main(%tree: !tree {batch.name = "tree"}, %E: !emb {batch.shared = "E"},
                  %W_i: !mat {batch.shared = "W_i"}, %W_o: !mat {batch.shared = "W_o"},
                  %W_u: !mat {batch.shared = "W_u"}, %U_i: !wide {batch.shared = "U_i"},
                  %U_o: !wide {batch.shared = "U_o"}, %U_u: !wide {batch.shared = "U_u"},
                  %U_fl: !mat {batch.shared = "U_fl"}, %U_fr: !mat {batch.shared = "U_fr"},
                  %b_i: !vec {batch.shared = "b_i"}, %b_o: !vec {batch.shared = "b_o"},
                  %b_u: !vec {batch.shared = "b_u"}, %b_f: !vec {batch.shared = "b_f"},
                  %U_i1: !wide {batch.shared = "U_i1"},
                  %U_o1: !wide {batch.shared = "U_o1"},
                  %U_u1: !wide {batch.shared = "U_u1"},
                  %U_fl1: !mat {batch.shared = "U_fl1"},
                  %U_fr1: !mat {batch.shared = "U_fr1"},
                  %b_i1: !vec {batch.shared = "b_i1"}, %b_o1: !vec {batch.shared = "b_o1"},
                  %b_u1: !vec {batch.shared = "b_u1"}, %b_f1: !vec {batch.shared = "b_f1"},
                  %W_out: !out {batch.shared = "W_out"})
      -> (!states {batch.name = "states"}) attributes {batch.entry} {
    %h, %c, %states = call @encode(%tree, %E, %W_i, %W_o, %W_u, %U_i, %U_o, %U_u, %U_fl,
        %U_fr, %b_i, %b_o, %b_u, %b_f, %U_i1, %U_o1, %U_u1, %U_fl1, %U_fr1, %b_i1, %b_o1,
        %b_u1, %b_f1, %W_out)
        : (!tree, !emb, !mat, !mat, !mat, !wide, !wide, !wide, !mat, !mat, !vec, !vec, !vec,
           !vec, !wide, !wide, !wide, !mat, !mat, !vec, !vec, !vec, !vec,
           !out) -> (!vec, !vec, !states)
    return %states : !states
  }
}
