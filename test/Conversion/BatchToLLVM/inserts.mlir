// RUN: batch-opt %s --convert-batch-to-llvm | FileCheck %s
// RUN: batch-opt %s --convert-batch-to-llvm --remark-format=emitRemark --remarks-filter=batch -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

func.func private @put.rows(!llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr, i64, i64, i64, i64, i64, i64)
    attributes {uprog.code = #uprog.code<stages = 2, task_scratch = 0, workers = <
        fixed_scratch = 0, task_scratch = 0, most_scratch = 0,
        row_split = 1, stage_rows = 0, share_tasks = 1>>}
batch.kernel @put(%x: tensor<64xf32>, %i: index) -> (tensor<64xf32> {batch.in_place = 0 : i64}) {
  batch.yield %x : tensor<64xf32>
}

// A value that a loop carries only for inserts is copied to a new row before the loop.
// All iterations write into this row and allocate none.
// CHECK-LABEL: func.func private @carried(
// CHECK:         llvm.load %{{.*}} : !llvm.ptr -> vector<16xi32>
// CHECK:         llvm.store
// CHECK:         scf.for {{.*}} iter_args(%[[ROW:.*]] = %{{.*}}) -> (i64)
// CHECK-NOT:       arith.cmpi ule
// CHECK:           call @put.rows
// CHECK:           llvm.store %[[ROW]], %{{.*}} : i64, !llvm.ptr
// CHECK:           scf.yield
// REMARK: inserts.mlir:[[# @LINE + 5]]:10: remark: [Passed] Inserts {{.*}}"unbatched code inserts into the row of argument #0 of kernel @put"
func.func private @carried(%x: tensor<64xf32>, %n: index) -> tensor<64xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%old = %x) -> (tensor<64xf32>) {
    %y = batch.invoke @put(%old, %i) : (tensor<64xf32>, index) -> tensor<64xf32>
    scf.yield %y : tensor<64xf32>
  }
  return %r : tensor<64xf32>
}

// A row from outside is not updated in place, nor is a row that is read again.
// A row that a kernel computes only for this invocation is updated in place.
// REMARK: inserts.mlir:[[# @LINE + 5]]:8: remark: [Missed] Inserts {{.*}}"unbatched code copies argument #0 of kernel @put, because its row may have other readers or was not created by a kernel"
// REMARK: inserts.mlir:[[# @LINE + 5]]:8: remark: [Missed]
// REMARK: inserts.mlir:[[# @LINE + 5]]:8: remark: [Passed]
func.func private @straight(%x: tensor<64xf32>, %n: index) -> (tensor<64xf32>, tensor<64xf32>) {
  %c0 = arith.constant 0 : index
  %a = batch.invoke @put(%x, %n) : (tensor<64xf32>, index) -> tensor<64xf32>
  %b = batch.invoke @put(%a, %n) : (tensor<64xf32>, index) -> tensor<64xf32>
  %c = batch.invoke @put(%b, %c0) : (tensor<64xf32>, index) -> tensor<64xf32>
  return %a, %c : tensor<64xf32>, tensor<64xf32>
}

func.func @main(%x: tensor<64xf32>, %n: index) -> (tensor<64xf32>, tensor<64xf32>) attributes {batch.entry} {
  %a = call @carried(%x, %n) : (tensor<64xf32>, index) -> tensor<64xf32>
  %b, %c = call @straight(%a, %n) : (tensor<64xf32>, index) -> (tensor<64xf32>, tensor<64xf32>)
  return %b, %c : tensor<64xf32>, tensor<64xf32>
}
