// RUN: batch-opt %s --uprog-stage-operators=target=gpu --batch-choose-executor --split-input-file -o /dev/null \
// RUN:   --remark-format=emitRemark --remarks-filter=batch 2>&1 | FileCheck %s --check-prefix=ANY
// RUN: batch-opt %s --uprog-stage-operators=target=gpu --batch-choose-executor=chip=sm_80 --split-input-file -o /dev/null \
// RUN:   --remark-format=emitRemark --remarks-filter=batch 2>&1 | FileCheck %s --check-prefix=SM80
// RUN: batch-opt %s --uprog-stage-operators=target=gpu --batch-choose-executor=chip=sm_90a --split-input-file -o /dev/null \
// RUN:   --remark-format=emitRemark --remarks-filter=batch 2>&1 | FileCheck %s --check-prefix=SM90
// RUN: batch-opt %s --uprog-stage-operators=target=gpu --batch-choose-executor=executor=cluster --split-input-file -o /dev/null \
// RUN:   --remark-format=emitRemark --remarks-filter=batch 2>&1 | FileCheck %s --check-prefix=GIVEN
// RUN: batch-opt %s --uprog-stage-operators=target=gpu --batch-choose-executor=chip=sm_90a --split-input-file | FileCheck %s

#x = affine_map<(r, n, k) -> (r, k)>
#w = affine_map<(r, n, k) -> (n, k)>
#y = affine_map<(r, n, k) -> (r, n)>

// A block holds all weights and is done with a task before all blocks have met.
// Barriers of the whole group follow.
// ANY:   Executor {{.*}}program @small: executor block, 16384 bytes of parameters fit in a block's 101376 bytes of shared memory, and it computes the 8192 FLOP of a task's largest stage during a barrier in global memory
// SM80:  Executor {{.*}} @small: executor block, 16384 bytes of parameters fit in a block's 166912 bytes
// SM90:  Executor {{.*}} @small: executor block, 16384 bytes of parameters fit in a block's 232448 bytes
// GIVEN: Executor {{.*}}program @small: executor cluster, as the option says
// CHECK:      uprog.program @small() level(block) {
// CHECK-NEXT: uprog.barrier block
// CHECK-NEXT: uprog.barrier block
uprog.operator @k.rows(%n: index, %x: tensor<?x64xf32> {uprog.operand = #uprog.operand<gather>},
                       %w: tensor<64x64xf32> {uprog.operand = #uprog.operand<shared(0)>}) -> tensor<?x64xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty(%n) : tensor<?x64xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x64xf32>) -> tensor<?x64xf32>
  %r = linalg.matmul indexing_maps = [#x, #w, #y] ins(%x, %w : tensor<?x64xf32>, tensor<64x64xf32>)
      outs(%start : tensor<?x64xf32>) -> tensor<?x64xf32>
  uprog.yield %r : tensor<?x64xf32>
}
uprog.program @small() level(device) {
  uprog.barrier device
  uprog.barrier block
  uprog.yield
}

// -----

#x = affine_map<(r, n, k) -> (r, k)>
#w = affine_map<(r, n, k) -> (n, k)>
#y = affine_map<(r, n, k) -> (r, n)>

// More weights than a block can hold.
// ANY:   Executor {{.*}} executor device, 262144 bytes of parameters are more than a block's 101376 bytes of shared memory, and not every chip has clusters
// SM80:  Executor {{.*}} executor device, 262144 bytes of parameters are more than a block's 166912 bytes of shared memory, and the chip has no clusters
// SM90:  Executor {{.*}} executor cluster, 262144 bytes of parameters fit in a cluster's 1859584 bytes of shared memory, and it computes the 131072 FLOP of a task's largest stage during a barrier in global memory
// CHECK:      uprog.program @medium() level(cluster) {
// CHECK-NEXT: uprog.barrier cluster
// CHECK-NEXT: uprog.barrier block
uprog.operator @k.rows(%n: index, %x: tensor<?x256xf32> {uprog.operand = #uprog.operand<gather>},
                       %w: tensor<256x256xf32> {uprog.operand = #uprog.operand<shared(0)>}) -> tensor<?x256xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty(%n) : tensor<?x256xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x256xf32>) -> tensor<?x256xf32>
  %r = linalg.matmul indexing_maps = [#x, #w, #y] ins(%x, %w : tensor<?x256xf32>, tensor<256x256xf32>)
      outs(%start : tensor<?x256xf32>) -> tensor<?x256xf32>
  uprog.yield %r : tensor<?x256xf32>
}
uprog.program @medium() level(device) {
  uprog.barrier device
  uprog.barrier block
  uprog.yield
}

// -----

#x = affine_map<(r, n, k) -> (r, k)>
#w = affine_map<(r, n, k) -> (n, k)>
#y = affine_map<(r, n, k) -> (r, n)>

// More than a cluster can.
// SM80:  Executor {{.*}} executor device, 4194304 bytes of parameters are more than a block's
// SM90:  Executor {{.*}} executor device, 4194304 bytes of parameters are more than a cluster's 1859584 bytes of shared memory"
// CHECK:      uprog.program @large() level(device) {
// CHECK-NEXT: uprog.barrier device
uprog.operator @k.rows(%n: index, %x: tensor<?x1024xf32> {uprog.operand = #uprog.operand<gather>},
                       %w: tensor<1024x1024xf32> {uprog.operand = #uprog.operand<shared(0)>}) -> tensor<?x1024xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty(%n) : tensor<?x1024xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x1024xf32>) -> tensor<?x1024xf32>
  %r = linalg.matmul indexing_maps = [#x, #w, #y] ins(%x, %w : tensor<?x1024xf32>, tensor<1024x1024xf32>)
      outs(%start : tensor<?x1024xf32>) -> tensor<?x1024xf32>
  uprog.yield %r : tensor<?x1024xf32>
}
uprog.program @large() level(device) {
  uprog.barrier device
  uprog.barrier block
  uprog.yield
}

// -----

#x = affine_map<(r, m, n, k) -> (r, m, k)>
#w = affine_map<(r, m, n, k) -> (n, k)>
#y = affine_map<(r, m, n, k) -> (r, m, n)>

// A task that is too long for one block: each is a product of two matrices.
// SM80:  Executor {{.*}} executor device, 524288 FLOP in a task's largest stage are more than the 262144 that a block computes during a barrier in global memory, and the chip has no clusters
// SM90:  Executor {{.*}} executor cluster, 16384 bytes of parameters fit in a cluster's
// CHECK:      uprog.program @long() level(cluster)
uprog.operator @k.rows(%n: index, %x: tensor<?x64x64xf32> {uprog.operand = #uprog.operand<gather>},
                       %w: tensor<64x64xf32> {uprog.operand = #uprog.operand<shared(0)>}) -> tensor<?x64x64xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty(%n) : tensor<?x64x64xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x64x64xf32>) -> tensor<?x64x64xf32>
  %r = linalg.generic {indexing_maps = [#x, #w, #y],
                       iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<?x64x64xf32>, tensor<64x64xf32>)
      outs(%start : tensor<?x64x64xf32>) {
    ^bb0(%a: f32, %b: f32, %sum: f32):
      %p = arith.mulf %a, %b : f32
      %s = arith.addf %sum, %p : f32
      linalg.yield %s : f32
  } -> tensor<?x64x64xf32>
  uprog.yield %r : tensor<?x64x64xf32>
}
uprog.program @long() level(device) {
  uprog.barrier device
  uprog.barrier block
  uprog.yield
}

// -----

// Blocks run tasks of a program, so a larger group runs the plan; the program that
// they run stays as it is.
// ANY:   Executor {{.*}}program @main.execute: executor device, blocks run tasks of programs, and not every chip has clusters
// ANY-NOT: @one
// SM80:  Executor {{.*}}program @main.execute: executor device, blocks run tasks of programs, and the chip has no clusters
// SM90:  Executor {{.*}}program @main.execute: executor cluster, 0 bytes of parameters fit in a cluster's
// GIVEN: Executor {{.*}}program @main.execute: executor cluster, as the option says
// CHECK:      uprog.program @one(%{{.*}}: index) level(block) {
// CHECK-NEXT: uprog.barrier block
// CHECK:      uprog.program @main.execute(%{{.*}}: !batch.plan) level(cluster) {
// CHECK:      uprog.barrier cluster
uprog.program @one(%task: index) level(block) {
  uprog.barrier block
  uprog.yield
}
uprog.program @main.execute(%plan: !batch.plan) level(device) {
  %steps = uprog.plan_size %plan
  uprog.run @one tasks(%steps)
  uprog.barrier device
  uprog.yield
}
