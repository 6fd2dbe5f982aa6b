// RUN: batch-opt %s --batch-scf-to-cf --verify-diagnostics

func.func @tensors(%t: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{this op cannot be lowered to branches}}
  %r = scf.forall (%i) in (4) shared_outs(%o = %t) -> (tensor<4xf32>) {
    scf.forall.in_parallel {
    }
  }
  return %r : tensor<4xf32>
}
