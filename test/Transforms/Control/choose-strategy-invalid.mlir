// RUN: batch-opt %s --split-input-file --verify-diagnostics --batch-choose-strategy --mlir-print-op-on-diagnostic=false

// If no other strategy is legal, `auto` is `none`. A warning reports the
// obstacle to each strategy.
rec.adt @Nat {
  rec.variant @zero(word: index)
  rec.variant @succ(pred: !rec.adt<@Nat>)
}
// expected-note @+1 {{strategy 'lockstep' is not legal either: this value of type '!rec.adt<@Nat>' is a data structure, which strategies 'lockstep' and 'mask' do not support}}
func.func @main(%t: !rec.adt<@Nat>, %x: tensor<?x4xf32>) -> f32
    attributes {batch.entry} {
  %zero = arith.constant 0 : index
  // expected-note @+1 {{strategy 'replicate' is not legal either: strategy 'replicate' does not support operands of type 'tensor<?x4xf32>'}}
  %v = math.tanh %x : tensor<?x4xf32>
  // expected-warning @+2 {{the program is not batched and runs one instance at a time: control flow depends on a tensor here}}
  // expected-note @+1 {{strategy 'lazy' is not legal either: control flow waits here for a tensor of dynamic shape, which cannot be stored in a table}}
  %e = tensor.extract %v[%zero, %zero] : tensor<?x4xf32>
  return %e : f32
}

// -----

// A program that no strategy supports, not even `none`, is an error.
// expected-error @+1 {{this function is only declared; functions that the entry calls require a body}}
func.func private @f(i64) -> i64
func.func @main(%n: i64) -> i64 attributes {batch.entry} {
  %m = call @f(%n) : (i64) -> i64
  return %m : i64
}

// -----

// A call in the body of a tensor op is an error.
rec.adt @Nat {
  rec.variant @zero(word: index)
}
func.func private @f(%i: index) -> i64 {
  %x = arith.index_cast %i : index to i64
  return %x : i64
}
func.func @main(%t: !rec.adt<@Nat>) -> tensor<4xi64>
    attributes {batch.entry} {
  %r = rec.match %t : !rec.adt<@Nat> -> tensor<4xi64> {
  case @zero(%word: index) {
    %y = func.call @f(%word) : (index) -> i64
    %t2 = tensor.generate {
    ^bb0(%i: index):
      // expected-error @+1 {{calls in the body of a tensor op are not supported; inline the called function}}
      %x = func.call @f(%i) : (index) -> i64
      tensor.yield %x : i64
    } : tensor<4xi64>
    rec.yield %t2 : tensor<4xi64>
  } }
  return %r : tensor<4xi64>
}

// -----

// A parameter that is not a tensor is an error.
// expected-error @+1 {{this argument is a parameter and must be a tensor; pass a scalar as a tensor of rank 0}}
func.func @main(%n: f32, %s: f32 {batch.shared = "s"}) -> f32
    attributes {batch.entry} {
  %sum = arith.addf %n, %s : f32
  return %sum : f32
}

// -----

// expected-error @+1 {{'batch.strategy' must be a #batch.strategy attribute on the entry}}
func.func @main() attributes {batch.entry, batch.strategy = "lockstep"} {
  return
}

// -----

// A strategy on a function other than the entry is an error.
// expected-error @+1 {{'batch.strategy' must be a #batch.strategy attribute on the entry}}
func.func @helper() attributes {batch.strategy = #batch.strategy<lockstep>} {
  return
}

// -----

// expected-error @+1 {{'batch.not_batched' must be a string on the entry}}
func.func @helper() attributes {batch.not_batched = "x"} {
  return
}
