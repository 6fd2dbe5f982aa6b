// An autoregressive model of order 5, sampled by the No-U-Turn Sampler:
//
//   y_t ~ normal(alpha + sum_k beta_k y_(t-k), sigma)
//   alpha, beta_k ~ normal(0, 10), sigma ~ half-Cauchy(0, 2.5)
//
// given the first five values. A row of X is 1, y_(t-1), ..., y_(t-5), and alpha is
// the first entry of beta.
//
// A position holds beta and s = log sigma. With residuals r = y - X beta,
//
//   log p = -r.r / (2 sigma^2) - 195 s + log priors + s (for the change of variable to s)
//
// Run it:
//   test/Integration/posteriors.py inputs arK . --chains=64
//   batch-run test/models/arK.mlir --params=arK.safetensors \
//     --inputs=arK.jsonl --outputs=draws.safetensors
//   test/Integration/posteriors.py check arK draws.safetensors

!vec = tensor<7xf64>
!beta = tensor<6xf64>
!mat = tensor<195x6xf64>
!obs = tensor<195xf64>
!scalar = tensor<f64>
!draws = tensor<512x7xf64>

// N: number of draws, and of warm-up transitions before them.
module attributes {batch.sizes = {N = 512 : index}} {
  func.func private @log_density(%q: !vec, %X: !mat, %y: !obs) -> (f64, !vec) {
    %none = arith.constant dense<0.0> : !scalar
    %half = arith.constant dense<0.5> : !scalar
    %one = arith.constant dense<1.0> : !scalar
    %two = arith.constant dense<2.0> : !scalar
    %minus_two = arith.constant dense<-2.0> : !scalar
    %freedom = arith.constant dense<-194.0> : !scalar
    %zero = arith.constant dense<0.0> : !obs
    %zeros = arith.constant dense<0.0> : !beta
    %beta = tensor.extract_slice %q[0] [6] [1] : !vec to !beta
    %s = tensor.extract_slice %q[6] [1] [1] : !vec to !scalar
    %s2 = arith.mulf %two, %s : !scalar
    %variance = math.exp %s2 : !scalar
    %minus_s2 = arith.mulf %minus_two, %s : !scalar
    %precision = math.exp %minus_s2 : !scalar

    %fit = linalg.matvec ins(%X, %beta : !mat, !beta) outs(%zero : !obs) -> !obs
    %r = arith.subf %y, %fit : !obs
    %rr = linalg.dot ins(%r, %r : !obs, !obs) outs(%none : !scalar) -> !scalar
    %misfit = arith.mulf %precision, %rr : !scalar
    %half_misfit = arith.mulf %half, %misfit : !scalar
    %volume = arith.mulf %freedom, %s : !scalar
    %likelihood = arith.subf %volume, %half_misfit : !scalar
    // sigma: half-Cauchy of scale 2.5.
    %scale = arith.constant dense<6.25> : !scalar
    %ratio = arith.divf %variance, %scale : !scalar
    %ratio1 = arith.addf %one, %ratio : !scalar
    %log = math.log %ratio1 : !scalar
    %logp0 = arith.subf %likelihood, %log : !scalar
    // beta: normal of scale 10.
    %scales = arith.constant dense<0.01> : !beta
    %shrink = arith.mulf %scales, %beta : !beta
    %square = linalg.dot ins(%beta, %shrink : !beta, !beta) outs(%none : !scalar)
        -> !scalar
    %half_square = arith.mulf %half, %square : !scalar
    %logp = arith.subf %logp0, %half_square : !scalar

    %Xr = linalg.vecmat ins(%r, %X : !obs, !mat) outs(%zeros : !beta) -> !beta
    %empty = tensor.empty() : !beta
    %precisions = linalg.broadcast ins(%precision : !scalar) outs(%empty : !beta)
        dimensions = [0]
    %push = arith.mulf %precisions, %Xr : !beta
    %ds0 = arith.addf %misfit, %freedom : !scalar
    %dbeta = arith.subf %push, %shrink : !beta
    %total = arith.addf %scale, %variance : !scalar
    %twice = arith.mulf %two, %variance : !scalar
    %pull = arith.divf %twice, %total : !scalar
    %ds = arith.subf %ds0, %pull : !scalar

    %grad0 = tensor.insert_slice %dbeta into %q[0] [6] [1] : !beta into !vec
    %grad = tensor.insert_slice %ds into %grad0[6] [1] [1] : !scalar into !vec
    %value = tensor.extract %logp[] : !scalar
    return %value, %grad : f64, !vec
  }

  func.func private @nuts.sample(%seed: i32, %chain: i32, %X: !mat, %y: !obs) -> !draws

  func.func @main(%seed: i32 {batch.name = "seed"}, %chain: i32 {batch.name = "chain"},
                  %X: !mat {batch.shared = "X"}, %y: !obs {batch.shared = "y"})
      -> (!draws {batch.name = "draws"}) attributes {batch.entry} {
    %draws = call @nuts.sample(%seed, %chain, %X, %y) : (i32, i32, !mat, !obs) -> !draws
    // The reported value is sigma.
    %s = tensor.extract_slice %draws[0, 6] [512, 1] [1, 1]
        : !draws to tensor<512x1xf64>
    %sigma = math.exp %s : tensor<512x1xf64>
    %reported = tensor.insert_slice %sigma into %draws[0, 6] [512, 1] [1, 1]
        : tensor<512x1xf64> into !draws
    return %reported : !draws
  }
}
