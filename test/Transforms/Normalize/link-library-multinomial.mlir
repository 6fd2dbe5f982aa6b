// RUN: batch-opt %s --batch-link-library | FileCheck %s

// A size of a group may be 1: here, the factor of a mass matrix has one row. Hooks are
// the model's own functions, which call another group. Only hooks that reach
// @log_density take the additional operands of @log_density.
!factor = tensor<1x1xf64>
!vec = tensor<1xf64>
module {
  func.func private @log_density(%q: !vec, %scale: f64) -> (f64, !vec) {
    return %scale, %q : f64, !vec
  }
  func.func private @diagonal.velocity(!factor, !vec) -> !vec
  func.func private @diagonal.force(!factor, !vec) -> !vec
  func.func private @diagonal.observe(!factor, !vec, !vec) -> !factor
  func.func private @diagonal.fit(!factor, f64) -> !factor

  // CHECK-LABEL: func.func private @mass.velocity(
  // CHECK-SAME:      %{{.*}}: tensor<1x1xf64>, %{{.*}}: tensor<1xf64>) -> tensor<1xf64> {
  // CHECK:         call @diagonal.velocity
  func.func private @mass.velocity(%factor: !factor, %z: !vec) -> !vec {
    %0 = call @diagonal.velocity(%factor, %z) : (!factor, !vec) -> !vec
    return %0 : !vec
  }
  func.func private @mass.force(%factor: !factor, %gradient: !vec) -> !vec {
    %0 = call @diagonal.force(%factor, %gradient) : (!factor, !vec) -> !vec
    return %0 : !vec
  }
  func.func private @mass.observe(%squares: !factor, %a: !vec, %b: !vec) -> !factor {
    %0 = call @diagonal.observe(%squares, %a, %b) : (!factor, !vec, !vec) -> !factor
    return %0 : !factor
  }
  func.func private @mass.fit(%squares: !factor, %count: f64) -> !factor {
    %0 = call @diagonal.fit(%squares, %count) : (!factor, f64) -> !factor
    return %0 : !factor
  }

  // CHECK-LABEL: func.func private @multinomial.advance(
  // CHECK-SAME:      %{{[a-z0-9]*}}: f64) -> (tensor<1xf64>, tensor<1x1xf64>, tensor<1xf64>, tensor<1x1xf64>, tensor<6xf64>, tensor<50x1xf64>, tensor<50x7xf64>) {
  // CHECK:         call @multinomial.transition({{.*}}, f64) -> (tensor<1xf64>,
  // CHECK:         call @mass.observe(%{{.*}}, %{{.*}}, %{{.*}}) : (tensor<1x1xf64>, tensor<1xf64>, tensor<1xf64>) -> tensor<1x1xf64>
  func.func private @multinomial.advance(
      !vec, !factor, !vec, !factor, tensor<6xf64>, index, index, i32, i32, tensor<50xi32>,
      tensor<f64>, tensor<i32>, tensor<i1>, f64)
      -> (!vec, !factor, !vec, !factor, tensor<6xf64>, tensor<50x1xf64>,
          tensor<50x7xf64>)
}
