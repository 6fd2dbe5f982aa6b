// RUN: batch-opt %s --split-input-file --verify-diagnostics

// Only a function can be the entry.
// expected-error @+1 {{'builtin.module' op 'batch.entry' must be a unit attribute of a function}}
module attributes {batch.entry} {
}

// -----

// The attribute that marks the entry must have no value.
// expected-error @+1 {{'func.func' op 'batch.entry' must be a unit attribute of a function}}
func.func private @main() attributes {batch.entry = "main"}

// -----

// A module can have only one entry.
// expected-note @+1 {{the first entry is here}}
func.func private @one() attributes {batch.entry}
// expected-error @+1 {{'func.func' op is a second entry; a module can only have one}}
func.func private @two() attributes {batch.entry}

// -----

// Kernels must not contain the names of parameters.
// expected-error @+1 {{'batch.kernel' op argument #1: 'batch.shared' of a kernel must be a unit attribute; specify the parameter name on the entry function}}
batch.kernel @k(%x: tensor<4xf32>, %w: tensor<4xf32> {batch.shared = "w"}) {
  batch.yield
}

// -----

// Functions must contain the names of parameters.
// expected-error @+1 {{'func.func' op argument #0: 'batch.shared' of a function must be a string, the name of the parameter}}
func.func private @f(tensor<4xf32> {batch.shared})

// -----

// A name must be a string.
// expected-error @+1 {{'func.func' op argument #0: 'batch.name' must be a string}}
func.func private @f(index {batch.name = 3})

// -----

// Phases are numbered from 0.
// expected-error @+1 {{'batch.kernel' op phase must not be negative}}
batch.kernel @k() attributes {phase = -1 : i64} {
  batch.yield
}

// -----

// Kernels cannot take data structures.
// expected-error @+1 {{'batch.kernel' op argument #0 must be a scalar or a ranked tensor, got '!rec.list<index>'}}
batch.kernel @k(%x: !rec.list<index>) {
  batch.yield
}

// -----

// Only the first dimension of a per-task tensor may be ragged.
// expected-error @+1 {{'batch.kernel' op argument #1 may have a dynamic extent only in its first dimension, got 'tensor<4x?xf32>'}}
batch.kernel @k(%w: tensor<?x?xf32> {batch.shared}, %x: tensor<4x?xf32>) {
  batch.yield
}

// -----

// Results become rows of tables, so they must have a static size.
// expected-error @+1 {{'batch.kernel' op result #0 must be a static tensor, got 'tensor<?x4xf32>'}}
batch.kernel @k(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  batch.yield %x : tensor<?x4xf32>
}

// -----

// A scalar cannot be a result, because it is not a row of a table.
// expected-error @+1 {{'batch.kernel' op result #0 must be a static tensor, got 'f32'}}
batch.kernel @k(%x: f32) -> f32 {
  batch.yield %x : f32
}

// -----

// A kernel must end in a yield of its own dialect.
// expected-error @+1 {{'batch.kernel' op must end in batch.yield}}
batch.kernel @k() {
  uprog.yield
}

// -----

// The operands of the yield must have the types of the kernel's results.
batch.kernel @k(%x: tensor<4xf32>) -> tensor<8xf32> {
  // expected-error @+1 {{'batch.yield' op operand types differ from the result types of the kernel}}
  batch.yield %x : tensor<4xf32>
}

// -----

// An invocation must refer to an existing kernel.
func.func @f() {
  // expected-error @+1 {{'batch.invoke' op refers to unknown batch.kernel @k}}
  batch.invoke @k() : () -> ()
  return
}

// -----

// A function is not a kernel.
func.func private @k()
func.func @f(%d: index) {
  // expected-error @+1 {{'batch.record' op refers to unknown batch.kernel @k}}
  batch.record @k() depth(%d) : () -> ()
  return
}

// -----

// An invocation must pass all operands, including shared operands.
batch.kernel @k(%x: tensor<4xf32>, %w: tensor<4xf32> {batch.shared}) {
  batch.yield
}
func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{'batch.invoke' op operand types differ from the argument types of kernel @k}}
  batch.invoke @k(%x) : (tensor<4xf32>) -> ()
  return
}

// -----

batch.kernel @k(%x: tensor<4xf32>) -> tensor<4xf32> {
  batch.yield %x : tensor<4xf32>
}
func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{'batch.invoke' op result types differ from the result types of kernel @k}}
  %y = batch.invoke @k(%x) : (tensor<4xf32>) -> tensor<8xf32>
  return
}

// -----

// A record must have only the operands that differ between tasks.
batch.kernel @k(%x: index, %w: tensor<4xf32> {batch.shared}) {
  batch.yield
}
func.func @f(%n: index) {
  // expected-error @+1 {{'batch.record' op kernel @k takes 1 per-task operands, got 2}}
  batch.record @k(%n, %n) depth(%n) : (index, index) -> ()
  return
}

// -----

batch.kernel @k() {
  batch.yield
}
func.func @f(%n: index) {
  // expected-error @+1 {{'batch.record' op kernel @k has 0 results, got 1}}
  %h = batch.record @k() depth(%n) : () -> !batch.handle
  return
}

// -----

// Only a #batch.read attribute can specify how an operand is read.
// expected-error @+1 {{'batch.kernel' op argument #0: 'batch.read' must be a #batch.read attribute on a kernel argument}}
batch.kernel @k(%x: index {batch.read = "gather"}) {
  batch.yield
}

// -----

// Arguments of functions must not have a #batch.read attribute.
// expected-error @+1 {{'func.func' op argument #0: 'batch.read' must be a #batch.read attribute on a kernel argument}}
func.func private @f(%n: index {batch.read = #batch.read<kind = scalar>})

// -----

// An argument with batch.shared is a parameter, identified by its number.
// expected-error @+1 {{'batch.kernel' op argument #0: 'batch.parameter' must be a non-negative i64, the number of a parameter, on a kernel argument with 'batch.shared'}}
batch.kernel @k(%x: tensor<4xf32> {batch.shared, batch.parameter = -1 : i64}) {
  batch.yield
}

// -----

// expected-error @+1 {{'batch.kernel' op argument #0: 'batch.parameter' must be a non-negative i64, the number of a parameter, on a kernel argument with 'batch.shared'}}
batch.kernel @k(%x: tensor<4xf32> {batch.shared, batch.parameter = 0 : i32}) {
  batch.yield
}

// -----

// An argument that differs between tasks is not a parameter.
// expected-error @+1 {{'batch.kernel' op argument #0: 'batch.parameter' must be a non-negative i64, the number of a parameter, on a kernel argument with 'batch.shared'}}
batch.kernel @k(%x: tensor<4xf32> {batch.parameter = 0 : i64}) {
  batch.yield
}

// -----

// Parameters of a function have names, not numbers.
// expected-error @+1 {{'func.func' op argument #0: 'batch.parameter' must be a non-negative i64, the number of a parameter, on a kernel argument with 'batch.shared'}}
func.func private @f(%x: tensor<4xf32> {batch.shared = "x", batch.parameter = 0 : i64})

// -----

// The domain of a ragged argument must be identified by a number.
// expected-error @+1 {{'batch.kernel' op argument #0: 'batch.ragged' must be a non-negative i64, the number of a domain, on a ragged kernel argument}}
batch.kernel @k(%x: tensor<?x4xf32> {batch.ragged = "0"}) {
  batch.yield
}

// -----

// An argument of static size must not have a domain.
// expected-error @+1 {{'batch.kernel' op argument #0: 'batch.ragged' must be a non-negative i64, the number of a domain, on a ragged kernel argument}}
batch.kernel @k(%x: tensor<4xf32> {batch.ragged = 0 : i64}) {
  batch.yield
}

// -----

// expected-error @+1 {{'func.func' op argument #0: 'batch.ragged' must be a non-negative i64, the number of a domain, on a ragged kernel argument}}
func.func private @f(%x: tensor<?x4xf32> {batch.ragged = 0 : i64})

// -----

// An operand with batch.shared cannot be read per task.
batch.source @E : tensor<4xf32> parameter(0)
// expected-error @+1 {{'batch.kernel' op argument #0 is not read as shared, but has 'batch.shared'}}
batch.kernel @k(%x: tensor<4xf32> {batch.shared, batch.read = #batch.read<kind = gather, from = @E>}) {
  batch.yield
}

// -----

// An operand that is read as shared must have batch.shared.
// expected-error @+1 {{'batch.kernel' op argument #0 is read as shared, but 'batch.shared' is missing}}
batch.kernel @k(%x: tensor<4xf32> {batch.read = #batch.read<kind = shared>}) {
  batch.yield
}

// -----

// Ragged arguments must have segments.
// expected-error @+1 {{'batch.kernel' op argument #0: 'segments' must be set if and only if the argument is ragged}}
batch.kernel @k(%x: tensor<?x4xf32> {batch.read = #batch.read<kind = rows>}) {
  batch.yield
}

// -----

// Arguments that are not ragged must not have segments.
// expected-error @+1 {{'batch.kernel' op argument #0: 'segments' must be set if and only if the argument is ragged}}
batch.kernel @k(%x: tensor<4xf32> {batch.read = #batch.read<kind = rows, segments = true>}) {
  batch.yield
}

// -----

// A gather must read rows of one table or source.
// expected-error @+1 {{'batch.kernel' op argument #0 requires 'from', the table or source that it is read from}}
batch.kernel @k(%x: tensor<4xf32> {batch.read = #batch.read<kind = gather>}) {
  batch.yield
}

// -----

// A gather must read rows of a table, a source or a variable, not of a kernel.
// expected-error @+1 {{'batch.kernel' op argument #0 refers to unknown batch.table, batch.source or batch.variable @k}}
batch.kernel @k(%x: tensor<4xf32> {batch.read = #batch.read<kind = gather, from = @k>}) {
  batch.yield
}

// -----

// A result must be stored in a table.
batch.source @E : tensor<4xf32> parameter(0)
// expected-error @+1 {{'batch.kernel' op result #0 refers to unknown batch.table @E}}
batch.kernel @k() -> (tensor<4xf32> {batch.in_table = @E}) {
  %x = arith.constant dense<0.0> : tensor<4xf32>
  batch.yield %x : tensor<4xf32>
}

// -----

// The rows of a result's table must have the type of the result.
batch.table @t : tensor<8xf32> group(0)
// expected-error @+1 {{'batch.kernel' op result #0 has type 'tensor<4xf32>', but table @t has rows of type 'tensor<8xf32>'}}
batch.kernel @k() -> (tensor<4xf32> {batch.in_table = @t}) {
  %x = arith.constant dense<0.0> : tensor<4xf32>
  batch.yield %x : tensor<4xf32>
}

// -----

// Rows must have a static size.
// expected-error @+1 {{'batch.table' op rows must be static tensors, got 'tensor<?x4xf32>'}}
batch.table @t : tensor<?x4xf32> group(0)

// -----

// expected-error @+1 {{'batch.source' op rows must be static tensors, got 'f32'}}
batch.source @s : f32 parameter(0)

// -----

// Only a parameter may have a dynamic extent.
// expected-error @+1 {{'batch.source' op rows must be static tensors, got 'tensor<?xf32>'}}
batch.source @s : tensor<?xf32>

// -----

// A table has no rows before the run.
batch.table @t : tensor<4xf32> group(0)
func.func @f(%i: index) {
  // expected-error @+1 {{'batch.row' op refers to unknown batch.source @t}}
  %h = batch.row @t[%i]
  return
}

// -----

// A table has no number of rows before the run.
batch.table @t : tensor<4xf32> group(0)
func.func @f() {
  // expected-error @+1 {{'batch.num_rows' op refers to unknown batch.source @t}}
  %n = batch.num_rows @t
  return
}

// -----

// A read of an element must have an index for each dimension of the row.
func.func @f(%h: !batch.handle, %i: index) {
  // expected-error @+1 {{'batch.extract' op requires one index per dimension of the row; expected 2, got 1}}
  %e = batch.extract %h[%i] : tensor<4x4xf32>
  return
}

// -----

func.func @f(%h: !batch.handle, %i: index) {
  // expected-error @+1 {{'batch.extract' op requires one index per dimension of the row; expected 0, got 1}}
  %e = batch.extract %h[%i] : tensor<f32>
  return
}

// -----

// The row from which an element is read must have a supported type.
func.func @f(%h: !batch.handle, %i: index) {
  // expected-error @+1 {{'batch.extract' op has a row of unsupported type 'tensor<4xcomplex<f32>>'}}
  %e = batch.extract %h[%i] : tensor<4xcomplex<f32>>
  return
}

// -----

func.func @f(%h: !batch.handle, %i: index) {
  // expected-error @+1 {{'batch.extract' op has a row of unsupported type 'tensor<?x4xf32>'}}
  %e = batch.extract %h[%i, %i] : tensor<?x4xf32>
  return
}

// -----

// The inspector cannot read the result of a task that has not run yet.
batch.kernel @k() -> tensor<4xf32> {
  %x = arith.constant dense<0.0> : tensor<4xf32>
  batch.yield %x : tensor<4xf32>
}
func.func @f(%d: index, %i: index) -> f32 {
  %h = batch.record @k() depth(%d) : () -> !batch.handle
  // expected-error @+1 {{'batch.extract' op reads a result of a task that has not run yet; use batch.await}}
  %e = batch.extract %h[%i] : tensor<4xf32>
  return %e : f32
}

// -----

func.func @f() {
  // expected-error @+1 {{'batch.traverse' op refers to unknown function @g}}
  batch.traverse [@g]
  return
}

// -----

// A traversal can pass only a node to each function.
rec.adt @Tree {
  rec.variant @leaf(word: index)
}
func.func private @g(!rec.adt<@Tree>, index)
func.func @f() {
  // expected-error @+1 {{'batch.traverse' op function @g must take exactly one argument, an ADT value}}
  batch.traverse [@g]
  return
}

// -----

func.func private @g(index)
func.func @f() {
  // expected-error @+1 {{'batch.traverse' op function @g must take exactly one argument, an ADT value}}
  batch.traverse [@g]
  return
}

// -----

rec.adt @Tree {
  rec.variant @leaf(word: index)
}
func.func @f(%t: !rec.adt<@Tree>) {
  // expected-error @+1 {{'batch.lookup' op refers to unknown function @g}}
  batch.lookup @g(%t) : (!rec.adt<@Tree>) -> ()
  return
}

// -----

rec.adt @Tree {
  rec.variant @leaf(word: index)
}
func.func private @g(!rec.adt<@Tree>) -> !batch.handle
func.func @f(%t: !rec.adt<@Tree>) {
  // expected-error @+1 {{'batch.lookup' op result types differ from the result types of @g}}
  batch.lookup @g(%t) : (!rec.adt<@Tree>) -> ()
  return
}

// -----

// A layout must have all dimensions of a table.
// expected-error @+1 {{'batch.table' op requires a layout with 2 dimensions (the slot and the dimensions of a row) and no symbols, got affine_map<(d0) -> (d0)>}}
batch.table @t : tensor<4xf32> group(0) layout(affine_map<(s) -> (s)>)

// -----

// expected-error @+1 {{'batch.table' op requires a layout with 2 dimensions (the slot and the dimensions of a row) and no symbols, got affine_map<(d0, d1)[s0] -> (d0, d1)>}}
batch.table @t : tensor<4xf32> group(0) layout(affine_map<(s, i)[n] -> (s, i)>)

// -----

// expected-error @+1 {{'batch.table' op has a layout, but its rows are single elements; remove the layout}}
batch.table @t : tensor<f32> group(0) layout(affine_map<(s) -> (s)>)

// -----

// A layout must consist of digits, which are quotients and remainders of dimensions.
// expected-error @+1 {{'batch.table' op has an unsupported layout; dimensions must be sums of positive multiples of 'd', 'd floordiv a', 'd mod b' or '(d floordiv a) mod b'}}
batch.table @t : tensor<4xf32> group(0) layout(affine_map<(s, i) -> (s, i ceildiv 2)>)

// -----

// A layout must use each digit exactly once.
// expected-error @+1 {{'batch.table' op has a layout that does not use every digit of d1 exactly once}}
batch.table @t : tensor<64xf32> group(0) layout(affine_map<(s, i) -> (s, i mod 16)>)

// -----

// expected-error @+1 {{'batch.table' op has a layout that does not use every digit of d1 exactly once}}
batch.table @t : tensor<64xf32> group(0) layout(affine_map<(s, i) -> (s, i floordiv 8, i mod 16)>)

// -----

// expected-error @+1 {{'batch.table' op has a layout with a fused dimension in which elements overlap or leave gaps}}
batch.table @t : tensor<4x16xf32> group(0) layout(affine_map<(s, i, j) -> (s, i * 15 + j)>)

// -----

// Slots must be the first dimension of a layout.
// expected-error @+1 {{'batch.table' op has a layout in which the slot dimension is not first; the number of slots is known only at run time, so split the slot dimension and reorder only the inner one}}
batch.table @t : tensor<64xf32> group(0) layout(affine_map<(s, i) -> (i floordiv 16, s, i mod 16)>)

// -----

// Slots must be split at most once, by a power of two.
// expected-error @+1 {{'batch.table' op has a layout that splits slots more than once, or by a number that is not a power of two}}
batch.table @t : tensor<64xf32> group(0) layout(affine_map<(s, i) -> (s floordiv 6, s mod 6, i)>)

// -----

// Slots must not be the last dimension, because a vector reads elements of one row.
// expected-error @+1 {{'batch.table' op has a layout that vectors cannot read; the innermost dimension must hold a multiple of 64 bytes of consecutive elements of a row}}
batch.table @t : tensor<64xf32> group(0) layout(affine_map<(s, i) -> (s floordiv 16, i, s mod 16)>)

// -----

// expected-error @+1 {{'batch.table' op has a layout that vectors cannot read; the innermost dimension must hold a multiple of 64 bytes}}
batch.table @t : tensor<64xf32> group(0) layout(affine_map<(s, i) -> (s, i floordiv 8, i mod 8)>)

// -----

// `next_to` must refer to an existing table.
// expected-error @+1 {{'batch.table' op refers to unknown batch.table @h}}
batch.table @t : tensor<4xf32> group(0) next_to(@h)

// -----

// A table must not be next to a table that itself has `next_to`.
batch.table @h : tensor<4xf32> group(0)
batch.table @c : tensor<4xf32> group(0) next_to(@h)
// expected-error @+1 {{'batch.table' op 'next_to' cannot refer to @c, which itself has 'next_to'}}
batch.table @t : tensor<4xf32> group(0) next_to(@c)

// -----

// Tables next to each other must have the same slots.
batch.table @h : tensor<4xf32> group(0)
// expected-error @+1 {{'batch.table' op is in group 1, but is next to @h of group 0; only tables of one group have the same slots}}
batch.table @t : tensor<4xf32> group(1) next_to(@h)

// -----

// Tables next to each other must split their slots in the same way.
batch.table @h : tensor<4xf32> group(0) layout(affine_map<(s, i) -> (s floordiv 8, s mod 8, i)>)
// expected-error @+1 {{'batch.table' op is next to @h, but splits slots differently; split the slots of both tables in the same way}}
batch.table @t : tensor<4xf32> group(0) next_to(@h)

// -----

// expected-error @+1 {{kernels do not support type 'tensor<4x0xf32>', because it has no elements}}
batch.kernel @empty(%x: tensor<4x0xf32>) {
  batch.yield
}

// -----

batch.kernel @empty(%x: f32) -> tensor<f32> {
  // expected-error @+1 {{kernels do not support type 'tensor<0xf32>', because it has no elements}}
  %none = tensor.splat %x : tensor<0xf32>
  %y = tensor.from_elements %x : tensor<f32>
  batch.yield %y : tensor<f32>
}

// -----

// expected-error @+1 {{has unsupported element type 'i128'; expected index, i1, i8, i16, i32, i64, f16, bf16, f32 or f64}}
batch.kernel @elements(%x: tensor<4xi128>) -> tensor<4xf32> {
  %y = arith.sitofp %x : tensor<4xi128> to tensor<4xf32>
  batch.yield %y : tensor<4xf32>
}

// -----

// expected-error @+1 {{has unsupported element type 'f80'}}
batch.kernel @elements(%x: f32) -> tensor<f80> {
  %y = arith.extf %x : f32 to f80
  %z = tensor.from_elements %y : tensor<f80>
  batch.yield %z : tensor<f80>
}

// -----

// Lanes must run an existing machine.
func.func @start(%lanes: !batch.lanes) {
  // expected-error @+1 {{'batch.start_lanes' op refers to unknown batch.machine @nothing}}
  batch.start_lanes %lanes @nothing
  return
}

// -----

// Lanes must run existing blocks of a machine.
batch.machine @machine() {
  batch.block @block {
    batch.return
  }
}
func.func @ops(%lanes: !batch.lanes) {
  // expected-error @+1 {{'batch.lane_ops' op refers to unknown batch.block @machine::@other}}
  batch.lane_ops %lanes @machine::@other
  return
}

// -----

// Only attributes of the dialect may have its prefix, so misspelt names are errors.
// Unknown attributes on operations
// expected-error @+1 {{'func.func' op attribute 'batch.entyr' is not supported on operations}}
func.func private @f() attributes {batch.entyr}

// -----

// Unknown attributes on arguments
// expected-error @+1 {{'func.func' op argument #0: attribute 'batch.shard' is not supported on arguments}}
func.func private @f(%x: index {batch.shard = "x"})

// -----

// Unknown attributes on results
// expected-error @+1 {{'func.func' op result #0: attribute 'batch.shared' is not supported on results}}
func.func private @f() -> (index {batch.shared = "x"})

// -----

// An attribute must have a value of the kind that its readers expect.
// expected-error @+1 {{'func.func' op 'batch.inspector' must be a unit attribute of a function}}
func.func private @f() attributes {batch.inspector = 1 : i64}

// -----

// expected-error @+1 {{'func.func' op 'batch.kernel_launch' must be a dictionary on a function, with the strings 'kernel' and 'executor' and the integers 'block_size', 'cluster_size' and 'shared_bytes'}}
func.func private @f() attributes {batch.kernel_launch = {kernel = "k", executor = "device", block_size = 64 : i64, shared_bytes = 0 : i64}}

// -----

// expected-error @+1 {{'func.func' op 'batch.policy' must be a #batch.policy attribute on a module}}
func.func private @f() attributes {batch.policy = #batch.policy<greedy>}

// -----

// expected-error @+1 {{'func.func' op result #0: 'batch.in_table' must be the name of a table or source}}
func.func private @f() -> (index {batch.in_table = "h"})

// -----

// expected-error @+1 {{'func.func' op argument #0: 'batch.in_source' must be the name of a source}}
func.func private @f(%x: index {batch.in_source = "h"})

// -----

rec.adt @Tree {
  // expected-error @+1 {{'rec.variant' op 'batch.in_table' must be a dictionary that maps fields of a variant to tables}}
  rec.variant @leaf(h: tensor<4xf32>) {batch.in_table = {h = 1 : i64}}
}

// -----

// A policy must have one of the known names.
// expected-error @+2 {{unknown policy 'eager'; expected 'depth', 'agenda', 'greedy' or 'fsm'}}
// expected-error @+1 {{failed to parse Batch_PolicyAttr parameter 'kind'}}
module attributes {batch.policy = #batch.policy<eager>} {}

// -----

// A result in the row of an operand must have the type of the operand.
// expected-error @+1 {{'batch.kernel' op result #0: 'batch.in_place' must be an i64, the number of a kernel argument that is not shared and has the result's type}}
batch.kernel @k(%x: tensor<4xf32>) -> (tensor<2xf32> {batch.in_place = 0 : i64}) {
  %y = tensor.extract_slice %x[0] [2] [1] : tensor<4xf32> to tensor<2xf32>
  batch.yield %y : tensor<2xf32>
}

// -----

// expected-error @+1 {{'batch.in_place' must be an i64, the number of a kernel argument that is not shared and has the result's type}}
batch.kernel @k(%x: tensor<4xf32> {batch.shared}) -> (tensor<4xf32> {batch.in_place = 0 : i64}) {
  batch.yield %x : tensor<4xf32>
}

// -----

// expected-error @+1 {{'batch.copied_bytes' must be an integer on a kernel}}
func.func private @f() attributes {batch.copied_bytes = 64 : i64}

// -----

// A wait for an element must have an index for each dimension of the row.
func.func @f(%h: !batch.handle, %i: index) {
  // expected-error @+1 {{'batch.await' op requires one index per dimension of the row; expected 2, got 1}}
  %e = batch.await %h[%i] number(0) : tensor<4x4xf32>
  return
}

// -----

// The row whose element a wait reads must have a supported type.
func.func @f(%h: !batch.handle, %i: index) {
  // expected-error @+1 {{'batch.await' op has a row of unsupported type 'tensor<?xf32>'}}
  %e = batch.await %h[%i] number(0) : tensor<?xf32>
  return
}

// -----

// The table from which a wait reads must exist.
func.func @f(%h: !batch.handle, %i: index) {
  // expected-error @+1 {{'batch.await' op refers to unknown batch.table @t}}
  %e = batch.await %h[%i] number(0) table(@t) : tensor<4xf32>
  return
}

// -----

// The table from which a wait reads must have rows of the specified type.
batch.table @t : tensor<8xf32> group(0)
func.func @f(%h: !batch.handle, %i: index) {
  // expected-error @+1 {{'batch.await' op reads rows of type 'tensor<4xf32>', but table @t has rows of type 'tensor<8xf32>'}}
  %e = batch.await %h[%i] number(0) table(@t) : tensor<4xf32>
  return
}

// -----

// batch.concurrent needs at least two regions.
func.func @f(%h: !batch.handle) {
  // expected-error @+1 {{'batch.concurrent' op requires at least two regions}}
  %a = batch.concurrent : !batch.handle {
    batch.yield %h : !batch.handle
  }
  return
}

// -----

// The regions must yield values of the types of the op's results.
func.func @f(%h: !batch.handle, %i: index) {
  // expected-error @+1 {{'batch.concurrent' op has results of types ('!batch.handle', 'index'), but its regions yield ('!batch.handle', '!batch.handle')}}
  %a, %b = batch.concurrent : !batch.handle, index {
    batch.yield %h : !batch.handle
  }, {
    batch.yield %h : !batch.handle
  }
  return
}

// -----

// Only rounds of a map can wait concurrently.
// expected-error @+1 {{'func.func' op 'batch.concurrent_rounds' must be a unit attribute of a rec.map}}
func.func @f() attributes {batch.concurrent_rounds} {
  return
}

// -----

// Only an index or integer result can specify the number of rows of another result.
// expected-error @+1 {{'func.func' op result #0: 'batch.rows' must be the 'batch.name' of exactly one result, of type index or signless integer}}
func.func private @f() -> (tensor<4xf32> {batch.rows = "n"}, tensor<i32> {batch.name = "n"}) attributes {batch.entry}

// -----

// expected-error @+1 {{'func.func' op result #0: 'batch.rows' must be the 'batch.name' of exactly one result, of type index or signless integer}}
func.func private @f() -> (tensor<4xf32> {batch.rows = "m"}, i32 {batch.name = "n"}) attributes {batch.entry}

// -----

// expected-error @+1 {{'func.func' op result #0: 'batch.rows' requires a tensor of static shape and rank at least 1, got 'tensor<f32>'}}
func.func private @f() -> (tensor<f32> {batch.rows = "n"}, i32 {batch.name = "n"}) attributes {batch.entry}

// -----

// expected-error @+1 {{'func.func' op result #0: 'batch.row_list' must be a unit attribute on a kernel result}}
func.func private @f() -> (tensor<4xf32> {batch.row_list})

// -----

// expected-error @+1 {{'func.func' op result #0: 'batch.rows' must be the 'batch.name' of exactly one result, of type index or signless integer}}
func.func private @f() -> (tensor<4xf32> {batch.rows = "n"}, i32 {batch.name = "n"}, i32 {batch.name = "n"}) attributes {batch.entry}

// -----

// expected-error @+1 {{'func.func' op result #0: 'batch.rows' is only supported on results of the entry}}
func.func private @f() -> (tensor<4xf32> {batch.rows = "n"}, i32 {batch.name = "n"})
