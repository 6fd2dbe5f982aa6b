// RUN: batch-opt %s --uprog-stage-operators=target=gpu --convert-operators-to-gpu="precision=bf16 blocks=2 shared-memory=16384" --canonicalize --cse -o %t.mlir
// RUN: FileCheck %s < %t.mlir
// RUN: FileCheck %s --check-prefix=LOAD < %t.mlir

#x = affine_map<(r, n, k) -> (r, k)>
#w = affine_map<(r, n, k) -> (n, k)>
#y = affine_map<(r, n, k) -> (r, n)>

// On tensor cores, too, a block reads its first tiles of weights from its shared
// memory, where they are rounded once. A single condition selects the memory for both
// products. A tile has eight columns of 64 two-byte factors. A column takes 192 bytes.
// CHECK-LABEL: func.func private @cell.rows.stage0
// CHECK:         uprog.await_rows
// CHECK:         nvvm.cp.async.wait.group 0
// CHECK:         gpu.barrier
// CHECK:         %[[EARLY:.*]] = arith.cmpi slt, %[[TURN:.*]], %c2_i32
// CHECK-NEXT:    %[[SUMS:.*]]:4 = scf.if %[[EARLY]] -> (f32, f32, f32, f32)
// CHECK:           arith.muli %[[TURN]], %c1536_i32
// CHECK:           arith.muli %{{.*}}, %c192_i32
// CHECK:           scf.for {{.*}} step %c32_i32
// CHECK-COUNT-3:     llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<3> -> vector<4xi32>
// CHECK-NOT:         nvvm.convert
// CHECK-COUNT-2:     nvvm.mma.sync
// CHECK:         } else {
// CHECK-COUNT-2:     llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<3> -> vector<4xi32>
// CHECK-COUNT-2:     llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xf32>
// CHECK-COUNT-4:     nvvm.convert.f32x2.to.bf16x2
// CHECK-COUNT-2:     nvvm.mma.sync
// CHECK-NOT:     nvvm.mma.sync
// CHECK:         return

// A thread loads four weights, rounds them and stores them.
// LOAD-LABEL: func.func private @load_parameters(
// LOAD:         llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xf32>
// LOAD-COUNT-2: nvvm.convert.f32x2.to.bf16x2
// LOAD:         llvm.store %{{.*}} {alignment = 8 : i64} : vector<2xi32>, !llvm.ptr<3>
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
