// RUN: batch-opt %s --batch-vectorize-kernels --split-input-file -o %t.1
// RUN: FileCheck %s < %t.1
// RUN: batch-opt %s --batch-vectorize-kernels --split-input-file -o %t.2
// RUN: cmp %t.1 %t.2

// In the operator, a slice whose size is a scalar of the task has the maximum number of
// rows. The size is checked once, and a reduction leaves its result unchanged at
// rows past the size.
// CHECK-LABEL: uprog.operator @sum.rows
// CHECK-SAME:    %[[X:[a-z0-9]*]]: tensor<?x12x4xf32> {uprog.operand = #uprog.operand<gather>}, %[[T:[a-z0-9]*]]: tensor<?xindex>
// CHECK:         %[[SIZE:.*]] = linalg.generic {{.*}} ins(%[[T]] : tensor<?xindex>)
// CHECK-NEXT:    ^bb0(%[[OWN:.*]]: index, %{{.*}}: index):
// CHECK-NEXT:      %[[IN:.*]] = arith.cmpi ult, %[[OWN]], %c13
// CHECK-NEXT:      cf.assert %[[IN]], "index {} is out of range for the size of a slice of dimension 0 of a tensor of type tensor<12x4xf32>, read at {{.*}}"
// CHECK:           arith.select %[[IN]], %[[OWN]], %c0
// CHECK-NOT:     cf.assert
// CHECK:         %[[ROWS:.*]] = tensor.extract_slice %[[X]][0, 0, 0] [%{{.*}}, 12, 4] [1, 1, 1]
// CHECK:         linalg.generic {{.*}} ins(%[[ROWS]], %[[SIZE]] : tensor<?x12x4xf32>, tensor<?xindex>) outs(%{{.*}} : tensor<?x4xf32>)
// CHECK-NEXT:    ^bb0(%[[E:.*]]: f32, %[[LAST:.*]]: index, %[[ACC:.*]]: f32):
// CHECK:           %[[SUM:.*]] = arith.addf %[[E]], %[[ACC]]
// CHECK:           %[[I:.*]] = linalg.index 1
// CHECK:           %[[EXISTS:.*]] = arith.cmpi ult, %[[I]], %[[LAST]]
// CHECK:           %[[NEXT:.*]] = arith.select %[[EXISTS]], %[[SUM]], %[[ACC]]
// CHECK:           linalg.yield %[[NEXT]]
batch.kernel @sum(%x: tensor<12x4xf32>, %t: index) -> tensor<4xf32> {
  %zero = arith.constant dense<0.0> : tensor<4xf32>
  %rows = tensor.extract_slice %x[0, 0] [%t, 4] [1, 1] : tensor<12x4xf32> to tensor<?x4xf32>
  %sum = linalg.reduce ins(%rows : tensor<?x4xf32>) outs(%zero : tensor<4xf32>) dimensions = [0]
      (%e: f32, %acc: f32) {
    %s = arith.addf %e, %acc : f32
    linalg.yield %s : f32
  }
  batch.yield %sum : tensor<4xf32>
}

// -----

// In the operator, two slices of the same size have as many rows as the shorter sliced tensor.
// CHECK-LABEL: uprog.operator @both.rows
// CHECK:         arith.cmpi ult, %{{.*}}, %c8
// CHECK:         cf.assert %{{.*}}, "index {} is out of range for the size of a slice of dimension 0 of a tensor of type tensor<7xf32>
// CHECK-DAG:     tensor.extract_slice %{{.*}}[0, 2] [%{{.*}}, 7] [1, 1] : tensor<?x12xf32> to tensor<?x7xf32>
// CHECK-DAG:     tensor.extract_slice %{{.*}}[0, 0] [%{{.*}}, 7] [1, 1] : tensor<?x7xf32> to tensor<?x7xf32>
// CHECK:         arith.addf %{{.*}}, %{{.*}} : tensor<?x7xf32>
// An insert replaces as many elements as the size, and the other elements remain unchanged.
// CHECK:         %[[D:.*]] = arith.subi %{{.*}}, %c3
// CHECK:         %[[EXISTS:.*]] = arith.cmpi ult, %[[D]], %{{.*}}
// CHECK:         %[[AT:.*]] = arith.select %[[EXISTS]], %[[D]], %c0
// CHECK:         arith.cmpi ult, %[[AT]], %c7
// CHECK:         %[[NEW:.*]] = tensor.extract %{{.*}}[%{{.*}}, %{{.*}}] : tensor<?x7xf32>
// CHECK:         arith.select %[[EXISTS]], %[[NEW]], %{{.*}} : f32
batch.kernel @both(%x: tensor<12xf32>, %y: tensor<7xf32>, %t: index) -> tensor<12xf32> {
  %a = tensor.extract_slice %x[2] [%t] [1] : tensor<12xf32> to tensor<?xf32>
  %b = tensor.extract_slice %y[0] [%t] [1] : tensor<7xf32> to tensor<?xf32>
  %c = arith.addf %a, %b : tensor<?xf32>
  %z = tensor.insert_slice %c into %x[3] [%t] [1] : tensor<?xf32> into tensor<12xf32>
  batch.yield %z : tensor<12xf32>
}

// -----

// The index of an element is compared with the size, not with the maximum number
// of rows.
// CHECK-LABEL: uprog.operator @last.rows
// CHECK:         cf.assert %{{.*}}, "index {} is out of range for the size of a slice
// CHECK:         linalg.generic {{.*}} ins(%[[I:.*]], %[[SIZE:.*]] : tensor<?xindex>, tensor<?xindex>)
// CHECK-NEXT:    ^bb0(%[[OWN:.*]]: index, %[[LIMIT:.*]]: index, %{{.*}}: index):
// CHECK-NEXT:      %[[IN:.*]] = arith.cmpi ult, %[[OWN]], %[[LIMIT]]
// CHECK-NEXT:      cf.assert %[[IN]], "index {} is out of range for dimension 0 of a tensor of type tensor<?xf32>
batch.kernel @last(%x: tensor<12xf32>, %t: index, %i: index) -> tensor<f32> {
  %a = tensor.extract_slice %x[0] [%t] [1] : tensor<12xf32> to tensor<?xf32>
  %e = tensor.extract %a[%i] : tensor<?xf32>
  %y = tensor.from_elements %e : tensor<f32>
  batch.yield %y : tensor<f32>
}
