// RUN: batch-opt %s --batch-link-library --split-input-file | FileCheck %s
// RUN: batch-opt %s --batch-link-library --split-input-file \
// RUN:   | batch-opt --batch-link-library --split-input-file | FileCheck %s

// The definition replaces the declaration. Functions that it calls come last,
// once each. Other functions are not copied.
// CHECK-LABEL: func.func private @random.threefry2x32(
// CHECK-SAME:    i32, %{{.*}}: i32, %{{.*}}: i32, %{{.*}}: i32) -> (i32, i32) {
// CHECK:         call @random.threefry2x32.add_key
// CHECK:         call @random.threefry2x32.four_rounds
func.func private @random.threefry2x32(i32, i32, i32, i32) -> (i32, i32)
// CHECK-LABEL: func.func @draw
func.func @draw(%seed: i32, %i: i32) -> i32 {
  %zero = arith.constant 0 : i32
  %x:2 = call @random.threefry2x32(%seed, %zero, %i, %zero) : (i32, i32, i32, i32) -> (i32, i32)
  return %x#0 : i32
}
// CHECK-DAG:   func.func private @random.threefry2x32.add_key({{.*}} {
// CHECK-DAG:   func.func private @random.threefry2x32.four_rounds({{.*}} {
// CHECK-DAG:   func.func private @random.threefry2x32.round({{.*}} {
// CHECK-NOT:   func.func

// -----

// One function serves the model and other functions of the library.
// CHECK-LABEL: module
// CHECK:       func.func private @random.normals.f32({{.*}} {
// CHECK-COUNT-2: call @random.uniform.f32(
// CHECK:       func.func private @random.uniform.f32(%
// CHECK-NOT:   func.func
func.func private @random.normals.f32(i32, i32) -> (f32, f32)
func.func private @random.uniform.f32(i32) -> f32

// -----

// The model's own definitions remain, and no function of the library calls
// them.
// CHECK-LABEL: module
// CHECK-NEXT:    func.func private @random.uniform.f32(
// CHECK-NEXT:    arith.bitcast
func.func private @random.uniform.f32(%x: i32) -> f32 {
  %y = arith.bitcast %x : i32 to f32
  return %y : f32
}
// CHECK:       func.func private @random.uniform.f64(
// CHECK:         call @[[OTHER:random.uniform.f32_[0-9]+]](
func.func private @random.uniform.f64(i32) -> f64
// CHECK:       func.func private @[[OTHER]](
// CHECK-NEXT:    arith.constant

// -----

// Declarations of functions that the library lacks remain, as do declarations of the library's helpers.
// CHECK-LABEL: module
// CHECK-NEXT:    func.func private @random.cauchy(i32) -> f32
// CHECK-NEXT:    func.func private @random.threefry2x32.round(i32, i32, i32) -> (i32, i32)
// CHECK-NEXT:  }
func.func private @random.cauchy(i32) -> f32
func.func private @random.threefry2x32.round(i32, i32, i32) -> (i32, i32)
