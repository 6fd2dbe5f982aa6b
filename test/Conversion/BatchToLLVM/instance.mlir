// RUN: batch-opt %s --convert-batch-to-llvm --split-input-file | FileCheck %s
// RUN: batch-opt %s --convert-batch-to-llvm="triple=t-u-v cpu=c features=x,y" \
// RUN:   --split-input-file | FileCheck %s --check-prefix=TARGET

rec.adt @Nat {
  rec.variant @zero(x: tensor<4xf32>)
  rec.variant @succ(pred: !rec.adt<@Nat>)
}
func.func private @cell.rows(!llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr, i64, i64, i64, i64, i64, i64)
    attributes {uprog.code = #uprog.code<stages = 3, task_scratch = 0, workers = <
        fixed_scratch = 0, task_scratch = 0, most_scratch = 0,
        row_split = 1, stage_rows = 0, share_tasks = 1>>}
batch.kernel @cell(%x: tensor<4xf32>, %w: tensor<4xf32> {batch.shared}) -> tensor<4xf32> {
  batch.yield %x : tensor<4xf32>
}

// A recursive function stores the results of its calls, keyed by the arguments that
// differ between calls. It ends the run if the recursion is too deep, or if the run has
// been cancelled.
// CHECK-LABEL: func.func private @encode(
// CHECK-SAME:    %[[CTX:.*]]: !llvm.ptr, %[[T:.*]]: i64, %[[W:.*]]: i64) -> i64
// CHECK:         %[[KEY:.*]] = llvm.alloca
// CHECK:         %[[WORD:.*]] = llvm.load %{{.*}} atomic monotonic {alignment = 4 : i64} : !llvm.ptr -> i32
// CHECK:         %[[ENDS:.*]] = arith.cmpi ne, %[[WORD]], %{{.*}} : i32
// CHECK-NEXT:    scf.if %[[ENDS]] {
// CHECK:         %[[DEEP:.*]] = arith.cmpi ult
// CHECK-NEXT:    scf.if %[[DEEP]] {
// CHECK:         llvm.store %[[T]], %{{.*}} : i64, !llvm.ptr
// CHECK-NOT:     llvm.store %[[W]]
// CHECK:         %[[FOUND:.*]] = llvm.call %{{.*}}(%[[CTX]], %{{.*}}, %[[KEY]],
// CHECK:         %[[NEW:.*]] = arith.cmpi eq, %[[FOUND]], %{{.*}} : i64
// CHECK-NEXT:    scf.if %[[NEW]] {
// CHECK-NEXT:      func.call @encode.body(%[[CTX]], %[[T]], %[[W]])

// An invocation calls the operator's code for all stages, with one task and one
// share.
// CHECK-LABEL: func.func private @encode.body(
// CHECK:         func.call @encode(
// CHECK:         func.call @cell.rows(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %[[ZERO:.*]], %[[ONE:.*]], %[[ZERO]], %[[ONE]], %[[ZERO]], %[[STAGES:.*]])
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

// The input contains no ops of the output dialects. Functions that the program
// does not need are removed. The descriptor names the target, and names unnamed
// arguments and results by position.
// CHECK-NOT:   @unreached
// CHECK-LABEL: func.func private @plain
// CHECK-SAME:    (%{{.*}}: !llvm.ptr, %[[N:.*]]: index) -> index
// CHECK-NEXT:    return %[[N]]
// CHECK:       @batch.descriptor(
// CHECK-SAME:    \22arguments\22:[{\22name\22:\22arg0\22,\22type\22:\22index\22}]
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

// A source contains the number of rows of a parameter, even if nothing else reads
// the source. A list contains the extent of a ragged tensor.
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

// -----

// Elements of all types are read in place. Elements of a parameter are read through
// a source, which is the whole parameter. An i1 takes a byte. Rows along the last
// dimension are padded to 64 bytes.
// CHECK-LABEL: func.func private @main(
// CHECK-SAME:    %{{.*}}: !llvm.ptr, %{{.*}}: i64, %{{.*}}: i64, %[[C:.*]]: i64, %{{.*}}: i64) -> (i1, index, f64, i32)
// CHECK:         %[[BYTE:.*]] = llvm.load %{{.*}} : !llvm.ptr -> i8
// CHECK-NEXT:    %[[BIT:.*]] = arith.trunci %[[BYTE]] : i8 to i1
// CHECK:         %[[FROMC:.*]] = llvm.inttoptr %[[C]]
// CHECK-NEXT:    %[[REAL:.*]] = llvm.load %[[FROMC]] : !llvm.ptr -> f64
// CHECK:         %[[ROWBYTES:.*]] = arith.constant 64 : i64
// CHECK-NEXT:    arith.muli %{{.*}}, %[[ROWBYTES]]
// CHECK:         %[[WORD:.*]] = llvm.load %{{.*}} : !llvm.ptr -> i32
// CHECK:         return %[[BIT]], %{{.*}}, %[[REAL]], %[[WORD]]
// CHECK-LABEL: llvm.func internal @batch.unbatched
// CHECK-DAG:     %[[SOURCE1:.*]] = arith.constant 3 : i64
// CHECK-DAG:     %[[SOURCE2:.*]] = arith.constant 6 : i64
func.func @main(%a: tensor<11xi1>, %n: tensor<2xindex>, %c: tensor<f64> {batch.shared = "c"},
                %d: tensor<3x5xi32> {batch.shared = "d"})
    -> (i1, index, f64, i32) attributes {batch.entry} {
  %i1 = arith.constant 1 : index
  %i3 = arith.constant 3 : index
  %bit = tensor.extract %a[%i3] : tensor<11xi1>
  %index = tensor.extract %n[%i1] : tensor<2xindex>
  %real = tensor.extract %c[] : tensor<f64>
  %word = tensor.extract %d[%i1, %i3] : tensor<3x5xi32>
  return %bit, %index, %real, %word : i1, index, f64, i32
}

// -----

// An unknown index is compared with the extent of its dimension, as an unsigned number. If the
// index is out of range, the run ends with an error that contains the number of a description.
// A constant that is out of range has the same effect. A constant in range is not compared.
// CHECK-LABEL: func.func private @main(
// CHECK-SAME:    %[[CTX:.*]]: !llvm.ptr, %[[X:.*]]: i64, %[[I:.*]]: index, %{{.*}}: i64) -> (i16, i16, i16, f32)
// CHECK-NOT:     arith.cmpi
// CHECK:         %[[INDEX:.*]] = arith.index_cast %[[I]] : index to i64
// CHECK-NEXT:    %[[LIMIT:.*]] = arith.constant 20 : i64
// CHECK-NEXT:    %[[OUTSIDE:.*]] = arith.cmpi uge, %[[INDEX]], %[[LIMIT]] : i64
// CHECK-NEXT:    scf.if %[[OUTSIDE]] {
// CHECK-DAG:       %[[CODE:.*]] = arith.constant 5 : i64
// CHECK-DAG:       %[[PLACE:.*]] = arith.constant 2 : i64
// CHECK:           llvm.call %{{.*}}(%[[CTX]], %[[CODE]], %[[INDEX]], %[[PLACE]])
// CHECK:         }
// CHECK:         %[[ALONG:.*]] = arith.muli %[[INDEX]], %c2_i64
// CHECK-NEXT:    arith.addi %[[X]], %[[ALONG]]
// CHECK-NOT:     arith.cmpi
// CHECK:         llvm.load %{{.*}} : !llvm.ptr -> i16
// CHECK:         %[[TWENTY:.*]] = arith.index_cast %c20 : index to i64
// CHECK:         arith.cmpi uge, %[[TWENTY]], %c20_i64
// CHECK-NEXT:    scf.if
// CHECK-DAG:       %[[CODE:.*]] = arith.constant 5 : i64
// CHECK-DAG:       %[[PLACE:.*]] = arith.constant 4 : i64
// CHECK:           llvm.call %{{.*}}(%[[CTX]], %[[CODE]], %[[TWENTY]], %[[PLACE]])
// CHECK:         llvm.load %{{.*}} : !llvm.ptr -> i16
// CHECK-NOT:     arith.cmpi
// CHECK:         llvm.load %{{.*}} : !llvm.ptr -> i16

// If a parameter may have any number of rows, an element is read from a row of the source.
// CHECK:         %[[ROW:.*]] = arith.index_cast %[[I]] : index to i64
// CHECK:         %[[OUTSIDE:.*]] = arith.cmpi uge, %[[ROW]], %{{.*}} : i64
// CHECK-NEXT:    scf.if %[[OUTSIDE]] {
// CHECK-NEXT:      %[[SOURCE:.*]] = arith.constant 1 : i64
// CHECK-NEXT:      %[[CODE:.*]] = arith.constant 1 : i64
// CHECK:           llvm.call %{{.*}}(%[[CTX]], %[[CODE]], %[[ROW]], %[[SOURCE]])
// CHECK:         }
// CHECK:         %[[BASE:.*]] = llvm.load
// CHECK:         %[[OFFSET:.*]] = arith.muli %[[ROW]], %c128_i64
// CHECK-NEXT:    %[[START:.*]] = arith.addi %[[BASE]], %[[OFFSET]]
// CHECK-NOT:     arith.cmpi
// CHECK:         arith.addi %[[START]]
// CHECK:         llvm.load %{{.*}} : !llvm.ptr -> f32
// CHECK:         return

// Each description in the descriptor has the dimension and the location of the read.
// CHECK:      \22indices\22:[\22index {} is out of range for dimension 0 of a tensor of type tensor<2x20xi16>, read at instance.mlir:[[#READ:]]:8\22
// CHECK-SAME: ,\22index {} is out of range for dimension 1 of a tensor of type tensor<2x20xi16>, read at instance.mlir:[[#READ]]:8\22
// CHECK-SAME: ,\22index {} is out of range for dimension 0 of a tensor of type tensor<2x20xi16>, read at instance.mlir:[[#READ+1]]:8\22
// CHECK-SAME: ,\22index {} is out of range for dimension 0 of parameter 'E' of type tensor<20xf32>, read at instance.mlir:[[#READ+3]]:8\22]
func.func @main(%x: tensor<2x20xi16>, %i: index, %E: tensor<?x20xf32> {batch.shared = "E"})
    -> (i16, i16, i16, f32) attributes {batch.entry} {
  %c1 = arith.constant 1 : index
  %c19 = arith.constant 19 : index
  %c20 = arith.constant 20 : index
  %a = tensor.extract %x[%c1, %i] : tensor<2x20xi16>
  %b = tensor.extract %x[%c1, %c20] : tensor<2x20xi16>
  %c = tensor.extract %x[%c1, %c19] : tensor<2x20xi16>
  %d = tensor.extract %E[%i, %c1] : tensor<?x20xf32>
  return %a, %b, %c, %d : i16, i16, i16, f32
}
