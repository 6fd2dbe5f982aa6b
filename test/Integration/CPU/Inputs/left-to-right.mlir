// A recurrent network that walks a tree from left to right and back up, with a
// mark for rec-refactor. Without the mark, a node needs two kernels: one between its children,
// and one after them.

!vec = tensor<16xf32>
!mat = tensor<16x16xf32>
!emb = tensor<?x16xf32>
!tree = !rec.adt<@Tree>

module attributes {batch.sizes = {H = 16 : index}} {
  rec.adt @Tree kind tree {
    rec.variant @leaf(word: index)
    rec.variant @node(left: !tree, right: !tree)
  }

  func.func private @encode(%t: !tree, %h: !vec, %E: !emb, %U: !mat, %V: !mat)
      -> !vec {
    %y = rec.match %t : !tree -> !vec {
    case @leaf(%word: index) {
      %x = tensor.extract_slice %E[%word, 0] [1, 16] [1, 1] : !emb to !vec
      %a = linalg.matvec ins(%U, %h : !mat, !vec) outs(%x : !vec) -> !vec
      %y = math.tanh %a : !vec
      rec.yield %y : !vec
    }
    case @node(%left: !tree, %right: !tree) {
      %hl = func.call @encode(%left, %h, %E, %U, %V)
          : (!tree, !vec, !emb, !mat, !mat) -> !vec
      %s = arith.addf %hl, %h : !vec
      %m = math.tanh %s : !vec
      %hr = func.call @encode(%right, %m, %E, %U, %V)
          : (!tree, !vec, !emb, !mat, !mat) -> !vec
      %a = linalg.matvec {rec.backedge} ins(%V, %hr : !mat, !vec)
          outs(%hl : !vec) -> !vec
      %y = math.tanh %a : !vec
      rec.yield %y : !vec
    } }
    return %y : !vec
  }

  func.func @main(%tree: !tree {batch.name = "tree"},
                  %E: !emb {batch.shared = "E"},
                  %U: !mat {batch.shared = "U"},
                  %V: !mat {batch.shared = "V"})
      -> (!vec {batch.name = "h"}) attributes {batch.entry} {
    %zero = arith.constant dense<0.0> : !vec
    %h = call @encode(%tree, %zero, %E, %U, %V)
        : (!tree, !vec, !emb, !mat, !mat) -> !vec
    return %h : !vec
  }
}
