// RUN: batch-opt %s --uprog-stage-operators=target=gpu --convert-operators-to-gpu=shared-memory=0 --canonicalize --cse | FileCheck %s
// A block of 64 threads has fewer threads than a tile has elements.
// RUN: batch-opt %s --uprog-stage-operators=target=gpu --convert-operators-to-gpu="block-size=64 precision=bf16 shared-memory=0" --canonicalize --cse \
// RUN:   | FileCheck %s --check-prefix=SMALL

#x = affine_map<(r, n, k) -> (r, k)>
#w = affine_map<(r, n, k) -> (n, k)>
#y = affine_map<(r, n, k) -> (r, n)>

// 1100 elements along k are divided into shares of 512, 512 and 76. Each share has its own sum.
// The sums are added in order. All shares fit in one round, with one barrier for rows and one for
// sums. The function is called, not inlined, so it can use all registers.
// CHECK-LABEL: func.func private @shares.rows.stage0
// CHECK-SAME:  passthrough = ["noinline"]
// CHECK:         uprog.await_rows
// CHECK:         gpu.barrier
// CHECK:         arith.muli %{{.*}}, %c3_i32
// CHECK:         gpu.barrier
// CHECK-NOT:     llvm.load {{.*}} !llvm.ptr<1>
// CHECK:         %[[S0:.*]] = llvm.load %{{.*}} : !llvm.ptr<3> -> f32
// CHECK:         %[[S1:.*]] = llvm.load %{{.*}} : !llvm.ptr<3> -> f32
// CHECK:         %[[SUM:.*]] = arith.addf %[[S0]], %[[S1]]
// CHECK:         %[[S2:.*]] = llvm.load %{{.*}} : !llvm.ptr<3> -> f32
// CHECK:         arith.addf %[[SUM]], %[[S2]]
// CHECK:         llvm.store %{{.*}}, %{{.*}} : f32, !llvm.ptr<1>

// Threads take the elements of a tile one after the other.
// SMALL-LABEL: func.func private @shares.rows.stage0
// SMALL:         arith.remui %[[THREAD:[0-9]+]], %c32_i32
// SMALL:         nvvm.mma.sync
// SMALL:         gpu.barrier
// SMALL:         scf.for %[[NUMBER:.*]] = %[[THREAD]] to %{{.*}} step %c64_i32
// SMALL-NEXT:      arith.divui %[[NUMBER]], %c128_i32
// SMALL-NEXT:      arith.remui %[[NUMBER]], %c128_i32
uprog.operator @shares.rows(%n: index, %x: tensor<?x1100xf32> {uprog.operand = #uprog.operand<gather>},
                            %w: tensor<8x1100xf32> {uprog.operand = #uprog.operand<shared(0)>})
    -> tensor<?x8xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty(%n) : tensor<?x8xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x8xf32>) -> tensor<?x8xf32>
  %y = linalg.matmul indexing_maps = [#x, #w, #y]
         ins(%x, %w : tensor<?x1100xf32>, tensor<8x1100xf32>)
         outs(%start : tensor<?x8xf32>) -> tensor<?x8xf32>
  uprog.yield %y : tensor<?x8xf32>
}

// Four rows of 3000 elements exceed 24 KiB, so they take two rounds: 1536 elements, then
// 1464. Rows of the second round overwrite the rows of the first round after all warps have
// used them.
// CHECK-LABEL: func.func private @rounds.rows.stage0
// CHECK:         uprog.await_rows
// CHECK:         nvvm.cp.async.shared.global
// CHECK:         nvvm.cp.async.wait.group 0
// CHECK-NEXT:    gpu.barrier
// CHECK:         math.fma
// CHECK:         gpu.barrier
// CHECK:         nvvm.cp.async.shared.global
// CHECK:         nvvm.cp.async.wait.group 0
// CHECK-NEXT:    gpu.barrier
// CHECK:         math.fma
// CHECK:         gpu.barrier
// CHECK-COUNT-5: arith.addf %{{.*}}, %{{.*}} : f32
// CHECK-NOT:     arith.addf
// CHECK:         return
uprog.operator @rounds.rows(%n: index, %x: tensor<?x3000xf32> {uprog.operand = #uprog.operand<gather>},
                            %w: tensor<8x3000xf32> {uprog.operand = #uprog.operand<shared(1)>})
    -> tensor<?x8xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty(%n) : tensor<?x8xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x8xf32>) -> tensor<?x8xf32>
  %y = linalg.matmul indexing_maps = [#x, #w, #y]
         ins(%x, %w : tensor<?x3000xf32>, tensor<8x3000xf32>)
         outs(%start : tensor<?x8xf32>) -> tensor<?x8xf32>
  uprog.yield %y : tensor<?x8xf32>
}

// Two products read different parameters. The first one multiplies a row of two children's
// states. The second one multiplies the state of the right child, which is not copied again.
// Rows begin every 2048 bytes, and the second product reads them from byte 1024 on.
// CHECK-LABEL: func.func private @children.rows.stage0
// CHECK:         uprog.await_rows
// CHECK:         scf.for %[[I:.*]] = %{{.*}} step %c1024_i32
// CHECK:           %[[OWN:.*]] = arith.divui %{{.*}}, %c64_i32
// CHECK:           arith.muli %[[OWN]], %c2048_i32
// CHECK-COUNT-8:   nvvm.cp.async.shared.global
// CHECK-NOT:       nvvm.cp.async.shared.global
// CHECK:         nvvm.cp.async.wait.group 0
// CHECK-NEXT:    gpu.barrier
// CHECK:         %[[NUMBER:.*]] = arith.remui %{{.*}}, %c2_i32
// CHECK:         %[[AT:.*]] = arith.muli %[[NUMBER]], %c1024_i32
// CHECK:         %[[ROW:.*]] = arith.muli %{{.*}}, %c2048_i32
// CHECK-NEXT:    arith.addi %[[ROW]], %[[AT]]
uprog.operator @children.rows(%n: index,
    %left: tensor<?x256xf32> {uprog.operand = #uprog.operand<gather>},
    %right: tensor<?x256xf32> {uprog.operand = #uprog.operand<gather>},
    %w: tensor<64x512xf32> {uprog.operand = #uprog.operand<shared(2)>},
    %u: tensor<64x256xf32> {uprog.operand = #uprog.operand<shared(3)>})
    -> tensor<?x64xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty(%n) : tensor<?x64xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x64xf32>) -> tensor<?x64xf32>
  %x = tensor.concat dim(1) %left, %right : (tensor<?x256xf32>, tensor<?x256xf32>) -> tensor<?x512xf32>
  %y = linalg.matmul indexing_maps = [#x, #w, #y]
         ins(%x, %w : tensor<?x512xf32>, tensor<64x512xf32>)
         outs(%start : tensor<?x64xf32>) -> tensor<?x64xf32>
  %z = linalg.matmul indexing_maps = [#x, #w, #y]
         ins(%right, %u : tensor<?x256xf32>, tensor<64x256xf32>)
         outs(%start : tensor<?x64xf32>) -> tensor<?x64xf32>
  %sum = linalg.add ins(%y, %z : tensor<?x64xf32>, tensor<?x64xf32>)
                    outs(%empty : tensor<?x64xf32>) -> tensor<?x64xf32>
  uprog.yield %sum : tensor<?x64xf32>
}

// A computed row is not copied: for each of four vectors, a thread loads four
// operands, and stores the result.
// CHECK-LABEL: func.func private @computed.rows.stage0
// CHECK:         uprog.await_rows
// CHECK:         scf.for %{{.*}} step %c1024_i32
// CHECK-COUNT-16:  llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xf32>
// CHECK-NOT:       llvm.load %{{.*}} !llvm.ptr<1> -> vector<4xf32>
// CHECK-NOT:       nvvm.cp.async.shared.global
// CHECK-COUNT-4:   llvm.store %{{.*}} : vector<4xf32>, !llvm.ptr<3>
// CHECK:         gpu.barrier
uprog.operator @computed.rows(%n: index,
    %a: tensor<?x256xf32> {uprog.operand = #uprog.operand<gather>},
    %b: tensor<?x256xf32> {uprog.operand = #uprog.operand<gather>},
    %c: tensor<?x256xf32> {uprog.operand = #uprog.operand<gather>},
    %d: tensor<?x256xf32> {uprog.operand = #uprog.operand<gather>},
    %w: tensor<64x256xf32> {uprog.operand = #uprog.operand<shared(4)>})
    -> tensor<?x64xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty(%n) : tensor<?x64xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x64xf32>) -> tensor<?x64xf32>
  %init = tensor.empty(%n) : tensor<?x256xf32>
  %ab = linalg.add ins(%a, %b : tensor<?x256xf32>, tensor<?x256xf32>) outs(%init : tensor<?x256xf32>) -> tensor<?x256xf32>
  %cd = linalg.add ins(%c, %d : tensor<?x256xf32>, tensor<?x256xf32>) outs(%init : tensor<?x256xf32>) -> tensor<?x256xf32>
  %x = linalg.mul ins(%ab, %cd : tensor<?x256xf32>, tensor<?x256xf32>) outs(%init : tensor<?x256xf32>) -> tensor<?x256xf32>
  %y = linalg.matmul indexing_maps = [#x, #w, #y]
         ins(%x, %w : tensor<?x256xf32>, tensor<64x256xf32>)
         outs(%start : tensor<?x64xf32>) -> tensor<?x64xf32>
  uprog.yield %y : tensor<?x64xf32>
}
