// RUN: batch-opt %s -batch-fold-biases | FileCheck %s

// A product starts from a bias if the bias is a parameter, here one that a call passes. An
// operation of arith or linalg adds the bias, as either operand.

!vec = tensor<4xf32>
!mat = tensor<4x4xf32>
#id = affine_map<(d0) -> (d0)>
#row = affine_map<(d0, d1) -> (d1)>
#all = affine_map<(d0, d1) -> (d0, d1)>

!words = !rec.adt<@Words>
rec.adt @Words kind sequence {
  rec.variant @end()
  rec.variant @word(x: !vec, rest: !words)
}

// CHECK-LABEL: func.func private @layer
//  CHECK-SAME: (%[[X:.*]]: tensor<4xf32>, %[[W:.*]]: tensor<4x4xf32>, %[[B:.*]]: tensor<4xf32>)
//       CHECK:   %[[Y:.*]] = linalg.matvec ins(%[[W]], %[[X]] : {{.*}}) outs(%[[B]] :
//       CHECK:   %[[Z:.*]] = linalg.matvec ins(%[[W]], %[[Y]] : {{.*}}) outs(%[[B]] :
//   CHECK-NOT:   addf
//       CHECK:   return %[[Z]]
func.func private @layer(%x: !vec, %W: !mat, %b: !vec) -> !vec {
  %zero = arith.constant dense<0.0> : !vec
  %p = linalg.matvec ins(%W, %x : !mat, !vec) outs(%zero : !vec) -> !vec
  %y = arith.addf %p, %b : !vec
  %f = arith.constant 0.0 : f32
  %e = tensor.empty() : !vec
  %fill = linalg.fill ins(%f : f32) outs(%e : !vec) -> !vec
  %q = linalg.matvec ins(%W, %y : !mat, !vec) outs(%fill : !vec) -> !vec
  %z = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
      ins(%b, %q : !vec, !vec) outs(%e : !vec) {
  ^bb0(%l: f32, %r: f32, %o: f32):
    %s = arith.addf %l, %r : f32
    linalg.yield %s : f32
  } -> !vec
  return %z : !vec
}

// A product starts from a broadcast bias, and a sum of rows from the value that is added to it.
// CHECK-LABEL: func.func private @rows
//  CHECK-SAME: (%[[X:.*]]: tensor<4xf32>, %[[R:.*]]: tensor<?x4xf32>, %[[W:.*]]: tensor<4x4xf32>, %[[B:.*]]: tensor<4xf32>)
//       CHECK:   %[[BS:.*]] = linalg.broadcast ins(%[[B]]
//       CHECK:   %[[M:.*]] = linalg.matmul ins(%[[R]], %[[W]] : {{.*}}) outs(%[[BS]] :
//       CHECK:   %[[Y:.*]] = arith.mulf %[[X]], %[[X]]
//       CHECK:   %[[S:.*]] = linalg.reduce {{.*}} ins(%[[M]] : {{.*}}) outs(%[[Y]] :
//       CHECK:   return %[[S]]
func.func private @rows(%x: !vec, %r: tensor<?x4xf32>, %W: !mat, %b: !vec) -> !vec {
  %c0 = arith.constant 0 : index
  %f = arith.constant 0.0 : f32
  %n = tensor.dim %r, %c0 : tensor<?x4xf32>
  %e = tensor.empty(%n) : tensor<?x4xf32>
  %fill = linalg.fill ins(%f : f32) outs(%e : tensor<?x4xf32>) -> tensor<?x4xf32>
  %m = linalg.matmul ins(%r, %W : tensor<?x4xf32>, !mat) outs(%fill : tensor<?x4xf32>)
      -> tensor<?x4xf32>
  %bs = linalg.broadcast ins(%b : !vec) outs(%e : tensor<?x4xf32>) dimensions = [0]
  %mb = arith.addf %m, %bs : tensor<?x4xf32>
  %zero = arith.constant dense<0.0> : !vec
  %s = linalg.reduce { arith.addf } ins(%mb : tensor<?x4xf32>) outs(%zero : !vec)
      dimensions = [0]
  %y = arith.mulf %x, %x : !vec
  %z = arith.addf %y, %s : !vec
  return %z : !vec
}

// A product with a result of a call starts from a product that waits for no call. If both products
// wait for calls, or neither does, they remain independent.
// CHECK-LABEL: func.func private @step
//  CHECK-SAME: (%{{.*}}: !rec.adt<@Words>, %{{.*}}: tensor<4x4xf32>, %{{.*}}: tensor<4x4xf32>, %[[B:.*]]: tensor<4xf32>)
//       CHECK:     %[[ZERO:.*]] = arith.constant dense<0.0
//       CHECK:     %[[WX:.*]] = linalg.matvec {{.*}} outs(%[[B]] :
//       CHECK:     %[[UH:.*]] = linalg.matvec {{.*}} outs(%[[WX]] :
//       CHECK:     %[[P:.*]] = linalg.matvec {{.*}} outs(%[[ZERO]] :
//       CHECK:     %[[Q:.*]] = linalg.matvec {{.*}} outs(%[[ZERO]] :
//       CHECK:     arith.addf %[[P]], %[[Q]]
func.func private @step(%s: !words, %W: !mat, %U: !mat, %b: !vec) -> !vec {
  %y = rec.match %s : !words -> !vec {
  case @end() {
    rec.yield %b : !vec
  }
  case @word(%x: !vec, %rest: !words) {
    %h = func.call @step(%rest, %W, %U, %b) : (!words, !mat, !mat, !vec) -> !vec
    %zero = arith.constant dense<0.0> : !vec
    %uh = linalg.matvec ins(%U, %h : !mat, !vec) outs(%zero : !vec) -> !vec
    %wx = linalg.matvec ins(%W, %x : !mat, !vec) outs(%zero : !vec) -> !vec
    %wxb = arith.addf %wx, %b : !vec
    %g = arith.addf %uh, %wxb : !vec
    %p = linalg.matvec ins(%U, %g : !mat, !vec) outs(%zero : !vec) -> !vec
    %q = linalg.matvec ins(%W, %h : !mat, !vec) outs(%zero : !vec) -> !vec
    %z = arith.addf %p, %q : !vec
    rec.yield %z : !vec
  } }
  return %y : !vec
}

// Unchanged: a sum with a vector of the instance; a product that is read twice; a product
// that does not begin with zero; products of parameters only; a bias that the addition
// broadcasts; sums of two sums; an operation with two results.
// CHECK-LABEL: func.func private @others
//   CHECK-NOT:   linalg.matvec {{.*}} outs(%{{(b|arg3)}} :
//       CHECK:   %[[P:.*]] = linalg.matvec
//       CHECK:   arith.addf %[[P]], %{{.*}}
//       CHECK:   %[[Q:.*]] = linalg.matvec
//       CHECK:   arith.addf %[[Q]]
//       CHECK:   arith.mulf %{{.*}}, %[[Q]]
//       CHECK:   %[[R:.*]] = linalg.matvec
//       CHECK:   arith.addf %[[R]]
//       CHECK:   %[[S:.*]] = linalg.matvec
//       CHECK:   arith.addf %[[S]]
//       CHECK:   %[[M:.*]] = linalg.matmul
//       CHECK:   linalg.generic {{.*}} ins(%[[M]]
//       CHECK:   %[[S1:.*]] = linalg.reduce
//       CHECK:   %[[S2:.*]] = linalg.reduce
//       CHECK:   arith.addf %[[S1]], %[[S2]]
//       CHECK:   %[[T:.*]] = linalg.matvec
//       CHECK:   linalg.generic {{.*}} ins(%[[T]],
func.func private @others(%x: !vec, %X: !mat, %W: !mat, %b: !vec) -> (!vec, !vec, !vec, !mat) {
  %zero = arith.constant dense<0.0> : !vec
  %p = linalg.matvec ins(%W, %x : !mat, !vec) outs(%zero : !vec) -> !vec
  %0 = arith.addf %p, %x : !vec
  %q = linalg.matvec ins(%W, %x : !mat, !vec) outs(%zero : !vec) -> !vec
  %1 = arith.addf %q, %b : !vec
  %2 = arith.mulf %1, %q : !vec
  %r = linalg.matvec ins(%W, %2 : !mat, !vec) outs(%x : !vec) -> !vec
  %3 = arith.addf %r, %b : !vec
  %s = linalg.matvec ins(%W, %b : !mat, !vec) outs(%zero : !vec) -> !vec
  %4 = arith.addf %s, %b : !vec
  %none = arith.constant dense<0.0> : !mat
  %m = linalg.matmul ins(%X, %W : !mat, !mat) outs(%none : !mat) -> !mat
  %5 = linalg.generic {indexing_maps = [#all, #row, #all],
                       iterator_types = ["parallel", "parallel"]}
      ins(%m, %b : !mat, !vec) outs(%none : !mat) {
  ^bb0(%l: f32, %rr: f32, %o: f32):
    %t = arith.addf %l, %rr : f32
    linalg.yield %t : f32
  } -> !mat
  %6 = linalg.reduce { arith.addf } ins(%5 : !mat) outs(%zero : !vec) dimensions = [0]
  %7 = linalg.reduce { arith.addf } ins(%5 : !mat) outs(%zero : !vec) dimensions = [1]
  %8 = arith.addf %6, %7 : !vec
  %t = linalg.matvec ins(%W, %x : !mat, !vec) outs(%zero : !vec) -> !vec
  %both:2 = linalg.generic {indexing_maps = [#id, #id, #id, #id],
                            iterator_types = ["parallel"]}
      ins(%t, %b : !vec, !vec) outs(%zero, %zero : !vec, !vec) {
  ^bb0(%l: f32, %rr: f32, %o: f32, %q2: f32):
    %u = arith.addf %l, %rr : f32
    linalg.yield %u, %l : f32, f32
  } -> (!vec, !vec)
  %bothm = arith.mulf %both#0, %both#1 : !vec
  %prod = arith.mulf %4, %8 : !vec
  %9 = arith.mulf %prod, %bothm : !vec
  return %0, %3, %9, %5 : !vec, !vec, !vec, !mat
}

func.func @main(%x: !vec {batch.name = "x"}, %X: !mat {batch.name = "X"},
                %rows: tensor<?x4xf32> {batch.name = "rows"}, %s: !words {batch.name = "s"},
                %W: !mat {batch.shared = "W"}, %b: !vec {batch.shared = "b"})
    -> (!vec, !vec, !vec, !mat) attributes {batch.entry} {
  %v = call @step(%s, %W, %W, %b) : (!words, !mat, !mat, !vec) -> !vec
  %xv = arith.mulf %x, %v : !vec
  %y = call @layer(%xv, %W, %b) : (!vec, !mat, !vec) -> !vec
  %z = call @rows(%y, %rows, %W, %b) : (!vec, tensor<?x4xf32>, !mat, !vec) -> !vec
  %r:4 = call @others(%z, %X, %W, %b) : (!vec, !mat, !mat, !vec) -> (!vec, !vec, !vec, !mat)
  return %r#0, %r#1, %r#2, %r#3 : !vec, !vec, !vec, !mat
}
