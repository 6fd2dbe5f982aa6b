// The math dialect, on tensors and on scalars. The description of batch-expand-math lists
// the error bounds of the functions (docs/reference/generated/passes-conversion.md).

// Ops: math.absf math.acos math.asin math.asinh math.atan math.atanh math.cbrt math.ceil math.cos
//   math.cosh math.erf math.erfc math.exp math.exp2 math.expm1 math.floor math.log math.log10
//   math.log1p math.log2 math.round math.roundeven math.rsqrt math.sin math.sinh math.sqrt math.tan
//   math.tanh math.trunc
// How: elementwise
func.func private @unary(%x: tensor<19xf32>, %f: f32)
    -> (tensor<19xf32>, f32, tensor<19xf32>, f32, tensor<19xf32>, f32, tensor<19xf32>, f32, tensor<19xf32>, f32, tensor<19xf32>, f32, tensor<19xf32>, f32, tensor<19xf32>, f32, tensor<19xf32>, f32, tensor<19xf32>, f32, tensor<19xf32>, f32, tensor<19xf32>, f32, tensor<19xf32>, f32, tensor<19xf32>, f32, tensor<19xf32>, f32, tensor<19xf32>, f32, tensor<19xf32>, f32, tensor<19xf32>, f32, tensor<19xf32>, f32, tensor<19xf32>, f32, tensor<19xf32>, f32, tensor<19xf32>, f32, tensor<19xf32>, f32, tensor<19xf32>, f32, tensor<19xf32>, f32, tensor<19xf32>, f32, tensor<19xf32>, f32, tensor<19xf32>, f32, tensor<19xf32>, f32) {
  %0 = math.absf %x : tensor<19xf32>
  %1 = math.absf %f : f32
  %2 = math.acos %x : tensor<19xf32>
  %3 = math.acos %f : f32
  %4 = math.asin %x : tensor<19xf32>
  %5 = math.asin %f : f32
  %6 = math.asinh %x : tensor<19xf32>
  %7 = math.asinh %f : f32
  %8 = math.atan %x : tensor<19xf32>
  %9 = math.atan %f : f32
  %10 = math.atanh %x : tensor<19xf32>
  %11 = math.atanh %f : f32
  %12 = math.cbrt %x : tensor<19xf32>
  %13 = math.cbrt %f : f32
  %14 = math.ceil %x : tensor<19xf32>
  %15 = math.ceil %f : f32
  %16 = math.cos %x : tensor<19xf32>
  %17 = math.cos %f : f32
  %18 = math.cosh %x : tensor<19xf32>
  %19 = math.cosh %f : f32
  %20 = math.erf %x : tensor<19xf32>
  %21 = math.erf %f : f32
  %22 = math.erfc %x : tensor<19xf32>
  %23 = math.erfc %f : f32
  %24 = math.exp %x : tensor<19xf32>
  %25 = math.exp %f : f32
  %26 = math.exp2 %x : tensor<19xf32>
  %27 = math.exp2 %f : f32
  %28 = math.expm1 %x : tensor<19xf32>
  %29 = math.expm1 %f : f32
  %30 = math.floor %x : tensor<19xf32>
  %31 = math.floor %f : f32
  %32 = math.log %x : tensor<19xf32>
  %33 = math.log %f : f32
  %34 = math.log10 %x : tensor<19xf32>
  %35 = math.log10 %f : f32
  %36 = math.log1p %x : tensor<19xf32>
  %37 = math.log1p %f : f32
  %38 = math.log2 %x : tensor<19xf32>
  %39 = math.log2 %f : f32
  %40 = math.round %x : tensor<19xf32>
  %41 = math.round %f : f32
  %42 = math.roundeven %x : tensor<19xf32>
  %43 = math.roundeven %f : f32
  %44 = math.rsqrt %x : tensor<19xf32>
  %45 = math.rsqrt %f : f32
  %46 = math.sin %x : tensor<19xf32>
  %47 = math.sin %f : f32
  %48 = math.sinh %x : tensor<19xf32>
  %49 = math.sinh %f : f32
  %50 = math.sqrt %x : tensor<19xf32>
  %51 = math.sqrt %f : f32
  %52 = math.tan %x : tensor<19xf32>
  %53 = math.tan %f : f32
  %54 = math.tanh %x : tensor<19xf32>
  %55 = math.tanh %f : f32
  %56 = math.trunc %x : tensor<19xf32>
  %57 = math.trunc %f : f32
  return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57 : tensor<19xf32>, f32, tensor<19xf32>, f32, tensor<19xf32>, f32, tensor<19xf32>, f32, tensor<19xf32>, f32, tensor<19xf32>, f32, tensor<19xf32>, f32, tensor<19xf32>, f32, tensor<19xf32>, f32, tensor<19xf32>, f32, tensor<19xf32>, f32, tensor<19xf32>, f32, tensor<19xf32>, f32, tensor<19xf32>, f32, tensor<19xf32>, f32, tensor<19xf32>, f32, tensor<19xf32>, f32, tensor<19xf32>, f32, tensor<19xf32>, f32, tensor<19xf32>, f32, tensor<19xf32>, f32, tensor<19xf32>, f32, tensor<19xf32>, f32, tensor<19xf32>, f32, tensor<19xf32>, f32, tensor<19xf32>, f32, tensor<19xf32>, f32, tensor<19xf32>, f32, tensor<19xf32>, f32
}

// Ops: math.atan2 math.copysign math.powf math.fma math.clampf math.fpowi
// How: elementwise
func.func private @several(%x: tensor<19xf32>, %W: tensor<19xf32>, %n: tensor<19xi32>, %f: f32, %g: f32)
    -> (tensor<19xf32>, f32, tensor<19xf32>, f32, tensor<19xf32>, f32, tensor<19xf32>, f32, tensor<19xf32>, f32, tensor<19xf32>) {
  %0 = math.atan2 %x, %W : tensor<19xf32>
  %1 = math.atan2 %f, %g : f32
  %2 = math.copysign %x, %W : tensor<19xf32>
  %3 = math.copysign %f, %g : f32
  %4 = math.powf %x, %W : tensor<19xf32>
  %5 = math.powf %f, %g : f32
  %6 = math.fma %x, %W, %x : tensor<19xf32>
  %7 = math.fma %f, %g, %f : f32
  %8 = math.clampf %x to [%W, %x] : tensor<19xf32>
  %9 = math.clampf %f to [%f, %g] : f32
  %10 = math.fpowi %x, %n : tensor<19xf32>, tensor<19xi32>
  return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10 : tensor<19xf32>, f32, tensor<19xf32>, f32, tensor<19xf32>, f32, tensor<19xf32>, f32, tensor<19xf32>, f32, tensor<19xf32>
}

// Ops: math.acosh math.sincos
// How: elementwise
func.func private @beyond(%x: tensor<19xf32>, %f: f32)
    -> (tensor<19xf32>, tensor<19xf32>, tensor<19xf32>, f32) {
  %one = arith.constant dense<1.0> : tensor<19xf32>
  %y = arith.addf %x, %one : tensor<19xf32>
  %0 = math.acosh %y : tensor<19xf32>
  %s:2 = math.sincos %x : tensor<19xf32>
  %g = arith.addf %f, %f : f32
  %h = arith.addf %g, %g : f32
  %k = arith.addf %h, %h : f32
  %1 = math.acosh %k : f32
  return %0, %s#0, %s#1, %1 : tensor<19xf32>, tensor<19xf32>, tensor<19xf32>, f32
}

// Ops: math.isfinite math.isinf math.isnan math.isnormal
// How: elementwise
func.func private @classes(%x: tensor<19xf32>, %f: f32)
    -> (tensor<19xi1>, i1, tensor<19xi1>, i1, tensor<19xi1>, i1, tensor<19xi1>, i1) {
  %0 = math.isfinite %x : tensor<19xf32>
  %1 = math.isfinite %f : f32
  %2 = math.isinf %x : tensor<19xf32>
  %3 = math.isinf %f : f32
  %4 = math.isnan %x : tensor<19xf32>
  %5 = math.isnan %f : f32
  %6 = math.isnormal %x : tensor<19xf32>
  %7 = math.isnormal %f : f32
  return %0, %1, %2, %3, %4, %5, %6, %7 : tensor<19xi1>, i1, tensor<19xi1>, i1, tensor<19xi1>, i1, tensor<19xi1>, i1
}

// Ops: math.absi math.ctlz math.cttz math.ctpop math.ipowi
// How: elementwise
func.func private @integers_of_math(%n: tensor<19xi32>, %K: tensor<19xi32>, %i: i64, %j: i64)
    -> (tensor<19xi32>, i64, tensor<19xi32>, i64, tensor<19xi32>, i64, tensor<19xi32>, i64, tensor<19xi32>, i64) {
  %0 = math.absi %n : tensor<19xi32>
  %1 = math.absi %i : i64
  %2 = math.ctlz %n : tensor<19xi32>
  %3 = math.ctlz %i : i64
  %4 = math.cttz %n : tensor<19xi32>
  %5 = math.cttz %i : i64
  %6 = math.ctpop %n : tensor<19xi32>
  %7 = math.ctpop %i : i64
  %8 = math.ipowi %n, %K : tensor<19xi32>
  %9 = math.ipowi %i, %j : i64
  return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9 : tensor<19xi32>, i64, tensor<19xi32>, i64, tensor<19xi32>, i64, tensor<19xi32>, i64, tensor<19xi32>, i64
}
