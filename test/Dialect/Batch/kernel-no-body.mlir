// RUN: batch-opt %s --verify-diagnostics

// A kernel must have a body.
// expected-error @+1 {{'batch.kernel' op requires a body}}
batch.kernel private @k(tensor<4xf32>)
