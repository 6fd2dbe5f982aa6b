// TreeRNN with weights: words at the leaves of a binary tree.
//
//   rnn(leaf w)   = tanh(W E[w] + b)
//   rnn(node l r) = tanh(U (rnn(l) + rnn(r)) + b)
//
// Run it:
//   batch-run test/models/treernn_w.mlir --params=random:0 \
//     --inputs=examples/data/trees.txt --batch=12 --check-unbatched

!vec = tensor<256xf32>
!mat = tensor<256x256xf32>
!emb = tensor<?x256xf32>
!tree = !rec.adt<@Tree>
!states = !rec.adt<@States>

module attributes {batch.sizes = {H = 256 : index}} {
  rec.adt @Tree kind tree arity 2 {
    rec.variant @leaf(word: index)
    rec.variant @node(left: !tree, right: !tree)
  }

  // Result of the model: h of every node.
  rec.adt @States {
    rec.variant @leaf(h: !vec)
    rec.variant @node(left: !states, right: !states, h: !vec)
  }

  func.func private @encode(%t: !tree, %E: !emb, %W: !mat, %U: !mat, %b: !vec)
      -> (!vec, !states) {
    %h, %s = rec.match %t : !tree -> !vec, !states {
    case @leaf(%word: index) {
      %x = tensor.extract_slice %E[%word, 0] [1, 256] [1, 1] : !emb to !vec
      %a = linalg.matvec ins(%W, %x : !mat, !vec) outs(%b : !vec) -> !vec
      %h = math.tanh %a : !vec
      %s = rec.construct @States::@leaf(%h) : (!vec) -> !states
      rec.yield %h, %s : !vec, !states
    }
    case @node(%l: !tree, %r: !tree) {
      %hl, %sl = func.call @encode(%l, %E, %W, %U, %b)
          : (!tree, !emb, !mat, !mat, !vec) -> (!vec, !states)
      %hr, %sr = func.call @encode(%r, %E, %W, %U, %b)
          : (!tree, !emb, !mat, !mat, !vec) -> (!vec, !states)
      %sum = arith.addf %hl, %hr : !vec
      %a = linalg.matvec ins(%U, %sum : !mat, !vec) outs(%b : !vec) -> !vec
      %h = math.tanh %a : !vec
      %s = rec.construct @States::@node(%sl, %sr, %h)
          : (!states, !states, !vec) -> !states
      rec.yield %h, %s : !vec, !states
    } }
    return %h, %s : !vec, !states
  }

  func.func @main(%tree: !tree {batch.name = "tree"},
                  %E: !emb {batch.shared = "E"},
                  %W: !mat {batch.shared = "W"},
                  %U: !mat {batch.shared = "U"},
                  %b: !vec {batch.shared = "b"})
      -> (!states {batch.name = "states"}) attributes {batch.entry} {
    %h, %states = call @encode(%tree, %E, %W, %U, %b)
        : (!tree, !emb, !mat, !mat, !vec) -> (!vec, !states)
    return %states : !states
  }
}
