// REQUIRES: batch-run
// RUN: batch-run %s --params=random:0 --inputs=%S/Inputs/bits.jsonl --batch=4 --check-unbatched --json --outputs=%t.select | FileCheck %s
// RUN: batch-opt %s --batch-inline-helpers --batch-outline-kernels -o %t.mlir
// RUN: batch-run %t.mlir --params=random:0 --inputs=%S/Inputs/bits.jsonl --batch=4 --check-unbatched --json --outputs=%t.control | FileCheck %s --check-prefix=CONTROL
// RUN: cmp %t.select %t.control

// A conditional on a field is a select in a kernel with an i1 per task, or control flow with a
// sub-batch for each branch. Both compute the same bits.

// CHECK: "tasks": 9,
// CHECK: "batches": 3,
// CHECK: "unbatched_equal": true

// CONTROL: "tasks": 18,
// CONTROL: "batches": 8,
// CONTROL: "unbatched_equal": true

!vec = tensor<16xf32>
!mat = tensor<16x16xf32>
!emb = tensor<?x16xf32>
!tree = !rec.adt<@Tree>
!states = !rec.adt<@States>
module attributes {batch.sizes = {H = 16 : index}} {
  rec.adt @Tree {
    rec.variant @leaf(word: index)
    rec.variant @node(bit: i1, left: !tree, right: !tree)
  }
  rec.adt @States {
    rec.variant @leaf(h: !vec)
    rec.variant @node(left: !states, right: !states, h: !vec)
  }
  func.func private @visit(%t: !tree, %E: !emb, %W: !mat, %b: !vec) -> (!vec, !states) {
    %h, %s = rec.match %t : !tree -> !vec, !states {
    case @leaf(%word: index) {
      %x = tensor.extract_slice %E[%word, 0] [1, 16] [1, 1] : !emb to !vec
      %s = rec.construct @States::@leaf(%x) : (!vec) -> !states
      rec.yield %x, %s : !vec, !states
    }
    case @node(%bit: i1, %l: !tree, %r: !tree) {
      %hl, %sl = func.call @visit(%l, %E, %W, %b) : (!tree, !emb, !mat, !vec) -> (!vec, !states)
      %hr, %sr = func.call @visit(%r, %E, %W, %b) : (!tree, !emb, !mat, !vec) -> (!vec, !states)
      %sum = arith.addf %hl, %hr : !vec
      %a = linalg.matvec ins(%W, %sum : !mat, !vec) outs(%b : !vec) -> !vec
      %h = scf.if %bit -> (!vec) {
        %y = math.tanh %a : !vec
        scf.yield %y : !vec
      } else {
        %n = arith.mulf %a, %hl : !vec
        %m = arith.subf %n, %hr : !vec
        scf.yield %m : !vec
      }
      %s = rec.construct @States::@node(%sl, %sr, %h) : (!states, !states, !vec) -> !states
      rec.yield %h, %s : !vec, !states
    } }
    return %h, %s : !vec, !states
  }
  func.func @main(%tree: !tree {batch.name = "tree"}, %E: !emb {batch.shared = "E"},
                  %W: !mat {batch.shared = "W"}, %b: !vec {batch.shared = "b"})
      -> (!states {batch.name = "states"}) attributes {batch.entry} {
    %h, %s = call @visit(%tree, %E, %W, %b) : (!tree, !emb, !mat, !vec) -> (!vec, !states)
    return %s : !states
  }
}
