#none = affine_map<() -> ()>
!h = tensor<32xf32>

func.func @main(%n: tensor<i32> {batch.name = "n"}, %xs: tensor<10x32xf32> {batch.name = "xs"},
                %W: tensor<32x32xf32> {batch.shared = "W"}) -> (!h {batch.name = "h"})
    attributes {batch.entry} {
  %zero = arith.constant dense<0> : tensor<i32>
  %one = arith.constant dense<1> : tensor<i32>
  %last = arith.constant dense<9> : tensor<i32>
  %start = arith.constant dense<0.0> : !h
  %r:3 = scf.while (%i = %zero, %a = %start, %U = %W)
      : (tensor<i32>, !h, tensor<32x32xf32>) -> (tensor<i32>, !h, tensor<32x32xf32>) {
    %init = tensor.empty() : tensor<i1>
    %less = linalg.generic {indexing_maps = [#none, #none, #none], iterator_types = []}
        ins(%i, %n : tensor<i32>, tensor<i32>) outs(%init : tensor<i1>) {
    ^bb0(%l: i32, %m: i32, %o: i1):
      %c = arith.cmpi slt, %l, %m : i32
      linalg.yield %c : i1
    } -> tensor<i1>
    %go = tensor.extract %less[] : tensor<i1>
    scf.condition(%go) %i, %a, %U : tensor<i32>, !h, tensor<32x32xf32>
  } do {
  ^bb0(%j: tensor<i32>, %b: !h, %V: tensor<32x32xf32>):
    %low = arith.maxsi %j, %zero : tensor<i32>
    %clamped = arith.minsi %low, %last : tensor<i32>
    %at32 = tensor.extract %clamped[] : tensor<i32>
    %at = arith.index_cast %at32 : i32 to index
    %row1 = tensor.extract_slice %xs[%at, 0] [1, 32] [1, 1] : tensor<10x32xf32> to tensor<1x32xf32>
    %row = tensor.collapse_shape %row1 [[0, 1]] : tensor<1x32xf32> into !h
    %p = linalg.matvec ins(%V, %b : tensor<32x32xf32>, !h) outs(%row : !h) -> !h
    %q = math.tanh %p : !h
    %next = arith.addi %j, %one : tensor<i32>
    scf.yield %next, %q, %V : tensor<i32>, !h, tensor<32x32xf32>
  }
  return %r#1 : !h
}
