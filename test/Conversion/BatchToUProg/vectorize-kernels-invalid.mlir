// RUN: batch-opt %s --batch-vectorize-kernels --split-input-file --verify-diagnostics

// An operation has no batched form. The error names the remedy.
batch.kernel @unknown(%x: tensor<4xf32>, %i: tensor<1x1xindex>) -> tensor<4xf32> {
  %s = arith.constant dense<0.0> : tensor<1xf32>
  // expected-error @+1 {{cannot be batched; write it as linalg.generic, or implement BatchableOpInterface for it}}
  %y = tensor.scatter %s into %x[%i] scatter_dims([0]) unique
      : (tensor<1xf32>, tensor<4xf32>, tensor<1x1xindex>) -> tensor<4xf32>
  batch.yield %y : tensor<4xf32>
}

// -----

// An operator that belongs to no kernel already has the required name.
// expected-error @+1 {{requires symbol name '@k.rows' for its operator, but another symbol uses it; rename that symbol}}
batch.kernel @k() {
  batch.yield
}
uprog.operator @k.rows(%n: index) {
  uprog.yield
}

// -----

// Another symbol already has the required name.
// expected-error @+1 {{requires symbol name '@k.rows' for its operator, but another symbol uses it; rename that symbol}}
batch.kernel @k(%x: tensor<4xf32>) -> tensor<4xf32> {
  batch.yield %x : tensor<4xf32>
}
func.func private @k.rows()

// -----

// An argument with batch.shared must have the number of its parameter.
// expected-error @+1 {{argument #1 is shared and requires attribute 'batch.parameter' with the number of its parameter}}
batch.kernel @unnumbered(%x: tensor<4xf32>, %w: tensor<4xf32> {batch.shared}) -> tensor<4xf32> {
  %y = arith.addf %x, %w : tensor<4xf32>
  batch.yield %y : tensor<4xf32>
}

// -----

// The extent of a ragged tensor cannot be used as data.
batch.kernel @extent(%a: tensor<?x4xf32>) -> tensor<1xindex> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %a, %c0 : tensor<?x4xf32>
  // expected-error @+1 {{uses the extent of a ragged tensor as data; pass the extent to the kernel as a scalar}}
  %m = arith.addi %n, %c0 : index
  %y = tensor.from_elements %m : tensor<1xindex>
  batch.yield %y : tensor<1xindex>
}

// -----

// The extent of a ragged tensor cannot be used as an element either.
batch.kernel @extent_element(%a: tensor<?x4xf32>) -> tensor<1xindex> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %a, %c0 : tensor<?x4xf32>
  // expected-error @+1 {{uses the extent of a ragged tensor as data; pass the extent to the kernel as a scalar}}
  %y = tensor.from_elements %n : tensor<1xindex>
  batch.yield %y : tensor<1xindex>
}

// -----

// The dimension of tensor.dim must be constant.
batch.kernel @dim(%a: tensor<?x4xf32>, %i: index) -> tensor<4xf32> {
  // expected-error @+1 {{cannot be batched; its dimension index must be constant and in range}}
  %n = tensor.dim %a, %i : tensor<?x4xf32>
  %z = arith.constant dense<0.0> : tensor<4xf32>
  batch.yield %z : tensor<4xf32>
}

// -----

// A tensor's extent cannot be a scalar of the task.
batch.kernel @sized(%n: index) -> tensor<f32> {
  %zero = arith.constant dense<0.0> : tensor<f32>
  // expected-error @+1 {{has an extent that differs from task to task but is not the extent of a ragged tensor}}
  %e = tensor.empty(%n) : tensor<?xf32>
  %y = linalg.reduce { arith.addf } ins(%e : tensor<?xf32>) outs(%zero : tensor<f32>) dimensions = [0]
  batch.yield %y : tensor<f32>
}

// -----

// The extent of a splat cannot be a scalar of the task either.
batch.kernel @splat(%n: index, %x: f32) -> tensor<f32> {
  %zero = arith.constant dense<0.0> : tensor<f32>
  // expected-error @+1 {{has an extent that differs from task to task but is not the extent of a ragged tensor}}
  %e = tensor.splat %x[%n] : tensor<?xf32>
  %y = linalg.reduce { arith.addf } ins(%e : tensor<?xf32>) outs(%zero : tensor<f32>) dimensions = [0]
  batch.yield %y : tensor<f32>
}

// -----

// An element can be read only if all extents are static, except the first extent of a parameter
// or of a ragged tensor.
batch.kernel @element(%x: tensor<4x?xf32> {batch.parameter = 0 : i64, batch.shared}, %i: index) -> tensor<1xf32> {
  // expected-error @+1 {{cannot be batched: only the first extent of a parameter or of a ragged tensor may be dynamic; make all other extents of the source static}}
  %e = tensor.extract %x[%i, %i] : tensor<4x?xf32>
  %y = tensor.from_elements %e : tensor<1xf32>
  batch.yield %y : tensor<1xf32>
}

// -----

// The number of rows of a slice must be constant.
batch.kernel @rows(%x: tensor<?x4xf32>, %i: index, %n: index) -> tensor<4xf32> {
  %z = arith.constant dense<0.0> : tensor<4xf32>
  // expected-error @+1 {{takes a slice at a position that differs from task to task; make its sizes and strides constant, and make its source a parameter, a ragged tensor or a tensor of static shape into which it fits}}
  %y = tensor.extract_slice %x[%i, 0] [%n, 4] [1, 1] : tensor<?x4xf32> to tensor<?x4xf32>
  %s = linalg.reduce { arith.addf } ins(%y : tensor<?x4xf32>) outs(%z : tensor<4xf32>) dimensions = [0]
  batch.yield %s : tensor<4xf32>
}

// -----

// A slice must not be longer than the row.
batch.kernel @columns(%x: tensor<?x4xf32>, %i: index) -> tensor<3xf32> {
  // expected-error @+1 {{takes a slice at a position that differs from task to task; make its sizes and strides constant, and make its source a parameter, a ragged tensor or a tensor of static shape into which it fits}}
  %y = tensor.extract_slice %x[%i, %i] [1, 3] [1, 2] : tensor<?x4xf32> to tensor<3xf32>
  batch.yield %y : tensor<3xf32>
}

// -----

// A kernel cannot concatenate tensors along a ragged extent.
batch.kernel @concat(%a: tensor<?x4xf32>, %b: tensor<?x4xf32>) -> tensor<4xf32> {
  %z = arith.constant dense<0.0> : tensor<4xf32>
  // expected-error @+1 {{concatenates along a ragged extent; pass the concatenated tensor to the kernel}}
  %c = tensor.concat dim(0) %a, %b : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  %y = linalg.reduce { arith.addf } ins(%c : tensor<?x4xf32>) outs(%z : tensor<4xf32>) dimensions = [0]
  batch.yield %y : tensor<4xf32>
}

// -----

// A reshape must not combine the ragged extent with another dimension.
batch.kernel @collapse(%a: tensor<?x4xf32>) -> tensor<f32> {
  %z = arith.constant dense<0.0> : tensor<f32>
  // expected-error @+1 {{combines a ragged extent with other dimensions; reshape only the other dimensions}}
  %c = tensor.collapse_shape %a [[0, 1]] : tensor<?x4xf32> into tensor<?xf32>
  %y = linalg.reduce { arith.addf } ins(%c : tensor<?xf32>) outs(%z : tensor<f32>) dimensions = [0]
  batch.yield %y : tensor<f32>
}

// -----

// An op over all pairs of ragged rows has no batched form.
batch.kernel @pairs(%a: tensor<?x4xf32>, %b: tensor<?x4xf32>) -> tensor<f32> {
  %z = arith.constant dense<0.0> : tensor<f32>
  // expected-error @+1 {{iterates over two ragged extents; only one of its loops may be ragged}}
  %y = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>,
                                        affine_map<(d0, d1, d2) -> (d1, d2)>,
                                        affine_map<(d0, d1, d2) -> ()>],
                       iterator_types = ["reduction", "reduction", "reduction"]}
      ins(%a, %b : tensor<?x4xf32>, tensor<?x4xf32>) outs(%z : tensor<f32>) {
  ^bb0(%p: f32, %q: f32, %out: f32):
    %0 = math.fma %p, %q, %out : f32
    linalg.yield %0 : f32
  } -> tensor<f32>
  batch.yield %y : tensor<f32>
}

// -----

// Ragged rows cannot be read at computed positions.
batch.kernel @strided(%a: tensor<?x4xf32>) -> tensor<2x4xf32> {
  %e = tensor.empty() : tensor<2x4xf32>
  // expected-error @+1 {{reads a ragged tensor at a computed position; its rows can only be read in order}}
  %y = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0 * 2, d1)>,
                                        affine_map<(d0, d1) -> (d0, d1)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<?x4xf32>) outs(%e : tensor<2x4xf32>) {
  ^bb0(%p: f32, %out: f32):
    linalg.yield %p : f32
  } -> tensor<2x4xf32>
  batch.yield %y : tensor<2x4xf32>
}

// -----

// A static tensor has no rows for a ragged extent.
batch.kernel @static(%a: tensor<?x4xf32>, %b: tensor<2x4xf32>) -> tensor<4xf32> {
  %z = arith.constant dense<0.0> : tensor<4xf32>
  // expected-error @+1 {{operand 1 is indexed by a ragged extent but is not ragged}}
  %y = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>,
                                        affine_map<(d0, d1) -> (d0, d1)>,
                                        affine_map<(d0, d1) -> (d1)>],
                       iterator_types = ["reduction", "parallel"]}
      ins(%a, %b : tensor<?x4xf32>, tensor<2x4xf32>) outs(%z : tensor<4xf32>) {
  ^bb0(%p: f32, %q: f32, %out: f32):
    %0 = math.fma %p, %q, %out : f32
    linalg.yield %0 : f32
  } -> tensor<4xf32>
  batch.yield %y : tensor<4xf32>
}

// -----

// A static result has no rows for a ragged extent either.
batch.kernel @static_result(%a: tensor<?x4xf32>) -> tensor<2x4xf32> {
  %e = tensor.empty() : tensor<2x4xf32>
  // expected-error @+1 {{operand 1 lacks a dimension for the ragged extent of the inputs}}
  %y = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>,
                                        affine_map<(d0, d1) -> (d0, d1)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<?x4xf32>) outs(%e : tensor<2x4xf32>) {
  ^bb0(%p: f32, %out: f32):
    linalg.yield %p : f32
  } -> tensor<2x4xf32>
  batch.yield %y : tensor<2x4xf32>
}

// -----

// A kernel cannot use the position of a row within a ragged extent.
batch.kernel @position(%a: tensor<?x4xf32>) -> tensor<4xi32> {
  %z = arith.constant dense<0> : tensor<4xi32>
  // expected-error @+1 {{uses the position within a ragged extent; pass the positions to the kernel as a ragged tensor}}
  %y = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>,
                                        affine_map<(d0, d1) -> (d1)>],
                       iterator_types = ["reduction", "parallel"]}
      ins(%a : tensor<?x4xf32>) outs(%z : tensor<4xi32>) {
  ^bb0(%p: f32, %out: i32):
    %0 = linalg.index 0 : index
    %1 = arith.index_cast %0 : index to i32
    %2 = arith.addi %1, %out : i32
    linalg.yield %2 : i32
  } -> tensor<4xi32>
  batch.yield %y : tensor<4xi32>
}

// -----

// The combiner arith.maxnumf cannot reduce segments.
batch.kernel @combiner(%a: tensor<?x4xf32>) -> tensor<4xf32> {
  %z = arith.constant dense<0.0> : tensor<4xf32>
  // expected-error @+1 {{reduces a ragged extent with an unsupported combiner; expected a sum, product, maximum or minimum of floats or signed integers, or arith.andi or arith.ori of i1; split other combiners into several reductions: for example, compute an argmax as a maximum and the minimum of its positions}}
  %y = linalg.reduce { arith.maxnumf } ins(%a : tensor<?x4xf32>) outs(%z : tensor<4xf32>) dimensions = [0]
  batch.yield %y : tensor<4xf32>
}

// -----

// A body may read outer tensors, but not a ragged one in a loop over ragged rows.
batch.kernel @captured(%x: tensor<?xf32>, %t: tensor<?xf32>) -> tensor<f32> {
  %z = arith.constant dense<0.0> : tensor<f32>
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %e = tensor.empty(%n) : tensor<?xf32>
  // expected-error @+1 {{captures a value that its body cannot read (a ragged extent, a tensor of unknown extents, or a ragged tensor in a loop over rows); make the value an operand}}
  %y = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>],
                       iterator_types = ["parallel"]}
      ins(%x : tensor<?xf32>) outs(%e : tensor<?xf32>) {
  ^bb0(%p: f32, %out: f32):
    %0 = tensor.extract %t[%c0] : tensor<?xf32>
    %1 = arith.addf %p, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<?xf32>
  %s = linalg.reduce { arith.addf } ins(%y : tensor<?xf32>) outs(%z : tensor<f32>) dimensions = [0]
  batch.yield %s : tensor<f32>
}

// -----

// A body must not read the extent of a ragged tensor.
batch.kernel @captured_extent(%x: tensor<4xindex>, %t: tensor<?xf32>) -> tensor<4xindex> {
  %e = tensor.empty() : tensor<4xindex>
  %c0 = arith.constant 0 : index
  %n = tensor.dim %t, %c0 : tensor<?xf32>
  // expected-error @+1 {{captures a value that its body cannot read (a ragged extent, a tensor of unknown extents}}
  %y = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>],
                       iterator_types = ["parallel"]}
      ins(%x : tensor<4xindex>) outs(%e : tensor<4xindex>) {
  ^bb0(%p: index, %out: index):
    %1 = arith.addi %p, %n : index
    linalg.yield %1 : index
  } -> tensor<4xindex>
  batch.yield %y : tensor<4xindex>
}

// -----

// A body must not read a tensor if an extent other than the first is unknown.
batch.kernel @captured_parameter(%x: tensor<4xf32>,
    %t: tensor<4x?xf32> {batch.parameter = 0 : i64, batch.shared}) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %c0 = arith.constant 0 : index
  // expected-error @+1 {{captures a value that its body cannot read (a ragged extent, a tensor of unknown extents}}
  %y = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>],
                       iterator_types = ["parallel"]}
      ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%p: f32, %out: f32):
    %0 = tensor.extract %t[%c0, %c0] : tensor<4x?xf32>
    %1 = arith.addf %p, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<4xf32>
  batch.yield %y : tensor<4xf32>
}

// -----

// A softmax over a ragged extent has to be written in elementary operations.
batch.kernel @softmax(%a: tensor<?xf32>) -> tensor<f32> {
  %c0 = arith.constant 0 : index
  %z = arith.constant dense<0.0> : tensor<f32>
  %n = tensor.dim %a, %c0 : tensor<?xf32>
  %e = tensor.empty(%n) : tensor<?xf32>
  // expected-error @+1 {{cannot be batched over a ragged tensor; decompose it into a maximum, an exponential, a sum and a division}}
  %s = linalg.softmax dimension(0) ins(%a : tensor<?xf32>) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %y = linalg.reduce { arith.addf } ins(%s : tensor<?xf32>) outs(%z : tensor<f32>) dimensions = [0]
  batch.yield %y : tensor<f32>
}

// -----

// A parameter of unknown extent has no domain in common with a ragged operand.
batch.kernel @shared_rows(%a: tensor<?x4xf32>, %w: tensor<?x4xf32> {batch.parameter = 0 : i64, batch.shared}) -> tensor<4xf32> {
  %z = arith.constant dense<0.0> : tensor<4xf32>
  // expected-error @+1 {{combines a ragged tensor with a tensor that does not have one row per ragged row}}
  %s = arith.addf %a, %w : tensor<?x4xf32>
  %y = linalg.reduce { arith.addf } ins(%s : tensor<?x4xf32>) outs(%z : tensor<4xf32>) dimensions = [0]
  batch.yield %y : tensor<4xf32>
}

// -----

// A parameter cannot be reshaped to the extent of a ragged operand either.
batch.kernel @shared_shape(%a: tensor<?x4xf32>, %w: tensor<?xf32> {batch.parameter = 0 : i64, batch.shared}) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %z = arith.constant dense<0.0> : tensor<4xf32>
  %n = tensor.dim %a, %c0 : tensor<?x4xf32>
  // expected-error @+1 {{cannot be batched, because its shape differs from task to task}}
  %s = tensor.expand_shape %w [[0, 1]] output_shape [%n, 4] : tensor<?xf32> into tensor<?x4xf32>
  %y = linalg.reduce { arith.addf } ins(%s : tensor<?x4xf32>) outs(%z : tensor<4xf32>) dimensions = [0]
  batch.yield %y : tensor<4xf32>
}

// -----

// Kernels contain tensor code only.
batch.kernel @buffer(%x: f32) -> tensor<4xf32> {
  %z = arith.constant dense<0.0> : tensor<4xf32>
  // expected-error @+1 {{is not supported in an operator yet}}
  %m = memref.alloc() : memref<4xf32>
  linalg.fill ins(%x : f32) outs(%m : memref<4xf32>)
  batch.yield %z : tensor<4xf32>
}

// -----

// A size that differs between tasks has no batched form if it has no known bound.
batch.kernel @size(%m: tensor<?x8xf32> {batch.parameter = 0 : i64, batch.shared}, %n: index)
    -> tensor<1xf32> {
  // expected-error @+1 {{takes a slice that differs from task to task; offsets, sizes and strides must be constant or shared, and the slice must cover the whole ragged dimension}}
  %s = tensor.extract_slice %m[0, 0] [%n, 1] [1, 1] : tensor<?x8xf32> to tensor<?xf32>
  %c0 = arith.constant 0 : index
  %x = tensor.extract %s[%c0] : tensor<?xf32>
  %y = tensor.from_elements %x : tensor<1xf32>
  batch.yield %y : tensor<1xf32>
}

// -----

// A stride that differs between tasks has no batched form if the position also differs.
batch.kernel @stride(%m: tensor<4x8xf32>, %i: index, %n: index) -> tensor<4xf32> {
  // expected-error @+1 {{takes a slice at a position that differs from task to task; make its sizes and strides constant, and make its source a parameter, a ragged tensor or a tensor of static shape into which it fits}}
  %s = tensor.extract_slice %m[%i, 0] [1, 4] [1, %n] : tensor<4x8xf32> to tensor<4xf32>
  batch.yield %s : tensor<4xf32>
}

// -----

// An inserted value must fit into the destination.
batch.kernel @outside(%x: tensor<4xf32>, %s: f32) -> tensor<4xf32> {
  %c4 = arith.constant 4 : index
  // expected-error @+1 {{inserts at a position that differs from task to task; use constant sizes and strides, static shapes, and a value that fits into the destination}}
  %y = tensor.insert %s into %x[%c4] : tensor<4xf32>
  batch.yield %y : tensor<4xf32>
}

// -----

// An inserted tensor must not have a size that differs between tasks.
batch.kernel @ragged_insert(%x: tensor<4xf32>, %r: tensor<?xf32>, %i: index, %n: index) -> tensor<4xf32> {
  // expected-error @+1 {{inserts at a position that differs from task to task; use constant sizes and strides, static shapes, and a value that fits into the destination}}
  %y = tensor.insert_slice %r into %x[%i] [%n] [1] : tensor<?xf32> into tensor<4xf32>
  batch.yield %y : tensor<4xf32>
}

// -----

// Even intermediate values must have element types that kernels can read and write.
batch.kernel @elements(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{produces elements of unsupported type f8E8M0FNU; kernels support index, i1, i8, i16, i32, i64, f16, bf16, f32 and f64}}
  %s = arith.truncf %x : tensor<4xf32> to tensor<4xf8E8M0FNU>
  %y = arith.extf %s : tensor<4xf8E8M0FNU> to tensor<4xf32>
  batch.yield %y : tensor<4xf32>
}

// -----

// Rows of slices with different computed sizes do not correspond to each other.
batch.kernel @k(%x: tensor<12xf32>, %t: index, %u: index) -> tensor<f32> {
  %zero = arith.constant dense<0.0> : tensor<f32>
  %a = tensor.extract_slice %x[0] [%t] [1] : tensor<12xf32> to tensor<?xf32>
  %b = tensor.extract_slice %x[0] [%u] [1] : tensor<12xf32> to tensor<?xf32>
  // expected-error @+1 {{'arith.addf' op combines tensors with different computed extents; use the same size for both slices}}
  %c = arith.addf %a, %b : tensor<?xf32>
  %y = linalg.dot ins(%c, %c : tensor<?xf32>, tensor<?xf32>) outs(%zero : tensor<f32>) -> tensor<f32>
  batch.yield %y : tensor<f32>
}

// -----

// In operators, a slice of computed size has all rows of the tensor, so it cannot be concatenated.
batch.kernel @k(%x: tensor<12xf32>, %t: index) -> tensor<24xf32> {
  %zero = arith.constant dense<0.0> : tensor<24xf32>
  %a = tensor.extract_slice %x[0] [%t] [1] : tensor<12xf32> to tensor<?xf32>
  // expected-error @+1 {{'tensor.concat' op has no batched form for a tensor with a computed extent; rewrite it as linalg.generic, or insert the tensor into a tensor of static shape}}
  %b = tensor.concat dim(0) %a, %a : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  %u = arith.addi %t, %t : index
  %y = tensor.insert_slice %b into %zero[0] [%u] [1] : tensor<?xf32> into tensor<24xf32>
  batch.yield %y : tensor<24xf32>
}

// -----

// The position of an insert must be constant if its size is computed.
batch.kernel @k(%x: tensor<12xf32>, %t: index) -> tensor<12xf32> {
  %a = tensor.extract_slice %x[0] [%t] [1] : tensor<12xf32> to tensor<?xf32>
  %b = arith.addf %a, %a : tensor<?xf32>
  // expected-error @+1 {{'tensor.insert_slice' op inserts a tensor of computed size; expected constant offsets, unit strides and a destination of static shape}}
  %y = tensor.insert_slice %b into %x[%t] [%t] [1] : tensor<?xf32> into tensor<12xf32>
  batch.yield %y : tensor<12xf32>
}

// -----

// A slice of a slice has to be written as a slice of the tensor.
batch.kernel @k(%x: tensor<12xf32>, %t: index, %i: index) -> tensor<f32> {
  %zero = arith.constant dense<0.0> : tensor<f32>
  %a = tensor.extract_slice %x[0] [%t] [1] : tensor<12xf32> to tensor<?xf32>
  // expected-error @+1 {{'tensor.extract_slice' op takes a slice of computed size from a tensor of computed size; take it from the original tensor}}
  %b = tensor.extract_slice %a[%i] [%t] [1] : tensor<?xf32> to tensor<?xf32>
  %y = linalg.dot ins(%b, %b : tensor<?xf32>, tensor<?xf32>) outs(%zero : tensor<f32>) -> tensor<f32>
  batch.yield %y : tensor<f32>
}

// -----

// A slice of a tensor of computed size must have a constant size and stride.
batch.kernel @k(%x: tensor<12xf32>, %t: index, %s: index) -> tensor<2xf32> {
  %a = tensor.extract_slice %x[0] [%t] [1] : tensor<12xf32> to tensor<?xf32>
  // expected-error @+1 {{'tensor.extract_slice' op takes a slice with a non-constant size or stride from a tensor of computed size; use a constant size and stride}}
  %b = tensor.extract_slice %a[0] [2] [%s] : tensor<?xf32> to tensor<2xf32>
  batch.yield %b : tensor<2xf32>
}
