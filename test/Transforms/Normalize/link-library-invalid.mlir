// RUN: batch-opt %s --batch-link-library --split-input-file --verify-diagnostics

// expected-error @+1 {{does not match the type of the library function; write 'func.func private @random.uniform.f64(i32) -> f64'}}
func.func private @random.uniform.f64(i64) -> f64

// -----

// expected-error @+1 {{write 'func.func private @random.philox4x32(i32, i32, i32, i32, i32, i32) -> (i32, i32, i32, i32)'}}
func.func private @random.philox4x32(i32, i32, i32, i32) -> (i32, i32, i32, i32)
