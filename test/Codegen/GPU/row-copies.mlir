// RUN: batch-opt %s --uprog-stage-operators=target=gpu --convert-operators-to-gpu --canonicalize --cse | FileCheck %s
// RUN: batch-opt %s --uprog-stage-operators=target=gpu --convert-operators-to-gpu=shared-memory=0 --canonicalize --cse | FileCheck %s --check-prefix=NONE

#x = affine_map<(r, n, k) -> (r, k)>
#w = affine_map<(r, n, k) -> (n, k)>
#y = affine_map<(r, n, k) -> (r, n)>

// Asynchronous copies complete in order. A kernel without resident parameters would also wait for
// the copies of other kernels' parameters, so it copies its rows with loads and stores.
// CHECK-LABEL: func.func private @leaf.rows.stage0
// CHECK-NOT:     nvvm.cp.async
// CHECK:         llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xf32>
// CHECK:         llvm.store %{{.*}} : vector<4xf32>, !llvm.ptr<3>
// CHECK-NOT:     nvvm.cp.async
// CHECK-LABEL: func.func private @node.rows.stage0
// CHECK:         nvvm.cp.async.shared.global
// CHECK:         nvvm.cp.async.wait.group 0
// CHECK-LABEL: func.func private @load_parameters

// If no kernel has resident parameters, all kernels copy their rows asynchronously.
// NONE-LABEL:  func.func private @leaf.rows.stage0
// NONE:          nvvm.cp.async.shared.global
// NONE:          nvvm.cp.async.wait.group 0
// NONE-LABEL:  func.func private @node.rows.stage0
// NONE:          nvvm.cp.async.shared.global
// NONE:          nvvm.cp.async.wait.group 0
batch.kernel @leaf(%x: tensor<32xf32>, %w: tensor<32x32xf32> {batch.shared}) -> tensor<32xf32> {
  batch.yield %x : tensor<32xf32>
}
uprog.operator @leaf.rows of @leaf(%n: index, %x: tensor<?x32xf32> {uprog.operand = #uprog.operand<gather>},
                               %w: tensor<32x32xf32> {uprog.operand = #uprog.operand<shared(0)>}) -> tensor<?x32xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty(%n) : tensor<?x32xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x32xf32>) -> tensor<?x32xf32>
  %r = linalg.matmul indexing_maps = [#x, #w, #y] ins(%x, %w : tensor<?x32xf32>, tensor<32x32xf32>)
      outs(%start : tensor<?x32xf32>) -> tensor<?x32xf32>
  uprog.yield %r : tensor<?x32xf32>
}
batch.kernel @node(%x: tensor<32xf32>, %w: tensor<32x32xf32> {batch.shared}) -> tensor<32xf32> {
  batch.yield %x : tensor<32xf32>
}
uprog.operator @node.rows of @node(%n: index, %x: tensor<?x32xf32> {uprog.operand = #uprog.operand<gather>},
                               %w: tensor<32x32xf32> {uprog.operand = #uprog.operand<shared(1)>}) -> tensor<?x32xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty(%n) : tensor<?x32xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x32xf32>) -> tensor<?x32xf32>
  %r = linalg.matmul indexing_maps = [#x, #w, #y] ins(%x, %w : tensor<?x32xf32>, tensor<32x32xf32>)
      outs(%start : tensor<?x32xf32>) -> tensor<?x32xf32>
  uprog.yield %r : tensor<?x32xf32>
}
func.func @inspect(%x: !batch.handle) -> !batch.handle {
  %zero = arith.constant 0 : index
  %leaf = batch.record @leaf(%x) depth(%zero) : (!batch.handle) -> !batch.handle
  %depth = batch.depth(%leaf) : !batch.handle
  %node = batch.record @node(%leaf) depth(%depth) : (!batch.handle) -> !batch.handle
  return %node : !batch.handle
}
