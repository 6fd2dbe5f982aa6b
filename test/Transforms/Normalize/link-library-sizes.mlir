// RUN: batch-opt %s --batch-link-library | FileCheck %s
// RUN: batch-opt %s --batch-link-library --batch-specialize-sizes=sizes=N=9 | FileCheck %s --check-prefix=NINE

// A group of the library takes its sizes from the first declaration. All functions
// of the group that call the model's @log_density also take the additional operands
// of @log_density.
module attributes {batch.sizes = {N = 7 : index}} {
  // CHECK-LABEL: func.func private @log_density
  func.func private @log_density(%q: tensor<5xf64>, %scale: f64, %w: tensor<5xf64>)
      -> (f64, tensor<5xf64>) {
    return %scale, %w : f64, tensor<5xf64>
  }

  // CHECK-LABEL: func.func private @nuts.sample(
  // CHECK-SAME:      %{{.*}}: i32, %{{.*}}: i32, %[[SCALE:.*]]: f64, %[[W:.*]]: tensor<5xf64>) -> tensor<7x5xf64> {
  // CHECK:         call @nuts.warm_up(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %[[SCALE]], %[[W]])
  // CHECK-NOT:     10007
  // CHECK:         tensor.dim %{{.*}} : tensor<7x5xf64>

  // Linked functions take sizes from the model, and extents become constants.
  // NINE-LABEL:  func.func private @nuts.sample(
  // NINE-SAME:       -> tensor<9x5xf64> {
  // NINE-NOT:      tensor.dim
  // NINE:          arith.constant 9 : index
  func.func private @nuts.sample(%seed: i32, %chain: i32, %scale: f64,
                                 %w: tensor<5xf64>) -> tensor<7x5xf64>

  // Functions that do not call the model's function remain unchanged, and
  // declarations of a group are also linked. Recursive calls also pass the
  // additional operands.
  // CHECK-LABEL: func.func private @nuts.joint(%{{.*}}: f64, %{{.*}}: tensor<5xf64>, %{{.*}}: tensor<5xf64>) -> f64 {
  // CHECK-LABEL: func.func private @random.threefry2x32({{.*}}) -> (i32, i32) {
  // CHECK-LABEL: func.func private @nuts.build_tree(
  // CHECK-SAME:      %[[SCALE:[a-z0-9]*]]: f64, %[[W:[a-z0-9]*]]: tensor<5xf64>) -> (tensor<5xf64>,
  // CHECK:         call @nuts.build_tree({{.*}}, %[[SCALE]], %[[W]])
}
