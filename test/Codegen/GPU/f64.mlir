// RUN: batch-opt %s --uprog-stage-operators=target=gpu --convert-operators-to-gpu=shared-memory=0 --canonicalize --cse -o %t.mlir
// RUN: FileCheck %s < %t.mlir
// RUN: FileCheck %s --check-prefix=HALVES < %t.mlir
// RUN: batch-opt %s --uprog-stage-operators=target=gpu --convert-operators-to-gpu="shared-memory=0 precision=tf32" | FileCheck %s --check-prefix=TF32

#x = affine_map<(r, n, k) -> (r, k)>
#w = affine_map<(r, n, k) -> (n, k)>
#y = affine_map<(r, n, k) -> (r, n)>

// In each step, a lane adds two f64 products to each of up to 32 sums. A tile of sums takes 256 bytes.
// CHECK:         gpu.module @device attributes {batch.added_bytes = 6144 : i64
// CHECK-LABEL:   func.func private @product.rows.stage0(
// CHECK:           llvm.getelementptr %{{.*}}[2048] : (!llvm.ptr<3>)
// CHECK:           } else {
// CHECK-COUNT-32:    math.fma %{{.*}} : f64
// CHECK-NOT:         math.fma
// CHECK:           } else {
// CHECK-COUNT-8:     llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<2xf64>
// CHECK:             llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<3> -> vector<2xf64>
// CHECK-COUNT-16:    math.fma %{{.*}} : f64
// CHECK-NOT:         math.fma
// CHECK:           } else {
// CHECK-COUNT-8:     llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<2xf64>
// CHECK:             llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<3> -> vector<2xf64>
// CHECK-COUNT-64:    math.fma %{{.*}} : f64
// CHECK-NOT:         math.fma
// CHECK:             gpu.shuffle

// The lanes of a warp exchange the two halves of an f64, combine them and add.
// HALVES-LABEL:  func.func private @product.rows.stage0(
// HALVES:          %[[BITS:.*]] = arith.bitcast %{{.*}} : f64 to i64
// HALVES-NEXT:     %[[LOW:.*]] = arith.trunci %[[BITS]] : i64 to i32
// HALVES-NEXT:     gpu.shuffle xor %[[LOW]]
// HALVES-NEXT:     %[[UPPER:.*]] = arith.shrui %[[BITS]], %c32_i64
// HALVES-NEXT:     %[[HIGH:.*]] = arith.trunci %[[UPPER]] : i64 to i32
// HALVES-NEXT:     gpu.shuffle xor %[[HIGH]]
// HALVES:          %[[BOTH:.*]] = arith.ori
// HALVES-NEXT:     %[[OTHER:.*]] = arith.bitcast %[[BOTH]] : i64 to f64
// HALVES-NEXT:     arith.addf %{{.*}}, %[[OTHER]] : f64
// HALVES:          llvm.store %{{.*}} {alignment = 8 : i64} : f64, !llvm.ptr<3>

// Tensor cores are not used for f64.
// TF32-LABEL:    func.func private @product.rows.stage0(
// TF32-NOT:        nvvm.mma
// TF32:            math.fma %{{.*}} : f64
uprog.operator @product.rows(%n: index, %x: tensor<?x128xf64> {uprog.operand = #uprog.operand<gather>},
                             %w: tensor<64x128xf64> {uprog.operand = #uprog.operand<shared(0)>})
    -> tensor<?x64xf64> {
  %zero = arith.constant 0.0 : f64
  %empty = tensor.empty(%n) : tensor<?x64xf64>
  %start = linalg.fill ins(%zero : f64) outs(%empty : tensor<?x64xf64>) -> tensor<?x64xf64>
  %y = linalg.matmul indexing_maps = [#x, #w, #y]
         ins(%x, %w : tensor<?x128xf64>, tensor<64x128xf64>)
         outs(%start : tensor<?x64xf64>) -> tensor<?x64xf64>
  uprog.yield %y : tensor<?x64xf64>
}
