// Products of matrices with parameters and with each other. Some matrices differ by head or row,
// and some are one of several matrices in a parameter. Some sums are along two dimensions. Some
// factors are computed, concatenated or transposed. Two results are the largest elements and their
// positions. check_products.py computes the expected results.

#a = affine_map<(h, m, n, k) -> (m, k)>
#b = affine_map<(h, m, n, k) -> (h, n, k)>
#c = affine_map<(h, m, n, k) -> (h, m, n)>
#d = affine_map<(m, h, n, k) -> (m, k)>
#e = affine_map<(m, h, n, k) -> (h, n, k)>
#f = affine_map<(m, h, n, k) -> (m, h, n)>
#g = affine_map<(h, n, k) -> (h, k)>
#h = affine_map<(h, n, k) -> (h, n, k)>
#i = affine_map<(h, n, k) -> (h, n)>
#j = affine_map<(m, n, k) -> (m, k)>
#k = affine_map<(m, n, k) -> (m, n, k)>
#l = affine_map<(m, n, k) -> (m, n)>
#m = affine_map<(m, n, h, k) -> (h, m, k)>
#n = affine_map<(m, n, h, k) -> (h, k, n)>
#o = affine_map<(m, n, h, k) -> (m, n)>
#p = affine_map<(h, m, n, k) -> (h, m, k)>
#q = affine_map<(h, m, n, k) -> (h, k, n)>
#r = affine_map<(m, n, k) -> (n, k)>

module {
  func.func private @by_head(%x: tensor<7x20xf32>, %y: tensor<3x24x20xf32>) -> tensor<3x7x24xf32> {
    %zero = arith.constant dense<0.0> : tensor<3x7x24xf32>
    %z = linalg.generic {
        indexing_maps = [#a, #b, #c],
        iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
        ins(%x, %y : tensor<7x20xf32>, tensor<3x24x20xf32>) outs(%zero : tensor<3x7x24xf32>) {
    ^bb0(%a: f32, %b: f32, %sum: f32):
      %p = arith.mulf %a, %b : f32
      %s = arith.addf %sum, %p : f32
      linalg.yield %s : f32
    } -> tensor<3x7x24xf32>
    return %z : tensor<3x7x24xf32>
  }

  func.func private @by_inner_head(%x: tensor<7x20xf32>, %y: tensor<3x24x20xf32>) -> tensor<7x3x24xf32> {
    %zero = arith.constant dense<0.0> : tensor<7x3x24xf32>
    %z = linalg.generic {
        indexing_maps = [#d, #e, #f],
        iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
        ins(%x, %y : tensor<7x20xf32>, tensor<3x24x20xf32>) outs(%zero : tensor<7x3x24xf32>) {
    ^bb0(%a: f32, %b: f32, %sum: f32):
      %p = arith.mulf %a, %b : f32
      %s = arith.addf %sum, %p : f32
      linalg.yield %s : f32
    } -> tensor<7x3x24xf32>
    return %z : tensor<7x3x24xf32>
  }

  func.func private @rows_of_heads(%x: tensor<3x20xf32>, %y: tensor<3x24x20xf32>) -> tensor<3x24xf32> {
    %zero = arith.constant dense<0.0> : tensor<3x24xf32>
    %z = linalg.generic {
        indexing_maps = [#g, #h, #i],
        iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%x, %y : tensor<3x20xf32>, tensor<3x24x20xf32>) outs(%zero : tensor<3x24xf32>) {
    ^bb0(%a: f32, %b: f32, %sum: f32):
      %p = arith.mulf %a, %b : f32
      %s = arith.addf %sum, %p : f32
      linalg.yield %s : f32
    } -> tensor<3x24xf32>
    return %z : tensor<3x24xf32>
  }

  func.func private @by_row(%x: tensor<7x20xf32>, %y: tensor<7x24x20xf32>) -> tensor<7x24xf32> {
    %zero = arith.constant dense<0.0> : tensor<7x24xf32>
    %z = linalg.generic {
        indexing_maps = [#j, #k, #l],
        iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%x, %y : tensor<7x20xf32>, tensor<7x24x20xf32>) outs(%zero : tensor<7x24xf32>) {
    ^bb0(%a: f32, %b: f32, %sum: f32):
      %p = arith.mulf %a, %b : f32
      %s = arith.addf %sum, %p : f32
      linalg.yield %s : f32
    } -> tensor<7x24xf32>
    return %z : tensor<7x24xf32>
  }

  func.func private @over_heads(%x: tensor<3x7x24xf32>, %y: tensor<3x24x40xf32>) -> tensor<7x40xf32> {
    %zero = arith.constant dense<0.0> : tensor<7x40xf32>
    %z = linalg.generic {
        indexing_maps = [#m, #n, #o],
        iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
        ins(%x, %y : tensor<3x7x24xf32>, tensor<3x24x40xf32>) outs(%zero : tensor<7x40xf32>) {
    ^bb0(%a: f32, %b: f32, %sum: f32):
      %p = arith.mulf %a, %b : f32
      %s = arith.addf %sum, %p : f32
      linalg.yield %s : f32
    } -> tensor<7x40xf32>
    return %z : tensor<7x40xf32>
  }

  func.func private @scores(%x: tensor<3x7x20xf32>, %y: tensor<3x9x20xf32>) -> tensor<3x7x9xf32> {
    %zero = arith.constant dense<0.0> : tensor<3x7x9xf32>
    %z = linalg.generic {
        indexing_maps = [#p, #b, #c],
        iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
        ins(%x, %y : tensor<3x7x20xf32>, tensor<3x9x20xf32>) outs(%zero : tensor<3x7x9xf32>) {
    ^bb0(%a: f32, %b: f32, %sum: f32):
      %p = arith.mulf %a, %b : f32
      %s = arith.addf %sum, %p : f32
      linalg.yield %s : f32
    } -> tensor<3x7x9xf32>
    return %z : tensor<3x7x9xf32>
  }

  func.func private @values(%x: tensor<3x7x9xf32>, %y: tensor<3x9x24xf32>) -> tensor<3x7x24xf32> {
    %zero = arith.constant dense<0.0> : tensor<3x7x24xf32>
    %z = linalg.generic {
        indexing_maps = [#p, #q, #c],
        iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
        ins(%x, %y : tensor<3x7x9xf32>, tensor<3x9x24xf32>) outs(%zero : tensor<3x7x24xf32>) {
    ^bb0(%a: f32, %b: f32, %sum: f32):
      %p = arith.mulf %a, %b : f32
      %s = arith.addf %sum, %p : f32
      linalg.yield %s : f32
    } -> tensor<3x7x24xf32>
    return %z : tensor<3x7x24xf32>
  }

  func.func private @wide(%x: tensor<3x7x9xf32>, %y: tensor<3x9x48xf32>) -> tensor<3x7x48xf32> {
    %zero = arith.constant dense<0.0> : tensor<3x7x48xf32>
    %z = linalg.generic {
        indexing_maps = [#p, #q, #c],
        iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
        ins(%x, %y : tensor<3x7x9xf32>, tensor<3x9x48xf32>) outs(%zero : tensor<3x7x48xf32>) {
    ^bb0(%a: f32, %b: f32, %sum: f32):
      %p = arith.mulf %a, %b : f32
      %s = arith.addf %sum, %p : f32
      linalg.yield %s : f32
    } -> tensor<3x7x48xf32>
    return %z : tensor<3x7x48xf32>
  }

  // A sum without products, which shares a stage with products per head.
  func.func private @sums(%x: tensor<3x7x24x4xf32>) -> tensor<3x7x24xf32> {
    %zero = arith.constant dense<0.0> : tensor<3x7x24xf32>
    %z = linalg.reduce { arith.addf } ins(%x : tensor<3x7x24x4xf32>)
        outs(%zero : tensor<3x7x24xf32>) dimensions = [3]
    return %z : tensor<3x7x24xf32>
  }

  // The largest element, and its position (the first if several are largest).
  func.func private @largest(%x: tensor<3x301xf32>) -> (tensor<3xf32>, tensor<3xi32>) {
    %low = arith.constant dense<0xFF800000> : tensor<3xf32>
    %none = arith.constant dense<-1> : tensor<3xi32>
    %most:2 = linalg.generic {
        indexing_maps = [affine_map<(h, k) -> (h, k)>, affine_map<(h, k) -> (h)>,
                         affine_map<(h, k) -> (h)>],
        iterator_types = ["parallel", "reduction"]}
        ins(%x : tensor<3x301xf32>) outs(%low, %none : tensor<3xf32>, tensor<3xi32>) {
    ^bb0(%a: f32, %best: f32, %at: i32):
      %i = linalg.index 1 : index
      %n = arith.index_cast %i : index to i32
      %is = arith.cmpf ogt, %a, %best : f32
      %b = arith.select %is, %a, %best : f32
      %t = arith.select %is, %n, %at : i32
      linalg.yield %b, %t : f32, i32
    } -> (tensor<3xf32>, tensor<3xi32>)
    return %most#0, %most#1 : tensor<3xf32>, tensor<3xi32>
  }

  func.func @main(%x: tensor<7x20xf32> {batch.name = "x"}, %v: tensor<3x20xf32> {batch.name = "v"},
                  %q: tensor<3x7x20xf32> {batch.name = "q"}, %d: tensor<3x9x20xf32> {batch.name = "d"},
                  %e: tensor<3x9x24xf32> {batch.name = "e"}, %f: tensor<3x9x48xf32> {batch.name = "f"},
                  %l: tensor<3x301xf32> {batch.name = "l"},
                  %u: tensor<3x7x24x4xf32> {batch.name = "u"},
                  %W: tensor<3x24x20xf32> {batch.shared = "W"}, %U: tensor<7x24x20xf32> {batch.shared = "U"},
                  %O: tensor<3x24x40xf32> {batch.shared = "O"})
      -> (tensor<3x7x24xf32> {batch.name = "by_head"}, tensor<7x3x24xf32> {batch.name = "by_inner_head"},
          tensor<3x24xf32> {batch.name = "rows_of_heads"}, tensor<7x24xf32> {batch.name = "by_row"},
          tensor<7x40xf32> {batch.name = "over_heads"}, tensor<3x7x9xf32> {batch.name = "scores"},
          tensor<3x7x24xf32> {batch.name = "values"}, tensor<3x7x48xf32> {batch.name = "wide"},
          tensor<3x7x9xf32> {batch.name = "computed"}, tensor<3x7x9xf32> {batch.name = "pieces"},
          tensor<3xf32> {batch.name = "most"}, tensor<3xi32> {batch.name = "place"},
          tensor<3x7x24xf32> {batch.name = "sums"}, tensor<7x24xf32> {batch.name = "of_a_head"},
          tensor<7x40xf32> {batch.name = "of_a_part"})
      attributes {batch.entry} {
    %1 = func.call @by_head(%x, %W) : (tensor<7x20xf32>, tensor<3x24x20xf32>) -> tensor<3x7x24xf32>
    %2 = func.call @by_inner_head(%x, %W) : (tensor<7x20xf32>, tensor<3x24x20xf32>) -> tensor<7x3x24xf32>
    %3 = func.call @rows_of_heads(%v, %W) : (tensor<3x20xf32>, tensor<3x24x20xf32>) -> tensor<3x24xf32>
    %4 = func.call @by_row(%x, %U) : (tensor<7x20xf32>, tensor<7x24x20xf32>) -> tensor<7x24xf32>
    %5 = func.call @over_heads(%1, %O) : (tensor<3x7x24xf32>, tensor<3x24x40xf32>) -> tensor<7x40xf32>
    %6 = func.call @scores(%q, %d) : (tensor<3x7x20xf32>, tensor<3x9x20xf32>) -> tensor<3x7x9xf32>
    %7 = func.call @values(%6, %e) : (tensor<3x7x9xf32>, tensor<3x9x24xf32>) -> tensor<3x7x24xf32>
    %8 = func.call @wide(%6, %f) : (tensor<3x7x9xf32>, tensor<3x9x48xf32>) -> tensor<3x7x48xf32>
    // The kernel that reads both factors also computes them.
    %more = arith.addf %q, %q : tensor<3x7x20xf32>
    %less = arith.subf %d, %d : tensor<3x9x20xf32>
    %least = arith.addf %less, %d : tensor<3x9x20xf32>
    %9 = func.call @scores(%more, %least) : (tensor<3x7x20xf32>, tensor<3x9x20xf32>) -> tensor<3x7x9xf32>
    // A factor that consists of two pieces.
    %left = tensor.extract_slice %d[0, 0, 8] [3, 9, 12] [1, 1, 1] : tensor<3x9x20xf32> to tensor<3x9x12xf32>
    %right = tensor.extract_slice %d[0, 0, 0] [3, 9, 8] [1, 1, 1] : tensor<3x9x20xf32> to tensor<3x9x8xf32>
    %both = tensor.concat dim(2) %left, %right : (tensor<3x9x12xf32>, tensor<3x9x8xf32>) -> tensor<3x9x20xf32>
    %10 = func.call @scores(%q, %both) : (tensor<3x7x20xf32>, tensor<3x9x20xf32>) -> tensor<3x7x9xf32>
    %11:2 = func.call @largest(%l) : (tensor<3x301xf32>) -> (tensor<3xf32>, tensor<3xi32>)
    %12 = func.call @sums(%u) : (tensor<3x7x24x4xf32>) -> tensor<3x7x24xf32>
    // One matrix of a parameter, and some of its rows.
    %head = tensor.extract_slice %W[1, 0, 0] [1, 24, 20] [1, 1, 1] : tensor<3x24x20xf32> to tensor<24x20xf32>
    %zeros13 = arith.constant dense<0.0> : tensor<7x24xf32>
    %13 = linalg.generic {indexing_maps = [#j, #r, #l], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%x, %head : tensor<7x20xf32>, tensor<24x20xf32>) outs(%zeros13 : tensor<7x24xf32>) {
    ^bb0(%a: f32, %b: f32, %sum: f32):
      %p = arith.mulf %a, %b : f32
      %s = arith.addf %sum, %p : f32
      linalg.yield %s : f32
    } -> tensor<7x24xf32>
    %part = tensor.extract_slice %O[2, 3, 0] [1, 20, 40] [1, 1, 1] : tensor<3x24x40xf32> to tensor<20x40xf32>
    %zeros14 = arith.constant dense<0.0> : tensor<7x40xf32>
    %14 = linalg.matmul ins(%x, %part : tensor<7x20xf32>, tensor<20x40xf32>) outs(%zeros14 : tensor<7x40xf32>) -> tensor<7x40xf32>
    return %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11#0, %11#1, %12, %13, %14
        : tensor<3x7x24xf32>, tensor<7x3x24xf32>, tensor<3x24xf32>, tensor<7x24xf32>, tensor<7x40xf32>, tensor<3x7x9xf32>, tensor<3x7x24xf32>, tensor<3x7x48xf32>,
          tensor<3x7x9xf32>, tensor<3x7x9xf32>, tensor<3xf32>, tensor<3xi32>, tensor<3x7x24xf32>,
          tensor<7x24xf32>, tensor<7x40xf32>
  }
}
