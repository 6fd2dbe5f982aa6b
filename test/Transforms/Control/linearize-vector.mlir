// RUN: batch-opt %s --batch-linearize | FileCheck %s
// RUN: batch-opt %s --autobatch | batch-opt --batch-linearize | FileCheck %s

// A parameter that is a vector of unknown extent is one row. Control flow reads its
// elements and their number.
// CHECK:       batch.source @P : tensor<?xi64> parameter(0)
// CHECK-LABEL: func.func @main.inspect
// CHECK-SAME:    (%[[K:.*]]: index) -> (i64, index)
// CHECK:         %[[N:.*]] = batch.num_rows @P
// CHECK-DAG:     %[[I:.*]] = arith.addi %[[K]], %[[N]] : index
// CHECK-DAG:     %[[ROW:.*]] = batch.row @P[%{{.*}}]
// CHECK:         %[[X:.*]] = batch.extract %[[ROW]][%[[I]]] : tensor<?xi64>
// CHECK:         return %[[X]], %[[N]]
func.func @main(%k: index, %P: tensor<?xi64> {batch.shared = "P"}) -> (i64, index)
    attributes {batch.entry} {
  %zero = arith.constant 0 : index
  %n = tensor.dim %P, %zero : tensor<?xi64>
  %i = arith.addi %k, %n : index
  %x = tensor.extract %P[%i] : tensor<?xi64>
  return %x, %n : i64, index
}
