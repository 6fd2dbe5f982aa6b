// RUN: batch-opt %s --batch-saturate-conversions | FileCheck %s
// RUN: batch-opt %s --batch-saturate-conversions --canonicalize | FileCheck %s --check-prefix=FOLDED

// Floats represent the bounds of i8 exactly, so only the operand is bounded. For a NaN, the
// operand becomes the least number, and the result becomes 0.
// CHECK-LABEL: func.func @small
// CHECK-SAME:    %[[X:.*]]: f32
// CHECK:       %[[LEAST:.*]] = arith.constant -1.280000e+02 : f32
// CHECK:       %[[ABOVE:.*]] = arith.cmpf ogt, %[[X]], %[[LEAST]] : f32
// CHECK:       %[[Y:.*]] = arith.select %[[ABOVE]], %[[X]], %[[LEAST]] : f32
// CHECK:       %[[MOST:.*]] = arith.constant 1.270000e+02 : f32
// CHECK:       %[[BELOW:.*]] = arith.cmpf olt, %[[Y]], %[[MOST]] : f32
// CHECK:       %[[Z:.*]] = arith.select %[[BELOW]], %[[Y]], %[[MOST]] : f32
// CHECK:       %[[I:.*]] = arith.fptosi %[[Z]] : f32 to i8
// CHECK:       %[[ZERO:.*]] = arith.constant 0 : i8
// CHECK:       %[[NUMBER:.*]] = arith.cmpf ord, %[[X]], %[[X]] : f32
// CHECK:       %[[R:.*]] = arith.select %[[NUMBER]], %[[I]], %[[ZERO]] : i8
// CHECK-NEXT:  return %[[R]] : i8
func.func @small(%x: f32) -> i8 {
  %i = arith.fptosi %x : f32 to i8
  return %i : i8
}

// f32 cannot represent the greatest number of i32. This number is selected as
// the result if the operand is too large.
// CHECK-LABEL: func.func @large
// CHECK-SAME:    %[[X:.*]]: vector<8xf32>
// CHECK:       arith.constant dense<-2.14748365E+9> : vector<8xf32>
// CHECK:       %[[Y:.*]] = arith.select
// CHECK:       %[[LIMIT:.*]] = arith.constant dense<2.14748365E+9> : vector<8xf32>
// CHECK-NOT:   arith.select
// CHECK:       %[[I:.*]] = arith.fptosi %[[Y]] : vector<8xf32> to vector<8xi32>
// CHECK:       %[[MOST:.*]] = arith.constant dense<2147483647> : vector<8xi32>
// CHECK:       %[[BELOW:.*]] = arith.cmpf olt, %[[Y]], %[[LIMIT]] : vector<8xf32>
// CHECK:       %[[B:.*]] = arith.select %[[BELOW]], %[[I]], %[[MOST]]
// CHECK:       %[[NUMBER:.*]] = arith.cmpf ord, %[[X]], %[[X]]
// CHECK:       %[[R:.*]] = arith.select %[[NUMBER]], %[[B]], %{{.*}} : vector<8xi1>, vector<8xi32>
// CHECK-NEXT:  return %[[R]]
func.func @large(%x: vector<8xf32>) -> vector<8xi32> {
  %i = arith.fptosi %x : vector<8xf32> to vector<8xi32>
  return %i : vector<8xi32>
}

// A NaN is not greater than 0, the least number of an unsigned type, so its result is 0.
// CHECK-LABEL: func.func @unsigned
// CHECK:       arith.constant 0.000000e+00 : f64
// CHECK:       arith.cmpf ogt
// CHECK:       arith.constant 1.8446744073709552E+19 : f64
// CHECK:       %[[I:.*]] = arith.fptoui
// CHECK:       %[[MOST:.*]] = arith.constant -1 : i64
// CHECK:       arith.cmpf olt
// CHECK-NEXT:  %[[R:.*]] = arith.select %{{.*}}, %[[I]], %[[MOST]] : i64
// CHECK-NEXT:  return %[[R]]
func.func @unsigned(%x: f64) -> i64 {
  %i = arith.fptoui %x : f64 to i64
  return %i : i64
}

// CHECK-LABEL: func.func @others
// CHECK-NEXT:  arith.sitofp
// CHECK-NEXT:  return
func.func @others(%i: i32) -> f32 {
  %x = arith.sitofp %i : i32 to f32
  return %x : f32
}

// Constants fold to the values that the code computes.
// FOLDED-LABEL: func.func @known
// FOLDED-DAG:   %[[MINUS:.*]] = arith.constant -128 : i8
// FOLDED-DAG:   %[[MOST:.*]] = arith.constant 2147483647 : i32
// FOLDED-DAG:   %[[ALL:.*]] = arith.constant -1 : i16
// FOLDED-DAG:   %[[NONE:.*]] = arith.constant 0 : i64
// FOLDED:       return %[[MINUS]], %[[MOST]], %[[ALL]], %[[NONE]], %[[NONE]]
func.func @known() -> (i8, i32, i16, i64, i64) {
  %least = arith.constant -129.0 : f32
  %a = arith.fptosi %least : f32 to i8
  %infinite = arith.constant 0x7F800000 : f32
  %b = arith.fptosi %infinite : f32 to i32
  %large = arith.constant 1.0e300 : f64
  %c = arith.fptoui %large : f64 to i16
  %negative = arith.constant -0.5 : f32
  %d = arith.fptoui %negative : f32 to i64
  %nan = arith.constant 0x7FF8000000000000 : f64
  %e = arith.fptosi %nan : f64 to i64
  return %a, %b, %c, %d, %e : i8, i32, i16, i64, i64
}
