// RUN: batch-opt %s --uprog-stage-operators --convert-operators-to-cpu --split-input-file | FileCheck %s

// Each operand is read as its access specifies. The stride between rows of a
// result leaves space for the rows of sibling results: 2 rows of 64 bytes.
// CHECK-LABEL: func.func private @reads.rows.stage0(
// CHECK-SAME:    %[[STEP:.*]]: !llvm.ptr, %{{.*}}: !llvm.ptr, %{{.*}}: !llvm.ptr, %{{.*}}: !llvm.ptr
// CHECK-DAG:     %[[STRIDE:.*]] = arith.constant 128 : i64
// CHECK:         scf.for
// A slot of a table, sign-extended.
// CHECK:           %[[SLOT:.*]] = llvm.load %{{.*}} {alignment = 4 : i64} : !llvm.ptr -> i32
// CHECK:           arith.extsi %[[SLOT]] : i32 to i64
// An address.
// CHECK:           llvm.load %{{.*}} {alignment = 8 : i64} : !llvm.ptr -> !llvm.ptr
// A cell.
// CHECK:           %[[CELL:.*]] = llvm.load %{{.*}} : !llvm.ptr -> i64
// CHECK:           %[[BITS:.*]] = arith.trunci %[[CELL]] : i64 to i32
// CHECK:           arith.bitcast %[[BITS]] : i32 to f32
// CHECK:           arith.muli %{{.*}}, %[[STRIDE]] : i64
uprog.operator @reads.rows(%n: index,
    %g: tensor<?x16xf32> {uprog.operand = #uprog.operand<gather>},
    %r: tensor<?x16xf32> {uprog.operand = #uprog.operand<rows>},
    %c: tensor<?x16xf32> {uprog.operand = #uprog.operand<gather>},
    %s: tensor<?xf32> {uprog.operand = #uprog.operand<scalar>})
    -> (tensor<?x16xf32> {uprog.result = #uprog.result<siblings = 2>}) {
  %e = tensor.empty(%n) : tensor<?x16xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(r, n) -> (r, n)>, affine_map<(r, n) -> (r, n)>,
                                        affine_map<(r, n) -> (r, n)>, affine_map<(r, n) -> (r)>,
                                        affine_map<(r, n) -> (r, n)>],
                       iterator_types = ["parallel", "parallel"]}
         ins(%g, %r, %c, %s : tensor<?x16xf32>, tensor<?x16xf32>, tensor<?x16xf32>, tensor<?xf32>)
         outs(%e : tensor<?x16xf32>) {
  ^bb0(%0: f32, %1: f32, %2: f32, %3: f32, %o: f32):
    %4 = arith.addf %0, %1 : f32
    %5 = arith.mulf %2, %3 : f32
    %6 = arith.subf %4, %5 : f32
    %7 = math.exp %6 : f32
    linalg.yield %7 : f32
  } -> tensor<?x16xf32>
  uprog.yield %y : tensor<?x16xf32>
}

// -----

// A dense constant becomes a global, with rows padded to 64 bytes.
// CHECK: llvm.mlir.global internal constant @batch.constant.0(dense<[1065353216, 1073741824, 1077936128, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]> : tensor<16xi32>)
// CHECK-LABEL: func.func private @constant.rows.stage0
// CHECK:         llvm.mlir.addressof @batch.constant.0
uprog.operator @constant.rows(%n: index, %x: tensor<?x3xf32> {uprog.operand = #uprog.operand<gather>}) -> tensor<?x3xf32> {
  %c = arith.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
  %e = tensor.empty(%n) : tensor<?x3xf32>
  %b = linalg.broadcast ins(%c : tensor<3xf32>) outs(%e : tensor<?x3xf32>) dimensions = [0]
  %y = arith.addf %x, %b : tensor<?x3xf32>
  uprog.yield %y : tensor<?x3xf32>
}
