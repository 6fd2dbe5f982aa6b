// RUN: batch-opt %s --uprog-stage-operators=target=gpu --convert-operators-to-gpu=shared-memory=0 --canonicalize --cse --split-input-file | FileCheck %s
// RUN: batch-opt %s --uprog-stage-operators=target=gpu --convert-operators-to-gpu="block-size=64 shared-memory=0" --canonicalize --cse --split-input-file \
// RUN:   | FileCheck %s --check-prefix=SMALL

#rn = affine_map<(r, n) -> (r, n)>
#r = affine_map<(r, n) -> (r)>

// Elementwise code only: each lane computes one element of a tile of 2 x 16.
// Operands are read as the step specifies, and the stride between rows of
// results leaves space for the rows of sibling results.
// CHECK-LABEL: func.func private @reads.rows.stage0
// CHECK-DAG:     %[[STRIDE:.*]] = arith.constant 128 : i64
// CHECK:         uprog.await_rows
// CHECK:         scf.for %{{.*}} to %{{.*}} step %{{.*}} : i32
// CHECK:             arith.divui %{{.*}}, %c16_i32
// CHECK:             scf.if
// A slot of a table.
// CHECK:               %[[SLOT:.*]] = llvm.load %{{.*}} {alignment = 4 : i64} : !llvm.ptr<1> -> i32
// CHECK:               arith.extsi %[[SLOT]] : i32 to i64
// An address.
// CHECK:               llvm.load %{{.*}} {alignment = 8 : i64} : !llvm.ptr<1> -> !llvm.ptr<1>
// CHECK-COUNT-3:       llvm.load %{{.*}} {alignment = 4 : i64} : !llvm.ptr<1> -> f32
// A cell.
// CHECK:               %[[CELL:.*]] = llvm.load %{{.*}} : !llvm.ptr<1> -> i64
// CHECK:               arith.trunci %[[CELL]] : i64 to i32
// CHECK:               %[[E:.*]] = math.exp
// CHECK:               arith.muli %{{.*}}, %[[STRIDE]] : i64
// CHECK:               llvm.store %[[E]]
// CHECK-NOT:     gpu.shuffle
// CHECK-NOT:     gpu.barrier
// CHECK:         return

// Two warps in a block of 64 threads share the tiles of its rows and columns.
// SMALL-LABEL: func.func private @reads.rows.stage0
// SMALL:         %[[WARP:.*]] = arith.divui %{{.*}}, %c32_i32
// SMALL:         uprog.await_rows
// SMALL:         scf.for %[[NUMBER:.*]] = %[[WARP]] to %{{.*}} step %c2_i32
uprog.operator @reads.rows(%n: index,
    %g: tensor<?x16xf32> {uprog.operand = #uprog.operand<gather>},
    %r: tensor<?x16xf32> {uprog.operand = #uprog.operand<rows>},
    %c: tensor<?x16xf32> {uprog.operand = #uprog.operand<gather>},
    %s: tensor<?xf32> {uprog.operand = #uprog.operand<scalar>})
    -> (tensor<?x16xf32> {uprog.result = #uprog.result<siblings = 2>}) {
  %e = tensor.empty(%n) : tensor<?x16xf32>
  %y = linalg.generic {indexing_maps = [#rn, #rn, #rn, #r, #rn],
                       iterator_types = ["parallel", "parallel"]}
         ins(%g, %r, %c, %s : tensor<?x16xf32>, tensor<?x16xf32>, tensor<?x16xf32>, tensor<?xf32>)
         outs(%e : tensor<?x16xf32>) {
  ^bb0(%0: f32, %1: f32, %2: f32, %3: f32, %o: f32):
    %4 = arith.addf %0, %1 : f32
    %5 = arith.mulf %2, %3 : f32
    %6 = arith.subf %4, %5 : f32
    %7 = math.exp %6 : f32
    linalg.yield %7 : f32
  } -> tensor<?x16xf32>
  uprog.yield %y : tensor<?x16xf32>
}

// -----

#x = affine_map<(r, n, k) -> (r, k)>
#w = affine_map<(r, n, k) -> (n, k)>
#y = affine_map<(r, n, k) -> (r, n)>

// An earlier stage computes a whole operand of a contraction, and stores it in the
// scratch of the step: 128 bytes per task.
// CHECK-LABEL: uprog.operator @chain.rows
// CHECK-SAME:    uprog.code = #uprog.code<stages = 2, task_scratch = 128>
// CHECK-LABEL: func.func private @chain.rows.stage0(%arg0: !llvm.ptr<1>
// CHECK-DAG:     %[[SCRATCH:.*]] = llvm.load %{{.*}} : !llvm.ptr<1> -> !llvm.ptr<1>
// CHECK:         %[[T:.*]] = math.tanh
// CHECK:         %[[ROW:.*]] = llvm.getelementptr %[[SCRATCH]][
// CHECK:         llvm.getelementptr %[[ROW]][
// CHECK:         llvm.store %[[T]]
// CHECK-NOT:     gpu.shuffle
// CHECK-LABEL: func.func private @chain.rows.stage1
// CHECK:         %[[SCRATCH:.*]] = llvm.load %{{.*}} : !llvm.ptr<1> -> !llvm.ptr<1>
// CHECK:         uprog.await_rows
// CHECK:         llvm.getelementptr %[[SCRATCH]][
// CHECK:         llvm.store %{{.*}} !llvm.ptr<3>
// CHECK:         gpu.shuffle
// CHECK-NOT:   stage2
uprog.operator @chain.rows(%n: index, %x: tensor<?x32xf32> {uprog.operand = #uprog.operand<gather>},
                           %w: tensor<32x32xf32> {uprog.operand = #uprog.operand<shared(0)>})
    -> tensor<?x32xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty(%n) : tensor<?x32xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x32xf32>) -> tensor<?x32xf32>
  %t = math.tanh %x : tensor<?x32xf32>
  %y = linalg.matmul indexing_maps = [#x, #w, #y]
         ins(%t, %w : tensor<?x32xf32>, tensor<32x32xf32>)
         outs(%start : tensor<?x32xf32>) -> tensor<?x32xf32>
  uprog.yield %y : tensor<?x32xf32>
}

// -----

#r = affine_map<(r, n) -> (r)>
#rn = affine_map<(r, n) -> (r, n)>

// Reductions that are not contractions run along a row, in 2 lanes for 20
// elements. The start value is added last.
// CHECK-LABEL: func.func private @norm.rows.stage0
// CHECK:         %[[SUM:.*]] = scf.for %{{.*}} step %c2_i64 iter_args(%[[ACC:.*]] = %cst{{.*}}) -> (f32)
// CHECK:           math.fma %[[X:.*]], %[[X]], %[[ACC]] : f32
// CHECK-COUNT-1: gpu.shuffle xor
// CHECK-NOT:     gpu.shuffle
// CHECK:         arith.addf %{{.*}}, %{{.*}} : f32
// CHECK:         scf.if
// CHECK:           llvm.store %{{.*}} : f32, !llvm.ptr<1>
// CHECK:         return
uprog.operator @norm.rows(%n: index, %x: tensor<?x20xf32> {uprog.operand = #uprog.operand<gather>}) -> tensor<?xf32> {
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
  uprog.yield %s : tensor<?xf32>
}

// -----

// Ragged rows are treated like rows of tasks. The offsets specify the number of
// ragged rows. The result of a task has a separate stage.
// CHECK-LABEL: uprog.operator @pool.rows
// CHECK-SAME:    #uprog.code<ragged_scratch = [64], stages = 2, task_scratch = 0>
// CHECK-LABEL: func.func private @pool.rows.stage0
// CHECK:         %[[COUNT:.*]] = llvm.load %{{.*}} : !llvm.ptr<1> -> i32
// CHECK:         scf.for
// CHECK:           math.tanh
// CHECK-LABEL: func.func private @pool.rows.stage1
// CHECK:         scf.if
// CHECK:           scf.for %{{.*}} iter_args(%[[SUM:[a-z0-9]*]] = %
// CHECK:             arith.addf %[[SUM]], %{{.*}} : f32
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

// A constant is stored in global memory.
// CHECK:       gpu.module @device
// CHECK:         llvm.mlir.global internal constant @batch.constant.0({{.*}}addr_space = 1 : i32
// CHECK-LABEL:   func.func private @constant.rows.stage0
// CHECK:           llvm.mlir.addressof @batch.constant.0 : !llvm.ptr<1>
uprog.operator @constant.rows(%n: index, %x: tensor<?x3xf32> {uprog.operand = #uprog.operand<gather>}) -> tensor<?x3xf32> {
  %c = arith.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
  %e = tensor.empty(%n) : tensor<?x3xf32>
  %b = linalg.broadcast ins(%c : tensor<3xf32>) outs(%e : tensor<?x3xf32>) dimensions = [0]
  %y = arith.addf %x, %b : tensor<?x3xf32>
  uprog.yield %y : tensor<?x3xf32>
}
