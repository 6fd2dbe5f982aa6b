// RUN: batch-opt %s --batch-expand-math --split-input-file | FileCheck %s

// The accuracy over all floats is checked by unittests/Conversion.


// exp: the argument is bounded, reduced by multiples of ln 2 in two fmas, and
// the power of two is put back in two factors, so that overflow and subnormal
// results are right.
// CHECK-LABEL: func.func @exp_scalar
// CHECK-SAME:    %[[X:.*]]: f32
func.func @exp_scalar(%x: f32) -> f32 {
  // CHECK:       %[[HIGH:.*]] = arith.constant 8.900000e+01 : f32
  // CHECK:       %[[OVER:.*]] = arith.cmpf olt, %[[HIGH]], %[[X]] : f32
  // CHECK:       %[[X1:.*]] = arith.select %[[OVER]], %[[HIGH]], %[[X]] : f32
  // CHECK:       %[[LOW:.*]] = arith.constant -1.040000e+02 : f32
  // CHECK:       %[[UNDER:.*]] = arith.cmpf olt, %[[X1]], %[[LOW]] : f32
  // CHECK:       %[[X2:.*]] = arith.select %[[UNDER]], %[[LOW]], %[[X1]] : f32
  // CHECK-COUNT-3: math.fma {{.*}} : f32
  // CHECK:       arith.shrsi {{.*}} : i32
  // CHECK-COUNT-6: math.fma {{.*}} : f32
  // CHECK:       arith.shli {{.*}} : i32
  // CHECK:       arith.mulf
  // CHECK:       arith.shli {{.*}} : i32
  // CHECK:       %[[Y:.*]] = arith.mulf
  // CHECK:       return %[[Y]]
  %y = math.exp %x : f32
  return %y : f32
}

// -----

// A vector of any rank takes the same operations.
// CHECK-LABEL: func.func @exp_vector
func.func @exp_vector(%x: vector<12x32xf32>) -> vector<12x32xf32> {
  // CHECK:         arith.select {{.*}} : vector<12x32xi1>, vector<12x32xf32>
  // CHECK:         arith.select {{.*}} : vector<12x32xi1>, vector<12x32xf32>
  // CHECK-COUNT-3: math.fma {{.*}} : vector<12x32xf32>
  // CHECK:         arith.shrsi {{.*}} : vector<12x32xi32>
  // CHECK-COUNT-6: math.fma {{.*}} : vector<12x32xf32>
  // CHECK-COUNT-2: arith.mulf {{.*}} : vector<12x32xf32>
  %y = math.exp %x : vector<12x32xf32>
  return %y : vector<12x32xf32>
}

// -----

// tanh: a polynomial near zero, an exponential elsewhere, a select between
// them, and the sign of the argument last, so that -0 stays -0.
// CHECK-LABEL: func.func @tanh_vector
// CHECK-SAME:    %[[X:.*]]: vector<16xf32>
func.func @tanh_vector(%x: vector<16xf32>) -> vector<16xf32> {
  // CHECK:     %[[ABS:.*]] = math.absf %[[X]]
  // CHECK:     arith.divf
  // CHECK:     %[[LARGE:.*]] = arith.subf
  // CHECK:     %[[LESS:.*]] = arith.cmpf olt, %[[ABS]],
  // CHECK:     %[[R:.*]] = arith.select %[[LESS]], %{{.*}}, %[[LARGE]]
  // CHECK:     %[[Y:.*]] = math.copysign %[[R]], %[[X]]
  // CHECK-NOT: scf.if
  // CHECK:     return %[[Y]]
  %y = math.tanh %x : vector<16xf32>
  return %y : vector<16xf32>
}

// -----

// Other types and other functions are left alone.
// CHECK-LABEL: func.func @untouched
func.func @untouched(%x: f64, %v: vector<[4]xf32>, %t: tensor<4xf32>, %s: f32)
    -> (f64, vector<[4]xf32>, tensor<4xf32>, f32) {
  // CHECK: math.exp %{{.*}} : f64
  // CHECK: math.tanh %{{.*}} : vector<[4]xf32>
  // CHECK: math.exp %{{.*}} : tensor<4xf32>
  // CHECK: math.erf %{{.*}} : f32
  %0 = math.exp %x : f64
  %1 = math.tanh %v : vector<[4]xf32>
  %2 = math.exp %t : tensor<4xf32>
  %3 = math.erf %s : f32
  return %0, %1, %2, %3 : f64, vector<[4]xf32>, tensor<4xf32>, f32
}

// -----

// log: the exponent and the fraction apart, a quotient and a polynomial of its
// square; zero, negative numbers, infinity and NaN by selects.
// CHECK-LABEL: func.func @log_vector
// CHECK-SAME:    %[[X:.*]]: vector<8xf32>
func.func @log_vector(%x: vector<8xf32>) -> vector<8xf32> {
  // CHECK:         arith.bitcast %{{.*}} : vector<8xf32> to vector<8xi32>
  // CHECK:         arith.shrsi
  // CHECK:         arith.sitofp
  // CHECK:         arith.andi
  // CHECK:         arith.divf
  // CHECK-COUNT-5: math.fma
  // CHECK:         %[[Y:.*]] = arith.select %{{.*}}, %{{.*}}, %[[X]]
  // CHECK-NOT:     math.log
  // CHECK:         return %[[Y]]
  %y = math.log %x : vector<8xf32>
  return %y : vector<8xf32>
}
