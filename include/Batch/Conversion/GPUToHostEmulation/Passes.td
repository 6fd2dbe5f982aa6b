//===- Passes.td - Kernels on the emulator -----------------*- tablegen -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_CONVERSION_GPUTOHOSTEMULATION_PASSES_TD
#define BATCH_CONVERSION_GPUTOHOSTEMULATION_PASSES_TD

include "mlir/Pass/PassBase.td"

def ConvertGPUToHostEmulationPass
    : Pass<"convert-gpu-to-host-emulation", "::mlir::ModuleOp"> {
  let summary = "make functions for the GPU emulator of kernels";
  let description = [{
    Turns every kernel `@k` of a `gpu.module` into a function `@k.emulate` that
    the emulator of the runtime library calls for each thread (see
    docs/Emulator.md), and the module's other functions into private ones. The
    `gpu.module` is gone afterwards, and so are all `gpu.launch_func`: whoever
    runs the object launches.

    `@k.emulate` takes the thread and an array with the addresses of the kernel's
    arguments. Identifiers are read from the thread. Barriers, shuffles, atomics,
    fences and fragment products become calls through the thread's table of
    functions; plain loads and stores, masked ones included, stay and get such a
    call before them that checks the access. All pointers are the host's;
    variables in shared memory are offsets into that of the thread's block. The
    attribute `batch.shared_bytes` of `@k.emulate` says how many bytes they take;
    what a launch adds, a variable without size, lies behind.

    ```mlir
    gpu.module @m {
      gpu.func @k(%p: !llvm.ptr<1>) kernel {
        %x = llvm.load %p : !llvm.ptr<1> -> f32
        llvm.store %x, %p : f32, !llvm.ptr<1>
        gpu.return
      }
    }
    // becomes
    func.func @k.emulate(%thread: !llvm.ptr, %arguments: !llvm.ptr) ... {
      ...
      %p = llvm.load %address : !llvm.ptr -> !llvm.ptr
      ...
      llvm.call %read(%thread, %p, %bytes, %alignment, %space, %where) : ...
      %x = llvm.load %p : !llvm.ptr -> f32
      ...
      llvm.call %write(%thread, %p, ...) : ...
      llvm.store %x, %p : f32, !llvm.ptr
      return
    }
    ```

    Other operations with effects, and those of other dialects than arith, cf,
    math, scf, vector and llvm, are errors.

    See test/Conversion/GPUToHostEmulation.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::func::FuncDialect",
                           "::mlir::LLVM::LLVMDialect"];
}

#endif // BATCH_CONVERSION_GPUTOHOSTEMULATION_PASSES_TD
