// RUN: batch-opt %s --uprog-stage-operators --convert-operators-to-cpu --split-input-file | FileCheck %s

// The table has blocks of 8 slots. Rows of 40 columns have three pieces of 16 columns, and equal
// pieces of 8 rows are adjacent: [slot/8][column/16][slot%8][column%16]. A block takes 1536
// bytes. Its rows begin every 64 bytes, and its pieces every 128 elements.
// CHECK-LABEL: func.func private @copy.rows.stage0
// CHECK-DAG:     %[[BLOCK:.*]] = arith.constant 8 : i64
// CHECK-DAG:     %[[BLOCKBYTES:.*]] = arith.constant 1536 : i64
// CHECK-DAG:     %[[SLOTBYTES:.*]] = arith.constant 64 : i64
// CHECK-DAG:     %[[PIECE:.*]] = arith.constant 128 : i64
// CHECK:         %[[LOADED:.*]] = llvm.load %{{.*}} {alignment = 4 : i64} : !llvm.ptr -> i32
// CHECK:         %[[SLOT:.*]] = arith.extsi %[[LOADED]] : i32 to i64
// CHECK:         %[[IN:.*]] = arith.remui %[[SLOT]], %[[BLOCK]] : i64
// CHECK:         %[[INBYTES:.*]] = arith.muli %[[IN]], %[[SLOTBYTES]] : i64
// CHECK:         %[[NUMBER:.*]] = arith.divui %[[SLOT]], %[[BLOCK]] : i64
// CHECK:         %[[BYTES:.*]] = arith.muli %[[NUMBER]], %[[BLOCKBYTES]] : i64
// CHECK:         %[[OFFSET:.*]] = arith.addi %[[BYTES]], %[[INBYTES]] : i64
// CHECK:         llvm.getelementptr %{{.*}}[%[[OFFSET]]]
// CHECK:         arith.divui %[[COLUMN:.*]], %{{.*}} : i64
// CHECK:         arith.muli %{{.*}}, %[[PIECE]] : i64
// Whole vectors are read and written.
// CHECK:         llvm.load %{{.*}} {alignment = 4 : i64} : !llvm.ptr -> vector<16xf32>
// CHECK:         llvm.store %{{.*}}, %{{.*}} {alignment = 4 : i64} : vector<16xf32>, !llvm.ptr
uprog.operator @copy.rows(
    %n: index, %x: tensor<?x40xf32> {uprog.operand =
                   #uprog.operand<gather layout((s, i) -> (s floordiv 8, i floordiv 16, s mod 8, i mod 16))>})
    -> (tensor<?x40xf32> {uprog.result =
          #uprog.result<layout = (s, i) -> (s floordiv 8, i floordiv 16, s mod 8, i mod 16)>}) {
  uprog.yield %x : tensor<?x40xf32>
}

// -----

// Columns that begin in the middle of a vector are in two pieces, so they are
// gathered.
// CHECK-LABEL: func.func private @middle.rows.stage0
// CHECK:         %[[AT:.*]] = arith.addi %{{.*}}, %{{.*}} : vector<16xi64>
// CHECK:         arith.divui %[[AT]], %{{.*}} : vector<16xi64>
// CHECK:         arith.remui %{{.*}}, %{{.*}} : vector<16xi64>
// CHECK:         llvm.intr.masked.gather
uprog.operator @middle.rows(
    %n: index, %x: tensor<?x40xf32> {uprog.operand =
                   #uprog.operand<gather layout((s, i) -> (s floordiv 2, i floordiv 16, s mod 2, i mod 16))>})
    -> tensor<?x32xf32> {
  %y = tensor.extract_slice %x[0, 5] [%n, 32] [1, 1] : tensor<?x40xf32> to tensor<?x32xf32>
  uprog.yield %y : tensor<?x32xf32>
}

// -----

// Rows of another table are between the rows of this table, which therefore begin every 256
// bytes, not every 128.
// CHECK-LABEL: func.func private @block.rows.stage0
// CHECK-DAG:     %[[DISTANCE:.*]] = arith.constant 256 : i64
// CHECK:         %[[SLOT:.*]] = arith.extsi
// CHECK:         arith.muli %[[SLOT]], %[[DISTANCE]] : i64
uprog.operator @block.rows(%n: index, %x: tensor<?x32xf32> {uprog.operand = #uprog.operand<gather block_bytes(256)>})
    -> tensor<?x32xf32> {
  uprog.yield %x : tensor<?x32xf32>
}

// -----

// Task t has two adjacent rows. This operand is the second row, slot 2 * t + 1,
// addressed from the second row of the first task.
// CHECK-LABEL: func.func private @second.rows.stage0
// CHECK-DAG:     %[[ONE:.*]] = arith.constant 1 : i64
// CHECK-DAG:     %[[TWO:.*]] = arith.constant 2 : i64
// CHECK-DAG:     %[[SLOTBYTES:.*]] = arith.constant 64 : i64
// CHECK:         %[[FIRST:.*]] = arith.muli %{{.*}}, %[[TWO]] : i64
// CHECK:         %[[SLOT:.*]] = arith.addi %[[FIRST]], %[[ONE]] : i64
// CHECK:         %[[IN:.*]] = arith.remui %[[SLOT]], %{{.*}} : i64
// CHECK:         %[[OFFSET:.*]] = arith.subi %{{.*}}, %[[SLOTBYTES]] : i64
// CHECK:         llvm.getelementptr %{{.*}}[%[[OFFSET]]]
uprog.operator @second.rows(%n: index, %x: tensor<?x16xf32> {uprog.operand = #uprog.operand<gather>})
    -> (tensor<?x16xf32> {uprog.result =
          #uprog.result<siblings = 2, position = 1, layout = (s, i) -> (s floordiv 8, s mod 8, i)>}) {
  uprog.yield %x : tensor<?x16xf32>
}
