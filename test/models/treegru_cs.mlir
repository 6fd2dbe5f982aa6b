// Child-sum TreeGRU over constituency trees: words at the leaves, any number
// of children.
//
//   gru(n): h_k = gru(child k), s = sum of h_k
//           r, z = sigmoid(W_* x + U_* s + b_*)
//           n = tanh(W_h x + U_h (r * s) + b_h)
//           h = z * s + (1 - z) * n
//
// x = E[word] and s = 0 at a leaf, and x = 0 at an inner node, so W_r is unused.
//
// Run it:
//   batch-run test/models/treegru_cs.mlir --params=random:0 \
//     --inputs=examples/data/nary_trees.txt --batch=12 --check-unbatched

!vec = tensor<256xf32>
!rows = tensor<?x256xf32>
!mat = tensor<256x256xf32>
!emb = tensor<?x256xf32>
!tree = !rec.adt<@Tree>
!trees = !rec.list<!tree>
!states = !rec.adt<@States>
!stateslist = !rec.list<!states>

module attributes {batch.sizes = {H = 256 : index}} {
  rec.adt @Tree kind tree {
    rec.variant @leaf(word: index)
    rec.variant @node(kids: !trees)
  }

  // Result of the model: h of every node.
  rec.adt @States {
    rec.variant @leaf(h: !vec)
    rec.variant @node(kids: !stateslist, h: !vec)
  }

  func.func private @sigmoid(%x: !vec) -> !vec {
    %one = arith.constant dense<1.0> : !vec
    %n = arith.negf %x : !vec
    %e = math.exp %n : !vec
    %d = arith.addf %one, %e : !vec
    %y = arith.divf %one, %d : !vec
    return %y : !vec
  }

  // The sum of the children's rows, or zero without children.
  func.func private @sum(%xs: !rows) -> !vec {
    %zero = arith.constant dense<0.0> : !vec
    %s = linalg.reduce { arith.addf } ins(%xs : !rows) outs(%zero : !vec)
        dimensions = [0]
    return %s : !vec
  }

  func.func private @encode(
      %t: !tree, %E: !emb, %W_z: !mat, %W_h: !mat, %U_r: !mat, %U_z: !mat,
      %U_h: !mat, %b_r: !vec, %b_z: !vec, %b_h: !vec)
      -> (!vec, !states) {
    %h, %s = rec.match %t : !tree -> !vec, !states {
    case @leaf(%word: index) {
      %x = tensor.extract_slice %E[%word, 0] [1, 256] [1, 1] : !emb to !vec
      %az = linalg.matvec ins(%W_z, %x : !mat, !vec) outs(%b_z : !vec) -> !vec
      %z = func.call @sigmoid(%az) : (!vec) -> !vec
      %ah = linalg.matvec ins(%W_h, %x : !mat, !vec) outs(%b_h : !vec) -> !vec
      %n = math.tanh %ah : !vec
      %one = arith.constant dense<1.0> : !vec
      %nz = arith.subf %one, %z : !vec
      %h = arith.mulf %nz, %n : !vec
      %s = rec.construct @States::@leaf(%h) : (!vec) -> !states
      rec.yield %h, %s : !vec, !states
    }
    case @node(%kids: !trees) {
      %hs, %states = rec.map %kid in %kids : !trees
          -> !rows, !stateslist {
        %hk, %sk = func.call @encode(
            %kid, %E, %W_z, %W_h, %U_r, %U_z, %U_h, %b_r, %b_z, %b_h)
            : (!tree, !emb, !mat, !mat, !mat, !mat, !mat, !vec, !vec, !vec)
            -> (!vec, !states)
        rec.yield %hk, %sk : !vec, !states
      }
      %sum = func.call @sum(%hs) : (!rows) -> !vec
      %ar = linalg.matvec ins(%U_r, %sum : !mat, !vec) outs(%b_r : !vec) -> !vec
      %r = func.call @sigmoid(%ar) : (!vec) -> !vec
      %az = linalg.matvec ins(%U_z, %sum : !mat, !vec) outs(%b_z : !vec) -> !vec
      %z = func.call @sigmoid(%az) : (!vec) -> !vec
      %rs = arith.mulf %r, %sum : !vec
      %ah = linalg.matvec ins(%U_h, %rs : !mat, !vec) outs(%b_h : !vec) -> !vec
      %n = math.tanh %ah : !vec
      %one = arith.constant dense<1.0> : !vec
      %nz = arith.subf %one, %z : !vec
      %new = arith.mulf %nz, %n : !vec
      %keep = arith.mulf %z, %sum : !vec
      %h = arith.addf %keep, %new : !vec
      %s = rec.construct @States::@node(%states, %h)
          : (!stateslist, !vec) -> !states
      rec.yield %h, %s : !vec, !states
    } }
    return %h, %s : !vec, !states
  }

  func.func @main(%tree: !tree {batch.name = "tree"},
                  %E: !emb {batch.shared = "E"},
                  %W_z: !mat {batch.shared = "W_z"},
                  %W_h: !mat {batch.shared = "W_h"},
                  %U_r: !mat {batch.shared = "U_r"},
                  %U_z: !mat {batch.shared = "U_z"},
                  %U_h: !mat {batch.shared = "U_h"},
                  %b_r: !vec {batch.shared = "b_r"},
                  %b_z: !vec {batch.shared = "b_z"},
                  %b_h: !vec {batch.shared = "b_h"})
      -> (!states {batch.name = "states"}) attributes {batch.entry} {
    %h, %states = call @encode(
        %tree, %E, %W_z, %W_h, %U_r, %U_z, %U_h, %b_r, %b_z, %b_h)
        : (!tree, !emb, !mat, !mat, !mat, !mat, !mat, !vec, !vec, !vec)
        -> (!vec, !states)
    return %states : !states
  }
}
