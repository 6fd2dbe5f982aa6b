// RUN: batch-opt %s --batch-vectorize-kernels --split-input-file | FileCheck %s
// RUN: batch-opt %s --batch-vectorize-kernels --uprog-stage-operators=target=cpu --split-input-file -o /dev/null

// Two elements of the row are swapped: the operator stores the first one before the row changes.

// CHECK-LABEL: batch.kernel @swap
// CHECK-SAME:    -> (tensor<1024xf32> {batch.in_place = 0 : i64})
// CHECK-NOT:     batch.copied_bytes
// CHECK-LABEL: uprog.operator @swap.rows
// CHECK-SAME:    %[[T:[a-z0-9]*]]: tensor<?x1024xf32>
// CHECK:         %[[A:.*]] = linalg.generic
// CHECK:           tensor.extract %[[T]]
// CHECK:         %[[B:.*]] = linalg.generic
// CHECK:           tensor.extract %[[T]]
// CHECK:         %[[KEPT:.*]] = linalg.copy ins(%[[A]]
// CHECK:         %[[T1:.*]] = uprog.insert %{{.*}} into %[[T]]
// CHECK:         %[[T2:.*]] = uprog.insert %[[KEPT]] into %[[T1]]
// CHECK:         uprog.yield %[[T2]]
batch.kernel @swap(%t: tensor<1024xf32>, %i: index, %j: index) -> tensor<1024xf32> {
  %a = tensor.extract %t[%i] : tensor<1024xf32>
  %b = tensor.extract %t[%j] : tensor<1024xf32>
  %t1 = tensor.insert %b into %t[%i] : tensor<1024xf32>
  %t2 = tensor.insert %a into %t1[%j] : tensor<1024xf32>
  batch.yield %t2 : tensor<1024xf32>
}

// -----

// A short row is copied, because storing an element first would take longer.

// CHECK-LABEL: batch.kernel @short
// CHECK-SAME:    attributes {batch.copied_bytes = 512 : i64,
// CHECK-LABEL: uprog.operator @short.rows
// CHECK-NOT:     uprog.insert
batch.kernel @short(%t: tensor<64xf32>, %i: index, %j: index) -> tensor<64xf32> {
  %a = tensor.extract %t[%i] : tensor<64xf32>
  %b = tensor.extract %t[%j] : tensor<64xf32>
  %t1 = tensor.insert %b into %t[%i] : tensor<64xf32>
  %t2 = tensor.insert %a into %t1[%j] : tensor<64xf32>
  batch.yield %t2 : tensor<64xf32>
}

// -----

// Each layer reads its cache from the row. Then the next layer inserts into the row. Results of
// products are in memory anyway, so they are not copied first.

// CHECK-LABEL: uprog.operator @layers.rows
// CHECK-SAME:    %[[K:[a-z0-9]*]]: tensor<?x2x8x4xf32>
// CHECK:         %[[K1:.*]] = uprog.insert %{{.*}} into %[[K]]
// CHECK:         tensor.extract_slice %[[K1]]
// CHECK:         %[[Y:.*]] = linalg.generic
// CHECK:           arith.mulf
// CHECK-NOT:     linalg.copy
// CHECK:         %[[K2:.*]] = uprog.insert %[[Y]] into %[[K1]]
// CHECK:         tensor.extract_slice %[[K2]]
// CHECK:         uprog.yield %[[K2]]
batch.kernel @layers(%k: tensor<2x8x4xf32>, %x: tensor<4xf32>, %w: tensor<8xf32>, %i: index)
    -> (tensor<2x8x4xf32>, tensor<4xf32>) {
  %zero = arith.constant dense<0.0> : tensor<4xf32>
  %k1 = tensor.insert_slice %x into %k[0, %i, 0] [1, 1, 4] [1, 1, 1] : tensor<4xf32> into tensor<2x8x4xf32>
  %first = tensor.extract_slice %k1[0, 0, 0] [1, 8, 4] [1, 1, 1] : tensor<2x8x4xf32> to tensor<8x4xf32>
  %y = linalg.vecmat ins(%w, %first : tensor<8xf32>, tensor<8x4xf32>) outs(%zero : tensor<4xf32>) -> tensor<4xf32>
  %k2 = tensor.insert_slice %y into %k1[1, %i, 0] [1, 1, 4] [1, 1, 1] : tensor<4xf32> into tensor<2x8x4xf32>
  %second = tensor.extract_slice %k2[1, 0, 0] [1, 8, 4] [1, 1, 1] : tensor<2x8x4xf32> to tensor<8x4xf32>
  %z = linalg.vecmat ins(%w, %second : tensor<8xf32>, tensor<8x4xf32>) outs(%y : tensor<4xf32>) -> tensor<4xf32>
  batch.yield %k2, %z : tensor<2x8x4xf32>, tensor<4xf32>
}

// -----

// An insert at a constant position can belong to a chain of inserts.

// CHECK-LABEL: uprog.operator @constant.rows
// CHECK:         uprog.insert %{{.*}} into %{{.*}}[3] sizes [2]
// CHECK:         uprog.insert
// CHECK:         uprog.yield
batch.kernel @constant(%t: tensor<64xf32>, %x: tensor<2xf32>, %i: index) -> tensor<64xf32> {
  %t1 = tensor.insert_slice %x into %t[3] [2] [1] : tensor<2xf32> into tensor<64xf32>
  %t2 = tensor.insert_slice %x into %t1[%i] [2] [1] : tensor<2xf32> into tensor<64xf32>
  batch.yield %t2 : tensor<64xf32>
}

// -----

// Each insert would have to follow a reader of the other insert's result, so one insert copies.

// CHECK-LABEL: batch.kernel @crossed
// CHECK-SAME:    batch.in_place
// CHECK-NOT:     batch.in_place
// CHECK-LABEL: uprog.operator @crossed.rows
// CHECK-COUNT-1: uprog.insert
// CHECK-NOT:     uprog.insert
batch.kernel @crossed(%a: tensor<64xf32>, %b: tensor<64xf32>, %i: index)
    -> (tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>) {
  %zero = arith.constant 0.0 : f32
  %a1 = tensor.insert %zero into %a[%i] : tensor<64xf32>
  %b1 = tensor.insert %zero into %b[%i] : tensor<64xf32>
  %x = arith.addf %a, %b1 : tensor<64xf32>
  %y = arith.mulf %a1, %b : tensor<64xf32>
  batch.yield %a1, %b1, %x, %y : tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>
}
