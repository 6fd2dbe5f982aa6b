// RUN: not batch-opt %s --batch-choose-executor=cluster-size=17 2>&1 | FileCheck %s --check-prefix=SIZE
// RUN: not batch-opt %s --batch-choose-executor=cluster-size=-1 2>&1 | FileCheck %s --check-prefix=SIZE
// SIZE: error: invalid cluster-size {{17|-1}}; expected 0 to 16
// RUN: not batch-opt %s --batch-choose-executor=instances=0 2>&1 | FileCheck %s --check-prefix=INSTANCES
// RUN: not batch-opt %s --batch-choose-executor=instances=2147483648 2>&1 | FileCheck %s --check-prefix=INSTANCES
// INSTANCES: error: instances must be from 1 to 2147483647
// RUN: not batch-opt %s --batch-choose-executor=blocks=0 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not batch-opt %s --batch-choose-executor=block-size=16 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: error: blocks must be at least 1, and block-size at least 32

// Not every chip with clusters supports clusters of 16 blocks. No cluster has more blocks
// than the launch.
// RUN: batch-opt %s --batch-choose-executor="chip=sm_100a blocks=148" -o /dev/null \
// RUN:   --remark-format=emitRemark --remarks-filter=batch 2>&1 | FileCheck %s --check-prefix=WIDE
// RUN: batch-opt %s --batch-choose-executor="chip=sm_103a blocks=148" -o /dev/null \
// RUN:   --remark-format=emitRemark --remarks-filter=batch 2>&1 | FileCheck %s --check-prefix=EIGHT
// RUN: batch-opt %s --batch-choose-executor="chip=sm_120 blocks=148" -o /dev/null \
// RUN:   --remark-format=emitRemark --remarks-filter=batch 2>&1 | FileCheck %s --check-prefix=EIGHT
// RUN: batch-opt %s --batch-choose-executor="chip=sm_90a blocks=4" -o /dev/null \
// RUN:   --remark-format=emitRemark --remarks-filter=batch 2>&1 | FileCheck %s --check-prefix=FEW
// WIDE: block [[#]], cluster of 8 [[#]], cluster of 16 [[#]], device [[#]]"
// EIGHT: block [[#]], cluster of 8 [[#]], device [[#]]"
// FEW: block [[#]], device [[#]]"

// An existing cluster size remains, but it is removed if nothing runs on clusters.
// RUN: batch-opt %s --batch-choose-executor="executor=cluster cluster-size=4" | batch-opt --batch-choose-executor=executor=cluster \
// RUN:   | FileCheck %s --check-prefix=KEPT
// RUN: batch-opt %s --batch-choose-executor="executor=cluster cluster-size=4" | batch-opt --batch-choose-executor=executor=block \
// RUN:   | FileCheck %s --check-prefix=GONE
// KEPT: module attributes {uprog.cluster_size = 4 : i64}
// GONE-NOT: uprog.cluster_size

uprog.program @main.execute(%plan: !batch.plan) level(device) {
  uprog.yield
}
