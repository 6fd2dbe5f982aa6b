// RUN: not batch-opt %s --uprog-stage-operators=target=gpu --convert-operators-to-gpu 2>&1 | FileCheck %s
// RUN: echo 'gpu.module @device {} uprog.program @p() level(cluster) {uprog.yield}' > %t.mlir
// RUN: not batch-opt %t.mlir --convert-uprog-to-gpu 2>&1 | FileCheck %s
// CHECK: error: cluster-level programs require attribute uprog.cluster_size; run batch-choose-executor first

uprog.operator @k.rows(%n: index, %x: tensor<?x4xf32> {uprog.operand = #uprog.operand<gather>})
    -> tensor<?x4xf32> {
  uprog.yield %x : tensor<?x4xf32>
}
uprog.program @main.execute(%plan: !batch.plan) level(cluster) {
  %zero = arith.constant 0 : index
  %step = uprog.plan_step %plan[%zero]
  %n = uprog.step_tasks %step
  uprog.run @k.rows step(%step) tasks(%n)
  uprog.yield
}
