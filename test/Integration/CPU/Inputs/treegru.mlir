// The child-sum TreeGRU of test/models/treegru_cs.mlir on binary trees, with
// a mark for rec-refactor: the caller that reads a node computes the node's gate n
// and state h.

!vec = tensor<16xf32>
!mat = tensor<16x16xf32>
!emb = tensor<?x16xf32>
!tree = !rec.adt<@Tree>
!states = !rec.adt<@States>

module attributes {batch.sizes = {H = 16 : index}} {
  rec.adt @Tree kind tree {
    rec.variant @leaf(word: index)
    rec.variant @node(left: !tree, right: !tree)
  }

  // The result of the model: h of each node.
  rec.adt @States {
    rec.variant @leaf(h: !vec)
    rec.variant @node(left: !states, right: !states, h: !vec)
  }

  func.func private @sigmoid(%x: !vec) -> !vec {
    %one = arith.constant dense<1.0> : !vec
    %n = arith.negf %x : !vec
    %e = math.exp %n : !vec
    %d = arith.addf %one, %e : !vec
    %y = arith.divf %one, %d : !vec
    return %y : !vec
  }

  func.func private @encode(
      %t: !tree, %E: !emb, %W_z: !mat, %W_h: !mat, %U_r: !mat, %U_z: !mat,
      %U_h: !mat, %b_r: !vec, %b_z: !vec, %b_h: !vec)
      -> (!vec, !states) {
    %h, %s = rec.match %t : !tree -> !vec, !states {
    case @leaf(%word: index) {
      %x = tensor.extract_slice %E[%word, 0] [1, 16] [1, 1] : !emb to !vec
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
    case @node(%left: !tree, %right: !tree) {
      %hl, %sl = func.call @encode(
          %left, %E, %W_z, %W_h, %U_r, %U_z, %U_h, %b_r, %b_z, %b_h)
          : (!tree, !emb, !mat, !mat, !mat, !mat, !mat, !vec, !vec, !vec)
          -> (!vec, !states)
      %hr, %sr = func.call @encode(
          %right, %E, %W_z, %W_h, %U_r, %U_z, %U_h, %b_r, %b_z, %b_h)
          : (!tree, !emb, !mat, !mat, !mat, !mat, !mat, !vec, !vec, !vec)
          -> (!vec, !states)
      %sum = arith.addf %hl, %hr : !vec
      %ar = linalg.matvec ins(%U_r, %sum : !mat, !vec) outs(%b_r : !vec) -> !vec
      %r = func.call @sigmoid(%ar) : (!vec) -> !vec
      %az = linalg.matvec ins(%U_z, %sum : !mat, !vec) outs(%b_z : !vec) -> !vec
      %z = func.call @sigmoid(%az) : (!vec) -> !vec
      %rs = arith.mulf %r, %sum : !vec
      %ah = linalg.matvec {rec.backedge} ins(%U_h, %rs : !mat, !vec)
          outs(%b_h : !vec) -> !vec
      %n = math.tanh %ah : !vec
      %one = arith.constant dense<1.0> : !vec
      %nz = arith.subf %one, %z : !vec
      %new = arith.mulf %nz, %n : !vec
      %keep = arith.mulf %z, %sum : !vec
      %h = arith.addf %keep, %new : !vec
      %s = rec.construct @States::@node(%sl, %sr, %h)
          : (!states, !states, !vec) -> !states
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
