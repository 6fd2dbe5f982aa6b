// RUN: batch-opt %s --convert-batch-to-llvm --verify-diagnostics

// Tensors of an instance must be static or ragged.
// expected-error @+1 {{a value of type 'tensor<?x?xf32>' cannot be an argument or result of the entry; only the first dimension of a tensor may differ between instances}}
func.func @main(%x: tensor<?x?xf32>) attributes {batch.entry} {
  return
}
