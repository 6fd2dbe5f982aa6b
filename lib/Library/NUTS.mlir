// The No-U-Turn Sampler (Hoffman and Gelman 2014, Algorithms 3 and 6), for one
// chain: recursive tree building with a slice variable, a diagonal mass matrix,
// and a warm-up that fits the step size by dual averaging.
//
// A model defines the target and declares the functions that it uses:
//
//   // The log density at a position, and its gradient.
//   func.func private @log_density(%q: tensor<25xf64>, %X: …, %y: …)
//       -> (f64, tensor<25xf64>) { … }
//   func.func private @nuts.sample(%seed: i32, %chain: i32, %X: …, %y: …)
//       -> tensor<512x25xf64>
//
// The declared types determine the sizes: D, the number of dimensions, and N,
// the number of returned positions. @log_density may have more arguments. Each
// function that calls it has them too, after its own arguments.
//
// Random numbers are addressed by the key (seed, chain) and the counter
// (trajectory, slot), with these slots:
//
//   0                        the slice
//   0x10000000 + j           direction of doubling j: forward if the top bit is set
//   0x20000000 + j           acceptance of doubling j
//   0x30000000 | j << 20 | k acceptance within doubling j at tree node k; the
//                            root is 1, and the children of k are 2k and 2k + 1
//   0x40000000 + i           momentum entries 2i and 2i + 1

!vec = tensor<1009xf64>
!scalar = tensor<f64>
!positions = tensor<10007x1009xf64>
!counts = tensor<10007x2xi32>

module attributes {batch.sizes = {D = 1009 : index, N = 10007 : index}} {
  func.func private @log_density(!vec) -> (f64, !vec)

  func.func private @random.threefry2x32(i32, i32, i32, i32) -> (i32, i32)
  func.func private @random.uniform.f64(i32) -> f64
  func.func private @random.normals.f64(i32, i32) -> (f64, f64)

  func.func private @nuts.uniform(%seed: i32, %chain: i32, %trajectory: i32,
                                  %slot: i32) -> f64 {
    %bits, %unused = call @random.threefry2x32(%seed, %chain, %trajectory, %slot)
        : (i32, i32, i32, i32) -> (i32, i32)
    %u = call @random.uniform.f64(%bits) : (i32) -> f64
    return %u : f64
  }

  func.func private @nuts.normals(%seed: i32, %chain: i32, %trajectory: i32) -> !vec {
    %one = arith.constant 1 : i32
    %momentum_slot = arith.constant 0x40000000 : i32
    %empty = tensor.empty() : !vec
    %r = linalg.generic {indexing_maps = [affine_map<(d) -> (d)>],
                         iterator_types = ["parallel"]} outs(%empty : !vec) {
    ^bb0(%unused: f64):
      %index = linalg.index 0 : index
      %entry = arith.index_cast %index : index to i32
      %pair = arith.shrui %entry, %one : i32
      %slot = arith.addi %momentum_slot, %pair : i32
      %bits:2 = func.call @random.threefry2x32(%seed, %chain, %trajectory, %slot)
          : (i32, i32, i32, i32) -> (i32, i32)
      %normals:2 = func.call @random.normals.f64(%bits#0, %bits#1)
          : (i32, i32) -> (f64, f64)
      %is_second = arith.trunci %entry : i32 to i1
      %normal = arith.select %is_second, %normals#1, %normals#0 : f64
      linalg.yield %normal : f64
    } -> !vec
    return %r : !vec
  }

  func.func private @nuts.dot(%a: !vec, %b: !vec) -> f64 {
    %zero = arith.constant dense<0.0> : !scalar
    %dot = linalg.dot ins(%a, %b : !vec, !vec) outs(%zero : !scalar) -> !scalar
    %y = tensor.extract %dot[] : !scalar
    return %y : f64
  }

  // Returns the logarithm of the density of a position and a momentum.
  func.func private @nuts.joint(%logp: f64, %r: !vec, %variance: !vec) -> f64 {
    %half = arith.constant 0.5 : f64
    %velocity = arith.mulf %variance, %r : !vec
    %square = call @nuts.dot(%r, %velocity) : (!vec, !vec) -> f64
    %kinetic = arith.mulf %half, %square : f64
    %joint = arith.subf %logp, %kinetic : f64
    return %joint : f64
  }

  // Returns true if the distance between the ends of a trajectory still grows.
  // `step` has the sign of the direction from the first to the last point.
  func.func private @nuts.moves_apart(%step: f64, %q_first: !vec, %r_first: !vec,
                                      %q_last: !vec, %r_last: !vec) -> i1 {
    %zero = arith.constant 0.0 : f64
    %way = arith.subf %q_last, %q_first : !vec
    %a = call @nuts.dot(%way, %r_first) : (!vec, !vec) -> f64
    %b = call @nuts.dot(%way, %r_last) : (!vec, !vec) -> f64
    %sa = arith.mulf %step, %a : f64
    %sb = arith.mulf %step, %b : f64
    %a_positive = arith.cmpf ogt, %sa, %zero : f64
    %b_positive = arith.cmpf ogt, %sb, %zero : f64
    %apart = arith.andi %a_positive, %b_positive : i1
    return %apart : i1
  }

  // Runs `steps` steps of the leapfrog integrator.
  func.func private @nuts.leapfrog(%q: !vec, %grad: !vec, %r: !vec, %step: f64,
                                   %steps: index, %variance: !vec)
      -> (f64, !vec, !vec, !vec) {
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    %none = arith.constant 0.0 : f64
    %half = arith.constant 0.5 : f64
    %half_step = arith.mulf %half, %step : f64
    %long = tensor.splat %step : !vec
    %short = tensor.splat %half_step : !vec
    %end:4 = scf.for %i = %zero to %steps step %one
        iter_args(%lp = %none, %qi = %q, %gi = %grad, %ri = %r)
        -> (f64, !vec, !vec, !vec) {
      %kick0 = arith.mulf %short, %gi : !vec
      %r0 = arith.addf %ri, %kick0 : !vec
      %velocity = arith.mulf %variance, %r0 : !vec
      %drift = arith.mulf %long, %velocity : !vec
      %q1 = arith.addf %qi, %drift : !vec
      %lp1, %g1 = func.call @log_density(%q1) : (!vec) -> (f64, !vec)
      %kick1 = arith.mulf %short, %g1 : !vec
      %r1 = arith.addf %r0, %kick1 : !vec
      scf.yield %lp1, %q1, %g1, %r1 : f64, !vec, !vec, !vec
    }
    return %end#0, %end#1, %end#2, %end#3 : f64, !vec, !vec, !vec
  }

  // Builds a tree of 2^depth leaves, or fewer if it stops early. The tree continues a
  // trajectory from a point (q, grad, r). `step` is negative if the tree goes back in time.
  // Returns
  //   - position and momentum of its first leaf,
  //   - position, gradient and momentum of its last leaf,
  //   - the proposal: position, log density and gradient,
  //   - the number of leaves in the slice, and whether to continue,
  //   - the sum of acceptance probabilities over leaves, and the number of leaves.
  func.func private @nuts.build_tree(
      %q: !vec, %grad: !vec, %r: !vec, %depth: i32, %node: i32,
      %step: f64, %steps: index, %variance: !vec, %log_slice: f64, %joint0: f64,
      %seed: i32, %chain: i32, %trajectory: i32, %slot: i32)
      -> (!vec, !vec, !vec, !vec, !vec, !vec, f64, !vec, f64, i1, f64, i32) {
    %leaf = arith.constant 0 : i32
    %is_inner = arith.cmpi ne, %depth, %leaf : i32
    // Recursion comes first and the leaf last, as in the program of the authors of
    // program-counter autobatching. If blocks are chosen by program order, lanes then
    // wait for each other at the leaf, where the gradient is computed.
    %tree:12 = scf.if %is_inner
        -> (!vec, !vec, !vec, !vec, !vec, !vec, f64, !vec, f64, i1, f64, i32) {
      %one = arith.constant 1 : i32
      %below = arith.subi %depth, %one : i32
      %left = arith.shli %node, %one : i32
      %a:12 = func.call @nuts.build_tree(%q, %grad, %r, %below, %left, %step,
              %steps, %variance, %log_slice, %joint0, %seed, %chain, %trajectory,
              %slot)
          : (!vec, !vec, !vec, i32, i32, f64, index, !vec, f64, f64, i32, i32, i32,
             i32)
          -> (!vec, !vec, !vec, !vec, !vec, !vec, f64, !vec, f64, i1, f64, i32)
      %both:12 = scf.if %a#9
          -> (!vec, !vec, !vec, !vec, !vec, !vec, f64, !vec, f64, i1, f64, i32) {
        %right = arith.ori %left, %one : i32
        %b:12 = func.call @nuts.build_tree(%a#2, %a#3, %a#4, %below, %right, %step,
                %steps, %variance, %log_slice, %joint0, %seed, %chain, %trajectory,
                %slot)
            : (!vec, !vec, !vec, i32, i32, f64, index, !vec, f64, f64, i32, i32, i32,
               i32)
            -> (!vec, !vec, !vec, !vec, !vec, !vec, f64, !vec, f64, i1, f64, i32)
        // Take the second proposal with probability n2 / (n1 + n2), or 0 if
        // both are 0.
        %n = arith.addf %a#8, %b#8 : f64
        %where = arith.ori %slot, %node : i32
        %u = func.call @nuts.uniform(%seed, %chain, %trajectory, %where)
            : (i32, i32, i32, i32) -> f64
        %un = arith.mulf %u, %n : f64
        %second = arith.cmpf olt, %un, %b#8 : f64
        %zq = arith.select %second, %b#5, %a#5 : !vec
        %zlogp = arith.select %second, %b#6, %a#6 : f64
        %zgrad = arith.select %second, %b#7, %a#7 : !vec
        %apart = func.call @nuts.moves_apart(%step, %a#0, %a#1, %b#2, %b#4)
            : (f64, !vec, !vec, !vec, !vec) -> i1
        %go = arith.andi %b#9, %apart : i1
        %acceptance = arith.addf %a#10, %b#10 : f64
        %leaves = arith.addi %a#11, %b#11 : i32
        scf.yield %a#0, %a#1, %b#2, %b#3, %b#4, %zq, %zlogp, %zgrad, %n, %go,
            %acceptance, %leaves
            : !vec, !vec, !vec, !vec, !vec, !vec, f64, !vec, f64, i1, f64, i32
      } else {
        scf.yield %a#0, %a#1, %a#2, %a#3, %a#4, %a#5, %a#6, %a#7, %a#8, %a#9, %a#10,
            %a#11
            : !vec, !vec, !vec, !vec, !vec, !vec, f64, !vec, f64, i1, f64, i32
      }
      scf.yield %both#0, %both#1, %both#2, %both#3, %both#4, %both#5, %both#6,
          %both#7, %both#8, %both#9, %both#10, %both#11
          : !vec, !vec, !vec, !vec, !vec, !vec, f64, !vec, f64, i1, f64, i32
    } else {
      %logp, %q1, %g1, %r1 =
          func.call @nuts.leapfrog(%q, %grad, %r, %step, %steps, %variance)
          : (!vec, !vec, !vec, f64, index, !vec) -> (f64, !vec, !vec, !vec)
      %joint = func.call @nuts.joint(%logp, %r1, %variance)
          : (f64, !vec, !vec) -> f64
      // No comparison holds for a trajectory that has diverged to infinity.
      %inside = arith.cmpf ogt, %joint, %log_slice : f64
      %n = arith.uitofp %inside : i1 to f64
      %limit = arith.constant 1000.0 : f64
      %lowest = arith.subf %log_slice, %limit : f64
      %go = arith.cmpf ogt, %joint, %lowest : f64
      %zero = arith.constant 0.0 : f64
      %gain = arith.subf %joint, %joint0 : f64
      %comparable = arith.cmpf ord, %gain, %zero : f64
      %negative = arith.minimumf %gain, %zero : f64
      %ratio = math.exp %negative : f64
      %acceptance = arith.select %comparable, %ratio, %zero : f64
      %one = arith.constant 1 : i32
      scf.yield %q1, %r1, %q1, %g1, %r1, %q1, %logp, %g1, %n, %go, %acceptance, %one
          : !vec, !vec, !vec, !vec, !vec, !vec, f64, !vec, f64, i1, f64, i32
    }
    return %tree#0, %tree#1, %tree#2, %tree#3, %tree#4, %tree#5, %tree#6, %tree#7,
        %tree#8, %tree#9, %tree#10, %tree#11
        : !vec, !vec, !vec, !vec, !vec, !vec, f64, !vec, f64, i1, f64, i32
  }

  // Runs one trajectory from a position with its log density and gradient.
  // `variance` is the inverse of the mass matrix. Returns the next position with
  // its log density and gradient. Also returns the mean acceptance probability
  // of the leaves, the number of doublings, and the number of leaves.
  func.func @nuts.transition(
      %q: !vec, %logp: f64, %grad: !vec, %epsilon: f64, %steps: index,
      %variance: !vec, %seed: i32, %chain: i32, %trajectory: i32)
      -> (!vec, f64, !vec, f64, i32, i32) {
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %yes = arith.constant true
    %none = arith.constant 0.0 : f64
    %unit = arith.constant 1.0 : f64
    %max_depth = arith.constant 10 : i32
    %bits = arith.constant 20 : i32
    %direction_slot = arith.constant 0x10000000 : i32
    %doubling_slot = arith.constant 0x20000000 : i32
    %node_slot = arith.constant 0x30000000 : i32
    %backward = arith.negf %epsilon : f64

    %normals = call @nuts.normals(%seed, %chain, %trajectory)
        : (i32, i32, i32) -> !vec
    %deviation = math.sqrt %variance : !vec
    %r = arith.divf %normals, %deviation : !vec
    %joint = call @nuts.joint(%logp, %r, %variance) : (f64, !vec, !vec) -> f64
    %slice = call @nuts.uniform(%seed, %chain, %trajectory, %zero)
        : (i32, i32, i32, i32) -> f64
    %log_u = math.log %slice : f64
    %log_slice = arith.addf %log_u, %joint : f64

    %end:14 = scf.while (
        %j = %zero, %go = %yes, %qm = %q, %gm = %grad, %rm = %r,
        %qp = %q, %gp = %grad, %rp = %r, %zq = %q, %zlogp = %logp, %zgrad = %grad,
        %n = %unit, %acceptance = %none, %leaves = %zero)
        : (i32, i1, !vec, !vec, !vec, !vec, !vec, !vec, !vec, f64, !vec, f64, f64,
           i32)
        -> (i32, i1, !vec, !vec, !vec, !vec, !vec, !vec, !vec, f64, !vec, f64, f64,
            i32) {
      %shallow = arith.cmpi slt, %j, %max_depth : i32
      %more = arith.andi %go, %shallow : i1
      scf.condition(%more) %j, %go, %qm, %gm, %rm, %qp, %gp, %rp, %zq, %zlogp,
          %zgrad, %n, %acceptance, %leaves
          : i32, i1, !vec, !vec, !vec, !vec, !vec, !vec, !vec, f64, !vec, f64, f64,
            i32
    } do {
    ^bb0(%j: i32, %go: i1, %qm: !vec, %gm: !vec, %rm: !vec, %qp: !vec, %gp: !vec,
         %rp: !vec, %zq: !vec, %zlogp: f64, %zgrad: !vec, %n: f64,
         %acceptance: f64, %leaves: i32):
      %direction_at = arith.addi %direction_slot, %j : i32
      %coin, %unused =
          func.call @random.threefry2x32(%seed, %chain, %trajectory, %direction_at)
          : (i32, i32, i32, i32) -> (i32, i32)
      %forward = arith.cmpi slt, %coin, %zero : i32
      %step = arith.select %forward, %epsilon, %backward : f64
      %q0 = arith.select %forward, %qp, %qm : !vec
      %g0 = arith.select %forward, %gp, %gm : !vec
      %r0 = arith.select %forward, %rp, %rm : !vec
      %shifted = arith.shli %j, %bits : i32
      %slot = arith.ori %node_slot, %shifted : i32
      %tree:12 = func.call @nuts.build_tree(%q0, %g0, %r0, %j, %one, %step, %steps,
              %variance, %log_slice, %joint, %seed, %chain, %trajectory, %slot)
          : (!vec, !vec, !vec, i32, i32, f64, index, !vec, f64, f64, i32, i32, i32,
             i32)
          -> (!vec, !vec, !vec, !vec, !vec, !vec, f64, !vec, f64, i1, f64, i32)
      %qm1 = arith.select %forward, %qm, %tree#2 : !vec
      %gm1 = arith.select %forward, %gm, %tree#3 : !vec
      %rm1 = arith.select %forward, %rm, %tree#4 : !vec
      %qp1 = arith.select %forward, %tree#2, %qp : !vec
      %gp1 = arith.select %forward, %tree#3, %gp : !vec
      %rp1 = arith.select %forward, %tree#4, %rp : !vec

      // Take the proposal of the new tree, which has n' leaves in the slice,
      // with probability min(1, n' / n).
      %doubling_at = arith.addi %doubling_slot, %j : i32
      %u = func.call @nuts.uniform(%seed, %chain, %trajectory, %doubling_at)
          : (i32, i32, i32, i32) -> f64
      %un = arith.mulf %u, %n : f64
      %wins = arith.cmpf olt, %un, %tree#8 : f64
      %accept = arith.andi %tree#9, %wins : i1
      %zq1 = arith.select %accept, %tree#5, %zq : !vec
      %zlogp1 = arith.select %accept, %tree#6, %zlogp : f64
      %zgrad1 = arith.select %accept, %tree#7, %zgrad : !vec
      %n1 = arith.addf %n, %tree#8 : f64
      %apart = func.call @nuts.moves_apart(%epsilon, %qm1, %rm1, %qp1, %rp1)
          : (f64, !vec, !vec, !vec, !vec) -> i1
      %go1 = arith.andi %tree#9, %apart : i1
      %j1 = arith.addi %j, %one : i32
      %acceptance1 = arith.addf %acceptance, %tree#10 : f64
      %leaves1 = arith.addi %leaves, %tree#11 : i32
      scf.yield %j1, %go1, %qm1, %gm1, %rm1, %qp1, %gp1, %rp1, %zq1, %zlogp1,
          %zgrad1, %n1, %acceptance1, %leaves1
          : i32, i1, !vec, !vec, !vec, !vec, !vec, !vec, !vec, f64, !vec, f64, f64,
            i32
    }
    %number = arith.uitofp %end#13 : i32 to f64
    %mean = arith.divf %end#12, %number : f64
    return %end#8, %end#9, %end#10, %mean, %end#0, %end#13
        : !vec, f64, !vec, f64, i32, i32
  }

  // Returns `qs` with row `t` replaced by `q`.
  func.func private @nuts.put(%q: !vec, %qs: !positions, %t: index) -> !positions {
    %empty = tensor.empty() : !positions
    %all = linalg.generic {indexing_maps = [affine_map<(n, d) -> (d)>,
                                            affine_map<(n, d) -> (n, d)>,
                                            affine_map<(n, d) -> (n, d)>],
                           iterator_types = ["parallel", "parallel"]}
        ins(%q, %qs : !vec, !positions) outs(%empty : !positions) {
    ^bb0(%new: f64, %old: f64, %unused: f64):
      %row = linalg.index 0 : index
      %here = arith.cmpi eq, %row, %t : index
      %next = arith.select %here, %new, %old : f64
      linalg.yield %next : f64
    } -> !positions
    return %all : !positions
  }

  // Runs N transitions from q0 with a given step size and without a mass
  // matrix. Returns the positions, and the doublings and leapfrog steps of each
  // transition.
  func.func @nuts.trace(%q0: !vec, %epsilon: f64, %steps: index,
                                %seed: i32, %chain: i32)
      -> (!positions, !counts) {
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    %variance = arith.constant dense<1.0> : !vec
    %positions = arith.constant dense<0.0> : !positions
    %counts = arith.constant dense<0> : !counts
    %n = tensor.dim %positions, %zero : !positions
    %steps32 = arith.index_cast %steps : index to i32
    %logp0, %grad0 = call @log_density(%q0) : (!vec) -> (f64, !vec)
    %end:5 = scf.for %t = %zero to %n step %one
        iter_args(%q = %q0, %logp = %logp0, %grad = %grad0,
                  %qs = %positions, %cs = %counts)
        -> (!vec, f64, !vec, !positions, !counts) {
      %trajectory = arith.index_cast %t : index to i32
      %q1, %logp1, %grad1, %acceptance, %doublings, %leaves =
          func.call @nuts.transition(%q, %logp, %grad, %epsilon, %steps, %variance,
              %seed, %chain, %trajectory)
          : (!vec, f64, !vec, f64, index, !vec, i32, i32, i32)
          -> (!vec, f64, !vec, f64, i32, i32)
      %leapfrogs = arith.muli %leaves, %steps32 : i32
      %qs1 = func.call @nuts.put(%q1, %qs, %t)
          : (!vec, !positions, index) -> !positions
      %cs1 = linalg.map ins(%cs : !counts) outs(%counts : !counts)
          (%old: i32, %unused: i32) {
            %row = linalg.index 0 : index
            %column = linalg.index 1 : index
            %here = arith.cmpi eq, %row, %t : index
            %first = arith.cmpi eq, %column, %zero : index
            %new = arith.select %first, %doublings, %leapfrogs : i32
            %next = arith.select %here, %new, %old : i32
            linalg.yield %next : i32
          }
      scf.yield %q1, %logp1, %grad1, %qs1, %cs1
          : !vec, f64, !vec, !positions, !counts
    }
    return %end#3, %end#4 : !positions, !counts
  }

  // Runs N transitions that fit the step size and the variances. A window of
  // transitions determines the variances for the next window, which starts with
  // the average step size. Windows end at 15, 30, 60 and 90 % of N. Returns the
  // position with its log density and gradient, the step size, and the
  // variances.
  func.func @nuts.warm_up(%q0: !vec, %steps: index, %seed: i32, %chain: i32)
      -> (!vec, f64, !vec, f64, !vec) {
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    %two = arith.constant 2 : index
    %none = arith.constant 0.0 : f64
    %unit = arith.constant 1.0 : f64
    %zeros = arith.constant dense<0.0> : !vec
    %ones = arith.constant dense<1.0> : !vec
    // Dual averaging: target acceptance, 1 / gamma, t0, -kappa, and log 10.
    %target = arith.constant 0.8 : f64
    %inverse_gamma = arith.constant 20.0 : f64
    %delay = arith.constant 10.0 : f64
    %minus_kappa = arith.constant -0.75 : f64
    %log10 = arith.constant 2.302585092994046 : f64
    %log_epsilon0 = arith.constant -2.302585092994046 : f64

    %positions = arith.constant dense<0.0> : !positions
    %n = tensor.dim %positions, %zero : !positions
    %percent = arith.constant 100 : index
    %first_percent = arith.constant 15 : index
    %last_percent = arith.constant 90 : index
    %n15 = arith.muli %n, %first_percent : index
    %first = arith.divui %n15, %percent : index
    %n90 = arith.muli %n, %last_percent : index
    %last = arith.divui %n90, %percent : index

    %logp0, %grad0 = call @log_density(%q0) : (!vec) -> (f64, !vec)
    %end:13 = scf.for %t = %zero to %n step %one
        iter_args(%q = %q0, %logp = %logp0, %grad = %grad0, %variance = %ones,
                  %log_epsilon = %log_epsilon0, %log_average = %log_epsilon0,
                  %centre = %none, %error = %none, %m = %none,
                  %window = %first, %count = %none, %mean = %zeros, %squares = %zeros)
        -> (!vec, f64, !vec, !vec, f64, f64, f64, f64, f64, index, f64, !vec, !vec) {
      %trajectory = arith.index_cast %t : index to i32
      %epsilon = math.exp %log_epsilon : f64
      %q1, %logp1, %grad1, %acceptance, %doublings, %leaves =
          func.call @nuts.transition(%q, %logp, %grad, %epsilon, %steps, %variance,
              %seed, %chain, %trajectory)
          : (!vec, f64, !vec, f64, index, !vec, i32, i32, i32)
          -> (!vec, f64, !vec, f64, i32, i32)

      %m1 = arith.addf %m, %unit : f64
      %delayed = arith.addf %m1, %delay : f64
      %deviation = arith.subf %target, %acceptance : f64
      %change = arith.subf %deviation, %error : f64
      %ratio = arith.divf %change, %delayed : f64
      %error1 = arith.addf %error, %ratio : f64
      %root = math.sqrt %m1 : f64
      %gain = arith.mulf %root, %inverse_gamma : f64
      %correction = arith.mulf %gain, %error1 : f64
      %log_epsilon1 = arith.subf %centre, %correction : f64
      %log_m = math.log %m1 : f64
      %log_weight = arith.mulf %minus_kappa, %log_m : f64
      %weight = math.exp %log_weight : f64
      %difference = arith.subf %log_epsilon1, %log_average : f64
      %weighted = arith.mulf %weight, %difference : f64
      %log_average1 = arith.addf %log_average, %weighted : f64

      // Running mean and sum of squares (Welford).
      %count1 = arith.addf %count, %unit : f64
      %counts = tensor.splat %count1 : !vec
      %delta = arith.subf %q1, %mean : !vec
      %share = arith.divf %delta, %counts : !vec
      %mean1 = arith.addf %mean, %share : !vec
      %rest = arith.subf %q1, %mean1 : !vec
      %square = arith.mulf %delta, %rest : !vec
      %squares1 = arith.addf %squares, %square : !vec

      %next = arith.addi %t, %one : index
      %ends = arith.cmpi eq, %next, %window : index
      %fit:9 = scf.if %ends
          -> (!vec, f64, f64, f64, f64, index, f64, !vec, !vec) {
        // Shrink the variances slightly towards the previous ones, so that none
        // is zero.
        %more = arith.addf %count1, %unit : f64
        %mores = tensor.splat %more : !vec
        %sum = arith.addf %squares1, %variance : !vec
        %variance1 = arith.divf %sum, %mores : !vec
        %centre1 = arith.addf %log_average1, %log10 : f64
        %twice = arith.muli %window, %two : index
        %window1 = arith.minui %twice, %last : index
        scf.yield %variance1, %log_average1, %centre1, %none, %none, %window1,
            %none, %zeros, %zeros
            : !vec, f64, f64, f64, f64, index, f64, !vec, !vec
      } else {
        scf.yield %variance, %log_epsilon1, %centre, %error1, %m1, %window,
            %count1, %mean1, %squares1
            : !vec, f64, f64, f64, f64, index, f64, !vec, !vec
      }
      scf.yield %q1, %logp1, %grad1, %fit#0, %fit#1, %log_average1, %fit#2, %fit#3,
          %fit#4, %fit#5, %fit#6, %fit#7, %fit#8
          : !vec, f64, !vec, !vec, f64, f64, f64, f64, f64, index, f64, !vec, !vec
    }
    %epsilon = math.exp %end#5 : f64
    return %end#0, %end#1, %end#2, %epsilon, %end#3 : !vec, f64, !vec, f64, !vec
  }

  // Returns N draws from the target after a warm-up of N transitions. The start
  // is drawn from a standard normal distribution.
  func.func @nuts.sample(%seed: i32, %chain: i32) -> !positions {
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    %before = arith.constant -1 : i32
    %start = call @nuts.normals(%seed, %chain, %before)
        : (i32, i32, i32) -> !vec
    %q0, %logp0, %grad0, %epsilon, %variance =
        call @nuts.warm_up(%start, %one, %seed, %chain)
        : (!vec, index, i32, i32) -> (!vec, f64, !vec, f64, !vec)
    %positions = arith.constant dense<0.0> : !positions
    %n = tensor.dim %positions, %zero : !positions
    %end:4 = scf.for %i = %zero to %n step %one
        iter_args(%q = %q0, %logp = %logp0, %grad = %grad0, %qs = %positions)
        -> (!vec, f64, !vec, !positions) {
      %t = arith.addi %n, %i : index
      %trajectory = arith.index_cast %t : index to i32
      %q1, %logp1, %grad1, %acceptance, %doublings, %leaves =
          func.call @nuts.transition(%q, %logp, %grad, %epsilon, %one, %variance,
              %seed, %chain, %trajectory)
          : (!vec, f64, !vec, f64, index, !vec, i32, i32, i32)
          -> (!vec, f64, !vec, f64, i32, i32)
      %qs1 = func.call @nuts.put(%q1, %qs, %i)
          : (!vec, !positions, index) -> !positions
      scf.yield %q1, %logp1, %grad1, %qs1 : !vec, f64, !vec, !positions
    }
    return %end#3 : !positions
  }
}
