// RUN: batch-opt %s --batch-expand-math | grep -o 'math\.[a-z0-9]*' | env LC_ALL=C sort -u | \
// RUN:   FileCheck %s --match-full-lines
// RUN: batch-opt %s --batch-expand-math=share=true | grep -o 'math\.[a-z0-9]*' | \
// RUN:   env LC_ALL=C sort -u | FileCheck %s --match-full-lines

// All ops of the math dialect, on scalars of f32 and i32 and on vectors of f64 and i64. Ops remain
// only if targets have instructions for them or LLVM generates code for them.
// CHECK:      math.absf
// CHECK-NEXT: math.absi
// CHECK-NEXT: math.ceil
// CHECK-NEXT: math.copysign
// CHECK-NEXT: math.ctlz
// CHECK-NEXT: math.ctpop
// CHECK-NEXT: math.cttz
// CHECK-NEXT: math.floor
// CHECK-NEXT: math.fma
// CHECK-NEXT: math.roundeven
// CHECK-NEXT: math.sqrt
// CHECK-NEXT: math.trunc
// CHECK-NOT:  math.
func.func @f32(%x: f32, %y: f32, %n: i32) -> (f32, i32, i1) {
  %0 = math.absf %x : f32
  %1 = math.acos %0 : f32
  %2 = math.acosh %1 : f32
  %3 = math.asin %2 : f32
  %4 = math.asinh %3 : f32
  %5 = math.atan %4 : f32
  %6 = math.atanh %5 : f32
  %7 = math.cbrt %6 : f32
  %8 = math.ceil %7 : f32
  %9 = math.cos %8 : f32
  %10 = math.cosh %9 : f32
  %11 = math.erf %10 : f32
  %12 = math.erfc %11 : f32
  %13 = math.exp %12 : f32
  %14 = math.exp2 %13 : f32
  %15 = math.expm1 %14 : f32
  %16 = math.floor %15 : f32
  %17 = math.log %16 : f32
  %18 = math.log10 %17 : f32
  %19 = math.log1p %18 : f32
  %20 = math.log2 %19 : f32
  %21 = math.round %20 : f32
  %22 = math.roundeven %21 : f32
  %23 = math.rsqrt %22 : f32
  %24 = math.sin %23 : f32
  %25 = math.sinh %24 : f32
  %26 = math.sqrt %25 : f32
  %27 = math.tan %26 : f32
  %28 = math.tanh %27 : f32
  %29 = math.trunc %28 : f32
  %30 = math.atan2 %29, %y : f32
  %31 = math.copysign %30, %y : f32
  %32 = math.powf %31, %y : f32
  %33 = math.fma %32, %x, %y : f32
  %34 = math.clampf %33 to [%x, %y] : f32
  %35 = math.fpowi %34, %n : f32, i32
  %sine, %cosine = math.sincos %35 : f32
  %r = arith.addf %sine, %cosine : f32
  %n0 = math.absi %n : i32
  %n1 = math.ctlz %n0 : i32
  %n2 = math.ctpop %n1 : i32
  %n3 = math.cttz %n2 : i32
  %power = math.ipowi %n3, %n : i32
  %b0 = math.isfinite %r : f32
  %b1 = math.isinf %r : f32
  %y1 = arith.ori %b0, %b1 : i1
  %b2 = math.isnan %r : f32
  %y2 = arith.ori %y1, %b2 : i1
  %b3 = math.isnormal %r : f32
  %y3 = arith.ori %y2, %b3 : i1
  return %r, %power, %y3 : f32, i32, i1
}
func.func @f64(%x: vector<4xf64>, %y: vector<4xf64>, %n: vector<4xi64>) -> (vector<4xf64>, vector<4xi64>, vector<4xi1>) {
  %0 = math.absf %x : vector<4xf64>
  %1 = math.acos %0 : vector<4xf64>
  %2 = math.acosh %1 : vector<4xf64>
  %3 = math.asin %2 : vector<4xf64>
  %4 = math.asinh %3 : vector<4xf64>
  %5 = math.atan %4 : vector<4xf64>
  %6 = math.atanh %5 : vector<4xf64>
  %7 = math.cbrt %6 : vector<4xf64>
  %8 = math.ceil %7 : vector<4xf64>
  %9 = math.cos %8 : vector<4xf64>
  %10 = math.cosh %9 : vector<4xf64>
  %11 = math.erf %10 : vector<4xf64>
  %12 = math.erfc %11 : vector<4xf64>
  %13 = math.exp %12 : vector<4xf64>
  %14 = math.exp2 %13 : vector<4xf64>
  %15 = math.expm1 %14 : vector<4xf64>
  %16 = math.floor %15 : vector<4xf64>
  %17 = math.log %16 : vector<4xf64>
  %18 = math.log10 %17 : vector<4xf64>
  %19 = math.log1p %18 : vector<4xf64>
  %20 = math.log2 %19 : vector<4xf64>
  %21 = math.round %20 : vector<4xf64>
  %22 = math.roundeven %21 : vector<4xf64>
  %23 = math.rsqrt %22 : vector<4xf64>
  %24 = math.sin %23 : vector<4xf64>
  %25 = math.sinh %24 : vector<4xf64>
  %26 = math.sqrt %25 : vector<4xf64>
  %27 = math.tan %26 : vector<4xf64>
  %28 = math.tanh %27 : vector<4xf64>
  %29 = math.trunc %28 : vector<4xf64>
  %30 = math.atan2 %29, %y : vector<4xf64>
  %31 = math.copysign %30, %y : vector<4xf64>
  %32 = math.powf %31, %y : vector<4xf64>
  %33 = math.fma %32, %x, %y : vector<4xf64>
  %34 = math.clampf %33 to [%x, %y] : vector<4xf64>
  %35 = math.fpowi %34, %n : vector<4xf64>, vector<4xi64>
  %sine, %cosine = math.sincos %35 : vector<4xf64>
  %r = arith.addf %sine, %cosine : vector<4xf64>
  %n0 = math.absi %n : vector<4xi64>
  %n1 = math.ctlz %n0 : vector<4xi64>
  %n2 = math.ctpop %n1 : vector<4xi64>
  %n3 = math.cttz %n2 : vector<4xi64>
  %power = math.ipowi %n3, %n : vector<4xi64>
  %b0 = math.isfinite %r : vector<4xf64>
  %b1 = math.isinf %r : vector<4xf64>
  %y1 = arith.ori %b0, %b1 : vector<4xi1>
  %b2 = math.isnan %r : vector<4xf64>
  %y2 = arith.ori %y1, %b2 : vector<4xi1>
  %b3 = math.isnormal %r : vector<4xf64>
  %y3 = arith.ori %y2, %b3 : vector<4xi1>
  return %r, %power, %y3 : vector<4xf64>, vector<4xi64>, vector<4xi1>
}
