// RUN: batch-opt %s --uprog-convolutions-to-products | FileCheck %s
// RUN: batch-opt %s --uprog-convolutions-to-products --uprog-convolutions-to-products | FileCheck %s

#image = affine_map<(t, n, f, h, w, c, i, j) -> (t, n, c, h + i, w + j)>
#filter = affine_map<(t, n, f, h, w, c, i, j) -> (f, c, i, j)>
#result = affine_map<(t, n, f, h, w, c, i, j) -> (t, n, f, h, w)>

// The padded image is stored in memory, and pixels are one dimension of 1024
// columns.
// CHECK-DAG:   #[[PIXELS:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d1, d4, d3 floordiv 32 + d5, d3 mod 32 + d6)>
// CHECK-DAG:   #[[FILTER:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d2, d4, d5, d6)>
// CHECK-DAG:   #[[RESULT:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d1, d2, d3)>
// CHECK-DAG:   #[[PIXEL:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d1 * 2 + d4, d2 + d5 * 3, d6)>
// CHECK-DAG:   #[[WEIGHT:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d4, d5, d6, d3)>
// CHECK-LABEL: uprog.operator @nchw.rows
// CHECK:         %[[PADDED:.*]] = tensor.insert_slice
// CHECK:         %[[IMAGE:.*]] = linalg.copy ins(%[[PADDED]] :
// CHECK:         %[[START:.*]] = linalg.fill ins(%{{.*}} : f32) outs(%{{.*}} : tensor<?x1x16x1024xf32>)
// CHECK:         %[[Y:.*]] = linalg.generic {indexing_maps = [#[[PIXELS]], #[[FILTER]], #[[RESULT]]]
// CHECK-SAME:        ins(%[[IMAGE]], %{{.*}}) outs(%[[START]] : tensor<?x1x16x1024xf32>)
// CHECK:         tensor.expand_shape %[[Y]] {{\[\[}}0], [1], [2], [3, 4]] {{.*}} into tensor<?x1x16x32x32xf32>
uprog.operator @nchw.rows(%n: index, %x: tensor<?x1x8x32x32xf32> {uprog.operand = #uprog.operand<gather>},
                          %w: tensor<16x8x3x3xf32> {uprog.operand = #uprog.operand<shared(0)>}) -> tensor<?x1x16x32x32xf32> {
  %zero = arith.constant 0.0 : f32
  %none = tensor.empty(%n) : tensor<?x1x8x34x34xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%none : tensor<?x1x8x34x34xf32>) -> tensor<?x1x8x34x34xf32>
  %padded = tensor.insert_slice %x into %zeros[0, 0, 0, 1, 1] [%n, 1, 8, 32, 32] [1, 1, 1, 1, 1]
      : tensor<?x1x8x32x32xf32> into tensor<?x1x8x34x34xf32>
  %empty = tensor.empty(%n) : tensor<?x1x16x32x32xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x1x16x32x32xf32>) -> tensor<?x1x16x32x32xf32>
  %y = linalg.generic {indexing_maps = [#image, #filter, #result],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%padded, %w : tensor<?x1x8x34x34xf32>, tensor<16x8x3x3xf32>)
      outs(%start : tensor<?x1x16x32x32xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b : f32
    %q = arith.addf %s, %p : f32
    linalg.yield %q : f32
  } -> tensor<?x1x16x32x32xf32>
  uprog.yield %y : tensor<?x1x16x32x32xf32>
}

// Columns are channels, so the loops over pixels are not merged. An image that is read in
// place is not copied. The loops of the reduction are in the order of the filter's dimensions.
#pixel = affine_map<(t, h, w, f, c, i, j) -> (t, h * 2 + i, w + j * 3, c)>
#weight = affine_map<(t, h, w, f, c, i, j) -> (i, j, c, f)>
#channels = affine_map<(t, h, w, f, c, i, j) -> (t, h, w, f)>
// CHECK-LABEL: uprog.operator @nhwc.rows
// CHECK-NOT:     linalg.copy
// CHECK:         linalg.generic {indexing_maps = [#[[PIXEL]], #[[WEIGHT]],
uprog.operator @nhwc.rows(%n: index, %x: tensor<?x9x9x8xf32> {uprog.operand = #uprog.operand<gather>},
                          %w: tensor<3x3x8x16xf32> {uprog.operand = #uprog.operand<shared(0)>}) -> tensor<?x4x3x16xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty(%n) : tensor<?x4x3x16xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x4x3x16xf32>) -> tensor<?x4x3x16xf32>
  %y = linalg.generic {indexing_maps = [#pixel, #weight, #channels],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%x, %w : tensor<?x9x9x8xf32>, tensor<3x3x8x16xf32>)
      outs(%start : tensor<?x4x3x16xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b : f32
    %q = arith.addf %s, %p : f32
    linalg.yield %q : f32
  } -> tensor<?x4x3x16xf32>
  uprog.yield %y : tensor<?x4x3x16xf32>
}

// Two poolings read one copy of a computed image, so neither computes the image again.
#cell = affine_map<(t, h, w, c, i, j) -> (t, h + i, w + j, c)>
#window = affine_map<(t, h, w, c, i, j) -> (i, j)>
#most = affine_map<(t, h, w, c, i, j) -> (t, h, w, c)>
// CHECK-LABEL: uprog.operator @pooling.rows
// CHECK:         %[[X:.*]] = arith.maximumf
// CHECK:         %[[IMAGE:.*]] = linalg.copy ins(%[[X]] :
// CHECK-NOT:     linalg.copy
// CHECK:         linalg.generic {{.*}} ins(%[[IMAGE]],
// CHECK:         linalg.generic {{.*}} ins(%[[IMAGE]],
uprog.operator @pooling.rows(%n: index, %x: tensor<?x9x9x8xf32> {uprog.operand = #uprog.operand<gather>})
    -> (tensor<?x8x8x8xf32>, tensor<?x8x8x8xf32>) {
  %zero = arith.constant 0.0 : f32
  %none = tensor.empty(%n) : tensor<?x9x9x8xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%none : tensor<?x9x9x8xf32>) -> tensor<?x9x9x8xf32>
  %relu = arith.maximumf %x, %zeros : tensor<?x9x9x8xf32>
  %two = tensor.empty() : tensor<2x2xf32>
  %empty = tensor.empty(%n) : tensor<?x8x8x8xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x8x8x8xf32>) -> tensor<?x8x8x8xf32>
  %m = linalg.generic {indexing_maps = [#cell, #window, #most],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]}
      ins(%relu, %two : tensor<?x9x9x8xf32>, tensor<2x2xf32>) outs(%start : tensor<?x8x8x8xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %q = arith.maximumf %s, %a : f32
    linalg.yield %q : f32
  } -> tensor<?x8x8x8xf32>
  %l = linalg.generic {indexing_maps = [#cell, #window, #most],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]}
      ins(%relu, %two : tensor<?x9x9x8xf32>, tensor<2x2xf32>) outs(%start : tensor<?x8x8x8xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %q = arith.minimumf %s, %a : f32
    linalg.yield %q : f32
  } -> tensor<?x8x8x8xf32>
  uprog.yield %m, %l : tensor<?x8x8x8xf32>, tensor<?x8x8x8xf32>
}

// A filter that differs between tasks has no panels, so the loops do not change.
#other = affine_map<(t, n, f, h, w, c, i, j) -> (t, f, c, i, j)>
// CHECK-LABEL: uprog.operator @own_filter.rows
// CHECK:         linalg.generic
// CHECK-NOT:     tensor.expand_shape
uprog.operator @own_filter.rows(%n: index, %x: tensor<?x1x8x34x34xf32> {uprog.operand = #uprog.operand<gather>},
                                %w: tensor<?x16x8x3x3xf32> {uprog.operand = #uprog.operand<gather>}) -> tensor<?x1x16x32x32xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty(%n) : tensor<?x1x16x32x32xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x1x16x32x32xf32>) -> tensor<?x1x16x32x32xf32>
  %y = linalg.generic {indexing_maps = [#image, #other, #result],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%x, %w : tensor<?x1x8x34x34xf32>, tensor<?x16x8x3x3xf32>)
      outs(%start : tensor<?x1x16x32x32xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b : f32
    %q = arith.addf %s, %p : f32
    linalg.yield %q : f32
  } -> tensor<?x1x16x32x32xf32>
  uprog.yield %y : tensor<?x1x16x32x32xf32>
}
