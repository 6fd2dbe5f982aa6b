// RUN: not batch-opt %s --batch-serialize-gpu-modules=format=isa 2>&1 | FileCheck %s

// Errors of the upstream pass are reported, except the one for a missing toolkit.
// CHECK: [[# @LINE + 1]]:1: error: the module has no target attributes
gpu.module @m {
}
