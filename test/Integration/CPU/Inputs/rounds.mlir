// Two loops whose numbers of rounds are arguments: one of low cost, then one of high
// cost, which does not end if `high` is negative.

!vec = tensor<64xf32>

func.func @main(%low: i64 {batch.name = "low"}, %high: i64 {batch.name = "high"},
                %w: tensor<64x64xf32> {batch.shared = "w"})
    -> (i64 {batch.name = "count"}, !vec {batch.name = "x"}) attributes {batch.entry} {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %three = arith.constant 3 : i64
  %mask = arith.constant 1023 : i64
  %count:2 = scf.while (%i = %zero, %s = %one) : (i64, i64) -> (i64, i64) {
    %more = arith.cmpi slt, %i, %low : i64
    scf.condition(%more) %i, %s : i64, i64
  } do {
  ^bb0(%i: i64, %s: i64):
    %j = arith.addi %i, %one : i64
    %t = arith.muli %s, %three : i64
    %u = arith.andi %t, %mask : i64
    scf.yield %j, %u : i64, i64
  }
  %empty = tensor.empty() : !vec
  %fill = arith.constant 0.1 : f32
  %start = linalg.fill ins(%fill : f32) outs(%empty : !vec) -> !vec
  %x:2 = scf.while (%i = %zero, %v = %start) : (i64, !vec) -> (i64, !vec) {
    %more = arith.cmpi ne, %i, %high : i64
    scf.condition(%more) %i, %v : i64, !vec
  } do {
  ^bb0(%i: i64, %v: !vec):
    %j = arith.addi %i, %one : i64
    %none = arith.constant 0.0 : f32
    %init = linalg.fill ins(%none : f32) outs(%empty : !vec) -> !vec
    %p = linalg.matvec ins(%w, %v : tensor<64x64xf32>, !vec) outs(%init : !vec) -> !vec
    %t = math.tanh %p : !vec
    scf.yield %j, %t : i64, !vec
  }
  return %count#1, %x#1 : i64, !vec
}
