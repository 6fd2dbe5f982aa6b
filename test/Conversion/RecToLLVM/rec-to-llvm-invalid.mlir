// RUN: batch-opt %s --convert-rec-to-llvm --split-input-file --verify-diagnostics

// expected-error @+1 {{'func.func' op is only declared; a function of the program needs a body}}
func.func private @declared(%n: index)

// -----

func.func @callee() {
  return
}
scf.execute_region {
  // expected-error @+1 {{'func.call' op calls a function that needs the context from one that has none}}
  func.call @callee() : () -> ()
  scf.yield
}
