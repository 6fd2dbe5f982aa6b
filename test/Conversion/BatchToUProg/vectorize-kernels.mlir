// RUN: batch-opt %s --batch-vectorize-kernels --split-input-file -o %t.1
// RUN: FileCheck %s < %t.1
// RUN: batch-opt %s --batch-vectorize-kernels --split-input-file -o %t.2
// RUN: cmp %t.1 %t.2

// A leaf without recursion. The parameter is stored as [out, in] and read
// transposed in place, a bias is repeated for each task, and constants become
// fills. Each operand gets an attribute that specifies how it is read.
// CHECK-DAG:   #[[ROW:.*]] = affine_map<(d0, d1, d2) -> (d0, d2)>
// CHECK-DAG:   #[[TRANSPOSED:.*]] = affine_map<(d0, d1, d2) -> (d1, d2)>
// CHECK-DAG:   #[[OUT:.*]] = affine_map<(d0, d1, d2) -> (d0, d1)>
// CHECK-LABEL: uprog.operator @leaf.rows
// CHECK-SAME:    %[[N:[a-z0-9]*]]: index, %[[X:[a-z0-9]*]]: tensor<?x4xf32> {uprog.operand = #uprog.operand<gather>},
// CHECK-SAME:    %[[W:[a-z0-9]*]]: tensor<8x4xf32> {uprog.operand = #uprog.operand<shared(0)>},
// CHECK-SAME:    %[[B:[a-z0-9]*]]: tensor<8xf32> {uprog.operand = #uprog.operand<shared(1)>}
// CHECK-SAME:    -> (tensor<?x8xf32>, tensor<?x8xf32>)
batch.kernel @leaf(%x: tensor<4xf32>,
                   %w: tensor<8x4xf32> {batch.parameter = 0 : i64, batch.shared},
                   %b: tensor<8xf32> {batch.parameter = 1 : i64, batch.shared})
    -> (tensor<8xf32>, tensor<8xf32>) {
  // CHECK: %[[E0:.*]] = tensor.empty(%[[N]]) : tensor<?x8xf32>
  // CHECK: %[[BIAS:.*]] = linalg.broadcast ins(%[[B]] : tensor<8xf32>) outs(%[[E0]] : tensor<?x8xf32>) dimensions = [0]
  // CHECK: %[[Y:.*]] = linalg.matmul indexing_maps = [#[[ROW]], #[[TRANSPOSED]], #[[OUT]]]
  // CHECK-SAME: ins(%[[X]], %[[W]] : tensor<?x4xf32>, tensor<8x4xf32>) outs(%[[BIAS]] : tensor<?x8xf32>)
  %y = linalg.matvec ins(%w, %x : tensor<8x4xf32>, tensor<4xf32>)
                     outs(%b : tensor<8xf32>) -> tensor<8xf32>
  // CHECK: %[[T:.*]] = math.tanh %[[Y]] : tensor<?x8xf32>
  %t = math.tanh %y : tensor<8xf32>
  // CHECK: %[[ZERO:.*]] = arith.constant 0.000000e+00 : f32
  // CHECK: %[[FILL:.*]] = linalg.fill ins(%[[ZERO]] : f32) outs(%{{.*}} : tensor<?x8xf32>)
  %zero = arith.constant dense<0.0> : tensor<8xf32>
  // CHECK: %[[R:.*]] = arith.maximumf %[[T]], %[[FILL]] : tensor<?x8xf32>
  %r = arith.maximumf %t, %zero : tensor<8xf32>
  // CHECK: uprog.yield %[[T]], %[[R]]
  batch.yield %t, %r : tensor<8xf32>, tensor<8xf32>
}

// -----

// The inner cell of the N-ary TreeLSTM. Children are concatenated along the
// second dimension, and the elementwise code of the gates gets one more parallel loop.
// CHECK-DAG:   #[[ID:.*]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-DAG:   #[[SHARED:.*]] = affine_map<(d0, d1) -> (d1)>
// CHECK-LABEL: uprog.operator @node.rows
// CHECK-SAME:    %[[N:[a-z0-9]*]]: index, %[[HL:[a-z0-9]*]]: tensor<?x4xf32> {uprog.operand = #uprog.operand<gather>}, %[[HR:[a-z0-9]*]]: tensor<?x4xf32> {uprog.operand = #uprog.operand<gather>},
// CHECK-SAME:    %[[CL:[a-z0-9]*]]: tensor<?x4xf32> {uprog.operand = #uprog.operand<gather>},
#id = affine_map<(d0) -> (d0)>
batch.kernel @node(%hl: tensor<4xf32>, %hr: tensor<4xf32>, %cl: tensor<4xf32>,
                   %u: tensor<4x8xf32> {batch.parameter = 0 : i64, batch.shared},
                   %uf: tensor<4x4xf32> {batch.parameter = 1 : i64, batch.shared},
                   %b: tensor<4xf32> {batch.parameter = 2 : i64, batch.shared}) -> tensor<4xf32> {
  // CHECK: %[[CHILDREN:.*]] = tensor.concat dim(1) %[[HL]], %[[HR]] : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x8xf32>
  %e = tensor.concat dim(0) %hl, %hr
    : (tensor<4xf32>, tensor<4xf32>) -> tensor<8xf32>
  %init = tensor.empty() : tensor<4xf32>
  %zero = arith.constant 0.0 : f32
  // CHECK: %[[C0:.*]] = arith.constant 0.000000e+00 : f32
  // CHECK: %[[ACC:.*]] = linalg.fill ins(%[[C0]] : f32) outs(%{{.*}} : tensor<?x4xf32>)
  %acc = linalg.fill ins(%zero : f32) outs(%init : tensor<4xf32>) -> tensor<4xf32>
  // CHECK: %[[I:.*]] = linalg.matmul {{.*}} ins(%[[CHILDREN]], %{{.*}} : tensor<?x8xf32>, tensor<4x8xf32>) outs(%[[ACC]] : tensor<?x4xf32>)
  %i = linalg.matvec ins(%u, %e : tensor<4x8xf32>, tensor<8xf32>)
                     outs(%acc : tensor<4xf32>) -> tensor<4xf32>
  // Both products start from the same repeated accumulator.
  // CHECK-NOT: linalg.fill
  // CHECK: %[[F:.*]] = linalg.matmul {{.*}} ins(%[[HL]], %{{.*}} : tensor<?x4xf32>, tensor<4x4xf32>) outs(%[[ACC]] : tensor<?x4xf32>)
  %f = linalg.matvec ins(%uf, %hl : tensor<4x4xf32>, tensor<4xf32>)
                     outs(%acc : tensor<4xf32>) -> tensor<4xf32>
  // An initial value that the body does not read is not repeated. The map
  // of the shared bias does not use the index of the row.
  // CHECK: %[[EMPTY:.*]] = tensor.empty(%[[N]]) : tensor<?x4xf32>
  // CHECK: %[[C:.*]] = linalg.generic {indexing_maps = [#[[ID]], #[[ID]], #[[ID]], #[[SHARED]], #[[ID]]], iterator_types = ["parallel", "parallel"]}
  // CHECK-SAME: ins(%[[I]], %[[F]], %[[CL]], %{{.*}} : tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<4xf32>) outs(%[[EMPTY]] : tensor<?x4xf32>)
  %c = linalg.generic {indexing_maps = [#id, #id, #id, #id, #id],
                       iterator_types = ["parallel"]}
      ins(%i, %f, %cl, %b : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
      outs(%init : tensor<4xf32>) {
  ^bb0(%x0: f32, %x1: f32, %x2: f32, %x3: f32, %out: f32):
    %0 = arith.addf %x0, %x3 : f32
    %1 = math.fma %x1, %x2, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<4xf32>
  batch.yield %c : tensor<4xf32>
}

// -----

// The child-sum cell, whose children are ragged rows. Sums over them are
// segment reductions. The forget gates' matrix product is dense over all rows.
// Values that are equal for all children of a node are repeated for each child.
// The sum of products is a product on rows and a reduction. Both ragged
// arguments are combined elementwise, so they share their domain.
// CHECK-LABEL: uprog.operator @childsum.rows
// CHECK-SAME:    %[[N:[a-z0-9]*]]: index, %[[X:[a-z0-9]*]]: tensor<?x4xf32> {uprog.operand = #uprog.operand<gather>},
// CHECK-SAME:    %[[HS:[a-z0-9]*]]: tensor<?x4xf32> {uprog.operand = #uprog.operand<rows ragged(0)>},
// CHECK-SAME:    %[[CS:[a-z0-9]*]]: tensor<?x4xf32> {uprog.operand = #uprog.operand<rows ragged(0)>},
// CHECK-SAME:    %[[U:[a-z0-9]*]]: tensor<4x4xf32> {uprog.operand = #uprog.operand<shared(0)>},
// CHECK-SAME:    %[[O:[a-z0-9]*]]: tensor<?xindex> {uprog.operand = #uprog.operand<offsets(0)>}
#row = affine_map<(d0, d1) -> (d0, d1)>
#col = affine_map<(d0, d1) -> (d1)>
batch.kernel @childsum(%x: tensor<4xf32>, %hs: tensor<?x4xf32>,
                       %cs: tensor<?x4xf32>, %u: tensor<4x4xf32> {batch.parameter = 0 : i64, batch.shared})
    -> (tensor<4xf32>, tensor<4xf32>) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4xf32>
  %acc = linalg.fill ins(%zero : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  // CHECK: %[[ACC:.*]] = linalg.fill ins({{.*}}) outs(%{{.*}} : tensor<?x4xf32>)
  // CHECK: %[[S:.*]] = batch.segment_reduce add %[[HS]] by %[[O]] into %[[ACC]] : tensor<?x4xf32>, tensor<?xindex>
  %s = linalg.reduce { arith.addf } ins(%hs : tensor<?x4xf32>)
                                    outs(%acc : tensor<4xf32>) dimensions = [0]
  %extent = tensor.dim %hs, %c0 : tensor<?x4xf32>
  %es = tensor.empty(%extent) : tensor<?x4xf32>
  // CHECK: %[[ROWS:.*]] = tensor.dim %[[HS]], %{{.*}} : tensor<?x4xf32>
  // CHECK: %[[ES:.*]] = tensor.empty(%[[ROWS]]) : tensor<?x4xf32>
  // CHECK: %[[ACCS:.*]] = linalg.fill ins({{.*}}) outs(%[[ES]] : tensor<?x4xf32>)
  %accs = linalg.fill ins(%zero : f32) outs(%es : tensor<?x4xf32>) -> tensor<?x4xf32>
  // CHECK: %[[UH:.*]] = linalg.matmul ins(%[[HS]], %[[U]] : tensor<?x4xf32>, tensor<4x4xf32>) outs(%[[ACCS]] : tensor<?x4xf32>)
  %uh = linalg.matmul ins(%hs, %u : tensor<?x4xf32>, tensor<4x4xf32>)
                      outs(%accs : tensor<?x4xf32>) -> tensor<?x4xf32>
  // CHECK: %[[XS:.*]] = batch.segment_broadcast %[[X]] by %[[O]] : tensor<?x4xf32>, tensor<?xindex>
  // CHECK: %[[F:.*]] = linalg.generic {{.*}} ins(%[[UH]], %[[XS]] : tensor<?x4xf32>, tensor<?x4xf32>) outs(%[[ES]] : tensor<?x4xf32>)
  %f = linalg.generic {indexing_maps = [#row, #col, #row],
                       iterator_types = ["parallel", "parallel"]}
      ins(%uh, %x : tensor<?x4xf32>, tensor<4xf32>) outs(%es : tensor<?x4xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %0 = arith.addf %a, %b : f32
    linalg.yield %0 : f32
  } -> tensor<?x4xf32>
  // CHECK: %[[FC:.*]] = linalg.generic {{.*}}iterator_types = ["parallel", "parallel"]} ins(%[[F]], %[[CS]] : tensor<?x4xf32>, tensor<?x4xf32>)
  // CHECK:   %[[P:.*]] = arith.mulf
  // CHECK-NEXT: linalg.yield %[[P]] : f32
  // CHECK: %[[C:.*]] = batch.segment_reduce add %[[FC]] by %[[O]] into %[[S]] : tensor<?x4xf32>, tensor<?xindex>
  %c = linalg.generic {indexing_maps = [#row, #row, #col],
                       iterator_types = ["reduction", "parallel"]}
      ins(%f, %cs : tensor<?x4xf32>, tensor<?x4xf32>) outs(%s : tensor<4xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %0 = math.fma %a, %b, %out : f32
    linalg.yield %0 : f32
  } -> tensor<4xf32>
  // CHECK: uprog.yield %[[S]], %[[C]]
  batch.yield %s, %c : tensor<4xf32>, tensor<4xf32>
}

// -----

// Ragged arguments that no op combines have separate domains, in the order of the
// arguments. Per-child gates with a matrix stored as [out, in] are one product
// over all rows, even if rows are the last dimension in the kernel.
// CHECK-LABEL: uprog.operator @two_domains.rows
// CHECK-SAME:    %[[A:[a-z0-9]*]]: tensor<?x4xf32> {uprog.operand = #uprog.operand<rows ragged(0)>},
// CHECK-SAME:    %[[B:[a-z0-9]*]]: tensor<?x4xf32> {uprog.operand = #uprog.operand<rows ragged(1)>},
// CHECK-SAME:    %[[U:[a-z0-9]*]]: tensor<4x4xf32> {uprog.operand = #uprog.operand<shared(0)>},
// CHECK-SAME:    %[[OA:[a-z0-9]*]]: tensor<?xindex> {uprog.operand = #uprog.operand<offsets(0)>},
// CHECK-SAME:    %[[OB:[a-z0-9]*]]: tensor<?xindex> {uprog.operand = #uprog.operand<offsets(1)>}
batch.kernel @two_domains(%a: tensor<?x4xf32>, %b: tensor<?x4xf32>,
                          %u: tensor<4x4xf32> {batch.parameter = 0 : i64, batch.shared})
    -> (tensor<4xf32>, tensor<4xf32>) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %low = arith.constant dense<0xFF800000> : tensor<4xf32>
  %extent = tensor.dim %a, %c0 : tensor<?x4xf32>
  %e = tensor.empty(%extent) : tensor<4x?xf32>
  %acc = linalg.fill ins(%zero : f32) outs(%e : tensor<4x?xf32>) -> tensor<4x?xf32>
  // CHECK: %[[P:.*]] = linalg.matmul indexing_maps = {{.*}} ins(%[[A]], %[[U]] : tensor<?x4xf32>, tensor<4x4xf32>)
  %p = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>,
                                        affine_map<(d0, d1, d2) -> (d1, d2)>,
                                        affine_map<(d0, d1, d2) -> (d0, d1)>],
                       iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%u, %a : tensor<4x4xf32>, tensor<?x4xf32>) outs(%acc : tensor<4x?xf32>) {
  ^bb0(%x: f32, %y: f32, %out: f32):
    %0 = arith.mulf %x, %y : f32
    %1 = arith.addf %out, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<4x?xf32>
  // CHECK: %[[RA:.*]] = batch.segment_reduce max %[[P]] by %[[OA]]
  %ra = linalg.reduce { arith.maximumf } ins(%p : tensor<4x?xf32>)
                                         outs(%low : tensor<4xf32>) dimensions = [1]
  // CHECK: %[[RB:.*]] = batch.segment_reduce max %[[B]] by %[[OB]]
  %rb = linalg.reduce { arith.maximumf } ins(%b : tensor<?x4xf32>)
                                         outs(%low : tensor<4xf32>) dimensions = [0]
  // CHECK: uprog.yield %[[RA]], %[[RB]]
  batch.yield %ra, %rb : tensor<4xf32>, tensor<4xf32>
}

// -----

// A softmax over ragged rows, elementwise in the columns, consists of a
// maximum, an exponential, a sum and a quotient.
// CHECK-LABEL: uprog.operator @softmax_over_rows.rows
// CHECK-SAME:    %[[N:[a-z0-9]*]]: index, %[[S:[a-z0-9]*]]: tensor<?x4xf32> {uprog.operand = #uprog.operand<rows ragged(0)>},
// CHECK-SAME:    %[[O:[a-z0-9]*]]: tensor<?xindex> {uprog.operand = #uprog.operand<offsets(0)>}
#r = affine_map<(d0, d1) -> (d0, d1)>
#c = affine_map<(d0, d1) -> (d1)>
batch.kernel @softmax_over_rows(%s: tensor<?x4xf32>) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %zeros = arith.constant dense<0.0> : tensor<4xf32>
  %low = arith.constant dense<0xFF800000> : tensor<4xf32>
  %extent = tensor.dim %s, %c0 : tensor<?x4xf32>
  %e = tensor.empty(%extent) : tensor<?x4xf32>
  // CHECK: %[[MAX:.*]] = batch.segment_reduce max %[[S]] by %[[O]]
  %m = linalg.reduce { arith.maximumf } ins(%s : tensor<?x4xf32>)
                                        outs(%low : tensor<4xf32>) dimensions = [0]
  // CHECK: %[[MAXES:.*]] = batch.segment_broadcast %[[MAX]] by %[[O]]
  // CHECK: %[[EXP:.*]] = linalg.generic {{.*}} ins(%[[S]], %[[MAXES]] :
  %x = linalg.generic {indexing_maps = [#r, #c, #r],
                       iterator_types = ["parallel", "parallel"]}
      ins(%s, %m : tensor<?x4xf32>, tensor<4xf32>) outs(%e : tensor<?x4xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %0 = arith.subf %a, %b : f32
    %1 = math.exp %0 : f32
    linalg.yield %1 : f32
  } -> tensor<?x4xf32>
  // CHECK: %[[SUM:.*]] = batch.segment_reduce add %[[EXP]] by %[[O]]
  %d = linalg.reduce { arith.addf } ins(%x : tensor<?x4xf32>)
                                    outs(%zeros : tensor<4xf32>) dimensions = [0]
  // The quotient is computed for each row before the rows are reduced.
  // CHECK: %[[SUMS:.*]] = batch.segment_broadcast %[[SUM]] by %[[O]]
  // CHECK: %[[Q:.*]] = linalg.generic {{.*}} ins(%[[EXP]], %[[SUMS]], %[[S]] :
  // CHECK:   arith.divf
  // CHECK:   arith.mulf
  // CHECK: batch.segment_reduce add %[[Q]] by %[[O]]
  %y = linalg.generic {indexing_maps = [#r, #c, #r, #c],
                       iterator_types = ["reduction", "parallel"]}
      ins(%x, %d, %s : tensor<?x4xf32>, tensor<4xf32>, tensor<?x4xf32>)
      outs(%zeros : tensor<4xf32>) {
  ^bb0(%a: f32, %b: f32, %v: f32, %out: f32):
    %0 = arith.divf %a, %b : f32
    %1 = arith.mulf %0, %v : f32
    %2 = arith.addf %1, %out : f32
    linalg.yield %2 : f32
  } -> tensor<4xf32>
  batch.yield %y : tensor<4xf32>
}

// -----

// The MV-RNN cell. A product of a per-task matrix and a vector becomes a batched
// matrix-vector product. A parameter times a per-task matrix becomes one linalg.generic
// with one more loop. A product of two per-task matrices becomes a batch_matmul.
// CHECK-LABEL: uprog.operator @mvrnn.rows
// CHECK-SAME:    %[[N:[a-z0-9]*]]: index, %[[A:[a-z0-9]*]]: tensor<?x4xf32> {uprog.operand = #uprog.operand<gather>}, %[[MB:[a-z0-9]*]]: tensor<?x4x4xf32> {uprog.operand = #uprog.operand<gather>}, %[[MA:[a-z0-9]*]]: tensor<?x4x4xf32> {uprog.operand = #uprog.operand<gather>},
// CHECK-SAME:    %[[WM:[a-z0-9]*]]: tensor<4x8xf32>
// CHECK-SAME:    -> (tensor<?x4xf32>, tensor<?x4x4xf32>, tensor<?x4x4xf32>)
batch.kernel @mvrnn(%a: tensor<4xf32>, %mb: tensor<4x4xf32>, %ma: tensor<4x4xf32>,
                    %wm: tensor<4x8xf32> {batch.parameter = 0 : i64, batch.shared})
    -> (tensor<4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) {
  %zv = arith.constant dense<0.0> : tensor<4xf32>
  %zm = arith.constant dense<0.0> : tensor<4x4xf32>
  // CHECK: %[[BA:.*]] = linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "reduction"]} ins(%[[MB]], %[[A]] : tensor<?x4x4xf32>, tensor<?x4xf32>)
  %ba = linalg.matvec ins(%mb, %a : tensor<4x4xf32>, tensor<4xf32>)
                      outs(%zv : tensor<4xf32>) -> tensor<4xf32>
  // CHECK: %[[AB:.*]] = tensor.concat dim(1) %[[MA]], %[[MB]] : (tensor<?x4x4xf32>, tensor<?x4x4xf32>) -> tensor<?x8x4xf32>
  %ab = tensor.concat dim(0) %ma, %mb
    : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
  // CHECK: %[[M:.*]] = linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%[[WM]], %[[AB]] : tensor<4x8xf32>, tensor<?x8x4xf32>)
  %m = linalg.matmul ins(%wm, %ab : tensor<4x8xf32>, tensor<8x4xf32>)
                     outs(%zm : tensor<4x4xf32>) -> tensor<4x4xf32>
  // CHECK: %[[MM:.*]] = linalg.batch_matmul ins(%[[MA]], %[[MB]] : tensor<?x4x4xf32>, tensor<?x4x4xf32>)
  %mm = linalg.matmul ins(%ma, %mb : tensor<4x4xf32>, tensor<4x4xf32>)
                      outs(%zm : tensor<4x4xf32>) -> tensor<4x4xf32>
  // CHECK: uprog.yield %[[BA]], %[[M]], %[[MM]]
  batch.yield %ba, %m, %mm : tensor<4xf32>, tensor<4x4xf32>, tensor<4x4xf32>
}

// -----

// With a shared right-hand side, vecmat becomes a matmul of all rows, and matmul a
// linalg.generic. dot with a shared vector becomes a matvec.
// CHECK-LABEL: uprog.operator @contractions.rows
// CHECK-SAME:    %[[X:[a-z0-9]*]]: tensor<?x4xf32> {uprog.operand = #uprog.operand<gather>}, %[[W:[a-z0-9]*]]: tensor<4x8xf32> {{.*}}, %[[V:[a-z0-9]*]]: tensor<4xf32>
batch.kernel @contractions(%x: tensor<4xf32>, %w: tensor<4x8xf32> {batch.parameter = 0 : i64, batch.shared},
                           %v: tensor<4xf32> {batch.parameter = 1 : i64, batch.shared})
    -> (tensor<8xf32>, tensor<f32>, tensor<1x8xf32>) {
  %z8 = arith.constant dense<0.0> : tensor<8xf32>
  %z0 = arith.constant dense<0.0> : tensor<f32>
  %z18 = arith.constant dense<0.0> : tensor<1x8xf32>
  // CHECK: linalg.matmul ins(%[[X]], %[[W]] : tensor<?x4xf32>, tensor<4x8xf32>) outs(%{{.*}} : tensor<?x8xf32>)
  %y = linalg.vecmat ins(%x, %w : tensor<4xf32>, tensor<4x8xf32>)
                     outs(%z8 : tensor<8xf32>) -> tensor<8xf32>
  // CHECK: linalg.matvec ins(%[[X]], %[[V]] : tensor<?x4xf32>, tensor<4xf32>) outs(%{{.*}} : tensor<?xf32>)
  %d = linalg.dot ins(%v, %x : tensor<4xf32>, tensor<4xf32>)
                  outs(%z0 : tensor<f32>) -> tensor<f32>
  // CHECK: %[[X1:.*]] = tensor.expand_shape %[[X]] {{\[\[}}0], [1, 2]] output_shape [%{{.*}}, 1, 4] : tensor<?x4xf32> into tensor<?x1x4xf32>
  %x1 = tensor.expand_shape %x [[0, 1]] output_shape [1, 4]
    : tensor<4xf32> into tensor<1x4xf32>
  // CHECK: linalg.generic {{.*}} ins(%[[X1]], %[[W]] : tensor<?x1x4xf32>, tensor<4x8xf32>)
  %y1 = linalg.matmul ins(%x1, %w : tensor<1x4xf32>, tensor<4x8xf32>)
                      outs(%z18 : tensor<1x8xf32>) -> tensor<1x8xf32>
  batch.yield %y, %d, %y1 : tensor<8xf32>, tensor<f32>, tensor<1x8xf32>
}

// -----

// Code that uses only parameters runs once, without a batch dimension.
// CHECK-LABEL: uprog.operator @once.rows
batch.kernel @once(%x: tensor<4xf32>, %w: tensor<4xf32> {batch.parameter = 0 : i64, batch.shared})
    -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK: %[[T:.*]] = math.tanh %{{.*}} : tensor<4xf32>
  %t = math.tanh %w : tensor<4xf32>
  // CHECK: %[[TS:.*]] = linalg.broadcast ins(%[[T]] : tensor<4xf32>)
  // CHECK: %[[Y:.*]] = arith.addf %{{.*}}, %[[TS]] : tensor<?x4xf32>
  %y = arith.addf %x, %t : tensor<4xf32>
  // CHECK: uprog.yield %[[Y]], %[[TS]]
  batch.yield %y, %t : tensor<4xf32>, tensor<4xf32>
}

// -----

// A scalar argument becomes a column with an element per task. Arithmetic on
// scalars is elementwise, and splats broadcast them. Bodies that read scalars
// get one more input. A condition selects rows.
// CHECK-DAG:   #[[ID:.*]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-DAG:   #[[ROW:.*]] = affine_map<(d0, d1) -> (d0)>
// CHECK-LABEL: uprog.operator @scalars.rows
// CHECK-SAME:    %[[N:[a-z0-9]*]]: index, %[[X:[a-z0-9]*]]: tensor<?x4xf32> {uprog.operand = #uprog.operand<gather>}, %[[A:[a-z0-9]*]]: tensor<?xf32> {uprog.operand = #uprog.operand<scalar>}, %[[P:[a-z0-9]*]]: tensor<?xi1>
batch.kernel @scalars(%x: tensor<4xf32>, %a: f32, %p: i1)
    -> (tensor<4xf32>, tensor<2xf32>, tensor<1xf32>) {
  %one = arith.constant 1.0 : f32
  // CHECK: %[[ONES:.*]] = linalg.fill ins(%{{.*}} : f32) outs(%{{.*}} : tensor<?xf32>)
  // CHECK: %[[B:.*]] = arith.subf %[[ONES]], %[[A]] : tensor<?xf32>
  %b = arith.subf %one, %a : f32
  // CHECK: %[[BS:.*]] = linalg.broadcast ins(%[[B]] : tensor<?xf32>) outs(%{{.*}} : tensor<?x4xf32>) dimensions = [1]
  %bs = tensor.splat %b : tensor<4xf32>
  // CHECK: %[[Y:.*]] = linalg.generic {indexing_maps = [#[[ID]], #[[ROW]], #[[ID]]]
  // CHECK-SAME: ins(%[[X]], %[[A]] : tensor<?x4xf32>, tensor<?xf32>)
  // CHECK-NEXT: ^bb0(%[[E:.*]]: f32, %[[S:.*]]: f32, %{{.*}}: f32):
  // CHECK-NEXT:   arith.mulf %[[E]], %[[S]] : f32
  %e = tensor.empty() : tensor<4xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>],
                       iterator_types = ["parallel"]}
      ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.mulf %in, %a : f32
    linalg.yield %0 : f32
  } -> tensor<4xf32>
  // CHECK: %[[Z:.*]] = linalg.generic {indexing_maps = [#[[ROW]], #[[ID]], #[[ID]], #[[ID]]]
  // CHECK-SAME: ins(%[[P]], %[[Y]], %[[BS]] : tensor<?xi1>, tensor<?x4xf32>, tensor<?x4xf32>)
  // CHECK:   arith.select
  %z = arith.select %p, %y, %bs : tensor<4xf32>
  // CHECK: %[[A1:.*]] = tensor.expand_shape %[[A]] {{\[\[}}0, 1]] output_shape [%[[N]], 1] : tensor<?xf32> into tensor<?x1xf32>
  // CHECK: %[[B1:.*]] = tensor.expand_shape %[[B]]
  // CHECK: %[[AB:.*]] = tensor.concat dim(1) %[[A1]], %[[B1]] : (tensor<?x1xf32>, tensor<?x1xf32>) -> tensor<?x2xf32>
  %ab = tensor.from_elements %a, %b : tensor<2xf32>
  // A tensor of one element per task is already a column of scalars.
  %x0 = tensor.from_elements %a : tensor<f32>
  %a0 = tensor.extract %x0[] : tensor<f32>
  // CHECK: %[[NEG:.*]] = arith.negf %[[A]] : tensor<?xf32>
  %neg = arith.negf %a0 : f32
  // CHECK: %[[NEG1:.*]] = tensor.expand_shape %[[NEG]]
  %neg1 = tensor.from_elements %neg : tensor<1xf32>
  // CHECK: uprog.yield %[[Z]], %[[AB]], %[[NEG1]]
  batch.yield %z, %ab, %neg1 : tensor<4xf32>, tensor<2xf32>, tensor<1xf32>
}

// -----

// Slices and reshapes keep all rows. In the operator, the indices of the kernel's
// loops come after the index of the row.
// CHECK-LABEL: uprog.operator @pieces.rows
// CHECK-SAME:    %[[N:[a-z0-9]*]]: index, %[[X:[a-z0-9]*]]: tensor<?x2x4xf32> {uprog.operand = #uprog.operand<gather>}, %[[Y:[a-z0-9]*]]: tensor<?x4xf32>
batch.kernel @pieces(%x: tensor<2x4xf32>, %y: tensor<4xf32>)
    -> (tensor<4xf32>, tensor<2x4xf32>, tensor<8xf32>, tensor<4xf32>, tensor<1xf32>) {
  // CHECK: tensor.extract_slice %[[X]][0, 1, 0] [%[[N]], 1, 4] [1, 1, 1] : tensor<?x2x4xf32> to tensor<?x4xf32>
  %s = tensor.extract_slice %x[1, 0] [1, 4] [1, 1] : tensor<2x4xf32> to tensor<4xf32>
  // CHECK: tensor.insert_slice %[[Y]] into %[[X]][0, 1, 0] [%[[N]], 1, 4] [1, 1, 1] : tensor<?x4xf32> into tensor<?x2x4xf32>
  %i = tensor.insert_slice %y into %x[1, 0] [1, 4] [1, 1] : tensor<4xf32> into tensor<2x4xf32>
  // CHECK: tensor.collapse_shape %[[X]] {{\[\[}}0], [1, 2]] : tensor<?x2x4xf32> into tensor<?x8xf32>
  %c = tensor.collapse_shape %x [[0, 1]] : tensor<2x4xf32> into tensor<8xf32>
  // CHECK: linalg.index 1 : index
  %e = tensor.empty() : tensor<4xf32>
  %n = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>],
                       iterator_types = ["parallel"]}
      ins(%y : tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = linalg.index 0 : index
    %1 = arith.index_cast %0 : index to i32
    %2 = arith.sitofp %1 : i32 to f32
    %3 = arith.addf %in, %2 : f32
    linalg.yield %3 : f32
  } -> tensor<4xf32>
  // CHECK: %[[E0:.*]] = tensor.extract_slice %[[Y]][0, 3] [%[[N]], 1] [1, 1] : tensor<?x4xf32> to tensor<?xf32>
  // CHECK: tensor.expand_shape %[[E0]] {{\[\[}}0, 1]] output_shape [%[[N]], 1] : tensor<?xf32> into tensor<?x1xf32>
  %c3 = arith.constant 3 : index
  %e0 = tensor.extract %y[%c3] : tensor<4xf32>
  %f = tensor.from_elements %e0 : tensor<1xf32>
  batch.yield %s, %i, %c, %n, %f
    : tensor<4xf32>, tensor<2x4xf32>, tensor<8xf32>, tensor<4xf32>, tensor<1xf32>
}

// -----

// Ragged rows keep their extent in slices, concatenations and reshapes; a
// scalar of a task is repeated for each row of this task.
// CHECK-LABEL: uprog.operator @ragged_pieces.rows
// CHECK-SAME:    %[[N:[a-z0-9]*]]: index, %[[A:[a-z0-9]*]]: tensor<?x4xf32> {uprog.operand = #uprog.operand<rows ragged(0)>}, %[[S:[a-z0-9]*]]: tensor<?xf32>
// CHECK-SAME:    %[[O:[a-z0-9]*]]: tensor<?xindex>
batch.kernel @ragged_pieces(%a: tensor<?x4xf32>, %s: f32) -> tensor<2x2xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %a, %c0 : tensor<?x4xf32>
  // CHECK: %[[ROWS:.*]] = tensor.dim %[[A]]
  // CHECK: %[[L:.*]] = tensor.extract_slice %[[A]][0, 1] [%[[ROWS]], 2] [1, 1] : tensor<?x4xf32> to tensor<?x2xf32>
  %l = tensor.extract_slice %a[0, 1] [%n, 2] [1, 1] : tensor<?x4xf32> to tensor<?x2xf32>
  // CHECK: %[[SS:.*]] = batch.segment_broadcast %[[S]] by %[[O]] : tensor<?xf32>, tensor<?xindex>
  // CHECK: %[[R:.*]] = linalg.broadcast ins(%[[SS]] : tensor<?xf32>) outs(%{{.*}} : tensor<?x2xf32>) dimensions = [1]
  %r = tensor.splat %s[%n] : tensor<?x2xf32>
  // CHECK: %[[C:.*]] = tensor.concat dim(1) %[[L]], %[[R]] : (tensor<?x2xf32>, tensor<?x2xf32>) -> tensor<?x4xf32>
  %c = tensor.concat dim(1) %l, %r : (tensor<?x2xf32>, tensor<?x2xf32>) -> tensor<?x4xf32>
  // CHECK: %[[X:.*]] = tensor.expand_shape %[[C]] {{\[\[}}0], [1, 2]] output_shape [%[[ROWS]], 2, 2]
  %x = tensor.expand_shape %c [[0], [1, 2]] output_shape [%n, 2, 2]
    : tensor<?x4xf32> into tensor<?x2x2xf32>
  %z = arith.constant dense<0.0> : tensor<2x2xf32>
  // CHECK: batch.segment_reduce add %[[X]] by %[[O]]
  %y = linalg.reduce { arith.addf } ins(%x : tensor<?x2x2xf32>)
                                    outs(%z : tensor<2x2xf32>) dimensions = [0]
  batch.yield %y : tensor<2x2xf32>
}

// -----

// Attention over a ragged prefix: scores are a column of all rows, and the weighted sum
// is a product on rows and a reduction.
// CHECK-LABEL: uprog.operator @attention.rows
// CHECK-SAME:    %[[N:[a-z0-9]*]]: index, %[[K:[a-z0-9]*]]: tensor<?x4xf32> {uprog.operand = #uprog.operand<rows ragged(0)>}, %[[V:[a-z0-9]*]]: tensor<?x4xf32> {uprog.operand = #uprog.operand<rows ragged(0)>}, %[[Q:[a-z0-9]*]]: tensor<?x4xf32>
batch.kernel @attention(%k: tensor<?x4xf32>, %v: tensor<?x4xf32>, %q: tensor<4xf32>)
    -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %k, %c0 : tensor<?x4xf32>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty(%n) : tensor<?xf32>
  %acc = linalg.fill ins(%zero : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  // CHECK: %[[QS:.*]] = batch.segment_broadcast %[[Q]]
  // CHECK: %[[S:.*]] = linalg.generic {{.*}}iterator_types = ["parallel", "reduction"]} ins(%[[K]], %[[QS]] : tensor<?x4xf32>, tensor<?x4xf32>) outs(%{{.*}} : tensor<?xf32>)
  %s = linalg.matvec ins(%k, %q : tensor<?x4xf32>, tensor<4xf32>)
                     outs(%acc : tensor<?xf32>) -> tensor<?xf32>
  %z = arith.constant dense<0.0> : tensor<4xf32>
  // CHECK: %[[W:.*]] = linalg.generic {{.*}}iterator_types = ["parallel", "parallel"]} ins(%[[S]], %[[V]] : tensor<?xf32>, tensor<?x4xf32>) outs(%{{.*}} : tensor<?x4xf32>)
  // CHECK: batch.segment_reduce add %[[W]]
  %y = linalg.vecmat ins(%s, %v : tensor<?xf32>, tensor<?x4xf32>)
                     outs(%z : tensor<4xf32>) -> tensor<4xf32>
  batch.yield %y : tensor<4xf32>
}

// -----

// A softmax over a static dimension is decomposed into structured operations.
// CHECK-LABEL: uprog.operator @softmax.rows
batch.kernel @softmax(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NOT: linalg.softmax
  // CHECK-NOT: tensor.dim
  // CHECK-COUNT-2: iterator_types = ["parallel", "reduction"]
  // CHECK: arith.divf
  %e = tensor.empty() : tensor<4xf32>
  %y = linalg.softmax dimension(0) ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  batch.yield %y : tensor<4xf32>
}

// -----

// The result of a kernel without per-task arguments has one row per task.
// CHECK-LABEL: uprog.operator @constant.rows
// CHECK-SAME:    %[[N:[a-z0-9]*]]: index) -> tensor<?x4xf32>
batch.kernel @constant() -> tensor<4xf32> {
  // CHECK: %[[E:.*]] = tensor.empty(%[[N]])
  // CHECK: %[[Z:.*]] = linalg.fill ins(%{{.*}} : f32) outs(%[[E]] : tensor<?x4xf32>)
  // CHECK: uprog.yield %[[Z]]
  %z = arith.constant dense<0.0> : tensor<4xf32>
  batch.yield %z : tensor<4xf32>
}

// -----

// A kernel that already has an operator, under any name, gets no second operator.
batch.kernel @given(%x: tensor<4xf32>) -> tensor<4xf32> {
  batch.yield %x : tensor<4xf32>
}
// CHECK-LABEL: uprog.operator @by_hand of @given
// CHECK:         math.tanh
// CHECK-NOT:   uprog.operator
uprog.operator @by_hand of @given(%n: index, %x: tensor<?x4xf32> {uprog.operand = #uprog.operand<gather>}) -> tensor<?x4xf32> {
  %y = math.tanh %x : tensor<?x4xf32>
  uprog.yield %y : tensor<?x4xf32>
}

// -----

// A broadcast to ragged rows becomes a single segment broadcast. Constants fill
// ragged rows, and a scalar of a task fills the row of this task.
// CHECK-LABEL: uprog.operator @fills.rows
// CHECK-SAME:    %[[A:[a-z0-9]*]]: tensor<?x4xf32> {uprog.operand = #uprog.operand<rows ragged(0)>}, %[[X:[a-z0-9]*]]: tensor<?x4xf32> {uprog.operand = #uprog.operand<gather>}, %[[S:[a-z0-9]*]]: tensor<?xf32>
// CHECK-SAME:    %[[O:[a-z0-9]*]]: tensor<?xindex>
batch.kernel @fills(%a: tensor<?x4xf32>, %x: tensor<4xf32>, %s: f32) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %one = arith.constant 1.0 : f32
  %n = tensor.dim %a, %c0 : tensor<?x4xf32>
  %e = tensor.empty(%n) : tensor<?x4xf32>
  // CHECK: %[[B:.*]] = batch.segment_broadcast %[[X]] by %[[O]]
  %b = linalg.broadcast ins(%x : tensor<4xf32>) outs(%e : tensor<?x4xf32>) dimensions = [0]
  // CHECK: %[[P:.*]] = arith.addf %[[A]], %[[B]] : tensor<?x4xf32>
  %p = arith.addf %a, %b : tensor<?x4xf32>
  // CHECK: %[[ONES:.*]] = linalg.fill {{.*}} -> tensor<?x4xf32>
  %ones = tensor.splat %one[%n] : tensor<?x4xf32>
  // CHECK: %[[Q:.*]] = arith.mulf %[[P]], %[[ONES]] : tensor<?x4xf32>
  %q = arith.mulf %p, %ones : tensor<?x4xf32>
  %i = tensor.empty() : tensor<4xf32>
  // CHECK: %[[F:.*]] = linalg.generic {{.*}} ins(%[[S]] : tensor<?xf32>) outs(%{{.*}} : tensor<?x4xf32>)
  %f = linalg.fill ins(%s : f32) outs(%i : tensor<4xf32>) -> tensor<4xf32>
  // CHECK: batch.segment_reduce mul %[[Q]] by %[[O]] into %[[F]]
  %y = linalg.reduce { arith.mulf } ins(%q : tensor<?x4xf32>) outs(%f : tensor<4xf32>) dimensions = [0]
  batch.yield %y : tensor<4xf32>
}

// -----

// A reduction finds the largest entry and its index. The index is the position in the
// reduced dimension, which comes after the dimension of rows.
// CHECK-LABEL: uprog.operator @argmax.rows
batch.kernel @argmax(%x: tensor<4xf32>) -> (tensor<f32>, tensor<index>) {
  %low = arith.constant dense<0xFF800000> : tensor<f32>
  %none = arith.constant dense<0> : tensor<index>
  // CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "reduction"]} ins(%{{.*}} : tensor<?x4xf32>) outs(%{{.*}}, %{{.*}} : tensor<?xf32>, tensor<?xindex>)
  // CHECK: linalg.index 1 : index
  %m, %i = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>, affine_map<(d0) -> ()>],
                           iterator_types = ["reduction"]}
      ins(%x : tensor<4xf32>) outs(%low, %none : tensor<f32>, tensor<index>) {
  ^bb0(%in: f32, %best: f32, %at: index):
    %0 = linalg.index 0 : index
    %1 = arith.cmpf ogt, %in, %best : f32
    %2 = arith.select %1, %in, %best : f32
    %3 = arith.select %1, %0, %at : index
    linalg.yield %2, %3 : f32, index
  } -> (tensor<f32>, tensor<index>)
  batch.yield %m, %i : tensor<f32>, tensor<index>
}

// -----

// Importers keep a reduced dimension with extent 1, which the map of the result indexes with 0.
// The batched reduction omits this dimension, even if the start value is not a constant.
// CHECK-LABEL: uprog.operator @kept.rows
// CHECK-SAME:    %[[X:[a-z0-9]*]]: tensor<?x4x8xf32> {{[^:]*}}, %[[S:[a-z0-9]*]]: tensor<?x4x1xf32>
batch.kernel @kept(%x: tensor<4x8xf32>, %s: tensor<4x1xf32>)
    -> (tensor<1x8xf32>, tensor<1x8xi64>, tensor<4x1xf32>) {
  %low = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<1x8xf32>
  %v0 = linalg.fill ins(%low : f32) outs(%e : tensor<1x8xf32>) -> tensor<1x8xf32>
  %k0 = arith.constant dense<0> : tensor<1x8xi64>
  // CHECK: %[[R:.*]]:2 = linalg.generic {{.*}}iterator_types = ["parallel", "reduction", "parallel"]} ins(%[[X]] : {{.*}}) outs(%{{.*}}, %{{.*}} : tensor<?x8xf32>, tensor<?x8xi64>)
  // CHECK: linalg.index 1 : index
  %r:2 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (0, d1)>, affine_map<(d0, d1) -> (0, d1)>],
                         iterator_types = ["reduction", "parallel"]}
      ins(%x : tensor<4x8xf32>) outs(%v0, %k0 : tensor<1x8xf32>, tensor<1x8xi64>) {
  ^bb0(%in: f32, %best: f32, %at: i64):
    %0 = linalg.index 0 : index
    %1 = arith.index_cast %0 : index to i64
    %2 = arith.cmpf ogt, %in, %best : f32
    %3 = arith.maximumf %in, %best : f32
    %4 = arith.select %2, %1, %at : i64
    linalg.yield %3, %4 : f32, i64
  } -> (tensor<1x8xf32>, tensor<1x8xi64>)
  // CHECK: tensor.expand_shape %[[R]]#0 {{\[\[}}0], [1, 2]] {{.*}} : tensor<?x8xf32> into tensor<?x1x8xf32>
  // CHECK: tensor.expand_shape %[[R]]#1
  // CHECK: %[[START:.*]] = tensor.collapse_shape %[[S]] {{\[\[}}0], [1, 2]] : tensor<?x4x1xf32> into tensor<?x4xf32>
  // CHECK: linalg.generic {{.*}} outs(%[[START]] : tensor<?x4xf32>)
  %y = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, 0)>],
                       iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<4x8xf32>) outs(%s : tensor<4x1xf32>) {
  ^bb0(%in: f32, %sum: f32):
    %0 = arith.addf %in, %sum : f32
    linalg.yield %0 : f32
  } -> tensor<4x1xf32>
  batch.yield %r#0, %r#1, %y : tensor<1x8xf32>, tensor<1x8xi64>, tensor<4x1xf32>
}

// -----

// A reduction over a ragged and a static extent first reduces the rows, then the
// segments. Extents of 1 next to a ragged extent are omitted. As a signed number, true
// is less than false, so arith.ori becomes a minimum.
// CHECK-LABEL: uprog.operator @everything.rows
// CHECK-SAME:    %[[A:[a-z0-9]*]]: tensor<?x4xf32> {{[^:]*}}, %[[P:[a-z0-9]*]]: tensor<?x1x4xi1> {{[^:]*}}, %[[O:[a-z0-9]*]]: tensor<?xindex>
batch.kernel @everything(%a: tensor<?x4xf32>, %p: tensor<?x1x4xi1>) -> (tensor<f32>, tensor<4xi1>) {
  %one = arith.constant dense<1.0> : tensor<f32>
  // CHECK: %[[ZERO:.*]] = linalg.fill ins(%{{.*}} : f32) outs(%{{.*}} : tensor<?xf32>)
  // CHECK: %[[ROWS:.*]] = linalg.generic {{.*}}iterator_types = ["parallel", "reduction"]} ins(%[[A]] : tensor<?x4xf32>) outs(%[[ZERO]] : tensor<?xf32>)
  // CHECK: math.fma
  // CHECK: batch.segment_reduce add %[[ROWS]] by %[[O]]
  %y = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> ()>],
                       iterator_types = ["reduction", "reduction"]}
      ins(%a : tensor<?x4xf32>) outs(%one : tensor<f32>) {
  ^bb0(%in: f32, %sum: f32):
    %0 = math.fma %in, %in, %sum : f32
    linalg.yield %0 : f32
  } -> tensor<f32>
  // CHECK: %[[Q:.*]] = tensor.collapse_shape %[[P]] {{\[\[}}0, 1], [2]] : tensor<?x1x4xi1> into tensor<?x4xi1>
  %q = tensor.collapse_shape %p [[0, 1], [2]] : tensor<?x1x4xi1> into tensor<?x4xi1>
  %false = arith.constant dense<false> : tensor<4xi1>
  // CHECK: batch.segment_reduce min %[[Q]]
  %any = linalg.reduce { arith.ori } ins(%q : tensor<?x4xi1>) outs(%false : tensor<4xi1>) dimensions = [0]
  batch.yield %y, %any : tensor<f32>, tensor<4xi1>
}

// -----

// Operations that become a view, a constant or elementwise code: reshapes to
// known extents, ranks, bitcasts, and packs into tiles.
// CHECK-LABEL: uprog.operator @forms.rows
// CHECK-SAME:    %[[X:[a-z0-9]*]]: tensor<?x4x6xf32>
batch.kernel @forms(%x: tensor<4x6xf32>)
    -> (tensor<3x8xf32>, tensor<1xindex>, tensor<4x6xi32>, tensor<2x2x2x3xf32>) {
  %shape = arith.constant dense<[3, 8]> : tensor<2xi64>
  // CHECK-DAG: %[[LINE:.*]] = tensor.collapse_shape %[[X]] {{\[\[}}0], [1, 2]] : tensor<?x4x6xf32> into tensor<?x24xf32>
  // CHECK-DAG: tensor.expand_shape %[[LINE]] {{.*}} : tensor<?x24xf32> into tensor<?x3x8xf32>
  %r = tensor.reshape %x(%shape) : (tensor<4x6xf32>, tensor<2xi64>) -> tensor<3x8xf32>
  // CHECK-DAG: arith.constant 2 : index
  %k = tensor.rank %x : tensor<4x6xf32>
  %n = tensor.from_elements %k : tensor<1xindex>
  // CHECK-DAG: arith.bitcast %[[X]] : tensor<?x4x6xf32> to tensor<?x4x6xi32>
  %b = tensor.bitcast %x : tensor<4x6xf32> to tensor<4x6xi32>
  // CHECK-DAG: %[[IN:.*]] = tensor.insert_slice %[[X]] into %{{.*}}[0, 0, 0] [%{{.*}}, 4, 6] [1, 1, 1]
  // CHECK-DAG: tensor.expand_shape %[[IN]] {{\[\[}}0], [1, 2], [3, 4]] {{.*}} : tensor<?x4x6xf32> into tensor<?x2x2x2x3xf32>
  %e = tensor.empty() : tensor<2x2x2x3xf32>
  %p = linalg.pack %x inner_dims_pos = [0, 1] inner_tiles = [2, 3] into %e : tensor<4x6xf32> -> tensor<2x2x2x3xf32>
  batch.yield %r, %n, %b, %p : tensor<3x8xf32>, tensor<1xindex>, tensor<4x6xi32>, tensor<2x2x2x3xf32>
}

// -----

// A slice at a constant position is read at that position, for any sliced tensor.
// CHECK-LABEL: uprog.operator @constant_position.rows
// CHECK-SAME:    %[[P:[a-z0-9]*]]: tensor<5x9xf32> {{.*}}, %[[E:[a-z0-9]*]]: tensor<?x9xf32> {{.*}}, %[[I:[a-z0-9]*]]: tensor<?xindex>
batch.kernel @constant_position(%p: tensor<5x9xf32> {batch.parameter = 0 : i64, batch.shared},
                                %e: tensor<?x9xf32> {batch.parameter = 1 : i64, batch.shared},
                                %i: index) -> (tensor<2x9xf32>, tensor<1xf32>) {
  %three = arith.constant 3 : index
  // CHECK: tensor.extract_slice %[[P]][3, 0] [2, 9] [1, 1] : tensor<5x9xf32> to tensor<2x9xf32>
  %x = tensor.extract_slice %p[%three, 0] [2, 9] [1, 1] : tensor<5x9xf32> to tensor<2x9xf32>
  // CHECK: ins(%[[I]] : tensor<?xindex>) outs(%{{.*}} : tensor<?x1xf32>)
  // CHECK:   %[[ROW:.*]] = arith.constant 3 : index
  // CHECK:   arith.cmpi ult, %[[ROW]]
  %y = tensor.extract_slice %e[%three, %i] [1, 1] [1, 1] : tensor<?x9xf32> to tensor<1xf32>
  batch.yield %x, %y : tensor<2x9xf32>, tensor<1xf32>
}

// -----

// A number that a reduction of parameters returns is repeated for each task.
// CHECK-LABEL: uprog.operator @reduced_number.rows
batch.kernel @reduced_number(%x: tensor<4xi64>,
                             %t: tensor<5xi64> {batch.parameter = 0 : i64, batch.shared})
    -> tensor<4xi64> {
  %zero = arith.constant dense<0> : tensor<i64>
  // CHECK: %[[SUM:.*]] = linalg.reduce
  %sum = linalg.reduce {arith.addi} ins(%t : tensor<5xi64>) outs(%zero : tensor<i64>) dimensions = [0]
  // CHECK: %[[SUMS:.*]] = linalg.broadcast ins(%[[SUM]] : tensor<i64>) outs(%{{.*}} : tensor<?xi64>)
  // CHECK: linalg.broadcast ins(%[[SUMS]] : tensor<?xi64>)
  %number = tensor.extract %sum[] : tensor<i64>
  %s = tensor.splat %number : tensor<4xi64>
  %y = arith.addi %s, %x : tensor<4xi64>
  batch.yield %y : tensor<4xi64>
}
