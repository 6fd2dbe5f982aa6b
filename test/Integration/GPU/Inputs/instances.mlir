// Single instances with a list of tensors, a row at an index, and a loop whose condition reads a
// tensor. From row i of E, for each x of the list: y = w * y + x; then y = w * y while y[0] is not
// small, up to n times.
!row = tensor<5xf32>
module {
  func.func @main(%i: index {batch.name = "i"}, %n: index {batch.name = "n"},
                  %xs: !rec.list<!row> {batch.name = "xs"},
                  %E: tensor<?x5xf32> {batch.shared = "E"}, %w: !row {batch.shared = "w"})
      -> (!row {batch.name = "y"}, index {batch.name = "rounds"}) attributes {batch.entry} {
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    %small = arith.constant 0.01 : f32
    %first = tensor.extract_slice %E[%i, 0] [1, 5] [1, 1] : tensor<?x5xf32> to !row
    %sum = rec.fold %x in %xs init(%y = %first) : !rec.list<!row> -> !row {
      %product = arith.mulf %y, %w : !row
      %next = arith.addf %product, %x : !row
      rec.yield %next : !row
    }
    %y, %rounds = scf.while (%y = %sum, %k = %zero) : (!row, index) -> (!row, index) {
      %v = tensor.extract %y[%zero] : !row
      %a = math.absf %v : f32
      %large = arith.cmpf ogt, %a, %small : f32
      %few = arith.cmpi ult, %k, %n : index
      %more = arith.andi %large, %few : i1
      scf.condition(%more) %y, %k : !row, index
    } do {
    ^bb0(%y: !row, %k: index):
      %next = arith.mulf %y, %w : !row
      %count = arith.addi %k, %one : index
      scf.yield %next, %count : !row, index
    }
    return %y, %rounds : !row, index
  }
}
