// RUN: batch-opt %s --convert-rec-to-llvm --split-input-file --verify-diagnostics

// expected-error @+1 {{'func.func' op is only declared; functions of the program require a body}}
func.func private @declared(%n: index)

// -----

func.func @callee() {
  return
}
scf.execute_region {
  // expected-error @+1 {{'func.call' op calls a function that requires the context, but the caller has no context}}
  func.call @callee() : () -> ()
  scf.yield
}

// -----

rec.adt @Words {
  rec.variant @end()
  rec.variant @word(word: index, rest: !rec.adt<@Words>)
}
func.func @walk(%words: !rec.adt<@Words>) {
  // expected-error @+1 {{walks a value of a list-shaped ADT; run batch-list-elements first}}
  rec.map %w: index in %words : !rec.adt<@Words> {
  }
  return
}

// -----

rec.adt @Words {
  rec.variant @end()
  rec.variant @word(word: index, rest: !rec.adt<@Words>)
}
func.func @walk(%words: !rec.adt<@Words>, %n: index) {
  // expected-error @+1 {{walks a value of a list-shaped ADT; run batch-list-elements first}}
  %m = rec.fold %w: index in %words init(%a = %n) : !rec.adt<@Words> -> index {
    rec.yield %w : index
  }
  return
}
