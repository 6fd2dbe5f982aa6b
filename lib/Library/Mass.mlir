// Mass matrices of samplers. A mass matrix is the inverse of an estimate L Lᵀ
// of the covariance of the target. The functions compute velocities L z, forces
// Lᵀ g, sums of products of deviations, and the factor L that follows from these
// sums. As in Stan, the estimate is the weighted mean of the covariance of the
// positions (weight `count`) and of 0.001 on the diagonal (weight 5).

// L is diagonal, stored as a row of D entries.
!vec = tensor<1009xf64>
!entries = tensor<1x1009xf64>
module attributes {batch.sizes = {D = 1009 : index}} {
  func.func private @diagonal.row(%factor: !entries) -> !vec {
    %row = tensor.extract_slice %factor[0, 0] [1, 1009] [1, 1] : !entries to !vec
    return %row : !vec
  }

  func.func private @diagonal.entries(%row: !vec) -> !entries {
    %entries = tensor.expand_shape %row [[0, 1]] output_shape [1, 1009]
        : !vec into !entries
    return %entries : !entries
  }

  func.func @diagonal.velocity(%factor: !entries, %z: !vec) -> !vec {
    %row = call @diagonal.row(%factor) : (!entries) -> !vec
    %velocity = arith.mulf %row, %z : !vec
    return %velocity : !vec
  }

  func.func @diagonal.force(%factor: !entries, %gradient: !vec) -> !vec {
    %row = call @diagonal.row(%factor) : (!entries) -> !vec
    %force = arith.mulf %row, %gradient : !vec
    return %force : !vec
  }

  func.func @diagonal.observe(%squares: !entries, %a: !vec, %b: !vec) -> !entries {
    %row = call @diagonal.row(%squares) : (!entries) -> !vec
    %product = arith.mulf %a, %b : !vec
    %sum = arith.addf %row, %product : !vec
    %entries = call @diagonal.entries(%sum) : (!vec) -> !entries
    return %entries : !entries
  }

  func.func @diagonal.fit(%squares: !entries, %count: f64) -> !entries {
    %one = arith.constant 1.0 : f64
    %five = arith.constant 5.0 : f64
    %prior = arith.constant 0.005 : f64
    %others = arith.subf %count, %one : f64
    %more = arith.addf %count, %five : f64
    %weight = arith.divf %count, %others : f64
    %scales = tensor.splat %weight : !vec
    %priors = tensor.splat %prior : !vec
    %mores = tensor.splat %more : !vec
    %row = call @diagonal.row(%squares) : (!entries) -> !vec
    %weighted = arith.mulf %row, %scales : !vec
    %sum = arith.addf %weighted, %priors : !vec
    %variance = arith.divf %sum, %mores : !vec
    %deviation = math.sqrt %variance : !vec
    %entries = call @diagonal.entries(%deviation) : (!vec) -> !entries
    return %entries : !entries
  }
}

// L is a triangular matrix, stored in D rows of D entries.
!row = tensor<1013xf64>
!mat = tensor<1013x1013xf64>
module attributes {batch.sizes = {D = 1013 : index}} {
  func.func @dense.velocity(%factor: !mat, %z: !row) -> !row {
    %zeros = arith.constant dense<0.0> : !row
    %velocity = linalg.matvec ins(%factor, %z : !mat, !row) outs(%zeros : !row) -> !row
    return %velocity : !row
  }

  func.func @dense.force(%factor: !mat, %gradient: !row) -> !row {
    %zeros = arith.constant dense<0.0> : !row
    %force = linalg.vecmat ins(%gradient, %factor : !row, !mat) outs(%zeros : !row)
        -> !row
    return %force : !row
  }

  func.func @dense.observe(%squares: !mat, %a: !row, %b: !row) -> !mat {
    %empty = tensor.empty() : !mat
    %sum = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>,
                                            affine_map<(i, j) -> (i)>,
                                            affine_map<(i, j) -> (j)>,
                                            affine_map<(i, j) -> (i, j)>],
                           iterator_types = ["parallel", "parallel"]}
        ins(%squares, %a, %b : !mat, !row, !row) outs(%empty : !mat) {
    ^bb0(%before: f64, %ai: f64, %bj: f64, %unused: f64):
      %product = arith.mulf %ai, %bj : f64
      %after = arith.addf %before, %product : f64
      linalg.yield %after : f64
    } -> !mat
    return %sum : !mat
  }

  // Computes the Cholesky factor, column after column.
  func.func @dense.fit(%squares: !mat, %count: f64) -> !mat {
    %zero = arith.constant 0 : index
    %step = arith.constant 1 : index
    %none = arith.constant 0.0 : f64
    %one = arith.constant 1.0 : f64
    %five = arith.constant 5.0 : f64
    %prior = arith.constant 0.005 : f64
    %zeros = arith.constant dense<0.0> : !row
    %start = arith.constant dense<0.0> : !mat
    %others = arith.subf %count, %one : f64
    %more = arith.addf %count, %five : f64
    %weight = arith.divf %count, %others : f64
    %n = tensor.dim %squares, %zero : !mat
    %factor = scf.for %j = %zero to %n step %step iter_args(%l = %start) -> (!mat) {
      // Column j of the covariance, minus the share of the previous columns.
      // %squares is symmetric except for rounding, so rows serve as columns.
      %row = tensor.extract_slice %squares[%j, 0] [1, 1013] [1, 1] : !mat to !row
      %done = tensor.extract_slice %l[%j, 0] [1, 1013] [1, 1] : !mat to !row
      %known = linalg.matvec ins(%l, %done : !mat, !row) outs(%zeros : !row) -> !row
      %empty = tensor.empty() : !row
      %rest = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>,
                                               affine_map<(i) -> (i)>,
                                               affine_map<(i) -> (i)>],
                              iterator_types = ["parallel"]}
          ins(%row, %known : !row, !row) outs(%empty : !row) {
      ^bb0(%square: f64, %known_share: f64, %unused: f64):
        %i = linalg.index 0 : index
        %on_diagonal = arith.cmpi eq, %i, %j : index
        %below = arith.cmpi uge, %i, %j : index
        %weighted = arith.mulf %square, %weight : f64
        %own = arith.select %on_diagonal, %prior, %none : f64
        %sum = arith.addf %weighted, %own : f64
        %covariance = arith.divf %sum, %more : f64
        %difference = arith.subf %covariance, %known_share : f64
        %entry = arith.select %below, %difference, %none : f64
        linalg.yield %entry : f64
      } -> !row
      %pivot = tensor.extract %rest[%j] : !row
      %root = math.sqrt %pivot : f64
      %roots = tensor.splat %root : !row
      %column = arith.divf %rest, %roots : !row
      %next = tensor.insert_slice %column into %l[0, %j] [1013, 1] [1, 1]
          : !row into !mat
      scf.yield %next : !mat
    }
    return %factor : !mat
  }
}
