// TreeFC: one dense layer per inner node of a binary tree.
//
//   fc(leaf w)   = E[w]
//   fc(node l r) = relu(W [fc(l); fc(r)] + b)
//
// Run it:
//   batch-run test/models/treefc.mlir --params=random:0 \
//     --inputs=examples/data/trees.txt --batch=12 --check-unbatched

!vec = tensor<256xf32>
!pair = tensor<512xf32>
!wide = tensor<256x512xf32>
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

  func.func private @encode(%t: !tree, %E: !emb, %W: !wide, %b: !vec)
      -> (!vec, !states) {
    %h, %s = rec.match %t : !tree -> !vec, !states {
    case @leaf(%word: index) {
      %x = tensor.extract_slice %E[%word, 0] [1, 256] [1, 1] : !emb to !vec
      %s = rec.construct @States::@leaf(%x) : (!vec) -> !states
      rec.yield %x, %s : !vec, !states
    }
    case @node(%l: !tree, %r: !tree) {
      %hl, %sl = func.call @encode(%l, %E, %W, %b)
          : (!tree, !emb, !wide, !vec) -> (!vec, !states)
      %hr, %sr = func.call @encode(%r, %E, %W, %b)
          : (!tree, !emb, !wide, !vec) -> (!vec, !states)
      %e = tensor.concat dim(0) %hl, %hr : (!vec, !vec) -> !pair
      %a = linalg.matvec ins(%W, %e : !wide, !pair) outs(%b : !vec) -> !vec
      %zero = arith.constant dense<0.0> : !vec
      %h = arith.maximumf %a, %zero : !vec
      %s = rec.construct @States::@node(%sl, %sr, %h)
          : (!states, !states, !vec) -> !states
      rec.yield %h, %s : !vec, !states
    } }
    return %h, %s : !vec, !states
  }

  func.func @main(%tree: !tree {batch.name = "tree"},
                  %E: !emb {batch.shared = "E"},
                  %W: !wide {batch.shared = "W"},
                  %b: !vec {batch.shared = "b"})
      -> (!states {batch.name = "states"}) attributes {batch.entry} {
    %h, %states = call @encode(%tree, %E, %W, %b)
        : (!tree, !emb, !wide, !vec) -> (!vec, !states)
    return %states : !states
  }
}
