// RUN: batch-opt %s --uprog-stage-operators --convert-operators-to-cpu | FileCheck %s
// RUN: batch-opt %s --uprog-stage-operators=vector-bits=256 --convert-operators-to-cpu=vector-registers=16 | FileCheck %s --check-prefix=AVX2
// RUN: batch-opt %s --uprog-stage-operators=vector-bits=128 --convert-operators-to-cpu=vector-registers=32 | FileCheck %s --check-prefix=NEON

#x = affine_map<(r, n, k) -> (r, k)>
#w = affine_map<(r, n, k) -> (n, k)>
#y = affine_map<(r, n, k) -> (r, n)>
#id = affine_map<(r, n) -> (r, n)>
#bias = affine_map<(r, n) -> (n)>

// The code requests each packing of a parameter once.
// CHECK: module attributes {uprog.packings = [
// CHECK-SAME: #uprog.panels<parameters = [0], n = 64, k = 40, width = 32, transposed = true>,
// CHECK-SAME: #uprog.panels<parameters = [2], n = 64, k = 20, width = 32>,
// CHECK-SAME: #uprog.padded<parameter = 1>]}
// AVX2: width = 16
// NEON: width = 8

// Both contractions and the code after them form one stage. The second
// contraction starts from the sum of the first one.
// CHECK-LABEL: func.func private @cell.rows.stage0
// CHECK:         call @batch.tiles.v2.{{.*}}(
// CHECK:         call @batch.tiles.v2.{{.*}}.add(
// CHECK:         math.tanh %{{.*}} : vector<16xf32>
// CHECK:         llvm.store %{{.*}} : vector<16xf32>
// CHECK-NOT:   @cell.rows.stage1

// CHECK-LABEL: func.func @cell.rows(
// CHECK-SAME:    attributes {uprog.code = #uprog.code<stages = 1, task_scratch = 0, workers = <fixed_scratch = {{[0-9]+}}, task_scratch = {{[0-9]+}}, most_scratch = {{[0-9]+}}, row_split = 12, stage_rows = 0, share_tasks = {{[0-9]+}}>>
uprog.operator @cell.rows(%n: index, %x: tensor<?x20xf32> {uprog.operand = #uprog.operand<gather>},
                          %h: tensor<?x20xf32> {uprog.operand = #uprog.operand<gather>},
                          %w: tensor<64x40xf32> {uprog.operand = #uprog.operand<shared(0)>},
                          %b: tensor<64xf32> {uprog.operand = #uprog.operand<shared(1)>},
                          %u: tensor<20x64xf32> {uprog.operand = #uprog.operand<shared(2)>})
    -> tensor<?x64xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty(%n) : tensor<?x64xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x64xf32>) -> tensor<?x64xf32>
  %xh = tensor.concat dim(1) %x, %h : (tensor<?x20xf32>, tensor<?x20xf32>) -> tensor<?x40xf32>
  %y0 = linalg.matmul indexing_maps = [#x, #w, #y]
          ins(%xh, %w : tensor<?x40xf32>, tensor<64x40xf32>)
          outs(%start : tensor<?x64xf32>) -> tensor<?x64xf32>
  %y1 = linalg.matmul ins(%x, %u : tensor<?x20xf32>, tensor<20x64xf32>)
          outs(%y0 : tensor<?x64xf32>) -> tensor<?x64xf32>
  %y = linalg.generic {indexing_maps = [#id, #bias, #id],
                       iterator_types = ["parallel", "parallel"]}
         ins(%y1, %b : tensor<?x64xf32>, tensor<64xf32>)
         outs(%empty : tensor<?x64xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %s = arith.addf %p, %q : f32
    %t = math.tanh %s : f32
    linalg.yield %t : f32
  } -> tensor<?x64xf32>
  uprog.yield %y : tensor<?x64xf32>
}

// A register tile adds terms in ascending order, with one fma each, and never
// multiplies and adds separately.
// CHECK-LABEL: func.func private @batch.tile.1x4x2.a
// CHECK-NOT:     arith.mulf
// CHECK:         scf.for %{{.*}} = %[[ZERO:.*]] to %{{.*}} step %{{.*}} iter_args(%[[ACC:[a-z0-9]*]] = %
// CHECK:           %[[A:.*]] = llvm.load %{{.*}} : !llvm.ptr -> f32
// CHECK:           %[[SPREAD:.*]] = vector.broadcast %[[A]] : f32 to vector<16xf32>
// CHECK:           %[[COLUMNS:.*]] = llvm.load %{{.*}} : !llvm.ptr -> vector<16xf32>
// CHECK:           %{{.*}} = vector.fma %[[SPREAD]], %[[COLUMNS]], %[[ACC]] : vector<16xf32>
// CHECK-COUNT-7:   vector.fma
// CHECK-NOT:       vector.fma
// CHECK:           scf.yield

// If there are fewer rows than vectors of columns, elements of all rows stay in
// registers and columns pass through one register. If both were in registers, sums would spill.
// CHECK-LABEL: func.func private @batch.tile.3x4x2.a
// CHECK-COUNT-3: vector.broadcast
// CHECK-NOT:     vector.broadcast
// CHECK:         llvm.load %{{.*}} : !llvm.ptr -> vector<16xf32>
// CHECK-COUNT-3: vector.fma
// CHECK:         llvm.load %{{.*}} : !llvm.ptr -> vector<16xf32>

// The tile with the most rows fills the registers. A cache line of a panel is
// prefetched once for any width of vectors.
// CHECK-LABEL: func.func private @batch.tile.12x1x2.a
// CHECK-COUNT-2:  hint = 3
// CHECK-NOT:      hint = 3
// CHECK-COUNT-24: vector.fma
// CHECK-NOT:      vector.fma
// CHECK:          return
// CHECK-NOT: @batch.tile.13x
// AVX2: func.func private @batch.tile.6x1x2.a
// AVX2-COUNT-1: hint = 3
// AVX2-NOT: hint = 3
// AVX2: return
// AVX2-NOT: @batch.tile.7x
// NEON: func.func private @batch.tile.12x1x2.a
// NEON-COUNT-1: hint = 3
// NEON-NOT: hint = 3
// NEON: return
// NEON-NOT: @batch.tile.13x
