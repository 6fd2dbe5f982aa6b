// RUN: batch-opt %s --batch-verify-input --allow-unregistered-dialect --split-input-file --verify-diagnostics
// RUN: batch-opt %s --autobatch --allow-unregistered-dialect --split-input-file --verify-diagnostics

// A module without an entry is an error, at the first function.
// expected-error @below {{the module has no entry; mark the function for one instance with 'attributes {batch.entry}'}}
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// -----

// Ops that no pass of Batch lowers are errors. The error names the passes that lower the op.
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> attributes {batch.entry} {
  // expected-error @below {{'tosa.tanh' belongs to unsupported dialect 'tosa'; run 'mlir-opt --pass-pipeline="builtin.module(func.func(tosa-to-linalg-named,tosa-to-linalg,tosa-to-arith,tosa-to-tensor,tosa-to-scf))"' first}}
  %y = tosa.tanh %x : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// Ops in functions that the entry calls are checked, too.
func.func private @f(%x: tensor<4xf32>, %n: index) -> tensor<4xf32> {
  // expected-error @below {{'affine.for' belongs to unsupported dialect 'affine'; run 'mlir-opt --lower-affine' first}}
  %y = affine.for %i = 0 to %n iter_args(%z = %x) -> tensor<4xf32> {
    affine.yield %z : tensor<4xf32>
  }
  return %y : tensor<4xf32>
}
func.func @main(%x: tensor<4xf32>, %n: index) -> tensor<4xf32>
    attributes {batch.entry} {
  %y = call @f(%x, %n) : (tensor<4xf32>, index) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// Errors for global variables name the replacement.
ml_program.global private mutable @seed(dense<0> : tensor<i64>) : tensor<i64>
func.func @main() -> tensor<i64> attributes {batch.entry} {
  // expected-error @below {{'ml_program.global_load' belongs to unsupported dialect 'ml_program'; pass the global as an argument of the entry, with 'batch.shared' if it is a parameter, and return its new value}}
  %s = ml_program.global_load @seed : tensor<i64>
  return %s : tensor<i64>
}

// -----

func.func @main(%n: index) -> index attributes {batch.entry} {
  // expected-error @below {{'memref.alloc' belongs to unsupported dialect 'memref'; use the module from an earlier stage, which computes on tensors}}
  %m = memref.alloc(%n) : memref<?xf32>
  return %n : index
}

// -----

func.func @main(%x: tensor<4xf32>) -> f32 attributes {batch.entry} {
  %c = arith.constant 0 : index
  %p = arith.constant 0.0 : f32
  // expected-error @below {{'vector.transfer_read' belongs to unsupported dialect 'vector'; use the module from an earlier stage, which computes on tensors}}
  %v = vector.transfer_read %x[%c], %p : tensor<4xf32>, vector<4xf32>
  return %p : f32
}

// -----

func.func @main(%x: tensor<4xf32>) -> index attributes {batch.entry} {
  %c = arith.constant 0 : index
  // expected-error @below {{'shape.shape_of' belongs to unsupported dialect 'shape'; run 'mlir-opt --convert-shape-to-std' first}}
  %s = shape.shape_of %x : tensor<4xf32> -> tensor<?xindex>
  return %c : index
}

// -----

// Values must not be functions.
// expected-error @below {{values of function type '(f32) -> f32' are not supported; call functions by name}}
func.func @main(%f: (f32) -> f32, %x: f32) -> f32 attributes {batch.entry} {
  return %x : f32
}

// -----

func.func private @f(%x: f32) -> f32
func.func @main(%x: f32) -> f32 attributes {batch.entry} {
  // expected-error @below {{values of function type '(f32) -> f32' are not supported; call functions by name}}
  %f = constant @f : (f32) -> f32
  return %x : f32
}

// -----

// Arguments must not be buffers.
// expected-error @below {{buffer type 'memref<4xf32>' is not supported; use the module as it was before bufferization}}
func.func @main(%x: memref<4xf32>) -> index attributes {batch.entry} {
  %c = arith.constant 0 : index
  return %c : index
}

// -----

// Tensors must have a rank.
func.func @main(%x: tensor<1xf32>) -> tensor<1xf32> attributes {batch.entry} {
  // expected-error @below {{unranked type 'tensor<*xf32>' is not supported; give the tensor a ranked type, such as tensor<?xf32>}}
  %u = tensor.cast %x : tensor<1xf32> to tensor<*xf32>
  %y = tensor.cast %u : tensor<*xf32> to tensor<1xf32>
  return %y : tensor<1xf32>
}

// -----

// Errors about dialects that batch-opt does not load name the fix, too.
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> attributes {batch.entry} {
  // expected-error @below {{'stablehlo.tanh' belongs to unsupported dialect 'stablehlo'; run 'batch-import' first}}
  %y = "stablehlo.tanh"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> attributes {batch.entry} {
  // expected-error @below {{'torch.aten.tanh' belongs to unsupported dialect 'torch'; export the model with torch-mlir output type 'linalg-on-tensors'}}
  %y = "torch.aten.tanh"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
