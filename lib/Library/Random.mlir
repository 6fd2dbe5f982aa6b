//===- Random.mlir - Random numbers that are a function of a counter ------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The generators of Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as
// easy as 1, 2, 3" (SC 2011), with all rounds that the paper recommends. They have
// no state: a key and a counter give the same bits wherever they are computed, and
// in any order. docs/reference/library.md describes all functions.
//
//===----------------------------------------------------------------------===//

// Threefry-2x32: 20 rounds. The key is added again after every fourth round.

func.func @random.threefry2x32(%key0: i32, %key1: i32, %counter0: i32, %counter1: i32)
    -> (i32, i32) {
  %parity = arith.constant 0x1BD11BDA : i32
  %both = arith.xori %key0, %key1 : i32
  %key2 = arith.xori %both, %parity : i32
  %c6 = arith.constant 6 : i32
  %c13 = arith.constant 13 : i32
  %c15 = arith.constant 15 : i32
  %c16 = arith.constant 16 : i32
  %c17 = arith.constant 17 : i32
  %c24 = arith.constant 24 : i32
  %c26 = arith.constant 26 : i32
  %c29 = arith.constant 29 : i32
  %times0 = arith.constant 0 : i32
  %times1 = arith.constant 1 : i32
  %times2 = arith.constant 2 : i32
  %times3 = arith.constant 3 : i32
  %times4 = arith.constant 4 : i32
  %times5 = arith.constant 5 : i32
  %a:2 = call @random.threefry2x32.add_key(%counter0, %counter1, %key0, %key1, %times0)
      : (i32, i32, i32, i32, i32) -> (i32, i32)
  %b:2 = call @random.threefry2x32.four_rounds(%a#0, %a#1, %c13, %c15, %c26, %c6)
      : (i32, i32, i32, i32, i32, i32) -> (i32, i32)
  %c:2 = call @random.threefry2x32.add_key(%b#0, %b#1, %key1, %key2, %times1)
      : (i32, i32, i32, i32, i32) -> (i32, i32)
  %d:2 = call @random.threefry2x32.four_rounds(%c#0, %c#1, %c17, %c29, %c16, %c24)
      : (i32, i32, i32, i32, i32, i32) -> (i32, i32)
  %e:2 = call @random.threefry2x32.add_key(%d#0, %d#1, %key2, %key0, %times2)
      : (i32, i32, i32, i32, i32) -> (i32, i32)
  %f:2 = call @random.threefry2x32.four_rounds(%e#0, %e#1, %c13, %c15, %c26, %c6)
      : (i32, i32, i32, i32, i32, i32) -> (i32, i32)
  %g:2 = call @random.threefry2x32.add_key(%f#0, %f#1, %key0, %key1, %times3)
      : (i32, i32, i32, i32, i32) -> (i32, i32)
  %h:2 = call @random.threefry2x32.four_rounds(%g#0, %g#1, %c17, %c29, %c16, %c24)
      : (i32, i32, i32, i32, i32, i32) -> (i32, i32)
  %i:2 = call @random.threefry2x32.add_key(%h#0, %h#1, %key1, %key2, %times4)
      : (i32, i32, i32, i32, i32) -> (i32, i32)
  %j:2 = call @random.threefry2x32.four_rounds(%i#0, %i#1, %c13, %c15, %c26, %c6)
      : (i32, i32, i32, i32, i32, i32) -> (i32, i32)
  %k:2 = call @random.threefry2x32.add_key(%j#0, %j#1, %key2, %key0, %times5)
      : (i32, i32, i32, i32, i32) -> (i32, i32)
  return %k#0, %k#1 : i32, i32
}

func.func private @random.threefry2x32.add_key(%x0: i32, %x1: i32, %key0: i32, %key1: i32, %times: i32)
    -> (i32, i32) {
  %y0 = arith.addi %x0, %key0 : i32
  %sum = arith.addi %x1, %key1 : i32
  %y1 = arith.addi %sum, %times : i32
  return %y0, %y1 : i32, i32
}

func.func private @random.threefry2x32.four_rounds(
    %x0: i32, %x1: i32, %by0: i32, %by1: i32, %by2: i32, %by3: i32) -> (i32, i32) {
  %a:2 = call @random.threefry2x32.round(%x0, %x1, %by0) : (i32, i32, i32) -> (i32, i32)
  %b:2 = call @random.threefry2x32.round(%a#0, %a#1, %by1) : (i32, i32, i32) -> (i32, i32)
  %c:2 = call @random.threefry2x32.round(%b#0, %b#1, %by2) : (i32, i32, i32) -> (i32, i32)
  %d:2 = call @random.threefry2x32.round(%c#0, %c#1, %by3) : (i32, i32, i32) -> (i32, i32)
  return %d#0, %d#1 : i32, i32
}

func.func private @random.threefry2x32.round(%x0: i32, %x1: i32, %by: i32) -> (i32, i32) {
  %width = arith.constant 32 : i32
  %y0 = arith.addi %x0, %x1 : i32
  %rest = arith.subi %width, %by : i32
  %high = arith.shli %x1, %by : i32
  %low = arith.shrui %x1, %rest : i32
  %rotated = arith.ori %high, %low : i32
  %y1 = arith.xori %rotated, %y0 : i32
  return %y0, %y1 : i32, i32
}

// Philox-4x32: 10 rounds, each with its own key.

func.func @random.philox4x32(%key0: i32, %key1: i32, %counter0: i32, %counter1: i32,
                             %counter2: i32, %counter3: i32) -> (i32, i32, i32, i32) {
  %a:6 = call @random.philox4x32.round(%key0, %key1, %counter0, %counter1, %counter2, %counter3)
      : (i32, i32, i32, i32, i32, i32) -> (i32, i32, i32, i32, i32, i32)
  %b:6 = call @random.philox4x32.round(%a#0, %a#1, %a#2, %a#3, %a#4, %a#5)
      : (i32, i32, i32, i32, i32, i32) -> (i32, i32, i32, i32, i32, i32)
  %c:6 = call @random.philox4x32.round(%b#0, %b#1, %b#2, %b#3, %b#4, %b#5)
      : (i32, i32, i32, i32, i32, i32) -> (i32, i32, i32, i32, i32, i32)
  %d:6 = call @random.philox4x32.round(%c#0, %c#1, %c#2, %c#3, %c#4, %c#5)
      : (i32, i32, i32, i32, i32, i32) -> (i32, i32, i32, i32, i32, i32)
  %e:6 = call @random.philox4x32.round(%d#0, %d#1, %d#2, %d#3, %d#4, %d#5)
      : (i32, i32, i32, i32, i32, i32) -> (i32, i32, i32, i32, i32, i32)
  %f:6 = call @random.philox4x32.round(%e#0, %e#1, %e#2, %e#3, %e#4, %e#5)
      : (i32, i32, i32, i32, i32, i32) -> (i32, i32, i32, i32, i32, i32)
  %g:6 = call @random.philox4x32.round(%f#0, %f#1, %f#2, %f#3, %f#4, %f#5)
      : (i32, i32, i32, i32, i32, i32) -> (i32, i32, i32, i32, i32, i32)
  %h:6 = call @random.philox4x32.round(%g#0, %g#1, %g#2, %g#3, %g#4, %g#5)
      : (i32, i32, i32, i32, i32, i32) -> (i32, i32, i32, i32, i32, i32)
  %i:6 = call @random.philox4x32.round(%h#0, %h#1, %h#2, %h#3, %h#4, %h#5)
      : (i32, i32, i32, i32, i32, i32) -> (i32, i32, i32, i32, i32, i32)
  %j:6 = call @random.philox4x32.round(%i#0, %i#1, %i#2, %i#3, %i#4, %i#5)
      : (i32, i32, i32, i32, i32, i32) -> (i32, i32, i32, i32, i32, i32)
  return %j#2, %j#3, %j#4, %j#5 : i32, i32, i32, i32
}

// Returns the key of the next round, then the mixed counter.
func.func private @random.philox4x32.round(%key0: i32, %key1: i32, %x0: i32, %x1: i32, %x2: i32, %x3: i32)
    -> (i32, i32, i32, i32, i32, i32) {
  %factor0 = arith.constant 0xD2511F53 : i32
  %factor1 = arith.constant 0xCD9E8D57 : i32
  %weyl0 = arith.constant 0x9E3779B9 : i32
  %weyl1 = arith.constant 0xBB67AE85 : i32
  %low0, %high0 = call @random.philox4x32.multiply(%factor0, %x0) : (i32, i32) -> (i32, i32)
  %low1, %high1 = call @random.philox4x32.multiply(%factor1, %x2) : (i32, i32) -> (i32, i32)
  %mixed0 = arith.xori %high1, %x1 : i32
  %y0 = arith.xori %mixed0, %key0 : i32
  %mixed1 = arith.xori %high0, %x3 : i32
  %y2 = arith.xori %mixed1, %key1 : i32
  %next0 = arith.addi %key0, %weyl0 : i32
  %next1 = arith.addi %key1, %weyl1 : i32
  return %next0, %next1, %y0, %low1, %y2, %low0 : i32, i32, i32, i32, i32, i32
}

// Returns the low and the high half of a product.
func.func private @random.philox4x32.multiply(%a: i32, %b: i32) -> (i32, i32) {
  %width = arith.constant 32 : i64
  %wide_a = arith.extui %a : i32 to i64
  %wide_b = arith.extui %b : i32 to i64
  %product = arith.muli %wide_a, %wide_b : i64
  %shifted = arith.shrui %product, %width : i64
  %low = arith.trunci %product : i64 to i32
  %high = arith.trunci %shifted : i64 to i32
  return %low, %high : i32, i32
}

// Returns a uniform number in (0, 1) from 32 random bits: the middle of one of
// 2^23 equal ranges, which is exact in f32.

func.func @random.uniform.f32(%bits: i32) -> f32 {
  %nine = arith.constant 9 : i32
  %width = arith.constant 1.1920928955078125e-7 : f32
  %half = arith.constant 5.9604644775390625e-8 : f32
  %high = arith.shrui %bits, %nine : i32
  %number = arith.sitofp %high : i32 to f32
  %u = math.fma %number, %width, %half : f32
  return %u : f32
}

func.func @random.uniform.f64(%bits: i32) -> f64 {
  %narrow = call @random.uniform.f32(%bits) : (i32) -> f32
  %u = arith.extf %narrow : f32 to f64
  return %u : f64
}

// Returns two independent standard normal numbers (Box and Muller).

func.func @random.normals.f32(%bits0: i32, %bits1: i32) -> (f32, f32) {
  %minus_two = arith.constant -2.0 : f32
  %two_pi = arith.constant 6.2831853071795862 : f32
  %u0 = call @random.uniform.f32(%bits0) : (i32) -> f32
  %u1 = call @random.uniform.f32(%bits1) : (i32) -> f32
  %log = math.log %u0 : f32
  %square = arith.mulf %log, %minus_two : f32
  %radius = math.sqrt %square : f32
  %angle = arith.mulf %u1, %two_pi : f32
  %cos = math.cos %angle : f32
  %sin = math.sin %angle : f32
  %z0 = arith.mulf %radius, %cos : f32
  %z1 = arith.mulf %radius, %sin : f32
  return %z0, %z1 : f32, f32
}

func.func @random.normals.f64(%bits0: i32, %bits1: i32) -> (f64, f64) {
  %minus_two = arith.constant -2.0 : f64
  %two_pi = arith.constant 6.2831853071795862 : f64
  %u0 = call @random.uniform.f64(%bits0) : (i32) -> f64
  %u1 = call @random.uniform.f64(%bits1) : (i32) -> f64
  %log = math.log %u0 : f64
  %square = arith.mulf %log, %minus_two : f64
  %radius = math.sqrt %square : f64
  %angle = arith.mulf %u1, %two_pi : f64
  %cos = math.cos %angle : f64
  %sin = math.sin %angle : f64
  %z0 = arith.mulf %radius, %cos : f64
  %z1 = arith.mulf %radius, %sin : f64
  return %z0, %z1 : f64, f64
}
