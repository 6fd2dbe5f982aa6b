// REQUIRES: batch-run
// RUN: %python %S/Inputs/list_shaped.py > %t.jsonl
// RUN: batch-compile %s -o %t.so
// RUN: batch-run %t.so --params=random:0 --inputs=%t.jsonl --batch=3 --check-unbatched --json | FileCheck %s
// RUN: batch-run %t.so --params=random:0 --inputs=%t.jsonl --batch=7 --threads=2 --share-tasks=1 --check-unbatched --json | FileCheck %s

// RUN: %if long %{ %integration/check_stages.py %S/list-shaped %t.jsonl %}

// List-shaped ADTs of trees, words and rows: lists without elements, lists that share
// tails, and lists of 10,000 elements. Maps and folds over these ADTs and over lists are
// batched together. Results are bit-identical to those of the unbatched code,
// whichever passes have run.

// CHECK: "unbatched_equal": true

!vec = tensor<16xf32>
!mat = tensor<16x16xf32>
!emb = tensor<?x16xf32>
!rows = tensor<?x16xf32>
!tree = !rec.adt<@Tree>
!trees = !rec.adt<@Trees>
!words = !rec.adt<@Words>
!states = !rec.adt<@States>
module attributes {batch.sizes = {H = 16 : index}} {
  rec.adt @Words {
    rec.variant @end()
    rec.variant @word(word: index, rest: !words)
  }
  rec.adt @Trees {
    rec.variant @tree(rest: !trees, first: !tree)
    rec.variant @none(mark: i1)
  }
  rec.adt @Tree {
    rec.variant @leaf(words: !words)
    rec.variant @node(weights: !rec.list<f32>, kids: !trees)
  }
  // The program constructs these values and walks them.
  rec.adt @States {
    rec.variant @last()
    rec.variant @state(h: !vec, rest: !states)
  }

  func.func private @encode(%t: !tree, %E: !emb, %W: !mat, %b: !vec) -> !vec {
    %h = rec.match %t : !tree -> !vec {
    case @leaf(%words: !words) {
      %y = rec.fold %word: index in %words init(%h = %b) : !words -> !vec {
        %x = tensor.extract_slice %E[%word, 0] [1, 16] [1, 1] : !emb to !vec
        %a = linalg.matvec ins(%W, %h : !mat, !vec) outs(%x : !vec) -> !vec
        %z = math.tanh %a : !vec
        rec.yield %z : !vec
      }
      rec.yield %y : !vec
    }
    case @node(%weights: !rec.list<f32>, %kids: !trees) {
      %hs = rec.map (%k: !tree, %weight) in (%kids, %weights)
          : !trees, !rec.list<f32> -> !rows {
        %hk = func.call @encode(%k, %E, %W, %b) : (!tree, !emb, !mat, !vec) -> !vec
        %w = tensor.splat %weight : !vec
        %y = arith.mulf %hk, %w : !vec
        rec.yield %y : !vec
      }
      %sum = linalg.reduce { arith.addf } ins(%hs : !rows) outs(%b : !vec)
          dimensions = [0]
      %y = math.tanh %sum : !vec
      rec.yield %y : !vec
    } }
    return %h : !vec
  }
  func.func @main(%trees: !trees {batch.name = "trees"}, %E: !emb {batch.shared = "E"},
                  %W: !mat {batch.shared = "W"}, %b: !vec {batch.shared = "b"})
      -> (!states {batch.name = "states"}, !vec {batch.name = "sum"})
      attributes {batch.entry} {
    %last = rec.construct @States::@last() : () -> !states
    %states = rec.fold %t: !tree in %trees init(%rest = %last) : !trees -> !states {
      %h = func.call @encode(%t, %E, %W, %b) : (!tree, !emb, !mat, !vec) -> !vec
      %next = rec.construct @States::@state(%h, %rest) : (!vec, !states) -> !states
      rec.yield %next : !states
    }
    %hs = rec.elements %states : !states -> !rows
    %sum = linalg.reduce { arith.addf } ins(%hs : !rows) outs(%b : !vec)
        dimensions = [0]
    return %states, %sum : !states, !vec
  }
}
