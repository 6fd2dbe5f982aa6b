// Bayesian logistic regression, sampled by the No-U-Turn Sampler:
//
//   w ~ normal(0, 1), y_i ~ bernoulli(sigmoid(X_i w))
//
// on the German credit data. X has the 24 columns of the data, each centered and
// divided by its standard deviation, and a column of ones; y is 1 for a bad risk.
//
// Run it:
//   test/Integration/posteriors.py inputs german_credit . --chains=64
//   batch-run test/models/german_credit.mlir --params=german_credit.safetensors \
//     --inputs=german_credit.jsonl --outputs=draws.safetensors
//   test/Integration/posteriors.py check german_credit draws.safetensors

!vec = tensor<25xf64>
!mat = tensor<1000x25xf64>
!obs = tensor<1000xf64>
!draws = tensor<512x25xf64>

// N: number of draws, and of warm-up transitions before them.
module attributes {batch.sizes = {N = 512 : index}} {
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
    %part = arith.select %positive, %one, %e : tensor<1000xi1>, !obs
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

  func.func private @nuts.sample(%seed: i32, %chain: i32, %X: !mat, %y: !obs) -> !draws

  func.func @main(%seed: i32 {batch.name = "seed"}, %chain: i32 {batch.name = "chain"},
                  %X: !mat {batch.shared = "X"}, %y: !obs {batch.shared = "y"})
      -> (!draws {batch.name = "draws"}) attributes {batch.entry} {
    %draws = call @nuts.sample(%seed, %chain, %X, %y) : (i32, i32, !mat, !obs) -> !draws
    return %draws : !draws
  }
}
