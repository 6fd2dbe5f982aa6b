// RUN: batch-opt %s --uprog-stage-operators --convert-operators-to-cpu | FileCheck %s

// A reduction may leave its result unchanged from some index on. If this index is a scalar
// of the task, the loop ends there, or at the extent if the extent is less. Rows
// that end at different indices are reduced one by one.
// CHECK-LABEL: func.func private @sum.rows.stage0
// CHECK-DAG:     %[[EXTENT:.*]] = arith.constant 12 : i64
// CHECK:         %[[SIZE:.*]] = llvm.load %{{.*}} : !llvm.ptr -> i64
// CHECK:         %[[END:.*]] = arith.minsi %{{.*}}, %[[EXTENT]] : i64
// CHECK:         scf.for %[[K:.*]] = %{{.*}} to %[[END]] step %{{.*}} iter_args(%{{.*}}) -> (vector<16xf32>)
// CHECK:           arith.addf
// CHECK-NOT:     to %[[EXTENT]] step
// CHECK-LABEL: func.func @sum.rows(
uprog.operator @sum.rows(
    %n: index, %x: tensor<?x12x16xf32> {uprog.operand = #uprog.operand<gather>},
    %t: tensor<?xindex> {uprog.operand = #uprog.operand<scalar>}) -> tensor<?x16xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty(%n) : tensor<?x16xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x16xf32>) -> tensor<?x16xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>,
                                        affine_map<(d0, d1, d2) -> (d0)>,
                                        affine_map<(d0, d1, d2) -> (d0, d2)>],
                       iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%x, %t : tensor<?x12x16xf32>, tensor<?xindex>) outs(%start : tensor<?x16xf32>) {
  ^bb0(%e: f32, %size: index, %acc: f32):
    %sum = arith.addf %acc, %e : f32
    %i = linalg.index 1 : index
    %exists = arith.cmpi ult, %i, %size : index
    %next = arith.select %exists, %sum, %acc : f32
    linalg.yield %next : f32
  } -> tensor<?x16xf32>
  uprog.yield %r : tensor<?x16xf32>
}
