// Kernels run on the emulator, without undefined symbols. The emulator finds
// their faults.
// REQUIRES: ld.lld
// DEFINE: %{lower} = batch-opt --convert-gpu-to-host-emulation \
// DEFINE:   --batch-expand-math --convert-scf-to-cf --convert-to-llvm \
// DEFINE:   --reconcile-unrealized-casts
// DEFINE: %{object} = mlir-translate --mlir-to-llvmir | \
// DEFINE:   llc -O1 -mcpu=native -relocation-model=pic -filetype=obj -o %t.o
// DEFINE: %{link} = ld.lld -shared -z defs -o %t.so %t.o
// DEFINE: %{sum} = emulate-kernel %t.so sum 3 64 shared=8 f32:192=iota f32:3 f32:1 i32:64=0

// RUN: %{lower} %s | %{object}
// RUN: %{link}
// RUN: %{sum} | FileCheck %s --check-prefix=SUM
// RUN: emulate-kernel %t.so neighbor 4 32 cluster=2 shared=144 i32:128 | FileCheck %s --check-prefix=NEIGHBOUR
// RUN: emulate-kernel %t.so tanh 1 40 f32:40=0.5 f32:40 i64:40 | FileCheck %s --check-prefix=TANH
// RUN: emulate-kernel %t.so round 1 8 i32:16 | FileCheck %s --check-prefix=ROUND
// SUM: 2016 6112 10208
// SUM-NEXT: 18336
// NEIGHBOUR: 63 62 {{.*}} 32 31 30 {{.*}} 0 127 {{.*}} 64
// TANH: 0.462117 0.462117
// ROUND: 1065361408 1065369472 -1082122240 1065402240 1065353216 1065369472 1065385984 1065369472 1065451520 1065369474 2139095040 1065385856 2139095040 1065385856 2147475456 1065385983

// RUN: sed '/PARTIAL$/d' %s | %{lower} | %{object}
// RUN: %{link}
// RUN: not %{sum} 2>&1 | FileCheck %s --check-prefix=PARTIAL
// PARTIAL: error: kernel 'sum': block {{.*}}: race: {{.*}}add a barrier of the block

// RUN: sed '/RELEASE$/d' %s | %{lower} | %{object}
// RUN: %{link}
// RUN: not %{sum} 2>&1 | FileCheck %s --check-prefix=ORDER
// ORDER: race: {{.*}}add a barrier of all blocks

// RUN: sed '/GO$/d' %s | %{lower} | %{object}
// RUN: %{link}
// RUN: not %{sum} 2>&1 | FileCheck %s --check-prefix=STOP
// STOP: error: kernel 'sum': deadlock:
// STOP: thread 0: spinning on an atomic load, {{.*}}; threads 1-63: at the block barrier

// In the first run, an array is too short. In the second run, an array is not initialized.
// RUN: %{lower} %s | %{object}
// RUN: %{link}
// RUN: not emulate-kernel %t.so tanh 1 40 f32:39=0.5 f32:40 i64:40 2>&1 | FileCheck %s --check-prefix=BOUNDS
// RUN: not emulate-kernel %t.so tanh 1 40 f32:40 f32:40 i64:40 2>&1 | FileCheck %s --check-prefix=POISON
// BOUNDS: thread 9, at {{.*}}: reads 4 bytes at {{.*}} outside of global memory; 'argument 0' ends 4 bytes before
// POISON: at {{.*}}: reads 'argument 0' + {{.*}}, which was never written

gpu.module @kernels {
  llvm.mlir.global internal @partial() {addr_space = 3 : i32, alignment = 8 : i64} : !llvm.array<2 x f32>
  llvm.mlir.global external @own() {addr_space = 3 : i32, alignment = 4 : i64} : !llvm.array<0 x i32>

  // A barrier of all blocks. Arrivals are counted at byte 0, generations at byte 128.
  func.func @device_barrier(%control: !llvm.ptr<1>) {
    %c0 = arith.constant 0 : index
    %one = arith.constant 1 : i32
    gpu.barrier
    %thread = gpu.thread_id x
    %first = arith.cmpi eq, %thread, %c0 : index
    scf.if %first {
      %generation = llvm.getelementptr %control[128] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
      %old = llvm.load %generation atomic syncscope("device") monotonic {alignment = 4 : i64} : !llvm.ptr<1> -> i32
      llvm.fence syncscope("device") release // RELEASE
      %before = llvm.atomicrmw add %control, %one syncscope("device") monotonic : !llvm.ptr<1>, i32
      llvm.fence syncscope("device") acquire
      %blocks = gpu.grid_dim x
      %count = arith.index_cast %blocks : index to i32
      %next = arith.addi %old, %one : i32
      %total = arith.muli %next, %count : i32
      %after = arith.addi %before, %one : i32
      %last = arith.cmpi eq, %after, %total : i32
      scf.if %last {
        llvm.store %next, %generation atomic syncscope("device") release {alignment = 4 : i64} : i32, !llvm.ptr<1> // GO
      } else {
        scf.while : () -> () {
          %now = llvm.load %generation atomic syncscope("device") acquire {alignment = 4 : i64} : !llvm.ptr<1> -> i32
          %wait = arith.cmpi eq, %now, %old : i32
          scf.condition(%wait)
        } do {
          scf.yield
        }
      }
    }
    gpu.barrier
    return
  }

  // Sums numbers in warps, in blocks, and over the grid.
  gpu.func @sum(%in: !llvm.ptr<1>, %sums: !llvm.ptr<1>, %out: !llvm.ptr<1>, %control: !llvm.ptr<1>) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c5 = arith.constant 5 : index
    %c32 = arith.constant 32 : index
    %zero = arith.constant 0.0 : f32
    %sixteen = arith.constant 16 : i32
    %width = arith.constant 32 : i32
    %thread = gpu.thread_id x
    %block = gpu.block_id x
    %threads = gpu.block_dim x
    %blocks = gpu.grid_dim x
    %before = arith.muli %block, %threads : index
    %place = arith.addi %before, %thread : index
    %i = arith.index_cast %place : index to i64
    %at = llvm.getelementptr %in[%i] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
    %x = llvm.load %at : !llvm.ptr<1> -> f32
    %warpSum = scf.for %step = %c0 to %c5 step %c1 iter_args(%sum = %x) -> f32 {
      %shift = arith.index_cast %step : index to i32
      %offset = arith.shrui %sixteen, %shift : i32
      %other, %valid = gpu.shuffle xor %sum, %offset, %width : f32
      %more = arith.addf %sum, %other : f32
      scf.yield %more : f32
    }
    %partial = llvm.mlir.addressof @partial : !llvm.ptr<3>
    %lane = arith.remui %thread, %c32 : index
    %warp = arith.divui %thread, %c32 : index
    %isFirst = arith.cmpi eq, %lane, %c0 : index
    scf.if %isFirst {
      %w = arith.index_cast %warp : index to i64
      %to = llvm.getelementptr %partial[%w] : (!llvm.ptr<3>, i64) -> !llvm.ptr<3>, f32
      llvm.store %warpSum, %to : f32, !llvm.ptr<3>
    }
    gpu.barrier // PARTIAL
    %is_leader = arith.cmpi eq, %thread, %c0 : index
    scf.if %is_leader {
      %two = llvm.load %partial : !llvm.ptr<3> -> vector<2xf32>
      %a = vector.extract %two[0] : f32 from vector<2xf32>
      %b = vector.extract %two[1] : f32 from vector<2xf32>
      %sum = arith.addf %a, %b : f32
      %n = arith.index_cast %block : index to i64
      %to = llvm.getelementptr %sums[%n] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
      llvm.store %sum, %to : f32, !llvm.ptr<1>
    }
    func.call @device_barrier(%control) : (!llvm.ptr<1>) -> ()
    %ends = arith.cmpi eq, %place, %c1 : index
    scf.if %ends {
      %all = scf.for %j = %c0 to %blocks step %c1 iter_args(%sum = %zero) -> f32 {
        %n = arith.index_cast %j : index to i64
        %from = llvm.getelementptr %sums[%n] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
        %y = llvm.load %from : !llvm.ptr<1> -> f32
        %more = arith.addf %sum, %y : f32
        scf.yield %more : f32
      }
      llvm.store %all, %out : f32, !llvm.ptr<1>
    }
    gpu.return
  }

  // Rounds to tf32: ties, a number closer to one neighbor, the largest number,
  // infinity and NaN. Rounds to bf16 in a word whose other half is 1.0.
  gpu.func @round(%out: !llvm.ptr<1>) kernel {
    %bits = arith.constant dense<[0x3f801000, 0xbf801000, 0x3f800fff, 0x3f808000, 0x3f818000, 0x7f7fffff, 0x7f800000, 0xffffffff]> : vector<8xi32>
    %one = arith.constant 1.0 : f32
    %thread = gpu.thread_id x
    %i = arith.index_cast %thread : index to i64
    %own = vector.extract %bits[%thread] : i32 from vector<8xi32>
    %x = arith.bitcast %own : i32 to f32
    %tf32 = nvvm.convert.float.to.tf32 %x {rnd = #nvvm.fp_rnd_mode<rna>}
    %pair = nvvm.convert.f32x2.to.bf16x2 %one, %x {rnd = #nvvm.fp_rnd_mode<rn>} : vector<2xbf16>
    %bf16 = llvm.bitcast %pair : vector<2xbf16> to i32
    %to = llvm.getelementptr %out[%i] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, !llvm.array<2 x i32>
    %second = llvm.getelementptr %to[1] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i32
    llvm.store %tf32, %to : i32, !llvm.ptr<1>
    llvm.store %bf16, %second : i32, !llvm.ptr<1>
    gpu.return
  }

  // The two blocks of a cluster exchange their numbers, in reverse order.
  gpu.func @neighbor(%out: !llvm.ptr<1>) kernel {
    %c1 = arith.constant 1 : index
    %c31 = arith.constant 31 : index
    %thread = gpu.thread_id x
    %block = gpu.block_id x
    %threads = gpu.block_dim x
    %rank = gpu.cluster_block_id x
    %before = arith.muli %block, %threads : index
    %place = arith.addi %before, %thread : index
    %number = arith.index_cast %place : index to i32
    %own = llvm.mlir.addressof @own : !llvm.ptr<3>
    %t = arith.index_cast %thread : index to i64
    %mine = llvm.getelementptr %own[%t] : (!llvm.ptr<3>, i64) -> !llvm.ptr<3>, i32
    llvm.store %number, %mine : i32, !llvm.ptr<3>
    nvvm.cluster.arrive
    nvvm.cluster.wait
    %otherRank = arith.subi %c1, %rank : index
    %r = arith.index_cast %otherRank : index to i32
    %theirs = nvvm.mapa %own, %r : !llvm.ptr<3> -> !llvm.ptr<7>
    %back = arith.subi %c31, %thread : index
    %b = arith.index_cast %back : index to i64
    %from = llvm.getelementptr %theirs[%b] : (!llvm.ptr<7>, i64) -> !llvm.ptr<7>, i32
    %x = llvm.load %from : !llvm.ptr<7> -> i32
    %i = arith.index_cast %place : index to i64
    %to = llvm.getelementptr %out[%i] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i32
    llvm.store %x, %to : i32, !llvm.ptr<1>
    nvvm.cluster.arrive
    nvvm.cluster.wait
    gpu.return
  }

  // Ten threads compute four numbers each, with masks.
  gpu.func @tanh(%in: !llvm.ptr<1>, %out: !llvm.ptr<1>, %n: index) kernel {
    %c4 = arith.constant 4 : index
    %zero = arith.constant dense<0.0> : vector<4xf32>
    %thread = gpu.thread_id x
    %first = arith.muli %thread, %c4 : index
    %left = arith.subi %n, %first : index
    %lanes = arith.constant dense<[0, 1, 2, 3]> : vector<4xi64>
    %end = arith.index_cast %left : index to i64
    %ends = vector.broadcast %end : i64 to vector<4xi64>
    %mask = arith.cmpi slt, %lanes, %ends : vector<4xi64>
    %i = arith.index_cast %first : index to i64
    %from = llvm.getelementptr %in[%i] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
    %x = llvm.intr.masked.load %from, %mask, %zero {alignment = 4 : i32} : (!llvm.ptr<1>, vector<4xi1>, vector<4xf32>) -> vector<4xf32>
    %y = math.tanh %x : vector<4xf32>
    %to = llvm.getelementptr %out[%i] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
    llvm.intr.masked.store %y, %to, %mask {alignment = 4 : i32} : vector<4xf32>, vector<4xi1> into !llvm.ptr<1>
    gpu.return
  }
}
