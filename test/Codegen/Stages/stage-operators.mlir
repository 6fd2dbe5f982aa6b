// RUN: batch-opt %s --uprog-stage-operators | FileCheck %s
// RUN: batch-opt %s --uprog-stage-operators | batch-opt | FileCheck %s
// RUN: batch-opt %s --uprog-stage-operators=vector-bits=256 | FileCheck %s --check-prefix=AVX2

#x = affine_map<(r, n, k) -> (r, k)>
#w = affine_map<(r, n, k) -> (n, k)>
#y = affine_map<(r, n, k) -> (r, n)>
#all = affine_map<(r, i) -> (r, i)>
#one = affine_map<(r, i) -> (r)>
#column = affine_map<(r, i) -> (i)>

// Elementwise ops after a contraction belong to the contraction's stage, because they
// read its result element by element.
// CHECK-LABEL: uprog.operator @fused.rows
// CHECK-SAME:    attributes {uprog.staging = #uprog.staging<cpu, vector_bits = 512, lanes = 16>}
// CHECK:         uprog.stage rows<tasks> shape [64]
// CHECK:           linalg.matmul
// CHECK:           math.tanh
// CHECK:           math.exp
// CHECK:           uprog.yield
// CHECK-NOT:     uprog.stage
// CHECK:         uprog.yield %{{.*}} : tensor<?x64xf32>
// AVX2-LABEL:  uprog.operator @fused.rows
// AVX2-SAME:     #uprog.staging<cpu, vector_bits = 256, lanes = 8>
uprog.operator @fused.rows(%n: index, %x: tensor<?x32xf32> {uprog.operand = #uprog.operand<gather>},
                           %w: tensor<64x32xf32> {uprog.operand = #uprog.operand<shared(0)>}) -> tensor<?x64xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty(%n) : tensor<?x64xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x64xf32>) -> tensor<?x64xf32>
  %p = linalg.matmul indexing_maps = [#x, #w, #y] ins(%x, %w : tensor<?x32xf32>, tensor<64x32xf32>)
      outs(%start : tensor<?x64xf32>) -> tensor<?x64xf32>
  %t = math.tanh %p : tensor<?x64xf32>
  %e = math.exp %t : tensor<?x64xf32>
  uprog.yield %e : tensor<?x64xf32>
}

// A reduction over a computed operand has an earlier stage for this operand.
// CHECK-LABEL: uprog.operator @split.rows
// CHECK:         %[[E:.*]] = uprog.stage rows<tasks> shape [64]
// CHECK:           math.exp
// CHECK:         uprog.stage rows<tasks> shape []
// CHECK:           linalg.generic
// CHECK-SAME:        ins(%[[E]] : tensor<?x64xf32>)
uprog.operator @split.rows(%n: index, %x: tensor<?x64xf32> {uprog.operand = #uprog.operand<gather>}) -> tensor<?xf32> {
  %zero = arith.constant 0.0 : f32
  %e = math.exp %x : tensor<?x64xf32>
  %empty = tensor.empty(%n) : tensor<?xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<?xf32>) -> tensor<?xf32>
  %s = linalg.generic {indexing_maps = [#all, #one], iterator_types = ["parallel", "reduction"]}
      ins(%e : tensor<?x64xf32>) outs(%start : tensor<?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %q = arith.addf %o, %a : f32
    linalg.yield %q : f32
  } -> tensor<?xf32>
  uprog.yield %s : tensor<?xf32>
}

// Values that a later stage reads and the operator does not yield are stored in scratch
// memory: 256 bytes per task, followed by the next value.
// CHECK-LABEL: uprog.operator @scratch.rows
// CHECK:         uprog.stage rows<tasks> shape [64]{{.*}} -> (tensor<?x64xf32>, tensor<?x64xf32> scratch 0, tensor<?x64xf32> scratch 256)
uprog.operator @scratch.rows(%n: index, %x: tensor<?x64xf32> {uprog.operand = #uprog.operand<gather>}) -> (tensor<?x64xf32>, tensor<?xf32>) {
  %zero = arith.constant 0.0 : f32
  %a = math.exp %x : tensor<?x64xf32>
  %b = math.tanh %x : tensor<?x64xf32>
  %c = math.sin %x : tensor<?x64xf32>
  %empty = tensor.empty(%n) : tensor<?xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<?xf32>) -> tensor<?xf32>
  %s = linalg.generic {indexing_maps = [#all, #all, #all, #one], iterator_types = ["parallel", "reduction"]}
      ins(%a, %b, %c : tensor<?x64xf32>, tensor<?x64xf32>, tensor<?x64xf32>) outs(%start : tensor<?xf32>) {
  ^bb0(%i: f32, %j: f32, %k: f32, %o: f32):
    %p = arith.mulf %i, %j : f32
    %q = arith.mulf %p, %k : f32
    %r = arith.addf %o, %q : f32
    linalg.yield %r : f32
  } -> tensor<?xf32>
  uprog.yield %a, %s : tensor<?x64xf32>, tensor<?xf32>
}

// Rows of a ragged operand have stages of their own domain.
// CHECK-LABEL: uprog.operator @ragged.rows
// CHECK:         uprog.stage rows<ragged(0)> shape [16] {{.*}}reads(%[[X:.*]] : tensor<?x16xf32>) -> (tensor<?x16xf32> scratch 0)
// CHECK:           math.exp %[[X]]
// CHECK:         uprog.stage rows<tasks> shape [16] {{.*}}-> (tensor<?x16xf32>)
// CHECK:           batch.segment_reduce
uprog.operator @ragged.rows(%n: index, %x: tensor<?x16xf32> {uprog.operand = #uprog.operand<gather ragged(0)>},
                            %offsets: tensor<?xindex> {uprog.operand = #uprog.operand<offsets(0)>}) -> tensor<?x16xf32> {
  %zero = arith.constant 0.0 : f32
  %e = math.exp %x : tensor<?x16xf32>
  %empty = tensor.empty(%n) : tensor<?x16xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x16xf32>) -> tensor<?x16xf32>
  %s = batch.segment_reduce add %e by %offsets into %start : tensor<?x16xf32>, tensor<?xindex>
  uprog.yield %s : tensor<?x16xf32>
}

// Values that depend only on parameters are computed once.
// CHECK-LABEL: uprog.operator @once.rows
// CHECK:         uprog.stage rows<once> shape [16] -> (tensor<16xf32> scratch 0)
// CHECK:           math.exp
// CHECK:         uprog.stage rows<tasks> shape [16]
uprog.operator @once.rows(%n: index, %x: tensor<?x16xf32> {uprog.operand = #uprog.operand<gather>},
                          %b: tensor<16xf32> {uprog.operand = #uprog.operand<shared(0)>}) -> tensor<?x16xf32> {
  %e = math.exp %b : tensor<16xf32>
  %empty = tensor.empty(%n) : tensor<?x16xf32>
  %y = linalg.generic {indexing_maps = [#all, #column, #all], iterator_types = ["parallel", "parallel"]}
      ins(%x, %e : tensor<?x16xf32>, tensor<16xf32>) outs(%empty : tensor<?x16xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %s = arith.addf %p, %q : f32
    linalg.yield %s : f32
  } -> tensor<?x16xf32>
  uprog.yield %y : tensor<?x16xf32>
}

// A parameter that is multiplied by all rows is packed in panels of two vectors
// when it is bound. Concatenated rows are read piece by piece.
// CHECK-LABEL: uprog.operator @packed.rows
// CHECK:         linalg.matmul
// CHECK-SAME:      uprog.reduction = #uprog.packed<breaks = [16], left = 0, panels = <parameters = [0], n = 64, k = 48, width = 32, transposed = true>>
// AVX2-LABEL:  uprog.operator @packed.rows
// AVX2:          width = 16
uprog.operator @packed.rows(%n: index, %x: tensor<?x16xf32> {uprog.operand = #uprog.operand<gather>},
                            %h: tensor<?x32xf32> {uprog.operand = #uprog.operand<gather>},
                            %w: tensor<64x48xf32> {uprog.operand = #uprog.operand<shared(0)>}) -> tensor<?x64xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty(%n) : tensor<?x64xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x64xf32>) -> tensor<?x64xf32>
  %xh = tensor.concat dim(1) %x, %h : (tensor<?x16xf32>, tensor<?x32xf32>) -> tensor<?x48xf32>
  %p = linalg.matmul indexing_maps = [#x, #w, #y] ins(%xh, %w : tensor<?x48xf32>, tensor<64x48xf32>)
      outs(%start : tensor<?x64xf32>) -> tensor<?x64xf32>
  uprog.yield %p : tensor<?x64xf32>
}

// A slice of a concatenation begins in the second piece and ends in the third. The
// second piece begins before the slice, and the third ends after it.
// CHECK-LABEL: uprog.operator @sliced.rows
// CHECK:         linalg.generic
// CHECK-SAME:      uprog.reduction = #uprog.reduced<lanes, breaks = [24]>
uprog.operator @sliced.rows(%n: index, %x: tensor<?x16xf32> {uprog.operand = #uprog.operand<gather>}, %h: tensor<?x32xf32> {uprog.operand = #uprog.operand<gather>}) -> tensor<?xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty(%n) : tensor<?xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<?xf32>) -> tensor<?xf32>
  %c = tensor.concat dim(1) %x, %h, %h, %x
      : (tensor<?x16xf32>, tensor<?x32xf32>, tensor<?x32xf32>, tensor<?x16xf32>) -> tensor<?x96xf32>
  %v = tensor.extract_slice %c[0, 24] [%n, 40] [1, 1] : tensor<?x96xf32> to tensor<?x40xf32>
  %s = linalg.generic {indexing_maps = [#all, #one], iterator_types = ["parallel", "reduction"]}
      ins(%v : tensor<?x40xf32>) outs(%start : tensor<?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %q = arith.addf %o, %a : f32
    linalg.yield %q : f32
  } -> tensor<?xf32>
  uprog.yield %s : tensor<?xf32>
}

// Matrices of the tasks are read in place.
// CHECK-LABEL: uprog.operator @lying.rows
// CHECK:         linalg.batch_matmul
// CHECK-SAME:      uprog.reduction = #uprog.in_place<left = 0, left_stride = 64, right_stride = 64>
uprog.operator @lying.rows(%n: index, %a: tensor<?x64x64xf32> {uprog.operand = #uprog.operand<gather>},
                           %b: tensor<?x64x64xf32> {uprog.operand = #uprog.operand<gather>}) -> tensor<?x64x64xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty(%n) : tensor<?x64x64xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x64x64xf32>) -> tensor<?x64x64xf32>
  %y = linalg.batch_matmul ins(%a, %b : tensor<?x64x64xf32>, tensor<?x64x64xf32>)
      outs(%start : tensor<?x64x64xf32>) -> tensor<?x64x64xf32>
  uprog.yield %y : tensor<?x64x64xf32>
}

// If there are no columns, vector lanes divide the reduced elements.
// CHECK-LABEL: uprog.operator @dot.rows
// CHECK:         linalg.generic
// CHECK-SAME:      uprog.reduction = #uprog.reduced<lanes>
uprog.operator @dot.rows(%n: index, %x: tensor<?x64xf32> {uprog.operand = #uprog.operand<gather>},
                         %y: tensor<?x64xf32> {uprog.operand = #uprog.operand<gather>}) -> tensor<?xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty(%n) : tensor<?xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<?xf32>) -> tensor<?xf32>
  %s = linalg.generic {indexing_maps = [#all, #all, #one], iterator_types = ["parallel", "reduction"]}
      ins(%x, %y : tensor<?x64xf32>, tensor<?x64xf32>) outs(%start : tensor<?xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    %q = arith.addf %o, %p : f32
    linalg.yield %q : f32
  } -> tensor<?xf32>
  uprog.yield %s : tensor<?xf32>
}

// A view has no stage. Each stage that reads the view contains a copy of the view,
// and reads the source of the view.
// CHECK-LABEL: uprog.operator @viewed.rows
// CHECK:         uprog.stage rows<tasks> shape [16] {{.*}}reads(%[[X:.*]] : tensor<?x64xf32>)
// CHECK-NEXT:      tensor.extract_slice %[[X]]
// CHECK-NEXT:      math.exp
// CHECK:         uprog.stage rows<tasks> shape [] {{.*}}reads(%[[X]] : tensor<?x64xf32>)
// CHECK:           tensor.extract_slice %[[X]]
// CHECK:           linalg.generic
uprog.operator @viewed.rows(%n: index, %x: tensor<?x64xf32> {uprog.operand = #uprog.operand<gather>}) -> (tensor<?x16xf32>, tensor<?xf32>) {
  %zero = arith.constant 0.0 : f32
  %v = tensor.extract_slice %x[0, 16] [%n, 16] [1, 1] : tensor<?x64xf32> to tensor<?x16xf32>
  %e = math.exp %v : tensor<?x16xf32>
  %empty = tensor.empty(%n) : tensor<?xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<?xf32>) -> tensor<?xf32>
  %s = linalg.generic {indexing_maps = [#all, #one], iterator_types = ["parallel", "reduction"]}
      ins(%v : tensor<?x16xf32>) outs(%start : tensor<?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %q = arith.maximumf %o, %a : f32
    linalg.yield %q : f32
  } -> tensor<?xf32>
  uprog.yield %e, %s : tensor<?x16xf32>, tensor<?xf32>
}

// If vectors would load elements at a stride, elements are computed one at a time.
// CHECK-LABEL: uprog.operator @scalar.rows
// CHECK:         uprog.stage rows<tasks> shape [16] {{.*}}scalar
uprog.operator @scalar.rows(%n: index, %x: tensor<?x64xf32> {uprog.operand = #uprog.operand<gather>}) -> tensor<?x16xf32> {
  %v = tensor.extract_slice %x[0, 0] [%n, 16] [1, 4] : tensor<?x64xf32> to tensor<?x16xf32>
  %e = math.exp %v : tensor<?x16xf32>
  uprog.yield %e : tensor<?x16xf32>
}

// Existing stages remain unchanged.
// CHECK-LABEL: uprog.operator @staged.rows
// CHECK-SAME:    attributes {uprog.staging = #uprog.staging<cpu, vector_bits = 128, lanes = 4>}
uprog.operator @staged.rows(%n: index, %x: tensor<?x16xf32> {uprog.operand = #uprog.operand<gather>}) -> tensor<?x16xf32>
    attributes {uprog.staging = #uprog.staging<cpu, vector_bits = 128, lanes = 4>} {
  %0 = uprog.stage rows<tasks> shape [16] reads(%x : tensor<?x16xf32>) -> (tensor<?x16xf32>) {
    %e = math.exp %x : tensor<?x16xf32>
    uprog.yield %e : tensor<?x16xf32>
  }
  uprog.yield %0 : tensor<?x16xf32>
}

// A stage copies the operand if the result has a row of its own. Reads of the old row come
// before the stages that insert, and reads of the new row after them. A slice of the old
// row that is also a result is stored first.
// CHECK-LABEL: uprog.operator @insert.rows(
// CHECK-SAME:    %[[N:[a-z0-9]*]]: index, %[[X:[a-z0-9]*]]: tensor<?x6x4xf32>
// CHECK:         %[[OLD:.*]] = uprog.stage rows<tasks> shape [4]
// CHECK-SAME:        -> (tensor<?x4xf32>)
// CHECK:           tensor.extract_slice %[[X]][0, 1, 0]
// CHECK:         %[[COPY:.*]] = uprog.stage rows<tasks> shape [6, 4] {{.*}}-> (tensor<?x6x4xf32>) {
// CHECK-NEXT:      uprog.yield %[[X]]
// CHECK:         %[[ONE:.*]] = uprog.stage rows<tasks> shape [4]
// CHECK-SAME:        -> (tensor<?x6x4xf32>)
// CHECK:           %[[P:.*]] = linalg.generic
// CHECK:             cf.assert
// CHECK:           %[[IN:.*]] = uprog.insert %{{.*}} into %[[COPY]] [%[[P]], 0]
// CHECK:           uprog.yield %[[IN]]
// Columns of a row that are not next to each other are written one at a time.
// CHECK:         %[[TWO:.*]] = uprog.stage rows<tasks> shape [4] {{.*}}scalar
// CHECK:           uprog.insert %{{.*}} into %[[ONE]] [1, %{{.*}}]
// CHECK:         %[[NEW:.*]] = uprog.stage rows<tasks> shape [4]
// CHECK:           tensor.extract_slice %[[TWO]][0, 2, 0]
// CHECK:         uprog.yield %[[TWO]], %[[OLD]], %[[NEW]]
uprog.operator @insert.rows(
    %n: index, %x: tensor<?x6x4xf32> {uprog.operand = #uprog.operand<gather>},
    %r: tensor<?x4xf32> {uprog.operand = #uprog.operand<gather>},
    %i: tensor<?xindex> {uprog.operand = #uprog.operand<scalar>})
    -> (tensor<?x6x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %empty = tensor.empty(%n) : tensor<?xindex>
  %old = tensor.extract_slice %x[0, 1, 0] [%n, 1, 4] [1, 1, 1] : tensor<?x6x4xf32> to tensor<?x4xf32>
  %p = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%i : tensor<?xindex>) outs(%empty : tensor<?xindex>) {
  ^bb0(%q: index, %o: index):
    %in = arith.cmpi ult, %q, %c4 : index
    cf.assert %in, "dimension 0 of a tensor"
    %own = arith.select %in, %q, %c0 : index
    linalg.yield %own : index
  } -> tensor<?xindex>
  %one = uprog.insert %r into %x [%p, 0] sizes [1, 4] strides [1, 1] : tensor<?x4xf32> into tensor<?x6x4xf32>
  %two = uprog.insert %r into %one [1, %p] sizes [4, 1] strides [1, 1] : tensor<?x4xf32> into tensor<?x6x4xf32>
  %new = tensor.extract_slice %two[0, 2, 0] [%n, 1, 4] [1, 1, 1] : tensor<?x6x4xf32> to tensor<?x4xf32>
  uprog.yield %two, %old, %new : tensor<?x6x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>
}

#xl = affine_map<(r, n, k) -> (r, k)>
#wl = affine_map<(r, n, k) -> (k, n)>
#tl = affine_map<(r, n, k) -> (n, k)>
#yl = affine_map<(r, n, k) -> (r, n)>

// A product with one matrix of a parameter reads the panels of this matrix. The
// matrix may be transposed, and the product may read only some rows of the matrix.
// CHECK-LABEL: uprog.operator @layers.rows
// CHECK:         uprog.reduction = #uprog.packed<left = 0, panels = <parameters = [0], extents = [2, 4, 48, 64], order = [0, 1, 2, 3], n = 64, k = 48, width = 32>, first_group = 6>
// CHECK:         uprog.reduction = #uprog.packed<left = 0, panels = <parameters = [1], extents = [4, 64, 64], order = [0, 2, 1], n = 64, k = 64, width = 32>, first_group = 3, k_offset = 16>
uprog.operator @layers.rows(%n: index, %x: tensor<?x48xf32> {uprog.operand = #uprog.operand<gather>},
                            %w: tensor<2x4x48x64xf32> {uprog.operand = #uprog.operand<shared(0)>},
                            %t: tensor<4x64x64xf32> {uprog.operand = #uprog.operand<shared(1)>})
    -> (tensor<?x64xf32>, tensor<?x64xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty(%n) : tensor<?x64xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<?x64xf32>) -> tensor<?x64xf32>
  %w6 = tensor.extract_slice %w[1, 2, 0, 0] [1, 1, 48, 64] [1, 1, 1, 1] : tensor<2x4x48x64xf32> to tensor<48x64xf32>
  %a = linalg.generic {indexing_maps = [#xl, #wl, #yl], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w6 : tensor<?x48xf32>, tensor<48x64xf32>) outs(%z : tensor<?x64xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %m = arith.mulf %p, %q : f32
    %s = arith.addf %o, %m : f32
    linalg.yield %s : f32
  } -> tensor<?x64xf32>
  %t3 = tensor.extract_slice %t[3, 0, 16] [1, 64, 48] [1, 1, 1] : tensor<4x64x64xf32> to tensor<64x48xf32>
  %b = linalg.generic {indexing_maps = [#xl, #tl, #yl], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %t3 : tensor<?x48xf32>, tensor<64x48xf32>) outs(%z : tensor<?x64xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %m = arith.mulf %p, %q : f32
    %s = arith.addf %o, %m : f32
    linalg.yield %s : f32
  } -> tensor<?x64xf32>
  uprog.yield %a, %b : tensor<?x64xf32>, tensor<?x64xf32>
}

#x3 = affine_map<(r, h, i, n, k) -> (r, i, k)>
#w3 = affine_map<(r, h, i, n, k) -> (h, n, k)>
#y3 = affine_map<(r, h, i, n, k) -> (r, h, i, n)>
#k3 = affine_map<(r, h, i, n, k) -> (r, h, n, k)>
#q3 = affine_map<(r, h, i, n, k) -> (r, h, i, k)>
#c2 = affine_map<(r, i, n, h, k) -> (r, h, i, k)>
#w2 = affine_map<(r, i, n, h, k) -> (h, k, n)>
#y2 = affine_map<(r, i, n, h, k) -> (r, i, n)>

// A parameter with a matrix for each head is packed in panels of all heads. In
// a product of activations, an operand whose columns are rows in memory is
// copied. Sums over heads also use tiles.
// CHECK-LABEL: uprog.operator @heads.rows
// CHECK:         uprog.stage rows<tasks> shape [4, 16, 64]
// CHECK:           uprog.reduction = #uprog.packed<groups = [0], left = 0, panels = <parameters = [0], extents = [4, 64, 48], order = [0, 2, 1], n = 64, k = 48, width = 32>>
// CHECK:         uprog.stage rows<tasks> shape [4, 16, 16]
// CHECK:           uprog.reduction = #uprog.copied<groups = [0], left = 0, transposed = true>
// CHECK:         uprog.stage rows<tasks> shape [16, 32]
// CHECK:           uprog.reduction = #uprog.packed<left = 0, panels = <parameters = [1], extents = [4, 16, 32], order = [0, 1, 2], n = 32, k = 64, width = 32>>
uprog.operator @heads.rows(%n: index, %x: tensor<?x16x48xf32> {uprog.operand = #uprog.operand<gather>},
                           %w: tensor<4x64x48xf32> {uprog.operand = #uprog.operand<shared(0)>},
                           %o: tensor<4x16x32xf32> {uprog.operand = #uprog.operand<shared(1)>}) -> tensor<?x16x32xf32> {
  %zero = arith.constant 0.0 : f32
  %e1 = tensor.empty(%n) : tensor<?x4x16x64xf32>
  %s1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<?x4x16x64xf32>) -> tensor<?x4x16x64xf32>
  %q = linalg.generic {indexing_maps = [#x3, #w3, #y3],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<?x16x48xf32>, tensor<4x64x48xf32>) outs(%s1 : tensor<?x4x16x64xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  } -> tensor<?x4x16x64xf32>
  %e2 = tensor.empty(%n) : tensor<?x4x16x16xf32>
  %s2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<?x4x16x16xf32>) -> tensor<?x4x16x16xf32>
  %qk = linalg.generic {indexing_maps = [#q3, #k3, #y3],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
      ins(%q, %q : tensor<?x4x16x64xf32>, tensor<?x4x16x64xf32>) outs(%s2 : tensor<?x4x16x16xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  } -> tensor<?x4x16x16xf32>
  %e3 = tensor.empty(%n) : tensor<?x16x32xf32>
  %s3 = linalg.fill ins(%zero : f32) outs(%e3 : tensor<?x16x32xf32>) -> tensor<?x16x32xf32>
  %y = linalg.generic {indexing_maps = [#c2, #w2, #y2],
      iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]}
      ins(%qk, %o : tensor<?x4x16x16xf32>, tensor<4x16x32xf32>) outs(%s3 : tensor<?x16x32xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  } -> tensor<?x16x32xf32>
  uprog.yield %y : tensor<?x16x32xf32>
}

// All lanes search for the largest element, or for the first of several equal ones.
// CHECK-LABEL: uprog.operator @largest.rows
// CHECK:           uprog.reduction = #uprog.reduced<lanes>
uprog.operator @largest.rows(%n: index, %x: tensor<?x64xf32> {uprog.operand = #uprog.operand<gather>}) -> (tensor<?xf32>, tensor<?xi32>) {
  %low = arith.constant 0xFF800000 : f32
  %none = arith.constant -1 : i32
  %e = tensor.empty(%n) : tensor<?xf32>
  %f = tensor.empty(%n) : tensor<?xi32>
  %s = linalg.fill ins(%low : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %t = linalg.fill ins(%none : i32) outs(%f : tensor<?xi32>) -> tensor<?xi32>
  %m:2 = linalg.generic {indexing_maps = [#all, #one, #one], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<?x64xf32>) outs(%s, %t : tensor<?xf32>, tensor<?xi32>) {
  ^bb0(%a: f32, %best: f32, %at: i32):
    %i = linalg.index 1 : index
    %c = arith.index_cast %i : index to i32
    %is = arith.cmpf ogt, %a, %best : f32
    %b = arith.select %is, %a, %best : f32
    %p = arith.select %is, %c, %at : i32
    linalg.yield %b, %p : f32, i32
  } -> (tensor<?xf32>, tensor<?xi32>)
  uprog.yield %m#0, %m#1 : tensor<?xf32>, tensor<?xi32>
}

// If the last of equal elements counts, order matters, so the reduction is sequential.
// CHECK-LABEL: uprog.operator @last.rows
// CHECK:           uprog.reduction = #uprog.reduced<sequential>
uprog.operator @last.rows(%n: index, %x: tensor<?x64xf32> {uprog.operand = #uprog.operand<gather>}) -> (tensor<?xf32>, tensor<?xi32>) {
  %low = arith.constant 0xFF800000 : f32
  %none = arith.constant -1 : i32
  %e = tensor.empty(%n) : tensor<?xf32>
  %f = tensor.empty(%n) : tensor<?xi32>
  %s = linalg.fill ins(%low : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %t = linalg.fill ins(%none : i32) outs(%f : tensor<?xi32>) -> tensor<?xi32>
  %m:2 = linalg.generic {indexing_maps = [#all, #one, #one], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<?x64xf32>) outs(%s, %t : tensor<?xf32>, tensor<?xi32>) {
  ^bb0(%a: f32, %best: f32, %at: i32):
    %i = linalg.index 1 : index
    %c = arith.index_cast %i : index to i32
    %is = arith.cmpf oge, %a, %best : f32
    %b = arith.select %is, %a, %best : f32
    %p = arith.select %is, %c, %at : i32
    linalg.yield %b, %p : f32, i32
  } -> (tensor<?xf32>, tensor<?xi32>)
  uprog.yield %m#0, %m#1 : tensor<?xf32>, tensor<?xi32>
}
