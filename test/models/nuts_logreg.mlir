// The No-U-Turn Sampler on Bayesian logistic regression:
//
//   w ~ normal(0, 1), y_i ~ bernoulli(sigmoid(X_i w))
//
// Transitions have a fixed step size, 4 leapfrog steps per leaf, and no warm-up.
//
// Run it:
//   test/Integration/posteriors.py inputs nuts_logreg . --chains=64
//   batch-run test/models/nuts_logreg.mlir --params=nuts_logreg.safetensors \
//     --inputs=nuts_logreg.jsonl --input-tensors=nuts_logreg_starts.safetensors

!vec = tensor<100xf64>
!mat = tensor<10000x100xf64>
!obs = tensor<10000xf64>
!positions = tensor<3x100xf64>
!counts = tensor<3x2xi32>

// D: number of regressors; N: of transitions; ROWS: of observations.
module attributes {batch.sizes = {D = 100 : index, N = 3 : index,
                                  ROWS = 10000 : index}} {
  // a = X w. The weights have standard normal priors.
  func.func private @log_density(%w: !vec, %X: !mat, %y: !obs) -> (f64, !vec) {
    %none = arith.constant dense<0.0> : tensor<f64>
    %half = arith.constant 0.5 : f64
    %zeros = arith.constant dense<0.0> : !vec
    %zero = arith.constant dense<0.0> : !obs
    %one = arith.constant dense<1.0> : !obs
    %a = linalg.matvec ins(%X, %w : !mat, !vec) outs(%zero : !obs) -> !obs

    // With e = exp(-|a|), which cannot overflow, ln(1 + exp(a)) is
    // max(a, 0) + ln(1 + e), and sigmoid(a) is 1 / (1 + e) or e / (1 + e).
    %size = math.absf %a : !obs
    %minus = arith.negf %size : !obs
    %e = math.exp %minus : !obs
    %e1 = arith.addf %one, %e : !obs
    %positive = arith.cmpf oge, %a, %zero : !obs
    %part = arith.select %positive, %one, %e : tensor<10000xi1>, !obs
    %sigmoid = arith.divf %part, %e1 : !obs
    %residual = arith.subf %y, %sigmoid : !obs
    %log = math.log %e1 : !obs
    %above = arith.maximumf %a, %zero : !obs
    %normalizer = arith.addf %above, %log : !obs
    %ya = arith.mulf %y, %a : !obs
    %terms = arith.subf %ya, %normalizer : !obs

    %likelihood = linalg.reduce ins(%terms : !obs) outs(%none : tensor<f64>)
        dimensions = [0]
        (%term: f64, %sum: f64) {
          %next = arith.addf %term, %sum : f64
          linalg.yield %next : f64
        }
    %square = linalg.dot ins(%w, %w : !vec, !vec) outs(%none : tensor<f64>)
        -> tensor<f64>
    %l = tensor.extract %likelihood[] : tensor<f64>
    %s = tensor.extract %square[] : tensor<f64>
    %prior = arith.mulf %half, %s : f64
    %logp = arith.subf %l, %prior : f64

    %push = linalg.vecmat ins(%residual, %X : !obs, !mat) outs(%zeros : !vec) -> !vec
    %grad = arith.subf %push, %w : !vec
    return %logp, %grad : f64, !vec
  }

  func.func private @nuts.trace(%q0: !vec, %epsilon: f64, %steps: index,
                                %seed: i32, %chain: i32, %X: !mat, %y: !obs)
      -> (!positions, !counts)

  // The parameter file also contains w_true, the weights from which the data was drawn.
  func.func @main(%seed: i32 {batch.name = "seed"}, %chain: i32 {batch.name = "chain"},
                  %q0: !vec {batch.name = "q0"}, %X: !mat {batch.shared = "X"},
                  %y: !obs {batch.shared = "y"})
      -> (!positions {batch.name = "q"},
          !counts {batch.name = "doublings_leapfrogs"}) attributes {batch.entry} {
    %epsilon = arith.constant 0.005 : f64
    %steps = arith.constant 4 : index
    %q, %counts = call @nuts.trace(%q0, %epsilon, %steps, %seed, %chain, %X, %y)
        : (!vec, f64, index, i32, i32, !mat, !obs) -> (!positions, !counts)
    return %q, %counts : !positions, !counts
  }
}
