// RUN: batch-opt %s --batch-linearize | FileCheck %s --check-prefixes=CHECK,WAIT
// RUN: batch-opt %s --batch-linearize --batch-assign-slots | FileCheck %s --check-prefixes=CHECK,SLOTS
// RUN: batch-opt %s --batch-linearize -o /dev/null \
// RUN:   --remark-format=emitRemark --remarks-filter=batch 2>&1 \
// RUN:   | FileCheck %s --check-prefix=REMARK

// Control flow waits for an element of a task's result. A recursion that waits is not
// a traversal. A tensor that no kernel computes exists before the run.
!tree = !rec.adt<@Tree>
!vec = tensor<4xf32>
rec.adt @Tree {
  rec.variant @leaf(word: index)
  rec.variant @node(left: !tree, right: !tree)
}
batch.kernel @cell(%l: !vec, %r: !vec) -> !vec {
  %s = arith.addf %l, %r : !vec
  batch.yield %s : !vec
}
// SLOTS:       batch.table @cell_0 : tensor<4xf32>
// REMARK: recursion waits for tensors, so the inspector recurses"
// CHECK-LABEL: func.func private @f.inspect
// CHECK-SAME:    batch.memoized
// CHECK:         %[[H:.*]] = batch.record @cell
// CHECK-NOT:     batch.force
// WAIT:          %[[E:.*]] = batch.await %[[H]][%{{.*}}] number(0) : tensor<4xf32>
// SLOTS:         %[[E:.*]] = batch.await %[[H]][%{{.*}}] number(0) table(@cell_0) : tensor<4xf32>
// CHECK-NEXT:    arith.cmpf ogt, %[[E]]
func.func private @f(%t: !tree, %E: tensor<?x4xf32>) -> !vec {
  %h = rec.match %t : !tree -> !vec {
  case @leaf(%word: index) {
    %x = tensor.extract_slice %E[%word, 0] [1, 4] [1, 1]
        : tensor<?x4xf32> to !vec
    rec.yield %x : !vec
  }
  case @node(%l: !tree, %r: !tree) {
    %hl = func.call @f(%l, %E) : (!tree, tensor<?x4xf32>) -> !vec
    %hr = func.call @f(%r, %E) : (!tree, tensor<?x4xf32>) -> !vec
    %d = batch.depth(%hl, %hr) : !vec, !vec
    %s = batch.invoke @cell(%hl, %hr) depth(%d) : (!vec, !vec) -> !vec
    %zero = arith.constant 0 : index
    %bound = arith.constant 0.0 : f32
    %forced = batch.force %s number(0) : !vec
    %e = tensor.extract %forced[%zero] : !vec
    %c = arith.cmpf ogt, %e, %bound : f32
    %y = scf.if %c -> !vec {
      scf.yield %hl : !vec
    } else {
      scf.yield %s : !vec
    }
    rec.yield %y : !vec
  } }
  return %h : !vec
}
// CHECK-LABEL: func.func @main.inspect
// CHECK-NOT:     batch.traverse
// WAIT:          batch.await %{{.*}} number(1) : tensor<4xf32>
// SLOTS:         batch.extract %{{.*}} : tensor<4xf32>
func.func @main(%t: !tree {batch.name = "tree"}, %k: !vec {batch.name = "k"},
                %E: tensor<?x4xf32> {batch.shared = "E"})
    -> (!vec {batch.name = "h"}, f32 {batch.name = "first"})
    attributes {batch.entry, batch.strategy = #batch.strategy<lazy>} {
  %h = call @f(%t, %E) : (!tree, tensor<?x4xf32>) -> !vec
  %zero = arith.constant 0 : index
  %forced = batch.force %k number(1) : !vec
  %e = tensor.extract %forced[%zero] : !vec
  return %h, %e : !vec, f32
}
