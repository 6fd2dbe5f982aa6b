// RUN: batch-opt %s --convert-gpu-to-host-emulation --split-input-file --verify-diagnostics

gpu.module @m {
  gpu.func @k(%p: !llvm.ptr<1>, %x: i32) kernel {
    // expected-error @below {{has an ordering stronger than monotonic, which is lost in GPU code; use monotonic, with an llvm.fence before and after}}
    %old = llvm.atomicrmw add %p, %x acq_rel : !llvm.ptr<1>, i32
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%p: !llvm.ptr<1>, %x: i32) kernel {
    // expected-error @below {{is an atomic update that the emulator does not support}}
    %old = llvm.atomicrmw nand %p, %x monotonic : !llvm.ptr<1>, i32
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%p: !llvm.ptr<1>) kernel {
    // expected-error @below {{is an atomic access to 'i16'; the emulator only supports 32-bit and 64-bit atomics}}
    %x = llvm.load %p atomic acquire {alignment = 2 : i64} : !llvm.ptr<1> -> i16
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k() kernel {
    // expected-error @below {{has unknown syncscope "warp"; expected "block", "cluster" or "device"}}
    llvm.fence syncscope("warp") release
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%p: !llvm.ptr<5>) kernel {
    // expected-error @below {{accesses address space 5, which the emulator does not support}}
    %x = llvm.load %p : !llvm.ptr<5> -> i32
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%x: f64, %i: i32) kernel {
    // expected-error @below {{shuffles 'f64'; the emulator only shuffles 32-bit numbers}}
    %s, %v = gpu.shuffle xor %x, %i, %i : f64
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k() kernel {
    // expected-error @below {{'nvvm.barrier0' op is not supported in an emulated kernel}}
    nvvm.barrier0
    gpu.return
  }
}

// -----

gpu.module @m {
  // expected-error @below {{argument #0 must be a number or an LLVM pointer}}
  gpu.func @k(%m: memref<4xf32>) kernel {
    gpu.return
  }
}

// -----

gpu.module @m {
  // expected-error @below {{has memory attributions; use a global variable in address space 3}}
  gpu.func @k() workgroup(%m: memref<4xf32, #gpu.address_space<workgroup>>) kernel {
    gpu.return
  }
}

// -----

gpu.module @m {
  // expected-error @below {{must be a constant or in shared memory (address space 3)}}
  llvm.mlir.global internal @g() {addr_space = 4 : i32} : f32
}

// -----

gpu.module @m {
  llvm.mlir.global internal constant @g(dense<[1, 2]> : tensor<2xi32>) {addr_space = 1 : i32} : !llvm.array<2 x i32>
  gpu.func @k(%p: !llvm.ptr<1>) kernel {
    %g = llvm.mlir.addressof @g : !llvm.ptr<1>
    // expected-error @below {{uses the address of a constant for something other than a load, which the emulator does not support}}
    llvm.store %g, %p : !llvm.ptr<1>, !llvm.ptr<1>
    gpu.return
  }
}

// -----

gpu.module @m {
  // expected-error @below {{has an initial value, which shared memory cannot have; store it in the kernel}}
  llvm.mlir.global internal @g(0 : i32) {addr_space = 3 : i32} : i32
}

// -----

gpu.module @m {
  // expected-error @below {{is only declared; the emulator needs a body}}
  func.func private @f()
}

// -----

gpu.module @m {
  // expected-error @below {{'llvm.func' op is not supported in an emulated gpu.module; expected gpu.func, func.func or llvm.mlir.global}}
  llvm.func @f()
}

// -----

func.func @k.emulate() { return }
gpu.module @m {
  // expected-error @below {{cannot be emitted as @k.emulate, which already exists; rename this kernel}}
  gpu.func @k() kernel {
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%a: i32, %c: f32) kernel {
    // expected-error @below {{is not supported by the emulator; expected m16n8 on tf32 or bf16, with layouts row and col and an f32 accumulator}}
    %mma = nvvm.mma.sync A[%a, %a] B[%a] C[%a, %a, %a, %a]
      {layoutA = #nvvm.mma_layout<row>, layoutB = #nvvm.mma_layout<col>,
       intOverflowBehavior = #nvvm.mma_int_overflow<wrapped>,
       multiplicandAPtxType = #nvvm.mma_type<s8>, multiplicandBPtxType = #nvvm.mma_type<s8>,
       shape = #nvvm.shape<m = 16, n = 8, k = 16>}
      : (i32, i32, i32) -> !llvm.struct<(i32, i32, i32, i32)>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%x: f32) kernel {
    // expected-error @below {{is not supported by the emulator; expected rounding to nearest, ties away from zero, without saturation or relu}}
    %r = nvvm.convert.float.to.tf32 %x {rnd = #nvvm.fp_rnd_mode<rn>}
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%x: f32) kernel {
    // expected-error @below {{is not supported by the emulator; expected rounding to nearest, ties to even, without saturation or relu}}
    %r = nvvm.convert.f32x2.to.bf16x2 %x, %x {rnd = #nvvm.fp_rnd_mode<rz>} : vector<2xbf16>
    gpu.return
  }
}

// -----

module attributes {gpu.container_module} {
  func.func @host() {
    %c1 = arith.constant 1 : index
    // expected-error @below {{is asynchronous, which the emulator does not support}}
    %token = gpu.launch_func async @m::@k blocks in (%c1, %c1, %c1)
      threads in (%c1, %c1, %c1)
    return
  }
  gpu.module @m {
    gpu.func @k() kernel {
      gpu.return
    }
  }
}

// -----

gpu.module @m {
  gpu.func @k(%to: !llvm.ptr<3>, %from: !llvm.ptr<1>, %n: i32) kernel {
    // expected-error @below {{has a source size for zero fill, which the emulator does not support; omit it}}
    nvvm.cp.async.shared.global %to, %from, 16, cache = cg, %n : !llvm.ptr<3>, !llvm.ptr<1>, i32
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%p: !llvm.ptr<1>, %n: i64) kernel {
    // expected-error @below {{allocates memory whose address is used by operations other than loads and stores, which the emulator does not support}}
    %own = llvm.alloca %n x i64 : (i64) -> !llvm.ptr
    llvm.store %own, %p : !llvm.ptr, !llvm.ptr<1>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%p: !llvm.ptr<1>, %m: vector<128xi1>, %z: vector<128xf32>) kernel {
    // expected-error @below {{has more than 64 vector lanes, which the emulator does not support}}
    %v = llvm.intr.masked.load %p, %m, %z {alignment = 4 : i32}
      : (!llvm.ptr<1>, vector<128xi1>, vector<128xf32>) -> vector<128xf32>
    gpu.return
  }
}
