// RUN: batch-opt %s --batch-link-library --split-input-file --verify-diagnostics

// The model's function is missing.

// expected-error @+1 {{requires the model to define a function; write 'func.func private @log_density(tensor<5xf64>) -> (f64, tensor<5xf64>) { ... }', optionally with additional arguments}}
func.func private @nuts.sample(%seed: i32, %chain: i32) -> tensor<7x5xf64>

// -----

// The type of the model's function differs from the type that the library requires.

// expected-error @+1 {{is called by the library, so its type must be '(tensor<5xf64>) -> (f64, tensor<5xf64>)', optionally with additional arguments}}
func.func private @log_density(%q: tensor<4xf64>) -> (f64, tensor<4xf64>) {
  %l = arith.constant 0.0 : f64
  return %l, %q : f64, tensor<4xf64>
}
func.func private @nuts.sample(%seed: i32, %chain: i32) -> tensor<7x5xf64>

// -----

// The declaration omits the additional operand of @log_density.

func.func private @log_density(%q: tensor<5xf64>, %x: f64) -> (f64, tensor<5xf64>) {
  return %x, %q : f64, tensor<5xf64>
}
// expected-error @+1 {{does not match the type of the library function; write 'func.func private @nuts.sample(i32, i32, f64) -> tensor<7x5xf64>'}}
func.func private @nuts.sample(%seed: i32, %chain: i32) -> tensor<7x5xf64>

// -----

// A size of the declaration is 0.

// expected-error @unknown {{invalid size 'N=0'; expected NAME=NUMBER with a number from 2 to 2147483647}}
func.func private @log_density(%q: tensor<5xf64>) -> (f64, tensor<5xf64>) {
  %l = arith.constant 0.0 : f64
  return %l, %q : f64, tensor<5xf64>
}
// expected-error @+1 {{has sizes that the library function does not support}}
func.func private @nuts.sample(%seed: i32, %chain: i32) -> tensor<0x5xf64>
