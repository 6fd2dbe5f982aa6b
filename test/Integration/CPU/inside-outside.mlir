// REQUIRES: batch-run
// RUN: batch-run %s --params=random:1 --inputs=%inputs/nary_trees.txt --check-unbatched --json | FileCheck %s
// RUN: batch-run %s --params=random:1 --inputs=%inputs/nary_trees.txt --check-unbatched --json --threads=2 --share-tasks=1 --batch=5 | FileCheck %s --check-prefix=SMALL

// Walks up a tree (inside), then down over the results of the first walk, with rec.map
// (outside). The second walk begins when the first one has ended for all trees, so the
// levels of the trees are aligned at the roots. Both walks take the same number of batches,
// although the heights of trees differ.
// CHECK: "tasks": 180,
// CHECK: "batches": 22,
// CHECK: "unbatched_equal": true
// CHECK: "name": "down_output",
// CHECK-NEXT: "tasks": 90,
// CHECK-NEXT: "batches": 11
// CHECK: "name": "up_node",
// CHECK-NEXT: "tasks": 90,
// CHECK-NEXT: "batches": 11
// SMALL: "unbatched_equal": true

!vec = tensor<16xf32>
!mat = tensor<16x16xf32>
!emb = tensor<?x16xf32>
!tree = !rec.adt<@Tree>
!trees = !rec.list<!tree>
!inside = !rec.adt<@Inside>
!insides = !rec.list<!inside>
!both = !rec.adt<@Both>
!boths = !rec.list<!both>
!rows = tensor<?x16xf32>
module attributes {batch.sizes = {H = 16 : index}} {
  rec.adt @Tree {
    rec.variant @leaf(word: index)
    rec.variant @node(kids: !trees)
  }
  // Results of the walk up. The walk down reads them.
  rec.adt @Inside {
    rec.variant @leaf(h: !vec)
    rec.variant @node(kids: !insides, h: !vec)
  }
  rec.adt @Both {
    rec.variant @leaf(h: !vec, o: !vec)
    rec.variant @node(kids: !boths, h: !vec, o: !vec)
  }
  func.func private @up(%t: !tree, %E: !emb, %W: !mat, %b: !vec) -> (!vec, !inside) {
    %h, %s = rec.match %t : !tree -> !vec, !inside {
    case @leaf(%word: index) {
      %x = tensor.extract_slice %E[%word, 0] [1, 16] [1, 1] : !emb to !vec
      %s = rec.construct @Inside::@leaf(%x) : (!vec) -> !inside
      rec.yield %x, %s : !vec, !inside
    }
    case @node(%kids: !trees) {
      %hs, %ss = rec.map %kid in %kids : !trees -> !rows, !insides {
        %hk, %sk = func.call @up(%kid, %E, %W, %b) : (!tree, !emb, !mat, !vec) -> (!vec, !inside)
        rec.yield %hk, %sk : !vec, !inside
      }
      %zero = arith.constant dense<0.0> : !vec
      %sum = linalg.reduce { arith.addf } ins(%hs : !rows) outs(%zero : !vec) dimensions = [0]
      %a = linalg.matvec ins(%W, %sum : !mat, !vec) outs(%b : !vec) -> !vec
      %h = math.tanh %a : !vec
      %s = rec.construct @Inside::@node(%ss, %h) : (!insides, !vec) -> !inside
      rec.yield %h, %s : !vec, !inside
    } }
    return %h, %s : !vec, !inside
  }
  func.func private @down(%t: !inside, %o: !vec, %V: !mat, %b: !vec) -> !both {
    %y = rec.match %t : !inside -> !both {
    case @leaf(%h: !vec) {
      %s = rec.construct @Both::@leaf(%h, %o) : (!vec, !vec) -> !both
      rec.yield %s : !both
    }
    case @node(%kids: !insides, %h: !vec) {
      %m = arith.mulf %h, %o : !vec
      %a = linalg.matvec ins(%V, %m : !mat, !vec) outs(%b : !vec) -> !vec
      %next = math.tanh %a : !vec
      %ys = rec.map %kid in %kids : !insides -> !boths {
        %yk = func.call @down(%kid, %next, %V, %b) : (!inside, !vec, !mat, !vec) -> !both
        rec.yield %yk : !both
      }
      %s = rec.construct @Both::@node(%ys, %h, %o) : (!boths, !vec, !vec) -> !both
      rec.yield %s : !both
    } }
    return %y : !both
  }
  func.func @main(%tree: !tree {batch.name = "tree"}, %E: !emb {batch.shared = "E"},
                  %W: !mat {batch.shared = "W"}, %V: !mat {batch.shared = "V"}, %b: !vec {batch.shared = "b"})
      -> (!both {batch.name = "states"}) attributes {batch.entry} {
    %h, %inside = call @up(%tree, %E, %W, %b) : (!tree, !emb, !mat, !vec) -> (!vec, !inside)
    %s = call @down(%inside, %h, %V, %b) : (!inside, !vec, !mat, !vec) -> !both
    return %s : !both
  }
}
