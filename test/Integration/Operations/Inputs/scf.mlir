// The scf dialect.

// Ops: scf.for scf.if scf.while scf.condition scf.yield
// How: structural control flow
func.func private @structural(%x: tensor<19xf32>, %W: tensor<19xf32>, %p: index, %i: i64)
    -> (tensor<19xf32>, tensor<19xf32>, i64, tensor<19xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %two = arith.constant 2 : i64
  %ten = arith.constant 10 : i64
  %a = scf.for %k = %c0 to %p step %c1 iter_args(%s = %x) -> (tensor<19xf32>) {
    %t = arith.addf %s, %W : tensor<19xf32>
    scf.yield %t : tensor<19xf32>
  }
  %w:2 = scf.while (%v = %x, %n = %i) : (tensor<19xf32>, i64) -> (tensor<19xf32>, i64) {
    %c = arith.cmpi slt, %n, %ten : i64
    scf.condition(%c) %v, %n : tensor<19xf32>, i64
  } do {
  ^bb0(%v: tensor<19xf32>, %n: i64):
    %u = math.tanh %v : tensor<19xf32>
    %m = arith.muli %n, %two : i64
    scf.yield %u, %m : tensor<19xf32>, i64
  }
  %odd = arith.trunci %i : i64 to i1
  %d = scf.if %odd -> (tensor<19xf32>) {
    %u = math.exp %x : tensor<19xf32>
    scf.yield %u : tensor<19xf32>
  } else {
    %u = math.sin %x : tensor<19xf32>
    scf.yield %u : tensor<19xf32>
  }
  return %a, %w#0, %w#1, %d : tensor<19xf32>, tensor<19xf32>, i64, tensor<19xf32>
}

// Control flow reads tensors.
// Ops: scf.while scf.if scf.condition scf.yield
// How: lockstep, where it reads a computed tensor
// Only: lockstep
func.func private @tensor_control(%x: tensor<19xf32>, %W: tensor<19xf32>)
    -> (tensor<19xf32>, i64) {
  %c0 = arith.constant 0 : index
  %one = arith.constant 1 : i64
  %none = arith.constant 0 : i64
  %limit = arith.constant 4.0 : f32
  %w:2 = scf.while (%v = %x, %n = %none) : (tensor<19xf32>, i64) -> (tensor<19xf32>, i64) {
    %e = arith.addf %v, %W : tensor<19xf32>
    %f = tensor.extract %e[%c0] : tensor<19xf32>
    %c = arith.cmpf olt, %f, %limit : f32
    scf.condition(%c) %e, %n : tensor<19xf32>, i64
  } do {
  ^bb0(%v: tensor<19xf32>, %n: i64):
    %g = tensor.extract %v[%c0] : tensor<19xf32>
    %half = arith.constant 2.0 : f32
    %q = arith.cmpf ogt, %g, %half : f32
    %u = scf.if %q -> (tensor<19xf32>) {
      %a = arith.addf %v, %v : tensor<19xf32>
      scf.yield %a : tensor<19xf32>
    } else {
      %a = math.exp %v : tensor<19xf32>
      scf.yield %a : tensor<19xf32>
    }
    %m = arith.addi %n, %one : i64
    scf.yield %u, %m : tensor<19xf32>, i64
  }
  return %w#0, %w#1 : tensor<19xf32>, i64
}

// Ops: scf.index_switch
// How: structural control flow, or lockstep
func.func private @switch(%x: tensor<19xf32>, %p: index)
    -> (tensor<19xf32>) {
  %r = scf.index_switch %p -> tensor<19xf32>
  case 1 {
    %u = math.exp %x : tensor<19xf32>
    scf.yield %u : tensor<19xf32>
  }
  case 2 {
    %u = math.tanh %x : tensor<19xf32>
    scf.yield %u : tensor<19xf32>
  }
  default {
    scf.yield %x : tensor<19xf32>
  }
  return %r : tensor<19xf32>
}

// Ops: scf.parallel scf.reduce scf.reduce.return
// How: lockstep, one iteration after the other
// Only: lockstep
func.func private @parallel(%x: tensor<19xf32>, %f: f32)
    -> (f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c19 = arith.constant 19 : index
  %r = scf.parallel (%k) = (%c0) to (%c19) step (%c1) init (%f) -> f32 {
    %a = tensor.extract %x[%k] : tensor<19xf32>
    scf.reduce(%a : f32) {
    ^bb0(%p: f32, %q: f32):
      %s = arith.addf %p, %q : f32
      scf.reduce.return %s : f32
    }
  }
  return %r : f32
}
