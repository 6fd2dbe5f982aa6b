// RUN: batch-opt %s --uprog-stage-operators=target=gpu --convert-operators-to-gpu=shared-memory=0 --canonicalize --cse --split-input-file | FileCheck %s

#rn = affine_map<(r, n) -> (r, n)>
#r = affine_map<(r, n) -> (r)>

// Finds the position of the largest of 100 elements (the first if several are largest).
// Each of 8 lanes reads every 8th element, and four lanes read one more. The lanes then
// exchange their results in three rounds, and one lane stores the final result.
// CHECK-LABEL: func.func private @argmax.rows.stage0
// CHECK:         scf.for
// CHECK:           %[[LANE:.*]] = arith.remui %{{.*}}, %c8_i32
// CHECK:           arith.cmpi eq, %[[LANE]], %c0_i32
// CHECK:           %[[FIRST:.*]] = arith.extui %[[LANE]] : i32 to i64
// CHECK:           %[[MOST:.*]]:2 = scf.for %[[K:.*]] = %c0_i64 to %c96_i64 step %c8_i64 iter_args(
// CHECK:             arith.addi %[[K]], %[[FIRST]]
// CHECK:             arith.cmpf ogt
// CHECK:           %[[HAS:.*]] = arith.cmpi slt, %[[LANE]], %c4_i32
// CHECK:           %[[OWN:.*]]:2 = scf.if %[[HAS]] -> (f32, i32)
// CHECK:             arith.addi %[[FIRST]], %c96_i64
// CHECK:             arith.cmpf ogt, %{{.*}}, %[[MOST]]#0
// CHECK:           } else {
// CHECK:             scf.yield %[[MOST]]#0, %[[MOST]]#1
// CHECK:           %[[VALUE:.*]], %{{.*}} = gpu.shuffle xor %[[OWN]]#0, %c4_i32, %c32_i32 : f32
// CHECK:           %[[INDEX:.*]], %{{.*}} = gpu.shuffle xor %[[OWN]]#1, %c4_i32, %c32_i32 : i32
// CHECK:           %[[BETTER:.*]] = arith.cmpf ogt, %[[VALUE]], %[[OWN]]#0
// CHECK:           %[[EQUAL:.*]] = arith.cmpf oeq, %[[VALUE]], %[[OWN]]#0
// CHECK:           %[[EARLIER:.*]] = arith.cmpi slt, %[[INDEX]], %[[OWN]]#1
// CHECK:           %[[TIE:.*]] = arith.andi %[[EQUAL]], %[[EARLIER]]
// CHECK:           %[[TAKES:.*]] = arith.ori %[[BETTER]], %[[TIE]]
// CHECK:           arith.select %[[TAKES]], %[[VALUE]], %[[OWN]]#0
// CHECK-COUNT-4:   gpu.shuffle xor
// CHECK-NOT:       gpu.shuffle
// CHECK:           scf.if
// CHECK-COUNT-2:     llvm.store
// CHECK:         return
uprog.operator @argmax.rows(%n: index, %x: tensor<?x100xf32> {uprog.operand = #uprog.operand<gather>})
    -> (tensor<?xf32>, tensor<?xi32>) {
  %low = arith.constant 0xFF800000 : f32
  %none = arith.constant -1 : i32
  %e = tensor.empty(%n) : tensor<?xf32>
  %ei = tensor.empty(%n) : tensor<?xi32>
  %v = linalg.fill ins(%low : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %k = linalg.fill ins(%none : i32) outs(%ei : tensor<?xi32>) -> tensor<?xi32>
  %y:2 = linalg.generic {indexing_maps = [#rn, #r, #r], iterator_types = ["parallel", "reduction"]}
           ins(%x : tensor<?x100xf32>) outs(%v, %k : tensor<?xf32>, tensor<?xi32>) {
  ^bb0(%a: f32, %best: f32, %at: i32):
    %i = linalg.index 1 : index
    %0 = arith.index_cast %i : index to i32
    %more = arith.cmpf ogt, %a, %best : f32
    %1 = arith.select %more, %a, %best : f32
    %2 = arith.select %more, %0, %at : i32
    linalg.yield %1, %2 : f32, i32
  } -> (tensor<?xf32>, tensor<?xi32>)
  uprog.yield %y#0, %y#1 : tensor<?xf32>, tensor<?xi32>
}

// -----

#rnk = affine_map<(r, n, k) -> (r, n, k)>
#rn = affine_map<(r, n, k) -> (r, n)>

// 64-bit words are exchanged in halves. Two lanes compute each of 48 elements, so a
// tile has 16 columns.
// CHECK-LABEL: func.func private @sums.rows.stage0
// CHECK:         %[[LANE:.*]] = arith.remui %{{.*}}, %c2_i32
// CHECK:         scf.for %{{.*}} to %c16_i64 step %c2_i64
// CHECK:         scf.if
// CHECK-COUNT-2: gpu.shuffle xor %{{.*}} : i32
// CHECK-NOT:     gpu.shuffle
// CHECK:         scf.if
// CHECK:           llvm.store
// CHECK:         return
uprog.operator @sums.rows(%n: index, %x: tensor<?x48x17xf64> {uprog.operand = #uprog.operand<gather>}) -> tensor<?x48xf64> {
  %zero = arith.constant 0.0 : f64
  %e = tensor.empty(%n) : tensor<?x48xf64>
  %start = linalg.fill ins(%zero : f64) outs(%e : tensor<?x48xf64>) -> tensor<?x48xf64>
  %y = linalg.generic {indexing_maps = [#rnk, #rn], iterator_types = ["parallel", "parallel", "reduction"]}
         ins(%x : tensor<?x48x17xf64>) outs(%start : tensor<?x48xf64>) {
  ^bb0(%a: f64, %o: f64):
    %s = arith.addf %o, %a : f64
    linalg.yield %s : f64
  } -> tensor<?x48xf64>
  uprog.yield %y : tensor<?x48xf64>
}

// -----

#rkn = affine_map<(r, n, k) -> (r, k, n)>
#rn = affine_map<(r, n, k) -> (r, n)>

// Columns are adjacent, and there are enough for a warp, so each has one lane.
// CHECK-LABEL: func.func private @columns.rows.stage0
// CHECK:         scf.if
// CHECK:           scf.for %{{.*}} to %c64_i64 step %c1_i64
// CHECK-NOT:     gpu.shuffle
// CHECK:         return
uprog.operator @columns.rows(%n: index, %x: tensor<?x64x32xf32> {uprog.operand = #uprog.operand<gather>}) -> tensor<?x32xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty(%n) : tensor<?x32xf32>
  %start = linalg.fill ins(%zero : f32) outs(%e : tensor<?x32xf32>) -> tensor<?x32xf32>
  %y = linalg.generic {indexing_maps = [#rkn, #rn], iterator_types = ["parallel", "parallel", "reduction"]}
         ins(%x : tensor<?x64x32xf32>) outs(%start : tensor<?x32xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %o, %a : f32
    linalg.yield %s : f32
  } -> tensor<?x32xf32>
  uprog.yield %y : tensor<?x32xf32>
}

// -----

#rkn = affine_map<(r, n, k) -> (r, k, n)>
#rn = affine_map<(r, n, k) -> (r, n)>

// With one lane per column, three columns would leave lanes idle, so each column has 8
// lanes. Adjacent lanes read elements that are not adjacent.
// CHECK-LABEL: func.func private @few.rows.stage0
// CHECK:         scf.for %{{.*}} to %c64_i64 step %c8_i64
// CHECK-COUNT-3: gpu.shuffle xor %{{.*}} : f32
// CHECK-NOT:     gpu.shuffle
// CHECK:         return
uprog.operator @few.rows(%n: index, %x: tensor<?x64x3xf32> {uprog.operand = #uprog.operand<gather>}) -> tensor<?x3xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty(%n) : tensor<?x3xf32>
  %start = linalg.fill ins(%zero : f32) outs(%e : tensor<?x3xf32>) -> tensor<?x3xf32>
  %y = linalg.generic {indexing_maps = [#rkn, #rn], iterator_types = ["parallel", "parallel", "reduction"]}
         ins(%x : tensor<?x64x3xf32>) outs(%start : tensor<?x3xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %o, %a : f32
    linalg.yield %s : f32
  } -> tensor<?x3xf32>
  uprog.yield %y : tensor<?x3xf32>
}

// -----

#rn = affine_map<(r, n) -> (r, n)>
#r = affine_map<(r, n) -> (r)>

// Partial results of this reduction cannot be combined, so one lane computes each row.
// CHECK-LABEL: func.func private @polynomial.rows.stage0
// CHECK:         scf.if
// CHECK:           scf.for %{{.*}} to %c100_i64 step %c1_i64
// CHECK-NOT:     gpu.shuffle
// CHECK:         return
uprog.operator @polynomial.rows(%n: index, %x: tensor<?x100xf32> {uprog.operand = #uprog.operand<gather>}) -> tensor<?xf32> {
  %zero = arith.constant 0.0 : f32
  %half = arith.constant 0.5 : f32
  %e = tensor.empty(%n) : tensor<?xf32>
  %start = linalg.fill ins(%zero : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %y = linalg.generic {indexing_maps = [#rn, #r], iterator_types = ["parallel", "reduction"]}
         ins(%x : tensor<?x100xf32>) outs(%start : tensor<?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %p = arith.mulf %o, %half : f32
    %s = arith.addf %p, %a : f32
    linalg.yield %s : f32
  } -> tensor<?xf32>
  uprog.yield %y : tensor<?xf32>
}

// -----

#rkn = affine_map<(r, n, k) -> (r, k, n)>
#rn = affine_map<(r, n, k) -> (r, n)>

// Each column has its own lane. The factors of 16 of 40 products of f64 numbers are loaded
// together, which takes 64 registers. Sums of 40 f32 numbers are unrolled completely, but
// sums of 1000 are not.
// CHECK:       #[[TIMES:.*]] = #llvm.loop_unroll<count = 16 : i32>
// CHECK:       #[[UNROLL:.*]] = #llvm.loop_annotation<unroll = #[[TIMES]]>
// CHECK-LABEL: func.func private @products.rows.stage0
// CHECK:         scf.for %{{.*}} = %c0_i64 to %c40_i64 step %c1_i64 iter_args
// CHECK:         } {loop_annotation = #[[UNROLL]]}
// CHECK-LABEL: func.func private @short.rows.stage0
// CHECK:         scf.for %{{.*}} = %c0_i64 to %c40_i64 step %c1_i64 iter_args
// CHECK-NOT:     loop_annotation
// CHECK-LABEL: func.func private @long.rows.stage0
// CHECK:         scf.for %{{.*}} = %c0_i64 to %c1000_i64 step %c1_i64 iter_args
// CHECK-NOT:     loop_annotation
// CHECK:         return
uprog.operator @products.rows(%n: index, %x: tensor<?x40x64xf64> {uprog.operand = #uprog.operand<gather>},
                             %z: tensor<?x40x64xf64> {uprog.operand = #uprog.operand<gather>})
    -> tensor<?x64xf64> {
  %zero = arith.constant 0.0 : f64
  %e = tensor.empty(%n) : tensor<?x64xf64>
  %s = linalg.fill ins(%zero : f64) outs(%e : tensor<?x64xf64>) -> tensor<?x64xf64>
  %y = linalg.generic {indexing_maps = [#rkn, #rkn, #rn], iterator_types = ["parallel", "parallel", "reduction"]}
         ins(%x, %z : tensor<?x40x64xf64>, tensor<?x40x64xf64>) outs(%s : tensor<?x64xf64>) {
  ^bb0(%a: f64, %b: f64, %sum: f64):
    %0 = arith.mulf %a, %b : f64
    %1 = arith.addf %sum, %0 : f64
    linalg.yield %1 : f64
  } -> tensor<?x64xf64>
  uprog.yield %y : tensor<?x64xf64>
}
uprog.operator @short.rows(%n: index, %x: tensor<?x40x64xf32> {uprog.operand = #uprog.operand<gather>})
    -> tensor<?x64xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty(%n) : tensor<?x64xf32>
  %s = linalg.fill ins(%zero : f32) outs(%e : tensor<?x64xf32>) -> tensor<?x64xf32>
  %y = linalg.generic {indexing_maps = [#rkn, #rn], iterator_types = ["parallel", "parallel", "reduction"]}
         ins(%x : tensor<?x40x64xf32>) outs(%s : tensor<?x64xf32>) {
  ^bb0(%a: f32, %sum: f32):
    %1 = arith.addf %sum, %a : f32
    linalg.yield %1 : f32
  } -> tensor<?x64xf32>
  uprog.yield %y : tensor<?x64xf32>
}
uprog.operator @long.rows(%n: index, %x: tensor<?x1000x64xf32> {uprog.operand = #uprog.operand<gather>})
    -> tensor<?x64xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty(%n) : tensor<?x64xf32>
  %s = linalg.fill ins(%zero : f32) outs(%e : tensor<?x64xf32>) -> tensor<?x64xf32>
  %y = linalg.generic {indexing_maps = [#rkn, #rn], iterator_types = ["parallel", "parallel", "reduction"]}
         ins(%x : tensor<?x1000x64xf32>) outs(%s : tensor<?x64xf32>) {
  ^bb0(%a: f32, %sum: f32):
    %1 = arith.addf %sum, %a : f32
    linalg.yield %1 : f32
  } -> tensor<?x64xf32>
  uprog.yield %y : tensor<?x64xf32>
}
