// RUN: batch-opt %s --uprog-stage-operators=target=gpu --convert-operators-to-gpu=shared-memory=0 -o %t.mlir
// RUN: FileCheck %s < %t.mlir
// RUN: FileCheck %s --check-prefix=HALVES < %t.mlir
// RUN: batch-opt %s --uprog-stage-operators=target=gpu --convert-operators-to-gpu="shared-memory=0 precision=tf32" | FileCheck %s --check-prefix=TF32

#x = affine_map<(r, n, k) -> (r, k)>
#w = affine_map<(r, n, k) -> (n, k)>
#y = affine_map<(r, n, k) -> (r, n)>

// A lane takes two f64 of k each.
// CHECK-LABEL:   func.func private @product.rows.stage0(
// CHECK-DAG:       %[[C2:.*]] = arith.constant 2 : i64
// CHECK-DAG:       %[[C64:.*]] = arith.constant 64 : i64
// CHECK:               %[[K:.*]] = arith.muli %{{.*}}, %[[C2]]
// CHECK:               scf.for %{{.*}} = %[[K]] to %{{.*}} step %[[C64]]
// CHECK-COUNT-8:         llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<2xf64>
// CHECK-COUNT-64:        math.fma %{{.*}} : f64
// CHECK-NOT:             math.fma
// CHECK:                 scf.yield

// Warps exchange the halves of a sum, which they put together and add.
// HALVES-LABEL:  func.func private @product.rows.stage0(
// HALVES-DAG:      %[[C32:.*]] = arith.constant 32 : i64
// HALVES:          %[[SUMS:.*]]:32 = scf.for
// HALVES:          %[[SEND:.*]] = arith.select %{{.*}}, %[[SUMS]]#0, %[[SUMS]]#16
// HALVES:          %[[BITS:.*]] = arith.bitcast %[[SEND]] : f64 to i64
// HALVES:          %[[LOW:.*]] = arith.trunci %[[BITS]] : i64 to i32
// HALVES:          gpu.shuffle xor %[[LOW]]
// HALVES:          %[[UPPER:.*]] = arith.shrui %[[BITS]], %[[C32]]
// HALVES:          %[[HIGH:.*]] = arith.trunci %[[UPPER]] : i64 to i32
// HALVES:          gpu.shuffle xor %[[HIGH]]
// HALVES:          %[[BOTH:.*]] = arith.ori
// HALVES:          %[[OTHER:.*]] = arith.bitcast %[[BOTH]] : i64 to f64
// HALVES:          arith.addf %{{.*}}, %[[OTHER]] : f64

// Tensor cores do not take the place of f64.
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
