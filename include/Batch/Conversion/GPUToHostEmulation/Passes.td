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
  let summary = "Turn GPU kernels into functions for the emulator";
  let description = [{
    Converts every kernel `@k` of a `gpu.module` to a function `@k.emulate`,
    which the emulator of the runtime library calls for each thread (see
    docs/explanation/emulator.md). Other functions of the module become private
    functions. The `gpu.module` and all `gpu.launch_func` are removed, because
    the host of the object launches kernels.

    `@k.emulate` takes the thread and an array with the addresses of the
    kernel's arguments. It reads identifiers from the thread. Barriers,
    shuffles, atomics, fences and fragment products become calls through the
    thread's table of functions. Plain loads and stores, including masked ones,
    remain; a call through the table before each of them checks the access. All
    pointers are host pointers. Variables in shared memory are offsets into the
    shared memory of the thread's block. The attribute `batch.shared_bytes` of
    `@k.emulate` is the number of bytes that the variables take. Memory that a
    launch adds, a variable without size, follows them.

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

    Other operations with effects are errors, and so are operations of dialects
    other than arith, cf, func, math, scf, vector and llvm.

    See test/Conversion/GPUToHostEmulation.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::func::FuncDialect",
                           "::mlir::LLVM::LLVMDialect"];
}

#endif // BATCH_CONVERSION_GPUTOHOSTEMULATION_PASSES_TD
