// RUN: batch-opt %s --convert-batch-to-llvm --verify-diagnostics

// Tensors of an instance are static or ragged.
// expected-error @+1 {{cannot be an argument or result of the entry}}
func.func @main(%x: tensor<?x?xf32>) attributes {batch.entry} {
  return
}
