// The arith dialect, on tensors and on scalars of instances and parameters.

// Ops: arith.addf arith.subf arith.mulf arith.divf arith.remf arith.maximumf arith.minimumf
//   arith.maxnumf arith.minnumf arith.negf
// How: elementwise
func.func private @floats(%x: tensor<19xf32>, %W: tensor<19xf32>, %f: f32, %g: f32)
    -> (tensor<19xf32>, f32, tensor<19xf32>, f32, tensor<19xf32>, f32, tensor<19xf32>, f32, tensor<19xf32>, f32, tensor<19xf32>, f32, tensor<19xf32>, f32, tensor<19xf32>, f32, tensor<19xf32>, f32, tensor<19xf32>, f32) {
  %0 = arith.addf %x, %W : tensor<19xf32>
  %1 = arith.addf %f, %g : f32
  %2 = arith.subf %x, %W : tensor<19xf32>
  %3 = arith.subf %f, %g : f32
  %4 = arith.mulf %x, %W : tensor<19xf32>
  %5 = arith.mulf %f, %g : f32
  %6 = arith.divf %x, %W : tensor<19xf32>
  %7 = arith.divf %f, %g : f32
  %8 = arith.remf %x, %W : tensor<19xf32>
  %9 = arith.remf %f, %g : f32
  %10 = arith.maximumf %x, %W : tensor<19xf32>
  %11 = arith.maximumf %f, %g : f32
  %12 = arith.minimumf %x, %W : tensor<19xf32>
  %13 = arith.minimumf %f, %g : f32
  %14 = arith.maxnumf %x, %W : tensor<19xf32>
  %15 = arith.maxnumf %f, %g : f32
  %16 = arith.minnumf %x, %W : tensor<19xf32>
  %17 = arith.minnumf %f, %g : f32
  %18 = arith.negf %x : tensor<19xf32>
  %19 = arith.negf %f : f32
  return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19 : tensor<19xf32>, f32, tensor<19xf32>, f32, tensor<19xf32>, f32, tensor<19xf32>, f32, tensor<19xf32>, f32, tensor<19xf32>, f32, tensor<19xf32>, f32, tensor<19xf32>, f32, tensor<19xf32>, f32, tensor<19xf32>, f32
}

// Ops: arith.addi arith.subi arith.muli arith.andi arith.ori arith.xori arith.maxsi arith.minsi
//   arith.maxui arith.minui arith.divsi arith.divui arith.remsi arith.remui arith.ceildivsi
//   arith.ceildivui arith.floordivsi arith.shli arith.shrsi arith.shrui
// How: elementwise
func.func private @integers(%n: tensor<19xi32>, %K: tensor<19xi32>, %i: i64, %j: i64)
    -> (tensor<19xi32>, i64, tensor<19xi32>, i64, tensor<19xi32>, i64, tensor<19xi32>, i64, tensor<19xi32>, i64, tensor<19xi32>, i64, tensor<19xi32>, i64, tensor<19xi32>, i64, tensor<19xi32>, i64, tensor<19xi32>, i64, tensor<19xi32>, i64, tensor<19xi32>, i64, tensor<19xi32>, i64, tensor<19xi32>, i64, tensor<19xi32>, i64, tensor<19xi32>, i64, tensor<19xi32>, i64, tensor<19xi32>, i64, tensor<19xi32>, i64, tensor<19xi32>, i64) {
  %0 = arith.addi %n, %K : tensor<19xi32>
  %1 = arith.addi %i, %j : i64
  %2 = arith.subi %n, %K : tensor<19xi32>
  %3 = arith.subi %i, %j : i64
  %4 = arith.muli %n, %K : tensor<19xi32>
  %5 = arith.muli %i, %j : i64
  %6 = arith.andi %n, %K : tensor<19xi32>
  %7 = arith.andi %i, %j : i64
  %8 = arith.ori %n, %K : tensor<19xi32>
  %9 = arith.ori %i, %j : i64
  %10 = arith.xori %n, %K : tensor<19xi32>
  %11 = arith.xori %i, %j : i64
  %12 = arith.maxsi %n, %K : tensor<19xi32>
  %13 = arith.maxsi %i, %j : i64
  %14 = arith.minsi %n, %K : tensor<19xi32>
  %15 = arith.minsi %i, %j : i64
  %16 = arith.maxui %n, %K : tensor<19xi32>
  %17 = arith.maxui %i, %j : i64
  %18 = arith.minui %n, %K : tensor<19xi32>
  %19 = arith.minui %i, %j : i64
  %20 = arith.divsi %n, %K : tensor<19xi32>
  %21 = arith.divsi %i, %j : i64
  %22 = arith.divui %n, %K : tensor<19xi32>
  %23 = arith.divui %i, %j : i64
  %24 = arith.remsi %n, %K : tensor<19xi32>
  %25 = arith.remsi %i, %j : i64
  %26 = arith.remui %n, %K : tensor<19xi32>
  %27 = arith.remui %i, %j : i64
  %28 = arith.ceildivsi %n, %K : tensor<19xi32>
  %29 = arith.ceildivsi %i, %j : i64
  %30 = arith.ceildivui %n, %K : tensor<19xi32>
  %31 = arith.ceildivui %i, %j : i64
  %32 = arith.floordivsi %n, %K : tensor<19xi32>
  %33 = arith.floordivsi %i, %j : i64
  %34 = arith.shli %n, %K : tensor<19xi32>
  %35 = arith.shli %i, %j : i64
  %36 = arith.shrsi %n, %K : tensor<19xi32>
  %37 = arith.shrsi %i, %j : i64
  %38 = arith.shrui %n, %K : tensor<19xi32>
  %39 = arith.shrui %i, %j : i64
  return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39 : tensor<19xi32>, i64, tensor<19xi32>, i64, tensor<19xi32>, i64, tensor<19xi32>, i64, tensor<19xi32>, i64, tensor<19xi32>, i64, tensor<19xi32>, i64, tensor<19xi32>, i64, tensor<19xi32>, i64, tensor<19xi32>, i64, tensor<19xi32>, i64, tensor<19xi32>, i64, tensor<19xi32>, i64, tensor<19xi32>, i64, tensor<19xi32>, i64, tensor<19xi32>, i64, tensor<19xi32>, i64, tensor<19xi32>, i64, tensor<19xi32>, i64, tensor<19xi32>, i64
}

// Ops: arith.addui_extended arith.mulsi_extended arith.mului_extended
// How: elementwise
func.func private @extended(%n: tensor<19xi32>, %K: tensor<19xi32>)
    -> (tensor<19xi32>, tensor<19xi1>, tensor<19xi32>, tensor<19xi32>, tensor<19xi32>, tensor<19xi32>) {
  %addui_extended:2 = arith.addui_extended %n, %K : tensor<19xi32>, tensor<19xi1>
  %mulsi_extended:2 = arith.mulsi_extended %n, %K : tensor<19xi32>
  %mului_extended:2 = arith.mului_extended %n, %K : tensor<19xi32>
  return %addui_extended#0, %addui_extended#1, %mulsi_extended#0, %mulsi_extended#1, %mului_extended#0, %mului_extended#1 : tensor<19xi32>, tensor<19xi1>, tensor<19xi32>, tensor<19xi32>, tensor<19xi32>, tensor<19xi32>
}

// Ops: arith.cmpf arith.cmpi
// How: elementwise
func.func private @comparisons(%x: tensor<19xf32>, %W: tensor<19xf32>, %n: tensor<19xi32>, %K: tensor<19xi32>, %f: f32, %g: f32, %i: i64, %j: i64)
    -> (tensor<19xi1>, i1, tensor<19xi1>, i1) {
  %0 = arith.cmpf olt, %x, %W : tensor<19xf32>
  %1 = arith.cmpf une, %f, %g : f32
  %2 = arith.cmpi slt, %n, %K : tensor<19xi32>
  %3 = arith.cmpi uge, %i, %j : i64
  return %0, %1, %2, %3 : tensor<19xi1>, i1, tensor<19xi1>, i1
}

// Ops: arith.select
// How: elementwise; a condition that is a scalar selects whole tensors
func.func private @choices(%x: tensor<19xf32>, %W: tensor<19xf32>, %i: i64, %j: i64)
    -> (tensor<19xf32>, tensor<19xf32>, i64) {
  %c = arith.cmpf olt, %x, %W : tensor<19xf32>
  %d = arith.cmpi slt, %i, %j : i64
  %0 = arith.select %c, %x, %W : tensor<19xi1>, tensor<19xf32>
  %1 = arith.select %d, %x, %W : tensor<19xf32>
  %2 = arith.select %d, %i, %j : i64
  return %0, %1, %2 : tensor<19xf32>, tensor<19xf32>, i64
}

// Ops: arith.extf arith.truncf arith.extsi arith.extui arith.trunci arith.sitofp arith.uitofp
//   arith.fptosi arith.fptoui arith.bitcast arith.index_cast arith.index_castui
// How: elementwise
func.func private @conversions(%x: tensor<19xf32>, %n: tensor<19xi32>, %f: f32, %i: i64)
    -> (tensor<19xf64>, tensor<19xf32>, tensor<19xbf16>, tensor<19xi64>, tensor<19xi64>, tensor<19xi8>, tensor<19xf32>, tensor<19xf32>, tensor<19xi32>, tensor<19xi32>, tensor<19xi32>, tensor<19xindex>, tensor<19xindex>, f64, f32, i32, i64, i64, f64, f64, i64, i64, i32, index, index) {
  %0 = arith.extf %x : tensor<19xf32> to tensor<19xf64>
  %1 = arith.truncf %0 : tensor<19xf64> to tensor<19xf32>
  %2 = arith.truncf %x : tensor<19xf32> to tensor<19xbf16>
  %3 = arith.extsi %n : tensor<19xi32> to tensor<19xi64>
  %4 = arith.extui %n : tensor<19xi32> to tensor<19xi64>
  %5 = arith.trunci %3 : tensor<19xi64> to tensor<19xi8>
  %6 = arith.sitofp %n : tensor<19xi32> to tensor<19xf32>
  %7 = arith.uitofp %n : tensor<19xi32> to tensor<19xf32>
  %8 = arith.fptosi %6 : tensor<19xf32> to tensor<19xi32>
  %9 = arith.fptoui %6 : tensor<19xf32> to tensor<19xi32>
  %10 = arith.bitcast %x : tensor<19xf32> to tensor<19xi32>
  %11 = arith.index_cast %n : tensor<19xi32> to tensor<19xindex>
  %12 = arith.index_castui %n : tensor<19xi32> to tensor<19xindex>
  %13 = arith.extf %f : f32 to f64
  %14 = arith.truncf %13 : f64 to f32
  %15 = arith.trunci %i : i64 to i32
  %16 = arith.extsi %15 : i32 to i64
  %17 = arith.extui %15 : i32 to i64
  %18 = arith.sitofp %i : i64 to f64
  %19 = arith.uitofp %i : i64 to f64
  %20 = arith.fptosi %18 : f64 to i64
  %21 = arith.fptoui %18 : f64 to i64
  %22 = arith.bitcast %f : f32 to i32
  %23 = arith.index_cast %i : i64 to index
  %24 = arith.index_castui %i : i64 to index
  return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24 : tensor<19xf64>, tensor<19xf32>, tensor<19xbf16>, tensor<19xi64>, tensor<19xi64>, tensor<19xi8>, tensor<19xf32>, tensor<19xf32>, tensor<19xi32>, tensor<19xi32>, tensor<19xi32>, tensor<19xindex>, tensor<19xindex>, f64, f32, i32, i64, i64, f64, f64, i64, i64, i32, index, index
}

// Ops: arith.constant
// How: once for all tasks, where it is read
func.func private @constants()
    -> (tensor<3xf32>, tensor<3xi64>, f64) {
  %0 = arith.constant dense<[1.5, 2.5, -3.0]> : tensor<3xf32>
  %1 = arith.constant dense<7> : tensor<3xi64>
  %2 = arith.constant 2.5 : f64
  return %0, %1, %2 : tensor<3xf32>, tensor<3xi64>, f64
}
