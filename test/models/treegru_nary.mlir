// N-ary TreeGRU: a binary constituency encoder with matrices per child
// (0 leaf, 1 left, 2 right) and an output layer at every node.
//
//   update_k(h)   : r = sigmoid(U_rk h + b_r), z = sigmoid(U_zk h + b_z)
//                   c = tanh(U_ck (r * h) + b_c)
//                   z * h + (1 - z) * c
//   gru(leaf w)   = update_0(E[w])
//   gru(node l r) = (update_1(gru(l)) + update_2(gru(r))) / 2
//   logits        = W_out h
//
// Run it:
//   batch-run test/models/treegru_nary.mlir --params=random:0 \
//     --inputs=examples/data/trees.txt --batch=12 --check-unbatched

!vec = tensor<256xf32>
!mat = tensor<256x256xf32>
!emb = tensor<?x256xf32>
!out = tensor<5x256xf32>
!classes = tensor<5xf32>
!tree = !rec.adt<@Tree>
!states = !rec.adt<@States>

module attributes {batch.sizes = {H = 256 : index}} {
  rec.adt @Tree kind tree arity 2 {
    rec.variant @leaf(word: index)
    rec.variant @node(left: !tree, right: !tree)
  }

  // Result of the model: h and logits of every node.
  rec.adt @States {
    rec.variant @leaf(h: !vec, logits: !classes)
    rec.variant @node(left: !states, right: !states, h: !vec, logits: !classes)
  }

  func.func private @sigmoid(%x: !vec) -> !vec {
    %one = arith.constant dense<1.0> : !vec
    %n = arith.negf %x : !vec
    %e = math.exp %n : !vec
    %d = arith.addf %one, %e : !vec
    %y = arith.divf %one, %d : !vec
    return %y : !vec
  }

  func.func private @update(%h: !vec, %U_r: !mat, %U_z: !mat, %U_c: !mat,
                            %b_r: !vec, %b_z: !vec, %b_c: !vec) -> !vec {
    %ar = linalg.matvec ins(%U_r, %h : !mat, !vec) outs(%b_r : !vec) -> !vec
    %r = call @sigmoid(%ar) : (!vec) -> !vec
    %az = linalg.matvec ins(%U_z, %h : !mat, !vec) outs(%b_z : !vec) -> !vec
    %z = call @sigmoid(%az) : (!vec) -> !vec
    %rh = arith.mulf %r, %h : !vec
    %ac = linalg.matvec ins(%U_c, %rh : !mat, !vec) outs(%b_c : !vec) -> !vec
    %c = math.tanh %ac : !vec
    %one = arith.constant dense<1.0> : !vec
    %keep = arith.mulf %z, %h : !vec
    %nz = arith.subf %one, %z : !vec
    %new = arith.mulf %nz, %c : !vec
    %y = arith.addf %keep, %new : !vec
    return %y : !vec
  }

  func.func private @output(%h: !vec, %W_out: !out) -> !classes {
    %zero = arith.constant dense<0.0> : !classes
    %y = linalg.matvec ins(%W_out, %h : !out, !vec)
                       outs(%zero : !classes) -> !classes
    return %y : !classes
  }

  func.func private @encode(
      %t: !tree, %E: !emb, %U_r0: !mat, %U_z0: !mat, %U_c0: !mat,
      %U_r1: !mat, %U_z1: !mat, %U_c1: !mat,
      %U_r2: !mat, %U_z2: !mat, %U_c2: !mat,
      %b_r: !vec, %b_z: !vec, %b_c: !vec, %W_out: !out) -> (!vec, !states) {
    %h, %s = rec.match %t : !tree -> !vec, !states {
    case @leaf(%word: index) {
      %x = tensor.extract_slice %E[%word, 0] [1, 256] [1, 1] : !emb to !vec
      %h = func.call @update(%x, %U_r0, %U_z0, %U_c0, %b_r, %b_z, %b_c)
          : (!vec, !mat, !mat, !mat, !vec, !vec, !vec) -> !vec
      %logits = func.call @output(%h, %W_out) : (!vec, !out) -> !classes
      %s = rec.construct @States::@leaf(%h, %logits)
          : (!vec, !classes) -> !states
      rec.yield %h, %s : !vec, !states
    }
    case @node(%l: !tree, %r: !tree) {
      %hl, %sl = func.call @encode(
          %l, %E, %U_r0, %U_z0, %U_c0, %U_r1, %U_z1, %U_c1, %U_r2, %U_z2,
          %U_c2, %b_r, %b_z, %b_c, %W_out)
          : (!tree, !emb, !mat, !mat, !mat, !mat, !mat, !mat, !mat, !mat, !mat,
             !vec, !vec, !vec, !out) -> (!vec, !states)
      %hr, %sr = func.call @encode(
          %r, %E, %U_r0, %U_z0, %U_c0, %U_r1, %U_z1, %U_c1, %U_r2, %U_z2,
          %U_c2, %b_r, %b_z, %b_c, %W_out)
          : (!tree, !emb, !mat, !mat, !mat, !mat, !mat, !mat, !mat, !mat, !mat,
             !vec, !vec, !vec, !out) -> (!vec, !states)
      %ul = func.call @update(%hl, %U_r1, %U_z1, %U_c1, %b_r, %b_z, %b_c)
          : (!vec, !mat, !mat, !mat, !vec, !vec, !vec) -> !vec
      %ur = func.call @update(%hr, %U_r2, %U_z2, %U_c2, %b_r, %b_z, %b_c)
          : (!vec, !mat, !mat, !mat, !vec, !vec, !vec) -> !vec
      %half = arith.constant dense<0.5> : !vec
      %sum = arith.addf %ul, %ur : !vec
      %h = arith.mulf %half, %sum : !vec
      %logits = func.call @output(%h, %W_out) : (!vec, !out) -> !classes
      %s = rec.construct @States::@node(%sl, %sr, %h, %logits)
          : (!states, !states, !vec, !classes) -> !states
      rec.yield %h, %s : !vec, !states
    } }
    return %h, %s : !vec, !states
  }

  func.func @main(%tree: !tree {batch.name = "tree"},
                  %E: !emb {batch.shared = "E"},
                  %U_r0: !mat {batch.shared = "U_r0"},
                  %U_z0: !mat {batch.shared = "U_z0"},
                  %U_c0: !mat {batch.shared = "U_c0"},
                  %U_r1: !mat {batch.shared = "U_r1"},
                  %U_z1: !mat {batch.shared = "U_z1"},
                  %U_c1: !mat {batch.shared = "U_c1"},
                  %U_r2: !mat {batch.shared = "U_r2"},
                  %U_z2: !mat {batch.shared = "U_z2"},
                  %U_c2: !mat {batch.shared = "U_c2"},
                  %b_r: !vec {batch.shared = "b_r"},
                  %b_z: !vec {batch.shared = "b_z"},
                  %b_c: !vec {batch.shared = "b_c"},
                  %W_out: !out {batch.shared = "W_out"})
      -> (!states {batch.name = "states"}) attributes {batch.entry} {
    %h, %states = call @encode(
        %tree, %E, %U_r0, %U_z0, %U_c0, %U_r1, %U_z1, %U_c1, %U_r2, %U_z2,
        %U_c2, %b_r, %b_z, %b_c, %W_out)
        : (!tree, !emb, !mat, !mat, !mat, !mat, !mat, !mat, !mat, !mat, !mat,
           !vec, !vec, !vec, !out) -> (!vec, !states)
    return %states : !states
  }
}
