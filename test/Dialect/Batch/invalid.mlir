// RUN: batch-opt %s --split-input-file --verify-diagnostics

// Only a function can be the entry.
// expected-error @+1 {{'builtin.module' op 'batch.entry' must be a unit attribute of a function}}
module attributes {batch.entry} {
}

// -----

// The mark of the entry says no more than that.
// expected-error @+1 {{'func.func' op 'batch.entry' must be a unit attribute of a function}}
func.func private @main() attributes {batch.entry = "main"}

// -----

// A module has one entry.
// expected-note @+1 {{the first entry is here}}
func.func private @one() attributes {batch.entry}
// expected-error @+1 {{'func.func' op is a second entry; a module can only have one}}
func.func private @two() attributes {batch.entry}

// -----

// Kernels do not know the names of parameters.
// expected-error @+1 {{'batch.kernel' op argument #1: 'batch.shared' of a kernel must be a unit attribute; the name of the parameter belongs to the entry function}}
batch.kernel @k(%x: tensor<4xf32>, %w: tensor<4xf32> {batch.shared = "w"}) {
  batch.yield
}

// -----

// Functions do.
// expected-error @+1 {{'func.func' op argument #0: 'batch.shared' of a function must be a string, the name of the parameter}}
func.func private @f(tensor<4xf32> {batch.shared})

// -----

// A name is a string.
// expected-error @+1 {{'func.func' op argument #0: 'batch.name' must be a string}}
func.func private @f(index {batch.name = 3})

// -----

// Phases count from 0.
// expected-error @+1 {{'batch.kernel' op phase must not be negative}}
batch.kernel @k() attributes {phase = -1 : i64} {
  batch.yield
}

// -----

// Control data structures do not enter kernels.
// expected-error @+1 {{'batch.kernel' op argument #0 must be a scalar or a ranked tensor, got '!rec.list<index>'}}
batch.kernel @k(%x: !rec.list<index>) {
  batch.yield
}

// -----

// Only the first dimension of a per-task tensor may be ragged.
// expected-error @+1 {{'batch.kernel' op argument #1 may have a dynamic extent in its first dimension only, got 'tensor<4x?xf32>'}}
batch.kernel @k(%w: tensor<?x?xf32> {batch.shared}, %x: tensor<4x?xf32>) {
  batch.yield
}

// -----

// Results become rows of tables, which have one size.
// expected-error @+1 {{'batch.kernel' op result #0 must be a static tensor, got 'tensor<?x4xf32>'}}
batch.kernel @k(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  batch.yield %x : tensor<?x4xf32>
}

// -----

// A scalar is no row of a table.
// expected-error @+1 {{'batch.kernel' op result #0 must be a static tensor, got 'f32'}}
batch.kernel @k(%x: f32) -> f32 {
  batch.yield %x : f32
}

// -----

// A kernel ends in a yield of its own dialect.
// expected-error @+1 {{'batch.kernel' op must end in batch.yield}}
batch.kernel @k() {
  uprog.yield
}

// -----

// The yield has what the kernel promises.
batch.kernel @k(%x: tensor<4xf32>) -> tensor<8xf32> {
  // expected-error @+1 {{'batch.yield' op operand types differ from the kernel's results}}
  batch.yield %x : tensor<4xf32>
}

// -----

// Kernels are named by symbols: one that is missing.
func.func @f() {
  // expected-error @+1 {{'batch.invoke' op refers to unknown batch.kernel @k}}
  batch.invoke @k() : () -> ()
  return
}

// -----

// A function is no kernel.
func.func private @k()
func.func @f(%d: index) {
  // expected-error @+1 {{'batch.record' op refers to unknown batch.kernel @k}}
  batch.record @k() depth(%d) : () -> ()
  return
}

// -----

// An invocation hands over all operands, shared ones included.
batch.kernel @k(%x: tensor<4xf32>, %w: tensor<4xf32> {batch.shared}) {
  batch.yield
}
func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{'batch.invoke' op operand types differ from the arguments of kernel @k}}
  batch.invoke @k(%x) : (tensor<4xf32>) -> ()
  return
}

// -----

batch.kernel @k(%x: tensor<4xf32>) -> tensor<4xf32> {
  batch.yield %x : tensor<4xf32>
}
func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{'batch.invoke' op result types differ from the results of kernel @k}}
  %y = batch.invoke @k(%x) : (tensor<4xf32>) -> tensor<8xf32>
  return
}

// -----

// A record has the per-task operands alone.
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

// How an operand is read has an attribute of its own,
// expected-error @+1 {{'batch.kernel' op argument #0: 'batch.read' must be a #batch.read, and only on kernels}}
batch.kernel @k(%x: index {batch.read = "gather"}) {
  batch.yield
}

// -----

// which functions do not have.
// expected-error @+1 {{'func.func' op argument #0: 'batch.read' must be a #batch.read, and only on kernels}}
func.func private @f(%n: index {batch.read = #batch.read<kind = scalar>})

// -----

// An argument with batch.shared is a parameter, by its number,
// expected-error @+1 {{'batch.kernel' op argument #0: 'batch.parameter' must be the number of a parameter, an i64, and only on kernel arguments with 'batch.shared'}}
batch.kernel @k(%x: tensor<4xf32> {batch.shared, batch.parameter = -1 : i64}) {
  batch.yield
}

// -----

// expected-error @+1 {{'batch.kernel' op argument #0: 'batch.parameter' must be the number of a parameter, an i64, and only on kernel arguments with 'batch.shared'}}
batch.kernel @k(%x: tensor<4xf32> {batch.shared, batch.parameter = 0 : i32}) {
  batch.yield
}

// -----

// one that differs from task to task is none,
// expected-error @+1 {{'batch.kernel' op argument #0: 'batch.parameter' must be the number of a parameter, an i64, and only on kernel arguments with 'batch.shared'}}
batch.kernel @k(%x: tensor<4xf32> {batch.parameter = 0 : i64}) {
  batch.yield
}

// -----

// and the parameters of a function are named.
// expected-error @+1 {{'func.func' op argument #0: 'batch.parameter' must be the number of a parameter, an i64, and only on kernel arguments with 'batch.shared'}}
func.func private @f(%x: tensor<4xf32> {batch.shared = "x", batch.parameter = 0 : i64})

// -----

// A ragged argument has a domain, by its number,
// expected-error @+1 {{'batch.kernel' op argument #0: 'batch.ragged' must be the number of a domain, an i64, and only on ragged arguments of kernels}}
batch.kernel @k(%x: tensor<?x4xf32> {batch.ragged = "0"}) {
  batch.yield
}

// -----

// one of a size that is known has none.
// expected-error @+1 {{'batch.kernel' op argument #0: 'batch.ragged' must be the number of a domain, an i64, and only on ragged arguments of kernels}}
batch.kernel @k(%x: tensor<4xf32> {batch.ragged = 0 : i64}) {
  batch.yield
}

// -----

// expected-error @+1 {{'func.func' op argument #0: 'batch.ragged' must be the number of a domain, an i64, and only on ragged arguments of kernels}}
func.func private @f(%x: tensor<?x4xf32> {batch.ragged = 0 : i64})

// -----

// What the kernel shares cannot be read per task,
batch.source @E : tensor<4xf32> parameter(0)
// expected-error @+1 {{'batch.kernel' op argument #0 is not read as shared, but has 'batch.shared'}}
batch.kernel @k(%x: tensor<4xf32> {batch.shared, batch.read = #batch.read<kind = gather, from = @E>}) {
  batch.yield
}

// -----

// nor the other way round.
// expected-error @+1 {{'batch.kernel' op argument #0 is read as shared, but 'batch.shared' is missing}}
batch.kernel @k(%x: tensor<4xf32> {batch.read = #batch.read<kind = shared>}) {
  batch.yield
}

// -----

// Segments go with ragged arguments,
// expected-error @+1 {{'batch.kernel' op argument #0: `segments` must be set for ragged arguments and no others}}
batch.kernel @k(%x: tensor<?x4xf32> {batch.read = #batch.read<kind = rows>}) {
  batch.yield
}

// -----

// and with no others.
// expected-error @+1 {{'batch.kernel' op argument #0: `segments` must be set for ragged arguments and no others}}
batch.kernel @k(%x: tensor<4xf32> {batch.read = #batch.read<kind = rows, segments = true>}) {
  batch.yield
}

// -----

// Indices count rows of one table or source,
// expected-error @+1 {{'batch.kernel' op argument #0 needs `from`, the table or source that it is read from}}
batch.kernel @k(%x: tensor<4xf32> {batch.read = #batch.read<kind = gather>}) {
  batch.yield
}

// -----

// or lanes' rows of a variable.
// expected-error @+1 {{'batch.kernel' op argument #0: there is no batch.table, batch.source or batch.variable @k}}
batch.kernel @k(%x: tensor<4xf32> {batch.read = #batch.read<kind = gather, from = @k>}) {
  batch.yield
}

// -----

// A result lies in a table,
batch.source @E : tensor<4xf32> parameter(0)
// expected-error @+1 {{'batch.kernel' op result #0: there is no batch.table @E}}
batch.kernel @k() -> (tensor<4xf32> {batch.in_table = @E}) {
  %x = arith.constant dense<0.0> : tensor<4xf32>
  batch.yield %x : tensor<4xf32>
}

// -----

// which has rows of its type.
batch.table @t : tensor<8xf32> group(0)
// expected-error @+1 {{'batch.kernel' op result #0 is in table @t with rows 'tensor<8xf32>', but is 'tensor<4xf32>'}}
batch.kernel @k() -> (tensor<4xf32> {batch.in_table = @t}) {
  %x = arith.constant dense<0.0> : tensor<4xf32>
  batch.yield %x : tensor<4xf32>
}

// -----

// Rows have one size.
// expected-error @+1 {{'batch.table' op rows must be static tensors, got 'tensor<?x4xf32>'}}
batch.table @t : tensor<?x4xf32> group(0)

// -----

// expected-error @+1 {{'batch.source' op rows must be static tensors, got 'f32'}}
batch.source @s : f32 parameter(0)

// -----

// Only a parameter has an extent of its own.
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

// So it has none to count.
batch.table @t : tensor<4xf32> group(0)
func.func @f() {
  // expected-error @+1 {{'batch.num_rows' op refers to unknown batch.source @t}}
  %n = batch.num_rows @t
  return
}

// -----

// An element has an index for each dimension of its row,
func.func @f(%h: !batch.handle, %i: index) {
  // expected-error @+1 {{'batch.extract' op needs an index for each of the 2 dimensions of the row, got 1}}
  %e = batch.extract %h[%i] : tensor<4x4xf32>
  return
}

// -----

func.func @f(%h: !batch.handle, %i: index) {
  // expected-error @+1 {{'batch.extract' op needs an index for each of the 0 dimensions of the row, got 1}}
  %e = batch.extract %h[%i] : tensor<f32>
  return
}

// -----

// and a type that rows can have.
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

// What a task makes is not there yet.
batch.kernel @k() -> tensor<4xf32> {
  %x = arith.constant dense<0.0> : tensor<4xf32>
  batch.yield %x : tensor<4xf32>
}
func.func @f(%d: index, %i: index) -> f32 {
  %h = batch.record @k() depth(%d) : () -> !batch.handle
  // expected-error @+1 {{'batch.extract' op reads a result of a task, which has not run yet}}
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

// A traversal hands a node to each function, and nothing else.
rec.adt @Tree {
  rec.variant @leaf(word: index)
}
func.func private @g(!rec.adt<@Tree>, index)
func.func @f() {
  // expected-error @+1 {{'batch.traverse' op function @g must take one ADT value and nothing else}}
  batch.traverse [@g]
  return
}

// -----

func.func private @g(index)
func.func @f() {
  // expected-error @+1 {{'batch.traverse' op function @g must take one ADT value and nothing else}}
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
  // expected-error @+1 {{'batch.lookup' op result types differ from those of @g}}
  batch.lookup @g(%t) : (!rec.adt<@Tree>) -> ()
  return
}

// -----

// A layout has all dimensions of a table,
// expected-error @+1 {{'batch.table' op needs a layout of 2 dimensions, the slot and those of a row, got 1}}
batch.table @t : tensor<4xf32> group(0) layout(affine_map<(s) -> (s)>)

// -----

// expected-error @+1 {{'batch.table' op has a layout, but its rows are single elements}}
batch.table @t : tensor<f32> group(0) layout(affine_map<(s) -> (s)>)

// -----

// is made of digits,
// expected-error @+1 {{'batch.table' op has a layout that is not made of digits of the indices: 'd', 'd floordiv a', 'd mod b' and '(d floordiv a) mod b'}}
batch.table @t : tensor<4xf32> group(0) layout(affine_map<(s, i) -> (s, i ceildiv 2)>)

// -----

// and takes each of these once:
// expected-error @+1 {{'batch.table' op has a layout that does not take every digit of d1 once}}
batch.table @t : tensor<64xf32> group(0) layout(affine_map<(s, i) -> (s, i mod 16)>)

// -----

// expected-error @+1 {{'batch.table' op has a layout that does not take every digit of d1 once}}
batch.table @t : tensor<64xf32> group(0) layout(affine_map<(s, i) -> (s, i floordiv 8, i mod 16)>)

// -----

// expected-error @+1 {{'batch.table' op has a layout with a fused dimension in which elements overlap or leave gaps}}
batch.table @t : tensor<4x16xf32> group(0) layout(affine_map<(s, i, j) -> (s, i * 15 + j)>)

// -----

// Slots come first,
// expected-error @+1 {{'batch.table' op has a layout in which slots do not come first: their number is only known at run time; split the slots and reorder their second dimension}}
batch.table @t : tensor<64xf32> group(0) layout(affine_map<(s, i) -> (i floordiv 16, s, i mod 16)>)

// -----

// are split once,
// expected-error @+1 {{'batch.table' op has a layout that splits slots more than once, or by a number that is not a power of two}}
batch.table @t : tensor<64xf32> group(0) layout(affine_map<(s, i) -> (s floordiv 6, s mod 6, i)>)

// -----

// and do not come last: vectors are in a row.
// expected-error @+1 {{'batch.table' op has a layout whose innermost dimension does not hold a multiple of 64 bytes of consecutive elements of a row, which vectors need}}
batch.table @t : tensor<64xf32> group(0) layout(affine_map<(s, i) -> (s floordiv 16, i, s mod 16)>)

// -----

// expected-error @+1 {{'batch.table' op has a layout whose innermost dimension does not hold a multiple of 64 bytes}}
batch.table @t : tensor<64xf32> group(0) layout(affine_map<(s, i) -> (s, i floordiv 8, i mod 8)>)

// -----

// A table lies beside one that is there,
// expected-error @+1 {{'batch.table' op refers to unknown batch.table @h}}
batch.table @t : tensor<4xf32> group(0) beside(@h)

// -----

// that lies beside no other,
batch.table @h : tensor<4xf32> group(0)
batch.table @c : tensor<4xf32> group(0) beside(@h)
// expected-error @+1 {{'batch.table' op lies beside @c, which itself lies beside another table}}
batch.table @t : tensor<4xf32> group(0) beside(@c)

// -----

// and has the same slots
batch.table @h : tensor<4xf32> group(0)
// expected-error @+1 {{'batch.table' op lies beside @h, which has different slots: its group is 0}}
batch.table @t : tensor<4xf32> group(1) beside(@h)

// -----

// in the same blocks.
batch.table @h : tensor<4xf32> group(0) layout(affine_map<(s, i) -> (s floordiv 8, s mod 8, i)>)
// expected-error @+1 {{'batch.table' op lies beside @h, whose slots are split differently; split both alike}}
batch.table @t : tensor<4xf32> group(0) beside(@h)

// -----

// expected-error @+1 {{a value of type 'tensor<4x0xf32>' has no elements; kernels only compute tensors with elements}}
batch.kernel @empty(%x: tensor<4x0xf32>) {
  batch.yield
}

// -----

batch.kernel @empty(%x: f32) -> tensor<f32> {
  // expected-error @+1 {{a value of type 'tensor<0xf32>' has no elements}}
  %none = tensor.splat %x : tensor<0xf32>
  %y = tensor.from_elements %x : tensor<f32>
  batch.yield %y : tensor<f32>
}

// -----

// expected-error @+1 {{has elements of type 'i128'; kernels read and write index, i1, i8, i16, i32, i64, f16, bf16, f32 and f64}}
batch.kernel @elements(%x: tensor<4xi128>) -> tensor<4xf32> {
  %y = arith.sitofp %x : tensor<4xi128> to tensor<4xf32>
  batch.yield %y : tensor<4xf32>
}

// -----

// expected-error @+1 {{has elements of type 'f80'}}
batch.kernel @elements(%x: f32) -> tensor<f80> {
  %y = arith.extf %x : f32 to f80
  %z = tensor.from_elements %y : tensor<f80>
  batch.yield %z : tensor<f80>
}

// -----

// Lanes run a machine
func.func @start(%lanes: !batch.lanes) {
  // expected-error @+1 {{'batch.start_lanes' op refers to unknown batch.machine @nothing}}
  batch.start_lanes %lanes @nothing
  return
}

// -----

// and its blocks.
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

// An attribute with the dialect's name is one that the dialect has, so that none
// is misspelt: on operations,
// expected-error @+1 {{'func.func' op 'batch.entyr' is not an attribute of the batch dialect for operations}}
func.func private @f() attributes {batch.entyr}

// -----

// on arguments,
// expected-error @+1 {{'func.func' op argument #0: 'batch.shard' is not an attribute of the batch dialect for arguments}}
func.func private @f(%x: index {batch.shard = "x"})

// -----

// and on results.
// expected-error @+1 {{'func.func' op result #0: 'batch.shared' is not an attribute of the batch dialect for results}}
func.func private @f() -> (index {batch.shared = "x"})

// -----

// It is what its readers expect.
// expected-error @+1 {{'func.func' op 'batch.inspector' must be a unit attribute of a function}}
func.func private @f() attributes {batch.inspector = 1 : i64}

// -----

// expected-error @+1 {{'func.func' op 'batch.policy' must be a #batch.policy on a module}}
func.func private @f() attributes {batch.policy = #batch.policy<greedy>}

// -----

// expected-error @+1 {{'func.func' op result #0: 'batch.in_table' must be the name of a table or source}}
func.func private @f() -> (index {batch.in_table = "h"})

// -----

// expected-error @+1 {{'func.func' op argument #0: 'batch.in_source' must be the name of a source}}
func.func private @f(%x: index {batch.in_source = "h"})

// -----

rec.adt @Tree {
  // expected-error @+1 {{'rec.variant' op 'batch.in_table' must be a dictionary from fields of a variant to tables}}
  rec.variant @leaf(h: tensor<4xf32>) {batch.in_table = {h = 1 : i64}}
}

// -----

// Policies have names.
// expected-error @+2 {{there is no policy 'eager'; policies are 'depth', 'agenda', 'greedy' and 'fsm'}}
// expected-error @+1 {{failed to parse Batch_PolicyAttr parameter 'kind'}}
module attributes {batch.policy = #batch.policy<eager>} {}

// -----

// A result in the row of an operand is of its type.
// expected-error @+1 {{'batch.kernel' op result #0: 'batch.in_place' must be the number of an argument of the kernel, an i64, that is not shared and has the result's type}}
batch.kernel @k(%x: tensor<4xf32>) -> (tensor<2xf32> {batch.in_place = 0 : i64}) {
  %y = tensor.extract_slice %x[0] [2] [1] : tensor<4xf32> to tensor<2xf32>
  batch.yield %y : tensor<2xf32>
}

// -----

// expected-error @+1 {{'batch.in_place' must be the number of an argument of the kernel, an i64, that is not shared and has the result's type}}
batch.kernel @k(%x: tensor<4xf32> {batch.shared}) -> (tensor<4xf32> {batch.in_place = 0 : i64}) {
  batch.yield %x : tensor<4xf32>
}

// -----

// expected-error @+1 {{'batch.copied_bytes' must be an integer on a kernel}}
func.func private @f() attributes {batch.copied_bytes = 64 : i64}

// -----

// A wait reads an element, too,
func.func @f(%h: !batch.handle, %i: index) {
  // expected-error @+1 {{'batch.await' op needs an index for each of the 2 dimensions of the row, got 1}}
  %e = batch.await %h[%i] number(0) : tensor<4x4xf32>
  return
}

// -----

// of a row that a table holds:
func.func @f(%h: !batch.handle, %i: index) {
  // expected-error @+1 {{'batch.await' op has a row of unsupported type 'tensor<?xf32>'}}
  %e = batch.await %h[%i] number(0) : tensor<?xf32>
  return
}

// -----

// one that there is,
func.func @f(%h: !batch.handle, %i: index) {
  // expected-error @+1 {{'batch.await' op refers to unknown batch.table @t}}
  %e = batch.await %h[%i] number(0) table(@t) : tensor<4xf32>
  return
}

// -----

// of these rows.
batch.table @t : tensor<8xf32> group(0)
func.func @f(%h: !batch.handle, %i: index) {
  // expected-error @+1 {{'batch.await' op reads rows of type 'tensor<4xf32>', but those of table @t are of type 'tensor<8xf32>'}}
  %e = batch.await %h[%i] number(0) table(@t) : tensor<4xf32>
  return
}

// -----

// Several regions go on together,
func.func @f(%h: !batch.handle) {
  // expected-error @+1 {{'batch.concurrent' op has fewer than two regions}}
  %a = batch.concurrent : !batch.handle {
    batch.yield %h : !batch.handle
  }
  return
}

// -----

// whose results are those of the op.
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

// Rounds that wait side by side are those of a map.
// expected-error @+1 {{'func.func' op 'batch.concurrent_rounds' must be a unit attribute of a rec.map}}
func.func @f() attributes {batch.concurrent_rounds} {
  return
}

// -----

// Rows of a result are counted by a number.
// expected-error @+1 {{'func.func' op result #0: 'batch.rows' must be the 'batch.name' of one result, a number of type index or integer}}
func.func private @f() -> (tensor<4xf32> {batch.rows = "n"}, tensor<i32> {batch.name = "n"}) attributes {batch.entry}

// -----

// expected-error @+1 {{'func.func' op result #0: 'batch.rows' must be the 'batch.name' of one result, a number of type index or integer}}
func.func private @f() -> (tensor<4xf32> {batch.rows = "m"}, i32 {batch.name = "n"}) attributes {batch.entry}

// -----

// expected-error @+1 {{'func.func' op result #0: 'batch.rows' is for tensors that have rows, and of static shape, not for a 'tensor<f32>'}}
func.func private @f() -> (tensor<f32> {batch.rows = "n"}, i32 {batch.name = "n"}) attributes {batch.entry}

// -----

// expected-error @+1 {{'func.func' op result #0: 'batch.row_list' must be a unit attribute, and only on kernels}}
func.func private @f() -> (tensor<4xf32> {batch.row_list})

// -----

// expected-error @+1 {{'func.func' op result #0: 'batch.rows' must be the 'batch.name' of one result, a number of type index or integer}}
func.func private @f() -> (tensor<4xf32> {batch.rows = "n"}, i32 {batch.name = "n"}, i32 {batch.name = "n"}) attributes {batch.entry}

// -----

// expected-error @+1 {{'func.func' op result #0: 'batch.rows' is for results of the entry}}
func.func private @f() -> (tensor<4xf32> {batch.rows = "n"}, i32 {batch.name = "n"})
