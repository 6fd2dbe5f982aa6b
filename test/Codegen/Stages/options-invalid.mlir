// RUN: batch-opt %s --uprog-stage-operators=vector-bits=100 --verify-diagnostics
// RUN: not batch-opt %s --uprog-stage-operators=target=tpu 2>&1 | FileCheck %s

// Vectors are halved down to a single lane, so their size must be a power of two.
// CHECK: invalid value 'tpu'; expected 'cpu' or 'gpu'
// expected-error @unknown {{vector-bits must be a power of two and at least 128}}
module {}
