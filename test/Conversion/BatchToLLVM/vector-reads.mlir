// RUN: batch-opt %s --convert-batch-to-llvm | FileCheck %s

// If a parameter is a vector, its extent is stored 64 bytes before the vector.
// The instance program and the inspector compare an index with the extent.

batch.source @p : tensor<?xi16> parameter(0)

// CHECK-LABEL: func.func private @main(
// CHECK-SAME:    %{{.*}}: !llvm.ptr, %[[P:.*]]: i64, %[[I:.*]]: index) -> (i16, index)
// CHECK-DAG:     %[[CELL:.*]] = arith.index_cast %[[I]] : index to i64
// CHECK:         %[[BEFORE:.*]] = arith.addi %[[P]], %c-64_i64
// CHECK-NEXT:    %[[AT:.*]] = llvm.inttoptr %[[BEFORE]]
// CHECK-NEXT:    %[[EXTENT:.*]] = llvm.load %[[AT]] : !llvm.ptr -> i64
// CHECK:         arith.cmpi uge, %[[CELL]], %[[EXTENT]] : i64
func.func @main(%p: tensor<?xi16> {batch.shared = "p"}, %i: index) -> (i16, index)
    attributes {batch.entry} {
  %zero = arith.constant 0 : index
  %n = tensor.dim %p, %zero : tensor<?xi16>
  %a = tensor.extract %p[%i] : tensor<?xi16>
  return %a, %n : i16, index
}

// CHECK-LABEL: func.func private @main.inspect
// CHECK:         %[[BEFORE:.*]] = arith.addi %{{.*}}, %c-64_i64
// CHECK-NEXT:    %[[AT:.*]] = llvm.inttoptr %[[BEFORE]]
// CHECK-NEXT:    %[[COUNT:.*]] = llvm.load %[[AT]] : !llvm.ptr -> i64
// CHECK-NEXT:    arith.index_cast %[[COUNT]] : i64 to index
// CHECK:         %[[EXTENT:.*]] = llvm.load %{{.*}} : !llvm.ptr -> i64
// CHECK:         arith.cmpi uge, %{{.*}}, %[[EXTENT]] : i64
func.func @main.inspect(%i: index) -> (i16, index) attributes {batch.inspector} {
  %zero = arith.constant 0 : index
  %n = batch.num_rows @p
  %p = batch.row @p[%zero]
  %a = batch.extract %p[%i] : tensor<?xi16>
  return %a, %n : i16, index
}
