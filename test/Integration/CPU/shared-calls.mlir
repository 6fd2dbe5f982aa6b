// REQUIRES: batch-run
// RUN: echo '["leaf", 3]'                > %t.jsonl
// RUN: echo '["leaf", 5]'               >> %t.jsonl
// RUN: echo '["node", ["leaf", 2], ["leaf", 5]]' >> %t.jsonl
// RUN: batch-run %s --params=random:1 --inputs=%t.jsonl --check-unbatched --json --threads=2 --share-tasks=1 --nodes-per-worker=1 | FileCheck %s

// Calls that take no node run once for all instances if their arguments are equal, so all leaves
// share the tasks of five steps. Therefore, one worker has to inspect all instances.
// CHECK: "inspectors": 1,
// CHECK: "tasks": 6,
// CHECK: "unbatched_equal": true

!vec = tensor<16xf32>
!mat = tensor<?x16xf32>
!tree = !rec.adt<@Tree>
module {
  rec.adt @Tree {
    rec.variant @leaf(steps: index)
    rec.variant @node(left: !tree, right: !tree)
  }
  func.func @step(%n: index, %E: !mat) -> !vec {
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    %first = arith.cmpi eq, %n, %zero : index
    %h = scf.if %first -> !vec {
      %e = tensor.extract_slice %E[%zero, 0] [1, 16] [1, 1] : !mat to !vec
      scf.yield %e : !vec
    } else {
      %m = arith.subi %n, %one : index
      %p = func.call @step(%m, %E) : (index, !mat) -> !vec
      %t = math.tanh %p : !vec
      scf.yield %t : !vec
    }
    return %h : !vec
  }
  func.func @encode(%t: !tree, %E: !mat) -> !vec {
    %h = rec.match %t : !tree -> !vec {
    case @leaf(%steps: index) {
      %x = func.call @step(%steps, %E) : (index, !mat) -> !vec
      rec.yield %x : !vec
    }
    case @node(%l: !tree, %r: !tree) {
      %hl = func.call @encode(%l, %E) : (!tree, !mat) -> !vec
      %hr = func.call @encode(%r, %E) : (!tree, !mat) -> !vec
      %s = arith.addf %hl, %hr : !vec
      rec.yield %s : !vec
    } }
    return %h : !vec
  }
  func.func @main(%tree: !tree {batch.name = "tree"}, %E: !mat {batch.shared = "E"})
      -> (!vec {batch.name = "h"}) attributes {batch.entry} {
    %h = call @encode(%tree, %E) : (!tree, !mat) -> !vec
    return %h : !vec
  }
}
