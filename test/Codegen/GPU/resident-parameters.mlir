// RUN: batch-opt %s --uprog-stage-operators=target=gpu --convert-operators-to-gpu=blocks=4 --canonicalize --cse --split-input-file | FileCheck %s
// RUN: batch-opt %s --uprog-stage-operators=target=gpu --convert-operators-to-gpu="blocks=1 shared-memory=40960" --canonicalize --cse --split-input-file \
// RUN:   | FileCheck %s --check-prefix=WHOLE
// RUN: batch-opt %s --uprog-stage-operators=target=gpu --convert-operators-to-gpu=async-copies=false --canonicalize --cse --split-input-file \
// RUN:   | FileCheck %s --check-prefix=PLAIN
// RUN: batch-opt %s --uprog-stage-operators=target=gpu --convert-operators-to-gpu=shared-memory=0 --canonicalize --cse --split-input-file \
// RUN:   | FileCheck %s --check-prefix=NONE

#x = affine_map<(r, n, k) -> (r, k)>
#w = affine_map<(r, n, k) -> (n, k)>
#y = affine_map<(r, n, k) -> (r, n)>

// A launch adds memory for resident parameters, sums and rows, in this order.
// CHECK:       gpu.module @device attributes {batch.added_bytes = 41984 : i64
// CHECK-NEXT:    llvm.mlir.global external @block_memory() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<0 x i8>

// With four blocks, a block keeps two of the eight tiles of columns. If it has more tiles at
// the launch, it reads the additional tiles from global memory.
// CHECK-LABEL:   func.func private @cell.rows.stage0(
// CHECK:           %[[MEMORY:.*]] = llvm.mlir.addressof @block_memory : !llvm.ptr<3>
// CHECK:           uprog.await_rows
// CHECK:           llvm.getelementptr %[[MEMORY]][9216]
// CHECK:           nvvm.cp.async.shared.global %{{.*}}, %{{.*}}, 16, cache = cg
// CHECK:           nvvm.cp.async.commit.group
// CHECK-NEXT:      nvvm.cp.async.wait.group 0
// CHECK-NEXT:      gpu.barrier
// CHECK:           %[[SUMS:.*]] = llvm.getelementptr %[[MEMORY]][8192]
// CHECK:           scf.for
// CHECK:           %[[TURN:.*]] = arith.addi
// CHECK:           %[[RESIDENT:.*]] = arith.cmpi slt, %[[TURN]], %c2_i32
// CHECK-NEXT:      scf.if %[[RESIDENT]] -> (f32)
// CHECK:             %[[BYTES32:.*]] = arith.muli %[[TURN]], %c4096_i32
// CHECK-NEXT:        %[[BYTES:.*]] = arith.extui %[[BYTES32]]
// CHECK-NEXT:        llvm.getelementptr %[[MEMORY]][%[[BYTES]]]
// CHECK-NOT:         !llvm.ptr<1> -> vector
// CHECK-COUNT-3:     llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<3> -> vector<4xf32>
// CHECK:             math.fma
// CHECK:           } else {
// CHECK-COUNT-2:     llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xf32>
// CHECK:             math.fma

// All threads of a block copy its tiles, 16 bytes each. They do not wait: the
// kernel continues until it needs the tiles.
// CHECK-LABEL:   func.func private @load_parameters(
// CHECK-SAME:        %[[FORMS:.*]]: !llvm.ptr<1>, %[[UNIT64:.*]]: i64, %[[UNITS64:.*]]: i64) attributes {
// CHECK:           %[[THREAD:.*]] = arith.index_cast
// CHECK-DAG:       %[[UNIT:.*]] = arith.trunci %[[UNIT64]]
// CHECK-DAG:       %[[UNITS:.*]] = arith.trunci %[[UNITS64]]
// CHECK:           %[[ACROSS:.*]] = arith.minsi %{{.*}}, %c8_i32
// CHECK:           %[[COUNT:.*]] = arith.minsi %{{.*}}, %c2_i32
// CHECK-NEXT:      scf.for %[[TURN:.*]] = %c0_i32 to %[[COUNT]] step %c1_i32
// CHECK:             arith.muli %[[TURN]], %[[ACROSS]]
// CHECK:             scf.for %{{.*}} = %[[THREAD]] to %{{.*}} step %c256
// CHECK:               nvvm.cp.async.shared.global %{{.*}}, %{{.*}}, 16, cache = cg
// CHECK:           nvvm.cp.async.commit.group
// CHECK-NEXT:      return

// On chips without asynchronous copies, threads load and store the tiles.
// PLAIN-NOT:     nvvm
// PLAIN-LABEL:   func.func private @cell.rows.stage0(
// PLAIN:           gpu.barrier
// PLAIN:         func.func private @load_parameters(
// PLAIN:           %[[VALUE:.*]] = llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xf32>
// PLAIN:           llvm.store %[[VALUE]], %{{.*}} {alignment = 16 : i64} : vector<4xf32>, !llvm.ptr<3>
// PLAIN-NOT:     nvvm

// If all tiles are resident, the code needs no condition. Sums and four rows leave enough of
// 40960 bytes for eight tiles of 4096 bytes.
// WHOLE-LABEL:   func.func private @cell.rows.stage0(
// WHOLE-NOT:       -> (f32)
// WHOLE:           math.fma
// WHOLE-NOT:       !llvm.ptr<1> -> vector<4xf32>
// WHOLE:         func.func private @load_parameters(

// Without resident parameters, rows are also copied in the background.
// NONE-NOT:      load_parameters
// NONE-LABEL:    func.func private @cell.rows.stage0(
// NONE:            nvvm.cp.async.wait.group 0
uprog.operator @cell.rows(%n: index, %x: tensor<?x128xf32> {uprog.operand = #uprog.operand<gather>},
                          %w: tensor<64x128xf32> {uprog.operand = #uprog.operand<shared(0)>})
    -> tensor<?x64xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty(%n) : tensor<?x64xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x64xf32>) -> tensor<?x64xf32>
  %y = linalg.matmul indexing_maps = [#x, #w, #y]
         ins(%x, %w : tensor<?x128xf32>, tensor<64x128xf32>)
         outs(%start : tensor<?x64xf32>) -> tensor<?x64xf32>
  uprog.yield %y : tensor<?x64xf32>
}

// -----

#x = affine_map<(r, n, k) -> (r, k)>
#w = affine_map<(r, n, k) -> (n, k)>
#y = affine_map<(r, n, k) -> (r, n)>

// Each of three columns of six elements begins at a vector boundary, so zeros fill the gaps.
// Sums begin after the columns.
// CHECK:         gpu.module @device attributes {batch.added_bytes = 3168 : i64
// CHECK-LABEL:   func.func private @narrow.rows.stage0
// CHECK:           llvm.getelementptr %{{.*}}[1120] : (!llvm.ptr<3>)
// CHECK:           gpu.barrier
// CHECK:           llvm.getelementptr %{{.*}}[96] : (!llvm.ptr<3>)
// CHECK-NOT:       !llvm.ptr<1> -> vector
// CHECK-COUNT-3:   llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<3> -> vector<4xf32>
// CHECK-LABEL:   func.func private @load_parameters(
// CHECK:           %[[REST:.*]] = arith.subi %c3_i64, %{{.*}}
// CHECK-NEXT:      %[[COLUMNS:.*]] = arith.minsi %[[REST]], %{{.*}}
// CHECK:           %[[SIZE:.*]] = arith.muli %[[COLUMNS]], %c6_i64
// CHECK:           scf.for %[[I:.*]] = %{{.*}} to %[[SIZE]]
// CHECK:             %[[COLUMN:.*]] = arith.divui %[[I]], %c6_i64
// CHECK:             arith.muli %[[COLUMN]], %c24_i64
// CHECK:             arith.muli %[[COLUMN]], %c32_i64
// CHECK:             nvvm.cp.async.shared.global %{{.*}}, %{{.*}}, 4, cache = ca
// CHECK:           %[[ZEROS:.*]] = arith.muli %[[COLUMNS]], %c2_i64
// CHECK:           scf.for %{{.*}} = %{{.*}} to %[[ZEROS]]
// CHECK:             llvm.store %{{cst.*}}, %{{.*}} : f32, !llvm.ptr<3>
uprog.operator @narrow.rows(%n: index, %x: tensor<?x6xf32> {uprog.operand = #uprog.operand<gather>},
                            %w: tensor<3x6xf32> {uprog.operand = #uprog.operand<shared(0)>})
    -> tensor<?x3xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty(%n) : tensor<?x3xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x3xf32>) -> tensor<?x3xf32>
  %y = linalg.matmul indexing_maps = [#x, #w, #y]
         ins(%x, %w : tensor<?x6xf32>, tensor<3x6xf32>)
         outs(%start : tensor<?x3xf32>) -> tensor<?x3xf32>
  uprog.yield %y : tensor<?x3xf32>
}

// -----

#x = affine_map<(r, n, k) -> (r, k)>
#w = affine_map<(r, n, k) -> (n, k)>
#y = affine_map<(r, n, k) -> (r, n)>

// The blocks of a cluster share the columns of its tasks: each of eight blocks
// keeps four of 32 tiles, whatever the level of the program that runs the tasks.
// An attribute of @load_parameters specifies level `cluster`.
// CHECK:         gpu.module @device attributes {batch.added_bytes = 99328 : i64
// CHECK:           llvm.getelementptr %{{.*}}[65536] : (!llvm.ptr<3>)
// CHECK-LABEL:   func.func private @load_parameters({{.*}}uprog.level = "cluster"
module attributes {uprog.cluster_size = 8 : i64} {
uprog.operator @cell.rows(%n: index, %x: tensor<?x128xf32> {uprog.operand = #uprog.operand<gather>},
                          %w: tensor<1024x128xf32> {uprog.operand = #uprog.operand<shared(0)>})
    -> tensor<?x1024xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty(%n) : tensor<?x1024xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x1024xf32>) -> tensor<?x1024xf32>
  %y = linalg.matmul indexing_maps = [#x, #w, #y]
         ins(%x, %w : tensor<?x128xf32>, tensor<1024x128xf32>)
         outs(%start : tensor<?x1024xf32>) -> tensor<?x1024xf32>
  uprog.yield %y : tensor<?x1024xf32>
}
uprog.program @task(%task: index, %plan: !batch.plan) level(cluster) {
  %step = uprog.plan_step %plan[%task]
  %n = uprog.step_tasks %step
  uprog.run @cell.rows step(%step) tasks(%n)
  uprog.yield
}
uprog.program @main.execute(%plan: !batch.plan) level(device) {
  %n = uprog.plan_size %plan
  uprog.run @task(%plan) tasks(%n) : !batch.plan
  uprog.yield
}
}

// -----

#x = affine_map<(r, n, k) -> (r, k)>
#w = affine_map<(r, n, k) -> (n, k)>
#y = affine_map<(r, n, k) -> (r, n)>

// Programs of two levels run the operator with different shares, so no parameter is resident.
// CHECK-LABEL:   func.func private @both.rows.stage0
// CHECK-NOT:       load_parameters
uprog.operator @both.rows(%n: index, %x: tensor<?x128xf32> {uprog.operand = #uprog.operand<gather>},
                          %w: tensor<64x128xf32> {uprog.operand = #uprog.operand<shared(0)>})
    -> tensor<?x64xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty(%n) : tensor<?x64xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x64xf32>) -> tensor<?x64xf32>
  %y = linalg.matmul indexing_maps = [#x, #w, #y]
         ins(%x, %w : tensor<?x128xf32>, tensor<64x128xf32>)
         outs(%start : tensor<?x64xf32>) -> tensor<?x64xf32>
  uprog.yield %y : tensor<?x64xf32>
}
uprog.program @task(%task: index, %plan: !batch.plan) level(block) {
  %step = uprog.plan_step %plan[%task]
  %n = uprog.step_tasks %step
  uprog.run @both.rows step(%step) tasks(%n)
  uprog.yield
}
uprog.program @main.execute(%plan: !batch.plan) level(device) {
  %n = uprog.plan_size %plan
  uprog.run @task(%plan) tasks(%n) : !batch.plan
  %zero = arith.constant 0 : index
  %step = uprog.plan_step %plan[%zero]
  uprog.run @both.rows step(%step) tasks(%n)
  uprog.yield
}
