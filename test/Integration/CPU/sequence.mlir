// REQUIRES: batch-run
// RUN: batch-run %s --params=random:1 --inputs=%S/Inputs/sequences.jsonl --check-unbatched --json --threads=1 | FileCheck %s
// RUN: batch-run %s --params=random:1 --inputs=%S/Inputs/sequences.jsonl --check-unbatched --json --threads=2 --share-tasks=1 --batch=3 | FileCheck %s --check-prefix=SMALL

// A recurrent network over lists passes its state from word to word. Lists of
// 0 to 12 words take one batch for the first state and one batch for the
// inputs of all words. They also take one batch per position.
// CHECK: "tasks": 99,
// CHECK: "batches": 14,
// CHECK: "unbatched_equal": true
// SMALL: "unbatched_equal": true

!vec = tensor<16xf32>
!mat = tensor<16x16xf32>
!emb = tensor<?x16xf32>
module attributes {batch.sizes = {H = 16 : index}} {
  func.func @main(%words: !rec.list<index> {batch.name = "words"}, %E: !emb {batch.shared = "E"},
                  %W: !mat {batch.shared = "W"}, %U: !mat {batch.shared = "U"},
                  %b: !vec {batch.shared = "b"}) -> (!vec {batch.name = "h"})
      attributes {batch.entry} {
    %start = arith.constant dense<0.0> : !vec
    %h = rec.fold %w in %words init(%s = %start) : !rec.list<index> -> !vec {
      %x = tensor.extract_slice %E[%w, 0] [1, 16] [1, 1] : !emb to !vec
      %wx = linalg.matvec ins(%W, %x : !mat, !vec) outs(%b : !vec) -> !vec
      %a = linalg.matvec ins(%U, %s : !mat, !vec) outs(%wx : !vec) -> !vec
      %next = math.tanh %a : !vec
      rec.yield %next : !vec
    }
    return %h : !vec
  }
}
