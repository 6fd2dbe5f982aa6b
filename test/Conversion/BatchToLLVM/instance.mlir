// RUN: batch-opt %s --convert-batch-to-llvm --split-input-file | FileCheck %s
// RUN: batch-opt %s --convert-batch-to-llvm="triple=t-u-v cpu=c features=x,y" \
// RUN:   --split-input-file | FileCheck %s --check-prefix=TARGET

rec.adt @Nat {
  rec.variant @zero(x: tensor<4xf32>)
  rec.variant @succ(pred: !rec.adt<@Nat>)
}
func.func private @cell.rows(!llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr, i64, i64, i64, i64, i64, i64)
    attributes {batch.kernel_info = {stages = 3 : i64, task_scratch = 0 : i64,
                                     ragged_scratch = [], worker_scratch = array<i64: 0, 0, 0>}}
batch.kernel @cell(%x: tensor<4xf32>, %w: tensor<4xf32> {batch.shared}) -> tensor<4xf32> {
  batch.yield %x : tensor<4xf32>
}

// A recursive function remembers its calls by the arguments that differ between
// them, and refuses to go too deep.
// CHECK-LABEL: func.func private @encode(
// CHECK-SAME:    %[[CTX:.*]]: !llvm.ptr, %[[T:.*]]: i64, %[[W:.*]]: i64) -> i64
// CHECK:         %[[KEY:.*]] = llvm.alloca
// CHECK:         %[[DEEP:.*]] = arith.cmpi ult
// CHECK-NEXT:    scf.if %[[DEEP]] {
// CHECK:         llvm.store %[[T]], %{{.*}} : i64, !llvm.ptr
// CHECK-NOT:     llvm.store %[[W]]
// CHECK:         %[[FOUND:.*]] = llvm.call %{{.*}}(%[[CTX]], %{{.*}}, %[[KEY]],
// CHECK:         %[[NEW:.*]] = arith.cmpi eq, %[[FOUND]], %{{.*}} : i64
// CHECK-NEXT:    scf.if %[[NEW]] {
// CHECK-NEXT:      func.call @encode.body(%[[CTX]], %[[T]], %[[W]])

// An invocation calls the kernel function with one task, which is the first of
// one, in one part, in all its stages.
// CHECK-LABEL: func.func private @encode.body(
// CHECK:         func.call @encode(
// CHECK:         %[[ZERO:.*]] = arith.constant 0 : i64
// CHECK-NEXT:    %[[ONE:.*]] = arith.constant 1 : i64
// CHECK:         func.call @cell.rows(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %[[ZERO]], %[[ONE]], %[[ZERO]], %[[ONE]], %[[ZERO]], %[[STAGES:.*]])
func.func private @encode(%t: !rec.adt<@Nat>, %w: tensor<4xf32>) -> tensor<4xf32> {
  %h = rec.match %t : !rec.adt<@Nat> -> tensor<4xf32> {
  case @zero(%x: tensor<4xf32>) {
    rec.yield %x : tensor<4xf32>
  }
  case @succ(%pred: !rec.adt<@Nat>) {
    %p = func.call @encode(%pred, %w) : (!rec.adt<@Nat>, tensor<4xf32>) -> tensor<4xf32>
    %y = batch.invoke @cell(%p, %w) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    rec.yield %y : tensor<4xf32>
  } }
  return %h : tensor<4xf32>
}
func.func @main(%t: !rec.adt<@Nat>, %w: tensor<4xf32> {batch.shared = "w"})
    -> tensor<4xf32> attributes {batch.entry} {
  %h = call @encode(%t, %w) : (!rec.adt<@Nat>, tensor<4xf32>) -> tensor<4xf32>
  return %h : tensor<4xf32>
}

// -----

// The input has nothing of the dialects that this makes. A function that the
// program does not need goes. The descriptor names the target, and arguments
// and results without names by their positions.
// CHECK-NOT:   @unreached
// CHECK-LABEL: func.func private @plain
// CHECK-SAME:    (%{{.*}}: !llvm.ptr, %[[N:.*]]: index) -> index
// CHECK-NEXT:    return %[[N]]
// CHECK:       @batch.descriptor(
// CHECK-SAME:    \22arguments\22:[{\22name\22:\22argument0\22,\22type\22:\22index\22}]
// CHECK-SAME:    \22execute\22:false,\22inspect\22:false,\22unbatched\22:true
// CHECK-SAME:    \22results\22:[{\22name\22:\22result0\22,\22type\22:\22index\22}]
// CHECK-SAME:    \22sizes\22:{\22H\22:4}
// TARGET-LABEL: func.func private @plain
// TARGET:       @batch.descriptor(
// TARGET-SAME:    \22target\22:{\22cpu\22:\22c\22,\22features\22:[\22x\22,\22y\22],\22triple\22:\22t-u-v\22}
module attributes {batch.sizes = {H = 4 : index}} {
  func.func @unreached(%n: index) -> index {
    return %n : index
  }
  func.func @plain(%n: index) -> index attributes {batch.entry} {
    return %n : index
  }
}

// -----

// The number of rows of a parameter is in its source, which nothing else may read;
// the extent of a ragged tensor is in its list.
// CHECK-LABEL: func.func private @extents
// CHECK-SAME:    (%[[CTX:.*]]: !llvm.ptr, %[[XS:.*]]: i64, %{{.*}}: i64) -> (index, index)
// CHECK:         %[[NUMBER:.*]] = arith.constant 4 : i64
// CHECK-NEXT:    %[[AT:.*]] = llvm.getelementptr %[[CTX]][
// CHECK-NEXT:    %[[SOURCES:.*]] = llvm.load %[[AT]]
// CHECK-NEXT:    %[[ROWS_AT:.*]] = llvm.getelementptr %[[SOURCES]][%[[NUMBER]]]
// CHECK-NEXT:    %[[ROWS:.*]] = llvm.load %[[ROWS_AT]] {{.*}} : !llvm.ptr -> i64
// CHECK-NEXT:    %[[N:.*]] = arith.index_cast %[[ROWS]] : i64 to index
// CHECK:         %[[LENGTH:.*]] = arith.shrui %[[XS]], %{{.*}} : i64
// CHECK-NEXT:    %[[M:.*]] = arith.index_cast %[[LENGTH]] : i64 to index
// CHECK-NEXT:    return %[[N]], %[[M]]
func.func @extents(%rows: tensor<?x4xf32>, %E: tensor<?x4xf32> {batch.shared = "E"})
    -> (index, index) attributes {batch.entry} {
  %zero = arith.constant 0 : index
  %n = tensor.dim %E, %zero : tensor<?x4xf32>
  %m = tensor.dim %rows, %zero : tensor<?x4xf32>
  return %n, %m : index, index
}
