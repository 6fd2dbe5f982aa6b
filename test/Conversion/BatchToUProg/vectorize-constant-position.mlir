// RUN: batch-opt %s --batch-vectorize-kernels | FileCheck %s

// Ops whose results are equal for all tasks are copied. Their constant positions, such as the
// index of a single round, become attributes, which code generators need.
// CHECK-LABEL: uprog.operator @constant.rows
// CHECK:         tensor.extract_slice %{{.*}}[1] [1] [1] : tensor<2xf32> to tensor<1xf32>
// CHECK:         tensor.insert_slice %{{.*}} into %{{.*}}[0] [1] [1] : tensor<1xf32> into tensor<2xf32>
batch.kernel @constant() -> tensor<2xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %pair = arith.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %exp = math.exp %pair : tensor<2xf32>
  %last = tensor.extract_slice %exp[%one] [1] [1] : tensor<2xf32> to tensor<1xf32>
  %both = tensor.insert_slice %last into %exp[%zero] [1] [1] : tensor<1xf32> into tensor<2xf32>
  batch.yield %both : tensor<2xf32>
}
