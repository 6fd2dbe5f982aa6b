// RUN: batch-opt %s --uprog-stage-operators=target=gpu --convert-operators-to-gpu=shared-memory=0 --split-input-file -o %t.mlir
// RUN: FileCheck %s < %t.mlir
// RUN: FileCheck %s --check-prefix=MEMORY < %t.mlir
// Where a block may have a tile of columns for each of its warps, none.
// RUN: batch-opt %s --uprog-stage-operators=target=gpu --convert-operators-to-gpu="shared-memory=0 blocks=1 block-size=128" --split-input-file \
// RUN:   | FileCheck %s --check-prefix=ALONE
// RUN: batch-opt %s --uprog-stage-operators=target=gpu --convert-operators-to-gpu="shared-memory=0 blocks=2 block-size=128" --split-input-file \
// RUN:   | FileCheck %s --check-prefix=HALF
// Nor on tensor cores, where contractions share the rows that they load.
// RUN: batch-opt %s --uprog-stage-operators=target=gpu --convert-operators-to-gpu="shared-memory=0 precision=tf32" --split-input-file \
// RUN:   | FileCheck %s --check-prefix=TENSOR
// Weights leave teams the room that they need: 1536 of 9728 bytes.
// RUN: batch-opt %s --uprog-stage-operators=target=gpu --convert-operators-to-gpu="shared-memory=9728 blocks=4" --split-input-file \
// RUN:   --remark-format=emitRemark --remarks-filter=batch -o /dev/null 2>&1 | FileCheck %s --check-prefix=ROOM

#x = affine_map<(r, n, k) -> (r, k)>
#w = affine_map<(r, n, k) -> (n, k)>
#y = affine_map<(r, n, k) -> (r, n)>

// ALONE-NOT:  team_sums
// ALONE-NOT:  gpu.barrier
// HALF:       llvm.mlir.global internal @team_sums() {{.*}} : !llvm.array<768 x i8>
// TENSOR-NOT:   team_sums
// TENSOR-LABEL: func.func private @gates.rows.stage0(
// TENSOR-NOT:   gpu.barrier
// TENSOR:       return
// ROOM:       of parameters stay in the 8192 bytes of a block's shared memory

// Four teams at most, each with 4 bytes of 32 lanes for three contractions.
// MEMORY:       gpu.module @device
// MEMORY-NEXT:    llvm.mlir.global internal @team_sums() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<1536 x i8>

// Where four tiles or fewer are left for the eight warps, two make a team, of
// two tiles four; a fifth would have nothing to do. Warps of a team have
// numbers side by side.
// CHECK-LABEL: func.func private @gates.rows.stage0(
// CHECK-DAG:     %[[C0:.*]] = arith.constant 0 : i64
// CHECK-DAG:     %[[C1:.*]] = arith.constant 1 : i64
// CHECK-DAG:     %[[C2:.*]] = arith.constant 2 : i64
// CHECK-DAG:     %[[C4:.*]] = arith.constant 4 : i64
// CHECK-DAG:     %[[C32:.*]] = arith.constant 32 : i64
// CHECK-DAG:     %[[C384:.*]] = arith.constant 384 : i64
// CHECK:         %[[LANE:.*]] = arith.remui %[[THREAD:.*]], %[[C32]]
// CHECK-NEXT:    %[[WARP:.*]] = arith.divui %[[THREAD]], %[[C32]]
// CHECK:         scf.for %[[AT:.*]] = %[[C0]] to %[[ALL:.*]] step
// CHECK-NEXT:      %[[LEFT:.*]] = arith.subi %[[ALL]], %[[AT]]
// CHECK-NEXT:      %[[MANY:.*]] = arith.cmpi slt, %[[C4]], %[[LEFT]]
// CHECK-NEXT:      %[[PAIRS:.*]] = arith.select %[[MANY]], %[[C0]], %[[C1]]
// CHECK-NEXT:      %[[SOME:.*]] = arith.cmpi slt, %[[C2]], %[[LEFT]]
// CHECK-NEXT:      %[[SHIFT:.*]] = arith.select %[[SOME]], %[[PAIRS]], %[[C2]]
// CHECK-NEXT:      %[[TEAM:.*]] = arith.shrui %[[WARP]], %[[SHIFT]]
// CHECK-NEXT:      %[[SIZE:.*]] = arith.shli %[[C1]], %[[SHIFT]]
// CHECK-NEXT:      %[[MASK:.*]] = arith.subi %[[SIZE]], %[[C1]]
// CHECK-NEXT:      %[[MEMBER:.*]] = arith.andi %[[WARP]], %[[MASK]]
// CHECK-NEXT:      %[[WORKS:.*]] = arith.cmpi slt, %[[TEAM]], %[[LEFT]]
// CHECK-NEXT:      %[[FIRST:.*]] = arith.cmpi eq, %[[MEMBER]], %[[C0]]
// CHECK-NEXT:      %[[LEADS:.*]] = arith.andi %[[WORKS]], %[[FIRST]]
// CHECK:           arith.addi %[[AT]], %[[TEAM]]
// CHECK:           %[[VALID:.*]] = arith.andi %[[LEADS]], %{{.*}} : i1
// CHECK-NOT:       arith.andi %[[LEADS]]

// Contraction c is that of member c modulo the size.
// CHECK:           %[[IS0:.*]] = arith.cmpi eq, %[[C0]], %[[MEMBER]]
// CHECK-NEXT:      %[[MINE0:.*]] = arith.andi %[[WORKS]], %[[IS0]]
// CHECK-NEXT:      %[[SUM0:.*]] = scf.if %[[MINE0]] -> (f32)
// CHECK:           %[[OWNER1:.*]] = arith.andi %[[MASK]], %[[C1]]
// CHECK-NEXT:      %[[IS1:.*]] = arith.cmpi eq, %[[OWNER1]], %[[MEMBER]]
// CHECK-NEXT:      %[[MINE1:.*]] = arith.andi %[[WORKS]], %[[IS1]]
// CHECK-NEXT:      %[[SUM1:.*]] = scf.if %[[MINE1]] -> (f32)
// CHECK:           %[[OWNER2:.*]] = arith.andi %[[MASK]], %[[C2]]
// CHECK-NEXT:      %[[IS2:.*]] = arith.cmpi eq, %[[OWNER2]], %[[MEMBER]]
// CHECK-NEXT:      %[[MINE2:.*]] = arith.andi %[[WORKS]], %[[IS2]]
// CHECK-NEXT:      %[[SUM2:.*]] = scf.if %[[MINE2]] -> (f32)

// A warp alone has all sums. A team has its own part of the memory: who computed
// a sum stores it, and the first member loads all. Barriers are of the
// block: one before that, one before the memory is used again.
// CHECK:           %[[NOTEAM:.*]] = arith.cmpi eq, %[[MASK]], %[[C0]]
// CHECK-NEXT:      %[[TEAMSUMS:.*]] = llvm.mlir.addressof @team_sums : !llvm.ptr<3>
// CHECK-NEXT:      %[[BYTES:.*]] = arith.muli %[[TEAM]], %[[C384]]
// CHECK-NEXT:      %[[PART:.*]] = llvm.getelementptr %[[TEAMSUMS]][%[[BYTES]]]
// CHECK-NEXT:      %[[LANEBYTES:.*]] = arith.muli %[[LANE]], %[[C4]]
// CHECK-NEXT:      %[[OWN:.*]] = llvm.getelementptr %[[PART]][%[[LANEBYTES]]]
// CHECK-NEXT:      %[[SUMS:.*]]:3 = scf.if %[[NOTEAM]] -> (f32, f32, f32) {
// CHECK-NEXT:        scf.yield %[[SUM0]], %[[SUM1]], %[[SUM2]]
// CHECK-NEXT:      } else {
// CHECK:             llvm.store %[[SUM0]], %[[OWN]] {alignment = 4 : i64} : f32, !llvm.ptr<3>
// CHECK:             %[[OWNER:.*]] = arith.andi %[[MASK]], %[[C1]]
// CHECK-NEXT:        %[[IS:.*]] = arith.cmpi eq, %[[OWNER]], %[[MEMBER]]
// CHECK-NEXT:        %[[MINE:.*]] = arith.andi %[[WORKS]], %[[IS]]
// CHECK-NEXT:        scf.if %[[MINE]] {
// CHECK-NEXT:          %[[AT1:.*]] = llvm.getelementptr %[[OWN]][%c128_i64]
// CHECK-NEXT:          llvm.store %[[SUM1]], %[[AT1]] {{.*}} !llvm.ptr<3>
// CHECK:               %[[AT2:.*]] = llvm.getelementptr %[[OWN]][%c256_i64]
// CHECK-NEXT:          llvm.store %[[SUM2]], %[[AT2]] {{.*}} !llvm.ptr<3>
// CHECK-NEXT:        }
// CHECK-NEXT:        gpu.barrier
// CHECK-NEXT:        %[[ALLSUMS:.*]]:3 = scf.if %[[LEADS]] -> (f32, f32, f32) {
// CHECK-NEXT:          llvm.load %[[OWN]] {{.*}} : !llvm.ptr<3> -> f32
// CHECK-NEXT:          llvm.getelementptr %[[OWN]][%c128_i64]
// CHECK-NEXT:          llvm.load
// CHECK-NEXT:          llvm.getelementptr %[[OWN]][%c256_i64]
// CHECK-NEXT:          llvm.load
// CHECK:             gpu.barrier
// CHECK-NEXT:        scf.yield %[[ALLSUMS]]#0, %[[ALLSUMS]]#1, %[[ALLSUMS]]#2
// CHECK-NEXT:      }

// The first member of a team does the rest.
// CHECK-NEXT:      scf.if %[[VALID]] {
// CHECK:             arith.mulf %[[SUMS]]#0, %[[SUMS]]#1
// CHECK:             llvm.store
// CHECK-NOT:     gpu.barrier
// CHECK:         return
uprog.operator @gates.rows(%n: index, %x: tensor<?x64xf32> {uprog.operand = #uprog.operand<gather>},
                           %u: tensor<32x64xf32> {uprog.operand = #uprog.operand<shared(0)>},
                           %v: tensor<32x64xf32> {uprog.operand = #uprog.operand<shared(1)>},
                           %w: tensor<32x64xf32> {uprog.operand = #uprog.operand<shared(2)>})
    -> tensor<?x32xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty(%n) : tensor<?x32xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x32xf32>) -> tensor<?x32xf32>
  %a = linalg.matmul indexing_maps = [#x, #w, #y]
         ins(%x, %u : tensor<?x64xf32>, tensor<32x64xf32>)
         outs(%start : tensor<?x32xf32>) -> tensor<?x32xf32>
  %b = linalg.matmul indexing_maps = [#x, #w, #y]
         ins(%x, %v : tensor<?x64xf32>, tensor<32x64xf32>)
         outs(%start : tensor<?x32xf32>) -> tensor<?x32xf32>
  %c = linalg.matmul indexing_maps = [#x, #w, #y]
         ins(%x, %w : tensor<?x64xf32>, tensor<32x64xf32>)
         outs(%start : tensor<?x32xf32>) -> tensor<?x32xf32>
  %p = arith.mulf %a, %b : tensor<?x32xf32>
  %y = arith.addf %p, %c : tensor<?x32xf32>
  uprog.yield %y : tensor<?x32xf32>
}

// -----

#x = affine_map<(r, n, k) -> (r, k)>
#w = affine_map<(r, n, k) -> (n, k)>
#y = affine_map<(r, n, k) -> (r, n)>

// Two of f64, which no tensor core computes here: teams of two, and 8 bytes of a
// lane.
// TENSOR:       llvm.mlir.global internal @team_sums() {{.*}} : !llvm.array<2048 x i8>
// MEMORY:       gpu.module @device
// MEMORY-NEXT:    llvm.mlir.global internal @team_sums() {{.*}} : !llvm.array<2048 x i8>
// CHECK-LABEL: func.func private @pair.rows.stage0(
// CHECK:         %[[MANY:.*]] = arith.cmpi slt, %c4_i64, %[[LEFT:.*]] : i64
// CHECK-NEXT:    %[[SHIFT:.*]] = arith.select %[[MANY]], %c0_i64, %c1_i64 : i64
// CHECK-NEXT:    arith.shrui %{{.*}}, %[[SHIFT]] : i64
// CHECK:         arith.muli %{{.*}}, %c512_i64 : i64
// CHECK:         gpu.barrier
// CHECK:         llvm.load %{{.*}} {alignment = 8 : i64} : !llvm.ptr<3> -> f64
// CHECK:         gpu.barrier
uprog.operator @pair.rows(%n: index, %x: tensor<?x64xf64> {uprog.operand = #uprog.operand<gather>},
                          %u: tensor<32x64xf64> {uprog.operand = #uprog.operand<shared(0)>},
                          %v: tensor<32x64xf64> {uprog.operand = #uprog.operand<shared(1)>})
    -> tensor<?x32xf64> {
  %zero = arith.constant 0.0 : f64
  %empty = tensor.empty(%n) : tensor<?x32xf64>
  %start = linalg.fill ins(%zero : f64) outs(%empty : tensor<?x32xf64>) -> tensor<?x32xf64>
  %a = linalg.matmul indexing_maps = [#x, #w, #y]
         ins(%x, %u : tensor<?x64xf64>, tensor<32x64xf64>)
         outs(%start : tensor<?x32xf64>) -> tensor<?x32xf64>
  %b = linalg.matmul indexing_maps = [#x, #w, #y]
         ins(%x, %v : tensor<?x64xf64>, tensor<32x64xf64>)
         outs(%start : tensor<?x32xf64>) -> tensor<?x32xf64>
  %y = arith.mulf %a, %b : tensor<?x32xf64>
  uprog.yield %y : tensor<?x32xf64>
}

// -----

#x = affine_map<(r, n, k) -> (r, k)>
#w = affine_map<(r, n, k) -> (n, k)>
#y = affine_map<(r, n, k) -> (r, n)>

// A single contraction leaves nothing to share out.
// MEMORY:       gpu.module @device
// MEMORY-NOT:   team_sums
// CHECK-LABEL: func.func private @single.rows.stage0(
// CHECK-NOT:     gpu.barrier
// CHECK-NOT:     team_sums
// CHECK:         return
uprog.operator @single.rows(%n: index, %x: tensor<?x64xf32> {uprog.operand = #uprog.operand<gather>},
                            %u: tensor<32x64xf32> {uprog.operand = #uprog.operand<shared(0)>})
    -> tensor<?x32xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty(%n) : tensor<?x32xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x32xf32>) -> tensor<?x32xf32>
  %y = linalg.matmul indexing_maps = [#x, #w, #y]
         ins(%x, %u : tensor<?x64xf32>, tensor<32x64xf32>)
         outs(%start : tensor<?x32xf32>) -> tensor<?x32xf32>
  uprog.yield %y : tensor<?x32xf32>
}
