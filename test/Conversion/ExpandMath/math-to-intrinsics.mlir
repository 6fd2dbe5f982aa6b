// RUN: batch-opt %s --batch-math-to-intrinsics --split-input-file --verify-diagnostics | FileCheck %s

// Ops that a GPU has instructions for, on scalars and vectors.
// CHECK-LABEL: func.func @known
// CHECK-SAME:    (%[[X:.*]]: f32, %[[V:.*]]: vector<4xf32>)
func.func @known(%x: f32, %v: vector<4xf32>) -> (f32, vector<4xf32>) {
  // CHECK-NEXT: %[[A:.*]] = llvm.call_intrinsic "llvm.fabs"(%[[X]]) : (f32) -> f32
  // CHECK-NEXT: %[[B:.*]] = llvm.call_intrinsic "llvm.ceil"(%[[A]])
  // CHECK-NEXT: %[[C:.*]] = llvm.call_intrinsic "llvm.floor"(%[[B]])
  // CHECK-NEXT: %[[D:.*]] = llvm.call_intrinsic "llvm.roundeven"(%[[C]])
  // CHECK-NEXT: %[[E:.*]] = llvm.call_intrinsic "llvm.sqrt"(%[[D]])
  // CHECK-NEXT: %[[F:.*]] = llvm.call_intrinsic "llvm.trunc"(%[[E]])
  // CHECK-NEXT: %[[G:.*]] = llvm.call_intrinsic "llvm.copysign"(%[[F]], %[[X]]) : (f32, f32) -> f32
  // CHECK-NEXT: %[[H:.*]] = llvm.call_intrinsic "llvm.fma"(%[[V]], %[[V]], %[[V]]) : (vector<4xf32>, vector<4xf32>, vector<4xf32>) -> vector<4xf32>
  // CHECK-NEXT: return %[[G]], %[[H]]
  %a = math.absf %x : f32
  %b = math.ceil %a : f32
  %c = math.floor %b : f32
  %d = math.roundeven %c : f32
  %e = math.sqrt %d : f32
  %f = math.trunc %e : f32
  %g = math.copysign %f, %x : f32
  %h = math.fma %v, %v, %v : vector<4xf32>
  return %g, %h : f32, vector<4xf32>
}

// -----

// Ops on integers remain unchanged.
// CHECK-LABEL: func.func @integers
// CHECK:         math.absi
func.func @integers(%x: i32) -> i32 {
  %a = math.absi %x : i32
  return %a : i32
}

// -----

func.func @erf(%x: f32) -> f32 {
  // expected-error @+1 {{requires a CUDA or ROCm library on GPUs; to compile without one, cast the operands to f32 or f64 and run batch-expand-math first}}
  %a = math.erf %x : f32
  return %a : f32
}

// -----

// Ops that batch-expand-math does not expand, such as those on f16, are errors, too.
func.func @exp(%x: f16) -> f16 {
  // expected-error @+1 {{'math.exp' op requires a CUDA or ROCm library on GPUs}}
  %a = math.exp %x : f16
  return %a : f16
}
