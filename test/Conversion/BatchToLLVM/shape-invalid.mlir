// RUN: batch-opt %s --convert-batch-to-llvm --verify-diagnostics
// XFAIL: *
// describeType takes any dynamic tensor for a list of rows: a crash where dimension 0 is not the only one.

// A tensor of an instance is static or ragged.
// expected-error @+1 {{cannot be an argument or result of the entry}}
func.func @main(%x: tensor<?x?xf32>) attributes {batch.entry} {
  return
}
