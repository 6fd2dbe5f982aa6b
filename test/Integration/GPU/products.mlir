// RUN: %integration/check_precision.py %s %sample

// Products whose sizes fit no tile. The extents 44 and 30 along k are not multiples of 16, and 30
// is not a multiple of 4. The numbers of columns, 20 and 5, are not multiples of 8.
// check_precision.py checks each sum.
!row = tensor<44xf32>
!y = tensor<20xf32>
!z = tensor<5xf32>
module {
  func.func @main(%word: index {batch.name = "word"},
                  %E: tensor<?x44xf32> {batch.shared = "E"},
                  %W: tensor<20x44xf32> {batch.shared = "W"},
                  %V: tensor<5x30xf32> {batch.shared = "V"})
      -> (!y {batch.name = "y"}, !z {batch.name = "z"}) attributes {batch.entry} {
    %zero = arith.constant 0.0 : f32
    %x = tensor.extract_slice %E[%word, 0] [1, 44] [1, 1] : tensor<?x44xf32> to !row
    %y0 = tensor.empty() : !y
    %y1 = linalg.fill ins(%zero : f32) outs(%y0 : !y) -> !y
    %y = linalg.matvec ins(%W, %x : tensor<20x44xf32>, !row) outs(%y1 : !y) -> !y
    %part = tensor.extract_slice %x[7] [30] [1] : !row to tensor<30xf32>
    %z0 = tensor.empty() : !z
    %z1 = linalg.fill ins(%zero : f32) outs(%z0 : !z) -> !z
    %z = linalg.matvec ins(%V, %part : tensor<5x30xf32>, tensor<30xf32>) outs(%z1 : !z) -> !z
    return %y, %z : !y, !z
  }
}
