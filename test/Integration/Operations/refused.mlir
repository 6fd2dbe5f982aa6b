// RUN: batch-opt %s --autobatch --split-input-file --verify-diagnostics -o /dev/null

// Rejected operations of arith, math, tensor, linalg and scf, with their messages. The page
// docs/reference/generated/operations.md contains these messages. `Ops:` before an error lists
// the ops that it applies to, unless it applies only to the op on its line. `When:` specifies a
// condition of the rejection.

func.func @scatter(%x: tensor<4x6xf32>, %row: tensor<1x1x6xf32>, %p: index) -> tensor<4x6xf32>
    attributes {batch.entry} {
  %i = tensor.from_elements %p : tensor<1x1xindex>
  // expected-error @+1 {{'tensor.scatter' op cannot be batched; write it as linalg.generic, or implement BatchableOpInterface for it}}
  %r = tensor.scatter %row into %x[%i] scatter_dims([0]) unique
      : (tensor<1x1x6xf32>, tensor<4x6xf32>, tensor<1x1xindex>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

// -----

// An unknown extent would have to be checked at run time.
func.func @cast(%x: tensor<4x6xf32>) -> tensor<6xf32> attributes {batch.entry} {
  // When: to or from unknown extents
  // expected-error @+1 {{'tensor.cast' op cannot be batched; write it as linalg.generic, or implement BatchableOpInterface for it}}
  %y = tensor.cast %x : tensor<4x6xf32> to tensor<?x6xf32>
  %zero = arith.constant dense<0.0> : tensor<6xf32>
  %r = linalg.reduce { arith.addf } ins(%y : tensor<?x6xf32>) outs(%zero : tensor<6xf32>) dimensions = [0]
  return %r : tensor<6xf32>
}

// -----

// docs/reference/element-types.md lists the supported element types.
func.func @unsigned(%x: tensor<19xi32>) -> tensor<19xui32> attributes {batch.entry} {
  // When: to or from other elements
  // expected-error @+1 {{'batch.kernel' op has unsupported element type 'ui32'; expected index, i1, i8, i16, i32, i64, f16, bf16, f32 or f64}}
  %y = tensor.bitcast %x : tensor<19xi32> to tensor<19xui32>
  return %y : tensor<19xui32>
}

// -----

func.func @scales(%x: tensor<19xf32>, %s: tensor<19xf32>) -> tensor<19xf32> attributes {batch.entry} {
  // Ops: arith.scaling_extf arith.scaling_truncf
  // expected-error @+1 {{'arith.truncf' op produces elements of unsupported type f8E8M0FNU; kernels support index, i1, i8, i16, i32, i64, f16, bf16, f32 and f64}}
  %t = arith.truncf %s : tensor<19xf32> to tensor<19xf8E8M0FNU>
  %y = arith.scaling_truncf %x, %t : tensor<19xf32>, tensor<19xf8E8M0FNU> to tensor<19xf4E2M1FN>
  %z = arith.scaling_extf %y, %t : tensor<19xf4E2M1FN>, tensor<19xf8E8M0FNU> to tensor<19xf32>
  return %z : tensor<19xf32>
}

// -----

func.func @region(%x: tensor<19xf32>) -> tensor<19xf32> attributes {batch.entry} {
  // expected-error @+1 {{'scf.execute_region' op is not supported as control flow; use 'scf.if', 'scf.index_switch', 'scf.for' or 'scf.while'}}
  %r = scf.execute_region -> tensor<19xf32> {
    %u = math.exp %x : tensor<19xf32>
    scf.yield %u : tensor<19xf32>
  }
  return %r : tensor<19xf32>
}

// -----

func.func @forall(%x: tensor<4x6xf32>) -> tensor<4x6xf32> attributes {batch.entry} {
  %e = tensor.empty() : tensor<4x6xf32>
  // Ops: scf.forall scf.forall.in_parallel tensor.parallel_insert_slice
  // expected-error @+1 {{is not supported by any strategy; write it as 'scf.for' or as tensor code}}
  %r = scf.forall (%k) in (4) shared_outs(%o = %e) -> (tensor<4x6xf32>) {
    %a = tensor.extract_slice %x[%k, 0] [1, 6] [1, 1] : tensor<4x6xf32> to tensor<1x6xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %a into %o[%k, 0] [1, 6] [1, 1] : tensor<1x6xf32> into tensor<4x6xf32>
    }
  }
  return %r : tensor<4x6xf32>
}

// -----

func.func @winograd_filter(%x: tensor<2x3x3x2xf32>) -> tensor<6x6x2x2xf32> attributes {batch.entry} {
  %e = tensor.empty() : tensor<6x6x2x2xf32>
  // expected-error @+1 {{'linalg.winograd_filter_transform' op cannot be batched; write it as linalg.generic, or implement BatchableOpInterface for it}}
  %y = linalg.winograd_filter_transform fmr(F_4_3) ins(%x : tensor<2x3x3x2xf32>) outs(%e : tensor<6x6x2x2xf32>) -> tensor<6x6x2x2xf32>
  return %y : tensor<6x6x2x2xf32>
}

// -----

func.func @winograd_input(%x: tensor<1x6x6x2xf32>) -> tensor<6x6x1x1x1x2xf32> attributes {batch.entry} {
  %e = tensor.empty() : tensor<6x6x1x1x1x2xf32>
  // expected-error @+1 {{'linalg.winograd_input_transform' op cannot be batched; write it as linalg.generic, or implement BatchableOpInterface for it}}
  %y = linalg.winograd_input_transform fmr(F_4_3) ins(%x : tensor<1x6x6x2xf32>) outs(%e : tensor<6x6x1x1x1x2xf32>) -> tensor<6x6x1x1x1x2xf32>
  return %y : tensor<6x6x1x1x1x2xf32>
}

// -----

func.func @winograd_output(%x: tensor<6x6x1x1x1x2xf32>) -> tensor<1x4x4x2xf32> attributes {batch.entry} {
  %e = tensor.empty() : tensor<1x4x4x2xf32>
  // expected-error @+1 {{'linalg.winograd_output_transform' op cannot be batched; write it as linalg.generic, or implement BatchableOpInterface for it}}
  %y = linalg.winograd_output_transform fmr(F_4_3) ins(%x : tensor<6x6x1x1x1x2xf32>) outs(%e : tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  return %y : tensor<1x4x4x2xf32>
}
