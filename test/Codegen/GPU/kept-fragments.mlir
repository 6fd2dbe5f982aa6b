// RUN: batch-opt %s --uprog-stage-operators=target=gpu --convert-operators-to-gpu="precision=bf16 blocks=2 shared-memory=16384" \
// RUN:   | FileCheck %s

#x = affine_map<(r, n, k) -> (r, k)>
#w = affine_map<(r, n, k) -> (n, k)>
#y = affine_map<(r, n, k) -> (r, n)>

// On tensor cores too a block reads its first tiles of weights from its shared
// memory: of both products, for which one question is enough.
// CHECK-LABEL: func.func private @cell.rows.stage0
// CHECK:         nvvm.cp.async.wait.group 0
// CHECK:         gpu.barrier
// CHECK:         %[[ACROSS:.*]] = arith.minsi %{{.*}}, %c4_i64 : i64
// CHECK:         scf.for
// CHECK:           arith.muli %[[TURN:.*]], %[[ACROSS]] : i64
// CHECK:           %[[EARLY:.*]] = arith.cmpi slt, %[[TURN]], %{{.*}} : i64
// CHECK-NEXT:      %[[SUMS:.*]]:8 = scf.if %[[EARLY]] -> (f32, f32, f32, f32, f32, f32, f32, f32)
// CHECK-COUNT-2:     llvm.mlir.addressof @parameters : !llvm.ptr<3>
// CHECK:             scf.for {{.*}} step %c16_i64
// CHECK-COUNT-2:       llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xf32>
// CHECK-COUNT-2:       llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<3> -> vector<4xf32>
// CHECK-COUNT-2:       nvvm.mma.sync
// CHECK:           } else {
// CHECK-COUNT-4:       llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xf32>
// CHECK-COUNT-2:       nvvm.mma.sync
// CHECK-NOT:     nvvm.mma.sync
// CHECK:         return
uprog.operator @cell.rows(%n: index, %x: tensor<?x64xf32> {uprog.operand = #uprog.operand<gather>},
                          %u: tensor<32x64xf32> {uprog.operand = #uprog.operand<shared(0)>},
                          %v: tensor<32x64xf32> {uprog.operand = #uprog.operand<shared(1)>})
    -> tensor<?x32xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty(%n) : tensor<?x32xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x32xf32>) -> tensor<?x32xf32>
  %a = linalg.matmul indexing_maps = [#x, #w, #y]
         ins(%x, %u : tensor<?x64xf32>, tensor<32x64xf32>)
         outs(%start : tensor<?x32xf32>) -> tensor<?x32xf32>
  %b = linalg.matmul indexing_maps = [#x, #w, #y]
         ins(%x, %v : tensor<?x64xf32>, tensor<32x64xf32>)
         outs(%start : tensor<?x32xf32>) -> tensor<?x32xf32>
  %y = arith.mulf %a, %b : tensor<?x32xf32>
  uprog.yield %y : tensor<?x32xf32>
}
