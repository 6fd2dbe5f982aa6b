// RUN: batch-opt %s --uprog-stage-operators --convert-operators-to-cpu --split-input-file | FileCheck %s

#x = affine_map<(r, n, k) -> (r, k)>
#w = affine_map<(r, n, k) -> (n, k)>
#y = affine_map<(r, n, k) -> (r, n)>

// An earlier stage computes a whole operand of a contraction, and stores it in scratch. A
// product of operands costs little and has no stage: it is computed while A is
// packed.
// CHECK-LABEL: func.func private @chain.rows.stage0
// CHECK:         math.tanh
// CHECK:       func.func private @chain.rows.stage1
// CHECK:         arith.mulf
// CHECK:         call @batch.tiles
// CHECK:         call @batch.tiles
// CHECK-NOT:   @chain.rows.stage2
// CHECK-LABEL: func.func @chain.rows(
// CHECK-SAME:    #uprog.code<stages = 2, task_scratch = 128, workers
// CHECK:         call @chain.rows.stage0
// CHECK:         call @chain.rows.stage1
uprog.operator @chain.rows(%n: index, %x: tensor<?x32xf32> {uprog.operand = #uprog.operand<gather>},
                           %h: tensor<?x32xf32> {uprog.operand = #uprog.operand<gather>},
                           %w: tensor<32x32xf32> {uprog.operand = #uprog.operand<shared(0)>})
    -> tensor<?x32xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty(%n) : tensor<?x32xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x32xf32>) -> tensor<?x32xf32>
  %t = math.tanh %x : tensor<?x32xf32>
  %p = arith.mulf %x, %h : tensor<?x32xf32>
  %a = linalg.matmul indexing_maps = [#x, #w, #y]
         ins(%t, %w : tensor<?x32xf32>, tensor<32x32xf32>)
         outs(%start : tensor<?x32xf32>) -> tensor<?x32xf32>
  %b = linalg.matmul indexing_maps = [#x, #w, #y]
         ins(%p, %w : tensor<?x32xf32>, tensor<32x32xf32>)
         outs(%start : tensor<?x32xf32>) -> tensor<?x32xf32>
  %y = arith.addf %a, %b : tensor<?x32xf32>
  uprog.yield %y : tensor<?x32xf32>
}

// -----

#r = affine_map<(r, n) -> (r)>
#rn = affine_map<(r, n) -> (r, n)>

// A reduction along a row runs in vectors, whose lanes are combined pairwise in
// a fixed order. Lanes past the end of the row do not contribute.
// CHECK-LABEL: func.func private @norm.rows.stage0
// CHECK:         %[[SUM:.*]] = vector.fma
// CHECK:         arith.select %{{.*}}, %{{.*}}, %{{.*}} : vector<16xi1>, vector<16xf32>
// CHECK:         vector.shuffle {{.*}}[0, 1, 2, 3, 4, 5, 6, 7]
// CHECK:         arith.addf %{{.*}}, %{{.*}} : vector<8xf32>
// CHECK-NOT:     vector.reduction
// CHECK:       func.func private @norm.rows.stage1
// CHECK:         math.sqrt
// CHECK-LABEL: func.func @norm.rows(
// CHECK-SAME:    #uprog.code<stages = 2,
uprog.operator @norm.rows(%n: index, %x: tensor<?x20xf32> {uprog.operand = #uprog.operand<gather>}) -> tensor<?x20xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty(%n) : tensor<?xf32>
  %start = linalg.fill ins(%zero : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %s = linalg.generic {indexing_maps = [#rn, #r], iterator_types = ["parallel", "reduction"]}
         ins(%x : tensor<?x20xf32>) outs(%start : tensor<?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %p = arith.mulf %a, %a : f32
    %q = arith.addf %o, %p : f32
    linalg.yield %q : f32
  } -> tensor<?xf32>
  %e2 = tensor.empty(%n) : tensor<?x20xf32>
  %y = linalg.generic {indexing_maps = [#rn, #r, #rn], iterator_types = ["parallel", "parallel"]}
         ins(%x, %s : tensor<?x20xf32>, tensor<?xf32>) outs(%e2 : tensor<?x20xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = math.sqrt %b : f32
    %q = arith.divf %a, %p : f32
    linalg.yield %q : f32
  } -> tensor<?x20xf32>
  uprog.yield %y : tensor<?x20xf32>
}

// -----

#rn = affine_map<(r, n) -> (r, n)>

// Ragged rows are treated like other rows, from the first row to the last row of
// this call's tasks. A separate stage combines the rows of each task.
// CHECK-LABEL: func.func private @pool.rows.stage0
// CHECK:         llvm.load %{{.*}} : !llvm.ptr -> i32
// CHECK:         math.tanh
// CHECK:       func.func private @pool.rows.stage1
// CHECK:         scf.for {{.*}} iter_args(%[[SUM:[a-z0-9]*]] = %
// CHECK:           arith.addf %[[SUM]], %{{.*}} : vector<16xf32>
// CHECK-LABEL: func.func @pool.rows(
// CHECK-SAME:    #uprog.code<ragged_scratch = [64], stages = 2, task_scratch = 0, workers
uprog.operator @pool.rows(%n: index, %q: tensor<?x16xf32> {uprog.operand = #uprog.operand<gather>},
                          %x: tensor<?x16xf32> {uprog.operand = #uprog.operand<gather ragged(0)>},
                          %offsets: tensor<?xindex> {uprog.operand = #uprog.operand<offsets(0)>})
    -> tensor<?x16xf32> {
  %b = batch.segment_broadcast %q by %offsets : tensor<?x16xf32>, tensor<?xindex>
  %s = arith.addf %x, %b : tensor<?x16xf32>
  %t = math.tanh %s : tensor<?x16xf32>
  %y = batch.segment_reduce add %t by %offsets into %q : tensor<?x16xf32>, tensor<?xindex>
  uprog.yield %y : tensor<?x16xf32>
}

// -----

#n1 = affine_map<(r, n) -> (r, n)>
#r1 = affine_map<(r, n) -> (r)>

// Some reductions, such as the position of the first positive element, are not
// a simple combination of lanes. They run element by element, after the stage
// that they read.
// CHECK-LABEL: func.func private @first.rows.stage0
// CHECK:         call @batch.tiles
// CHECK:       func.func private @first.rows.stage1
// CHECK:         arith.minsi
// CHECK-LABEL: func.func @first.rows(
// CHECK-SAME:    #uprog.code<stages = 2,
uprog.operator @first.rows(%n: index, %x: tensor<?x32xf32> {uprog.operand = #uprog.operand<gather>},
                           %w: tensor<9x32xf32> {uprog.operand = #uprog.operand<shared(0)>})
    -> tensor<?xi32> {
  %zero = arith.constant 0.0 : f32
  %none = arith.constant 99 : i32
  %empty = tensor.empty(%n) : tensor<?x9xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x9xf32>) -> tensor<?x9xf32>
  %scores = linalg.matmul indexing_maps = [affine_map<(r, n, k) -> (r, k)>,
              affine_map<(r, n, k) -> (n, k)>, affine_map<(r, n, k) -> (r, n)>]
         ins(%x, %w : tensor<?x32xf32>, tensor<9x32xf32>)
         outs(%start : tensor<?x9xf32>) -> tensor<?x9xf32>
  %e = tensor.empty(%n) : tensor<?xi32>
  %far = linalg.fill ins(%none : i32) outs(%e : tensor<?xi32>) -> tensor<?xi32>
  %y = linalg.generic {indexing_maps = [#n1, #r1], iterator_types = ["parallel", "reduction"]}
         ins(%scores : tensor<?x9xf32>) outs(%far : tensor<?xi32>) {
  ^bb0(%score: f32, %least: i32):
    %i = linalg.index 1 : index
    %here = arith.index_cast %i : index to i32
    %positive = arith.cmpf ogt, %score, %zero : f32
    %candidate = arith.select %positive, %here, %least : i32
    %m = arith.minsi %candidate, %least : i32
    linalg.yield %m : i32
  } -> tensor<?xi32>
  uprog.yield %y : tensor<?xi32>
}
