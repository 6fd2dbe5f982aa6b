// RUN: batch-opt %s --convert-batch-to-llvm | FileCheck %s

// To read an element, an inspector finds the source in the row's handle. The rows
// of a source have a base and a stride. Rows along the last dimension are padded.

batch.source @n : tensor<index>
batch.source @x : tensor<2x20xi16>

func.func @main(%n: tensor<index>, %x: tensor<2x20xi16>) -> (i16, i16, i16)
    attributes {batch.entry} {
  %one = arith.constant 1 : index
  %i = tensor.extract %n[] : tensor<index>
  %a = tensor.extract %x[%one, %i] : tensor<2x20xi16>
  return %a, %a, %a : i16, i16, i16
}

// CHECK-LABEL: func.func private @main.inspect
// CHECK-SAME:    (%[[CTX:.*]]: !llvm.ptr, %[[N:.*]]: i64, %[[X:.*]]: i64) -> (i16, i16, i16)
// CHECK:         %[[TAG:.*]] = arith.shrui %[[N]], %c56_i64
// CHECK:         %[[SOURCE:.*]] = arith.andi %[[TAG]], %c127_i64
// CHECK:         %[[ROW0:.*]] = arith.muli %[[SOURCE]], %c3_i64
// CHECK:         %[[BASECELL:.*]] = arith.addi %[[ROW0]], %c0_i64
// CHECK:         %[[AT:.*]] = llvm.getelementptr %{{.*}}[%[[BASECELL]]]
// CHECK-NEXT:    %[[BASE:.*]] = llvm.load %[[AT]]
// CHECK:         %[[NUMBER:.*]] = arith.andi %[[N]], %c4294967295_i64
// CHECK-NEXT:    %[[OFFSET:.*]] = arith.muli %[[NUMBER]], %c64_i64
// CHECK-NEXT:    %[[ADDRESS:.*]] = arith.addi %[[BASE]], %[[OFFSET]]
// CHECK-NEXT:    %[[POINTER:.*]] = llvm.inttoptr %[[ADDRESS]]
// CHECK-NEXT:    %[[CELL:.*]] = llvm.load %[[POINTER]] : !llvm.ptr -> i64
// CHECK-NEXT:    %[[I:.*]] = arith.index_cast %[[CELL]] : i64 to index

// A row of 2 x 20 elements takes 128 bytes. An index is compared with the extent of its
// dimension. If the index is out of range, a call passes the number of the error text and ends
// the run. The constant index is in range, so it is not compared.
// CHECK:         arith.muli %{{.*}}, %c128_i64
// CHECK-NEXT:    %[[START:.*]] = arith.addi
// CHECK-NEXT:    %[[LINE:.*]] = arith.index_cast %c1 : index to i64
// CHECK-NEXT:    %[[INDEX:.*]] = arith.index_cast %[[I]] : index to i64
// CHECK-NEXT:    %[[LIMIT:.*]] = arith.constant 20 : i64
// CHECK-NEXT:    %[[OUTSIDE:.*]] = arith.cmpi uge, %[[INDEX]], %[[LIMIT]] : i64
// CHECK-NEXT:    scf.if %[[OUTSIDE]] {
// CHECK-DAG:       %[[CODE:.*]] = arith.constant 5 : i64
// CHECK-DAG:       %[[PLACE:.*]] = arith.constant 4 : i64
// CHECK:           llvm.call %{{.*}}(%[[CTX]], %[[CODE]], %[[INDEX]], %[[PLACE]])
// CHECK:         }
// CHECK:         %[[ALONG:.*]] = arith.muli %[[INDEX]], %c2_i64
// CHECK-NEXT:    %[[COLUMN:.*]] = arith.addi %[[START]], %[[ALONG]]
// CHECK-NOT:     scf.if
// CHECK:         arith.muli %[[LINE]], %c64_i64
// CHECK-NEXT:    %[[ELEMENT:.*]] = arith.addi %[[COLUMN]]
// CHECK-NEXT:    %[[HERE:.*]] = llvm.inttoptr %[[ELEMENT]]
// CHECK-NEXT:    llvm.load %[[HERE]] : !llvm.ptr -> i16

// Constants in range are not compared. A constant out of range always ends the
// run.
// CHECK-NOT:     scf.if
// CHECK:         %[[CONSTANT:.*]] = arith.index_cast %c-1 : index to i64
// CHECK:         arith.cmpi uge, %[[CONSTANT]], %c20_i64
// CHECK:         return
func.func @main.inspect(%n: !batch.handle {batch.in_source = @n},
                        %x: !batch.handle {batch.in_source = @x}) -> (i16, i16, i16)
    attributes {batch.inspector} {
  %one = arith.constant 1 : index
  %i = batch.extract %n[] : tensor<index>
  %a = batch.extract %x[%one, %i] : tensor<2x20xi16>
  %last = arith.constant 19 : index
  %b = batch.extract %x[%one, %last] : tensor<2x20xi16>
  %before = arith.constant -1 : index
  %c = batch.extract %x[%one, %before] : tensor<2x20xi16>
  return %a, %b, %c : i16, i16, i16
}

// The descriptor has an error text for each index: two for the instance program,
// and two for each read of @x in the inspector.
// CHECK: \22indices\22:[\22index {} is out of range for dimension 0 of a tensor of type tensor<2x20xi16>, read at inspector-reads.mlir:{{[0-9]+}}:8\22,\22index {} is out of range for dimension 1 of
// CHECK-SAME: tensor<2x20xi16>, read at inspector-reads.mlir:{{[0-9]+}}:8\22]
