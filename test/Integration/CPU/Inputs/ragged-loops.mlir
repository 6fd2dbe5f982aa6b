// Loops that compute ragged tensors, and read their rows and reductions. check_reads.py
// computes the expected values.

!row = tensor<19xf32>
!rows = tensor<?x19xf32>

#rows = affine_map<(i, j) -> (i, j)>
#columns = affine_map<(i, j) -> (j)>

func.func @main(%seq: !rows {batch.name = "seq"}, %at: tensor<3xi64> {batch.name = "at"})
    -> (!row {batch.name = "rows"}, !row {batch.name = "shifted"}, !row {batch.name = "before"})
    attributes {batch.entry} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %zero = arith.constant dense<0.0> : !row
  %low = arith.constant dense<-100.0> : !row
  %n = tensor.dim %seq, %c0 : !rows
  %init = tensor.empty(%n) : !rows
  %halves = linalg.generic {indexing_maps = [#rows, #rows], iterator_types = ["parallel", "parallel"]}
      ins(%seq : !rows) outs(%init : !rows) {
  ^bb0(%e: f32, %unused: f32):
    %half = arith.constant 0.5 : f32
    %h = arith.mulf %e, %half : f32
    linalg.yield %h : f32
  } -> !rows

  // Each row of the doubled tensor.
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %zero) -> (!row) {
    %twice = linalg.add ins(%seq, %seq : !rows, !rows) outs(%init : !rows) -> !rows
    %row = tensor.extract_slice %twice[%i, 0] [1, 19] [1, 1] : !rows to !row
    %b = arith.subf %row, %a : !row
    scf.yield %b : !row
  }

  // The maximum of the rows, after a row is subtracted from each of them.
  %s = scf.for %i = %c0 to %n step %c1 iter_args(%a = %zero) -> (!row) {
    %more = tensor.empty(%n) : !rows
    %moved = linalg.generic {indexing_maps = [#rows, #columns, #rows],
                             iterator_types = ["parallel", "parallel"]}
        ins(%seq, %a : !rows, !row) outs(%more : !rows) {
    ^bb0(%e: f32, %f: f32, %unused: f32):
      %g = arith.subf %e, %f : f32
      linalg.yield %g : f32
    } -> !rows
    %b = linalg.reduce ins(%moved : !rows) outs(%low : !row) dimensions = [0]
        (%e: f32, %acc: f32) {
      %m = arith.maximumf %e, %acc : f32
      linalg.yield %m : f32
    }
    scf.yield %b : !row
  }

  // The loop reads tensors that are computed before it.
  %t = scf.for %k = %c0 to %c3 step %c1 iter_args(%a = %zero) -> (!row) {
    %i64 = tensor.extract %at[%k] : tensor<3xi64>
    %i = arith.index_cast %i64 : i64 to index
    %row = tensor.extract_slice %halves[%i, 0] [1, 19] [1, 1] : !rows to !row
    %b = arith.addf %a, %row : !row
    scf.yield %b : !row
  }
  return %r, %s, %t : !row, !row, !row
}
