// RUN: batch-opt %s --verify-diagnostics
// XFAIL: *
// KernelOp::verifyRegions takes the first block of an empty region: a crash.

// A kernel is never only declared.
// expected-error @+1 {{'batch.kernel' op needs a body}}
batch.kernel private @k(tensor<4xf32>)
