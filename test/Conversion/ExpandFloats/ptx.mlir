// RUN: batch-opt %s -o - --pass-pipeline='builtin.module(gpu.module( \
// RUN:     batch-expand-floats,batch-expand-math,batch-math-to-intrinsics, \
// RUN:     convert-to-llvm{filter-dialects=arith,math,vector allow-pattern-rollback=false}), \
// RUN:   nvvm-attach-target{chip=sm_70 O=3}, \
// RUN:   gpu.module(convert-to-llvm{dynamic=true},reconcile-unrealized-casts), \
// RUN:   gpu-module-to-binary{format=isa})' \
// RUN:   | FileCheck %s --implicit-check-not=.approx --implicit-check-not=.full \
// RUN:     --implicit-check-not=.ftz --implicit-check-not=call --implicit-check-not=.bf16

// A GPU without instructions for bf16 computes the same results as a CPU.
// CHECK-DAG: cvt.f32.f16
// CHECK-DAG: cvt.rn.f16.f32
// CHECK-DAG: div.rn.f32
// CHECK-DAG: fma.rn.f32
// CHECK-DAG: shl.b32
module attributes {gpu.container_module} {
  gpu.module @device {
    gpu.func @functions(%h: !llvm.ptr<1>, %b: !llvm.ptr<1>, %d: !llvm.ptr<1>) kernel {
      %x0 = llvm.load %h : !llvm.ptr<1> -> f16
      %x1 = math.exp %x0 : f16
      %x2 = arith.divf %x0, %x1 : f16
      llvm.store %x2, %h : f16, !llvm.ptr<1>
      %y0 = llvm.load %b : !llvm.ptr<1> -> bf16
      %y1 = math.exp %y0 : bf16
      %y2 = arith.addf %y0, %y1 : bf16
      llvm.store %y2, %b : bf16, !llvm.ptr<1>
      %z0 = llvm.load %d : !llvm.ptr<1> -> f64
      %z1 = arith.truncf %z0 : f64 to bf16
      llvm.store %z1, %b : bf16, !llvm.ptr<1>
      gpu.return
    }
  }
}
