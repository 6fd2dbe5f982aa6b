// RUN: batch-opt %s --batch-expand-floats | FileCheck %s
// RUN: batch-opt %s --batch-expand-floats --batch-expand-floats | FileCheck %s
// RUN: batch-opt %s --batch-expand-floats --canonicalize | FileCheck %s --check-prefix=KEPT

// Each of the two ops rounds its result, even after folding.
// CHECK-LABEL: func.func @each_op
// CHECK-SAME:    %[[A:.*]]: f16, %[[B:.*]]: f16
// CHECK-DAG:   %[[A1:.*]] = arith.extf %[[A]] : f16 to f32
// CHECK-DAG:   %[[B1:.*]] = arith.extf %[[B]] : f16 to f32
// CHECK:       %[[S:.*]] = arith.addf %[[A1]], %[[B1]] : f32
// CHECK:       %[[S1:.*]] = arith.truncf %[[S]] : f32 to f16
// CHECK:       %[[S2:.*]] = arith.extf %[[S1]] : f16 to f32
// CHECK:       %[[P:.*]] = arith.mulf %[[S2]], %{{.*}} : f32
// CHECK:       arith.truncf %[[P]] : f32 to f16
// KEPT-LABEL:  func.func @each_op
// KEPT:        arith.addf
// KEPT-NEXT:   arith.truncf
// KEPT-NEXT:   arith.extf
// KEPT-NEXT:   arith.extf
// KEPT-NEXT:   arith.mulf
func.func @each_op(%a: f16, %b: f16) -> f16 {
  %s = arith.addf %a, %b : f16
  %p = arith.mulf %s, %b : f16
  return %p : f16
}

// bf16 is the upper half of an f32.
// CHECK-LABEL: func.func @vectors
// CHECK-SAME:    %[[A:.*]]: vector<4xbf16>
// CHECK:       %[[BITS:.*]] = arith.bitcast %[[A]] : vector<4xbf16> to vector<4xi16>
// CHECK:       %[[WIDE:.*]] = arith.extui %[[BITS]] : vector<4xi16> to vector<4xi32>
// CHECK:       %[[UPPER:.*]] = arith.shli %[[WIDE]]
// CHECK:       %[[A1:.*]] = arith.bitcast %[[UPPER]] : vector<4xi32> to vector<4xf32>
// CHECK:       math.exp %[[A1]] : vector<4xf32>
// CHECK-NOT:   arith.truncf
// CHECK:       return %{{.*}} : vector<4xbf16>
func.func @vectors(%a: vector<4xbf16>) -> vector<4xbf16> {
  %y = math.exp %a : vector<4xbf16>
  return %y : vector<4xbf16>
}

// Comparisons and conversions to integers read an f32. Ops that only move bits
// are not converted.
// CHECK-LABEL: func.func @results
// CHECK:       arith.cmpf olt, %{{.*}}, %{{.*}} : f32
// CHECK:       arith.fptosi %{{.*}} : f32 to i32
// CHECK-NOT:   ext
// CHECK:       arith.select %{{.*}}, %{{.*}}, %{{.*}} : f16
// CHECK:       arith.bitcast %{{.*}} : f16 to i16
func.func @results(%a: f16, %b: f16) -> (i1, i32, f16, i16) {
  %c = arith.cmpf olt, %a, %b : f16
  %i = arith.fptosi %a : f16 to i32
  %s = arith.select %c, %a, %b : f16
  %bits = arith.bitcast %s : f16 to i16
  return %c, %i, %s, %bits : i1, i32, f16, i16
}

// An f64 is first rounded to an f32, by rounding to odd.
// CHECK-LABEL: func.func @from_double
// CHECK-SAME:    %[[D:.*]]: f64
// CHECK:       %[[NEAREST:.*]] = arith.truncf %[[D]] : f64 to f32
// CHECK:       %[[BACK:.*]] = arith.extf %[[NEAREST]] : f32 to f64
// CHECK:       %[[LARGER:.*]] = arith.cmpf ogt
// CHECK:       %[[INEXACT:.*]] = arith.cmpf one, %[[BACK]], %[[D]] : f64
// CHECK:       %[[BITS:.*]] = arith.bitcast %[[NEAREST]] : f32 to i32
// CHECK:       %[[ONE:.*]] = arith.extui %[[LARGER]] : i1 to i32
// CHECK:       %[[CUT:.*]] = arith.subi %[[BITS]], %[[ONE]] : i32
// CHECK:       %[[LAST:.*]] = arith.extui %[[INEXACT]] : i1 to i32
// CHECK:       %[[ODD:.*]] = arith.ori %[[CUT]], %[[LAST]] : i32
// CHECK:       %[[F:.*]] = arith.bitcast %[[ODD]] : i32 to f32
// CHECK:       arith.truncf %[[F]] : f32 to f16
func.func @from_double(%d: f64) -> f16 {
  %h = arith.truncf %d : f64 to f16
  return %h : f16
}

// CHECK-LABEL: func.func @to_double
// CHECK-NOT:   bf16 to f64
// CHECK:       arith.extf %{{.*}} : f32 to f64
func.func @to_double(%b: bf16) -> f64 {
  %d = arith.extf %b : bf16 to f64
  return %d : f64
}

// Small integers are exact in f32, and larger integers in f64. The low bits of the
// largest integers are combined into one bit.
// CHECK-LABEL: func.func @from_integers
// CHECK:       %[[S:.*]] = arith.sitofp %{{.*}} : i16 to f32
// CHECK-NEXT:  arith.truncf %[[S]] : f32 to f16
// CHECK:       arith.uitofp %{{.*}} : i32 to f64
// CHECK:       arith.cmpi ult
// CHECK:       %[[SAFE:.*]] = arith.select
// CHECK:       arith.sitofp %[[SAFE]] : i64 to f64
func.func @from_integers(%s: i16, %i: i32, %l: i64) -> (f16, f16, f16) {
  %a = arith.sitofp %s : i16 to f16
  %b = arith.uitofp %i : i32 to f16
  %c = arith.sitofp %l : i64 to f16
  return %a, %b, %c : f16, f16, f16
}

// CHECK-LABEL: func.func @others
// CHECK-NEXT:  arith.addf %{{.*}} : f32
// CHECK-NEXT:  arith.truncf %{{.*}} : f64 to f32
// CHECK-NEXT:  return
func.func @others(%a: f32, %d: f64) -> (f32, f32) {
  %s = arith.addf %a, %a : f32
  %t = arith.truncf %d : f64 to f32
  return %s, %t : f32, f32
}
