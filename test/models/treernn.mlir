// TreeRNN without weights: the simplest recursion over a binary tree.
//
//   rnn(leaf w)   = E[w]
//   rnn(node l r) = tanh(rnn(l) + rnn(r))
//
// Run it:
//   batch-run test/models/treernn.mlir --params=random:0 \
//     --inputs=examples/data/trees.txt --batch=12 --check-unbatched

!vec = tensor<256xf32>
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

  func.func private @encode(%t: !tree, %E: !emb) -> (!vec, !states) {
    %h, %s = rec.match %t : !tree -> !vec, !states {
    case @leaf(%word: index) {
      %x = tensor.extract_slice %E[%word, 0] [1, 256] [1, 1] : !emb to !vec
      %s = rec.construct @States::@leaf(%x) : (!vec) -> !states
      rec.yield %x, %s : !vec, !states
    }
    case @node(%l: !tree, %r: !tree) {
      %hl, %sl = func.call @encode(%l, %E) : (!tree, !emb) -> (!vec, !states)
      %hr, %sr = func.call @encode(%r, %E) : (!tree, !emb) -> (!vec, !states)
      %sum = arith.addf %hl, %hr : !vec
      %h = math.tanh %sum : !vec
      %s = rec.construct @States::@node(%sl, %sr, %h)
          : (!states, !states, !vec) -> !states
      rec.yield %h, %s : !vec, !states
    } }
    return %h, %s : !vec, !states
  }

  func.func @main(%tree: !tree {batch.name = "tree"},
                  %E: !emb {batch.shared = "E"})
      -> (!states {batch.name = "states"}) attributes {batch.entry} {
    %h, %states = call @encode(%tree, %E) : (!tree, !emb) -> (!vec, !states)
    return %states : !states
  }
}
