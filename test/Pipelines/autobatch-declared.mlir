// RUN: batch-opt %s --autobatch --verify-diagnostics

// A declaration cannot be batched.
// expected-error @+1 {{is only declared; functions that the entry calls require a body}}
func.func private @declared(%n: index) -> index
func.func @main(%n: index) -> index attributes {batch.entry} {
  %m = call @declared(%n) : (index) -> index
  return %m : index
}
