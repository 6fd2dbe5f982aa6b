// Eight schools, a hierarchical model, sampled by the No-U-Turn Sampler:
//
//   y_j ~ normal(theta_j, sigma_j), theta_j = mu + tau z_j
//   z_j ~ normal(0, 1), mu ~ normal(0, 5), tau ~ half-Cauchy(0, 5)
//
// A position holds z, mu and s = log tau. With residuals r = y - theta,
//
//   log p = -1/2 sum (r / sigma)^2 - 1/2 z.z + log priors + s (for the change of variable to s)
//
// Run it:
//   M=eight_schools_noncentered
//   test/Integration/posteriors.py inputs $M . --chains=64
//   batch-run test/models/$M.mlir --params=$M.safetensors --inputs=$M.jsonl \
//     --outputs=draws.safetensors
//   test/Integration/posteriors.py check $M draws.safetensors

!vec = tensor<10xf64>
!schools = tensor<8xf64>
!scalar = tensor<f64>
!draws = tensor<512x10xf64>
!column = tensor<512xf64>
!table = tensor<512x8xf64>

// N: number of draws, and of warm-up transitions before them.
module attributes {batch.sizes = {N = 512 : index}} {
  func.func private @log_density(%q: !vec, %y: !schools, %sigma: !schools)
      -> (f64, !vec) {
    %none = arith.constant dense<0.0> : !scalar
    %one = arith.constant dense<1.0> : !scalar
    %half = arith.constant dense<0.5> : !scalar
    %two = arith.constant dense<2.0> : !scalar
    %scale = arith.constant dense<25.0> : !scalar
    %empty = tensor.empty() : !schools
    %z = tensor.extract_slice %q[0] [8] [1] : !vec to !schools
    %mu = tensor.extract_slice %q[8] [1] [1] : !vec to !scalar
    %s = tensor.extract_slice %q[9] [1] [1] : !vec to !scalar
    %tau = math.exp %s : !scalar
    %mus = linalg.broadcast ins(%mu : !scalar) outs(%empty : !schools) dimensions = [0]
    %taus = linalg.broadcast ins(%tau : !scalar) outs(%empty : !schools) dimensions = [0]
    %spread = arith.mulf %taus, %z : !schools
    %theta = arith.addf %mus, %spread : !schools
    %r = arith.subf %y, %theta : !schools
    %variance = arith.mulf %sigma, %sigma : !schools
    %push = arith.divf %r, %variance : !schools

    %rr = linalg.dot ins(%r, %push : !schools, !schools) outs(%none : !scalar) -> !scalar
    %zz = linalg.dot ins(%z, %z : !schools, !schools) outs(%none : !scalar) -> !scalar
    %mu_pull = arith.divf %mu, %scale : !scalar
    %mu_square = arith.mulf %mu, %mu_pull : !scalar
    %squares0 = arith.addf %rr, %zz : !scalar
    %squares = arith.addf %squares0, %mu_square : !scalar
    %half_squares = arith.mulf %half, %squares : !scalar
    %tau2 = arith.mulf %tau, %tau : !scalar
    %ratio = arith.divf %tau2, %scale : !scalar
    %ratio1 = arith.addf %one, %ratio : !scalar
    %log = math.log %ratio1 : !scalar
    %logp0 = arith.subf %s, %half_squares : !scalar
    %logp = arith.subf %logp0, %log : !scalar

    %tau_push = arith.mulf %taus, %push : !schools
    %dz = arith.subf %tau_push, %z : !schools
    %sum = linalg.reduce ins(%push : !schools) outs(%none : !scalar) dimensions = [0]
        (%term: f64, %before: f64) {
          %next = arith.addf %term, %before : f64
          linalg.yield %next : f64
        }
    %dmu = arith.subf %sum, %mu_pull : !scalar
    %work = linalg.dot ins(%tau_push, %z : !schools, !schools) outs(%none : !scalar)
        -> !scalar
    %total = arith.addf %scale, %tau2 : !scalar
    %twice = arith.mulf %two, %tau2 : !scalar
    %tau_pull = arith.divf %twice, %total : !scalar
    %ds0 = arith.addf %work, %one : !scalar
    %ds = arith.subf %ds0, %tau_pull : !scalar
    %grad0 = tensor.insert_slice %dz into %q[0] [8] [1] : !schools into !vec
    %grad1 = tensor.insert_slice %dmu into %grad0[8] [1] [1] : !scalar into !vec
    %grad = tensor.insert_slice %ds into %grad1[9] [1] [1] : !scalar into !vec
    %value = tensor.extract %logp[] : !scalar
    return %value, %grad : f64, !vec
  }

  func.func private @nuts.sample(%seed: i32, %chain: i32, %y: !schools, %sigma: !schools)
      -> !draws

  func.func @main(%seed: i32 {batch.name = "seed"}, %chain: i32 {batch.name = "chain"},
                  %y: !schools {batch.shared = "y"},
                  %sigma: !schools {batch.shared = "sigma"})
      -> (!draws {batch.name = "draws"}) attributes {batch.entry} {
    %draws = call @nuts.sample(%seed, %chain, %y, %sigma)
        : (i32, i32, !schools, !schools) -> !draws
    // The reported values are theta, mu and tau.
    %empty = tensor.empty() : !table
    %z = tensor.extract_slice %draws[0, 0] [512, 8] [1, 1] : !draws to !table
    %mu = tensor.extract_slice %draws[0, 8] [512, 1] [1, 1] : !draws to !column
    %s = tensor.extract_slice %draws[0, 9] [512, 1] [1, 1] : !draws to !column
    %tau = math.exp %s : !column
    %mus = linalg.broadcast ins(%mu : !column) outs(%empty : !table) dimensions = [1]
    %taus = linalg.broadcast ins(%tau : !column) outs(%empty : !table) dimensions = [1]
    %spread = arith.mulf %taus, %z : !table
    %theta = arith.addf %mus, %spread : !table
    %reported0 = tensor.insert_slice %theta into %draws[0, 0] [512, 8] [1, 1]
        : !table into !draws
    %reported = tensor.insert_slice %tau into %reported0[0, 9] [512, 1] [1, 1]
        : !column into !draws
    return %reported : !draws
  }
}
