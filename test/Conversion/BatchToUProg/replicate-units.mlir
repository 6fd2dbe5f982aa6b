// RUN: batch-opt %s --split-input-file --batch-replicate=instances=1 | FileCheck %s
// RUN: batch-opt %s --split-input-file --batch-replicate=instances=1 -o /dev/null \
// RUN:   --remark-format=emitRemark --remarks-filter=batch 2>&1 \
// RUN:   | FileCheck %s --check-prefix=REMARK
// RUN: batch-opt %s --split-input-file --batch-replicate=instances=2 -o /dev/null \
// RUN:   --remark-format=emitRemark --remarks-filter=batch 2>&1 \
// RUN:   | FileCheck %s --check-prefix=TWO
// RUN: echo '{"version": 1, "kernels": {"add": {"units": "all"}, "product": {"units": "one"}}}' \
// RUN:   > %t.json
// RUN: batch-opt %s --split-input-file \
// RUN:   --batch-replicate="level=device instances=1 tuning=%t.json" \
// RUN:   | FileCheck %s --check-prefix=TUNED
// RUN: echo '{"version": 1, "level": "block"}' > %t.block.json
// RUN: batch-opt %s --split-input-file --batch-replicate="instances=1 tuning=%t.block.json" \
// RUN:   | FileCheck %s --check-prefix=BLOCK --implicit-check-not=all_units
// RUN: batch-opt %s --split-input-file --batch-replicate="level=cluster instances=2" \
// RUN:   | FileCheck %s --check-prefix=CLUSTER --implicit-check-not=all_units --implicit-check-not=.set
// RUN: echo '{"version": 1, "level": "cluster", "kernels": {"add": {"units": "one"}}}' > %t.cluster.json
// RUN: batch-opt %s --split-input-file --batch-replicate="tuning=%t.cluster.json" \
// RUN:   | FileCheck %s --check-prefixes=CLUSTER,ADD
// RUN: batch-opt %s --split-input-file --batch-replicate="instances=16 gpu cluster-size=8" \
// RUN:   | FileCheck %s --check-prefix=CHOSEN
// RUN: batch-opt %s --split-input-file --batch-replicate="instances=16 gpu cluster-size=8" -o /dev/null \
// RUN:   --remark-format=emitRemark --remarks-filter=batch 2>&1 \
// RUN:   | FileCheck %s --check-prefix=EIGHT
// RUN: not batch-opt %s --split-input-file --batch-replicate=cluster-size=-1 2>&1 \
// RUN:   | FileCheck %s --check-prefix=NEGATIVE
// RUN: not batch-opt %s --split-input-file --batch-replicate=rounds=0 2>&1 \
// RUN:   | FileCheck %s --check-prefix=ROUNDS
// Workers of a CPU do not form clusters.
// RUN: batch-opt %s --split-input-file --batch-replicate="instances=16 cluster-size=8" \
// RUN:   | FileCheck %s --check-prefix=NOGPU --implicit-check-not=cluster
// NOGPU: uprog.program @main.execute
// ROUNDS: error: rounds must be at least 1
// NEGATIVE: error: cluster-size must be at least 0 (0: no clusters)

// All units share a product. Then one unit runs the loop of small steps by itself, so no barrier
// is needed between rounds. If there are more instances
// than units, each unit runs the same number of instances by itself. All units together run
// the remaining instances.
// REMARK: Units | {{.*}}all units run instances one after another: an instance takes about {{.*}} us on one unit, {{.*}} us on 4 that share all steps, {{.*}} us if one of them runs 1 of 3 steps by itself
// TWO: Units | {{.*}}each unit runs its own instances, and all units run the remaining ones together: an instance takes about
// TWO: Units | {{.*}}2 instances take about {{.*}} us with one unit each, {{.*}} us one after another on all units, {{.*}} us in sets of 2
// CHECK:       uprog.program @main.instance(%{{.*}}: index) level(block)
// CHECK-NOT:     level(block)
// CHECK:       uprog.program @main.instance.all_units(%{{.*}}: index) level(device)
// CHECK:         uprog.run @product.rows step(%{{.*}}) tasks(%{{[^)]*}}){{$}}
// CHECK:         uprog.for
// CHECK:           uprog.run @add.rows step(%{{.*}}) tasks(%{{.*}}) level(block)
// CHECK:         uprog.run @product.rows step(%{{.*}}) tasks(%{{[^)]*}}){{$}}
// CHECK-LABEL: uprog.program @main.execute
// CHECK-NEXT:    %[[COUNT:.*]] = uprog.instances
// CHECK:         %[[UNITS:.*]] = uprog.units
// CHECK-NEXT:    %[[REST:.*]] = arith.remui %[[COUNT]], %[[UNITS]]
// CHECK-NEXT:    %[[FIRST:.*]] = arith.subi %[[COUNT]], %[[REST]]
// CHECK-NEXT:    uprog.run @main.instance tasks(%[[FIRST]])
// CHECK-NEXT:    uprog.for %{{.*}} = %[[FIRST]] to %[[COUNT]] {
// CHECK-NEXT:      uprog.ref @main.instance.all_units
// TUNED:       uprog.program @main.instance.all_units
// TUNED:         uprog.run @product.rows step(%{{.*}}) tasks(%{{.*}}) level(block)
// TUNED:         uprog.run @add.rows step(%{{.*}}) tasks(%{{[^)]*}}){{$}}
// BLOCK:       uprog.run @main.instance tasks
// Each cluster runs its own instances, like a unit, because barriers of a cluster cost less.
// CLUSTER:     uprog.program @main.instance.cluster(%{{.*}}: index) level(cluster)
// CLUSTER:       uprog.run @product.rows step(%{{.*}}) tasks(%{{[^)]*}}){{$}}
// CLUSTER:       uprog.run @add.rows step
// ADD-SAME:        level(block)
// CLUSTER:     uprog.program @main.execute() level(device)
// CLUSTER-NEXT:  %[[COUNT:.*]] = uprog.instances
// CLUSTER-NOT:   uprog.units
// CLUSTER:       uprog.run @main.instance.cluster tasks(%[[COUNT]])
// EIGHT:       Units | {{.*}}each cluster runs its own instances: {{.*}} us on a cluster of 8 blocks
// EIGHT:       Units | {{.*}}16 instances take about {{.*}} us with one cluster each
// CHOSEN:      uprog.program @main.instance.cluster
// CHOSEN:        uprog.run @add.rows step(%{{.*}}) tasks(%{{.*}}) level(block)
// CHOSEN:        uprog.run @main.instance.cluster tasks
batch.kernel @product(%x: tensor<512xf32>, %W: tensor<512x512xf32> {batch.shared})
    -> tensor<512xf32> {
  %y = linalg.matvec ins(%W, %x : tensor<512x512xf32>, tensor<512xf32>)
      outs(%x : tensor<512xf32>) -> tensor<512xf32>
  batch.yield %y : tensor<512xf32>
}
uprog.operator @product.rows of @product(
    %n: index,
    %x0: tensor<?x512xf32> {uprog.operand = #uprog.operand<gather>},
    %W: tensor<512x512xf32> {uprog.operand = #uprog.operand<shared(0)>})
    -> tensor<?x512xf32> {
  uprog.yield %x0 : tensor<?x512xf32>
}
batch.kernel @add(%x: tensor<512xf32>, %y: tensor<512xf32>) -> tensor<512xf32> {
  %z = arith.addf %x, %y : tensor<512xf32>
  batch.yield %z : tensor<512xf32>
}
uprog.operator @add.rows of @add(
    %n: index,
    %x0: tensor<?x512xf32> {uprog.operand = #uprog.operand<gather>},
    %x1: tensor<?x512xf32> {uprog.operand = #uprog.operand<gather>})
    -> tensor<?x512xf32> {
  uprog.yield %x0 : tensor<?x512xf32>
}
func.func @main(%x: tensor<512xf32>, %W: tensor<512x512xf32> {batch.shared = "W"})
    -> tensor<512xf32>
    attributes {batch.entry, batch.strategy = #batch.strategy<replicate>} {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %many = arith.constant 100 : index
  %y = batch.invoke @product(%x, %W) : (tensor<512xf32>, tensor<512x512xf32>) -> tensor<512xf32>
  %z = scf.for %i = %zero to %many step %one iter_args(%a = %y) -> tensor<512xf32> {
    %b = batch.invoke @add(%a, %y) : (tensor<512xf32>, tensor<512xf32>) -> tensor<512xf32>
    scf.yield %b : tensor<512xf32>
  }
  %r = batch.invoke @product(%z, %W) : (tensor<512xf32>, tensor<512x512xf32>) -> tensor<512xf32>
  return %r : tensor<512xf32>
}

// -----

// If no step is worth a barrier, one unit runs the instance.
// REMARK: Units | {{.*}}each unit runs its own instances: an instance takes about {{.*}} us on one unit, {{.*}} us on 4 that share all steps
// TWO: Units | {{.*}}each unit runs its own instances: an instance takes about
// TWO: Units | {{.*}}2 instances take about
// CHECK-NOT:   all_units
// CHECK:       uprog.program @main.execute
// CHECK-NOT:   uprog.units
// CHECK:         uprog.run @main.instance tasks(%{{.*}})
// TUNED:       uprog.run @add.rows step(%{{.*}}) tasks(%{{[^)]*}}){{$}}
// BLOCK:       uprog.run @main.instance tasks
// CLUSTER:     uprog.run @main.instance.cluster tasks
// EIGHT:       Units | {{.*}}each unit runs its own instances: {{.*}} us on a cluster of 8 blocks
// CHOSEN-NOT:  level(cluster)
// CHOSEN:      uprog.run @main.instance tasks
batch.kernel @add(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %z = arith.addf %x, %y : tensor<4xf32>
  batch.yield %z : tensor<4xf32>
}
uprog.operator @add.rows of @add(
    %n: index,
    %x0: tensor<?x4xf32> {uprog.operand = #uprog.operand<gather>},
    %x1: tensor<?x4xf32> {uprog.operand = #uprog.operand<gather>})
    -> tensor<?x4xf32> {
  uprog.yield %x0 : tensor<?x4xf32>
}
batch.kernel @product(%x: tensor<4xf32>) -> tensor<4xf32> {
  batch.yield %x : tensor<4xf32>
}
uprog.operator @product.rows of @product(
    %n: index,
    %x0: tensor<?x4xf32> {uprog.operand = #uprog.operand<gather>})
    -> tensor<?x4xf32> {
  uprog.yield %x0 : tensor<?x4xf32>
}
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32>
    attributes {batch.entry, batch.strategy = #batch.strategy<replicate>} {
  %y = batch.invoke @add(%x, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
