// The No-U-Turn Sampler (Hoffman and Gelman 2014) on a correlated Gaussian, as in Radul et
// al., MLSys 2020. The Gaussian is given by its precision matrix:
//
//   log p(q) = -1/2 q . prec q
//
// The model defines this density and its gradient, and declares the function @nuts.trace of
// the library. Transitions have a fixed step size and 4 leapfrog steps per leaf. There
// is no warm-up.
//
// Run it:
//   test/Integration/posteriors.py inputs nuts_gauss . --chains=64
//   batch-run examples/mlir/nuts_gauss.mlir --params=nuts_gauss.safetensors \
//     --inputs=nuts_gauss.jsonl --input-tensors=nuts_gauss_starts.safetensors

!vec = tensor<100xf64>
!mat = tensor<100x100xf64>
!positions = tensor<3x100xf64>
!counts = tensor<3x2xi32>

// D: number of dimensions; N: number of transitions.
module attributes {batch.sizes = {D = 100 : index, N = 3 : index}} {
  func.func private @log_density(%q: !vec, %prec: !mat) -> (f64, !vec) {
    %zero = arith.constant dense<0.0> : tensor<f64>
    %zeros = arith.constant dense<0.0> : !vec
    %half = arith.constant 0.5 : f64
    %pull = linalg.matvec ins(%prec, %q : !mat, !vec) outs(%zeros : !vec) -> !vec
    %grad = arith.negf %pull : !vec
    %dot = linalg.dot ins(%q, %grad : !vec, !vec) outs(%zero : tensor<f64>)
        -> tensor<f64>
    %twice = tensor.extract %dot[] : tensor<f64>
    %logp = arith.mulf %half, %twice : f64
    return %logp, %grad : f64, !vec
  }

  func.func private @nuts.trace(%q0: !vec, %epsilon: f64, %steps: index,
                                %seed: i32, %chain: i32, %prec: !mat)
      -> (!positions, !counts)

  func.func @main(%seed: i32 {batch.name = "seed"}, %chain: i32 {batch.name = "chain"},
                  %q0: !vec {batch.name = "q0"}, %prec: !mat {batch.shared = "prec"})
      -> (!positions {batch.name = "q"},
          !counts {batch.name = "doublings_leapfrogs"}) attributes {batch.entry} {
    %epsilon = arith.constant 0.1 : f64
    %steps = arith.constant 4 : index
    %q, %counts = call @nuts.trace(%q0, %epsilon, %steps, %seed, %chain, %prec)
        : (!vec, f64, index, i32, i32, !mat) -> (!positions, !counts)
    return %q, %counts : !positions, !counts
  }
}
