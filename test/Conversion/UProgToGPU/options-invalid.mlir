// RUN: not batch-opt %s --batch-choose-executor=executor=warp 2>&1 | FileCheck %s
// RUN: not batch-opt %s --batch-choose-executor=executor=thread 2>&1 | FileCheck %s

// CHECK: for the --executor option: invalid value '{{warp|thread}}'; expected 'auto', 'device', 'cluster' or 'block'
module {}
