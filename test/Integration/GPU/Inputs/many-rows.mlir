// A task multiplies 1.2 billion rows: two such tasks in a step are too many rows for a device.

!row = tensor<16xf32>
!mat = tensor<16x16xf32>
!rows = tensor<1200000000x16xf32>

func.func @main(%n: index {batch.name = "n"}, %x: !row {batch.name = "x"},
                %W: !mat {batch.shared = "W"}) -> (!row {batch.name = "y"})
    attributes {batch.entry} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : !rows
  %y = scf.for %i = %c0 to %n step %c1 iter_args(%h = %x) -> (!row) {
    %all = linalg.broadcast ins(%h : !row) outs(%empty : !rows) dimensions = [0]
    %zeros = linalg.fill ins(%zero : f32) outs(%empty : !rows) -> !rows
    %products = linalg.matmul ins(%all, %W : !rows, !mat) outs(%zeros : !rows) -> !rows
    %e = math.exp %products : !rows
    %sum = linalg.reduce { arith.addf } ins(%e : !rows) outs(%h : !row) dimensions = [0]
    scf.yield %sum : !row
  }
  return %y : !row
}
