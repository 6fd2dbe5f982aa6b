// RUN: batch-opt %s --batch-expand-math --split-input-file | FileCheck %s

// The tests in unittests/Conversion check the accuracy.

// exp: the argument is bounded and reduced by multiples of ln 2 in two fmas.
// The result is scaled by a power of two in two multiplications, so that overflow
// and subnormal results are correct.
// CHECK-LABEL: func.func @exp_scalar
// CHECK-SAME:    %[[X:.*]]: f32
func.func @exp_scalar(%x: f32) -> f32 {
  // CHECK:       %[[HIGH:.*]] = arith.constant 8.900000e+01 : f32
  // CHECK:       %[[OVER:.*]] = arith.cmpf olt, %[[HIGH]], %[[X]] : f32
  // CHECK:       %[[X1:.*]] = arith.select %[[OVER]], %[[HIGH]], %[[X]] : f32
  // CHECK:       %[[LOW:.*]] = arith.constant -1.040000e+02 : f32
  // CHECK:       %[[UNDER:.*]] = arith.cmpf olt, %[[X1]], %[[LOW]] : f32
  // CHECK:       %[[X2:.*]] = arith.select %[[UNDER]], %[[LOW]], %[[X1]] : f32
  // CHECK-COUNT-9: math.fma {{.*}} : f32
  // CHECK:       arith.shrui {{.*}} : i32
  // CHECK:       arith.shli {{.*}} : i32
  // CHECK:       arith.mulf
  // CHECK:       arith.shli {{.*}} : i32
  // CHECK:       %[[Y:.*]] = arith.mulf
  // CHECK:       return %[[Y]]
  %y = math.exp %x : f32
  return %y : f32
}

// -----

// The same operations expand an op on a vector of any rank.
// CHECK-LABEL: func.func @exp_vector
func.func @exp_vector(%x: vector<12x32xf32>) -> vector<12x32xf32> {
  // CHECK:         arith.select {{.*}} : vector<12x32xi1>, vector<12x32xf32>
  // CHECK:         arith.select {{.*}} : vector<12x32xi1>, vector<12x32xf32>
  // CHECK-COUNT-9: math.fma {{.*}} : vector<12x32xf32>
  // CHECK:         arith.shrui {{.*}} : vector<12x32xi32>
  // CHECK-COUNT-2: arith.mulf {{.*}} : vector<12x32xf32>
  %y = math.exp %x : vector<12x32xf32>
  return %y : vector<12x32xf32>
}

// -----

// f64 requires a longer polynomial.
// CHECK-LABEL: func.func @exp_double
func.func @exp_double(%x: vector<8xf64>) -> vector<8xf64> {
  // CHECK:          arith.constant dense<7.100000e+02> : vector<8xf64>
  // CHECK-COUNT-14: math.fma {{.*}} : vector<8xf64>
  // CHECK:          arith.shrui {{.*}} : vector<8xi64>
  // CHECK-COUNT-2:  arith.mulf {{.*}} : vector<8xf64>
  %y = math.exp %x : vector<8xf64>
  return %y : vector<8xf64>
}

// -----

// tanh: h / (h + 1), where h is half of expm1, never exceeds 1. The sign of
// the argument is copied last, so that -0 remains -0.
// CHECK-LABEL: func.func @tanh_vector
// CHECK-SAME:    %[[X:.*]]: vector<16xf32>
func.func @tanh_vector(%x: vector<16xf32>) -> vector<16xf32> {
  // CHECK:     math.absf %[[X]]
  // CHECK:     %[[ONE:.*]] = arith.constant dense<1.000000e+00>
  // CHECK:     %[[SUM:.*]] = arith.addf %[[HALF:.*]], %[[ONE]]
  // CHECK:     %[[R:.*]] = arith.divf %[[HALF]], %[[SUM]]
  // CHECK:     %[[Y:.*]] = math.copysign %[[R]], %[[X]]
  // CHECK-NOT: scf.if
  // CHECK:     return %[[Y]]
  %y = math.tanh %x : vector<16xf32>
  return %y : vector<16xf32>
}

// -----

// expm1 computes half of its result, and doubles it.
// CHECK-LABEL: func.func @expm1
// CHECK-SAME:    %[[X:.*]]: f64
func.func @expm1(%x: f64) -> f64 {
  // CHECK:      %[[R:.*]] = arith.addf %[[HALF:.*]], %[[HALF]]
  // CHECK-NEXT: %[[Y:.*]] = math.copysign %[[R]], %[[X]]
  // CHECK-NEXT: return %[[Y]]
  %y = math.expm1 %x : f64
  return %y : f64
}

// -----

// sin and cos: the lowest bit of the number of quarter turns selects one of two
// polynomials, and the next bit selects the sign. cos adds one quarter turn.
// Arguments from 2^46 on are multiplied by words of 2 / pi.
// CHECK-LABEL: func.func @sin_cos
// CHECK-SAME:    %[[X:.*]]: f64
func.func @sin_cos(%x: f64) -> (f64, f64) {
  // CHECK:       %[[LARGE:.*]] = arith.cmpf oge, %{{.*}}, %{{.*}} : f64
  // CHECK-NEXT:  %[[R:.*]]:2 = scf.if %[[LARGE]] -> (f64, f64)
  // CHECK:         arith.mului_extended
  // CHECK:       } else {
  // CHECK-NEXT:    scf.yield %{{.*}}, %{{.*}} : f64, f64
  // CHECK:       %[[N:.*]] = arith.bitcast %[[R]]#0 : f64 to i64
  // CHECK:       arith.cmpi ne
  // CHECK-NEXT:  arith.select
  // CHECK:       arith.shli %[[N]]
  // CHECK:       %[[SIN_BITS:.*]] = arith.xori
  // CHECK-NEXT:  %[[SIN:.*]] = arith.bitcast %[[SIN_BITS]]
  %y = math.sin %x : f64
  // CHECK:       %[[R:.*]]:2 = scf.if
  // CHECK:       %[[N:.*]] = arith.bitcast %[[R]]#0 : f64 to i64
  // CHECK:       %[[AHEAD:.*]] = arith.addi %[[N]], %c1_i64
  // CHECK:       arith.shli %[[AHEAD]]
  // CHECK:       %[[COS_BITS:.*]] = arith.xori
  // CHECK-NEXT:  %[[COS:.*]] = arith.bitcast %[[COS_BITS]]
  // CHECK-NEXT:  return %[[SIN]], %[[COS]]
  %z = math.cos %x : f64
  return %y, %z : f64, f64
}

// -----

// One comparison checks whether any element is large. For each row, a loop replaces
// the remainders of large elements. sincos reduces the argument once.
// CHECK-LABEL: func.func @sincos_vector
func.func @sincos_vector(%x: vector<2x8xf32>) -> (vector<2x8xf32>, vector<2x8xf32>) {
  // CHECK:       %[[LARGE:.*]] = arith.cmpf oge, %{{.*}}, %{{.*}} : vector<2x8xf32>
  // CHECK-DAG:   %[[A:.*]] = vector.extract %[[LARGE]][0]
  // CHECK-DAG:   %[[B:.*]] = vector.extract %[[LARGE]][1]
  // CHECK:       %[[BOTH:.*]] = arith.ori %[[A]], %[[B]] : vector<8xi1>
  // CHECK:       %[[ANY:.*]] = vector.reduction <or>, %[[BOTH]]
  // CHECK:       scf.if %[[ANY]] -> (vector<2x8xf32>, vector<2x8xf32>)
  // CHECK-COUNT-2: scf.for
  // CHECK-NOT:   scf.for
  // CHECK:       return
  %y, %z = math.sincos %x : vector<2x8xf32>
  return %y, %z : vector<2x8xf32>, vector<2x8xf32>
}

// -----

// Ops on unsupported types, and ops that targets have instructions for, remain unchanged.
// CHECK-LABEL: func.func @untouched
func.func @untouched(%x: f16, %v: vector<[4]xf32>, %t: tensor<4xf32>, %s: f32,
                     %d: f64)
    -> (f16, vector<[4]xf32>, tensor<4xf32>, f32, f64) {
  // CHECK: math.exp %{{.*}} : f16
  // CHECK: math.tanh %{{.*}} : vector<[4]xf32>
  // CHECK: math.exp %{{.*}} : tensor<4xf32>
  // CHECK: math.floor %{{.*}} : f32
  // CHECK: math.sqrt %{{.*}} : f64
  %0 = math.exp %x : f16
  %1 = math.tanh %v : vector<[4]xf32>
  %2 = math.exp %t : tensor<4xf32>
  %3 = math.floor %s : f32
  %4 = math.sqrt %d : f64
  return %0, %1, %2, %3, %4 : f16, vector<[4]xf32>, tensor<4xf32>, f32, f64
}

// -----

// log: separate exponent and fraction, a quotient and a polynomial of its
// square. Zero, negative numbers, infinity and NaN are handled by selects.
// CHECK-LABEL: func.func @log_vector
// CHECK-SAME:    %[[X:.*]]: vector<8xf32>
func.func @log_vector(%x: vector<8xf32>) -> vector<8xf32> {
  // CHECK:         arith.bitcast %{{.*}} : vector<8xf32> to vector<8xi32>
  // CHECK:         arith.shrui
  // CHECK:         arith.andi
  // CHECK:         arith.divf
  // CHECK-COUNT-5: math.fma
  // CHECK:         %[[Y:.*]] = arith.select %{{.*}}, %{{.*}}, %[[X]]
  // CHECK-NOT:     math.log
  // CHECK:         return %[[Y]]
  %y = math.log %x : vector<8xf32>
  return %y : vector<8xf32>
}

// -----

// log1p: a two-sum finds the rounding error of 1 + x, which is divided by 1 + x
// and added.
// CHECK-LABEL: func.func @log1p
// CHECK-SAME:    %[[X:.*]]: f32
func.func @log1p(%x: f32) -> f32 {
  // CHECK:      %[[ONE:.*]] = arith.constant 1.0{{.*}} : f32
  // CHECK-NEXT: %[[U:.*]] = arith.addf %[[ONE]], %[[X]]
  // CHECK-NEXT: %[[ROUNDED:.*]] = arith.subf %[[U]], %[[ONE]]
  // CHECK:      %[[ERROR:.*]] = arith.addf
  // CHECK-NEXT: %[[REST:.*]] = arith.divf %[[ERROR]], %[[U]]
  // CHECK:      arith.addf %{{.*}}, %[[REST]]
  // CHECK:      math.copysign %{{.*}}, %[[X]]
  %y = math.log1p %x : f32
  return %y : f32
}

// -----

// Squares become products, with the same bits as a power whose exponent is not
// constant. Other powers use a logarithm.
// CHECK-LABEL: func.func @powers
// CHECK-SAME:    (%[[X:.*]]: f32, %[[Y:.*]]: f32, %{{.*}}: i64)
func.func @powers(%x: f32, %y: f32, %n: i64) -> (f32, f32, f32, f32) {
  %c2 = arith.constant 2.0 : f32
  %i2 = arith.constant 2 : i64
  // CHECK:     %[[SQUARE:.*]] = arith.mulf %[[X]], %[[X]] : f32
  %0 = math.powf %x, %c2 : f32
  // CHECK:     %[[SQUARE1:.*]] = arith.mulf %[[X]], %[[X]] : f32
  %1 = math.fpowi %x, %i2 : f32, i64
  // CHECK:     math.absf %[[X]]
  // CHECK:     arith.divf
  // CHECK:     %[[SQUARE2:.*]] = arith.mulf %[[X]], %[[X]] : f32
  // CHECK:     arith.select %{{.*}}, %[[SQUARE2]],
  %2 = math.powf %x, %y : f32
  // The exponent is bounded to 32 bits.
  // CHECK:     arith.minsi
  // CHECK:     arith.maxsi
  // CHECK:     arith.trunci %{{.*}} : i64 to i32
  // CHECK:     arith.divf
  %3 = math.fpowi %x, %n : f32, i64
  // CHECK:     return %[[SQUARE]], %[[SQUARE1]],
  return %0, %1, %2, %3 : f32, f32, f32, f32
}

// -----

// CHECK-LABEL: func.func @clamp
// CHECK-SAME:    (%[[X:.*]]: f32, %[[LOW:.*]]: f32, %[[HIGH:.*]]: f32)
func.func @clamp(%x: f32, %low: f32, %high: f32) -> f32 {
  // CHECK-NEXT: %[[A:.*]] = arith.minimumf %[[X]], %[[HIGH]]
  // CHECK-NEXT: %[[Y:.*]] = arith.maximumf %[[A]], %[[LOW]]
  // CHECK-NEXT: return %[[Y]]
  %y = math.clampf %x to [%low, %high] : f32
  return %y : f32
}

// -----

// Powers of integers loop over the bits of the exponent.
// CHECK-LABEL: func.func @integers
// CHECK-SAME:    (%[[B:.*]]: vector<4xi8>, %[[N:.*]]: vector<4xi8>)
func.func @integers(%b: vector<4xi8>, %n: vector<4xi8>) -> vector<4xi8> {
  // CHECK:     %[[WIDTH:.*]] = arith.constant 8 : index
  // CHECK:     scf.for %{{.*}} = %{{.*}} to %[[WIDTH]] {{.*}} iter_args({{.*}} = %[[B]], {{.*}} = %[[N]])
  // CHECK-NOT: math.ipowi
  %y = math.ipowi %b, %n : vector<4xi8>
  return %y : vector<4xi8>
}

// -----

// Comparisons determine whether a number is NaN and whether it is normal, even for
// 16-bit numbers.
// CHECK-LABEL: func.func @classes
// CHECK-SAME:    (%[[X:.*]]: f16, %[[V:.*]]: vector<4xbf16>)
func.func @classes(%x: f16, %v: vector<4xbf16>) -> (i1, vector<4xi1>) {
  // CHECK:     %[[A:.*]] = math.absf %[[X]]
  // CHECK:     arith.cmpf uno, %[[A]], %[[A]] : f16
  %0 = math.isnan %x : f16
  // CHECK:     arith.cmpf oge, %{{.*}} : vector<4xbf16>
  // CHECK:     arith.cmpf olt, %{{.*}} : vector<4xbf16>
  %1 = math.isnormal %v : vector<4xbf16>
  return %0, %1 : i1, vector<4xi1>
}
