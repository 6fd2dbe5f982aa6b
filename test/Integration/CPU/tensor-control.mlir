// REQUIRES: batch-run
// RUN: %integration/check_control.py %s

// Control flow that reads tensors: recursion, loops and branches.
!vec = tensor<5xf64>
func.func private @norm(%x: !vec) -> f64 {
  %zero = arith.constant dense<0.0> : tensor<f64>
  %d = linalg.dot ins(%x, %x : !vec, !vec) outs(%zero : tensor<f64>) -> tensor<f64>
  %n = tensor.extract %d[] : tensor<f64>
  return %n : f64
}
// Splits a vector until the norm of each piece is small. Returns the sum of the results
// for the pieces, and the number of pieces.
func.func private @split(%x: !vec, %w: !vec, %depth: i64) -> (!vec, i64) {
  %n = func.call @norm(%x) : (!vec) -> f64
  %limit = arith.constant 1.0 : f64
  %small = arith.cmpf olt, %n, %limit : f64
  %y, %c = scf.if %small -> (!vec, i64) {
    %one = arith.constant 1 : i64
    %e = math.exp %x : !vec
    // Assembles the result from slices.
    %first = tensor.extract_slice %x[0] [1] [1] : !vec to tensor<f64>
    %double = arith.addf %first, %first : tensor<f64>
    %e3 = tensor.insert_slice %first into %e[3] [1] [1] : tensor<f64> into !vec
    %e4 = tensor.insert_slice %double into %e3[4] [1] [1] : tensor<f64> into !vec
    scf.yield %e4, %one : !vec, i64
  } else {
    %one = arith.constant 1 : i64
    %below = arith.addi %depth, %one : i64
    %a = arith.mulf %x, %w : !vec
    %b = arith.subf %x, %a : !vec
    %ya, %ca = func.call @split(%a, %w, %below) : (!vec, !vec, i64) -> (!vec, i64)
    %yb, %cb = func.call @split(%b, %w, %below) : (!vec, !vec, i64) -> (!vec, i64)
    %y0 = arith.addf %ya, %yb : !vec
    %c0 = arith.addi %ca, %cb : i64
    scf.yield %y0, %c0 : !vec, i64
  }
  return %y, %c : !vec, i64
}
func.func @main(%x: !vec {batch.name = "x"}, %rounds: index {batch.name = "rounds"},
                %w: !vec {batch.shared = "w"})
    -> (!vec {batch.name = "y"}, i64 {batch.name = "count"}) attributes {batch.entry} {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %none = arith.constant 0 : i64
  %limit = arith.constant 0.5 : f64
  %r:2 = scf.for %i = %zero to %rounds step %one iter_args(%v = %x, %t = %none) -> (!vec, i64) {
    // Shrinks a vector until its norm is small.
    %h = scf.while (%u = %v) : (!vec) -> !vec {
      %n = func.call @norm(%u) : (!vec) -> f64
      %c = arith.cmpf ogt, %n, %limit : f64
      %d = arith.mulf %u, %w : !vec
      scf.condition(%c) %d : !vec
    } do {
    ^bb0(%u: !vec):
      scf.yield %u : !vec
    }
    %s = tensor.splat %limit : !vec
    %b = arith.addf %h, %x : !vec
    %b1 = arith.addf %b, %s : !vec
    %y, %c = func.call @split(%b1, %w, %none) : (!vec, !vec, i64) -> (!vec, i64)
    %t1 = arith.addi %t, %c : i64
    scf.yield %y, %t1 : !vec, i64
  }
  return %r#0, %r#1 : !vec, i64
}
