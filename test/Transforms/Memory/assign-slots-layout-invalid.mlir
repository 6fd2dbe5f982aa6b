// RUN: not batch-opt %s --batch-linearize --batch-assign-slots="layout='x: split(1, 16)'" 2>&1 | FileCheck %s --check-prefix=NAME
// NAME: :[[#@LINE+59]]:1: error: unknown table 'x' in option 'layout'; expected one of 'output_0', 'node_0'

// RUN: not batch-opt %s --batch-linearize --batch-assign-slots="layout='output_0: tile(1, 16)'" 2>&1 | FileCheck %s --check-prefix=PRIMITIVE
// PRIMITIVE: :[[#@LINE+32]]:1: error: table 'output_0': invalid primitive 'tile(1, 16)'; expected split(DIM, FACTOR) with FACTOR at least 1, reorder(DIM, ...) or fuse(DIM, NEXT), or next_to(@TABLE) by itself
// RUN: not batch-opt %s --batch-linearize --batch-assign-slots="layout='output_0: split'" 2>&1 | FileCheck %s --check-prefix=TEXT
// TEXT: table 'output_0': cannot parse 'split'; expected split(DIM, FACTOR), reorder(DIM, ...) or fuse(DIM, NEXT), or next_to(@TABLE) by itself

// RUN: not batch-opt %s --batch-linearize --batch-assign-slots="layout='output_0: split(3, 16)'" 2>&1 | FileCheck %s --check-prefix=DIMENSION
// DIMENSION: table 'output_0': dimension 3 of 'split' is out of range; expected 0 (the slot) to 2
// RUN: not batch-opt %s --batch-linearize --batch-assign-slots="layout='output_0: reorder(0, 2)'" 2>&1 | FileCheck %s --check-prefix=ORDER
// ORDER: table 'output_0': 'reorder' must name each of the 3 dimensions once
// RUN: not batch-opt %s --batch-linearize --batch-assign-slots="layout='output_0: fuse(0, 2)'" 2>&1 | FileCheck %s --check-prefix=FUSE
// FUSE: table 'output_0': 'fuse(0, 2)' must name a dimension and the next one
// RUN: not batch-opt %s --batch-linearize --batch-assign-slots="layout='output_0: split(2, 16) split(3, 6)'" 2>&1 | FileCheck %s --check-prefix=AGAIN
// AGAIN: table 'output_0': 'split(3, 6)' conflicts with earlier primitives that split or fused this dimension
// RUN: not batch-opt %s --batch-linearize --batch-assign-slots="layout='output_0: reorder(1, 0, 2) fuse(0, 1)'" 2>&1 | FileCheck %s --check-prefix=FUSED
// FUSED: table 'output_0': slots must come first in a fused dimension, because their number is only known at run time

// Impossible layouts of a table. test/Dialect/Batch/invalid.mlir tests all of them.

// RUN: not batch-opt %s --batch-linearize --batch-assign-slots="layout='output_0: reorder(0, 2, 1)'" 2>&1 | FileCheck %s --check-prefix=LAST
// LAST: table 'output_0': has a layout that vectors cannot read; the innermost dimension must hold a multiple of 64 bytes of consecutive elements of a row
// RUN: not batch-opt %s --batch-linearize --batch-assign-slots="layout='output_0: next_to(@node_0)'" 2>&1 | FileCheck %s --check-prefix=NEXT-TO
// NEXT-TO: 'batch.table' op is in group {{[0-9]+}}, but is next to @node_0 of group {{[0-9]+}}; only tables of one group have the same slots

// Rows stay row-major if operands that read them also read rows of parameters. Slots may move:

// RUN: not batch-opt %s --batch-linearize --batch-assign-slots="layout='node_0: split(1, 16)'" 2>&1 | FileCheck %s --check-prefix=WITH-PARAMS
// WITH-PARAMS: rows of table 'node_0' must be row-major, because the same operands also read rows of parameters, which are row-major; split only its slots
// RUN: batch-opt %s --batch-linearize --batch-assign-slots="layout='node_0: split(0, 16)'" -o /dev/null
rec.adt @Tree {
  rec.variant @leaf(word: index)
  rec.variant @node(left: !rec.adt<@Tree>, right: !rec.adt<@Tree>)
}
// The primitives above do not fit the table of this kernel.
batch.kernel @output(%h: tensor<40xf32>) -> tensor<3x40xf32> attributes {phase = 1 : i64} {
  %m = tensor.empty() : tensor<3x40xf32>
  batch.yield %m : tensor<3x40xf32>
}
batch.kernel @node(%l: tensor<40xf32>, %r: tensor<40xf32>) -> tensor<40xf32> {
  %h = arith.addf %l, %r : tensor<40xf32>
  batch.yield %h : tensor<40xf32>
}
func.func private @encode(%t: !rec.adt<@Tree>, %E: tensor<?x40xf32>) -> tensor<40xf32> {
  %h = rec.match %t : !rec.adt<@Tree> -> tensor<40xf32> {
  case @leaf(%word: index) {
    %e = tensor.extract_slice %E[%word, 0] [1, 40] [1, 1] : tensor<?x40xf32> to tensor<40xf32>
    rec.yield %e : tensor<40xf32>
  }
  case @node(%l: !rec.adt<@Tree>, %r: !rec.adt<@Tree>) {
    %hl = func.call @encode(%l, %E) : (!rec.adt<@Tree>, tensor<?x40xf32>) -> tensor<40xf32>
    %hr = func.call @encode(%r, %E) : (!rec.adt<@Tree>, tensor<?x40xf32>) -> tensor<40xf32>
    %d = batch.depth(%hl, %hr) : tensor<40xf32>, tensor<40xf32>
    %y = batch.invoke @node(%hl, %hr) depth(%d) : (tensor<40xf32>, tensor<40xf32>) -> tensor<40xf32>
    rec.yield %y : tensor<40xf32>
  }
  }
  return %h : tensor<40xf32>
}
func.func @main(%t: !rec.adt<@Tree> {batch.name = "tree"}, %E: tensor<?x40xf32> {batch.shared = "E"})
    -> (tensor<3x40xf32> {batch.name = "m"}) attributes {batch.entry} {
  %h = func.call @encode(%t, %E) : (!rec.adt<@Tree>, tensor<?x40xf32>) -> tensor<40xf32>
  %d = batch.depth(%h) : tensor<40xf32>
  %m = batch.invoke @output(%h) depth(%d) : (tensor<40xf32>) -> tensor<3x40xf32>
  return %m : tensor<3x40xf32>
}
