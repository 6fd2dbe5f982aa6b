// REQUIRES: batch-run
// RUN: batch-run %s --params=random:0 --inputs=%S/Inputs/parameters.jsonl --batch=4 --check-unbatched --json | FileCheck %s

// Calls are not merged if they differ in a constant, in a value computed from
// constants, or in a tensor computed only from parameters. This holds for
// batched and unbatched runs.

// Tasks: four calls for each of 3 nodes; the products of 6 leaves in the two calls
// with a factor; an output for each of 3 instances; one kernel that uses only
// parameters.
// CHECK: "tasks": 28,
// CHECK: "unbatched_equal": true

!vec = tensor<16xf32>
!emb = tensor<?x16xf32>
!tree = !rec.adt<@Tree>
!flag = !rec.adt<@Flag>
module {
  rec.adt @Tree {
    rec.variant @leaf(word: index)
    rec.variant @node(left: !tree, right: !tree)
  }
  rec.adt @Flag {
    rec.variant @on()
    rec.variant @off()
  }
  func.func private @f(%t: !tree, %n: index, %flag: !flag, %c: !vec, %E: !emb) -> !vec {
    %h = rec.match %t : !tree -> !vec {
    case @leaf(%word: index) {
      %i = arith.remui %word, %n : index
      %x = tensor.extract_slice %E[%i, 0] [1, 16] [1, 1] : !emb to !vec
      %y = rec.match %flag : !flag -> !vec {
      case @on() {
        rec.yield %x : !vec
      }
      case @off() {
        %z = arith.mulf %x, %c : !vec
        rec.yield %z : !vec
      } }
      rec.yield %y : !vec
    }
    case @node(%l: !tree, %r: !tree) {
      %a = func.call @f(%l, %n, %flag, %c, %E) : (!tree, index, !flag, !vec, !emb) -> !vec
      %b = func.call @f(%r, %n, %flag, %c, %E) : (!tree, index, !flag, !vec, !emb) -> !vec
      %s = arith.addf %a, %b : !vec
      %y = arith.mulf %s, %c : !vec
      rec.yield %y : !vec
    } }
    return %h : !vec
  }
  func.func @main(%tree: !tree {batch.name = "tree"}, %E: !emb {batch.shared = "E"},
                  %b: !vec {batch.shared = "b"}) -> (!vec {batch.name = "h"})
      attributes {batch.entry} {
    %two = arith.constant 2 : index
    %three = arith.constant 3 : index
    %on = rec.construct @Flag::@on() : () -> !flag
    %off = rec.construct @Flag::@off() : () -> !flag
    %c = math.tanh %b : !vec
    %d = math.exp %b : !vec
    %0 = call @f(%tree, %two, %on, %c, %E) : (!tree, index, !flag, !vec, !emb) -> !vec
    %1 = call @f(%tree, %three, %on, %c, %E) : (!tree, index, !flag, !vec, !emb) -> !vec
    %2 = call @f(%tree, %three, %off, %c, %E) : (!tree, index, !flag, !vec, !emb) -> !vec
    %3 = call @f(%tree, %three, %off, %d, %E) : (!tree, index, !flag, !vec, !emb) -> !vec
    %4 = arith.subf %0, %1 : !vec
    %5 = arith.subf %2, %3 : !vec
    %6 = arith.divf %4, %5 : !vec
    return %6 : !vec
  }
}
