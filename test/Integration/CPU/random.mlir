// REQUIRES: batch-run
// RUN: %integration/check_random.py %s %S/random-tensors.mlir

// Bits, uniforms and normals from a key and a counter. All values are scalars,
// which the inspector computes.

func.func private @random.threefry2x32(i32, i32, i32, i32) -> (i32, i32)
func.func private @random.philox4x32(i32, i32, i32, i32, i32, i32) -> (i32, i32, i32, i32)
func.func private @random.uniform.f32(i32) -> f32
func.func private @random.uniform.f64(i32) -> f64
func.func private @random.normals.f32(i32, i32) -> (f32, f32)
func.func private @random.normals.f64(i32, i32) -> (f64, f64)

func.func @main(%k0: i32 {batch.name = "k0"}, %k1: i32 {batch.name = "k1"},
                %c0: i32 {batch.name = "c0"}, %c1: i32 {batch.name = "c1"},
                %c2: i32 {batch.name = "c2"}, %c3: i32 {batch.name = "c3"})
    -> (i32 {batch.name = "t0"}, i32 {batch.name = "t1"},
        i32 {batch.name = "p0"}, i32 {batch.name = "p1"},
        i32 {batch.name = "p2"}, i32 {batch.name = "p3"},
        f32 {batch.name = "u32"}, f64 {batch.name = "u64"},
        f32 {batch.name = "n32_0"}, f32 {batch.name = "n32_1"},
        f64 {batch.name = "n64_0"}, f64 {batch.name = "n64_1"})
    attributes {batch.entry} {
  %t:2 = call @random.threefry2x32(%k0, %k1, %c0, %c1) : (i32, i32, i32, i32) -> (i32, i32)
  %p:4 = call @random.philox4x32(%k0, %k1, %c0, %c1, %c2, %c3)
      : (i32, i32, i32, i32, i32, i32) -> (i32, i32, i32, i32)
  %u32 = call @random.uniform.f32(%t#0) : (i32) -> f32
  %u64 = call @random.uniform.f64(%t#0) : (i32) -> f64
  %n32:2 = call @random.normals.f32(%t#0, %t#1) : (i32, i32) -> (f32, f32)
  %n64:2 = call @random.normals.f64(%t#0, %t#1) : (i32, i32) -> (f64, f64)
  return %t#0, %t#1, %p#0, %p#1, %p#2, %p#3, %u32, %u64, %n32#0, %n32#1, %n64#0, %n64#1
      : i32, i32, i32, i32, i32, i32, f32, f64, f32, f32, f64, f64
}
