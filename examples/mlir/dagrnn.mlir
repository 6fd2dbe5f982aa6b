// DAG-RNN (Shuai et al. 2015): recursion over a directed acyclic graph, such as
// the pixels of an image from north-west to south-east. A node with several
// readers is computed once.
//
//   h(n) = tanh(U E[word] + W (sum of h over the predecessors) + b)
//
// The input is the node without readers, from which all other nodes are reachable.
//
// Run it:
//   batch-run examples/mlir/dagrnn.mlir --params=random:0 \
//     --inputs=examples/data/grids.jsonl --batch=4 --check-unbatched

!vec = tensor<256xf32>
!rows = tensor<?x256xf32>
!mat = tensor<256x256xf32>
!emb = tensor<?x256xf32>
!node = !rec.adt<@Node>
!nodes = !rec.list<!node>
!states = !rec.adt<@States>
!stateslist = !rec.list<!states>

module attributes {batch.sizes = {H = 256 : index}} {
  rec.adt @Node kind dag {
    rec.variant @node(word: index, preds: !nodes)
  }

  // Result of the model: h of every node, in a graph of the same shape.
  rec.adt @States {
    rec.variant @node(preds: !stateslist, h: !vec)
  }

  func.func private @visit(%n: !node, %E: !emb, %U: !mat, %W: !mat, %b: !vec)
      -> (!vec, !states) {
    %h, %s = rec.match %n : !node -> !vec, !states {
    case @node(%word: index, %preds: !nodes) {
      %hs, %states = rec.map %p in %preds : !nodes -> !rows, !stateslist {
        %hp, %sp = func.call @visit(%p, %E, %U, %W, %b)
            : (!node, !emb, !mat, !mat, !vec) -> (!vec, !states)
        rec.yield %hp, %sp : !vec, !states
      }
      %x = tensor.extract_slice %E[%word, 0] [1, 256] [1, 1] : !emb to !vec
      %ux = linalg.matvec ins(%U, %x : !mat, !vec) outs(%b : !vec) -> !vec
      %zero = arith.constant dense<0.0> : !vec
      %sum = linalg.reduce { arith.addf } ins(%hs : !rows) outs(%zero : !vec)
          dimensions = [0]
      %a = linalg.matvec ins(%W, %sum : !mat, !vec) outs(%ux : !vec) -> !vec
      %h = math.tanh %a : !vec
      %s = rec.construct @States::@node(%states, %h)
          : (!stateslist, !vec) -> !states
      rec.yield %h, %s : !vec, !states
    } }
    return %h, %s : !vec, !states
  }

  func.func @main(%dag: !node {batch.name = "dag"},
                  %E: !emb {batch.shared = "E"},
                  %U: !mat {batch.shared = "U"},
                  %W: !mat {batch.shared = "W"},
                  %b: !vec {batch.shared = "b"})
      -> (!states {batch.name = "states"}) attributes {batch.entry} {
    %h, %states = call @visit(%dag, %E, %U, %W, %b)
        : (!node, !emb, !mat, !mat, !vec) -> (!vec, !states)
    return %states : !states
  }
}
