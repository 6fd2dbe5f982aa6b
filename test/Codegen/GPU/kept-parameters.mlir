// RUN: batch-opt %s --uprog-stage-operators=target=gpu --convert-operators-to-gpu=blocks=4 --split-input-file | FileCheck %s
// RUN: batch-opt %s --uprog-stage-operators=target=gpu --convert-operators-to-gpu="blocks=1 shared-memory=32768" --split-input-file \
// RUN:   | FileCheck %s --check-prefix=WHOLE
// RUN: batch-opt %s --uprog-stage-operators=target=gpu --convert-operators-to-gpu=async-copies=false --split-input-file \
// RUN:   | FileCheck %s --check-prefix=PLAIN
// RUN: batch-opt %s --uprog-stage-operators=target=gpu --convert-operators-to-gpu=shared-memory=0 --split-input-file \
// RUN:   | FileCheck %s --check-prefix=NONE

#x = affine_map<(r, n, k) -> (r, k)>
#w = affine_map<(r, n, k) -> (n, k)>
#y = affine_map<(r, n, k) -> (r, n)>

// A launch adds the memory.
// CHECK:       gpu.module @device
// CHECK-NEXT:    llvm.mlir.global external @parameters() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<0 x i8>

// With four blocks a block has two of the eight tiles of columns. If it has
// more when the kernel is launched, the others are read from global memory.
// CHECK-LABEL:   func.func private @cell.rows.stage0(
// CHECK-DAG:       %[[C0:.*]] = arith.constant 0 : i64
// CHECK-DAG:       %[[C1:.*]] = arith.constant 1 : i64
// CHECK-DAG:       %[[C2:.*]] = arith.constant 2 : i64
// CHECK-DAG:       %[[C4096:.*]] = arith.constant 4096 : i64
// CHECK:           nvvm.cp.async.wait.group 0
// CHECK-NEXT:      gpu.barrier
// CHECK:           %[[ACROSS:.*]] = arith.minsi %{{.*}}, %{{.*}} : i64
// CHECK:           scf.for %{{.*}} = %[[C0]] to
// CHECK:             %[[TURN:.*]] = arith.extui
// CHECK:             arith.muli %[[TURN]], %[[ACROSS]]
// CHECK:             %[[KEPT:.*]] = arith.cmpi slt, %[[TURN]], %[[C2]]
// CHECK:             %[[SUMS:.*]]:32 = scf.if %[[KEPT]] ->
// CHECK:               %[[MEMORY:.*]] = llvm.mlir.addressof @parameters : !llvm.ptr<3>
// CHECK:               %[[BYTES:.*]] = arith.muli %[[TURN]], %[[C4096]]
// CHECK:               llvm.getelementptr %[[MEMORY]][%[[BYTES]]]
// CHECK:               scf.for
// CHECK:                 llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<3> -> vector<4xf32>
// CHECK:                 math.fma
// CHECK:             } else {
// CHECK-NOT:           !llvm.ptr<3>
// CHECK:               math.fma
// CHECK:             }
// CHECK:             arith.select %{{.*}}, %[[SUMS]]#16, %[[SUMS]]#0

// All threads of a block copy its tiles, 16 bytes each. They do not wait: the
// kernel goes on until it needs them.
// CHECK-LABEL:   func.func private @load_parameters(
// CHECK-SAME:        %[[FORMS:.*]]: !llvm.ptr<1>, %[[UNIT:.*]]: i64, %[[UNITS:.*]]: i64) attributes {batch.kept_bytes = 8192 : i64
// CHECK-DAG:       %[[C2:.*]] = arith.constant 2 : i64
// CHECK-DAG:       %[[C8:.*]] = arith.constant 8 : i64
// CHECK-DAG:       %[[C256:.*]] = arith.constant 256 : i64
// CHECK:           %[[THREAD:.*]] = arith.index_cast
// CHECK:           %[[ACROSS:.*]] = arith.minsi %[[UNITS]], %[[C8]]
// CHECK:           %[[FIRST:.*]] = arith.remui %[[UNIT]], %[[ACROSS]]
// CHECK:           %[[TILES:.*]] = arith.muli %[[ACROSS]], %[[C2]]
// CHECK:           %[[BEHIND:.*]] = arith.addi %[[FIRST]], %[[TILES]]
// CHECK:           %[[END:.*]] = arith.minsi %[[BEHIND]], %[[C8]]
// CHECK:           scf.for %{{.*}} = %[[FIRST]] to %[[END]] step %[[ACROSS]]
// CHECK:             scf.for %{{.*}} = %[[THREAD]] to %{{.*}} step %[[C256]]
// CHECK:               nvvm.cp.async.shared.global %{{.*}}, %{{.*}}, 16, cache = cg
// CHECK:           nvvm.cp.async.commit.group
// CHECK-NEXT:      return

// Chips without such copies load and store.
// PLAIN-NOT:     nvvm
// PLAIN-LABEL:   func.func private @cell.rows.stage0(
// PLAIN:           gpu.barrier
// PLAIN:         func.func private @load_parameters(
// PLAIN:           %[[VALUE:.*]] = llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xf32>
// PLAIN:           llvm.store %[[VALUE]], %{{.*}} {alignment = 16 : i64} : vector<4xf32>, !llvm.ptr<3>
// PLAIN-NOT:     nvvm

// Where all tiles are kept there is nothing to ask.
// WHOLE-LABEL:   func.func private @cell.rows.stage0(
// WHOLE-NOT:       scf.if %{{.*}} -> (f32, f32
// WHOLE:           llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<3> -> vector<4xf32>
// WHOLE:           math.fma
// WHOLE-NOT:       } else {
// WHOLE:           gpu.shuffle
// WHOLE:         func.func private @load_parameters({{.*}}batch.kept_bytes = 32768 : i64

// NONE-NOT:      weights
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

// Three columns of six, which begin at whole vectors.
// CHECK-LABEL:   func.func private @narrow.rows.stage0
// CHECK-NOT:       llvm.load %{{.*}} : !llvm.ptr<3> -> vector
// CHECK-COUNT-8:   llvm.load %{{.*}} : !llvm.ptr<3> -> f32
// CHECK-LABEL:   func.func private @load_parameters({{.*}}batch.kept_bytes = 96 : i64
// CHECK-DAG:       %[[C3:.*]] = arith.constant 3 : i64
// CHECK-DAG:       %[[C6:.*]] = arith.constant 6 : i64
// CHECK-DAG:       %[[C24:.*]] = arith.constant 24 : i64
// CHECK-DAG:       %[[C32:.*]] = arith.constant 32 : i64
// CHECK:           %[[REST:.*]] = arith.subi %[[C3]], %{{.*}}
// CHECK:           %[[COLUMNS:.*]] = arith.minsi %[[REST]], %{{.*}}
// CHECK:           %[[SIZE:.*]] = arith.muli %[[COLUMNS]], %[[C6]]
// CHECK:           scf.for %[[I:.*]] = %{{.*}} to %[[SIZE]]
// CHECK:             %[[COLUMN:.*]] = arith.divui %[[I]], %[[C6]]
// CHECK:             arith.muli %[[COLUMN]], %[[C24]]
// CHECK:             arith.muli %[[COLUMN]], %[[C32]]
// CHECK:             nvvm.cp.async.shared.global %{{.*}}, %{{.*}}, 4, cache = ca
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

// The blocks of a cluster share out the columns of its tasks: eight keep four of 32 tiles
// each, whatever the level of the program that runs the tasks. Its function says so.
// CHECK-LABEL:   func.func private @load_parameters({{.*}}batch.kept_bytes = 65536 : i64
// CHECK-SAME:        uprog.level = "cluster"
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

// -----

#x = affine_map<(r, n, k) -> (r, k)>
#w = affine_map<(r, n, k) -> (n, k)>
#y = affine_map<(r, n, k) -> (r, n)>

// A share of blocks of two levels would be two shares.
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
