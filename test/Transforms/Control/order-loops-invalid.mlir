// RUN: batch-opt %s -split-input-file -verify-diagnostics -batch-order-loops

!vec = tensor<4xf32>
func.func @main(%x: !vec) -> !vec
    attributes {batch.entry, batch.strategy = #batch.strategy<replicate>} {
  %zero = arith.constant 0 : index
  // expected-error @+1 {{loop has order 'layers', but its number of rounds is unknown until it ends; use a counted loop, or order 'rounds'}}
  %y = scf.while (%v = %x) : (!vec) -> !vec {
    %e = tensor.extract %v[%zero] : !vec
    %more = arith.cmpf ogt, %e, %e : f32
    scf.condition(%more) %v : !vec
  } do {
  ^bb0(%v: !vec):
    %next = math.tanh %v : !vec
    scf.yield %next : !vec
  } attributes {batch.order = #batch.order<layers>}
  return %y : !vec
}

// -----

// expected-error @+1 {{'batch.order' must be a #batch.order attribute on a loop}}
func.func @f() attributes {batch.order = #batch.order<layers>} {
  return
}
