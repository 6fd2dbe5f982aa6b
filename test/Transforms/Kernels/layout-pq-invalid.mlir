// RUN: not batch-opt %s --batch-layout-pq=equal=names 2>&1 | FileCheck %s
// RUN: not batch-opt %s --autobatch=layout-kernels=names 2>&1 | FileCheck %s

// CHECK: error: operators of kernels are equal by 'weights' or 'shapes', not by 'names'
module {}
