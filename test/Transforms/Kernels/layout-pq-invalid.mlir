// RUN: not batch-opt %s --batch-layout-pq=equal=names 2>&1 | FileCheck %s
// RUN: not batch-opt %s --autobatch=layout-kernels=names 2>&1 | FileCheck %s

// CHECK: for the --{{equal|layout-kernels}} option: invalid value 'names'; expected 'none', 'weights' or 'shapes'
module {}
