// REQUIRES: batch-run
// RUN: %integration/write_params.py %t.safetensors E=5x16 F=7x3x2 W=16x16 b=16
// RUN: batch-run %s --params=%t.safetensors --inputs=%S/Inputs/shared_extent.jsonl --batch=4 --check-unbatched --json | FileCheck %s

// Control flow, including calls, reads the number of rows of a parameter. Words are reduced
// modulo the number of rows of E. Loops have as many rounds as F has rows, and nothing else reads
// F. Kernels may read the number as a scalar.

// Seven rounds of the loop for each of 3 instances, 3 + 1 + 2 leaves, 2 + 0 + 1
// nodes.
// CHECK: "tasks": 30,
// CHECK: "unbatched_equal": true

!vec = tensor<16xf32>
!mat = tensor<16x16xf32>
!emb = tensor<?x16xf32>
!tree = !rec.adt<@Tree>
module {
  rec.adt @Tree {
    rec.variant @leaf(word: index)
    rec.variant @node(left: !tree, right: !tree)
  }
  func.func private @f(%t: !tree, %n: index, %E: !emb) -> !vec {
    %h = rec.match %t : !tree -> !vec {
    case @leaf(%word: index) {
      %i = arith.remui %word, %n : index
      %x = tensor.extract_slice %E[%i, 0] [1, 16] [1, 1] : !emb to !vec
      %m = arith.index_cast %n : index to i32
      %r = arith.uitofp %m : i32 to f32
      %rs = tensor.splat %r : !vec
      %y = arith.divf %x, %rs : !vec
      rec.yield %y : !vec
    }
    case @node(%l: !tree, %r: !tree) {
      %a = func.call @f(%l, %n, %E) : (!tree, index, !emb) -> !vec
      %b = func.call @f(%r, %n, %E) : (!tree, index, !emb) -> !vec
      %s = arith.addf %a, %b : !vec
      rec.yield %s : !vec
    } }
    return %h : !vec
  }
  func.func @main(%tree: !tree {batch.name = "tree"}, %E: !emb {batch.shared = "E"},
                  %F: tensor<?x3x2xf32> {batch.shared = "F"},
                  %W: !mat {batch.shared = "W"}, %b: !vec {batch.shared = "b"})
      -> (!vec {batch.name = "h"}) attributes {batch.entry} {
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    %n = tensor.dim %E, %zero : !emb
    %m = tensor.dim %F, %zero : tensor<?x3x2xf32>
    %e = tensor.dim %b, %zero : !vec
    %d = tensor.dim %W, %one : !mat
    %first = arith.subi %e, %d : index
    %h = call @f(%tree, %n, %E) : (!tree, index, !emb) -> !vec
    %y = scf.for %i = %first to %m step %one iter_args(%x = %h) -> (!vec) {
      %a = linalg.matvec ins(%W, %x : !mat, !vec) outs(%b : !vec) -> !vec
      %z = math.tanh %a : !vec
      scf.yield %z : !vec
    }
    return %y : !vec
  }
}
