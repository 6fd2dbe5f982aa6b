// REQUIRES: batch-run
// RUN: batch-opt %s --batch-link-library --batch-inline-helpers --batch-outline-kernels | FileCheck %s

// Tensors of random numbers. The index of an element is its counter. One kernel computes the
// tensors, in vectors. check_random.py, which random.mlir runs, computes the expected numbers.
// CHECK:     batch.kernel
// CHECK:       linalg.generic
// CHECK-NOT:     call
// CHECK-NOT: batch.kernel

func.func private @random.threefry2x32(i32, i32, i32, i32) -> (i32, i32)
func.func private @random.philox4x32(i32, i32, i32, i32, i32, i32) -> (i32, i32, i32, i32)
func.func private @random.uniform.f32(i32) -> f32
func.func private @random.normals.f32(i32, i32) -> (f32, f32)
func.func private @random.normals.f64(i32, i32) -> (f64, f64)

#i = affine_map<(i) -> (i)>
func.func @main(%k0: i32 {batch.name = "k0"}, %k1: i32 {batch.name = "k1"},
                %c0: i32 {batch.name = "c0"})
    -> (tensor<37xi32> {batch.name = "bits"}, tensor<37xf32> {batch.name = "uniforms"},
        tensor<37xf32> {batch.name = "normals"}, tensor<37xf64> {batch.name = "wide0"},
        tensor<37xf64> {batch.name = "wide1"})
    attributes {batch.entry} {
  %none = tensor.empty() : tensor<37xi32>
  %empty = tensor.empty() : tensor<37xf32>
  %wide = tensor.empty() : tensor<37xf64>
  %bits, %uniforms, %normals, %wides:2 = linalg.generic {
      indexing_maps = [#i, #i, #i, #i, #i], iterator_types = ["parallel"]}
      outs(%none, %empty, %empty, %wide, %wide : tensor<37xi32>, tensor<37xf32>,
           tensor<37xf32>, tensor<37xf64>, tensor<37xf64>) {
  ^bb0(%0: i32, %1: f32, %2: f32, %3: f64, %4: f64):
    %zero = arith.constant 0 : i32
    %index = linalg.index 0 : index
    %i = arith.index_cast %index : index to i32
    %t:2 = func.call @random.threefry2x32(%k0, %k1, %c0, %i) : (i32, i32, i32, i32) -> (i32, i32)
    %n32:2 = func.call @random.normals.f32(%t#0, %t#1) : (i32, i32) -> (f32, f32)
    %n64:2 = func.call @random.normals.f64(%t#0, %t#1) : (i32, i32) -> (f64, f64)
    %p:4 = func.call @random.philox4x32(%k0, %k1, %c0, %i, %zero, %zero)
        : (i32, i32, i32, i32, i32, i32) -> (i32, i32, i32, i32)
    %u = func.call @random.uniform.f32(%p#0) : (i32) -> f32
    linalg.yield %p#3, %u, %n32#1, %n64#0, %n64#1 : i32, f32, f32, f64, f64
  } -> (tensor<37xi32>, tensor<37xf32>, tensor<37xf32>, tensor<37xf64>, tensor<37xf64>)
  return %bits, %uniforms, %normals, %wides#0, %wides#1
      : tensor<37xi32>, tensor<37xf32>, tensor<37xf32>, tensor<37xf64>, tensor<37xf64>
}
