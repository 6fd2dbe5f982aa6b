// RUN: batch-opt %s --batch-insert-ghosts --split-input-file | FileCheck %s
// RUN: batch-opt %s --batch-insert-ghosts --batch-insert-ghosts --split-input-file | FileCheck %s

!vec = tensor<4xf32>

batch.kernel @compose(%x: !vec) -> !vec {
  batch.yield %x : !vec
}
batch.kernel @cell(%x: !vec, %h: !vec) -> !vec {
  batch.yield %x : !vec
}
batch.kernel @later(%x: !vec) -> !vec attributes {phase = 1 : i64} {
  batch.yield %x : !vec
}

// One branch runs one task more than the other. A ghost delays the value of the shorter
// branch. The ghost counts only in the depth of the next task, which reads the value itself.
// CHECK-LABEL: func.func @main
// CHECK-SAME:    (%[[C:.*]]: i1, %[[X:.*]]: tensor<4xf32>, %[[H:.*]]: tensor<4xf32>)
func.func @main(%c: i1, %x: !vec, %h: !vec) -> (!vec, !vec) attributes {batch.entry} {
  // CHECK: %[[Y:.*]]:2 = scf.if %[[C]] -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK:   %[[E:.*]] = batch.invoke @compose(%[[X]])
  // CHECK:   scf.yield %[[E]], %[[E]]
  // CHECK: } else {
  // CHECK:   %[[D:.*]] = batch.depth(%[[X]]) : tensor<4xf32>
  // CHECK:   %[[G:.*]] = batch.ghost %[[X]] depth(%[[D]]) : tensor<4xf32>
  // CHECK-NOT: batch.ghost
  // CHECK:   scf.yield %[[X]], %[[G]]
  // CHECK: }
  %y = scf.if %c -> !vec {
    %d = batch.depth(%x) : !vec
    %e = batch.invoke @compose(%x) depth(%d) : (!vec) -> !vec
    scf.yield %e : !vec
  } else {
    scf.yield %x : !vec
  }
  // CHECK: %[[D1:.*]] = batch.depth(%[[Y]]#1, %[[H]])
  // CHECK: batch.invoke @cell(%[[Y]]#0, %[[H]]) depth(%[[D1]])
  %d1 = batch.depth(%y, %h) : !vec, !vec
  %z = batch.invoke @cell(%y, %h) depth(%d1) : (!vec, !vec) -> !vec
  return %z, %y : !vec, !vec
}

// -----

!vec = tensor<4xf32>
!item = !rec.adt<@Item>

rec.adt @Item {
  rec.variant @none()
  rec.variant @one(x: !vec)
  rec.variant @two(x: !vec, y: !vec)
}
batch.kernel @a(%x: !vec) -> !vec {
  batch.yield %x : !vec
}
batch.kernel @b(%x: !vec, %y: !vec) -> (!vec, !vec) {
  batch.yield %x, %y : !vec, !vec
}

// Tasks are counted from the start of a branch, through fields and inner branches of equal length.
// Two tasks require two ghosts. All depths computed from the result use the second ghost.
// CHECK-LABEL: func.func @main
// CHECK-SAME:    (%{{.*}}: !rec.adt<@Item>, %[[H:.*]]: tensor<4xf32>, %{{.*}}: i1)
func.func @main(%i: !item, %h: !vec, %c: i1) -> (!vec, !vec) attributes {batch.entry} {
  // CHECK: %[[R:.*]]:3 = rec.match
  %r:2 = rec.match %i : !item -> !vec, !vec {
  // CHECK: case @none()
  // CHECK:   %[[G:.*]] = batch.ghost %[[H]] depth
  // CHECK:   %[[D:.*]] = batch.depth(%[[G]])
  // CHECK:   %[[G2:.*]] = batch.ghost %[[G]] depth(%[[D]])
  // CHECK:   rec.yield %[[H]], %[[H]], %[[G2]]
  case @none() {
    rec.yield %h, %h : !vec, !vec
  }
  // CHECK: case @one(%{{.*}})
  // CHECK:   %[[B:.*]]:2 = batch.invoke @b
  // CHECK:   %[[G3:.*]] = batch.ghost %[[B]]#0 depth
  // CHECK:   rec.yield %[[B]]#0, %[[H]], %[[G3]]
  case @one(%x: !vec) {
    %e = scf.if %c -> !vec {
      scf.yield %x : !vec
    } else {
      scf.yield %h : !vec
    }
    %d = batch.depth(%e, %h) : !vec, !vec
    %b:2 = batch.invoke @b(%e, %h) depth(%d) : (!vec, !vec) -> (!vec, !vec)
    rec.yield %b#0, %h : !vec, !vec
  }
  // CHECK: case @two(%{{.*}}: {{.*}}, %[[FY:.*]]: {{.*}}) {
  // CHECK:   %[[B2:.*]]:2 = batch.invoke @b
  // CHECK-NOT: batch.ghost
  // CHECK:   rec.yield %[[B2]]#1, %[[FY]], %[[B2]]#1
  case @two(%x: !vec, %y: !vec) {
    %d = batch.depth(%x) : !vec
    %a = batch.invoke @a(%x) depth(%d) : (!vec) -> !vec
    %d1 = batch.depth(%a, %y) : !vec, !vec
    %b:2 = batch.invoke @b(%a, %y) depth(%d1) : (!vec, !vec) -> (!vec, !vec)
    rec.yield %b#1, %y : !vec, !vec
  } }
  // CHECK: batch.depth(%[[R]]#2, %[[R]]#1)
  // CHECK: batch.depth(%[[R]]#2)
  %d1 = batch.depth(%r#0, %r#1) : !vec, !vec
  %z:2 = batch.invoke @b(%r#0, %r#1) depth(%d1) : (!vec, !vec) -> (!vec, !vec)
  %d2 = batch.depth(%r#0) : !vec
  %u = batch.invoke @a(%r#0) depth(%d2) : (!vec) -> !vec
  return %z#0, %u : !vec, !vec
}

// -----

!vec = tensor<4xf32>

batch.kernel @a(%x: !vec) -> !vec {
  batch.yield %x : !vec
}
batch.kernel @b(%x: !vec) -> !vec {
  batch.yield %x : !vec
}
batch.kernel @c(%x: !vec, %y: !vec) -> !vec {
  batch.yield %x : !vec
}
batch.kernel @later(%x: !vec, %y: !vec) -> !vec attributes {phase = 1 : i64} {
  batch.yield %x : !vec
}
func.func private @walk(%x: !vec, %n: index) -> !vec {
  %zero = arith.constant 0 : index
  %end = arith.cmpi eq, %n, %zero : index
  %y = scf.if %end -> !vec {
    scf.yield %x : !vec
  } else {
    %one = arith.constant 1 : index
    %m = arith.subi %n, %one : index
    %w = func.call @walk(%x, %m) : (!vec, index) -> !vec
    scf.yield %w : !vec
  }
  // The number of tasks of this recursion is not constant, so no ghost is inserted.
  // CHECK-NOT: batch.ghost
  // CHECK: batch.invoke @a
  %d = batch.depth(%y) : !vec
  %z = batch.invoke @a(%y) depth(%d) : (!vec) -> !vec
  return %z : !vec
}

// CHECK-LABEL: func.func @main
func.func @main(%c: i1, %x: !vec, %h: !vec, %n: index) -> (!vec, !vec, !vec, !vec)
    attributes {batch.entry} {
  // Branches with different kernels, but the same number of tasks
  // CHECK-NOT: batch.ghost
  %y = scf.if %c -> !vec {
    %d = batch.depth(%x) : !vec
    %a = batch.invoke @a(%x) depth(%d) : (!vec) -> !vec
    scf.yield %a : !vec
  } else {
    %d = batch.depth(%h) : !vec
    %b = batch.invoke @b(%h) depth(%d) : (!vec) -> !vec
    scf.yield %b : !vec
  }
  %d1 = batch.depth(%y) : !vec
  %z = batch.invoke @a(%y) depth(%d1) : (!vec) -> !vec

  // Later tasks are deep enough in both branches: their other operand
  // determines the depth.
  %v, %w = scf.if %c -> (!vec, !vec) {
    %d = batch.depth(%x) : !vec
    %a = batch.invoke @a(%x) depth(%d) : (!vec) -> !vec
    scf.yield %a, %a : !vec, !vec
  } else {
    %d = batch.depth(%h) : !vec
    %b = batch.invoke @b(%h) depth(%d) : (!vec) -> !vec
    scf.yield %h, %b : !vec, !vec
  }
  %d2 = batch.depth(%v, %w) : !vec, !vec
  %u = batch.invoke @c(%v, %w) depth(%d2) : (!vec, !vec) -> !vec

  // A later phase begins when all branches have run, so its depths do not count tasks of branches.
  // The number of tasks in this loop is not constant, so it has no ghosts.
  %p, %q = scf.if %c -> (!vec, !vec) {
    %d = batch.depth(%x) : !vec
    %a = batch.invoke @a(%x) depth(%d) : (!vec) -> !vec
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    %l = scf.for %i = %zero to %n step %one iter_args(%acc = %x) -> !vec {
      %e = batch.depth(%acc) : !vec
      %b = batch.invoke @b(%acc) depth(%e) : (!vec) -> !vec
      scf.yield %b : !vec
    }
    scf.yield %a, %l : !vec, !vec
  } else {
    scf.yield %h, %x : !vec, !vec
  }
  %d3 = batch.depth(%p) : !vec
  %s = batch.invoke @later(%p, %q) depth(%d3) : (!vec, !vec) -> !vec
  %d4 = batch.depth(%q) : !vec
  %t = batch.invoke @a(%q) depth(%d4) : (!vec) -> !vec
  return %z, %u, %s, %t : !vec, !vec, !vec, !vec
}
