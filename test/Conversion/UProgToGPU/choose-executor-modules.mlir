// RUN: batch-opt %s --mlir-disable-threading \
// RUN:   --pass-pipeline='builtin.module(builtin.module(batch-choose-executor{executor=cluster}))' | FileCheck %s

// Attributes of one module do not affect the next one.
// CHECK: module attributes {uprog.cluster_size = 4 : i64}
// CHECK: module attributes {uprog.cluster_size = 8 : i64}
module attributes {uprog.cluster_size = 4 : i64} {
  uprog.program @main.execute(%plan: !batch.plan) level(device) {
    uprog.yield
  }
}
module {
  uprog.program @main.execute(%plan: !batch.plan) level(device) {
    uprog.yield
  }
}
