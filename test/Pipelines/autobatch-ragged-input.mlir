// RUN: batch-opt %s --autobatch | FileCheck %s

// A ragged argument of the entry is a list of input rows.
// CHECK:       batch.source @{{.*}} : tensor<4xf32>{{$}}
// CHECK-LABEL: func.func @main.inspect
// CHECK-SAME:    (%{{.*}}: !rec.list<!batch.handle>
func.func @main(%xs: tensor<?x4xf32>) -> tensor<4xf32> attributes {batch.entry} {
  %zero = arith.constant dense<0.0> : tensor<4xf32>
  %s = linalg.reduce { arith.addf } ins(%xs : tensor<?x4xf32>) outs(%zero : tensor<4xf32>) dimensions = [0]
  return %s : tensor<4xf32>
}
