// RUN: batch-opt %s --uprog-stage-operators | FileCheck %s
// RUN: batch-opt %s --uprog-stage-operators --convert-operators-to-cpu | FileCheck %s --check-prefix=CPU

#image = affine_map<(t, f, p, c, i, j) -> (t, c, p floordiv 14 + i, p mod 14 + j)>
#filter = affine_map<(t, f, p, c, i, j) -> (f, c, i, j)>
#result = affine_map<(t, f, p, c, i, j) -> (t, f, p)>

// The columns of the product are pixels, and its left factor is the filter as it is stored.
// The image is packed line by line, in masked vectors that store no element of another line.
// CHECK-LABEL: uprog.operator @pixels.rows
// CHECK:         uprog.reduction = #uprog.gathered<left = 1, panels = <parameters = [0], n = 64, k = 288, width = 1, transposed = true>, left_stride = 288, run = 14>
// CPU-LABEL:   func.func private @pixels.rows.stage0
// CPU:           llvm.intr.masked.load
// CPU:           llvm.intr.masked.store
// CPU:           call @batch.tiles.v2.a288.b32.c144.near(
uprog.operator @pixels.rows(%n: index, %x: tensor<?x32x16x16xf32> {uprog.operand = #uprog.operand<gather>},
                            %w: tensor<64x32x3x3xf32> {uprog.operand = #uprog.operand<shared(0)>}) -> tensor<?x64x196xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty(%n) : tensor<?x64x196xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x64x196xf32>) -> tensor<?x64x196xf32>
  %y = linalg.generic {indexing_maps = [#image, #filter, #result],
      iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%x, %w : tensor<?x32x16x16xf32>, tensor<64x32x3x3xf32>) outs(%start : tensor<?x64x196xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b : f32
    %q = arith.addf %s, %p : f32
    linalg.yield %q : f32
  } -> tensor<?x64x196xf32>
  uprog.yield %y : tensor<?x64x196xf32>
}

// In the filter, rows of the two groups alternate, so the distance between rows of a group is 24.
#groups = affine_map<(t, g, f, p, c, i) -> (t, g, c, p + i)>
#grouped = affine_map<(t, g, f, p, c, i) -> (f, g, c, i)>
#parts = affine_map<(t, g, f, p, c, i) -> (t, g, f, p)>
// CHECK-LABEL: uprog.operator @groups.rows
// CHECK:         #uprog.gathered<left = 1, panels = <parameters = [0], n = 10, k = 12, width = 1, transposed = true>, left_stride = 24, run = 30>
uprog.operator @groups.rows(%n: index, %x: tensor<?x2x4x32xf32> {uprog.operand = #uprog.operand<gather>},
                            %w: tensor<5x2x4x3xf32> {uprog.operand = #uprog.operand<shared(0)>}) -> tensor<?x2x5x30xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty(%n) : tensor<?x2x5x30xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x2x5x30xf32>) -> tensor<?x2x5x30xf32>
  %y = linalg.generic {indexing_maps = [#groups, #grouped, #parts],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]}
      ins(%x, %w : tensor<?x2x4x32xf32>, tensor<5x2x4x3xf32>) outs(%start : tensor<?x2x5x30xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b : f32
    %q = arith.addf %s, %p : f32
    linalg.yield %q : f32
  } -> tensor<?x2x5x30xf32>
  uprog.yield %y : tensor<?x2x5x30xf32>
}

// The columns of the product are channels, the last dimension of the filter. The
// filter is packed in panels, as a matrix of 3 * 3 * 8 rows.
#pixel = affine_map<(t, h, w, f, i, j, c) -> (t, h + i, w + j, c)>
#weight = affine_map<(t, h, w, f, i, j, c) -> (i, j, c, f)>
#channels = affine_map<(t, h, w, f, i, j, c) -> (t, h, w, f)>
// CHECK-LABEL: uprog.operator @channels.rows
// CHECK:         uprog.reduction = #uprog.packed<left = 0, panels = <parameters = [0], extents = [3, 3, 8, 64], order = [0, 1, 2, 3], n = 64, k = 72, width = 32>>
// CPU-LABEL:   func.func private @channels.rows.stage0
// CPU:           call @batch.tiles.v2
uprog.operator @channels.rows(%n: index, %x: tensor<?x9x9x8xf32> {uprog.operand = #uprog.operand<gather>},
                              %w: tensor<3x3x8x64xf32> {uprog.operand = #uprog.operand<shared(0)>}) -> tensor<?x7x7x64xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty(%n) : tensor<?x7x7x64xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x7x7x64xf32>) -> tensor<?x7x7x64xf32>
  %y = linalg.generic {indexing_maps = [#pixel, #weight, #channels],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%x, %w : tensor<?x9x9x8xf32>, tensor<3x3x8x64xf32>) outs(%start : tensor<?x7x7x64xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b : f32
    %q = arith.addf %s, %p : f32
    linalg.yield %q : f32
  } -> tensor<?x7x7x64xf32>
  uprog.yield %y : tensor<?x7x7x64xf32>
}

// A padded image is copied in vectors that may contain both padding and elements of the image.
// CPU-LABEL:   func.func private @padded.rows.stage0
// CPU:           %[[LOADED:.*]] = llvm.intr.masked.load
// CPU:           arith.select %{{.*}}, %[[LOADED]], %{{.*}} : vector<16xi1>, vector<16xf32>
uprog.operator @padded.rows(%n: index, %x: tensor<?x8x8xf32> {uprog.operand = #uprog.operand<gather>}) -> tensor<?x10x10xf32> {
  %zero = arith.constant 0.0 : f32
  %none = tensor.empty(%n) : tensor<?x10x10xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%none : tensor<?x10x10xf32>) -> tensor<?x10x10xf32>
  %padded = tensor.insert_slice %x into %zeros[0, 1, 1] [%n, 8, 8] [1, 1, 1] : tensor<?x8x8xf32> into tensor<?x10x10xf32>
  %copy = linalg.copy ins(%padded : tensor<?x10x10xf32>) outs(%none : tensor<?x10x10xf32>) -> tensor<?x10x10xf32>
  uprog.yield %copy : tensor<?x10x10xf32>
}
