// RUN: not batch-opt %s --batch-choose-executor=cluster-size=17 2>&1 | FileCheck %s --check-prefix=SIZE
// RUN: not batch-opt %s --batch-choose-executor=cluster-size=-1 2>&1 | FileCheck %s --check-prefix=SIZE
// SIZE: error: clusters have 1 to 16 blocks, not the {{17|-1}} that cluster-size says
// RUN: not batch-opt %s --batch-choose-executor=instances=0 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not batch-opt %s --batch-choose-executor=blocks=0 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not batch-opt %s --batch-choose-executor=block-size=16 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: error: instances and blocks must be at least 1, and block-size at least 32

uprog.program @main.execute(%plan: !batch.plan) level(device) {
  uprog.yield
}
