// RUN: batch-opt %s --batch-merge-handles | FileCheck %s

!vec = tensor<4xf32>
!tree = !rec.adt<@Tree>
!handles = !rec.list<!batch.handle>

rec.adt @Tree {
  rec.variant @leaf(word: index)
  rec.variant @node(kids: !rec.list<!tree>)
}
batch.table @h : !vec group(0)
batch.table @c : !vec group(0)
batch.kernel @leaf(%n: index)
    -> (!vec {batch.in_table = @h}, !vec {batch.in_table = @c}, !vec {batch.in_table = @h}) {
  %x = arith.constant dense<0.0> : !vec
  batch.yield %x, %x, %x : !vec, !vec, !vec
}
batch.kernel @cell(%h: tensor<?x4xf32> {batch.ragged = 0 : i64},
                   %c: tensor<?x4xf32> {batch.ragged = 0 : i64})
    -> (!vec {batch.in_table = @h}, !vec {batch.in_table = @c}, !vec {batch.in_table = @h}) {
  %x = arith.constant dense<0.0> : !vec
  batch.yield %x, %x, %x : !vec, !vec, !vec
}

// Results 0 and 1 of a task are at position 0 of their tables. Result 2 is at a different
// position of the first table. If all cases yield the same handle or list twice, the pass
// removes the second one, also from the results of calls.
// CHECK-LABEL: func.func private @visit.inspect
// CHECK-SAME:    -> (!batch.handle, !batch.handle)
func.func private @visit.inspect(%t: !tree) -> (!batch.handle, !batch.handle, !batch.handle) {
  // CHECK: %[[R:.*]]:2 = rec.match %{{.*}} : !rec.adt<@Tree> -> !batch.handle, !batch.handle
  %r:3 = rec.match %t : !tree -> !batch.handle, !batch.handle, !batch.handle {
  // CHECK:      case @leaf
  // CHECK:        %[[L:.*]]:3 = batch.record @leaf
  // CHECK-NEXT:   rec.yield %[[L]]#0, %[[L]]#2 : !batch.handle, !batch.handle
  case @leaf(%word: index) {
    %d = batch.depth()
    %x:3 = batch.record @leaf(%word) depth(%d)
        : (index) -> (!batch.handle, !batch.handle, !batch.handle)
    rec.yield %x#0, %x#1, %x#2 : !batch.handle, !batch.handle, !batch.handle
  }
  // CHECK:      case @node
  // CHECK-NEXT:   %[[LIST:.*]] = rec.map %[[KID:.*]] in %{{.*}} : !rec.list<!rec.adt<@Tree>> -> !rec.list<!batch.handle> {
  // CHECK-NEXT:     %[[K:.*]]:2 = batch.lookup @visit.inspect(%[[KID]])
  // CHECK-NEXT:     rec.yield %[[K]]#0 : !batch.handle
  // CHECK-NEXT:   }
  // CHECK-NEXT:   %[[D:.*]] = batch.depth(%[[LIST]]) : !rec.list<!batch.handle>
  // CHECK-NEXT:   %[[N:.*]]:3 = batch.record @cell(%[[LIST]], %[[LIST]]) depth(%[[D]])
  // CHECK-NEXT:   rec.yield %[[N]]#0, %[[N]]#2
  case @node(%kids: !rec.list<!tree>) {
    %hs, %cs = rec.map %kid in %kids : !rec.list<!tree> -> !handles, !handles {
      %k:3 = batch.lookup @visit.inspect(%kid)
          : (!tree) -> (!batch.handle, !batch.handle, !batch.handle)
      rec.yield %k#0, %k#1 : !batch.handle, !batch.handle
    }
    %d = batch.depth(%hs, %cs) : !handles, !handles
    %x:3 = batch.record @cell(%hs, %cs) depth(%d)
        : (!handles, !handles) -> (!batch.handle, !batch.handle, !batch.handle)
    rec.yield %x#0, %x#1, %x#2 : !batch.handle, !batch.handle, !batch.handle
  }
  }
  // CHECK: return %[[R]]#0, %[[R]]#1
  return %r#0, %r#1, %r#2 : !batch.handle, !batch.handle, !batch.handle
}

// One case yields different values, so nothing merges. Numbers are not handles, so they remain.
// CHECK-LABEL: func.func private @choose.inspect
// CHECK-SAME:    -> (!batch.handle, !batch.handle, index, index)
func.func private @choose.inspect(%t: !tree, %b: i1)
    -> (!batch.handle, !batch.handle, index, index) {
  %one = arith.constant 1 : index
  // CHECK: %[[V:.*]]:2 = batch.lookup @visit.inspect
  %v:3 = batch.lookup @visit.inspect(%t)
      : (!tree) -> (!batch.handle, !batch.handle, !batch.handle)
  // CHECK: scf.if %{{.*}} -> (!batch.handle, !batch.handle)
  %r:2 = scf.if %b -> (!batch.handle, !batch.handle) {
    // CHECK-NEXT: scf.yield %[[V]]#0, %[[V]]#0
    scf.yield %v#0, %v#1 : !batch.handle, !batch.handle
  } else {
    // CHECK: scf.yield %[[V]]#0, %[[V]]#1
    scf.yield %v#0, %v#2 : !batch.handle, !batch.handle
  }
  return %r#0, %r#1, %one, %one : !batch.handle, !batch.handle, index, index
}

// The results of the entry's inspector are results of the object, so they remain.
// CHECK-LABEL: func.func @main.inspect
// CHECK-SAME:    -> (!batch.handle, !batch.handle)
// CHECK:         return %[[M:.*]]#0, %[[M]]#0
func.func @main.inspect(%t: !tree) -> (!batch.handle, !batch.handle)
    attributes {batch.inspector} {
  %v:3 = batch.lookup @visit.inspect(%t)
      : (!tree) -> (!batch.handle, !batch.handle, !batch.handle)
  return %v#0, %v#1 : !batch.handle, !batch.handle
}
