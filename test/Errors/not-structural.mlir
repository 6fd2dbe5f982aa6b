// RUN: not batch-opt --autobatch=strategy=linearize %s 2>&1 | FileCheck %s
// RUN: not batch-compile --strategy=linearize %s -o %t.so 2>&1 | FileCheck %s
// RUN: test ! -e %t.so

// Recursion that depends on a tensor's value cannot be linearized. The error is
// at the branch, or at the value that the branch reads, and names the strategy.

// CHECK: not-structural.mlir:{{2[4-7]}}:{{[0-9]+}}: error: control flow depends on a tensor here, so the program is not structural and strategy 'linearize' cannot batch it
module {
  rec.adt @Tree {
    rec.variant @leaf(word: index)
    rec.variant @node(left: !rec.adt<@Tree>, right: !rec.adt<@Tree>)
  }
  func.func private @f(%t: !rec.adt<@Tree>, %E: tensor<?x4xf32>) -> tensor<4xf32> {
    %h = rec.match %t : !rec.adt<@Tree> -> tensor<4xf32> {
    case @leaf(%word: index) {
      %x = tensor.extract_slice %E[%word, 0] [1, 4] [1, 1]
          : tensor<?x4xf32> to tensor<4xf32>
      rec.yield %x : tensor<4xf32>
    }
    case @node(%l: !rec.adt<@Tree>, %r: !rec.adt<@Tree>) {
      %hl = func.call @f(%l, %E) : (!rec.adt<@Tree>, tensor<?x4xf32>) -> tensor<4xf32>
      %c0 = arith.constant 0 : index
      %v = tensor.extract %hl[%c0] : tensor<4xf32>
      %zero = arith.constant 0.0 : f32
      %c = arith.cmpf ogt, %v, %zero : f32
      %h = scf.if %c -> (tensor<4xf32>) {
        %hr = func.call @f(%r, %E) : (!rec.adt<@Tree>, tensor<?x4xf32>) -> tensor<4xf32>
        scf.yield %hr : tensor<4xf32>
      } else {
        scf.yield %hl : tensor<4xf32>
      }
      rec.yield %h : tensor<4xf32>
    } }
    return %h : tensor<4xf32>
  }
  func.func @main(%t: !rec.adt<@Tree> {batch.name = "tree"},
                  %E: tensor<?x4xf32> {batch.shared = "E"})
      -> (tensor<4xf32> {batch.name = "h"}) attributes {batch.entry} {
    %h = call @f(%t, %E) : (!rec.adt<@Tree>, tensor<?x4xf32>) -> tensor<4xf32>
    return %h : tensor<4xf32>
  }
}
