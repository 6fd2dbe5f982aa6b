// RUN: batch-opt %s --autobatch --verify-diagnostics

// A declaration cannot be batched.
// expected-error @+1 {{is only declared; a function that the entry calls needs a body}}
func.func private @declared(%n: index) -> index
func.func @main(%n: index) -> index attributes {batch.entry} {
  %m = call @declared(%n) : (index) -> index
  return %m : index
}
