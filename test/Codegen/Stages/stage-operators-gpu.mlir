// RUN: batch-opt %s --uprog-stage-operators=target=gpu | FileCheck %s
// RUN: batch-opt %s --uprog-stage-operators=target=gpu --uprog-stage-operators=target=gpu | FileCheck %s

#x = affine_map<(r, n, k) -> (r, k)>
#w = affine_map<(r, n, k) -> (n, k)>
#y = affine_map<(r, n, k) -> (r, n)>

// The operator remains, because it also becomes unbatched CPU code. Its copy in
// the device's module has stages for lanes that load 16 bytes, and reads a
// parameter along k.
// CHECK-LABEL: uprog.operator @cell.rows
// CHECK-NOT:     uprog.stage
// CHECK:         linalg.matmul
// An i64 is aligned to 64 bits, so one instruction loads it.
// CHECK-LABEL: gpu.module @device
// CHECK-SAME:      i32 = dense<32> : vector<2xi64>, i64 = dense<64> : vector<2xi64>
// CHECK:         uprog.operator @cell.rows
// CHECK-SAME:      #uprog.staging<gpu, vector_bits = 128, lanes = 4>
// CHECK:           uprog.stage rows<tasks> shape [64] reads(%{{.*}} : tensor<?x32xf32>) -> (tensor<?x64xf32>)
// CHECK:             linalg.matmul
// CHECK-SAME:          panels = <parameters = [0], n = 64, k = 32, width = 1, transposed = true>
// CHECK-NOT:   gpu.module
uprog.operator @cell.rows(%n: index, %x: tensor<?x32xf32> {uprog.operand = #uprog.operand<gather>},
                          %w: tensor<64x32xf32> {uprog.operand = #uprog.operand<shared(0)>}) -> tensor<?x64xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty(%n) : tensor<?x64xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x64xf32>) -> tensor<?x64xf32>
  %p = linalg.matmul indexing_maps = [#x, #w, #y] ins(%x, %w : tensor<?x32xf32>, tensor<64x32xf32>)
      outs(%start : tensor<?x64xf32>) -> tensor<?x64xf32>
  uprog.yield %p : tensor<?x64xf32>
}
