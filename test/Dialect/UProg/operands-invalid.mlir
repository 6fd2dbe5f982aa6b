// RUN: batch-opt %s --split-input-file --verify-diagnostics

// A scalar operand must be a tensor with one element per task.
// expected-error @+1 {{'uprog.operator' op argument #1 must be a ranked tensor}}
uprog.operator @k.rows(%n: index, %i: index {uprog.operand = #uprog.operand<scalar>}) {
  uprog.yield
}

// -----

// Each operand must have an attribute that specifies how it is read.
// expected-error @+1 {{'uprog.operator' op argument #2 requires 'uprog.operand', which specifies how it is read}}
uprog.operator @k.rows(%n: index, %x: tensor<?x4xf32> {uprog.operand = #uprog.operand<gather>},
                       %y: tensor<?x4xf32>) {
  uprog.yield
}

// -----

// The number of tasks must not be an operand.
// expected-error @+1 {{'uprog.operator' op the first argument must be the number of tasks, an index}}
uprog.operator @k.rows(%n: index {uprog.operand = #uprog.operand<scalar>}) {
  uprog.yield
}

// -----

// An operand that is not shared must have rows.
// expected-error @+1 {{'uprog.operator' op argument #2 must be shared or have rows, tensor<?x...>, got 'tensor<4xf32>'}}
uprog.operator @k.rows(%n: index, %x: tensor<?x4xf32> {uprog.operand = #uprog.operand<gather>},
                       %w: tensor<4xf32> {uprog.operand = #uprog.operand<gather>}) {
  uprog.yield
}

// -----

// An operand with rows must have a dimension for the rows.
// expected-error @+1 {{'uprog.operator' op argument #1 must be shared or have rows, tensor<?x...>, got 'tensor<f32>'}}
uprog.operator @k.rows(%n: index, %x: tensor<f32> {uprog.operand = #uprog.operand<rows>}) {
  uprog.yield
}

// -----

// Scalars must have no dimension other than the dimension of tasks.
// expected-error @+1 {{'uprog.operator' op argument #1 must have one scalar per task, tensor<?xT>, got 'tensor<?x1xf32>'}}
uprog.operator @k.rows(%n: index, %x: tensor<?x1xf32> {uprog.operand = #uprog.operand<scalar>}) {
  uprog.yield
}

// -----

// There must be a scalar for each task.
// expected-error @+1 {{'uprog.operator' op argument #1 must have one scalar per task, tensor<?xT>, got 'tensor<4xf32>'}}
uprog.operator @k.rows(%n: index, %x: tensor<4xf32> {uprog.operand = #uprog.operand<scalar>}) {
  uprog.yield
}

// -----

// Offsets must be of type index.
// expected-error @+1 {{'uprog.operator' op argument #2 must be offsets of type tensor<?xindex>, got 'tensor<?xi64>'}}
uprog.operator @k.rows(%n: index, %x: tensor<?x4xf32> {uprog.operand = #uprog.operand<rows ragged(0)>},
                       %o: tensor<?xi64> {uprog.operand = #uprog.operand<offsets(0)>}) {
  uprog.yield
}

// -----

// Offsets must have one dimension.
// expected-error @+1 {{'uprog.operator' op argument #2 must be offsets of type tensor<?xindex>, got 'tensor<?x1xindex>'}}
uprog.operator @k.rows(%n: index, %x: tensor<?x4xf32> {uprog.operand = #uprog.operand<rows ragged(0)>},
                       %o: tensor<?x1xindex> {uprog.operand = #uprog.operand<offsets(0)>}) {
  uprog.yield
}

// -----

// A ragged domain must have offsets.
// expected-error @+1 {{'uprog.operator' op argument #1 has rows of ragged domain 1, but no argument has its offsets}}
uprog.operator @k.rows(%n: index, %x: tensor<?x4xf32> {uprog.operand = #uprog.operand<rows ragged(1)>},
                       %y: tensor<?x4xf32> {uprog.operand = #uprog.operand<rows ragged(0)>},
                       %o: tensor<?xindex> {uprog.operand = #uprog.operand<offsets(0)>}) {
  uprog.yield
}

// -----

// A ragged domain must not have offsets more than once.
// expected-error @+1 {{'uprog.operator' op argument #3 has the offsets of ragged domain 0, but another argument already has them}}
uprog.operator @k.rows(%n: index, %x: tensor<?x4xf32> {uprog.operand = #uprog.operand<rows ragged(0)>},
                       %o: tensor<?xindex> {uprog.operand = #uprog.operand<offsets(0)>},
                       %p: tensor<?xindex> {uprog.operand = #uprog.operand<offsets(0)>}) {
  uprog.yield
}

// -----

// A ragged domain must have rows.
// expected-error @+1 {{'uprog.operator' op argument #1 has offsets of ragged domain 0, but no argument has its rows}}
uprog.operator @k.rows(%n: index, %o: tensor<?xindex> {uprog.operand = #uprog.operand<offsets(0)>}) {
  uprog.yield
}

// -----

// A layout must have a dimension for the slot and the dimensions of a row.
// expected-error @+1 {{'uprog.operator' op argument #1 requires a layout with 3 dimensions (the slot and the dimensions of a row) and no symbols, got affine_map<(d0, d1) -> (d0, d1)>}}
uprog.operator @k.rows(%n: index, %x: tensor<?x4x64xf32>
                           {uprog.operand = #uprog.operand<gather layout((s, i) -> (s, i))>}) {
  uprog.yield
}

// -----

// expected-error @+1 {{'uprog.operator' op result #0 requires a layout with 3 dimensions (the slot and the dimensions of a row) and no symbols, got affine_map<(d0, d1) -> (d0, d1)>}}
uprog.operator @k.rows(%n: index, %x: tensor<?x4x64xf32> {uprog.operand = #uprog.operand<gather>})
    -> (tensor<?x4x64xf32> {uprog.result = #uprog.result<layout = (s, i) -> (s, i)>}) {
  uprog.yield %x : tensor<?x4x64xf32>
}

// -----

// The rows of a layout must have a known shape.
// expected-error @+1 {{'uprog.operator' op argument #1 has a layout, which is not supported for rows of 'tensor<?x?xf32>'}}
uprog.operator @k.rows(%n: index, %x: tensor<?x?xf32> {uprog.operand = #uprog.operand<gather layout((s, i) -> (s, i))>}) {
  uprog.yield
}

// -----

// Elements of a layout must have a known size.
// expected-error @+1 {{'uprog.operator' op argument #1 has a layout, which is not supported for rows of 'tensor<?x8xcomplex<f32>>'}}
uprog.operator @k.rows(%n: index, %x: tensor<?x8xcomplex<f32>>
                           {uprog.operand = #uprog.operand<gather layout((s, i) -> (s, i))>}) {
  uprog.yield
}

// -----

// Kinds `shared` and `offsets` require a number, and other kinds must not have one.
// expected-error @+1 {{'shared' and 'offsets' require a number; other kinds do not take one}}
#operand = #uprog.operand<shared>

// -----

// expected-error @+1 {{'shared' and 'offsets' require a number; other kinds do not take one}}
#operand = #uprog.operand<gather(0)>

// -----

// Only operands with rows may have attributes of a table.
// expected-error @+1 {{'shared' does not take 'ragged', 'layout' or 'block_bytes'}}
#operand = #uprog.operand<shared(0) layout((s, i) -> (s, i))>

// -----

// expected-error @+1 {{'offsets' does not take 'ragged', 'layout' or 'block_bytes'}}
#operand = #uprog.operand<offsets(0) ragged(0)>

// -----

// expected-error @+1 {{'scalar' does not take 'ragged', 'layout' or 'block_bytes'}}
#operand = #uprog.operand<scalar block_bytes(64)>

// -----

// A layout must have no symbols.
// expected-error @+1 {{a layout must have no symbols}}
#operand = #uprog.operand<gather layout((s, i)[n] -> (s + n, i))>

// -----

// expected-error @+1 {{a layout must have no symbols}}
#result = #uprog.result<layout = (s, i)[n] -> (s + n, i)>

// -----

// expected-error @+1 {{'block_bytes' must be at least 0}}
#operand = #uprog.operand<rows block_bytes(-64)>

// -----

// The position of a result must be less than its number of siblings.
// expected-error @+1 {{'position' must be at least 0 and less than 'siblings', got 2 and 2}}
#result = #uprog.result<siblings = 2, position = 2>

// -----

// Only attributes that the dialect defines may have its prefix.
// expected-error @+1 {{'uprog.operator' op argument #1: attribute 'uprog.read' is not supported on arguments; use 'uprog.operand' for operands of an operator}}
uprog.operator @k.rows(%n: index, %x: tensor<?x4xf32> {uprog.read = "gather"}) {
  uprog.yield
}

// -----

// expected-error @+1 {{'uprog.operator' op result #0: attribute 'uprog.siblings' is not supported on results; use 'uprog.result' for results of an operator}}
uprog.operator @k.rows(%n: index, %x: tensor<?x4xf32> {uprog.operand = #uprog.operand<gather>})
    -> (tensor<?x4xf32> {uprog.siblings = 2 : i64}) {
  uprog.yield %x : tensor<?x4xf32>
}

// -----

// An attribute must have a value of the kind that its readers expect.
// expected-error @+1 {{'uprog.operator' op argument #1: 'uprog.operand' must be a #uprog.operand attribute on an argument of a uprog.operator}}
uprog.operator @k.rows(%n: index, %x: tensor<?x4xf32> {uprog.operand = "gather"}) {
  uprog.yield
}

// -----

// expected-error @+1 {{'uprog.operator' op result #0: 'uprog.result' must be a #uprog.result attribute on a result of a uprog.operator}}
uprog.operator @k.rows(%n: index, %x: tensor<?x4xf32> {uprog.operand = #uprog.operand<gather>})
    -> (tensor<?x4xf32> {uprog.result = #uprog.operand<gather>}) {
  uprog.yield %x : tensor<?x4xf32>
}

// -----

// An attribute must be on an op where its readers expect it.
// expected-error @+1 {{'func.func' op argument #0: 'uprog.operand' must be a #uprog.operand attribute on an argument of a uprog.operator}}
func.func private @f(tensor<?x4xf32> {uprog.operand = #uprog.operand<gather>})

// -----

// expected-error @+1 {{'func.func' op result #0: 'uprog.result' must be a #uprog.result attribute on a result of a uprog.operator}}
func.func private @f() -> (tensor<?x4xf32> {uprog.result = #uprog.result<>})

// -----

// If the symbol to which an operator refers exists, it must be a kernel.
batch.table @k : tensor<4xf32> group(0)
// expected-error @+1 {{'uprog.operator' op refers to @k, which is not a kernel}}
uprog.operator @k.rows of @k(%n: index) {
  uprog.yield
}

// -----

// The operator must have the operands of the kernel.
batch.kernel @k(%x: tensor<?x4xf32>) {
  batch.yield
}
// expected-error @+1 {{'uprog.operator' op has 2 operands and 0 results, but its kernel @k has 1 and 0}}
uprog.operator @k.rows of @k(%n: index, %x: tensor<?x4xf32> {uprog.operand = #uprog.operand<rows ragged(0)>},
                             %y: tensor<?x4xf32> {uprog.operand = #uprog.operand<gather>},
                             %o: tensor<?xindex> {uprog.operand = #uprog.operand<offsets(0)>}) {
  uprog.yield
}

// -----

// The operator must have the results of the kernel.
batch.kernel @k(%x: tensor<4xf32>) -> tensor<4xf32> {
  batch.yield %x : tensor<4xf32>
}
// expected-error @+1 {{'uprog.operator' op has 1 operands and 0 results, but its kernel @k has 1 and 1}}
uprog.operator @k.rows of @k(%n: index, %x: tensor<?x4xf32> {uprog.operand = #uprog.operand<gather>}) {
  uprog.yield
}
