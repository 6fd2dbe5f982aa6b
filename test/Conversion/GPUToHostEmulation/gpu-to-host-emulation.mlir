// RUN: batch-opt %s --convert-gpu-to-host-emulation | FileCheck %s

// Each location is one string.
// CHECK-DAG: llvm.mlir.global internal constant @[[WHERE:where.*]]("gpu-to-host-emulation.mlir:{{[0-9]+:[0-9]+}}\00")
// CHECK-NOT: gpu.

// The launch is removed, and the code around it remains.
// CHECK-LABEL: func.func @host
// CHECK-NEXT: arith.constant
// CHECK-NEXT: return
// Constants are in the host's memory, under their own names.
// CHECK: llvm.mlir.global internal constant @table.emulate(dense<[1, 2]> : tensor<2xi32>) {addr_space = 0 : i32}
module attributes {gpu.container_module} {
func.func @host(%p: !llvm.ptr<1>) {
  %c1 = arith.constant 1 : index
  gpu.launch_func @kernels::@plain blocks in (%c1, %c1, %c1)
    threads in (%c1, %c1, %c1) args(%p : !llvm.ptr<1>)
  return
}

gpu.module @kernels {
  llvm.mlir.global internal constant @table(dense<[1, 2]> : tensor<2xi32>) {addr_space = 1 : i32} : !llvm.array<2 x i32>
  llvm.mlir.global internal @small() {addr_space = 3 : i32} : !llvm.array<3 x i8>
  llvm.mlir.global internal @tile() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<4 x f32>
  llvm.mlir.global external @dynamic() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<0 x i8>

  // Arguments are loaded from their addresses. The check before an access gets the
  // size, alignment and address space of the access.
  // CHECK-LABEL: func.func @plain.emulate
  // CHECK-SAME: (%[[THREAD:.*]]: !llvm.ptr, %[[ARGS:.*]]: !llvm.ptr) attributes {batch.shared_bytes = 32 : i64}
  // CHECK: %[[SLOT:.*]] = llvm.load %{{.*}} : !llvm.ptr -> !llvm.ptr
  // CHECK: %[[P:.*]] = llvm.load %[[SLOT]] : !llvm.ptr -> !llvm.ptr
  // CHECK-DAG: %[[BYTES:.*]] = llvm.mlir.constant(16 : i64)
  // CHECK-DAG: %[[SPACE:.*]] = llvm.mlir.constant(1 : i64)
  // CHECK: %[[TABLE:.*]] = llvm.load %[[THREAD]] invariant
  // CHECK: %[[READ:.*]] = llvm.load %[[TABLE]] invariant
  // CHECK: %[[AT:.*]] = llvm.mlir.addressof @where
  // CHECK: llvm.call %[[READ]](%[[THREAD]], %[[P]], %[[BYTES]], %{{.*}}, %[[SPACE]], %[[AT]]) : !llvm.ptr, (!llvm.ptr, !llvm.ptr, i64, i64, i64, !llvm.ptr) -> ()
  // CHECK-NEXT: %[[X:.*]] = llvm.load %[[P]] : !llvm.ptr -> vector<4xf32>
  // CHECK: llvm.call
  // CHECK-NEXT: llvm.store %[[X]], %[[P]] : vector<4xf32>, !llvm.ptr
  gpu.func @plain(%p: !llvm.ptr<1>) kernel {
    %x = llvm.load %p : !llvm.ptr<1> -> vector<4xf32>
    llvm.store %x, %p : vector<4xf32>, !llvm.ptr<1>
    gpu.return
  }

  // Only lanes whose bit in the mask is set are checked.
  // CHECK-LABEL: func.func @masked.emulate
  // CHECK: %[[MASK:.*]] = llvm.bitcast %{{.*}} : vector<4xi1> to i4
  // CHECK: %[[BITS:.*]] = arith.extui %[[MASK]] : i4 to i64
  // CHECK: llvm.call %{{.*}}(%{{.*}}, %{{.*}}, %{{.*}}, %[[BITS]],
  // CHECK: llvm.intr.masked.load
  gpu.func @masked(%p: !llvm.ptr<1>, %n: index) kernel {
    %mask = vector.create_mask %n : vector<4xi1>
    %zero = arith.constant dense<0.0> : vector<4xf32>
    %x = llvm.intr.masked.load %p, %mask, %zero {alignment = 16 : i32} : (!llvm.ptr<1>, vector<4xi1>, vector<4xf32>) -> vector<4xf32>
    llvm.intr.masked.store %x, %p, %mask {alignment = 16 : i32} : vector<4xf32>, vector<4xi1> into !llvm.ptr<1>
    gpu.return
  }

  // Shared variables become offsets: 3 bytes at offset 0, 16 bytes at offset 16, then
  // the memory that the launch adds.
  // CHECK-LABEL: func.func @shared.emulate
  // CHECK: %[[BASE:.*]] = llvm.load %{{.*}} invariant
  // CHECK: %[[TILE:.*]] = llvm.getelementptr %[[BASE]][16]
  // CHECK: llvm.store %{{.*}}, %[[TILE]]
  // CHECK: llvm.getelementptr %{{.*}}[32]
  gpu.func @shared(%x: f32) kernel {
    %tile = llvm.mlir.addressof @tile : !llvm.ptr<3>
    llvm.store %x, %tile : f32, !llvm.ptr<3>
    %dynamic = llvm.mlir.addressof @dynamic : !llvm.ptr<3>
    llvm.store %x, %dynamic : f32, !llvm.ptr<3>
    gpu.return
  }

  // The thread is also an argument of device functions. Dimensions other than x
  // have extent one.
  // CHECK-LABEL: func.func private @device.emulate
  // CHECK-SAME: (%[[THREAD:.*]]: !llvm.ptr, %{{.*}}: !llvm.ptr) -> index
  // CHECK: %[[WORD:.*]] = llvm.getelementptr %[[THREAD]][2]
  // CHECK: %[[ID:.*]] = llvm.load %[[WORD]] invariant
  // CHECK: arith.index_cast %[[ID]]
  // CHECK: llvm.mlir.constant(0 : i64)
  func.func @device(%p: !llvm.ptr<1>) -> index {
    %x = gpu.thread_id x
    %y = gpu.thread_id y
    gpu.barrier
    %sum = arith.addi %x, %y : index
    return %sum : index
  }

  // CHECK-LABEL: func.func @caller.emulate
  // CHECK: call @device.emulate(%{{.*}}, %{{.*}}) : (!llvm.ptr, !llvm.ptr) -> index
  gpu.func @caller(%p: !llvm.ptr<1>) kernel {
    %i = func.call @device(%p) : (!llvm.ptr<1>) -> index
    gpu.return
  }

  // A copy is one call. The emulator checks both of its accesses.
  // CHECK-LABEL: func.func @copy.emulate
  // CHECK: %[[TILE:.*]] = llvm.getelementptr %{{.*}}[16]
  // CHECK: %[[BYTES:.*]] = llvm.mlir.constant(16 : i64)
  // CHECK: llvm.call %{{.*}}(%{{.*}}, %[[TILE]], %{{.*}}, %[[BYTES]], %{{.*}})
  // CHECK-NOT: llvm.call
  // CHECK: return
  gpu.func @copy(%p: !llvm.ptr<1>) kernel {
    %tile = llvm.mlir.addressof @tile : !llvm.ptr<3>
    nvvm.cp.async.shared.global %tile, %p, 16, cache = cg : !llvm.ptr<3>, !llvm.ptr<1>
    gpu.return
  }

  // None of these GPU ops remains.
  // CHECK-LABEL: func.func @rest.emulate
  // CHECK-NOT: atomic
  // CHECK-NOT: nvvm
  // CHECK-NOT: ptr<
  // CHECK: return
  gpu.func @rest(%p: !llvm.ptr<1>, %x: f32, %n: i32) kernel {
    %one = arith.constant 1 : i32
    %w = arith.constant 32 : i32
    %s, %v = gpu.shuffle xor %x, %one, %w : f32
    llvm.fence syncscope("device") release
    %old = llvm.atomicrmw add %p, %one syncscope("device") monotonic : !llvm.ptr<1>, i32
    %a = llvm.load %p atomic syncscope("device") acquire {alignment = 4 : i64} : !llvm.ptr<1> -> i32
    llvm.store %a, %p atomic syncscope("block") release {alignment = 4 : i64} : i32, !llvm.ptr<1>
    %c = llvm.cmpxchg %p, %one, %a acq_rel monotonic : !llvm.ptr<1>, i32
    %d = llvm.extractvalue %c[0] : !llvm.struct<(i32, i1)>
    nvvm.cluster.arrive
    nvvm.cluster.wait
    nvvm.exit
    nvvm.cp.async.commit.group
    nvvm.cp.async.wait.group 1
    %t = llvm.mlir.addressof @tile : !llvm.ptr<3>
    %m = nvvm.mapa %t, %n : !llvm.ptr<3> -> !llvm.ptr<7>
    %g = llvm.addrspacecast %m : !llvm.ptr<7> to !llvm.ptr
    llvm.store %d, %g : i32, !llvm.ptr
    %time = nvvm.read.ptx.sreg.globaltimer : i64
    %i = gpu.cluster_block_id x
    %mma = nvvm.mma.sync A[%n, %n] B[%n] C[%x, %x, %x, %s]
      {layoutA = #nvvm.mma_layout<row>, layoutB = #nvvm.mma_layout<col>,
       multiplicandAPtxType = #nvvm.mma_type<bf16>, multiplicandBPtxType = #nvvm.mma_type<bf16>,
       shape = #nvvm.shape<m = 16, n = 8, k = 8>}
      : (i32, i32, f32) -> !llvm.struct<(f32, f32, f32, f32)>
    gpu.return
  }

  // Reads of constants are not checked.
  // CHECK-LABEL: func.func @constant.emulate
  // CHECK: %[[T:.*]] = llvm.mlir.addressof @table.emulate : !llvm.ptr
  // CHECK-NEXT: %[[AT:.*]] = llvm.getelementptr %[[T]][1]
  // CHECK-NEXT: llvm.load %[[AT]] : !llvm.ptr -> i32
  gpu.func @constant(%p: !llvm.ptr<1>) kernel {
    %t = llvm.mlir.addressof @table : !llvm.ptr<1>
    %at = llvm.getelementptr %t[1] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i32
    %x = llvm.load %at : !llvm.ptr<1> -> i32
    llvm.store %x, %p : i32, !llvm.ptr<1>
    gpu.return
  }

  // Accesses to the thread's own memory are not checked either.
  // CHECK-LABEL: func.func @own.emulate
  // CHECK: %[[OWN:.*]] = llvm.alloca
  // CHECK-NEXT: llvm.store %{{.*}}, %[[OWN]]
  // CHECK-NEXT: llvm.load %[[OWN]]
  gpu.func @own(%p: !llvm.ptr<1>, %n: i64) kernel {
    %one = llvm.mlir.constant(1 : i64) : i64
    %own = llvm.alloca %one x i64 : (i64) -> !llvm.ptr
    llvm.store %n, %own : i64, !llvm.ptr
    %x = llvm.load %own : !llvm.ptr -> i64
    llvm.store %x, %p : i64, !llvm.ptr<1>
    gpu.return
  }
}
}
