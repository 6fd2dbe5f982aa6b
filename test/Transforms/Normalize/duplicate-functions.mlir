// RUN: batch-opt %s --batch-duplicate-functions --split-input-file --remark-format=emitRemark --remarks-filter=batch 2>%t.remarks | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK < %t.remarks
// RUN: batch-opt %s --batch-duplicate-functions=max-copies=1 --split-input-file --remark-format=emitRemark --remarks-filter=batch 2>%t.limit | FileCheck %s --check-prefix=LIMIT
// RUN: FileCheck %s --check-prefix=LEFT < %t.limit

!vec = tensor<4xf32>
!mat = tensor<4x4xf32>
!list = !rec.adt<@List>

rec.adt @List {
  rec.variant @nil()
  rec.variant @cons(rest: !list)
}

// Mutual recursion with the weights in two orders: the calls in a function
// depend on the weights that it was called with.
// CHECK-LABEL: func.func private @odd(
// CHECK:         call @even(
// CHECK-LABEL: func.func private @odd_{{[0-9]+}}(
// CHECK:         call @[[EVEN:even_[0-9]+]](
// LIMIT-NOT:   {{(odd|even)_}}
// REMARK-DAG:  @odd is duplicated: one copy for each of 2 sets of parameters
// REMARK-DAG:  @even is duplicated: one copy for each of 2 sets of parameters
// LEFT-DAG:    @odd is not duplicated, because it is called with more sets of parameters than max-copies=1; it reads parameters task by task
func.func private @odd(%l: !list, %a: !mat, %b: !mat, %c: !vec) -> !vec {
  %h = rec.match %l : !list -> !vec {
  case @nil() {
    rec.yield %c : !vec
  }
  case @cons(%r: !list) {
    %x = func.call @even(%r, %a, %b, %c) : (!list, !mat, !mat, !vec) -> !vec
    %y = linalg.matvec ins(%a, %x : !mat, !vec) outs(%c : !vec) -> !vec
    rec.yield %y : !vec
  } }
  return %h : !vec
}
// CHECK-LABEL: func.func private @even(
// CHECK:         call @odd(
// CHECK:       func.func private @[[EVEN]](
// CHECK:         call @odd_{{[0-9]+}}(
func.func private @even(%l: !list, %a: !mat, %b: !mat, %c: !vec) -> !vec {
  %h = rec.match %l : !list -> !vec {
  case @nil() {
    rec.yield %c : !vec
  }
  case @cons(%r: !list) {
    %x = func.call @odd(%r, %a, %b, %c) : (!list, !mat, !mat, !vec) -> !vec
    %y = linalg.matvec ins(%b, %x : !mat, !vec) outs(%c : !vec) -> !vec
    rec.yield %y : !vec
  } }
  return %h : !vec
}
// CHECK-LABEL: func.func @main(
// CHECK:         call @odd(
// CHECK:         call @odd_{{[0-9]+}}(
// LIMIT-LABEL: func.func @main(
// LIMIT-COUNT-2: call @odd(
func.func @main(%l: !list, %a: !mat {batch.shared = "a"}, %b: !mat {batch.shared = "b"},
                %c: !vec {batch.shared = "c"}) -> (!vec, !vec) attributes {batch.entry} {
  %0 = func.call @odd(%l, %a, %b, %c) : (!list, !mat, !mat, !vec) -> !vec
  %1 = func.call @odd(%l, %b, %a, %c) : (!list, !mat, !mat, !vec) -> !vec
  return %0, %1 : !vec, !vec
}

// -----

!vec = tensor<4xf32>
!emb = tensor<?x4xf32>
!list = !rec.adt<@List>

rec.adt @List {
  rec.variant @nil()
  rec.variant @cons(word: index, rest: !list)
}

// Calls that differ only in biases are batched together. A parameter with any
// number of rows is not a row of a result table, so each such parameter has its own function.
// CHECK-LABEL: func.func private @sum(
// CHECK:       func.func private @sum_0(
// CHECK-NOT:   func.func private
func.func private @sum(%l: !list, %E: !emb, %b: !vec) -> !vec {
  %h = rec.match %l : !list -> !vec {
  case @nil() {
    rec.yield %b : !vec
  }
  case @cons(%w: index, %r: !list) {
    %x = tensor.extract_slice %E[%w, 0] [1, 4] [1, 1] : !emb to !vec
    %y = func.call @sum(%r, %E, %b) : (!list, !emb, !vec) -> !vec
    %z = arith.addf %x, %y : !vec
    rec.yield %z : !vec
  } }
  return %h : !vec
}
// CHECK-LABEL: func.func @main(
// CHECK-COUNT-2: call @sum(
// CHECK:         call @sum_0(
func.func @main(%l: !list, %E: !emb {batch.shared = "E"}, %F: !emb {batch.shared = "F"},
                %b: !vec {batch.shared = "b"}, %c: !vec {batch.shared = "c"})
    -> (!vec, !vec, !vec) attributes {batch.entry} {
  %0 = func.call @sum(%l, %E, %b) : (!list, !emb, !vec) -> !vec
  %1 = func.call @sum(%l, %E, %c) : (!list, !emb, !vec) -> !vec
  %2 = func.call @sum(%l, %F, %b) : (!list, !emb, !vec) -> !vec
  return %0, %1, %2 : !vec, !vec, !vec
}

// -----

!vec = tensor<4xf32>
!mat = tensor<4x4xf32>
!list = !rec.adt<@List>

rec.adt @List {
  rec.variant @nil()
  rec.variant @cons(rest: !list)
}

// A module has one entry, so the entry is not duplicated, even if it calls itself.
// CHECK-LABEL: func.func @main(
// CHECK:       call @main(
// CHECK-NOT:   func.func
func.func @main(%l: !list, %a: !mat {batch.shared = "a"}, %b: !mat {batch.shared = "b"},
                %c: !vec {batch.shared = "c"}) -> !vec attributes {batch.entry} {
  %h = rec.match %l : !list -> !vec {
  case @nil() {
    rec.yield %c : !vec
  }
  case @cons(%r: !list) {
    %x = func.call @main(%r, %b, %a, %c) : (!list, !mat, !mat, !vec) -> !vec
    %y = linalg.matvec ins(%a, %x : !mat, !vec) outs(%c : !vec) -> !vec
    rec.yield %y : !vec
  } }
  return %h : !vec
}
