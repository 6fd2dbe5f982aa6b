// REQUIRES: batch-run
// RUN: batch-opt %s --batch-duplicate-functions --batch-outline-kernels | FileCheck %s
// RUN: batch-opt %s --batch-duplicate-functions=max-copies=1 --batch-outline-kernels | FileCheck %s --check-prefix=ONE
// RUN: echo '{"l":["cons",["cons",["nil"]]]}' > %t.jsonl
// RUN: echo '{"l":["cons",["cons",["cons",["nil"]]]]}' >> %t.jsonl
// RUN: batch-run %s --params=random:1 --inputs=%t.jsonl --check-unbatched --counters | FileCheck %s --check-prefix=RAN

// A parameter is the same in all tasks of a kernel. A recursion that is called with two
// matrices becomes two functions, whose kernels read one parameter each. A recursion
// that is called twice with the same matrix remains one function with one kernel.
!vec = tensor<4xf32>
!mat = tensor<4x4xf32>
!list = !rec.adt<@List>

rec.adt @List {
  rec.variant @nil()
  rec.variant @cons(rest: !list)
}

// CHECK:     batch.kernel @two_cons(
// CHECK-SAME:  tensor<4x4xf32> {batch.parameter = [[P:[01]]] : i64, batch.shared}
// CHECK:     batch.kernel @two_[[N:[0-9]+]]_cons(
// CHECK-NOT:   batch.parameter = [[P]] : i64
// CHECK-SAME:  tensor<4x4xf32> {batch.parameter = {{[01]}} : i64, batch.shared}
// ONE:       batch.kernel @two_cons(
// ONE-SAME:    %{{[^:]*}}: tensor<4x4xf32>, %{{[^:]*}}: tensor<4xf32>, %{{[^:]*}}: tensor<4xf32> {batch.parameter
// ONE-NOT:   batch.kernel @two
func.func private @two(%l: !list, %w: !mat, %b: !vec) -> !vec {
  %h = rec.match %l : !list -> !vec {
  case @nil() {
    rec.yield %b : !vec
  }
  case @cons(%r: !list) {
    %x = func.call @two(%r, %w, %b) : (!list, !mat, !vec) -> !vec
    %y = linalg.matvec ins(%w, %x : !mat, !vec) outs(%b : !vec) -> !vec
    rec.yield %y : !vec
  } }
  return %h : !vec
}

// CHECK:     batch.kernel @same_cons(
// CHECK-SAME:  tensor<4x4xf32> {batch.parameter = 0 : i64, batch.shared}
// CHECK-NOT: batch.kernel @same
func.func private @same(%l: !list, %w: !mat, %b: !vec) -> !vec {
  %h = rec.match %l : !list -> !vec {
  case @nil() {
    rec.yield %b : !vec
  }
  case @cons(%r: !list) {
    %x = func.call @same(%r, %w, %b) : (!list, !mat, !vec) -> !vec
    %y = linalg.matvec ins(%w, %x : !mat, !vec) outs(%x : !vec) -> !vec
    rec.yield %y : !vec
  } }
  return %h : !vec
}

// CHECK-LABEL: func.func @main
// CHECK:         call @two(
// CHECK:         call @two_[[N]](
// CHECK-COUNT-2: call @same(
// Calls with equal arguments run once.
// RAN: same_cons: 5 tasks
// RAN: two_{{[0-9]+}}_cons: 5 tasks
// RAN: two_cons: 5 tasks
func.func @main(%l: !list {batch.name = "l"}, %W: !mat {batch.shared = "W"},
                %V: !mat {batch.shared = "V"}, %b: !vec {batch.shared = "b"})
    -> (!vec {batch.name = "a"}, !vec {batch.name = "b"}, !vec {batch.name = "c"},
        !vec {batch.name = "d"}) attributes {batch.entry} {
  %p = call @two(%l, %W, %b) : (!list, !mat, !vec) -> !vec
  %q = call @two(%l, %V, %b) : (!list, !mat, !vec) -> !vec
  %r = call @same(%l, %W, %b) : (!list, !mat, !vec) -> !vec
  %s = call @same(%l, %W, %b) : (!list, !mat, !vec) -> !vec
  return %p, %q, %r, %s : !vec, !vec, !vec, !vec
}
