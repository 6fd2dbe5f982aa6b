// REQUIRES: batch-run
// RUN: echo '{"l":["cons",1,["cons",2,["nil"]]]}' > %t.jsonl
// RUN: echo '{"l":["nil"]}' >> %t.jsonl
// RUN: echo '{"l":["cons",7,["cons",2,["cons",1,["nil"]]]]}' >> %t.jsonl
// RUN: batch-run %s --params=random:1 --inputs=%t.jsonl --check-unbatched --json --threads=2 --share-tasks=1 | FileCheck %s
// RUN: batch-opt %s -batch-inline-helpers -batch-outline-kernels -batch-assign-phases -batch-tag-depths -o %t.mlir
// RUN: batch-run %t.mlir --params=random:1 --inputs=%t.jsonl --check-unbatched --json | FileCheck %s --check-prefix=BATCHED

// One function with two sets of weights becomes two functions, so that no
// product has separate weights for each task. If it remains one function, both
// sets share batches.
// CHECK: "batches": 8,
// CHECK: "unbatched_equal": true
// CHECK: "name": "rnn_{{[0-9]+}}_cons"
// BATCHED: "batches": 3,
// BATCHED: "unbatched_equal": true

!vec = tensor<16xf32>
!mat = tensor<16x16xf32>
!emb = tensor<?x16xf32>
!list = !rec.adt<@List>
module attributes {batch.sizes = {H = 16 : index}} {
  rec.adt @List {
    rec.variant @nil()
    rec.variant @cons(word: index, rest: !list)
  }
  func.func private @rnn(%l: !list, %E: !emb, %W: !mat, %U: !mat, %b: !vec) -> !vec {
    %h = rec.match %l : !list -> !vec {
    case @nil() {
      rec.yield %b : !vec
    }
    case @cons(%w: index, %r: !list) {
      %hr = func.call @rnn(%r, %E, %W, %U, %b) : (!list, !emb, !mat, !mat, !vec) -> !vec
      %x = tensor.extract_slice %E[%w, 0] [1, 16] [1, 1] : !emb to !vec
      %wx = linalg.matvec ins(%W, %x : !mat, !vec) outs(%b : !vec) -> !vec
      %a = linalg.matvec ins(%U, %hr : !mat, !vec) outs(%wx : !vec) -> !vec
      %t = math.tanh %a : !vec
      rec.yield %t : !vec
    } }
    return %h : !vec
  }
  func.func @main(%l: !list {batch.name = "l"}, %E: !emb {batch.shared = "E"}, %W: !mat {batch.shared = "W"},
     %U: !mat {batch.shared = "U"}, %b: !vec {batch.shared = "b"}, %W2: !mat {batch.shared = "W2"},
     %U2: !mat {batch.shared = "U2"}, %b2: !vec {batch.shared = "b2"}) -> (!vec {batch.name = "f"}, !vec {batch.name = "g"}) attributes {batch.entry} {
    %f = func.call @rnn(%l, %E, %W, %U, %b) : (!list, !emb, !mat, !mat, !vec) -> !vec
    %g = func.call @rnn(%l, %E, %W2, %U2, %b2) : (!list, !emb, !mat, !mat, !vec) -> !vec
    return %f, %g : !vec, !vec
  }
}
