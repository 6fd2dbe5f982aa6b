// RUN: batch-opt %s --batch-layout-pq | FileCheck %s
// RUN: batch-opt %s --batch-layout-pq=equal=weights | FileCheck %s --check-prefix=WEIGHTS
// RUN: batch-opt %s --batch-layout-pq --remark-format=emitRemark --remarks-filter=batch 2>&1 >/dev/null | FileCheck %s --check-prefix=REMARK

!vec = tensor<16xf32>
!mat = tensor<16x16xf32>

// The parameters of two gates are stacked in one order, and the ops after the
// gates run once. The product with another vector remains separate, as does an
// op that reads one of the gates.
// CHECK-LABEL: batch.kernel @gates
// CHECK:         %[[B:.+]] = tensor.concat dim(0) %[[BI:arg[0-9]+]], %[[BF:arg[0-9]+]] : (tensor<16xf32>, tensor<16xf32>) -> tensor<32xf32>
// CHECK:         %[[W:.+]] = tensor.concat dim(0) %{{.+}}, %{{.+}} : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<32x16xf32>
// CHECK:         %[[IF:.+]] = linalg.matvec ins(%[[W]], %{{.+}} : tensor<32x16xf32>, tensor<16xf32>) outs(%[[B]] : tensor<32xf32>)
// CHECK:         %[[T:.+]] = math.tanh %[[IF]] : tensor<32xf32>
// CHECK-NOT:     math.tanh
// CHECK:         %[[ONE:.+]] = tensor.extract_slice %[[T]]{{.*}} to tensor<16xf32>
// CHECK:         arith.mulf %[[ONE]], %{{.+}} : tensor<16xf32>
// CHECK:         linalg.matvec ins(%{{.+}} : tensor<16x16xf32>, tensor<16xf32>) outs(%{{.+}} : tensor<16xf32>)
// CHECK:         batch.yield
// REMARK: remark: [Passed] Layout {{.*}}"@gates: 6 operators in 4 batches; gather copies per task: 2 (2176 bytes) in the original layout, 0 (0 bytes) in the new layout"
// WEIGHTS-LABEL: batch.kernel @gates
// WEIGHTS-NOT:     tensor.concat
batch.kernel @gates(%x: !vec, %c: !vec,
    %wi: !mat {batch.parameter = 0 : i64, batch.shared},
    %bi: !vec {batch.parameter = 1 : i64, batch.shared},
    %wf: !mat {batch.parameter = 2 : i64, batch.shared},
    %bf: !vec {batch.parameter = 3 : i64, batch.shared},
    %wo: !mat {batch.parameter = 4 : i64, batch.shared}) -> (!vec, !vec) {
  %i = linalg.matvec ins(%wi, %x : !mat, !vec) outs(%bi : !vec) -> !vec
  %f = linalg.matvec ins(%wf, %x : !mat, !vec) outs(%bf : !vec) -> !vec
  %ti = math.tanh %i : !vec
  %tf = math.tanh %f : !vec
  %h = arith.mulf %tf, %c : !vec
  %o = linalg.matvec ins(%wo, %c : !mat, !vec) outs(%ti : !vec) -> !vec
  batch.yield %h, %o : !vec, !vec
}

// Three nodes with the same parameters become three rows, with and without equal=weights. A
// constant and a parameter exist once for all nodes. The nodes are arguments, which are not
// adjacent in memory, so they are copied.
// CHECK-LABEL: batch.kernel @nodes
// CHECK:         linalg.contract
// WEIGHTS-LABEL: batch.kernel @nodes
// WEIGHTS:         %[[BB:.+]] = linalg.broadcast ins(%{{.+}} : tensor<16xf32>) outs(%{{.+}} : tensor<3x16xf32>) dimensions = [0]
// WEIGHTS:         %[[R0:.+]] = tensor.expand_shape %{{.+}} {{\[}}[0, 1]] output_shape [1, 16] : tensor<16xf32> into tensor<1x16xf32>
// WEIGHTS:         %[[R1:.+]] = tensor.expand_shape
// WEIGHTS:         %[[R2:.+]] = tensor.expand_shape
// WEIGHTS:         %[[ROWS:.+]] = tensor.concat dim(0) %[[R0]], %[[R1]], %[[R2]] : {{.*}} -> tensor<3x16xf32>
// WEIGHTS:         %[[P:.+]] = linalg.contract {{.*}} ins(%[[ROWS]], %{{.+}} : tensor<3x16xf32>, tensor<16x16xf32>) outs(%[[BB]] : tensor<3x16xf32>) -> tensor<3x16xf32>
// WEIGHTS:         %[[TWO:.+]] = arith.constant dense<2.000000e+00> : tensor<3x16xf32>
// WEIGHTS:         %[[D:.+]] = arith.divf %[[P]], %[[TWO]] : tensor<3x16xf32>
// WEIGHTS:         %[[S:.+]] = tensor.extract_slice %[[D]][{{[0-2]}}, 0] [1, 16] [1, 1] : tensor<3x16xf32> to tensor<1x16xf32>
// WEIGHTS:         tensor.collapse_shape %[[S]] {{\[}}[0, 1]] : tensor<1x16xf32> into tensor<16xf32>
// WEIGHTS:         arith.addf %{{.+}}, %{{.+}} : tensor<16xf32>
// REMARK: remark: [Passed] Layout {{.*}}"@nodes: 8 operators in 4 batches; gather copies per task: 1 (192 bytes) in the original layout, 1 (192 bytes) in the new layout"
// REMARK: remark: [Missed] Layout {{.*}}"operands of 3 x linalg.matvec are copied, 192 bytes per task: callers determine where arguments are stored"
batch.kernel @nodes(%x: !vec, %y: !vec, %z: !vec,
    %w: !mat {batch.parameter = 7 : i64, batch.shared},
    %b: !vec {batch.parameter = 8 : i64, batch.shared}) -> !vec {
  %two = arith.constant dense<2.0> : !vec
  %p = linalg.matvec ins(%w, %x : !mat, !vec) outs(%b : !vec) -> !vec
  %q = linalg.matvec ins(%w, %y : !mat, !vec) outs(%b : !vec) -> !vec
  %r = linalg.matvec ins(%w, %z : !mat, !vec) outs(%b : !vec) -> !vec
  %dp = arith.divf %p, %two : !vec
  %two2 = arith.constant dense<2.0> : !vec
  %dq = arith.divf %q, %two2 : !vec
  %dr = arith.divf %r, %two : !vec
  %s = arith.addf %dp, %dq : !vec
  %t = arith.addf %s, %dr : !vec
  batch.yield %t : !vec
}

// If a parameter that is also read by another kernel were stacked, it would exist twice. Pieces of
// 40 bytes would not begin at multiples of 64 bytes, as rows do. With equal=weights, elementwise
// code that depends on no product remains unchanged.
// CHECK-LABEL: batch.kernel @unstacked
// CHECK-NOT:     tensor.concat
// CHECK-LABEL: batch.kernel @short
// CHECK-NOT:     tensor.concat
// WEIGHTS-LABEL: batch.kernel @unstacked
// WEIGHTS-NOT:     tensor.concat
// REMARK-NOT: @unstacked
// REMARK-NOT: @short
batch.kernel @unstacked(%x: !vec,
    %wo: !mat {batch.parameter = 4 : i64, batch.shared},
    %wu: !mat {batch.parameter = 5 : i64, batch.shared}) -> (!vec, !vec) {
  %zero = arith.constant dense<0.0> : !vec
  %o = linalg.matvec ins(%wo, %x : !mat, !vec) outs(%zero : !vec) -> !vec
  %u = linalg.matvec ins(%wu, %x : !mat, !vec) outs(%zero : !vec) -> !vec
  batch.yield %o, %u : !vec, !vec
}
batch.kernel @short(%x: tensor<10xf32>, %y: tensor<10xf32>) -> tensor<10xf32> {
  %tx = math.tanh %x : tensor<10xf32>
  %ty = math.tanh %y : tensor<10xf32>
  %s = arith.addf %tx, %ty : tensor<10xf32>
  batch.yield %s : tensor<10xf32>
}

// A kernel with an operator remains unchanged.
// CHECK-LABEL: batch.kernel @made
// CHECK-NOT:     linalg.contract
batch.kernel @made(%x: !vec, %y: !vec,
    %w: !mat {batch.parameter = 6 : i64, batch.shared}) -> (!vec, !vec) {
  %zero = arith.constant dense<0.0> : !vec
  %p = linalg.matvec ins(%w, %x : !mat, !vec) outs(%zero : !vec) -> !vec
  %q = linalg.matvec ins(%w, %y : !mat, !vec) outs(%zero : !vec) -> !vec
  batch.yield %p, %q : !vec, !vec
}
uprog.operator @made.rows of @made(%n: index,
    %x: tensor<?x16xf32> {uprog.operand = #uprog.operand<gather>},
    %y: tensor<?x16xf32> {uprog.operand = #uprog.operand<gather>},
    %w: tensor<16x16xf32> {uprog.operand = #uprog.operand<shared(6)>}) -> (tensor<?x16xf32>, tensor<?x16xf32>) {
  uprog.yield %x, %y : tensor<?x16xf32>, tensor<?x16xf32>
}

// Two products read the same values in different orders, so no layout fits both.
// CHECK-LABEL: batch.kernel @conflict
// REMARK: remark: [Missed] Layout {{.*}}"operands of 2 x arith.mulf are copied, 128 bytes per task: they conflict with the layout of other accesses"
batch.kernel @conflict(%x: !vec, %y: !vec) -> !vec {
  %e = math.exp %x : !vec
  %f = math.exp %y : !vec
  %p = arith.mulf %e, %f : !vec
  %q = arith.mulf %f, %e : !vec
  %s = arith.divf %p, %q : !vec
  batch.yield %s : !vec
}
