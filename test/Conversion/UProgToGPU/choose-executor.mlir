// RUN: batch-opt %s --uprog-stage-operators=target=gpu --batch-choose-executor=instances=1 --split-input-file -o /dev/null \
// RUN:   --remark-format=emitRemark --remarks-filter=batch 2>&1 | FileCheck %s --check-prefix=ANY
// RUN: batch-opt %s --uprog-stage-operators=target=gpu --split-input-file -o /dev/null \
// RUN:   --batch-choose-executor="instances=1 chip=sm_90a shared-memory=232448 blocks=132" \
// RUN:   --remark-format=emitRemark --remarks-filter=batch 2>&1 | FileCheck %s --check-prefix=SM90
// RUN: batch-opt %s --uprog-stage-operators=target=gpu --split-input-file -o /dev/null \
// RUN:   --batch-choose-executor="instances=64 chip=sm_90a shared-memory=232448 blocks=132" \
// RUN:   --remark-format=emitRemark --remarks-filter=batch 2>&1 | FileCheck %s --check-prefix=MANY
// RUN: batch-opt %s --uprog-stage-operators=target=gpu --split-input-file -o /dev/null \
// RUN:   --batch-choose-executor="instances=1 chip=sm_90a cluster-size=4" \
// RUN:   --remark-format=emitRemark --remarks-filter=batch 2>&1 | FileCheck %s --check-prefix=FOUR
// RUN: batch-opt %s --uprog-stage-operators=target=gpu --batch-choose-executor=executor=cluster --split-input-file -o /dev/null \
// RUN:   --remark-format=emitRemark --remarks-filter=batch 2>&1 | FileCheck %s --check-prefix=GIVEN
// RUN: batch-opt %s --uprog-stage-operators=target=gpu --split-input-file \
// RUN:   --batch-choose-executor="instances=1 chip=sm_90a shared-memory=232448 blocks=132" | FileCheck %s
// RUN: batch-opt %s --uprog-stage-operators=target=gpu --batch-choose-executor=executor=cluster --split-input-file \
// RUN:   | FileCheck %s --check-prefix=EIGHT
// RUN: batch-opt %s --uprog-stage-operators=target=gpu --batch-choose-executor="executor=cluster cluster-size=12" \
// RUN:   --split-input-file | FileCheck %s --check-prefix=TWELVE
// EIGHT: module attributes {uprog.cluster_size = 8 : i64}
// TWELVE: module attributes {uprog.cluster_size = 12 : i64}

#x = affine_map<(r, n, k) -> (r, k)>
#w = affine_map<(r, n, k) -> (n, k)>
#y = affine_map<(r, n, k) -> (r, n)>

// A block keeps all weights, and its barrier costs almost nothing. Barriers of the whole
// group get the chosen level. Many instances form a single plan for the device, but many
// plans for smaller units.
// ANY:   Executor {{.*}}program @small: executor block, which takes the fewest estimated cycles for steps of 1 instances, or at most 5 % more: block [[#]], device [[#]]"
// SM90:  Executor {{.*}} @small: executor block, which takes the fewest estimated cycles for steps of 1 instances, or at most 5 % more: block [[#]], cluster of 8 [[#]], cluster of 16 [[#]], device [[#]]"
// MANY:  Executor {{.*}} @small: executor device, which takes the fewest estimated cycles for steps of 64 instances, or at most 5 % more: block
// FOUR:  Executor {{.*}} @small: executor block, {{.*}}: block [[#]], cluster of 4 [[#]], device [[#]]"
// GIVEN: Executor {{.*}}program @small: executor cluster of 8, as specified by option 'executor'
// CHECK-NOT:  uprog.cluster_size
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

// The weights exceed the shared memory of a block.
// ANY:   Executor {{.*}} @medium: executor device
// SM90:  Executor {{.*}} @medium: executor cluster of 16
// MANY:  Executor {{.*}} @medium: executor device
// CHECK:      module attributes {uprog.cluster_size = 16 : i64}
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

// The weights exceed the memory of a cluster, so a cluster would read the remaining weights at each step.
// ANY:   Executor {{.*}} @large: executor device
// SM90:  Executor {{.*}} @large: executor device
// CHECK-NOT:  uprog.cluster_size
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

// A task, which is a product of two matrices, takes too long for one block.
// ANY:   Executor {{.*}} @long: executor device
// SM90:  Executor {{.*}} @long: executor cluster of 16
// CHECK:      module attributes {uprog.cluster_size = 16 : i64}
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

// Blocks run tasks of a program, so a larger group runs the plan. The program of
// the tasks remains unchanged. If there are no operators, steps and barriers
// determine the costs.
// ANY:   Executor {{.*}}program @main.execute: executor device, {{.*}}: device [[#]]"
// ANY-NOT: @one
// SM90:  Executor {{.*}}program @main.execute: executor cluster of 16, {{.*}}: cluster of 8 [[#]], cluster of 16 [[#]], device [[#]]"
// MANY:  Executor {{.*}}program @main.execute: executor device
// GIVEN: Executor {{.*}}program @main.execute: executor cluster of 8, as specified by option 'executor'
// CHECK:      module attributes {uprog.cluster_size = 16 : i64}
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
