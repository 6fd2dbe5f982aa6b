// REQUIRES: batch-run
// RUN: batch-opt %s --batch-inline-helpers --batch-outline-kernels -o %t.plain.mlir
// RUN: batch-opt %s --autobatch=assume-finite -o %t.finite.mlir
// RUN: batch-run %t.plain.mlir --params=random:0 --inputs=%inputs/trees.txt --batch=4 --check-unbatched --json --outputs=%t.plain | FileCheck %s --check-prefix=PLAIN
// RUN: batch-run %s --params=random:0 --inputs=%inputs/trees.txt --batch=4 --check-unbatched --json --outputs=%t.folded | FileCheck %s
// RUN: batch-run %t.finite.mlir --params=random:0 --inputs=%inputs/trees.txt --batch=4 --check-unbatched --json --outputs=%t.finite | FileCheck %s --check-prefix=FINITE
// RUN: cmp %t.plain %t.folded
// RUN: cmp %t.plain %t.finite

// Results are also bit-identical with zeros of both signs, sums of -0.0, and an infinite weight.
// RUN: %integration/write_params.py %t.minus E=200x16:ZERO W=16x16:NEGATIVE U=16x16:NEGATIVE F=16x16 b=16:MINUS
// RUN: batch-run %t.plain.mlir --params=%t.minus --inputs=%inputs/trees.txt --batch=4 --check-unbatched --outputs=%t.plain
// RUN: batch-run %s --params=%t.minus --inputs=%inputs/trees.txt --batch=4 --check-unbatched --outputs=%t.folded
// RUN: cmp %t.plain %t.folded
// RUN: %integration/write_params.py %t.inf E=200x16 W=16x16 U=16x16:INF F=16x16:NEGATIVE b=16
// RUN: batch-run %t.plain.mlir --params=%t.inf --inputs=%inputs/trees.txt --batch=4 --check-unbatched --outputs=%t.plain
// RUN: batch-run %s --params=%t.inf --inputs=%inputs/trees.txt --batch=4 --check-unbatched --outputs=%t.folded
// RUN: cmp %t.plain %t.folded

// Leaves run the cell on zeros. The product with zeros moves out of the leaf's
// kernel: it is computed once per mini-batch. With finite values it disappears.

// PLAIN: "tasks": 214,
// PLAIN: "unbatched_equal": true
// PLAIN-NOT: visit_leaf_once
// CHECK: "tasks": 217,
// CHECK: "unbatched_equal": true
// CHECK: "name": "visit_leaf_once",
// CHECK-NEXT: "tasks": 3,
// FINITE: "tasks": 214,
// FINITE: "unbatched_equal": true
// FINITE-NOT: visit_leaf_once

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
  func.func private @cell(%x: !vec, %h: !vec, %c: !vec, %W: !mat, %U: !mat, %F: !mat, %b: !vec) -> (!vec, !vec) {
    %wx = linalg.matvec ins(%W, %x : !mat, !vec) outs(%b : !vec) -> !vec
    %a = linalg.matvec ins(%U, %h : !mat, !vec) outs(%wx : !vec) -> !vec
    %f = linalg.matvec ins(%F, %x : !mat, !vec) outs(%b : !vec) -> !vec
    %keep = arith.mulf %f, %c : !vec
    %new = math.tanh %a : !vec
    %next = arith.addf %new, %keep : !vec
    %y = math.tanh %next : !vec
    return %y, %next : !vec, !vec
  }
  func.func private @visit(%t: !tree, %E: !emb, %W: !mat, %U: !mat, %F: !mat, %b: !vec) -> (!vec, !vec, !states) {
    %h, %c, %s = rec.match %t : !tree -> !vec, !vec, !states {
    case @leaf(%word: index) {
      %x = tensor.extract_slice %E[%word, 0] [1, 16] [1, 1] : !emb to !vec
      %zero = arith.constant dense<0.0> : !vec
      %h, %c = func.call @cell(%x, %zero, %zero, %W, %U, %F, %b) : (!vec, !vec, !vec, !mat, !mat, !mat, !vec) -> (!vec, !vec)
      %s = rec.construct @States::@leaf(%h) : (!vec) -> !states
      rec.yield %h, %c, %s : !vec, !vec, !states
    }
    case @node(%l: !tree, %r: !tree) {
      %hl, %cl, %sl = func.call @visit(%l, %E, %W, %U, %F, %b) : (!tree, !emb, !mat, !mat, !mat, !vec) -> (!vec, !vec, !states)
      %hr, %cr, %sr = func.call @visit(%r, %E, %W, %U, %F, %b) : (!tree, !emb, !mat, !mat, !mat, !vec) -> (!vec, !vec, !states)
      %sum = arith.addf %cl, %cr : !vec
      %h, %c = func.call @cell(%hl, %hr, %sum, %W, %U, %F, %b) : (!vec, !vec, !vec, !mat, !mat, !mat, !vec) -> (!vec, !vec)
      %s = rec.construct @States::@node(%sl, %sr, %h) : (!states, !states, !vec) -> !states
      rec.yield %h, %c, %s : !vec, !vec, !states
    } }
    return %h, %c, %s : !vec, !vec, !states
  }
  func.func @main(%tree: !tree {batch.name = "tree"}, %E: !emb {batch.shared = "E"},
                  %W: !mat {batch.shared = "W"}, %U: !mat {batch.shared = "U"},
                  %F: !mat {batch.shared = "F"}, %b: !vec {batch.shared = "b"})
      -> (!states {batch.name = "states"}) attributes {batch.entry} {
    %h, %c, %s = call @visit(%tree, %E, %W, %U, %F, %b) : (!tree, !emb, !mat, !mat, !mat, !vec) -> (!vec, !vec, !states)
    return %s : !states
  }
}
