// RUN: batch-opt %s --uprog-stage-operators=target=gpu --convert-operators-to-gpu=shared-memory=0 --split-input-file | FileCheck %s

#x = affine_map<(r, n, k) -> (r, k)>
#w = affine_map<(r, n, k) -> (n, k)>
#y = affine_map<(r, n, k) -> (r, n)>
#id = affine_map<(r, n) -> (r, n)>
#bias = affine_map<(r, n) -> (n)>

// Weights lie as B[n][k], on which lanes read side by side.
// CHECK: module attributes {uprog.packings = [
// CHECK-SAME: #uprog.panels<parameters = [0], n = 64, k = 128, width = 1, transposed = true>,
// CHECK-SAME: #uprog.padded<parameter = 1>]}

// The operator stays, and says what the functions need.
// CHECK:      uprog.operator @cell.rows
// CHECK-SAME:   uprog.code = #uprog.code<stages = 1, task_scratch = 0>

// CHECK-LABEL: gpu.module @device
// CHECK:         func.func private @cell.rows.stage0(
// CHECK-SAME:      %[[STEP:.*]]: !llvm.ptr<1>, %[[FORMS:.*]]: !llvm.ptr<1>, %[[UNIT:.*]]: i64, %[[UNITS:.*]]: i64)
// CHECK-DAG:       %[[C0:.*]] = arith.constant 0 : i64
// CHECK-DAG:       %[[C4:.*]] = arith.constant 4 : i64
// CHECK-DAG:       %[[C8:.*]] = arith.constant 8 : i64
// CHECK-DAG:       %[[C32:.*]] = arith.constant 32 : i64
// CHECK-DAG:       %[[C128:.*]] = arith.constant 128 : i64
// CHECK:           %[[THREAD:.*]] = arith.index_cast %{{.*}} : index to i64
// CHECK:           %[[LANE:.*]] = arith.remui %[[THREAD]], %[[C32]]
// CHECK:           %[[WARP:.*]] = arith.divui %[[THREAD]], %[[C32]]

// A block's column of tiles depends on the number of blocks alone; blocks that
// have the same one share its rows, tile by tile.
// CHECK:           %[[ACROSS:.*]] = arith.minsi %[[UNITS]], %[[C8]]
// CHECK:           %[[FIRST:.*]] = arith.remui %[[UNIT]], %[[ACROSS]]
// CHECK:           %[[SHARE:.*]] = arith.divui %[[UNIT]], %[[ACROSS]]
// CHECK:           %[[SHARES:.*]] = arith.divui %{{.*}}, %[[ACROSS]]
// CHECK:           %[[OWN:.*]] = arith.muli %[[WARP]], %[[SHARES]]
// CHECK:           %[[ROW:.*]] = arith.addi %[[OWN]], %[[SHARE]]
// CHECK:           scf.for %{{.*}} = %[[FIRST]] to %[[C8]] step %[[ACROSS]]
// CHECK:             scf.for %{{.*}} = %[[ROW]] to

// Lanes take four of k each, of all 4 x 8 sums of the tile.
// CHECK:               %[[K:.*]] = arith.muli %[[LANE]], %[[C4]]
// CHECK:               %[[SUMS:.*]]:32 = scf.for %{{.*}} = %[[K]] to %[[C128]] step %[[C128]]
// CHECK-COUNT-8:         llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xf32>
// CHECK-COUNT-128:       math.fma
// CHECK-NOT:             math.fma
// CHECK:                 scf.yield

// The parts are added up in five steps of 16, 8, 4, 2 and 1 numbers, behind
// which every lane has one sum.
// CHECK:               %[[BIT:.*]] = arith.trunci %{{.*}} : i64 to i1
// CHECK:               %[[KEEP:.*]] = arith.select %[[BIT]], %[[SUMS]]#16, %[[SUMS]]#0
// CHECK-NEXT:          %[[SEND:.*]] = arith.select %[[BIT]], %[[SUMS]]#0, %[[SUMS]]#16
// CHECK-NEXT:          %[[OTHER:.*]], %{{.*}} = gpu.shuffle xor %[[SEND]], %c16_i32, %c32_i32
// CHECK-NEXT:          arith.addf %[[KEEP]], %[[OTHER]]
// CHECK-COUNT-30:      gpu.shuffle
// CHECK:               %[[SUM:.*]] = arith.addf
// CHECK-NOT:           gpu.shuffle

// What follows is one element a lane; those over the edge store nothing.
// CHECK:               scf.if
// CHECK:                 %[[B:.*]] = llvm.load %{{.*}} : !llvm.ptr<1> -> f32
// CHECK-NEXT:            %[[S:.*]] = arith.addf %[[SUM]], %[[B]] : f32
// CHECK-NEXT:            %[[T:.*]] = math.tanh %[[S]] : f32
// CHECK:                 llvm.store %[[T]], %{{.*}} : f32, !llvm.ptr<1>
// CHECK-NOT:     stage1
uprog.operator @cell.rows(%n: index, %x: tensor<?x128xf32> {uprog.operand = #uprog.operand<gather>},
                          %w: tensor<64x128xf32> {uprog.operand = #uprog.operand<shared(0)>},
                          %b: tensor<64xf32> {uprog.operand = #uprog.operand<shared(1)>})
    -> tensor<?x64xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty(%n) : tensor<?x64xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x64xf32>) -> tensor<?x64xf32>
  %y0 = linalg.matmul indexing_maps = [#x, #w, #y]
          ins(%x, %w : tensor<?x128xf32>, tensor<64x128xf32>)
          outs(%start : tensor<?x64xf32>) -> tensor<?x64xf32>
  %y = linalg.generic {indexing_maps = [#id, #bias, #id],
                       iterator_types = ["parallel", "parallel"]}
         ins(%y0, %b : tensor<?x64xf32>, tensor<64xf32>)
         outs(%empty : tensor<?x64xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %s = arith.addf %p, %q : f32
    %t = math.tanh %s : f32
    linalg.yield %t : f32
  } -> tensor<?x64xf32>
  uprog.yield %y : tensor<?x64xf32>
}

// -----

#x = affine_map<(r, n, k) -> (r, k)>
#w = affine_map<(r, n, k) -> (n, k)>
#y = affine_map<(r, n, k) -> (r, n)>

// Six of k do not fill vectors: lanes take one each. Three columns do not fill
// a tile: its fourth is the last one again.
// CHECK-LABEL: func.func private @narrow.rows.stage0
// CHECK-COUNT-4:   arith.minsi %{{.*}}, %[[LAST:.*]] : i64
// CHECK:           scf.for {{.*}} -> (f32,
// CHECK-NOT:         vector<
// CHECK-COUNT-32:    math.fma
// CHECK-NOT:         math.fma
// CHECK:             scf.yield
uprog.operator @narrow.rows(%n: index, %x: tensor<?x6xf32> {uprog.operand = #uprog.operand<gather>},
                            %w: tensor<3x6xf32> {uprog.operand = #uprog.operand<shared(0)>})
    -> tensor<?x3xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty(%n) : tensor<?x3xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x3xf32>) -> tensor<?x3xf32>
  %y = linalg.matmul indexing_maps = [#x, #w, #y]
         ins(%x, %w : tensor<?x6xf32>, tensor<3x6xf32>)
         outs(%start : tensor<?x3xf32>) -> tensor<?x3xf32>
  uprog.yield %y : tensor<?x3xf32>
}
