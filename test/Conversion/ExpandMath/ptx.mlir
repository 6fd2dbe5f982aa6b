// RUN: batch-opt %s -o - --pass-pipeline='builtin.module(gpu.module( \
// RUN:     batch-expand-math,batch-math-to-intrinsics, \
// RUN:     convert-to-llvm{filter-dialects=arith,math,vector allow-pattern-rollback=false}), \
// RUN:   nvvm-attach-target{chip=sm_80 O=3}, \
// RUN:   gpu.module(convert-to-llvm{dynamic=true},reconcile-unrealized-casts), \
// RUN:   gpu-module-to-binary{format=isa})' \
// RUN:   | FileCheck %s --implicit-check-not=.approx --implicit-check-not=.full \
// RUN:     --implicit-check-not=.ftz --implicit-check-not=call

// A GPU computes what a CPU does: every operation is rounded to nearest, none is
// approximate, flushes subnormal numbers or calls a library, and no product and sum
// that are apart are fused.
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
    gpu.func @functions(%d: !llvm.ptr<1>, %s: !llvm.ptr<1>) kernel {
      %x0 = llvm.load %d : !llvm.ptr<1> -> f64
      %x1 = math.exp %x0 : f64
      %x2 = math.expm1 %x1 : f64
      %x3 = math.log %x2 : f64
      %x4 = math.log1p %x3 : f64
      %x5 = math.sin %x4 : f64
      %x6 = math.cos %x5 : f64
      %x7 = math.tanh %x6 : f64
      %x8 = math.sqrt %x7 : f64
      llvm.store %x8, %d : f64, !llvm.ptr<1>
      %y0 = llvm.load %s : !llvm.ptr<1> -> f32
      %y1 = math.exp %y0 : f32
      %y2 = math.expm1 %y1 : f32
      %y3 = math.log %y2 : f32
      %y4 = math.log1p %y3 : f32
      %y5 = math.sin %y4 : f32
      %y6 = math.cos %y5 : f32
      %y7 = math.tanh %y6 : f32
      %y8 = math.sqrt %y7 : f32
      llvm.store %y8, %s : f32, !llvm.ptr<1>
      gpu.return
    }
  }
}
