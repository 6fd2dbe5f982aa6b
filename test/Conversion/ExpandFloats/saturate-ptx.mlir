// RUN: batch-opt %s -o - --pass-pipeline='builtin.module(gpu.module( \
// RUN:     batch-expand-floats,batch-saturate-conversions, \
// RUN:     convert-to-llvm{filter-dialects=arith allow-pattern-rollback=false}), \
// RUN:   nvvm-attach-target{chip=sm_70 O=3}, \
// RUN:   gpu.module(convert-to-llvm{dynamic=true},reconcile-unrealized-casts), \
// RUN:   gpu-module-to-binary{format=isa})' \
// RUN:   | FileCheck %s --implicit-check-not=call

// A bound of the operand takes one instruction. Selects handle other bounds and NaN.
module attributes {gpu.container_module} {
  gpu.module @device {
    // CHECK:      .entry bounded
    // CHECK-NOT:  setp
    // CHECK:      max.f32 \09%[[Y:r[0-9]+]], %{{r[0-9]+}}, 0f00000000
    // CHECK:      min.f32 \09%[[Z:r[0-9]+]], %[[Y]], 0f437F0000
    // CHECK:      cvt.rzi.u16.f32 \09%{{rs[0-9]+}}, %[[Z]]
    // CHECK-NOT:  setp
    // CHECK:      ret
    gpu.func @bounded(%h: !llvm.ptr<1>, %i: !llvm.ptr<1>) kernel {
      %x = llvm.load %h : !llvm.ptr<1> -> f16
      %k = arith.fptoui %x : f16 to i8
      llvm.store %k, %i : i8, !llvm.ptr<1>
      gpu.return
    }
    // CHECK:      .entry chosen
    // CHECK:      max.f32 \09%[[Y:r[0-9]+]], %{{r[0-9]+}}, 0fCF000000
    // CHECK:      cvt.rzi.s32.f32 \09%{{r[0-9]+}}, %[[Y]]
    // CHECK-COUNT-2: selp
    // CHECK-NOT:  selp
    // CHECK:      ret
    gpu.func @chosen(%f: !llvm.ptr<1>, %i: !llvm.ptr<1>) kernel {
      %x = llvm.load %f : !llvm.ptr<1> -> f32
      %k = arith.fptosi %x : f32 to i32
      llvm.store %k, %i : i32, !llvm.ptr<1>
      gpu.return
    }
  }
}
