// REQUIRES: batch-run
// RUN: batch-opt %s --batch-duplicate-functions --batch-outline-kernels | FileCheck %s
// RUN: echo '{"l":["cons",["cons",["nil"]]]}' > %t.jsonl
// RUN: batch-run %s --params=random:1 --inputs=%t.jsonl --check-unbatched --json | FileCheck %s --check-prefix=RAN

// If a duplicated function passes its parameters to another function, that function is
// duplicated, too. This holds for chains of calls of any length. Each product of the
// innermost function then reads one parameter.
!vec = tensor<4xf32>
!mat = tensor<4x4xf32>
!list = !rec.adt<@List>

rec.adt @List {
  rec.variant @nil()
  rec.variant @cons(rest: !list)
}

// CHECK:     batch.kernel @inner_cons(
// CHECK-SAME:  tensor<4x4xf32> {batch.parameter = {{[01]}} : i64, batch.shared}
// CHECK:     batch.kernel @inner_[[N:[0-9]+]]_cons(
// CHECK-SAME:  tensor<4x4xf32> {batch.parameter = {{[01]}} : i64, batch.shared}
func.func private @inner(%l: !list, %x: !vec, %w: !mat) -> !vec {
  %h = rec.match %l : !list -> !vec {
  case @nil() {
    rec.yield %x : !vec
  }
  case @cons(%r: !list) {
    %y = func.call @inner(%r, %x, %w) : (!list, !vec, !mat) -> !vec
    %z = linalg.matvec ins(%w, %y : !mat, !vec) outs(%x : !vec) -> !vec
    rec.yield %z : !vec
  } }
  return %h : !vec
}
func.func private @middle(%l: !list, %w: !mat, %b: !vec) -> !vec {
  %h = rec.match %l : !list -> !vec {
  case @nil() {
    rec.yield %b : !vec
  }
  case @cons(%r: !list) {
    %x = func.call @middle(%r, %w, %b) : (!list, !mat, !vec) -> !vec
    %y = func.call @inner(%r, %x, %w) : (!list, !vec, !mat) -> !vec
    rec.yield %y : !vec
  } }
  return %h : !vec
}
func.func private @outer(%l: !list, %w: !mat, %b: !vec) -> !vec {
  %h = rec.match %l : !list -> !vec {
  case @nil() {
    rec.yield %b : !vec
  }
  case @cons(%r: !list) {
    %x = func.call @outer(%r, %w, %b) : (!list, !mat, !vec) -> !vec
    %y = func.call @middle(%r, %w, %b) : (!list, !mat, !vec) -> !vec
    %s = arith.addf %x, %y : !vec
    rec.yield %s : !vec
  } }
  return %h : !vec
}

// CHECK-LABEL: func.func @main
// CHECK:         call @outer(
// CHECK:         call @outer_{{[0-9]+}}(
// RAN: "unbatched_equal": true
func.func @main(%l: !list {batch.name = "l"}, %W: !mat {batch.shared = "W"},
                %V: !mat {batch.shared = "V"}, %b: !vec {batch.shared = "b"})
    -> (!vec {batch.name = "p"}, !vec {batch.name = "q"}) attributes {batch.entry} {
  %p = call @outer(%l, %W, %b) : (!list, !mat, !vec) -> !vec
  %q = call @outer(%l, %V, %b) : (!list, !mat, !vec) -> !vec
  return %p, %q : !vec, !vec
}
