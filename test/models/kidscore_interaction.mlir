// Linear regression with an interaction, sampled by the No-U-Turn Sampler:
//
//   score_i ~ normal(X_i beta, sigma), sigma ~ half-Cauchy(0, 2.5)
//
// with a flat prior on beta. A row of X contains 1, a flag for whether the mother
// has a high school degree, her IQ, and the product of the last two.
//
// A position holds beta and s = log sigma. With residuals r = y - X beta,
//
//   log p = -r.r / (2 sigma^2) - 434 s + log priors + s (for the change of variable to s)
//
// Run it:
//   test/Integration/posteriors.py inputs kidscore_interaction . --chains=64
//   batch-run test/models/kidscore_interaction.mlir --params=kidscore_interaction.safetensors \
//     --inputs=kidscore_interaction.jsonl --outputs=draws.safetensors
//   test/Integration/posteriors.py check kidscore_interaction draws.safetensors

!vec = tensor<5xf64>
!beta = tensor<4xf64>
!mat = tensor<434x4xf64>
!obs = tensor<434xf64>
!scalar = tensor<f64>
!draws = tensor<1024x5xf64>

// N: number of draws, and of warm-up transitions before them. Coefficients are strongly
// correlated, so this model needs more draws than other models.
module attributes {batch.sizes = {N = 1024 : index}} {
  func.func private @log_density(%q: !vec, %X: !mat, %y: !obs) -> (f64, !vec) {
    %none = arith.constant dense<0.0> : !scalar
    %half = arith.constant dense<0.5> : !scalar
    %one = arith.constant dense<1.0> : !scalar
    %two = arith.constant dense<2.0> : !scalar
    %minus_two = arith.constant dense<-2.0> : !scalar
    %freedom = arith.constant dense<-433.0> : !scalar
    %zero = arith.constant dense<0.0> : !obs
    %zeros = arith.constant dense<0.0> : !beta
    %beta = tensor.extract_slice %q[0] [4] [1] : !vec to !beta
    %s = tensor.extract_slice %q[4] [1] [1] : !vec to !scalar
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
    %logp = arith.subf %likelihood, %log : !scalar

    %Xr = linalg.vecmat ins(%r, %X : !obs, !mat) outs(%zeros : !beta) -> !beta
    %empty = tensor.empty() : !beta
    %precisions = linalg.broadcast ins(%precision : !scalar) outs(%empty : !beta)
        dimensions = [0]
    %dbeta = arith.mulf %precisions, %Xr : !beta
    %ds0 = arith.addf %misfit, %freedom : !scalar
    %total = arith.addf %scale, %variance : !scalar
    %twice = arith.mulf %two, %variance : !scalar
    %pull = arith.divf %twice, %total : !scalar
    %ds = arith.subf %ds0, %pull : !scalar

    %grad0 = tensor.insert_slice %dbeta into %q[0] [4] [1] : !beta into !vec
    %grad = tensor.insert_slice %ds into %grad0[4] [1] [1] : !scalar into !vec
    %value = tensor.extract %logp[] : !scalar
    return %value, %grad : f64, !vec
  }

  func.func private @nuts.sample(%seed: i32, %chain: i32, %X: !mat, %y: !obs) -> !draws

  func.func @main(%seed: i32 {batch.name = "seed"}, %chain: i32 {batch.name = "chain"},
                  %X: !mat {batch.shared = "X"}, %y: !obs {batch.shared = "y"})
      -> (!draws {batch.name = "draws"}) attributes {batch.entry} {
    %draws = call @nuts.sample(%seed, %chain, %X, %y) : (i32, i32, !mat, !obs) -> !draws
    // The reported value is sigma.
    %s = tensor.extract_slice %draws[0, 4] [1024, 1] [1, 1]
        : !draws to tensor<1024x1xf64>
    %sigma = math.exp %s : tensor<1024x1xf64>
    %reported = tensor.insert_slice %sigma into %draws[0, 4] [1024, 1] [1, 1]
        : tensor<1024x1xf64> into !draws
    return %reported : !draws
  }
}
