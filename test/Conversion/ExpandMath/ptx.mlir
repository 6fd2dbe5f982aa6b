// RUN: batch-opt %s -o - --pass-pipeline='builtin.module(gpu.module( \
// RUN:     batch-expand-math,batch-math-to-intrinsics,convert-scf-to-cf, \
// RUN:     convert-to-llvm{filter-dialects=arith,math,vector allow-pattern-rollback=false}), \
// RUN:   nvvm-attach-target{chip=sm_80 O=3}, \
// RUN:   gpu.module(convert-to-llvm{dynamic=true},reconcile-unrealized-casts), \
// RUN:   gpu-module-to-binary{format=isa})' \
// RUN:   | FileCheck %s --implicit-check-not=.approx --implicit-check-not=.full \
// RUN:     --implicit-check-not=.ftz --implicit-check-not=call

// A GPU computes the same results as a CPU. Every operation is rounded to nearest.
// None is approximate, flushes subnormal numbers or calls a library. Separate
// products and sums are not fused.
// CHECK-DAG: fma.rn.f64
// CHECK-DAG: mul.rn.f64
// CHECK-DAG: add.rn.f64
// CHECK-DAG: div.rn.f64
// CHECK-DAG: sqrt.rn.f64
// CHECK-DAG: fma.rn.f32
// CHECK-DAG: mul.rn.f32
// CHECK-DAG: add.rn.f32
// CHECK-DAG: div.rn.f32
// CHECK-DAG: sqrt.rn.f32
module attributes {gpu.container_module} {
  gpu.module @device {
    gpu.func @functions(%d: !llvm.ptr<1>, %s: !llvm.ptr<1>, %p: !llvm.ptr<1>) kernel {
      %b = llvm.load %p : !llvm.ptr<1> -> i32
      %i = math.ipowi %b, %b : i32
      llvm.store %i, %p : i32, !llvm.ptr<1>
      %x0 = llvm.load %d : !llvm.ptr<1> -> f64
      %x1 = math.exp %x0 : f64
      %x2 = math.expm1 %x1 : f64
      %x3 = math.log %x2 : f64
      %x4 = math.log1p %x3 : f64
      %x5 = math.sin %x4 : f64
      %x6 = math.cos %x5 : f64
      %x7 = math.tanh %x6 : f64
      %x8 = math.sqrt %x7 : f64
      %x9 = math.acos %x8 : f64
      %x10 = math.acosh %x9 : f64
      %x11 = math.asin %x10 : f64
      %x12 = math.asinh %x11 : f64
      %x13 = math.atan %x12 : f64
      %x14 = math.atanh %x13 : f64
      %x15 = math.cbrt %x14 : f64
      %x16 = math.ceil %x15 : f64
      %x17 = math.cosh %x16 : f64
      %x18 = math.erf %x17 : f64
      %x19 = math.erfc %x18 : f64
      %x20 = math.exp2 %x19 : f64
      %x21 = math.floor %x20 : f64
      %x22 = math.log10 %x21 : f64
      %x23 = math.log2 %x22 : f64
      %x24 = math.round %x23 : f64
      %x25 = math.roundeven %x24 : f64
      %x26 = math.rsqrt %x25 : f64
      %x27 = math.sinh %x26 : f64
      %x28 = math.tan %x27 : f64
      %x29 = math.trunc %x28 : f64
      %x30 = math.atan2 %x29, %x0 : f64
      %x31 = math.powf %x30, %x0 : f64
      %x32 = math.clampf %x31 to [%x0, %x1] : f64
      %x33 = math.fpowi %x32, %i : f64, i32
      llvm.store %x33, %d : f64, !llvm.ptr<1>
      %y0 = llvm.load %s : !llvm.ptr<1> -> f32
      %y1 = math.exp %y0 : f32
      %y2 = math.expm1 %y1 : f32
      %y3 = math.log %y2 : f32
      %y4 = math.log1p %y3 : f32
      %y5 = math.sin %y4 : f32
      %y6 = math.cos %y5 : f32
      %y7 = math.tanh %y6 : f32
      %y8 = math.sqrt %y7 : f32
      %y9 = math.acos %y8 : f32
      %y10 = math.acosh %y9 : f32
      %y11 = math.asin %y10 : f32
      %y12 = math.asinh %y11 : f32
      %y13 = math.atan %y12 : f32
      %y14 = math.atanh %y13 : f32
      %y15 = math.cbrt %y14 : f32
      %y16 = math.ceil %y15 : f32
      %y17 = math.cosh %y16 : f32
      %y18 = math.erf %y17 : f32
      %y19 = math.erfc %y18 : f32
      %y20 = math.exp2 %y19 : f32
      %y21 = math.floor %y20 : f32
      %y22 = math.log10 %y21 : f32
      %y23 = math.log2 %y22 : f32
      %y24 = math.round %y23 : f32
      %y25 = math.roundeven %y24 : f32
      %y26 = math.rsqrt %y25 : f32
      %y27 = math.sinh %y26 : f32
      %y28 = math.tan %y27 : f32
      %y29 = math.trunc %y28 : f32
      %y30 = math.atan2 %y29, %y0 : f32
      %y31 = math.powf %y30, %y0 : f32
      %y32 = math.clampf %y31 to [%y0, %y1] : f32
      %y33 = math.fpowi %y32, %i : f32, i32
      llvm.store %y33, %s : f32, !llvm.ptr<1>
      gpu.return
    }
  }
}
