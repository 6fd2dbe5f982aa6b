// SimpleTreeGRU on binary trees. It returns h of the root. A mark for rec-refactor follows
// the match: the code after the products is the same for leaves and nodes, and callers of @encode
// run this code.
//
//   z = sigmoid(a_z), n = tanh(a_h), h = (1 - z) * n
//   leaf: a_* = W_* x + b_*     node: a_z = U_z s + b_z, a_h = U_h (r * s) + b_h

!vec = tensor<16xf32>
!mat = tensor<16x16xf32>
!emb = tensor<?x16xf32>
!tree = !rec.adt<@Tree>

module attributes {batch.sizes = {H = 16 : index}} {
  rec.adt @Tree kind tree {
    rec.variant @leaf(word: index)
    rec.variant @node(left: !tree, right: !tree)
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
      %U_h: !mat, %b_r: !vec, %b_z: !vec, %b_h: !vec) -> !vec {
    %az, %ah = rec.match %t : !tree -> !vec, !vec {
    case @leaf(%word: index) {
      %x = tensor.extract_slice %E[%word, 0] [1, 16] [1, 1] : !emb to !vec
      %az = linalg.matvec ins(%W_z, %x : !mat, !vec) outs(%b_z : !vec) -> !vec
      %ah = linalg.matvec ins(%W_h, %x : !mat, !vec) outs(%b_h : !vec) -> !vec
      rec.yield %az, %ah : !vec, !vec
    }
    case @node(%left: !tree, %right: !tree) {
      %hl = func.call @encode(
          %left, %E, %W_z, %W_h, %U_r, %U_z, %U_h, %b_r, %b_z, %b_h)
          : (!tree, !emb, !mat, !mat, !mat, !mat, !mat, !vec, !vec, !vec)
          -> !vec
      %hr = func.call @encode(
          %right, %E, %W_z, %W_h, %U_r, %U_z, %U_h, %b_r, %b_z, %b_h)
          : (!tree, !emb, !mat, !mat, !mat, !mat, !mat, !vec, !vec, !vec)
          -> !vec
      %sum = arith.addf %hl, %hr : !vec
      %ar = linalg.matvec ins(%U_r, %sum : !mat, !vec) outs(%b_r : !vec) -> !vec
      %r = func.call @sigmoid(%ar) : (!vec) -> !vec
      %az = linalg.matvec ins(%U_z, %sum : !mat, !vec) outs(%b_z : !vec) -> !vec
      %rs = arith.mulf %r, %sum : !vec
      %ah = linalg.matvec ins(%U_h, %rs : !mat, !vec) outs(%b_h : !vec) -> !vec
      rec.yield %az, %ah : !vec, !vec
    } }
    %z = func.call @sigmoid(%az) {rec.backedge} : (!vec) -> !vec
    %n = math.tanh %ah {rec.backedge} : !vec
    %one = arith.constant dense<1.0> : !vec
    %nz = arith.subf %one, %z : !vec
    %h = arith.mulf %nz, %n : !vec
    return %h : !vec
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
      -> (!vec {batch.name = "h"}) attributes {batch.entry} {
    %h = call @encode(
        %tree, %E, %W_z, %W_h, %U_r, %U_z, %U_h, %b_r, %b_z, %b_h)
        : (!tree, !emb, !mat, !mat, !mat, !mat, !mat, !vec, !vec, !vec)
        -> !vec
    return %h : !vec
  }
}
