// A loop whose number of rounds is an element of a parameter, which is a vector of any length.
// check_control_reads.py computes the expected values.

func.func @main(
    %i: index {batch.name = "i"},
    %x: tensor<16xf32> {batch.name = "x"},
    %p: tensor<?xi64> {batch.shared = "p"},
    %W: tensor<16x16xf32> {batch.shared = "W"})
    -> (tensor<16xf32> {batch.name = "y"}) attributes {batch.entry} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0.0> : tensor<16xf32>
  %n64 = tensor.extract %p[%i] : tensor<?xi64>
  %n = arith.index_cast %n64 : i64 to index
  %y = scf.for %k = %c0 to %n step %c1 iter_args(%a = %x) -> (tensor<16xf32>) {
    %b = linalg.matvec ins(%W, %a : tensor<16x16xf32>, tensor<16xf32>)
        outs(%zero : tensor<16xf32>) -> tensor<16xf32>
    scf.yield %b : tensor<16xf32>
  }
  return %y : tensor<16xf32>
}
