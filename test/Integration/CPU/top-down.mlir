// REQUIRES: batch-run
// RUN: batch-run %s --params=random:1 --inputs=%inputs/trees.txt --check-unbatched --json | FileCheck %s
// RUN: batch-run %s --params=random:1 --inputs=%inputs/trees.txt --check-unbatched --json --threads=2 --share-tasks=1 --batch=5 | FileCheck %s --check-prefix=SMALL

// States are passed down a tree. There is one batch for the first state, one per level
// from the roots on, and one for all leaves. No other task reads the results of leaves.
// CHECK: "tasks": 215,
// CHECK: "batches": 16,
// CHECK: "unbatched_equal": true
// CHECK: "name": "visit_leaf",
// CHECK-NEXT: "tasks": 113,
// CHECK-NEXT: "batches": 1
// SMALL: "unbatched_equal": true

!vec = tensor<16xf32>
!mat = tensor<16x16xf32>
!emb = tensor<?x16xf32>
!tree = !rec.adt<@Tree>
!states = !rec.adt<@States>
module attributes {batch.sizes = {H = 16 : index}} {
  rec.adt @Tree {
    rec.variant @leaf(word: index)
    rec.variant @node(left: !tree, right: !tree)
  }
  rec.adt @States {
    rec.variant @leaf(h: !vec)
    rec.variant @node(left: !states, right: !states, h: !vec)
  }
  func.func private @visit(%t: !tree, %s: !vec, %E: !emb, %L: !mat, %R: !mat, %b: !vec) -> !states {
    %y = rec.match %t : !tree -> !states {
    case @leaf(%word: index) {
      %x = tensor.extract_slice %E[%word, 0] [1, 16] [1, 1] : !emb to !vec
      %h = arith.mulf %x, %s : !vec
      %r = rec.construct @States::@leaf(%h) : (!vec) -> !states
      rec.yield %r : !states
    }
    case @node(%l: !tree, %r: !tree) {
      %al = linalg.matvec ins(%L, %s : !mat, !vec) outs(%b : !vec) -> !vec
      %sl = math.tanh %al : !vec
      %ar = linalg.matvec ins(%R, %s : !mat, !vec) outs(%b : !vec) -> !vec
      %sr = math.tanh %ar : !vec
      %yl = func.call @visit(%l, %sl, %E, %L, %R, %b) : (!tree, !vec, !emb, !mat, !mat, !vec) -> !states
      %yr = func.call @visit(%r, %sr, %E, %L, %R, %b) : (!tree, !vec, !emb, !mat, !mat, !vec) -> !states
      %z = rec.construct @States::@node(%yl, %yr, %s) : (!states, !states, !vec) -> !states
      rec.yield %z : !states
    } }
    return %y : !states
  }
  func.func @main(%tree: !tree {batch.name = "tree"}, %E: !emb {batch.shared = "E"},
                  %L: !mat {batch.shared = "L"}, %R: !mat {batch.shared = "R"}, %b: !vec {batch.shared = "b"})
      -> (!states {batch.name = "states"}) attributes {batch.entry} {
    %one = arith.constant dense<1.0> : !vec
    %s = call @visit(%tree, %one, %E, %L, %R, %b) : (!tree, !vec, !emb, !mat, !mat, !vec) -> !states
    return %s : !states
  }
}
