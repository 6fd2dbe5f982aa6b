// RUN: batch-opt %s --split-input-file --batch-outline-kernels | FileCheck %s

// A read belongs to the kernel that computes the loop's start value, so the operands
// of its index belong to this kernel, too.
// CHECK-LABEL: batch.kernel @start_0(
// CHECK:         %[[SUM:.*]] = linalg.reduce { arith.addi
// CHECK:         tensor.extract %[[SUM]]
// CHECK:         tensor.extract_slice
// CHECK:         linalg.reduce { arith.addf
// CHECK-LABEL: func.func @start
// CHECK:         %[[START:.*]] = batch.invoke @start_0(
// CHECK:         scf.for {{.*}} iter_args(%{{.*}} = %[[START]])
func.func @start(%b: tensor<4xi64>, %x: tensor<6x4xf32>, %n: index) -> tensor<4xf32>
    attributes {batch.entry} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %none = arith.constant dense<0> : tensor<i64>
  %zero = arith.constant dense<0.0> : tensor<4xf32>
  %sum = linalg.reduce { arith.addi } ins(%b : tensor<4xi64>) outs(%none : tensor<i64>)
      dimensions = [0]
  %number = tensor.extract %sum[] : tensor<i64>
  %i = arith.index_cast %number : i64 to index
  %rows = tensor.extract_slice %x[%i, 0] [2, 4] [1, 1] : tensor<6x4xf32> to tensor<2x4xf32>
  %start = linalg.reduce { arith.addf } ins(%rows : tensor<2x4xf32>)
      outs(%zero : tensor<4xf32>) dimensions = [0]
  %y = scf.for %k = %c0 to %n step %c1 iter_args(%h = %start) -> (tensor<4xf32>) {
    %next = math.tanh %h : tensor<4xf32>
    scf.yield %next : tensor<4xf32>
  }
  return %y : tensor<4xf32>
}

// -----

// A tensor read by the body of an op belongs to the op's kernel.
// CHECK-LABEL: batch.kernel @body_0(
// CHECK:         %[[TWICE:.*]] = arith.addf
// CHECK:         linalg.generic
// CHECK:           tensor.extract %[[TWICE]]
// CHECK-LABEL: func.func @body
// CHECK:         %[[START:.*]] = batch.invoke @body_0(
// CHECK:         scf.for {{.*}} iter_args(%{{.*}} = %[[START]])
func.func @body(%a: tensor<3xi64>, %x: tensor<6xf32>, %n: index) -> tensor<f32>
    attributes {batch.entry} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0.0> : tensor<f32>
  %twice = arith.addf %x, %x : tensor<6xf32>
  %start = linalg.generic {
      indexing_maps = [affine_map<(d) -> (d)>, affine_map<(d) -> ()>],
      iterator_types = ["reduction"]}
      ins(%a : tensor<3xi64>) outs(%zero : tensor<f32>) {
  ^bb0(%at: i64, %sum: f32):
    %i = arith.index_cast %at : i64 to index
    %element = tensor.extract %twice[%i] : tensor<6xf32>
    %next = arith.addf %sum, %element : f32
    linalg.yield %next : f32
  } -> tensor<f32>
  %y = scf.for %k = %c0 to %n step %c1 iter_args(%h = %start) -> (tensor<f32>) {
    %next = math.tanh %h : tensor<f32>
    scf.yield %next : tensor<f32>
  }
  return %y : tensor<f32>
}

// -----

// Control flow reads only rows of parameters. Kernels read rows of values computed from
// parameters, and rows of rows.
// CHECK-LABEL: batch.kernel @rows_0(
// CHECK:         tensor.extract_slice %{{.*}}[%{{.*}}, 0] [1, 8] [1, 1] : tensor<?x8xf32>
// CHECK:         tensor.extract_slice %{{.*}}[%{{.*}}, 0] [1, 8] [1, 1] : tensor<5x8xf32>
// CHECK-LABEL: func.func @rows
// CHECK:         tensor.extract_slice %{{.*}} [1, 5, 8] [1, 1, 1] : tensor<7x5x8xf32>
// CHECK-NOT:     tensor.extract_slice
// CHECK:         return
func.func @rows(%x: tensor<8xf32>, %i: index, %P: tensor<7x8xf32> {batch.shared = "P"},
                %Q: tensor<7x5x8xf32> {batch.shared = "Q"}) -> tensor<8xf32>
    attributes {batch.entry} {
  %c3 = arith.constant 3 : index
  %c5 = arith.constant 5 : index
  %size = arith.addi %c3, %c3 : index
  %some = tensor.extract_slice %P[0, 0] [%size, 8] [1, 1]
      : tensor<7x8xf32> to tensor<?x8xf32>
  %twice = arith.addf %some, %some : tensor<?x8xf32>
  %row = tensor.extract_slice %twice[%c5, 0] [1, 8] [1, 1]
      : tensor<?x8xf32> to tensor<8xf32>
  %other = tensor.extract_slice %Q[%i, %c3, 0] [1, 1, 8] [1, 1, 1]
      : tensor<7x5x8xf32> to tensor<8xf32>
  %sum = arith.addf %row, %other : tensor<8xf32>
  %y = arith.addf %x, %sum : tensor<8xf32>
  return %y : tensor<8xf32>
}
