// RUN: batch-opt %s --uprog-stage-operators --convert-operators-to-cpu | FileCheck %s

// The operand is copied only if the step has separate rows for the result.
// Otherwise the result is in the operand's row. A row is inserted in vectors,
// without a loop over the 512 rows of the cache.
// CHECK-LABEL: func.func private @cache.rows.stage0(
// CHECK:         %[[LIST:.*]] = llvm.load {{.*}}
// CHECK:         %[[ROWS:.*]] = llvm.load %{{.*}} : !llvm.ptr -> !llvm.ptr
// CHECK:         %[[NULL:.*]] = llvm.mlir.zero : !llvm.ptr
// CHECK-NEXT:    %[[THERE:.*]] = llvm.icmp "eq" %[[ROWS]], %[[NULL]]
// CHECK-NEXT:    %[[COPIES:.*]] = arith.xori %[[THERE]]
// CHECK-NEXT:    scf.if %[[COPIES]] {
// CHECK:           llvm.store {{.*}} : vector<16xf32>, !llvm.ptr
// CHECK:         return
// CHECK-LABEL: func.func private @cache.rows.stage1(
// CHECK-NOT:     512
// CHECK:         %[[IN:.*]] = llvm.icmp "eq" %[[OWN:.*]], %{{.*}} : !llvm.ptr
// CHECK:         arith.select %[[IN]], %{{.*}}, %{{.*}}
// CHECK-NOT:     512
// CHECK:         llvm.store %{{.*}}, %{{.*}} {alignment = 4 : i64} : vector<16xf32>, !llvm.ptr
// CHECK-LABEL: func.func @cache.rows(
uprog.operator @cache.rows(
    %n: index, %x: tensor<?x512x64xf32> {uprog.operand = #uprog.operand<gather>},
    %r: tensor<?x64xf32> {uprog.operand = #uprog.operand<gather>},
    %i: tensor<?xindex> {uprog.operand = #uprog.operand<scalar>}) -> tensor<?x512x64xf32> {
  %y = uprog.insert %r into %x [%i, 0] sizes [1, 64] strides [1, 1] : tensor<?x64xf32> into tensor<?x512x64xf32>
  uprog.yield %y : tensor<?x512x64xf32>
}

// Columns outside of the inserted slice are not written.
// CHECK-LABEL: func.func private @columns.rows.stage1(
// CHECK:         llvm.intr.masked.store %{{.*}}, %{{.*}}, %{{.*}} {alignment = 4 : i32} : vector<16xf32>
// CHECK-LABEL: func.func @columns.rows(
uprog.operator @columns.rows(
    %n: index, %x: tensor<?x64xf32> {uprog.operand = #uprog.operand<gather>},
    %r: tensor<?x5xf32> {uprog.operand = #uprog.operand<gather>},
    %i: tensor<?xindex> {uprog.operand = #uprog.operand<scalar>}) -> tensor<?x64xf32> {
  %y = uprog.insert %r into %x [%i] sizes [5] strides [1] : tensor<?x5xf32> into tensor<?x64xf32>
  uprog.yield %y : tensor<?x64xf32>
}
