// The No-U-Turn Sampler with multinomial draws from trajectories (Betancourt
// 2017), as in Stan. It uses biased progressive sampling, and a U-turn
// criterion based on momenta with checks across both halves of a trajectory.
// A warm-up fits the step size (dual averaging) and a mass matrix. The
// functions run one chain, without recursion: pieces of a trajectory stay on
// a stack until they have a neighbor of equal length. If `slice` is true, all
// points of a trajectory that are in a slice (Hoffman and Gelman 2014) have
// equal odds. The sampler then never draws other points.
//
// A model defines the target and the mass matrix, and declares the functions
// that it uses:
//
//   // The log density at a position, and its gradient.
//   func.func private @log_density(%q: tensor<25xf64>, %X: …, %y: …)
//       -> (f64, tensor<25xf64>) { … }
//   // These call @diagonal.… or @dense.… (Mass.mlir), which define `!factor`.
//   func.func private @mass.velocity(%factor: !factor, %z: !vec) -> !vec { … }
//   func.func private @mass.force(%factor: !factor, %gradient: !vec) -> !vec { … }
//   func.func private @mass.observe(%squares: !factor, %a: !vec, %b: !vec)
//       -> !factor { … }
//   func.func private @mass.fit(%squares: !factor, %count: f64) -> !factor { … }
//   func.func private @multinomial.advance(…) -> (…)
//
// The declared types determine the sizes. D is the number of dimensions, and
// E is the number of rows of a mass matrix's factor (1 or D). N is the
// maximum number of transitions per call.
//
// If L Lᵀ is the covariance of the target, the mass matrix is its inverse, and momenta
// are L⁻ᵀ z. All code uses z, which is standard normal: its kinetic energy is z·z / 2,
// the velocity is L z, and the force is Lᵀ ∇ log p. The factor is L.
//
// Random numbers are addressed by the key (seed, chain) and the counter (transition, slot):
//
//   0                        the slice
//   0x10000000               bit j: whether doubling j goes forward
//   0x20000000 + j           acceptance of doubling j
//   0x30000000 + n           whether the point of leapfrog step n is taken within its doubling
//   0x40000000 + i           entry i of z

!vec = tensor<1009xf64>
!factor = tensor<2003x1009xf64>
!scalar = tensor<f64>
!stack = tensor<16x1009xf64>
!positions = tensor<10007x1009xf64>
!stats = tensor<10007x7xf64>
!schedule = tensor<10007xi32>

module attributes {batch.sizes = {D = 1009 : index, E = 2003 : index,
                                  N = 10007 : index}} {
  func.func private @log_density(!vec) -> (f64, !vec)
  func.func private @mass.velocity(!factor, !vec) -> !vec
  func.func private @mass.force(!factor, !vec) -> !vec
  func.func private @mass.observe(!factor, !vec, !vec) -> !factor
  func.func private @mass.fit(!factor, f64) -> !factor

  func.func private @random.threefry2x32(i32, i32, i32, i32) -> (i32, i32)
  func.func private @random.uniform.f64(i32) -> f64
  func.func private @random.normals.f64(i32, i32) -> (f64, f64)

  func.func private @multinomial.uniform(%seed: i32, %chain: i32, %t: i32, %slot: i32)
      -> f64 {
    %bits, %unused = call @random.threefry2x32(%seed, %chain, %t, %slot)
        : (i32, i32, i32, i32) -> (i32, i32)
    %u = call @random.uniform.f64(%bits) : (i32) -> f64
    return %u : f64
  }

  func.func private @multinomial.momentum(%seed: i32, %chain: i32, %t: i32) -> !vec {
    %first_slot = arith.constant 0x40000000 : i32
    %empty = tensor.empty() : !vec
    %z = linalg.generic {indexing_maps = [affine_map<(d) -> (d)>],
                         iterator_types = ["parallel"]} outs(%empty : !vec) {
    ^bb0(%unused: f64):
      %index = linalg.index 0 : index
      %entry = arith.index_cast %index : index to i32
      %slot = arith.addi %first_slot, %entry : i32
      %bits:2 = func.call @random.threefry2x32(%seed, %chain, %t, %slot)
          : (i32, i32, i32, i32) -> (i32, i32)
      %normals:2 = func.call @random.normals.f64(%bits#0, %bits#1)
          : (i32, i32) -> (f64, f64)
      linalg.yield %normals#0 : f64
    } -> !vec
    return %z : !vec
  }

  func.func private @multinomial.dot(%a: !vec, %b: !vec) -> f64 {
    %zero = arith.constant dense<0.0> : !scalar
    %dot = linalg.dot ins(%a, %b : !vec, !vec) outs(%zero : !scalar) -> !scalar
    %y = tensor.extract %dot[] : !scalar
    return %y : f64
  }

  func.func private @multinomial.put(%row: !vec, %stack: !stack, %at: index)
      -> !stack {
    %next = tensor.insert_slice %row into %stack[%at, 0] [1, 1009] [1, 1]
        : !vec into !stack
    return %next : !stack
  }

  func.func private @multinomial.get(%stack: !stack, %at: index) -> !vec {
    %row = tensor.extract_slice %stack[%at, 0] [1, 1009] [1, 1] : !stack to !vec
    return %row : !vec
  }

  // Returns true if a trajectory of two neighboring pieces, `a` and then `b`,
  // has not turned yet. The arguments are, for each piece, the sum of the
  // momenta, the first momentum and the last one.
  func.func private @multinomial.goes_on(
      %sum_a: !vec, %first_a: !vec, %last_a: !vec,
      %sum_b: !vec, %first_b: !vec, %last_b: !vec) -> i1 {
    %none = arith.constant 0.0 : f64
    %all = arith.addf %sum_a, %sum_b : !vec
    %d0 = call @multinomial.dot(%all, %first_a) : (!vec, !vec) -> f64
    %d1 = call @multinomial.dot(%all, %last_b) : (!vec, !vec) -> f64
    // Check each piece together with the nearest step of the other one.
    %a = arith.addf %sum_a, %first_b : !vec
    %d2 = call @multinomial.dot(%a, %first_a) : (!vec, !vec) -> f64
    %d3 = call @multinomial.dot(%a, %first_b) : (!vec, !vec) -> f64
    %b = arith.addf %sum_b, %last_a : !vec
    %d4 = call @multinomial.dot(%b, %last_a) : (!vec, !vec) -> f64
    %d5 = call @multinomial.dot(%b, %last_b) : (!vec, !vec) -> f64
    %m0 = arith.minimumf %d0, %d1 : f64
    %m1 = arith.minimumf %d2, %d3 : f64
    %m2 = arith.minimumf %d4, %d5 : f64
    %m3 = arith.minimumf %m0, %m1 : f64
    %least = arith.minimumf %m2, %m3 : f64
    %on = arith.cmpf ogt, %least, %none : f64
    return %on : i1
  }

  // Extends a trajectory by a piece of 2^depth leapfrog steps from (q,
  // gradient, z), or fewer if the piece turns or diverges. Stacks contain the
  // first momenta, last momenta and sums of complete pieces. If the piece is
  // complete, row 0 belongs to it at the end. `before` is the number of earlier
  // leapfrog steps in this transition, and `acceptance` the sum of their
  // acceptance probabilities.
  //
  // The odds of a point are exp(gain). The gain is the log density of (q, z) at
  // the point, minus that at the beginning of the transition. With a slice, the
  // odds are 1 if the gain exceeds `level`, and 0 otherwise. The sum of the odds
  // is weight * exp(scale), where `scale` is the largest logarithm of the odds.
  func.func private @multinomial.extend(
      %q: !vec, %gradient: !vec, %z: !vec, %depth: i32, %step: f64, %factor: !factor,
      %joint0: f64, %is_slice: i1, %level: f64, %acceptance: f64, %before: i32,
      %firsts: !stack, %lasts: !stack, %sums: !stack,
      %seed: i32, %chain: i32, %t: i32)
      -> (!vec, !vec, !vec, i1, i1, f64, f64, !vec, f64, !vec, f64, f64, i32,
          !stack, !stack, !stack) {
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %bottom = arith.constant 0 : index
    %up = arith.constant 1 : index
    %yes = arith.constant true
    %no = arith.constant false
    %none = arith.constant 0.0 : f64
    %half = arith.constant 0.5 : f64
    %unit = arith.constant 1.0 : f64
    %limit = arith.constant -1000.0 : f64
    %minus_infinity = arith.constant 0xFFF0000000000000 : f64
    %leaf_slot = arith.constant 0x30000000 : i32
    %count = arith.shli %one, %depth : i32
    %lowest = arith.addf %level, %limit : f64
    %half_step = arith.mulf %half, %step : f64
    %long = tensor.splat %step : !vec
    %short = tensor.splat %half_step : !vec
    %end:18 = scf.while (
        %n = %zero, %top = %bottom, %qn = %q, %gn = %gradient, %zn = %z,
        %on = %yes, %diverges = %no, %weight = %none, %scale = %minus_infinity,
        %pq = %q, %plogp = %none, %pg = %gradient, %pjoint = %none,
        %accepted = %acceptance, %steps = %before,
        %fs = %firsts, %ls = %lasts, %ss = %sums)
        : (i32, index, !vec, !vec, !vec, i1, i1, f64, f64, !vec, f64, !vec, f64, f64,
           i32, !stack, !stack, !stack)
        -> (i32, index, !vec, !vec, !vec, i1, i1, f64, f64, !vec, f64, !vec, f64, f64,
            i32, !stack, !stack, !stack) {
      %short_of = arith.cmpi slt, %n, %count : i32
      %more = arith.andi %short_of, %on : i1
      scf.condition(%more) %n, %top, %qn, %gn, %zn, %on, %diverges, %weight, %scale,
          %pq, %plogp, %pg, %pjoint, %accepted, %steps, %fs, %ls, %ss
          : i32, index, !vec, !vec, !vec, i1, i1, f64, f64, !vec, f64, !vec, f64, f64,
            i32, !stack, !stack, !stack
    } do {
    ^bb0(%n: i32, %top: index, %qn: !vec, %gn: !vec, %zn: !vec, %on: i1,
         %diverges: i1, %weight: f64, %scale: f64, %pq: !vec, %plogp: f64,
         %pg: !vec, %pjoint: f64, %accepted: f64, %steps: i32,
         %fs: !stack, %ls: !stack, %ss: !stack):
      // A leapfrog step.
      %force0 = func.call @mass.force(%factor, %gn) : (!factor, !vec) -> !vec
      %kick0 = arith.mulf %short, %force0 : !vec
      %z0 = arith.addf %zn, %kick0 : !vec
      %velocity = func.call @mass.velocity(%factor, %z0) : (!factor, !vec) -> !vec
      %drift = arith.mulf %long, %velocity : !vec
      %q1 = arith.addf %qn, %drift : !vec
      %logp, %g1 = func.call @log_density(%q1) : (!vec) -> (f64, !vec)
      %force1 = func.call @mass.force(%factor, %g1) : (!factor, !vec) -> !vec
      %kick1 = arith.mulf %short, %force1 : !vec
      %z1 = arith.addf %z0, %kick1 : !vec
      %square = func.call @multinomial.dot(%z1, %z1) : (!vec, !vec) -> f64
      %kinetic = arith.mulf %half, %square : f64
      %joint = arith.subf %logp, %kinetic : f64
      %gain0 = arith.subf %joint, %joint0 : f64
      %is_number = arith.cmpf ord, %gain0, %none : f64
      %gain = arith.select %is_number, %gain0, %minus_infinity : f64
      %fine = arith.cmpf oge, %gain, %lowest : f64
      %diverges1 = arith.xori %fine, %yes : i1
      %loss = arith.minimumf %gain, %none : f64
      %chance = math.exp %loss : f64
      %accepted1 = arith.addf %accepted, %chance : f64

      // The new point becomes the point of the piece with a probability equal
      // to its share of the odds. A point that diverges ends the transition and
      // is never taken.
      %is_inside = arith.cmpf ogt, %gain, %level : f64
      %inside = arith.uitofp %is_inside : i1 to f64
      %share = arith.select %is_slice, %inside, %unit : f64
      %log_odds = arith.select %is_slice, %none, %gain : f64
      %is_largest = arith.cmpf ogt, %log_odds, %scale : f64
      %smaller = arith.select %is_largest, %scale, %log_odds : f64
      %scale1 = arith.select %is_largest, %log_odds, %scale : f64
      %down = arith.subf %smaller, %scale1 : f64
      %ratio = math.exp %down : f64
      %old_scaled = arith.mulf %weight, %ratio : f64
      %old = arith.select %is_largest, %old_scaled, %weight : f64
      %new_scaled = arith.select %is_largest, %unit, %ratio : f64
      %new = arith.mulf %share, %new_scaled : f64
      %weight1 = arith.addf %old, %new : f64
      %slot = arith.addi %leaf_slot, %steps : i32
      %u = func.call @multinomial.uniform(%seed, %chain, %t, %slot)
          : (i32, i32, i32, i32) -> f64
      %threshold = arith.mulf %u, %weight1 : f64
      %takes = arith.cmpf olt, %threshold, %new : f64
      %pq1 = arith.select %takes, %q1, %pq : !vec
      %plogp1 = arith.select %takes, %logp, %plogp : f64
      %pg1 = arith.select %takes, %g1, %pg : !vec
      %pjoint1 = arith.select %takes, %joint, %pjoint : f64

      // Join the piece with the previous one, once for each trailing 1 bit of n.
      %piece:5 = scf.while (%bits = %n, %at = %top, %goes = %fine, %first = %z1,
                            %sum = %z1)
          : (i32, index, i1, !vec, !vec) -> (i32, index, i1, !vec, !vec) {
        %has_neighbor = arith.trunci %bits : i32 to i1
        %joins = arith.andi %has_neighbor, %goes : i1
        scf.condition(%joins) %bits, %at, %goes, %first, %sum
            : i32, index, i1, !vec, !vec
      } do {
      ^bb0(%bits: i32, %at: index, %goes: i1, %first: !vec, %sum: !vec):
        %below = arith.subi %at, %up : index
        %f = func.call @multinomial.get(%fs, %below) : (!stack, index) -> !vec
        %l = func.call @multinomial.get(%ls, %below) : (!stack, index) -> !vec
        %s = func.call @multinomial.get(%ss, %below) : (!stack, index) -> !vec
        %goes1 = func.call @multinomial.goes_on(%s, %f, %l, %sum, %first, %z1)
            : (!vec, !vec, !vec, !vec, !vec, !vec) -> i1
        %sum1 = arith.addf %s, %sum : !vec
        %rest = arith.shrui %bits, %one : i32
        scf.yield %rest, %below, %goes1, %f, %sum1 : i32, index, i1, !vec, !vec
      }
      %fs1 = func.call @multinomial.put(%piece#3, %fs, %piece#1)
          : (!vec, !stack, index) -> !stack
      %ls1 = func.call @multinomial.put(%z1, %ls, %piece#1)
          : (!vec, !stack, index) -> !stack
      %ss1 = func.call @multinomial.put(%piece#4, %ss, %piece#1)
          : (!vec, !stack, index) -> !stack
      %top1 = arith.addi %piece#1, %up : index
      %n1 = arith.addi %n, %one : i32
      %steps1 = arith.addi %steps, %one : i32
      scf.yield %n1, %top1, %q1, %g1, %z1, %piece#2, %diverges1, %weight1, %scale1,
          %pq1, %plogp1, %pg1, %pjoint1, %accepted1, %steps1, %fs1, %ls1, %ss1
          : i32, index, !vec, !vec, !vec, i1, i1, f64, f64, !vec, f64, !vec, f64, f64,
            i32, !stack, !stack, !stack
    }
    return %end#2, %end#3, %end#4, %end#5, %end#6, %end#7, %end#8, %end#9, %end#10,
        %end#11, %end#12, %end#13, %end#14, %end#15, %end#16, %end#17
        : !vec, !vec, !vec, i1, i1, f64, f64, !vec, f64, !vec, f64, f64, i32,
          !stack, !stack, !stack
  }

  // Runs one transition. Returns the next position, its log density and its
  // gradient. Also returns the mean acceptance probability, the numbers of
  // leapfrog steps and doublings, and the energy of the point that was taken.
  // Another result is true if the trajectory diverged. The last results are the
  // stacks, whose contents have no meaning between transitions.
  func.func private @multinomial.transition(
      %q: !vec, %logp: f64, %gradient: !vec, %epsilon: f64, %factor: !factor,
      %max_depth: i32, %is_slice: i1, %firsts: !stack, %lasts: !stack, %sums: !stack,
      %seed: i32, %chain: i32, %t: i32)
      -> (!vec, f64, !vec, f64, i32, i32, i1, f64, !stack, !stack, !stack) {
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %bottom = arith.constant 0 : index
    %yes = arith.constant true
    %no = arith.constant false
    %none = arith.constant 0.0 : f64
    %half = arith.constant 0.5 : f64
    %unit = arith.constant 1.0 : f64
    %direction_slot = arith.constant 0x10000000 : i32
    %doubling_slot = arith.constant 0x20000000 : i32
    %back = arith.negf %epsilon : f64

    %z = call @multinomial.momentum(%seed, %chain, %t) : (i32, i32, i32) -> !vec
    %square = call @multinomial.dot(%z, %z) : (!vec, !vec) -> f64
    %kinetic = arith.mulf %half, %square : f64
    %joint0 = arith.subf %logp, %kinetic : f64
    %slice = call @multinomial.uniform(%seed, %chain, %t, %zero)
        : (i32, i32, i32, i32) -> f64
    %log_slice = math.log %slice : f64
    %level = arith.select %is_slice, %log_slice, %none : f64
    %directions, %unused =
        call @random.threefry2x32(%seed, %chain, %t, %direction_slot)
        : (i32, i32, i32, i32) -> (i32, i32)

    %end:21 = scf.while (
        %j = %zero, %on = %yes, %diverges = %no, %qm = %q, %gm = %gradient, %zm = %z,
        %qp = %q, %gp = %gradient, %zp = %z, %sum = %z, %weight = %unit,
        %scale = %none, %pq = %q, %plogp = %logp, %pg = %gradient, %pjoint = %joint0,
        %accepted = %none, %steps = %zero, %fs = %firsts, %ls = %lasts, %ss = %sums)
        : (i32, i1, i1, !vec, !vec, !vec, !vec, !vec, !vec, !vec, f64, f64, !vec, f64,
           !vec, f64, f64, i32, !stack, !stack, !stack)
        -> (i32, i1, i1, !vec, !vec, !vec, !vec, !vec, !vec, !vec, f64, f64, !vec, f64,
            !vec, f64, f64, i32, !stack, !stack, !stack) {
      %shallow = arith.cmpi slt, %j, %max_depth : i32
      %more = arith.andi %on, %shallow : i1
      scf.condition(%more) %j, %on, %diverges, %qm, %gm, %zm, %qp, %gp, %zp, %sum,
          %weight, %scale, %pq, %plogp, %pg, %pjoint, %accepted, %steps, %fs, %ls, %ss
          : i32, i1, i1, !vec, !vec, !vec, !vec, !vec, !vec, !vec, f64, f64, !vec, f64,
            !vec, f64, f64, i32, !stack, !stack, !stack
    } do {
    ^bb0(%j: i32, %on: i1, %diverges: i1, %qm: !vec, %gm: !vec, %zm: !vec, %qp: !vec,
         %gp: !vec, %zp: !vec, %sum: !vec, %weight: f64, %scale: f64, %pq: !vec,
         %plogp: f64, %pg: !vec, %pjoint: f64, %accepted: f64, %steps: i32,
         %fs: !stack, %ls: !stack, %ss: !stack):
      %shifted = arith.shrui %directions, %j : i32
      %forward = arith.trunci %shifted : i32 to i1
      %step = arith.select %forward, %epsilon, %back : f64
      %q0 = arith.select %forward, %qp, %qm : !vec
      %g0 = arith.select %forward, %gp, %gm : !vec
      %inner = arith.select %forward, %zp, %zm : !vec
      %outer = arith.select %forward, %zm, %zp : !vec
      %new:16 = func.call @multinomial.extend(%q0, %g0, %inner, %j, %step, %factor,
              %joint0, %is_slice, %level, %accepted, %steps, %fs, %ls, %ss, %seed, %chain,
              %t)
          : (!vec, !vec, !vec, i32, f64, !factor, f64, i1, f64, f64, i32, !stack, !stack,
             !stack, i32, i32, i32)
          -> (!vec, !vec, !vec, i1, i1, f64, f64, !vec, f64, !vec, f64, f64, i32,
              !stack, !stack, !stack)

      // Take the new point with probability min(1, new / old), which favors
      // points that are farther away.
      %at = arith.addi %doubling_slot, %j : i32
      %u = func.call @multinomial.uniform(%seed, %chain, %t, %at)
          : (i32, i32, i32, i32) -> f64
      %larger = arith.maximumf %new#6, %scale : f64
      %new_down = arith.subf %new#6, %larger : f64
      %new_ratio = math.exp %new_down : f64
      %new_weight = arith.mulf %new#5, %new_ratio : f64
      %old_down = arith.subf %scale, %larger : f64
      %old_ratio = math.exp %old_down : f64
      %old_weight = arith.mulf %weight, %old_ratio : f64
      %weight1 = arith.addf %old_weight, %new_weight : f64
      %threshold = arith.mulf %u, %old_weight : f64
      %wins = arith.cmpf olt, %threshold, %new_weight : f64
      %takes = arith.andi %new#3, %wins : i1
      %pq1 = arith.select %takes, %new#7, %pq : !vec
      %plogp1 = arith.select %takes, %new#8, %plogp : f64
      %pg1 = arith.select %takes, %new#9, %pg : !vec
      %pjoint1 = arith.select %takes, %new#10, %pjoint : f64

      %first = func.call @multinomial.get(%new#13, %bottom) : (!stack, index) -> !vec
      %new_sum = func.call @multinomial.get(%new#15, %bottom) : (!stack, index) -> !vec
      %goes = func.call @multinomial.goes_on(%sum, %outer, %inner, %new_sum, %first,
              %new#2)
          : (!vec, !vec, !vec, !vec, !vec, !vec) -> i1
      %on1 = arith.andi %new#3, %goes : i1
      %sum1 = arith.addf %sum, %new_sum : !vec
      %qm1 = arith.select %forward, %qm, %new#0 : !vec
      %gm1 = arith.select %forward, %gm, %new#1 : !vec
      %zm1 = arith.select %forward, %zm, %new#2 : !vec
      %qp1 = arith.select %forward, %new#0, %qp : !vec
      %gp1 = arith.select %forward, %new#1, %gp : !vec
      %zp1 = arith.select %forward, %new#2, %zp : !vec
      %j1 = arith.addi %j, %one : i32
      scf.yield %j1, %on1, %new#4, %qm1, %gm1, %zm1, %qp1, %gp1, %zp1, %sum1,
          %weight1, %larger, %pq1, %plogp1, %pg1, %pjoint1, %new#11, %new#12, %new#13,
          %new#14, %new#15
          : i32, i1, i1, !vec, !vec, !vec, !vec, !vec, !vec, !vec, f64, f64, !vec, f64,
            !vec, f64, f64, i32, !stack, !stack, !stack
    }
    %number = arith.uitofp %end#17 : i32 to f64
    %mean = arith.divf %end#16, %number : f64
    %energy = arith.negf %end#15 : f64
    return %end#12, %end#13, %end#14, %mean, %end#17, %end#0, %end#2, %energy, %end#18,
        %end#19, %end#20
        : !vec, f64, !vec, f64, i32, i32, i1, f64, !stack, !stack, !stack
  }

  // Runs one step of dual averaging. Returns the logarithms of the step size
  // and of its average, the mean error, and the number of steps. `centre` is
  // the value towards which the logarithms of step sizes are drawn.
  func.func private @multinomial.fit_step(
      %acceptance: f64, %target: f64, %centre: f64, %log_average: f64, %error: f64,
      %m: f64) -> (f64, f64, f64, f64) {
    %unit = arith.constant 1.0 : f64
    %delay = arith.constant 10.0 : f64
    %inverse_gamma = arith.constant 20.0 : f64
    %minus_kappa = arith.constant -0.75 : f64
    %m1 = arith.addf %m, %unit : f64
    %delayed = arith.addf %m1, %delay : f64
    %short_of = arith.subf %target, %acceptance : f64
    %change = arith.subf %short_of, %error : f64
    %share = arith.divf %change, %delayed : f64
    %error1 = arith.addf %error, %share : f64
    %root = math.sqrt %m1 : f64
    %strength = arith.mulf %root, %inverse_gamma : f64
    %correction = arith.mulf %strength, %error1 : f64
    %log_step = arith.subf %centre, %correction : f64
    %log_m = math.log %m1 : f64
    %log_share = arith.mulf %minus_kappa, %log_m : f64
    %average_share = math.exp %log_share : f64
    %difference = arith.subf %log_step, %log_average : f64
    %weighted = arith.mulf %average_share, %difference : f64
    %log_average1 = arith.addf %log_average, %weighted : f64
    return %log_step, %log_average1, %error1, %m1 : f64, f64, f64, f64
  }

  // Runs transitions `first` to `first` + `count` - 1 of a chain. `count` is at
  // most N. An entry of `schedule` specifies what a warm-up transition fits, as
  // a sum of
  //
  //   1  the step size
  //   2  the position contributes to the mass matrix
  //   4  a window ends: there is a new mass matrix, and dual averaging starts anew
  //   8  the step size becomes the average of the previous ones
  //
  // The state of a chain consists of its position, the factor of the mass
  // matrix, the mean and squares of the window's positions, and `fits`.
  // Initially, `fits` is zero. It contains the logarithms of the step size and
  // of its average, the centre minus log 10, and the mean error. It also
  // contains the number of steps of dual averaging, and the number of positions
  // that contribute to the mass matrix. Returns the state, the positions, and
  // for each transition: mean acceptance probability, leapfrog steps,
  // doublings, 1 if the trajectory diverged, energy, log density, step size.
  func.func @multinomial.advance(
      %q: !vec, %factor: !factor, %mean: !vec, %squares: !factor,
      %fits: tensor<6xf64>, %first: index, %count: index, %seed: i32, %chain: i32,
      %schedule: !schedule, %target: tensor<f64>, %max_depth: tensor<i32>,
      %slice: tensor<i1>)
      -> (!vec, !factor, !vec, !factor, tensor<6xf64>, !positions, !stats) {
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    %two = arith.constant 2 : index
    %three = arith.constant 3 : index
    %four = arith.constant 4 : index
    %five = arith.constant 5 : index
    %none = arith.constant 0.0 : f64
    %unit = arith.constant 1.0 : f64
    %log10 = arith.constant 2.302585092994046 : f64
    %no_bits = arith.constant 0 : i32
    %fits_step = arith.constant 1 : i32
    %sees = arith.constant 2 : i32
    %ends = arith.constant 4 : i32
    %averages = arith.constant 8 : i32
    %zeros = arith.constant dense<0.0> : !vec
    %no_squares = arith.constant dense<0.0> : !factor
    %positions = arith.constant dense<0.0> : !positions
    %stats = arith.constant dense<0.0> : !stats
    %stack = arith.constant dense<0.0> : !stack
    %goal = tensor.extract %target[] : tensor<f64>
    %depth = tensor.extract %max_depth[] : tensor<i32>
    %is_slice = tensor.extract %slice[] : tensor<i1>
    %f0 = tensor.extract %fits[%zero] : tensor<6xf64>
    %f1 = tensor.extract %fits[%one] : tensor<6xf64>
    %f2 = tensor.extract %fits[%two] : tensor<6xf64>
    %f3 = tensor.extract %fits[%three] : tensor<6xf64>
    %f4 = tensor.extract %fits[%four] : tensor<6xf64>
    %f5 = tensor.extract %fits[%five] : tensor<6xf64>
    %logp0, %gradient0 = call @log_density(%q) : (!vec) -> (f64, !vec)
    %end:17 = scf.for %i = %zero to %count step %one
        iter_args(%qi = %q, %logp = %logp0, %gradient = %gradient0, %l = %factor,
                  %mu = %mean, %sq = %squares, %log_step = %f0, %log_average = %f1,
                  %shift = %f2, %error = %f3, %m = %f4, %seen = %f5,
                  %qs = %positions, %st = %stats,
                  %fs = %stack, %ls = %stack, %ss = %stack)
        -> (!vec, f64, !vec, !factor, !vec, !factor, f64, f64, f64, f64, f64, f64,
            !positions, !stats, !stack, !stack, !stack) {
      %now = arith.addi %first, %i : index
      %t = arith.index_cast %now : index to i32
      %epsilon = math.exp %log_step : f64
      %next:11 = func.call @multinomial.transition(%qi, %logp, %gradient, %epsilon,
              %l, %depth, %is_slice, %fs, %ls, %ss, %seed, %chain, %t)
          : (!vec, f64, !vec, f64, !factor, i32, i1, !stack, !stack, !stack, i32, i32,
             i32)
          -> (!vec, f64, !vec, f64, i32, i32, i1, f64, !stack, !stack, !stack)

      %what = tensor.extract %schedule[%i] : !schedule
      %bit0 = arith.andi %what, %fits_step : i32
      %is_fitted = arith.cmpi ne, %bit0, %no_bits : i32
      %step:4 = scf.if %is_fitted -> (f64, f64, f64, f64) {
        %centre = arith.addf %shift, %log10 : f64
        %a:4 = func.call @multinomial.fit_step(%next#3, %goal, %centre, %log_average,
                %error, %m)
            : (f64, f64, f64, f64, f64, f64) -> (f64, f64, f64, f64)
        scf.yield %a#0, %a#1, %a#2, %a#3 : f64, f64, f64, f64
      } else {
        scf.yield %log_step, %log_average, %error, %m : f64, f64, f64, f64
      }
      %bit3 = arith.andi %what, %averages : i32
      %is_average = arith.cmpi ne, %bit3, %no_bits : i32
      %log_step1 = arith.select %is_average, %step#1, %step#0 : f64

      // Running mean and squares (Welford).
      %bit1 = arith.andi %what, %sees : i32
      %is_seen = arith.cmpi ne, %bit1, %no_bits : i32
      %window:3 = scf.if %is_seen -> (!vec, !factor, f64) {
        %seen1 = arith.addf %seen, %unit : f64
        %numbers = tensor.splat %seen1 : !vec
        %off = arith.subf %next#0, %mu : !vec
        %share = arith.divf %off, %numbers : !vec
        %mu1 = arith.addf %mu, %share : !vec
        %rest = arith.subf %next#0, %mu1 : !vec
        %sq1 = func.call @mass.observe(%sq, %off, %rest)
            : (!factor, !vec, !vec) -> !factor
        scf.yield %mu1, %sq1, %seen1 : !vec, !factor, f64
      } else {
        scf.yield %mu, %sq, %seen : !vec, !factor, f64
      }
      %bit2 = arith.andi %what, %ends : i32
      %is_end = arith.cmpi ne, %bit2, %no_bits : i32
      %fit:8 = scf.if %is_end
          -> (!factor, !vec, !factor, f64, f64, f64, f64, f64) {
        %l1 = func.call @mass.fit(%window#1, %window#2) : (!factor, f64) -> !factor
        scf.yield %l1, %zeros, %no_squares, %step#1, %step#1, %none, %none, %none
            : !factor, !vec, !factor, f64, f64, f64, f64, f64
      } else {
        scf.yield %l, %window#0, %window#1, %log_step1, %shift, %step#2, %step#3,
            %window#2 : !factor, !vec, !factor, f64, f64, f64, f64, f64
      }

      %qs1 = tensor.insert_slice %next#0 into %qs[%i, 0] [1, 1009] [1, 1]
          : !vec into !positions
      %leaves = arith.uitofp %next#4 : i32 to f64
      %doublings = arith.uitofp %next#5 : i32 to f64
      %diverges = arith.uitofp %next#6 : i1 to f64
      %row = tensor.from_elements %next#3, %leaves, %doublings, %diverges, %next#7,
          %next#1, %epsilon : tensor<7xf64>
      %st1 = tensor.insert_slice %row into %st[%i, 0] [1, 7] [1, 1]
          : tensor<7xf64> into !stats
      scf.yield %next#0, %next#1, %next#2, %fit#0, %fit#1, %fit#2, %fit#3, %step#1,
          %fit#4, %fit#5, %fit#6, %fit#7, %qs1, %st1, %next#8, %next#9, %next#10
          : !vec, f64, !vec, !factor, !vec, !factor, f64, f64, f64, f64, f64, f64,
            !positions, !stats, !stack, !stack, !stack
    }
    %fits1 = tensor.from_elements %end#6, %end#7, %end#8, %end#9, %end#10, %end#11
        : tensor<6xf64>
    return %end#0, %end#3, %end#4, %end#5, %fits1, %end#12, %end#13
        : !vec, !factor, !vec, !factor, tensor<6xf64>, !positions, !stats
  }
}
