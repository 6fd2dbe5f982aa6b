// Products in f32 in a kernel that also computes in f64, so its vectors have half as many elements.
// check_products.py computes the expected results.

#a = affine_map<(h, m, n, k) -> (m, k)>
#b = affine_map<(h, m, n, k) -> (h, n, k)>
#c = affine_map<(h, m, n, k) -> (h, m, n)>
#d = affine_map<(m, n, k) -> (m, k)>
#e = affine_map<(m, n, k) -> (n, k)>
#f = affine_map<(m, n, k) -> (m, n)>

module {
  func.func @main(%x: tensor<7x20xf32> {batch.name = "x"},
                  %W: tensor<3x24x20xf32> {batch.shared = "W"},
                  %O: tensor<3x24x40xf32> {batch.shared = "O"})
      -> (tensor<3x7x24xf32> {batch.name = "by_head"}, tensor<3x7x24xf64> {batch.name = "in_f64"},
          tensor<7x24xf32> {batch.name = "of_a_head"}, tensor<7x40xf32> {batch.name = "of_a_part"})
      attributes {batch.entry} {
    %zeros = arith.constant dense<0.0> : tensor<3x7x24xf32>
    %all = linalg.generic {
        indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
        ins(%x, %W : tensor<7x20xf32>, tensor<3x24x20xf32>) outs(%zeros : tensor<3x7x24xf32>) {
    ^bb0(%a: f32, %b: f32, %sum: f32):
      %p = arith.mulf %a, %b : f32
      %s = arith.addf %sum, %p : f32
      linalg.yield %s : f32
    } -> tensor<3x7x24xf32>
    %wide = arith.extf %all : tensor<3x7x24xf32> to tensor<3x7x24xf64>
    %head = tensor.extract_slice %W[1, 0, 0] [1, 24, 20] [1, 1, 1] : tensor<3x24x20xf32> to tensor<24x20xf32>
    %none = arith.constant dense<0.0> : tensor<7x24xf32>
    %one = linalg.generic {
        indexing_maps = [#d, #e, #f], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%x, %head : tensor<7x20xf32>, tensor<24x20xf32>) outs(%none : tensor<7x24xf32>) {
    ^bb0(%a: f32, %b: f32, %sum: f32):
      %p = arith.mulf %a, %b : f32
      %s = arith.addf %sum, %p : f32
      linalg.yield %s : f32
    } -> tensor<7x24xf32>
    %part = tensor.extract_slice %O[2, 3, 0] [1, 20, 40] [1, 1, 1] : tensor<3x24x40xf32> to tensor<20x40xf32>
    %empty = arith.constant dense<0.0> : tensor<7x40xf32>
    %rows = linalg.matmul ins(%x, %part : tensor<7x20xf32>, tensor<20x40xf32>) outs(%empty : tensor<7x40xf32>) -> tensor<7x40xf32>
    return %all, %wide, %one, %rows : tensor<3x7x24xf32>, tensor<3x7x24xf64>, tensor<7x24xf32>, tensor<7x40xf32>
  }
}
